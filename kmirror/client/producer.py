"""The producer: sends each batch until it is acknowledged, fails, or `delivery.timeout.ms` is over.

A batch of an idempotent producer gets its producer id, epoch and sequence number when it is first sent and keeps them
for every retry, so a leader recognises a duplicate. A sequence number is never given to a second batch: a leader
without state for the producer accepts any first number, so the batches behind a failed one may have been written under
theirs. After a failure the producer therefore bumps its epoch (KIP-360). Batches that were under way behind the failed
one are retried under their old numbers until the leader either acknowledges or rejects them. In the new epoch the
partition begins again at 0 with the batches that were not written. A transaction in which a batch failed can only be
aborted, and the coordinator bumps the epoch before the next one. Batches are sent as the caller makes them; they are
not joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kmirror.client.backoff import Backoff
from kmirror.client.remote_cluster import Changes, RemoteCluster, code_of
from kmirror.client.requester import Requester
from kmirror.client.transactions import OnDone, State, TransactionManager
from kmirror.errors import UsageError
from kmirror.kernel import arguments
from kmirror.kernel.clock import MILLISECOND, Instant, to_ms
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import PartitionProduceResponse, ProduceResponse
from kmirror.protocol.message import Message
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.record import RecordData, check_records
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.version_limits import NAMED_TOPICS_LAST, TRANSACTIONS_V1_LAST
from kmirror.spec.wire_values import Acks

EPOCH_MAX = 0x7FFF
SEQUENCES = 1 << 31
"""The sequence number wraps around to 0."""
ACKNOWLEDGED = (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER)
LOST_SEQUENCE = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID)
"""The leader expects another number; a batch with this error is not in its log."""
OVERTAKEN = "a later batch of the partition was acknowledged"
"""Error message of a batch that could still be written: Kafka's client writes it, and so changes the order."""


@dataclass(frozen=True, slots=True)
class ProducerConfigs:
    """Kafka's names and defaults; acks is always all."""

    enable_idempotence: bool = True
    transactional_id: str | None = None
    transaction_timeout_ms: int = 60_000
    compression: Compression = Compression.NONE
    delivery_timeout_ms: int = 120_000
    request_timeout_ms: int = 30_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    max_block_ms: int = 60_000
    max_in_flight_requests_per_connection: int = 5


@dataclass(frozen=True, slots=True)
class Delivery:
    """The outcome of a batch; with REQUEST_TIMED_OUT it is unknown whether it was written."""

    error: ErrorCode
    base_offset: int = -1
    """-1 for a duplicate whose offset the leader no longer knows."""
    message: str = ""


OnDelivery = Callable[[Instant, Delivery], None]


class _Identity(NamedTuple):
    """A producer id and epoch; sequence numbers count within it."""

    producer_id: int
    epoch: int


NO_IDENTITY = _Identity(-1, -1)


@dataclass(slots=True, eq=False)
class _Batch:
    tp: TopicPartition
    position: int
    """Its index among all batches of the partition, in the order of `send`."""
    records: Sequence[RecordData]
    on_delivery: OnDelivery
    timestamp_ms: int
    until: Instant
    identity: _Identity = NO_IDENTITY
    sequence: int = -1
    """-1 if it was never sent, or if it is known that it was not written and it needs a new number."""
    attempts: int = 0


@dataclass(slots=True)
class _Partition:
    """The waiting batches of one partition, in the order of `send`, and those in flight."""

    waiting: list[_Batch] = field(default_factory=list)
    in_flight: list[_Batch] = field(default_factory=list)
    sent: int = 0
    """Number of batches that the application has sent."""
    identity: _Identity = NO_IDENTITY
    next_sequence: int = 0
    last_acknowledged: int = -1
    """The highest position of an acknowledged batch."""
    leader: Endpoint | None = None
    """The broker that has the batches in flight."""
    needs_restart: bool = False
    """Sequence numbers begin at 0 again, in a new epoch, once no batch can have been written under its old number."""
    paused_until: Instant = 0
    is_leader_stale: bool = False
    """The leader must be looked up again before anything is sent."""


