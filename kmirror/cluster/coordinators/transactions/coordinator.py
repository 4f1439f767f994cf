"""The transaction coordinator: `__transaction_state`, producer ids, and the two phases of EndTxn.

A transactional id hashes to a partition of `__transaction_state`; the leader of that partition coordinates it. Phase
one persists PREPARE_COMMIT or PREPARE_ABORT and sends the response; phase two writes a marker into every partition of
the transaction and then persists COMPLETE_*. A new coordinator that finds PREPARE_* in the log continues with phase
two. Markers are only sent for a committed PREPARE_*: a record that may still be lost could be decided differently by
the next coordinator. While a change of an id is not committed, other changes get CONCURRENT_TRANSACTIONS (Kafka's
pendingState). A client ends its transaction by the rules of the transaction.version that it knows (`transitions.py`); a
broker ends a timed-out one by the rules of the cluster's version. An id without an open transaction expires
`transactional.id.expiration.ms` after its last change and is removed by a tombstone. Not implemented: two-phase commit
(KIP-939).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.coordinators.runtime import CoordinatorRuntime, KeyValue, OnDone
from kmirror.cluster.coordinators.transactions import markers, transitions
from kmirror.cluster.coordinators.transactions.markers import PendingMarkers, TransactionMarkers
from kmirror.cluster.coordinators.transactions.producer_ids import ProducerIds
from kmirror.cluster.coordinators.transactions.state import (
    EXPIRING,
    NO_PRODUCER_ID,
    PREPARING,
    Status,
    Transaction,
    TransactionShard,
)
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.lifecycle import Lifecycle
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.kernel.clock import MILLISECOND, Instant, to_ms
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.java import partition_for
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import EPOCH_BUMPS_FROM
from kmirror.spec.topics import TRANSACTION_TOPIC
from kmirror.spec.wire_values import CoordinatorType

OnEnded = Callable[[Instant, ErrorCode, Transaction], None]
"""Called with the time, the error of a write, and the state for the client's next transaction (valid without error)."""

SWEEP_TIMER = "sweep"
EXPIRY_TIMER = "expiry"
PERIODS = {
    SWEEP_TIMER: "transaction.abort.timed.out.transaction.cleanup.interval.ms",
    EXPIRY_TIMER: "transaction.remove.expired.transaction.cleanup.interval.ms",
}
"""Periodic timer -> config with its interval in ms."""


