"""The producer: sends each batch until it is acknowledged, refused, or `delivery.timeout.ms` is over.

A batch of an idempotent producer gets its sequence number when it is first sent and keeps it for every retry, so a
leader recognises a duplicate. A refused batch was not written: the later ones take over its numbers. If it is unknown
at the end whether a batch was written, its numbers can be neither used nor skipped: the producer goes on in a new epoch
(KIP-360), and a transaction must be aborted. Batches are sent as the caller makes them, none are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from kmirror.client.backoff import Backoff
from kmirror.client.remote_cluster import RemoteCluster, code_of
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
from kmirror.spec.client_versions import NAMED_TOPICS_LAST, TRANSACTIONS_V1_LAST
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import Acks

EPOCH_MAX = 0x7FFF
SEQUENCES = 1 << 31
"""After the last sequence number comes 0."""
TAKEN = (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER)
LOST_SEQUENCE = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID)
"""The leader expects another number than that of the first batch that it has not acknowledged."""


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
    """-1 for a duplicate whose offset the leader does not know any more."""
    message: str = ""


OnDelivery = Callable[[Instant, Delivery], None]


@dataclass(slots=True)
class _Batch:
    tp: TopicPartition
    records: Sequence[RecordData]
    on_delivery: OnDelivery
    timestamp_ms: int
    until: Instant
    sequence: int = -1
    renumbered: bool = False
    """Its sequence number changed while it was in flight; the answer is about the old number."""
    attempts: int = 0


@dataclass(slots=True)
class _Partition:
    """The waiting and the in-flight batches of one partition, both in the order of their sequence numbers."""

    waiting: list[_Batch] = field(default_factory=list)
    in_flight: list[_Batch] = field(default_factory=list)
    epoch: int = -1
    next_sequence: int = 0
    restarts: bool = False
    """Sequence numbers begin at 0 again, in the next epoch, once nothing is in flight."""
    paused_until: Instant = 0
    doubtful: bool = False
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
            name, requester, servers, timeout_ms=configs.request_timeout_ms, on_refreshed=self._on_refreshed
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
        """Whether to commit, and what to call, once nothing is under way."""
        self._refresh_at: Instant = 0
        self._refresh_failures = 0

    @property
    def is_idempotent(self) -> bool:
        """Return whether batches have a producer id and sequence numbers; a transactional producer's always do."""
        return self.configs.enable_idempotence or self.configs.transactional_id is not None

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        """Go on after a pause."""
        match key:
            case (_, "coordinator"):
                self.transactions.on_timer(now)
            case (_, "send"):
                self._send_all(now)
            case _:
                raise AssertionError(f"a timer nobody set: {key}")

    # -- what an application does ---------------------------------------------------------------

    def init(self, now: Instant, on_done: OnDone) -> None:
        """Get a producer id; an idempotent producer must not send before that."""
        self.transactions.init(now, on_done)

    def send(self, now: Instant, tp: TopicPartition, records: Sequence[RecordData], on_delivery: OnDelivery) -> None:
        """Send a batch and call `on_delivery` once.

        UsageError without a producer id or an open transaction, or for records that no producer sends.
        """
        self.checked(tp, records)
        if self.is_idempotent and self.transactions.producer_id < 0:
            raise UsageError("an idempotent producer needs an id before it sends")
        if self.configs.transactional_id is not None and self.transactions.state is not State.IN_TRANSACTION:
            raise UsageError(f"no transaction takes a batch: the producer is {self.transactions.state.name}")
        until = now + self.configs.delivery_timeout_ms * MILLISECOND
        batch = _Batch(tp, records, on_delivery, to_ms(now), until)
        self._partitions.setdefault(tp, _Partition()).waiting.append(batch)
        if self.configs.transactional_id is None or tp in self.transactions.added:
            self._send_all(now)
            return

        def on_added(later: Instant, error: ErrorCode) -> None:
            if error:
                self._drop(later, tp, error)
            else:
                self._send_all(later)

        self.transactions.add_partitions(now, [tp], on_added)

    def checked(self, tp: TopicPartition, records: Sequence[RecordData]) -> Sequence[RecordData]:
        """Return `records`; raise UsageError for the first that cannot be sent to `tp`, and where there is none.

        Broken records are found here, and not when a leader is known and a batch is made of them. As for Kafka's
        producer no timestamp is below 0.
        """
        where = arguments.partition(tp)
        try:
            check_records(records)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
        if not records:
            raise UsageError(f"{where}: a batch without records cannot be sent")
        for number, row in enumerate(records):
            if row[3] is not None and row[3] < 0:
                raise UsageError(f"{where}: record {number}: a timestamp is never negative, as {row[3]} is")
        return records

    def _drop(self, now: Instant, tp: TopicPartition, error: ErrorCode) -> None:
        """End the waiting batches of a partition that were never sent, with `error`."""
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
        """Send what may be sent, one batch for each partition in a request, and set the timer for the rest."""
        self._expire(now)
        while self._send_some(now):
            pass
        wakes = [self._wakes_at(now, tp, row) for tp, row in self._partitions.items() if row.waiting]
        if wakes:
            self._outbox.set_timer((self.name, "send"), min(wakes))
        self._maybe_end(now)

    def _wakes_at(self, now: Instant, tp: TopicPartition, partition: _Partition) -> Instant:
        """Return when to look at a partition again if no answer comes before."""
        if partition.paused_until > now:
            return partition.paused_until
        if not self._may_send(now, tp, partition):
            return partition.waiting[0].until  # The answer that it waits for wakes it.
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
            elif self._requests.get(endpoint, 0) < self.configs.max_in_flight_requests_per_connection:
                by_leader.setdefault(endpoint, []).append(self._take(partition))
        for endpoint, batches in by_leader.items():
            self._send(now, endpoint, batches)
        return bool(by_leader)

    def _may_send(self, now: Instant, tp: TopicPartition, partition: _Partition) -> bool:
        if not partition.waiting or partition.paused_until > now:
            return False
        if self.configs.transactional_id is not None and tp not in self.transactions.added:
            return False
        # A retry must be answered before anything else is sent; without sequence numbers there is one batch in flight.
        again = partition.waiting[0].attempts > 0 or partition.restarts
        return not partition.in_flight or (self.is_idempotent and not again)

    def _take(self, partition: _Partition) -> _Batch:
        """Return the next batch with its sequence number; it counts as in flight."""
        if self.is_idempotent:
            epoch = self.transactions.epoch
            is_first_try = partition.waiting[0].sequence < 0
            if partition.restarts or (partition.epoch != epoch and not partition.in_flight and is_first_try):
                partition.restarts = False
                partition.epoch, partition.next_sequence = epoch, 0
                for batch in partition.waiting:
                    batch.sequence = -1
        batch = partition.waiting.pop(0)
        if self.is_idempotent and batch.sequence < 0:
            batch.sequence = partition.next_sequence
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
        if self.is_idempotent:
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
                self._partitions[batch.tp].in_flight.remove(batch)
            for batch in batches:
                self._on_row(later, batch, rows.get(batch.tp))
            self._send_all(later)

        self.cluster.send(now, endpoint, "produce", request, on_reply, version_max=version_max)

    def _encode(self, batch: _Batch) -> bytes:
        has_id = self.is_idempotent
        return build_batch(
            batch.records,
            compression=self.configs.compression,
            producer_id=self.transactions.producer_id if has_id else -1,
            producer_epoch=self._partitions[batch.tp].epoch if has_id else -1,
            base_sequence=batch.sequence,
            is_transactional=self.configs.transactional_id is not None,
            timestamp_ms=batch.timestamp_ms,
        )

    # -- answers ------------------------------------------------------------------------------

    def _on_row(self, now: Instant, batch: _Batch, row: PartitionProduceResponse | None) -> None:
        partition = self._partitions[batch.tp]
        error = ErrorCode.NETWORK_EXCEPTION if row is None else code_of(row.error_code)
        if error in TAKEN and row is not None:
            batch.on_delivery(now, Delivery(ErrorCode.NONE, row.base_offset))
            return
        has_earlier = any(_is_before(other, batch) for other in (*partition.in_flight, *partition.waiting))
        has_earlier, batch.renumbered = has_earlier or batch.renumbered or partition.restarts, False
        if error.retriable or (error in LOST_SEQUENCE and has_earlier):
            self._retry(now, batch, row)
        elif error in LOST_SEQUENCE and self.configs.transactional_id is None and self.is_idempotent:
            self._restart(now, partition)
            self._retry(now, batch, row)
        else:
            message = "" if row is None else row.error_message or ""
            self._fail(now, batch, Delivery(error, message=message), is_written=error in LOST_SEQUENCE)

    def _retry(self, now: Instant, batch: _Batch, row: PartitionProduceResponse | None) -> None:
        partition = self._partitions[batch.tp]
        place = sum(1 for other in partition.waiting if _is_before(other, batch))
        partition.waiting.insert(place, batch)
        partition.paused_until = now + self._backoff.pause_ms(batch.attempts) * MILLISECOND
        batch.attempts += 1
        if row is not None and row.current_leader.leader_id >= 0:  # KIP-951
            self.cluster.learn_leader(batch.tp, row.current_leader.leader_id, row.current_leader.leader_epoch)
        else:
            partition.doubtful = True
            self._refresh(now)

    def _expire(self, now: Instant) -> None:
        """Fail waiting batches whose `delivery.timeout.ms` is over; one that was sent before may have been written."""
        for partition in list(self._partitions.values()):
            for batch in [batch for batch in partition.waiting if batch.until <= now]:
                partition.waiting.remove(batch)
                delivery = Delivery(ErrorCode.REQUEST_TIMED_OUT)
                self._fail(now, batch, delivery, is_written=batch.attempts > 0)

    def _fail(self, now: Instant, batch: _Batch, delivery: Delivery, *, is_written: bool) -> None:
        """Fail a batch; unless it may have been written (`is_written`), the later batches take over its numbers."""
        partition = self._partitions[batch.tp]
        if self.configs.transactional_id is not None:
            self.transactions.fail_transaction(delivery.error, needs_new_epoch=is_written)
        if is_written and self.configs.transactional_id is None:
            self._restart(now, partition)
        elif not is_written and batch.sequence >= 0:
            count = len(batch.records)
            partition.next_sequence = (partition.next_sequence - count) % SEQUENCES
            for other in (*partition.in_flight, *partition.waiting):
                if _is_before(batch, other):
                    other.sequence = (other.sequence - count) % SEQUENCES
                    other.renumbered = other in partition.in_flight
        batch.on_delivery(now, delivery)

    def _restart(self, now: Instant, partition: _Partition) -> None:
        """Begin the partition's sequence numbers at 0 again, in the next epoch."""
        if not self.is_idempotent or partition.restarts:
            return
        partition.restarts = True
        if partition.epoch == self.transactions.epoch:
            if self.transactions.epoch < EPOCH_MAX:
                self.transactions.epoch += 1
            else:
                self.transactions.init(now, lambda later, _: self._send_all(later))

    # -- leaders ------------------------------------------------------------------------------

    def _leader(self, tp: TopicPartition, partition: _Partition) -> Endpoint | None:
        return None if partition.doubtful else self.cluster.leader_endpoint(tp)

    def _refresh(self, now: Instant) -> None:
        if now < self._refresh_at:
            return
        self._refresh_at = now + self._backoff.pause_ms(self._refresh_failures) * MILLISECOND
        self.cluster.refresh(now, dict.fromkeys(tp.topic for tp in self._partitions))

    def _on_refreshed(self, now: Instant, answered: bool) -> None:
        self._refresh_failures = 0 if answered else self._refresh_failures + 1
        for tp, partition in list(self._partitions.items()):
            partition.doubtful = partition.doubtful and not answered
            error = self.cluster.refused.get(tp.topic, ErrorCode.NONE)
            if error and not error.retriable:
                self._drop(now, tp, error)
        self._send_all(now)


def _is_before(one: _Batch, other: _Batch) -> bool:
    """Return whether `one` has the earlier sequence number; numbers wrap, so the shorter distance counts."""
    if one.sequence < 0 or other.sequence < 0:
        return one.sequence >= 0 > other.sequence
    return 0 < (other.sequence - one.sequence) % SEQUENCES < SEQUENCES // 2
