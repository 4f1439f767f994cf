"""The state of a transactional id, its record, and its shard."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.cluster.coordinators.shard_state import LoggedRecord, TableShard
from kmirror.errors import ProtocolError
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.transaction_log_key import TransactionLogKey
from kmirror.protocol.gen.transaction_log_value import PartitionsSchema, TransactionLogValue
from kmirror.protocol.keyed_records import (
    decode_key,
    decode_value,
    encode_key,
    encode_value,
    record_type,
    value_version,
)
from kmirror.spec.features import EPOCH_BUMPS_FROM
from kmirror.spec.topics import TRANSACTION_TOPIC

EPOCH_MAX = 0x7FFF
NO_PRODUCER_ID = -1


class Status(IntEnum):
    """Kafka's TransactionState ids."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def display_name(self) -> str:
        """The name used in responses, such as CompleteCommit."""
        return "".join(word.capitalize() for word in self.name.split("_"))


PREPARING = (Status.PREPARE_COMMIT, Status.PREPARE_ABORT)
COMPLETED = (Status.COMPLETE_COMMIT, Status.COMPLETE_ABORT)
EXPIRING = (Status.EMPTY, *COMPLETED)
"""The states in which an unused id expires (TransactionState.isExpirationAllowed)."""


def is_exhausted(producer_epoch: int) -> bool:
    """Return whether a producer with this epoch cannot get a higher one."""
    return producer_epoch >= EPOCH_MAX - 1


@dataclass(frozen=True, slots=True)
class Transaction:
    """The state of one transactional id."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    status: Status = Status.EMPTY
    partitions: tuple[TopicPartition, ...] = ()
    started_ms: int = -1
    updated_ms: int = -1
    previous_producer_id: int = NO_PRODUCER_ID
    """The producer id before the last change; usually the same."""
    next_producer_id: int = NO_PRODUCER_ID
    """In PREPARE_*: the producer id of the next transaction if the epochs of the current id are exhausted."""
    client_version: int = 0
    """The `transaction.version` followed by the last change, made by the client or by the broker after a timeout."""

    @property
    def bumps_epochs(self) -> bool:
        """Whether the end of the transaction raises the producer epoch (KIP-890 part 2)."""
        return self.client_version >= EPOCH_BUMPS_FROM

    @property
    def is_epoch_exhausted(self) -> bool:
        """Whether no producer may get a higher epoch: the last one is reserved for fencing."""
        return is_exhausted(self.producer_epoch)

    def record(self, transaction_version: int) -> KeyValue:
        """Return this state as a record of `__transaction_state`, for a cluster at this level of transaction.version.

        Below level 1 the record has the old format. If a client's epoch is raised even there, which Kafka's brokers
        allow too, the record needs the new version, because the returned epoch must survive this coordinator.
        """
        topics: dict[str, list[int]] = {}
        for tp in self.partitions:
            topics.setdefault(tp.topic, []).append(tp.partition)
        value = TransactionLogValue(
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            transaction_timeout_ms=self.timeout_ms,
            transaction_status=self.status,
            transaction_partitions=None
            if self.status is Status.EMPTY
            else [PartitionsSchema(topic=topic, partition_ids=ids) for topic, ids in topics.items()],
            transaction_last_update_timestamp_ms=self.updated_ms,
            transaction_start_timestamp_ms=self.started_ms,
        )
        version = int(transaction_version >= 1 or self.bumps_epochs)
        if version >= 1:
            value.previous_producer_id = self.previous_producer_id
            value.next_producer_id = self.next_producer_id
            value.client_transaction_version = self.client_version
        return self._key(), encode_value(value, version)

    def tombstone(self) -> KeyValue:
        """Return the record that removes the id."""
        return self._key(), None

    def _key(self) -> bytes:
        return encode_key(TransactionLogKey(transactional_id=self.transactional_id))


def _partitions_of(data: TransactionLogValue) -> tuple[TopicPartition, ...]:
    """Return the distinct partitions in a record; none if its state is Empty (TransactionLog.read)."""
    topics = () if data.transaction_status == Status.EMPTY else data.transaction_partitions or ()
    return tuple(dict.fromkeys(TopicPartition(row.topic, number) for row in topics for number in row.partition_ids))


class TransactionShard(TableShard[str, Transaction]):
    """All transactional ids of one partition of `__transaction_state`."""

    SERVED_IF_TRUNCATED = True

    def replay(self, record: LoggedRecord) -> None:
        """Apply one record of `__transaction_state`; ignore it if its type or version is unknown."""
        if record_type(record.key) != TransactionLogKey.API_KEY:
            return
        name = decode_key(TRANSACTION_TOPIC, record.key)
        assert isinstance(name, TransactionLogKey)
        if record.value is None:
            self.put(name.transactional_id, None)
            return
        if not TransactionLogValue.MIN_VERSION <= value_version(record.value) <= TransactionLogValue.MAX_VERSION:
            return
        found = decode_value(TRANSACTION_TOPIC, name, record.value)
        assert found is not None and isinstance(found[0], TransactionLogValue)
        data = found[0]
        try:
            status = Status(data.transaction_status)
        except ValueError:
            reason = f"unknown transaction status {data.transaction_status}"
            raise ProtocolError(reason, field="transaction_status") from None
        if data.transaction_partitions is None and status is not Status.EMPTY:
            raise ProtocolError(
                f"a transaction in state {status.display_name} has no partitions", field="transaction_partitions"
            )
        transaction = Transaction(
            name.transactional_id,
            data.producer_id,
            data.producer_epoch,
            data.transaction_timeout_ms,
            status,
            _partitions_of(data),
            data.transaction_start_timestamp_ms,
            data.transaction_last_update_timestamp_ms,
            data.previous_producer_id,
            data.next_producer_id,
            data.client_transaction_version,
        )
        self.put(name.transactional_id, transaction)
