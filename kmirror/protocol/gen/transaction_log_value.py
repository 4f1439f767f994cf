"""TransactionLogValue: coordinator-value, key 0, versions 0-1, flexible from 1.

Generated from schemas/coordinator/TransactionLogValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_qhib, pack_qhib = wire.fused("qhib")
unpack_qq, pack_qq = wire.fused("qq")


class PartitionsSchema(Struct):
    """Part of TransactionLogValue."""

    __slots__ = ("topic", "partition_ids")

    FIELDS = (
        Field("Topic", "topic", "string", (0, 1), default=""),
        Field("PartitionIds", "partition_ids", "int32", (0, 1), is_array=True, default=[]),
    )

    def __init__(
        self,
        topic: str = "",  # string
        partition_ids: list[int] = UNSET,  # []int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic = topic
        self.partition_ids = [] if partition_ids is UNSET else partition_ids
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 1 else wire.string)(self.topic))
        put((wire.compact_count if version >= 1 else wire.count)(self.partition_ids))
        put(wire.numbers(self.partition_ids, "i"))
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionsSchema, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 4)
        self.partition_ids, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class TransactionLogValue(Message):
    """TransactionLogValue, versions 0-1."""

    __slots__ = (
        "producer_id",
        "producer_epoch",
        "transaction_timeout_ms",
        "transaction_status",
        "transaction_partitions",
        "transaction_last_update_timestamp_ms",
        "transaction_start_timestamp_ms",
    )

    previous_producer_id = Tagged[int]("previous_producer_id", -1)
    next_producer_id = Tagged[int]("next_producer_id", -1)
    next_producer_epoch = Tagged[int]("next_producer_epoch", -1)
    client_transaction_version = Tagged[int]("client_transaction_version", 0)

    NAME = "TransactionLogValue"
    TYPE = "coordinator-value"
    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 1
    FIELDS = (
        Field("ProducerId", "producer_id", "int64", (0, 1), default=0),
        Field(
            "PreviousProducerId",
            "previous_producer_id",
            "int64",
            (1, 1),
            tagged=(1, 1),
            tag=0,
            default=-1,
        ),
        Field("NextProducerId", "next_producer_id", "int64", (1, 1), tagged=(1, 1), tag=1, default=-1),
        Field("ProducerEpoch", "producer_epoch", "int16", (0, 1), default=0),
        Field("NextProducerEpoch", "next_producer_epoch", "int16", (1, 1), tagged=(1, 1), tag=3, default=-1),
        Field("TransactionTimeoutMs", "transaction_timeout_ms", "int32", (0, 1), default=0),
        Field("TransactionStatus", "transaction_status", "int8", (0, 1), default=0),
        Field(
            "TransactionPartitions",
            "transaction_partitions",
            "struct",
            (0, 1),
            is_array=True,
            nullable=(0, 1),
            default=[],
            struct=PartitionsSchema,
        ),
        Field(
            "TransactionLastUpdateTimestampMs",
            "transaction_last_update_timestamp_ms",
            "int64",
            (0, 1),
            default=0,
        ),
        Field("TransactionStartTimestampMs", "transaction_start_timestamp_ms", "int64", (0, 1), default=0),
        Field(
            "ClientTransactionVersion",
            "client_transaction_version",
            "int16",
            (1, 1),
            tagged=(1, 1),
            tag=2,
            default=0,
        ),
    )

    def __init__(
        self,
        producer_id: int = 0,  # int64
        previous_producer_id: int = -1,  # int64, v1+, tag 0
        next_producer_id: int = -1,  # int64, v1+, tag 1
        producer_epoch: int = 0,  # int16
        next_producer_epoch: int = -1,  # int16, v1+, tag 3
        transaction_timeout_ms: int = 0,  # int32
        transaction_status: int = 0,  # int8
        transaction_partitions: list[PartitionsSchema] | None = UNSET,  # []PartitionsSchema
        transaction_last_update_timestamp_ms: int = 0,  # int64
        transaction_start_timestamp_ms: int = 0,  # int64
        client_transaction_version: int = 0,  # int16, v1+, tag 2
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_status = transaction_status
        self.transaction_partitions = [] if transaction_partitions is UNSET else transaction_partitions
        self.transaction_last_update_timestamp_ms = transaction_last_update_timestamp_ms
        self.transaction_start_timestamp_ms = transaction_start_timestamp_ms
        if previous_producer_id != -1:
            self.previous_producer_id = previous_producer_id
        if next_producer_id != -1:
            self.next_producer_id = next_producer_id
        if next_producer_epoch != -1:
            self.next_producer_epoch = next_producer_epoch
        if client_transaction_version != 0:
            self.client_transaction_version = client_transaction_version
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qhib(
            self.producer_id,
            self.producer_epoch,
            self.transaction_timeout_ms,
            self.transaction_status,
        ))
        put((wire.compact_nullable_count if version >= 1 else wire.nullable_count)(self.transaction_partitions))
        for partitions_schema in self.transaction_partitions or ():
            partitions_schema._write(put, version)
        put(pack_qq(self.transaction_last_update_timestamp_ms, self.transaction_start_timestamp_ms))
        if version < 1 and self._tagged and self.previous_producer_id != -1:
            raise wire.Unwritable
        if version < 1 and self._tagged and self.next_producer_id != -1:
            raise wire.Unwritable
        if version < 1 and self._tagged and self.next_producer_epoch != -1:
            raise wire.Unwritable
        if version < 1 and self._tagged and self.client_transaction_version:
            raise wire.Unwritable
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "previous_producer_id" in tagged and tagged["previous_producer_id"] != -1:
            tags.append(wire.tag(0, wire.pack_int64(tagged["previous_producer_id"])))
        if "next_producer_id" in tagged and tagged["next_producer_id"] != -1:
            tags.append(wire.tag(1, wire.pack_int64(tagged["next_producer_id"])))
        if "client_transaction_version" in tagged and tagged["client_transaction_version"]:
            tags.append(wire.tag(2, wire.pack_int16(tagged["client_transaction_version"])))
        if "next_producer_epoch" in tagged and tagged["next_producer_epoch"] != -1:
            tags.append(wire.tag(3, wire.pack_int16(tagged["next_producer_epoch"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 4)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TransactionLogValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.producer_id,
            self.producer_epoch,
            self.transaction_timeout_ms,
            self.transaction_status,
        ) = unpack_qhib(buf, pos)
        pos += 15
        n, pos = (wire.read_compact_nullable_count if version >= 1 else wire.read_nullable_count)(buf, pos, 3)
        if n < 0:
            self.transaction_partitions = None
        else:
            self.transaction_partitions, pos = wire.read_structs(PartitionsSchema._read, buf, pos, n, version)
        (
            self.transaction_last_update_timestamp_ms,
            self.transaction_start_timestamp_ms,
        ) = unpack_qq(buf, pos)
        pos += 16
        if version >= 1:
            pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                (tagged["previous_producer_id"],) = wire.unpack_int64(buf, pos)
                pos += 8
            elif tag == 1:
                (tagged["next_producer_id"],) = wire.unpack_int64(buf, pos)
                pos += 8
            elif tag == 2:
                (tagged["client_transaction_version"],) = wire.unpack_int16(buf, pos)
                pos += 2
            elif tag == 3:
                (tagged["next_producer_epoch"],) = wire.unpack_int16(buf, pos)
                pos += 2
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
