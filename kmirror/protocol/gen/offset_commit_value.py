"""OffsetCommitValue: coordinator-value, key 1, versions 0-4, flexible from 4.

Generated from schemas/coordinator/OffsetCommitValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Tagged
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag


class OffsetCommitValue(Message):
    """OffsetCommitValue, versions 0-4."""

    __slots__ = ("offset", "leader_epoch", "metadata", "commit_timestamp", "expire_timestamp")

    topic_id = Tagged[Uuid]("topic_id", Uuid.ZERO)

    NAME = "OffsetCommitValue"
    TYPE = "coordinator-value"
    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_FROM = 4
    FIELDS = (
        Field("offset", "offset", "int64", (0, 4), default=0),
        Field("leaderEpoch", "leader_epoch", "int32", (3, 4), default=-1, ignorable=True),
        Field("metadata", "metadata", "string", (0, 4), default=""),
        Field("commitTimestamp", "commit_timestamp", "int64", (0, 4), default=0),
        Field("expireTimestamp", "expire_timestamp", "int64", (1, 1), default=-1, ignorable=True),
        Field("topicId", "topic_id", "uuid", (4, 4), tagged=(4, 4), tag=0, default=Uuid.ZERO, ignorable=True),
    )

    def __init__(
        self,
        offset: int = 0,  # int64
        leader_epoch: int = -1,  # int32, v3+, ignorable
        metadata: str = "",  # string
        commit_timestamp: int = 0,  # int64
        expire_timestamp: int = -1,  # int64, v1, ignorable
        topic_id: Uuid = Uuid.ZERO,  # uuid, v4+, tag 0, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp
        self.expire_timestamp = expire_timestamp
        if topic_id is not Uuid.ZERO:
            self.topic_id = topic_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int64(self.offset))
        if version >= 3:
            put(wire.pack_int32(self.leader_epoch))
        put((wire.compact_string if version >= 4 else wire.string)(self.metadata))
        put(wire.pack_int64(self.commit_timestamp))
        if version == 1:
            put(wire.pack_int64(self.expire_timestamp))
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "topic_id" in tagged and tagged["topic_id"] != Uuid.ZERO:
            tags.append(wire.tag(0, wire.uuid(tagged["topic_id"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetCommitValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.offset,) = wire.unpack_int64(buf, pos)
        pos += 8
        if version >= 3:
            (self.leader_epoch,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.leader_epoch = -1
        self.metadata, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        (self.commit_timestamp,) = wire.unpack_int64(buf, pos)
        pos += 8
        if version == 1:
            (self.expire_timestamp,) = wire.unpack_int64(buf, pos)
            pos += 8
        else:
            self.expire_timestamp = -1
        if version >= 4:
            pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                tagged["topic_id"], pos = wire.read_uuid(buf, pos)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
