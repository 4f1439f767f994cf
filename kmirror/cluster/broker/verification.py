"""Transaction verification: before an append the leader asks the coordinator whether the transaction is open (KIP-890).

Otherwise a request that arrives late, or is repeated after its transaction was aborted, would start a hanging
transaction. Only the first batch of a transaction in a partition is verified: after that the log itself knows. If a
marker arrives while the response is pending, the response no longer counts (Kafka's VerificationGuard).

A client with transaction.version 2 does not register partitions with the coordinator: the leader adds the partition to
the transaction for it. The previous transaction may not have all its markers yet, so the leader retries for a short
time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kmirror.cluster.component import BrokerComponent, Components
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.partition import Partition, VerificationGuard
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kmirror.protocol.gen.add_partitions_to_txn_response import AddPartitionsToTxnResponse
from kmirror.protocol.message import Message
from kmirror.records import layout
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import CoordinatorType

Verdicts = Mapping[TopicPartition, ErrorCode]
"""Partition to the error of its batch; partitions whose batch may be appended are left out."""


@dataclass(slots=True)
class Verification:
    """The verification of one request that writes in a transaction."""

    context: BrokerContext
    components: Components
    transactional_id: str
    adds: bool
    """True if the coordinator must add the partitions to the transaction (KIP-890 part 2); else the client did so."""
    knows_abortable: bool
    """True if the client knows TRANSACTION_ABORTABLE; else it gets INVALID_TXN_STATE."""
    guards: dict[TopicPartition, tuple[Partition, VerificationGuard]] = field(default_factory=dict)
    """Partition and its guard; the guard stays in `Partition.verifications` until a marker removes it."""
    sequences: dict[TopicPartition, int] = field(default_factory=dict)
    """First sequence number of the batch, for each partition with a guard."""
    fenced: dict[TopicPartition, ErrorCode] = field(default_factory=dict)
    """Partitions whose log has seen a later epoch of the producer: rejected without a request."""
    producers: dict[tuple[int, int], None] = field(default_factory=dict)
    """(producer id, epoch) of the producers that want to write; a request has only one."""

    def register(
        self, partition: Partition, producer_id: int, producer_epoch: int, sequence: int = layout.NO_SEQUENCE
    ) -> None:
        """Register a producer's write to the partition, unless its transaction is already open in the log."""
        self.producers[producer_id, producer_epoch] = None
        entry = partition.log.producers.entries.get(producer_id)
        if entry is not None and producer_epoch < entry.producer_epoch:
            self.fenced[partition.tp] = ErrorCode.INVALID_PRODUCER_EPOCH
            return
        if _is_open(partition, producer_id, producer_epoch):
            return
        guard = partition.begin_verification(producer_id, producer_epoch, sequence, adds=self.adds)
        self.guards[partition.tp] = partition, guard
        self.sequences[partition.tp] = sequence

    def is_valid(self, partition: Partition) -> bool:
        """Return whether nothing has ended the producer's transaction in the partition since `register`."""
        registered = self.guards.get(partition.tp)
        ((producer_id, producer_epoch),) = self.producers
        if (
            registered is not None
            and registered[0] is partition
            and partition.verifications.get(producer_id) is registered[1]
        ):
            return True
        return _is_open(partition, producer_id, producer_epoch)

    def on_appended(self, partition: Partition) -> None:
        """Record that the batch is in the log: from now on the log knows that the transaction is open."""
        if partition.tp in self.guards:
            ((producer_id, _),) = self.producers
            partition.remove_verification(producer_id)

    def send(self, now: Instant, on_verified: Callable[[Instant, Verdicts], None]) -> None:
        """Call `on_verified` with the coordinator's verdicts; at once if there is nothing to verify."""
        if not self.guards:
            on_verified(now, self.fenced)
            return
        assert len(self.producers) == 1, "the request can name only one producer"

        def on_reply(later: Instant, reply: Message | None) -> None:
            on_verified(later, self._verdicts(reply))

        shard = self.components.coordinator_for(CoordinatorType.TRANSACTION, self.transactional_id)
        image = None if shard is None else self.context.image.topics.partition(shard)
        if image is None or not self.context.ask_broker(now, image.leader, "verification", self._request(), on_reply):
            on_reply(now, None)

    def _request(self) -> AddPartitionsToTxnRequest:
        topics: dict[str, AddPartitionsToTxnTopic] = {}
        for tp in self.guards:
            topics.setdefault(tp.topic, AddPartitionsToTxnTopic(name=tp.topic)).partitions.append(tp.partition)
        ((producer_id, epoch),) = self.producers
        transaction = AddPartitionsToTxnTransaction(
            transactional_id=self.transactional_id,
            producer_id=producer_id,
            producer_epoch=epoch,
            verify_only=not self.adds,
            topics=list(topics.values()),
        )
        return AddPartitionsToTxnRequest(transactions=[transaction])

    def _verdicts(self, reply: Message | None) -> Verdicts:
        errors: dict[TopicPartition, ErrorCode] = {}
        if isinstance(reply, AddPartitionsToTxnResponse):
            for result in reply.results_by_transaction:
                for topic in result.topic_results:
                    for row in topic.results_by_partition:
                        errors[TopicPartition(topic.name, row.partition_index)] = ErrorCode(row.partition_error_code)
        verdicts = dict(self.fenced)
        for tp, (partition, _) in self.guards.items():
            error = self._client_error(errors.get(tp, ErrorCode.NETWORK_EXCEPTION))
            if not error and not self.is_valid(partition):
                error = ErrorCode.INVALID_TXN_STATE  # A marker arrived first, or the leader changed.
            if error:
                verdicts[tp] = error
        return verdicts

    def is_out_of_order(self, partition: Partition) -> bool:
        """Return whether an earlier batch was rejected and will be retried: it could not be appended after this one.

        The log accepts any first sequence number from a producer that is unknown in the partition. A producer that gets
        a new epoch with each transaction, however, starts each one at 0.
        """
        if partition.tp not in self.guards:
            return False
        (_, guard), sequence = self.guards[partition.tp], self.sequences[partition.tp]
        ((producer_id, _),) = self.producers
        entry = partition.log.producers.entries.get(producer_id)
        is_first = entry is None or not entry.batches
        return sequence > guard.lowest_sequence or (guard.adds and is_first and sequence > 0)

    def _client_error(self, error: ErrorCode) -> ErrorCode:
        """Map the coordinator's error to the client's (AddPartitionsToTxnManager)."""
        if error is ErrorCode.PRODUCER_FENCED:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        if error is ErrorCode.TRANSACTION_ABORTABLE and not self.knows_abortable:
            return ErrorCode.INVALID_TXN_STATE
        return error


class DelayedRetries(BrokerComponent):
    """Requests that retry after a pause, because the coordinator was not ready."""

    name = "pauses"

    def __init__(self, context: BrokerContext) -> None:
        self._context = context
        self._waiting: dict[int, Callable[[Instant], None]] = {}
        self._number = 0

    def schedule(self, now: Instant, pause_ms: int, retry: Callable[[Instant], None]) -> None:
        """Call `retry` after `pause_ms`."""
        self._number += 1
        self._waiting[self._number] = retry
        self._context.outbox.set_timer((self.name, self._number), now + pause_ms * MILLISECOND)

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        """Retry a waiting request."""
        _, number = key
        assert isinstance(number, int), key
        self._waiting.pop(number)(now)


def _is_open(partition: Partition, producer_id: int, producer_epoch: int) -> bool:
    """Return whether the log shows the producer's transaction as open."""
    entry = partition.log.producers.entries.get(producer_id)
    return entry is not None and entry.txn_first_offset >= 0 and entry.producer_epoch == producer_epoch
