"""ProducerSnapshot: data, versions 1, never flexible.

Generated from schemas/storage/ProducerSnapshot.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_qhiqiqiq, pack_qhiqiqiq = wire.fused("qhiqiqiq")


class ProducerEntry(Struct):
    """Part of ProducerSnapshot."""

    __slots__ = (
        "producer_id",
        "epoch",
        "last_sequence",
        "last_offset",
        "offset_delta",
        "timestamp",
        "coordinator_epoch",
        "current_txn_first_offset",
    )

    FIELDS = (
        Field("ProducerId", "producer_id", "int64", (1, 1), default=0),
        Field("Epoch", "epoch", "int16", (1, 1), default=0),
        Field("LastSequence", "last_sequence", "int32", (1, 1), default=0),
        Field("LastOffset", "last_offset", "int64", (1, 1), default=0),
        Field("OffsetDelta", "offset_delta", "int32", (1, 1), default=0),
        Field("Timestamp", "timestamp", "int64", (1, 1), default=0),
        Field("CoordinatorEpoch", "coordinator_epoch", "int32", (1, 1), default=0),
        Field("CurrentTxnFirstOffset", "current_txn_first_offset", "int64", (1, 1), default=0),
    )

    def __init__(
        self,
        producer_id: int = 0,  # int64
        epoch: int = 0,  # int16
        last_sequence: int = 0,  # int32
        last_offset: int = 0,  # int64
        offset_delta: int = 0,  # int32
        timestamp: int = 0,  # int64
        coordinator_epoch: int = 0,  # int32
        current_txn_first_offset: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.producer_id = producer_id
        self.epoch = epoch
        self.last_sequence = last_sequence
        self.last_offset = last_offset
        self.offset_delta = offset_delta
        self.timestamp = timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_first_offset = current_txn_first_offset
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qhiqiqiq(
            self.producer_id,
            self.epoch,
            self.last_sequence,
            self.last_offset,
            self.offset_delta,
            self.timestamp,
            self.coordinator_epoch,
            self.current_txn_first_offset,
        ))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ProducerEntry, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.producer_id,
            self.epoch,
            self.last_sequence,
            self.last_offset,
            self.offset_delta,
            self.timestamp,
            self.coordinator_epoch,
            self.current_txn_first_offset,
        ) = unpack_qhiqiqiq(buf, pos)
        pos += 46
        return self, pos


class ProducerSnapshot(Message):
    """ProducerSnapshot, versions 1."""

    __slots__ = ("crc", "producer_entries")

    NAME = "ProducerSnapshot"
    TYPE = "data"
    API_KEY = None
    MIN_VERSION = 1
    MAX_VERSION = 1
    FLEXIBLE_FROM = None
    FIELDS = (
        Field("Crc", "crc", "uint32", (1, 1), default=0),
        Field(
            "ProducerEntries",
            "producer_entries",
            "struct",
            (1, 1),
            is_array=True,
            default=[],
            struct=ProducerEntry,
        ),
    )

    def __init__(
        self,
        crc: int = 0,  # uint32
        producer_entries: list[ProducerEntry] = UNSET,  # []ProducerEntry
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.crc = crc
        self.producer_entries = [] if producer_entries is UNSET else producer_entries
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_uint32(self.crc))
        put(wire.count(self.producer_entries))
        for producer_entry in self.producer_entries:
            producer_entry._write(put, version)
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ProducerSnapshot, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.crc,) = wire.unpack_uint32(buf, pos)
        pos += 4
        n, pos = wire.read_count(buf, pos, 46)
        self.producer_entries, pos = wire.read_structs(ProducerEntry._read, buf, pos, n, version)
        return self, pos
