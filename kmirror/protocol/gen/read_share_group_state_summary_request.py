"""ReadShareGroupStateSummaryRequest: request, key 87, versions 0-1, flexible from 0.

Generated from schemas/kafka/ReadShareGroupStateSummaryRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_ii, pack_ii = wire.fused("ii")


class PartitionData(Struct):
    """Part of ReadShareGroupStateSummaryRequest."""

    __slots__ = ("partition", "leader_epoch")

    FIELDS = (
        Field("Partition", "partition", "int32", (0, 1), default=0),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 1), default=0),
    )

    def __init__(
        self,
        partition: int = 0,  # int32
        leader_epoch: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition = partition
        self.leader_epoch = leader_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.partition, self.leader_epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition, self.leader_epoch = unpack_ii(buf, pos)
        pos += 8
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ReadStateSummaryData(Struct):
    """Part of ReadShareGroupStateSummaryRequest."""

    __slots__ = ("topic_id", "partitions")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (0, 1), default=Uuid.ZERO),
        Field("Partitions", "partitions", "struct", (0, 1), is_array=True, default=[], struct=PartitionData),
    )

    def __init__(
        self,
        topic_id: Uuid = Uuid.ZERO,  # uuid
        partitions: list[PartitionData] = UNSET,  # []PartitionData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id = topic_id
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for partition_data in self.partitions:
            partition_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ReadStateSummaryData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 9)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ReadShareGroupStateSummaryRequest(Message):
    """ReadShareGroupStateSummaryRequest, versions 0-1."""

    __slots__ = ("group_id", "topics")

    NAME = "ReadShareGroupStateSummaryRequest"
    TYPE = "request"
    API_KEY = 87
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 1), default=""),
        Field("Topics", "topics", "struct", (0, 1), is_array=True, default=[], struct=ReadStateSummaryData),
    )

    def __init__(
        self,
        group_id: str = "",  # string
        topics: list[ReadStateSummaryData] = UNSET,  # []ReadStateSummaryData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_count(self.topics))
        for read_state_summary_data in self.topics:
            read_state_summary_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ReadShareGroupStateSummaryRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topics, pos = wire.read_structs(ReadStateSummaryData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