class TransactionCoordinator(BrokerComponent):
    """The transaction coordinator of one broker, for the shards that it leads."""

    name = "transactions"

    def __init__(self, context: BrokerContext, lifecycle: Lifecycle, replicas: ReplicaManager) -> None:
        self.context = context
        self._replicas = replicas
        self.runtime = CoordinatorRuntime(
            context, replicas, TRANSACTION_TOPIC, TransactionShard, on_committed=self._resume_all
        )
        self.producer_ids = ProducerIds(context, lifecycle)
        self._markers = TransactionMarkers(context, self.name, self.find, self._epoch_of, self._complete)
        self.returned_epochs: dict[str, tuple[Transaction, int]] = {}
        """Transactional id -> (state returned by InitProducerId, producer epoch in the request, if it had one).

        It is not persisted: if the response is lost and the coordinator changes, the client is fenced, as in Kafka.
        """
        self._is_sweeping = False

    # -- lookup -------------------------------------------------------------------------------

    def shard_of(self, transactional_id: str) -> int:
        """Return the partition of `__transaction_state` that owns the id, or -1 before the topic exists."""
        topic = self.context.image.topics.get(TRANSACTION_TOPIC)
        return -1 if topic is None else partition_for(transactional_id, len(topic.partitions))

    def coordinator_for(self, key_type: int, key: str) -> TopicPartition | None:
        """Return the partition whose leader coordinates transactional id `key`; None for other key types."""
        if key_type != CoordinatorType.TRANSACTION:
            return None
        return TopicPartition(TRANSACTION_TOPIC, max(0, self.shard_of(key)))

    def find(self, transactional_id: str) -> Transaction | None:
        """Return the committed state of an id; None if it does not exist, or this broker cannot report it."""
        shard = self.runtime.state(self.shard_of(transactional_id))
        return None if shard is None else shard.committed(transactional_id)

    def retried_epoch(self, known: Transaction) -> int:
        """Return the epoch of a client that missed the response with the current epoch; -1 if there is none."""
        returned = self.returned_epochs.get(known.transactional_id)
        if returned is not None:
            after, epoch = returned
            if (after.producer_id, after.producer_epoch) == (known.producer_id, known.producer_epoch):
                return epoch
        return transitions.epoch_before_end(known)

    def error(self, transactional_id: str) -> ErrorCode:
        """Return why no request for this id can be handled now, or NONE. Every error is retriable.

        NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS, or CONCURRENT_TRANSACTIONS while a change of the id is not
        committed.
        """
        partition = self.shard_of(transactional_id)
        shard = self.runtime.state(partition)
        if shard is None:
            return self.runtime.error(partition)
        return ErrorCode.CONCURRENT_TRANSACTIONS if shard.is_pending(transactional_id) else ErrorCode.NONE

    def write(self, before: Transaction | None, after: Transaction, on_done: OnDone) -> None:
        """Persist `after` if the newest state is `before`, else fail with CONCURRENT_TRANSACTIONS."""
        self._write(after.transactional_id, before, after.record(self.context.transaction_version), on_done)

    def _write(self, transactional_id: str, before: Transaction | None, record: KeyValue, on_done: OnDone) -> None:
        def decide(shard: TransactionShard) -> tuple[Sequence[KeyValue], ErrorCode]:
            if shard.get(transactional_id) != before:
                return (), ErrorCode.CONCURRENT_TRANSACTIONS
            return (record,), ErrorCode.NONE

        self.runtime.submit(self.shard_of(transactional_id), decide, on_done)

    # -- phase two ----------------------------------------------------------------------------

    def on_leadership(self, now: Instant, tp: TopicPartition, *, leads: bool) -> None:
        """Load or drop a shard, and resume phase two of its transactions in PREPARE_*."""
        if tp.topic == TRANSACTION_TOPIC:
            for name in [name for name in self._markers.ids() if self.shard_of(name) == tp.partition]:
                self._markers.end_markers(name)  # In a new leader epoch only the persisted state is valid.
            for name in [name for name in self.returned_epochs if self.shard_of(name) == tp.partition]:
                del self.returned_epochs[name]
        if not self.runtime.on_leadership(now, tp, leads=leads):
            return
        if self.runtime.error(tp.partition) is ErrorCode.NONE:
            self._resume_all(now, tp.partition)
        if not self._is_sweeping:
            self._is_sweeping = True
            for timer in PERIODS:
                self._repeat(now, timer)

    def _resume_all(self, now: Instant, partition: int) -> None:
        shard = self.runtime.state(partition)
        assert shard is not None, "the records that were in its log are committed"
        for transactional_id in shard.all_committed():
            self._resume(now, transactional_id)

    def _resume(self, now: Instant, transactional_id: str) -> None:
        """Begin phase two of a transaction that is in PREPARE_*, unless it is already running."""
        found = self.find(transactional_id)
        if found is not None and found.status in PREPARING:
            self._markers.begin(now, found)

    def _epoch_of(self, transactional_id: str) -> int:
        """Return the leader epoch in which this broker coordinates an id; -1 if it does not."""
        partition = self._replicas.partitions.find_led(
            TopicPartition(TRANSACTION_TOPIC, self.shard_of(transactional_id))
        )
        return -1 if partition is None else partition.leader_epoch

    def _complete(self, now: Instant, transaction: Transaction, pending: PendingMarkers) -> None:
        """Persist COMPLETE_* after all markers; phase two remains in progress until then."""
        after = transitions.complete(transaction, now_ms=to_ms(now))

        def on_done(later: Instant, error: ErrorCode) -> None:
            if not self._markers.is_current(transaction.transactional_id, pending):
                return
            if error in (ErrorCode.NONE, ErrorCode.NOT_COORDINATOR):
                self._markers.end_markers(transaction.transactional_id)
            else:  # The transaction must be completed: retry without a limit.
                self._markers.retry(later, transaction.transactional_id)

        self.write(transaction, after, on_done)

    # -- timeouts -----------------------------------------------------------------------------

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        match key:
            case (_, kind, str(transactional_id)) if kind == markers.TIMER:
                self._markers.send(now, transactional_id)
            case (_, kind) if kind == SWEEP_TIMER:
                self._sweep(now)
                self._repeat(now, SWEEP_TIMER)
            case (_, kind) if kind == EXPIRY_TIMER:
                self._expire(now)
                self._repeat(now, EXPIRY_TIMER)
            case _:
                raise AssertionError(f"unknown timer: {key}")

    def _repeat(self, now: Instant, timer: str) -> None:
        """Set a periodic timer again."""
        interval = self.context.configs.integer(PERIODS[timer])
        self.context.outbox.set_timer((self.name, timer), now + interval * MILLISECOND)

    def _sweep(self, now: Instant) -> None:
        """Abort transactions after their timeout and fence their producers; resume those in PREPARE_*."""
        for shard in self.runtime.states().values():
            for transaction in shard.all_committed().values():
                ongoing = transaction.status is Status.ONGOING and not shard.is_pending(transaction.transactional_id)
                if ongoing and transaction.started_ms + transaction.timeout_ms < to_ms(now):
                    self.abort_and_fence(now, transaction)
                self._resume(now, transaction.transactional_id)

    def _expire(self, now: Instant) -> None:
        """Remove ids that have not changed for `transactional.id.expiration.ms` and have no open transaction."""
        latest_ms = to_ms(now) - self.context.configs.integer("transactional.id.expiration.ms")
        for shard in self.runtime.states().values():
            for transaction in shard.all_committed().values():
                if transaction.status in EXPIRING and transaction.updated_ms <= latest_ms:
                    self._remove(transaction)

    def _remove(self, transaction: Transaction) -> None:
        """Remove an id, unless it has changed since."""
        name = transaction.transactional_id

        def on_done(now: Instant, error: ErrorCode) -> None:
            if error is ErrorCode.NONE and self.find(name) is None:
                self.returned_epochs.pop(name, None)

        self._write(name, transaction, transaction.tombstone(), on_done)

    def abort_and_fence(self, now: Instant, transaction: Transaction) -> None:
        """Abort an ongoing transaction and raise the producer epoch, which fences its producer."""
        version = self.context.transaction_version
        client_version = version if version >= EPOCH_BUMPS_FROM else 0
        self.end(now, transaction, commit=False, client_version=client_version, fences=True)

    def end(
        self,
        now: Instant,
        transaction: Transaction,
        *,
        commit: bool,
        client_version: int,
        fences: bool = False,
        on_done: OnEnded | None = None,
    ) -> None:
        """Persist PREPARE_*, call `on_done` with the error and the client's next state, and continue with phase two."""

        def prepare(later: Instant, next_producer_id: int | None) -> None:
            if next_producer_id is None:
                if on_done is not None:
                    on_done(later, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, transaction)
                return
            prepared = transitions.prepare(
                transaction,
                commit=commit,
                now_ms=to_ms(later),
                client_version=client_version,
                fences=fences,
                next_producer_id=next_producer_id,
            )

            def on_prepared(still_later: Instant, error: ErrorCode) -> None:
                if on_done is not None:
                    on_done(still_later, error, transitions.complete(prepared, now_ms=to_ms(still_later)))
                # Even after an error the record may be committed, although it was not acknowledged.
                self._resume(still_later, prepared.transactional_id)

            self.write(transaction, prepared, on_prepared)

        if client_version >= EPOCH_BUMPS_FROM and transaction.is_epoch_exhausted:
            self.producer_ids.request_id(now, prepare)
        else:
            prepare(now, NO_PRODUCER_ID)
