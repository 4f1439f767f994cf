"""Does a batch belong to a transaction that its coordinator has open? A leader asks before it appends (KIP-890).

Without that a request that is late, or is repeated after its transaction was aborted, begins a transaction that nobody
will ever end. Only the first batch of a transaction in a partition is asked about: once it is there the log itself
knows. A marker that arrives while the coordinator is asked ends the transaction all the same, so what was asked before
it counts no more (Kafka's verification guard).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kmirror.cluster.broker.context import BrokerContext
from kmirror.cluster.component import Components
from kmirror.cluster.replication.partition import Partition
from kmirror.errors import CorruptBatch
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kmirror.protocol.gen.add_partitions_to_txn_response import AddPartitionsToTxnResponse
from kmirror.protocol.message import Message
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.layout import Buffer
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import CoordinatorType

ADDS_FROM = 12
"""First version of Produce whose clients leave it to the leader to add the partition (KIP-890 part 2)."""
ABORTABLE_FROM = 11
"""First version of Produce that knows TRANSACTION_ABORTABLE."""
RETRIABLE = (
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)
"""Told as NOT_ENOUGH_REPLICAS, after which every client tries again without asking for metadata."""

Verdicts = Mapping[TopicPartition, ErrorCode]
"""Why a partition's batch may not be appended; those that may are left out."""
ALL_GOOD: Verdicts = {}


@dataclass(slots=True)
class Verification:
    """One request's question to the coordinator."""

    context: BrokerContext
    components: Components
    transactional_id: str
    version: int
    """Of the Produce request."""
    guards: dict[TopicPartition, tuple[Partition, object]] = field(default_factory=dict)
    """Partition, and what stands for the question there until it is answered or a marker ends it."""
    producers: dict[tuple[int, int], None] = field(default_factory=dict)
    """(producer id, epoch) of what was looked at; a request may have one."""

    def look_at(self, partition: Partition, records: Buffer) -> None:
        """Note a batch whose transaction the log does not know to be open."""
        if not is_transactional(records):
            return
        try:
            batch = Batch(memoryview(records))
        except CorruptBatch:  # The append says why.
            return
        if batch.is_control:
            return
        self.producers[batch.producer_id, batch.producer_epoch] = None
        entry = partition.log.producers.entries.get(batch.producer_id)
        if entry is not None and (
            batch.producer_epoch < entry.producer_epoch  # Fenced: the log refuses it by itself.
            or (entry.txn_first_offset >= 0 and entry.producer_epoch == batch.producer_epoch)
        ):
            return
        guard = partition.verifying.setdefault(batch.producer_id, object())
        self.guards[partition.tp] = partition, guard

    def ask(self, now: Instant, then: Callable[[Instant, Verdicts], None]) -> None:
        """Hand over the coordinator's word; at once where there is nothing to ask."""
        if not self.guards:
            then(now, ALL_GOOD)
            return
        if len(self.producers) > 1:  # The coordinator could speak for one of them only.
            then(now, dict.fromkeys(self.guards, ErrorCode.INVALID_PRODUCER_ID_MAPPING))
            return

        def on_reply(later: Instant, reply: Message | None) -> None:
            then(later, self._verdicts(reply))

        shard = self.components.coordinator_for(CoordinatorType.TRANSACTION, self.transactional_id)
        image = None if shard is None else self.context.image.partition(shard)
        if image is None or not self.context.ask_broker(now, image.leader, "verification", self._request(), on_reply):
            on_reply(now, None)

    def _request(self) -> AddPartitionsToTxnRequest:
        topics: dict[str, AddPartitionsToTxnTopic] = {}
        for tp in self.guards:
            topics.setdefault(tp.topic, AddPartitionsToTxnTopic(name=tp.topic)).partitions.append(tp.partition)
        ((producer_id, epoch),) = self.producers
        asked = AddPartitionsToTxnTransaction(
            transactional_id=self.transactional_id,
            producer_id=producer_id,
            producer_epoch=epoch,
            verify_only=self.version < ADDS_FROM,
            topics=list(topics.values()),
        )
        return AddPartitionsToTxnRequest(transactions=[asked])

    def _verdicts(self, reply: Message | None) -> Verdicts:
        answers: dict[TopicPartition, ErrorCode] = {}
        if isinstance(reply, AddPartitionsToTxnResponse):
            for result in reply.results_by_transaction:
                for topic in result.topic_results:
                    for row in topic.results_by_partition:
                        answers[TopicPartition(topic.name, row.partition_index)] = ErrorCode(row.partition_error_code)
        verdicts = {}
        ((producer_id, _),) = self.producers
        for tp, (partition, guard) in self.guards.items():
            error = self._for_client(answers.get(tp, ErrorCode.NETWORK_EXCEPTION))
            if not error and partition.verifying.get(producer_id) is not guard:
                error = ErrorCode.INVALID_TXN_STATE  # A marker came first, or another leader.
            if error:
                verdicts[tp] = error
        return verdicts

    def _for_client(self, error: ErrorCode) -> ErrorCode:
        """Return the error that a client gets for the coordinator's (AddPartitionsToTxnManager, ReplicaManager)."""
        if error in RETRIABLE or (error is ErrorCode.CONCURRENT_TRANSACTIONS and self.version < ADDS_FROM):
            return ErrorCode.NOT_ENOUGH_REPLICAS
        if error is ErrorCode.PRODUCER_FENCED:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        if error is ErrorCode.TRANSACTION_ABORTABLE and self.version < ABORTABLE_FROM:
            return ErrorCode.INVALID_TXN_STATE
        return error


def is_transactional(records: Buffer) -> bool:
    """Does a Produce request's batch say that it belongs to a transaction? False where no batch can be told."""
    flags = layout.ATTRIBUTES_AT + 1  # The low byte of the attributes.
    return (
        len(records) >= layout.HEADER_SIZE
        and records[layout.MAGIC_AT] == layout.MAGIC_V2
        and bool(records[flags] & layout.TRANSACTIONAL_FLAG)
    )
