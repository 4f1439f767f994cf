"""StreamsGroupMetadataValue: coordinator-value, key 17, versions 0, flexible from 0.

Generated from schemas/coordinator/StreamsGroupMetadataValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_iq, pack_iq = wire.fused("iq")


class LastAssignmentConfig(Struct):
    """Part of StreamsGroupMetadataValue."""

    __slots__ = ("key", "value")

    FIELDS = (
        Field("Key", "key", "string", (0, 0), default=""),
        Field("Value", "value", "string", (0, 0), default=""),
    )

    def __init__(
        self,
        key: str = "",  # string
        value: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.key = key
        self.value = value
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.key))
        put(wire.compact_string(self.value))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LastAssignmentConfig, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.key, pos = wire.read_compact_string(buf, pos)
        self.value, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class StreamsGroupMetadataValue(Message):
    """StreamsGroupMetadataValue, versions 0."""

    __slots__ = ("epoch", "metadata_hash")

    validated_topology_epoch = Tagged[int]("validated_topology_epoch", -1)
    last_assignment_configs = Tagged[list[LastAssignmentConfig] | None]("last_assignment_configs", list)

    NAME = "StreamsGroupMetadataValue"
    TYPE = "coordinator-value"
    API_KEY = 17
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Epoch", "epoch", "int32", (0, 0), default=0),
        Field("MetadataHash", "metadata_hash", "int64", (0, 0), default=0),
        Field(
            "ValidatedTopologyEpoch",
            "validated_topology_epoch",
            "int32",
            (0, 0),
            tagged=(0, 0),
            tag=0,
            default=-1,
        ),
        Field(
            "LastAssignmentConfigs",
            "last_assignment_configs",
            "struct",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            tagged=(0, 0),
            tag=1,
            default=[],
            struct=LastAssignmentConfig,
        ),
    )

    def __init__(
        self,
        epoch: int = 0,  # int32
        metadata_hash: int = 0,  # int64
        validated_topology_epoch: int = -1,  # int32, tag 0
        last_assignment_configs: list[LastAssignmentConfig] | None = UNSET,  # []LastAssignmentConfig, tag 1
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        if validated_topology_epoch != -1:
            self.validated_topology_epoch = validated_topology_epoch
        if last_assignment_configs is not UNSET:
            self.last_assignment_configs = last_assignment_configs
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.epoch, self.metadata_hash))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "validated_topology_epoch" in tagged and tagged["validated_topology_epoch"] != -1:
            tags.append(wire.tag(0, wire.pack_int32(tagged["validated_topology_epoch"])))
        if "last_assignment_configs" in tagged and (tagged["last_assignment_configs"] is None or len(tagged["last_assignment_configs"])):
            body_1: list[wire.Chunk] = []
            body_1.append(wire.compact_nullable_count(tagged["last_assignment_configs"]))
            for last_assignment_config in tagged["last_assignment_configs"] or ():
                last_assignment_config._write(body_1.append, version)
            tags.append(wire.tag(1, b"".join(body_1)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 2)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StreamsGroupMetadataValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.epoch, self.metadata_hash = unpack_iq(buf, pos)
        pos += 12
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                (tagged["validated_topology_epoch"],) = wire.unpack_int32(buf, pos)
                pos += 4
            elif tag == 1:
                n, pos = wire.read_compact_nullable_count(buf, pos, 3)
                if n < 0:
                    tagged["last_assignment_configs"] = None
                else:
                    tagged["last_assignment_configs"], pos = wire.read_structs(LastAssignmentConfig._read, buf, pos, n, version)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