class Producer:
    """A producer for one cluster; the keys of its timers begin with its name."""

    def __init__(
        self, name: str, requester: Requester, servers: tuple[Endpoint, ...], configs: ProducerConfigs | None = None
    ) -> None:
        self.name = name
        self.configs = configs = configs or ProducerConfigs()
        self._outbox = requester.outbox
        self._backoff = Backoff(configs.retry_backoff_ms, configs.retry_backoff_max_ms)
        self.cluster = RemoteCluster(
            name,
            requester,
            servers,
            timeout_ms=configs.request_timeout_ms,
            on_refreshed=self._on_refreshed,
            wants_features=configs.transactional_id is not None,
        )
        self.transactions = TransactionManager(
            self.cluster,
            self._outbox,
            transactional_id=configs.transactional_id,
            timeout_ms=configs.transaction_timeout_ms,
            backoff=self._backoff,
            max_block_ms=configs.max_block_ms,
        )
        self._partitions: dict[TopicPartition, _Partition] = {}
        self._requests: dict[Endpoint, int] = {}
        """Number of requests in flight to each broker."""
        self._ending: tuple[bool, OnDone] | None = None
        """Whether to commit, and the callback, once nothing is under way."""
        self._refresh_at: Instant = 0
        self._refresh_failures = 0

    @property
    def is_idempotent(self) -> bool:
        """Whether batches have a producer id and sequence numbers; a transactional producer's always do."""
        return self.configs.enable_idempotence or self.configs.transactional_id is not None

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        """Continue after a pause."""
        match key:
            case (_, "coordinator"):
                self.transactions.on_timer(now)
            case (_, "send"):
                self._send_all(now)
            case _:
                raise AssertionError(f"unknown timer: {key}")

    # -- operations of an application -----------------------------------------------------------

    def init(self, now: Instant, on_done: OnDone) -> None:
        """Get a producer id; an idempotent producer must not send before that."""
        self.transactions.init(now, on_done)

    def send(self, now: Instant, tp: TopicPartition, records: Sequence[RecordData], on_delivery: OnDelivery) -> None:
        """Send a batch and call `on_delivery` once.

        Raises UsageError without a producer id or an open transaction, after a fatal error, or for records that cannot
        be sent.
        """
        self.checked(tp, records)
        if self.is_idempotent and self.transactions.producer_id < 0:
            raise UsageError("an idempotent producer needs an id before it sends")
        if self.configs.transactional_id is not None and self.transactions.state is not State.IN_TRANSACTION:
            raise UsageError(f"no transaction is open: the producer is {self.transactions.state.name}")
        if self.is_idempotent and self.transactions.state is State.FATAL_ERROR:
            raise UsageError(
                f"the producer has failed for good ({self.transactions.error.name}): create a new producer"
            )
        until = now + self.configs.delivery_timeout_ms * MILLISECOND
        partition = self._partitions.setdefault(tp, _Partition())
        partition.waiting.append(_Batch(tp, partition.sent, records, on_delivery, to_ms(now), until))
        partition.sent += 1
        if self.configs.transactional_id is None or tp in self.transactions.added_partitions:
            self._send_all(now)
            return

        def on_added(later: Instant, error: ErrorCode) -> None:
            if error:
                self._drop(later, tp, error)
            else:
                self._send_all(later)

        self.transactions.add_partitions(now, [tp], on_added)

    def checked(self, tp: TopicPartition, records: Sequence[RecordData]) -> Sequence[RecordData]:
        """Return `records`; raise UsageError for the first one that cannot be sent to `tp`, or if there is none.

        Invalid records are found here, and not later when the leader is known and a batch is built. As in Kafka's
        producer, timestamps must not be negative.
        """
        partition_text = arguments.partition(tp)
        try:
            check_records(records)
        except UsageError as error:
            raise UsageError(f"{partition_text}: {error}") from None
        if not records:
            raise UsageError(f"{partition_text}: a batch without records cannot be sent")
        for number, row in enumerate(records):
            if row[3] is not None and row[3] < 0:
                raise UsageError(f"{partition_text}: record {number}: a timestamp must not be negative, as {row[3]} is")
        return records

    def _drop(self, now: Instant, tp: TopicPartition, error: ErrorCode) -> None:
        """End the waiting batches of a partition that cannot have been written, with `error`."""
        partition = self._partitions[tp]
        unsent = [batch for batch in partition.waiting if batch.sequence < 0]
        partition.waiting = [batch for batch in partition.waiting if batch.sequence >= 0]
        for batch in unsent:
            batch.on_delivery(now, Delivery(error))

    def begin(self) -> None:
        """Begin a transaction; raise UsageError if one is open, or the producer has failed."""
        self.transactions.begin()

    def add_partitions(self, now: Instant, partitions: Iterable[TopicPartition], on_done: OnDone) -> None:
        """Add several partitions to the transaction in one request, before anything is sent to them."""
        self.transactions.add_partitions(now, partitions, on_done)

    def end(self, now: Instant, on_done: OnDone, *, commit: bool) -> None:
        """Commit or abort, once nothing is under way; an abort ends batches that were never sent.

        A transaction in which a batch failed is not committed: `on_done` gets the batch's error.
        """
        self._ending = commit, on_done
        if not commit:
            for tp in list(self._partitions):
                self._drop(now, tp, ErrorCode.TRANSACTION_ABORTABLE)
        self._send_all(now)

    def _maybe_end(self, now: Instant) -> None:
        if self._ending is None or any(row.waiting or row.in_flight for row in self._partitions.values()):
            return
        (commit, on_done), self._ending = self._ending, None
        if commit and self.transactions.state in (State.ABORTABLE_ERROR, State.FATAL_ERROR):
            on_done(now, self.transactions.error)
        else:
            self.transactions.end(now, on_done, commit=commit)

    # -- sending ------------------------------------------------------------------------------

    def _send_all(self, now: Instant) -> None:
        """Send the batches that may be sent, one for each partition in a request, and set the timer for the rest."""
        self._expire(now)
        while self._send_some(now):
            pass
        check_times = [self._next_check_at(now, tp, row) for tp, row in self._partitions.items() if row.waiting]
        if check_times:
            self._outbox.set_timer((self.name, "send"), min(check_times))
        self._maybe_end(now)

    def _next_check_at(self, now: Instant, tp: TopicPartition, partition: _Partition) -> Instant:
        """Return when to examine a partition again if no response comes before."""
        if partition.paused_until > now:
            return partition.paused_until
        if not self._may_send(now, tp, partition):
            return partition.waiting[0].until  # The response that it waits for wakes it.
        if self._leader(tp, partition) is None and not self.cluster.refreshing:
            return max(self._refresh_at, now + 1)
        return partition.waiting[0].until

    def _send_some(self, now: Instant) -> bool:
        by_leader: dict[Endpoint, list[_Batch]] = {}
        for tp, partition in list(self._partitions.items()):
            if not self._may_send(now, tp, partition):
                continue
            endpoint = self._leader(tp, partition)
            if endpoint is None:
                self._refresh(now)
            elif partition.in_flight and partition.leader != endpoint:
                continue  # The former leader must respond before the next one gets later batches.
            elif self._requests.get(endpoint, 0) < self.configs.max_in_flight_requests_per_connection:
                partition.leader = endpoint
                by_leader.setdefault(endpoint, []).append(self._take_batch(partition))
        for endpoint, batches in by_leader.items():
            self._send(now, endpoint, batches)
        return bool(by_leader)

    def _may_send(self, now: Instant, tp: TopicPartition, partition: _Partition) -> bool:
        if not partition.waiting or partition.paused_until > now:
            return False
        if self.configs.transactional_id is not None and tp not in self.transactions.added_partitions:
            return False
        if not partition.in_flight:
            return (
                not partition.needs_restart
                or self._peek_batch(partition).sequence >= 0
                or partition.identity != self._identity
            )
        # A retry must be answered before anything else is sent, and so must all batches of one epoch before the next
        # begins. Without sequence numbers there is one batch in flight.
        is_retry = partition.waiting[0].attempts > 0 or partition.needs_restart
        return self.is_idempotent and not is_retry and partition.identity == self._identity

    @property
    def _identity(self) -> _Identity:
        """The producer id and epoch of batches that get their number now."""
        return _Identity(self.transactions.producer_id, self.transactions.epoch)

    def _peek_batch(self, partition: _Partition) -> _Batch:
        """Return the waiting batch to send next: before a restart, first those that may have been written."""
        if partition.needs_restart:
            return next((batch for batch in partition.waiting if batch.sequence >= 0), partition.waiting[0])
        return partition.waiting[0]

    def _take_batch(self, partition: _Partition) -> _Batch:
        """Return the next batch with its sequence number; it counts as in flight."""
        batch = self._peek_batch(partition)
        partition.waiting.remove(batch)
        if self.is_idempotent and batch.sequence < 0:
            if partition.identity != self._identity:
                assert not partition.in_flight, f"{batch.tp}: batches of {partition.identity} are in flight"
                partition.identity, partition.next_sequence, partition.needs_restart = self._identity, 0, False
            batch.identity, batch.sequence = partition.identity, partition.next_sequence
            partition.next_sequence = (batch.sequence + len(batch.records)) % SEQUENCES
        partition.in_flight.append(batch)
        return batch

    def _send(self, now: Instant, endpoint: Endpoint, batches: list[_Batch]) -> None:
        topics: dict[str, TopicProduceData] = {}
        for batch in batches:
            topic = topics.get(batch.tp.topic)
            if topic is None:
                topic_id = self.cluster.topics[batch.tp.topic].topic_id
                topic = topics[batch.tp.topic] = TopicProduceData(name=batch.tp.topic, topic_id=topic_id)
            topic.partition_data.append(PartitionProduceData(index=batch.tp.partition, records=self._encode(batch)))
        request = ProduceRequest(
            transactional_id=self.configs.transactional_id,
            acks=Acks.ALL,
            timeout_ms=self.configs.request_timeout_ms,
            topic_data=list(topics.values()),
        )
        version_max = None
        if self.is_idempotent and not self.transactions.bumps_epoch:
            version_max = TRANSACTIONS_V1_LAST[request.NAME]
        elif any(topic.topic_id == Uuid.ZERO for topic in topics.values()):
            version_max = NAMED_TOPICS_LAST[request.NAME]
        names = {topic.topic_id: name for name, topic in topics.items()}
        self._requests[endpoint] = self._requests.get(endpoint, 0) + 1

        def on_reply(later: Instant, reply: Message | None) -> None:
            self._requests[endpoint] -= 1
            rows: dict[TopicPartition, PartitionProduceResponse] = {}
            if isinstance(reply, ProduceResponse):
                for topic in reply.responses:
                    name = topic.name or names.get(topic.topic_id, "")
                    rows.update({TopicPartition(name, row.index): row for row in topic.partition_responses})
            for batch in batches:
                # Not all at once: the callback of one batch may send, and must find the others still in flight.
                self._partitions[batch.tp].in_flight.remove(batch)
                self._on_result(later, batch, rows.get(batch.tp))
            self._send_all(later)

        self.cluster.send(now, endpoint, "produce", request, on_reply, version_max=version_max)

    def _encode(self, batch: _Batch) -> bytes:
        return build_batch(
            batch.records,
            compression=self.configs.compression,
            producer_id=batch.identity.producer_id,
            producer_epoch=batch.identity.epoch,
            base_sequence=batch.sequence,
            is_transactional=self.configs.transactional_id is not None,
            timestamp_ms=batch.timestamp_ms,
        )

    # -- responses ----------------------------------------------------------------------------

    def _on_result(self, now: Instant, batch: _Batch, row: PartitionProduceResponse | None) -> None:
        partition = self._partitions[batch.tp]
        error = ErrorCode.NETWORK_EXCEPTION if row is None else code_of(row.error_code)
        if error in ACKNOWLEDGED and row is not None:
            partition.last_acknowledged = max(partition.last_acknowledged, batch.position)
            # Earlier batches that wait for a new number would now be written after this one.
            overtaken = [other for other in partition.waiting if other.sequence < 0 and other.position < batch.position]
            partition.waiting = [other for other in partition.waiting if other not in overtaken]
            batch.on_delivery(now, Delivery(ErrorCode.NONE, row.base_offset))
            for other in overtaken:
                self._fail(now, other, Delivery(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, message=OVERTAKEN))
            return
        if error in LOST_SEQUENCE and batch.sequence >= 0:
            self._on_lost_sequence(now, batch, row, error)
        elif error.retriable:
            self._retry(now, batch, row)
        else:
            message = "" if row is None else row.error_message or ""
            self._fail(now, batch, Delivery(error, message=message))

    def _on_lost_sequence(
        self, now: Instant, batch: _Batch, row: PartitionProduceResponse | None, error: ErrorCode
    ) -> None:
        """Resend a batch whose sequence number the leader rejects: after an earlier one, or in a new epoch."""
        partition = self._partitions[batch.tp]
        other_batches = (*partition.in_flight, *partition.waiting)
        has_earlier = any(other.sequence >= 0 and other.position < batch.position for other in other_batches)
        if self.configs.transactional_id is None and (partition.needs_restart or not has_earlier):
            batch.sequence = -1
            self._restart(now, partition)
            if batch.position < partition.last_acknowledged:
                self._fail(now, batch, Delivery(error, message=OVERTAKEN))
            else:
                self._retry(now, batch, row)
        elif has_earlier:
            self._retry(now, batch, row)
        else:
            is_second = self.transactions.state is State.ABORTABLE_ERROR
            message = "" if row is None else row.error_message or ""
            self._fail(now, batch, Delivery(ErrorCode.TRANSACTION_ABORTABLE if is_second else error, message=message))

    def _retry(self, now: Instant, batch: _Batch, row: PartitionProduceResponse | None) -> None:
        partition = self._partitions[batch.tp]
        index = sum(1 for other in partition.waiting if other.position < batch.position)
        partition.waiting.insert(index, batch)
        partition.paused_until = now + self._backoff.pause_ms(batch.attempts) * MILLISECOND
        batch.attempts += 1
        if row is not None and row.current_leader.leader_id >= 0:  # KIP-951
            self.cluster.record_leader(batch.tp, row.current_leader.leader_id, row.current_leader.leader_epoch)
        else:
            partition.is_leader_stale = True
            self._refresh(now)

    def _expire(self, now: Instant) -> None:
        """Fail waiting batches whose `delivery.timeout.ms` is over."""
        for partition in list(self._partitions.values()):
            # A callback may send and so reenter this method: look up each batch in turn.
            while (
                batch := next((candidate for candidate in partition.waiting if candidate.until <= now), None)
            ) is not None:
                partition.waiting.remove(batch)
                self._fail(now, batch, Delivery(ErrorCode.REQUEST_TIMED_OUT))

    def _fail(self, now: Instant, batch: _Batch, delivery: Delivery) -> None:
        """Fail a batch; once it has been sent, its number leaves a gap that only a new epoch closes."""
        if self.configs.transactional_id is not None:
            self.transactions.fail_transaction(delivery.error, needs_new_epoch=batch.sequence >= 0)
        elif batch.sequence >= 0:
            self._restart(now, self._partitions[batch.tp])
        batch.on_delivery(now, delivery)

    def _restart(self, now: Instant, partition: _Partition) -> None:
        """Make the partition's sequence numbers begin at 0 again, in a new epoch."""
        if partition.needs_restart:
            return
        partition.needs_restart = True
        if partition.identity != self._identity:
            return  # Another partition has bumped the epoch already.
        if self.transactions.epoch < EPOCH_MAX:
            self.transactions.epoch += 1
        elif self.transactions.state is State.READY:
            self.transactions.init(now, self._on_new_id)

    def _on_new_id(self, now: Instant, error: ErrorCode) -> None:
        """Continue with the new producer id that follows the last epoch; request it again after a timeout.

        If the request fails, so do the batches that need the id.
        """
        if error is ErrorCode.REQUEST_TIMED_OUT:
            self.transactions.init(now, self._on_new_id)
        elif error:
            for tp in [tp for tp, partition in self._partitions.items() if partition.needs_restart]:
                self._drop(now, tp, error)
        self._send_all(now)

    # -- leaders ------------------------------------------------------------------------------

    def _leader(self, tp: TopicPartition, partition: _Partition) -> Endpoint | None:
        return None if partition.is_leader_stale else self.cluster.leader_endpoint(tp)

    def _refresh(self, now: Instant) -> None:
        if now < self._refresh_at:
            return
        self._refresh_at = now + self._backoff.pause_ms(self._refresh_failures) * MILLISECOND
        self.cluster.refresh(now, dict.fromkeys(tp.topic for tp in self._partitions))

    def _on_refreshed(self, now: Instant, changes: Changes | None) -> None:
        has_response = changes is not None
        self._refresh_failures = 0 if has_response else self._refresh_failures + 1
        for tp, partition in list(self._partitions.items()):
            partition.is_leader_stale = partition.is_leader_stale and not has_response
            error = self.cluster.topic_errors.get(tp.topic, ErrorCode.NONE)
            if error and not error.retriable:
                self._drop(now, tp, error)
        self._send_all(now)
