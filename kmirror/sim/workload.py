"""Open-loop load on a cluster: producers that write batches at a steady rate.

Each producer writes a batch at fixed intervals, to each partition in turn, without waiting for earlier responses.
Producers may be transactional: they run one transaction after another, each open for the same time. Rejected batches
are written again, and the batches of a failed transaction are written in the next one, until the load is stopped.
Acknowledged batches are recorded with a unique key, so that later checks can look for them.

The start times of the producers, and the length of each one's first transaction, are drawn from the seed; otherwise all
runs would show the same point of every cycle.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kmirror.client.producer import Delivery, Producer, ProducerConfigs
from kmirror.client.transactions import State
from kmirror.kernel.clock import MILLISECOND, SECOND, Duration, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.records.codecs import Compression
from kmirror.records.record import RecordData
from kmirror.sim.client import Client
from kmirror.sim.cluster import Cluster
from kmirror.spec.error_codes import ErrorCode

RETRY_MS = 50
TRANSACTION_TIMEOUT_MS = 60_000
"""Kafka's default. The coordinator aborts a transaction after this time plus the configured open time."""


@dataclass(frozen=True, slots=True)
class AckedBatch:
    """Batch acknowledged by a cluster; in a transaction, the commit was acknowledged."""

    tp: TopicPartition
    base_offset: int
    count: int
    key: bytes
    """Key of all its records, and of no other batch."""
    acked_at: Instant
    transaction: str | None = None
    """Name of its transaction, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """Options of a load: the rate is the total of all producers; the first `transactional` of them use transactions."""

    producers: int
    transactional: int
    transaction_ms: int
    batch_records: int
    record_bytes: int
    """Bytes of key and value of a record."""
    records_per_second: int
    compression: Compression


class Load:
    """Producers at a cluster's site: `prepare` them, `start` them, and `stop` them or let them `crash`."""

    def __init__(
        self, cluster: Cluster, name: str, partitions: Sequence[TopicPartition], rng: Rng, options: LoadOptions
    ) -> None:
        self.cluster = cluster
        self.name = name
        self.partitions = partitions
        self.options = options
        self.runs = False
        self.client = Client(cluster.simulation.world, f"{cluster.name}-load", cluster.name)
        # Half of a value is random and half is not, so that a codec can compress it.
        noise = rng.octets(max(options.record_bytes // 2, 1)).hex().encode()
        self.filler = noise[: options.record_bytes].ljust(options.record_bytes, b".")
        self._writers = [_Writer(self, number, rng.split(f"writer {number}")) for number in range(options.producers)]
        self.acked: list[AckedBatch] = []
        self.first_ack: dict[TopicPartition, Instant] = {}
        """Time of the first accepted batch by partition; a transactional batch may not be committed yet."""
        self.uncommitted: dict[bytes, None] = {}
        """Keys of batches in transactions for which no commit was requested."""
        self.refused = 0
        """Number of batches that failed with an error."""

    def prepare(self, *, within_s: float) -> None:
        """Initialise the id and epoch of every producer, and run until all have them."""
        for writer in self._writers:
            writer.open()
        description = f"producer ids from {self.cluster.name}"
        self.cluster.simulation.run_until(lambda: self._is_idle, within_s=within_s, what=description)

    def start(self) -> None:
        self.runs = True
        for writer in self._writers:
            writer.start()

    def stop(self) -> None:
        """Stop the producers: open transactions are aborted, responses that arrive later still count."""
        self.runs = False
        for writer in self._writers:
            writer.stop()

    def crash(self) -> None:
        """Kill the producers with their site: open transactions stay open."""
        self.runs = False
        self.cluster.simulation.world.kill(self.client.name)

    def settle(self, *, within_s: float) -> None:
        """Run until every request has been answered or has timed out."""
        simulation = self.cluster.simulation
        if simulation.world.runs(self.client.name):
            simulation.run_until(lambda: self._is_idle, within_s=within_s, what="answers to a load")

    def open_since(self) -> Instant | None:
        """Return the start time of the oldest open transaction, or None."""
        return min((writer.began_at for writer in self._writers if writer.began_at is not None), default=None)

    @property
    def _is_idle(self) -> bool:
        return all(writer.is_idle for writer in self._writers)


class _Writer:
    """Single producer of a load."""

    def __init__(self, load: Load, number: int, rng: Rng) -> None:
        self._load = load
        self._world = load.cluster.simulation.world
        self._rng = rng
        options = load.options
        self._name = f"{load.name}-{number}"
        self._is_transactional = number < options.transactional
        self._interval: Duration = max(
            options.producers * options.batch_records * SECOND // options.records_per_second, 1
        )
        self._transaction_time: Duration = options.transaction_ms * MILLISECOND
        self._next_transaction_time = self._transaction_time - rng.split("transactions").below(
            max(self._transaction_time, 1)
        )
        self._next_partition = rng.split("partitions").below(len(load.partitions))
        self._batch_count = 0
        self._due: deque[TopicPartition] = deque()
        """Partitions of batches that are due: not sent yet, or rejected."""
        self._in_flight: Counter[TopicPartition] = Counter()
        self._accepting: dict[TopicPartition, None] = {}
        """Partitions whose most recent result was a success."""
        self._retry_at: dict[TopicPartition, Instant] = {}
        self._is_ready = False
        self._transactions = 0
        self._acked: list[AckedBatch] = []
        """Acknowledged batches of the open transaction."""
        self._sent: dict[bytes, TopicPartition] = {}
        """All batches of the open transaction."""
        self._is_ending = False
        self._is_aborting = False
        self.began_at: Instant | None = None
        """Start time of the open transaction."""

    @property
    def is_idle(self) -> bool:
        return self._is_ready and not self._in_flight.total() and self.began_at is None

    def open(self) -> None:
        """Initialise the producer; this ends an open transaction of an earlier producer with the transactional id."""
        self._is_ready = False
        client, cluster = self._load.client, self._load.cluster
        name = client.new_name("writer")
        configs = ProducerConfigs(
            transactional_id=self._name if self._is_transactional else None,
            transaction_timeout_ms=TRANSACTION_TIMEOUT_MS + self._transaction_time // MILLISECOND,
            compression=self._load.options.compression,
        )
        servers = tuple(cluster.endpoint(broker_id) for broker_id in cluster.broker_ids)
        self._producer = Producer(name, client.requester, servers, configs)
        client.on_timer(name, self._producer.on_timer)
        self._producer.init(self._world.now, self._on_opened)
        client.perform()

    def _on_opened(self, _: Instant, error: ErrorCode) -> None:
        if error:
            self._schedule(RETRY_MS * MILLISECOND, self.open)
            return
        self._is_ready = True
        self._schedule(0, self._send_due)

    def start(self) -> None:
        self._schedule(self._rng.split("phase").below(self._interval), self._tick)

    def stop(self) -> None:
        self._due.clear()
        if self.began_at is not None and not self._is_ending:
            self._abort()

    def _schedule(self, span: Duration, action: Callable[[], None]) -> None:
        """Execute `action` after a pause, outside the producer's own calls, if the site is still running."""
        world, client = self._world, self._load.client
        world.at(world.now + span, lambda: action() if world.runs(client.name) else None)

    # -- writing ------------------------------------------------------------------------------

    def _tick(self) -> None:
        if not self._load.runs:
            return
        partitions = self._load.partitions
        self._due.append(partitions[self._next_partition % len(partitions)])
        self._next_partition += 1
        self._send_due()
        self._schedule(self._interval, self._tick)

    def _send_due(self) -> None:
        """Send the due batches, in a transaction if the producer is transactional, but none while one is ending."""
        if not self._load.runs or not self._is_ready or self._is_ending:
            return
        for _ in range(len(self._due)):
            tp = self._due.popleft()
            if self._may_send(tp):
                self._send(tp)
            else:
                self._due.append(tp)
        self._load.client.perform()

    def _may_send(self, tp: TopicPartition) -> bool:
        """Return whether a batch may be sent: `tp` accepts batches, or no other batch is probing it.

        While a partition is read-only, one batch at a time probes it. Otherwise every due batch would be rejected and
        counted, and would make the producer change its epoch.
        """
        return tp in self._accepting or (not self._in_flight[tp] and self._retry_at.get(tp, 0) <= self._world.now)

    def _send(self, tp: TopicPartition) -> None:
        key = b"%s-%d" % (self._name.encode(), self._batch_count)
        self._batch_count += 1
        options, filler = self._load.options, self._load.filler
        size = max(options.record_bytes - len(key), 0)
        rows = [RecordData(key=key, value=(b"%d " % n + filler)[:size]) for n in range(options.batch_records)]
        if self._is_transactional:
            if self.began_at is None:
                self._begin()
            self._sent[key] = tp
            self._load.uncommitted[key] = None
        self._in_flight[tp] += 1
        self._producer.send(self._world.now, tp, rows, lambda now, delivery: self._on_delivery(now, tp, key, delivery))

    def _on_delivery(self, now: Instant, tp: TopicPartition, key: bytes, delivery: Delivery) -> None:
        self._in_flight[tp] -= 1
        load = self._load
        if delivery.error:
            self._on_rejected(now, tp)
            return
        self._accepting[tp] = None
        load.first_ack.setdefault(tp, now)
        batch = AckedBatch(tp, delivery.base_offset, load.options.batch_records, key, now)
        if self._is_transactional:
            self._acked.append(replace(batch, transaction=f"{self._name}/{self._transactions}"))
        else:
            load.acked.append(batch)
        self._schedule(0, self._send_due)

    def _on_rejected(self, now: Instant, tp: TopicPartition) -> None:
        if self._is_aborting:
            return  # The producer drops its unsent batches itself.
        self._load.refused += 1
        self._accepting.pop(tp, None)
        self._retry_at[tp] = now + RETRY_MS * MILLISECOND
        if self._is_transactional:
            self._schedule(0, self._abort)
        else:
            self._due.appendleft(tp)
            self._schedule(RETRY_MS * MILLISECOND, self._send_due)

    # -- transactions -------------------------------------------------------------------------

    def _begin(self) -> None:
        self._producer.begin()
        self._transactions += 1
        self.began_at = self._world.now
        number = self._transactions
        self._schedule(self._next_transaction_time, lambda: self._commit(number))
        self._next_transaction_time = self._transaction_time

    def _commit(self, number: int) -> None:
        if self.began_at is None or self._is_ending or number != self._transactions:
            return
        self._is_ending = True
        for key in self._sent:
            self._load.uncommitted.pop(key, None)
        self._producer.end(self._world.now, self._on_committed, commit=True)
        self._load.client.perform()

    def _on_committed(self, now: Instant, error: ErrorCode) -> None:
        if not error:
            self._load.acked += [replace(batch, acked_at=now) for batch in self._acked]
            self._end(0)
        elif self._producer.transactions.state is State.ABORTABLE_ERROR:
            self._schedule(0, self._abort)
        else:
            self._replace_producer()

    def _abort(self) -> None:
        """Abort the transaction after a failed batch or at `stop`.

        Its batches are due again unless the load is stopped.
        """
        if self.began_at is None or self._is_aborting:
            return
        self._is_ending = self._is_aborting = True
        self._load.uncommitted.update(dict.fromkeys(self._sent))
        if self._load.runs:
            self._due.extendleft(reversed(self._sent.values()))
        if self._producer.transactions.state is State.FATAL_ERROR:
            self._replace_producer()
            return
        self._producer.end(self._world.now, self._on_aborted, commit=False)
        self._load.client.perform()

    def _on_aborted(self, _: Instant, error: ErrorCode) -> None:
        if error:
            self._replace_producer()
        else:
            self._end(RETRY_MS * MILLISECOND)

    def _replace_producer(self) -> None:
        """Continue with a new producer for the same transactional id; the coordinator ends the open transaction."""
        self._end(RETRY_MS * MILLISECOND)
        self._is_ready = False
        self._schedule(RETRY_MS * MILLISECOND, self.open)

    def _end(self, pause: Duration) -> None:
        self.began_at = None
        self._is_ending = self._is_aborting = False
        self._acked.clear()
        self._sent.clear()
        self._schedule(pause, self._send_due)
