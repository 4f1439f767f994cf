"""ShareUpdateValue: coordinator-value, key 1, versions 0, flexible from 0.

Generated from schemas/coordinator/ShareUpdateValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_iiq, pack_iiq = wire.fused("iiq")
unpack_qqbh, pack_qqbh = wire.fused("qqbh")


class StateBatch(Struct):
    """Part of ShareUpdateValue."""

    __slots__ = ("first_offset", "last_offset", "delivery_state", "delivery_count")

    FIELDS = (
        Field("FirstOffset", "first_offset", "int64", (0, 0), default=0),
        Field("LastOffset", "last_offset", "int64", (0, 0), default=0),
        Field("DeliveryState", "delivery_state", "int8", (0, 0), default=0),
        Field("DeliveryCount", "delivery_count", "int16", (0, 0), default=0),
    )

    def __init__(
        self,
        first_offset: int = 0,  # int64
        last_offset: int = 0,  # int64
        delivery_state: int = 0,  # int8
        delivery_count: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qqbh(self.first_offset, self.last_offset, self.delivery_state, self.delivery_count))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StateBatch, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.first_offset,
            self.last_offset,
            self.delivery_state,
            self.delivery_count,
        ) = unpack_qqbh(buf, pos)
        pos += 19
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ShareUpdateValue(Message):
    """ShareUpdateValue, versions 0."""

    __slots__ = ("snapshot_epoch", "leader_epoch", "start_offset", "state_batches")

    delivery_complete_count = Tagged[int]("delivery_complete_count", -1)

    NAME = "ShareUpdateValue"
    TYPE = "coordinator-value"
    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("SnapshotEpoch", "snapshot_epoch", "int32", (0, 0), default=0),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 0), default=0),
        Field("StartOffset", "start_offset", "int64", (0, 0), default=0),
        Field(
            "DeliveryCompleteCount",
            "delivery_complete_count",
            "int32",
            (0, 0),
            tagged=(0, 0),
            tag=0,
            default=-1,
        ),
        Field(
            "StateBatches",
            "state_batches",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=StateBatch,
        ),
    )

    def __init__(
        self,
        snapshot_epoch: int = 0,  # int32
        leader_epoch: int = 0,  # int32
        start_offset: int = 0,  # int64
        delivery_complete_count: int = -1,  # int32, tag 0
        state_batches: list[StateBatch] = UNSET,  # []StateBatch
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.snapshot_epoch = snapshot_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.state_batches = [] if state_batches is UNSET else state_batches
        if delivery_complete_count != -1:
            self.delivery_complete_count = delivery_complete_count
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iiq(self.snapshot_epoch, self.leader_epoch, self.start_offset))
        put(wire.compact_count(self.state_batches))
        for state_batch in self.state_batches:
            state_batch._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "delivery_complete_count" in tagged and tagged["delivery_complete_count"] != -1:
            tags.append(wire.tag(0, wire.pack_int32(tagged["delivery_complete_count"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareUpdateValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.snapshot_epoch, self.leader_epoch, self.start_offset = unpack_iiq(buf, pos)
        pos += 16
        n, pos = wire.read_compact_count(buf, pos, 20)
        self.state_batches, pos = wire.read_structs(StateBatch._read, buf, pos, n, version)
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                (tagged["delivery_complete_count"],) = wire.unpack_int32(buf, pos)
                pos += 4
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
