"""AddPartitionsToTxnRequest: request, key 24, versions 0-5, flexible from 3.

Generated from schemas/kafka/AddPartitionsToTxnRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_qh, pack_qh = wire.fused("qh")
unpack_qho, pack_qho = wire.fused("qh?")


class AddPartitionsToTxnTopic(Struct):
    """Part of AddPartitionsToTxnRequest."""

    __slots__ = ("name", "partitions")

    FIELDS = (
        Field("Name", "name", "string", (0, 5), default="", entity="topicName", map_key=True),
        Field("Partitions", "partitions", "int32", (0, 5), is_array=True, default=[]),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        partitions: list[int] = UNSET,  # []int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 3 else wire.string)(self.name))
        put((wire.compact_count if version >= 3 else wire.count)(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AddPartitionsToTxnTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 3 else wire.read_count)(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class AddPartitionsToTxnTransaction(Struct):
    """Part of AddPartitionsToTxnRequest, v4+."""

    __slots__ = ("transactional_id", "producer_id", "producer_epoch", "verify_only", "topics")

    FIELDS = (
        Field(
            "TransactionalId",
            "transactional_id",
            "string",
            (4, 5),
            default="",
            entity="transactionalId",
            map_key=True,
        ),
        Field("ProducerId", "producer_id", "int64", (4, 5), default=0, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int16", (4, 5), default=0),
        Field("VerifyOnly", "verify_only", "bool", (4, 5), default=False),
        Field(
            "Topics",
            "topics",
            "struct",
            (4, 5),
            is_array=True,
            default=[],
            struct=AddPartitionsToTxnTopic,
        ),
    )

    def __init__(
        self,
        transactional_id: str = "",  # string, transactionalId
        producer_id: int = 0,  # int64, producerId
        producer_epoch: int = 0,  # int16
        verify_only: bool = False,  # bool
        topics: list[AddPartitionsToTxnTopic] = UNSET,  # []AddPartitionsToTxnTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.verify_only = verify_only
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.transactional_id))
        put(pack_qho(self.producer_id, self.producer_epoch, self.verify_only))
        put(wire.compact_count(self.topics))
        for add_partitions_to_txn_topic in self.topics:
            add_partitions_to_txn_topic._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AddPartitionsToTxnTransaction, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.transactional_id, pos = wire.read_compact_string(buf, pos)
        self.producer_id, self.producer_epoch, self.verify_only = unpack_qho(buf, pos)
        pos += 11
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(AddPartitionsToTxnTopic._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AddPartitionsToTxnRequest(Message):
    """AddPartitionsToTxnRequest, versions 0-5."""

    __slots__ = (
        "transactions",
        "v3_and_below_transactional_id",
        "v3_and_below_producer_id",
        "v3_and_below_producer_epoch",
        "v3_and_below_topics",
    )

    NAME = "AddPartitionsToTxnRequest"
    TYPE = "request"
    API_KEY = 24
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_FROM = 3
    FIELDS = (
        Field(
            "Transactions",
            "transactions",
            "struct",
            (4, 5),
            is_array=True,
            default=[],
            struct=AddPartitionsToTxnTransaction,
        ),
        Field(
            "V3AndBelowTransactionalId",
            "v3_and_below_transactional_id",
            "string",
            (0, 3),
            default="",
            entity="transactionalId",
        ),
        Field(
            "V3AndBelowProducerId",
            "v3_and_below_producer_id",
            "int64",
            (0, 3),
            default=0,
            entity="producerId",
        ),
        Field("V3AndBelowProducerEpoch", "v3_and_below_producer_epoch", "int16", (0, 3), default=0),
        Field(
            "V3AndBelowTopics",
            "v3_and_below_topics",
            "struct",
            (0, 3),
            is_array=True,
            default=[],
            struct=AddPartitionsToTxnTopic,
        ),
    )

    def __init__(
        self,
        transactions: list[AddPartitionsToTxnTransaction] = UNSET,  # []AddPartitionsToTxnTransaction, v4+
        v3_and_below_transactional_id: str = "",  # string, v0-3, transactionalId
        v3_and_below_producer_id: int = 0,  # int64, v0-3, producerId
        v3_and_below_producer_epoch: int = 0,  # int16, v0-3
        v3_and_below_topics: list[AddPartitionsToTxnTopic] = UNSET,  # []AddPartitionsToTxnTopic, v0-3
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.transactions = [] if transactions is UNSET else transactions
        self.v3_and_below_transactional_id = v3_and_below_transactional_id
        self.v3_and_below_producer_id = v3_and_below_producer_id
        self.v3_and_below_producer_epoch = v3_and_below_producer_epoch
        self.v3_and_below_topics = [] if v3_and_below_topics is UNSET else v3_and_below_topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 4:
            put(wire.compact_count(self.transactions))
            for add_partitions_to_txn_transaction in self.transactions:
                add_partitions_to_txn_transaction._write(put, version)
        elif self.transactions:
            raise wire.Unwritable
        if version <= 3:
            put((wire.compact_string if version >= 3 else wire.string)(self.v3_and_below_transactional_id))
        elif self.v3_and_below_transactional_id:
            raise wire.Unwritable
        if version <= 3:
            put(pack_qh(self.v3_and_below_producer_id, self.v3_and_below_producer_epoch))
        elif self.v3_and_below_producer_id:
            raise wire.Unwritable
        if version > 3 and self.v3_and_below_producer_epoch:
            raise wire.Unwritable
        if version <= 3:
            put((wire.compact_count if version >= 3 else wire.count)(self.v3_and_below_topics))
            for add_partitions_to_txn_topic in self.v3_and_below_topics:
                add_partitions_to_txn_topic._write(put, version)
        elif self.v3_and_below_topics:
            raise wire.Unwritable
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AddPartitionsToTxnRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version >= 4:
            n, pos = wire.read_compact_count(buf, pos, 14)
            self.transactions, pos = wire.read_structs(AddPartitionsToTxnTransaction._read, buf, pos, n, version)
        else:
            self.transactions = []
        if version <= 3:
            self.v3_and_below_transactional_id, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        else:
            self.v3_and_below_transactional_id = ""
        if version <= 3:
            self.v3_and_below_producer_id, self.v3_and_below_producer_epoch = unpack_qh(buf, pos)
            pos += 10
        else:
            self.v3_and_below_producer_id = 0
            self.v3_and_below_producer_epoch = 0
        if version <= 3:
            n, pos = (wire.read_compact_count if version >= 3 else wire.read_count)(buf, pos, 3)
            self.v3_and_below_topics, pos = wire.read_structs(AddPartitionsToTxnTopic._read, buf, pos, n, version)
        else:
            self.v3_and_below_topics = []
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
