"""RemoteLogSegmentMetadataSnapshotRecord: metadata, key 3, versions 0, flexible from 0.

Generated from schemas/storage/RemoteLogSegmentMetadataSnapshotRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_iq, pack_iq = wire.fused("iq")
unpack_qqiqq, pack_qqiqq = wire.fused("qqiqq")


class SegmentLeaderEpochEntry(Struct):
    """Part of RemoteLogSegmentMetadataSnapshotRecord."""

    __slots__ = ("leader_epoch", "offset")

    FIELDS = (
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 0), default=0),
        Field("Offset", "offset", "int64", (0, 0), default=0),
    )

    def __init__(
        self,
        leader_epoch: int = 0,  # int32
        offset: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.leader_epoch = leader_epoch
        self.offset = offset
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.leader_epoch, self.offset))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SegmentLeaderEpochEntry, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.leader_epoch, self.offset = unpack_iq(buf, pos)
        pos += 12
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class RemoteLogSegmentMetadataSnapshotRecord(Message):
    """RemoteLogSegmentMetadataSnapshotRecord, versions 0."""

    __slots__ = (
        "segment_id",
        "start_offset",
        "end_offset",
        "broker_id",
        "max_timestamp_ms",
        "event_timestamp_ms",
        "segment_leader_epochs",
        "segment_size_in_bytes",
        "custom_metadata",
        "remote_log_segment_state",
    )

    txn_index_empty = Tagged[bool]("txn_index_empty", False)

    NAME = "RemoteLogSegmentMetadataSnapshotRecord"
    TYPE = "metadata"
    API_KEY = 3
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("SegmentId", "segment_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("StartOffset", "start_offset", "int64", (0, 0), default=0),
        Field("EndOffset", "end_offset", "int64", (0, 0), default=0),
        Field("BrokerId", "broker_id", "int32", (0, 0), default=0),
        Field("MaxTimestampMs", "max_timestamp_ms", "int64", (0, 0), default=0),
        Field("EventTimestampMs", "event_timestamp_ms", "int64", (0, 0), default=0),
        Field(
            "SegmentLeaderEpochs",
            "segment_leader_epochs",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=SegmentLeaderEpochEntry,
        ),
        Field("SegmentSizeInBytes", "segment_size_in_bytes", "int32", (0, 0), default=0),
        Field("CustomMetadata", "custom_metadata", "bytes", (0, 0), nullable=(0, 0)),
        Field("RemoteLogSegmentState", "remote_log_segment_state", "int8", (0, 0), default=0),
        Field("TxnIndexEmpty", "txn_index_empty", "bool", (0, 0), tagged=(0, 0), tag=0, default=False),
    )

    def __init__(
        self,
        segment_id: Uuid = Uuid.ZERO,  # uuid
        start_offset: int = 0,  # int64
        end_offset: int = 0,  # int64
        broker_id: int = 0,  # int32
        max_timestamp_ms: int = 0,  # int64
        event_timestamp_ms: int = 0,  # int64
        segment_leader_epochs: list[SegmentLeaderEpochEntry] = UNSET,  # []SegmentLeaderEpochEntry
        segment_size_in_bytes: int = 0,  # int32
        custom_metadata: bytes | None = None,  # bytes
        remote_log_segment_state: int = 0,  # int8
        txn_index_empty: bool = False,  # bool, tag 0
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.segment_id = segment_id
        self.start_offset = start_offset
        self.end_offset = end_offset
        self.broker_id = broker_id
        self.max_timestamp_ms = max_timestamp_ms
        self.event_timestamp_ms = event_timestamp_ms
        self.segment_leader_epochs = [] if segment_leader_epochs is UNSET else segment_leader_epochs
        self.segment_size_in_bytes = segment_size_in_bytes
        self.custom_metadata = custom_metadata
        self.remote_log_segment_state = remote_log_segment_state
        if txn_index_empty != False:
            self.txn_index_empty = txn_index_empty
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.segment_id))
        put(pack_qqiqq(
            self.start_offset,
            self.end_offset,
            self.broker_id,
            self.max_timestamp_ms,
            self.event_timestamp_ms,
        ))
        put(wire.compact_count(self.segment_leader_epochs))
        for segment_leader_epoch_entry in self.segment_leader_epochs:
            segment_leader_epoch_entry._write(put, version)
        put(wire.pack_int32(self.segment_size_in_bytes))
        wire.put_compact_nullable_bytes(put, self.custom_metadata)
        put(wire.pack_int8(self.remote_log_segment_state))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "txn_index_empty" in tagged and tagged["txn_index_empty"]:
            tags.append(wire.tag(0, wire.pack_bool(tagged["txn_index_empty"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RemoteLogSegmentMetadataSnapshotRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.segment_id, pos = wire.read_uuid(buf, pos)
        (
            self.start_offset,
            self.end_offset,
            self.broker_id,
            self.max_timestamp_ms,
            self.event_timestamp_ms,
        ) = unpack_qqiqq(buf, pos)
        pos += 36
        n, pos = wire.read_compact_count(buf, pos, 13)
        self.segment_leader_epochs, pos = wire.read_structs(SegmentLeaderEpochEntry._read, buf, pos, n, version)
        (self.segment_size_in_bytes,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.custom_metadata, pos = wire.read_compact_nullable_bytes(buf, pos)
        (self.remote_log_segment_state,) = wire.unpack_int8(buf, pos)
        pos += 1
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                (tagged["txn_index_empty"],) = wire.unpack_bool(buf, pos)
                pos += 1
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
