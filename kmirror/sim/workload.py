"""A steady stream of batches to a cluster, open loop: what the producers of a site do while things happen.

Several producers write, each a batch whenever its turn comes, to one partition after the other, whether the batch
before was answered or not. Some may be transactional: such a producer has one transaction after another, each open for
the same time. What is refused is written again, what a transaction that failed held comes with the next one, until the
load is stopped. What was acknowledged is remembered with a key that no other batch has, so that a run can be asked
later what became of it.

When the producers begin, and how far the first transaction of each has come by then, is drawn from the seed: otherwise
all runs would show the same instant of every cycle.
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
"""Kafka's default; added to how long a transaction stays open, it is when the coordinator aborts it."""


@dataclass(frozen=True, slots=True)
class AckedBatch:
    """A batch that a cluster acknowledged: the batch itself or, in a transaction, the commit."""

    tp: TopicPartition
    base_offset: int
    count: int
    key: bytes
    """Of all its records, and of no other batch."""
    acked_at: Instant
    transaction: str | None = None
    """Names the transaction that it is part of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """What is written: the rate is of all producers together, the first `transactional` of them use transactions."""

    producers: int
    transactional: int
    transaction_ms: int
    batch_records: int
    record_bytes: int
    """Key and value of a record."""
    records_per_second: int
    compression: Compression


class Load:
    """The producers at a cluster's site: `prepare` them, `start` them, and `stop` them or let them `crash`."""

    def __init__(
        self, cluster: Cluster, name: str, partitions: Sequence[TopicPartition], rng: Rng, options: LoadOptions
    ) -> None:
        self.cluster = cluster
        self.name = name
        self.partitions = partitions
        self.options = options
        self.runs = False
        self.client = Client(cluster.simulation.world, f"{cluster.name}-load", cluster.name)
        # Half of a value is noise and half is not, so that a codec has something to do.
        noise = rng.octets(max(options.record_bytes // 2, 1)).hex().encode()
        self.filler = noise[: options.record_bytes].ljust(options.record_bytes, b".")
        self._writers = [_Writer(self, number, rng.split(f"writer {number}")) for number in range(options.producers)]
        self.acked: list[AckedBatch] = []
        self.first_ack: dict[TopicPartition, Instant] = {}
        """When each partition took its first batch; of a transactional producer it may be undecided yet."""
        self.uncommitted: dict[bytes, None] = {}
        """The keys of batches in transactions of which nobody asked for the commit."""
        self.refused = 0
        """Batches that were answered with an error."""

    def prepare(self, *, within_s: float) -> None:
        """Give every producer its id and epoch, and run until all have them."""
        for writer in self._writers:
            writer.open()
        what = f"producer ids from {self.cluster.name}"
        self.cluster.simulation.run_until(lambda: self._is_idle, within_s=within_s, what=what)

    def start(self) -> None:
        self.runs = True
        for writer in self._writers:
            writer.start()

    def stop(self) -> None:
        """Close the producers: open transactions are aborted, answers on their way still count."""
        self.runs = False
        for writer in self._writers:
            writer.stop()

    def crash(self) -> None:
        """Let the producers die with their site: whatever is open stays open."""
        self.runs = False
        self.cluster.simulation.world.kill(self.client.name)

    def settle(self, *, within_s: float) -> None:
        """Run until every request has been answered or given up."""
        simulation = self.cluster.simulation
        if simulation.world.runs(self.client.name):
            simulation.run_until(lambda: self._is_idle, within_s=within_s, what="answers to a load")

    def open_since(self) -> Instant | None:
        """Return when the oldest of the open transactions began, or None."""
        return min((writer.began for writer in self._writers if writer.began is not None), default=None)

    @property
    def _is_idle(self) -> bool:
        return all(writer.is_idle for writer in self._writers)


class _Writer:
    """One producer of a load."""

    def __init__(self, load: Load, number: int, rng: Rng) -> None:
        self._load = load
        self._world = load.cluster.simulation.world
        self._rng = rng
        options = load.options
        self._name = f"{load.name}-{number}"
        self._is_transactional = number < options.transactional
        self._pause: Duration = max(options.producers * options.batch_records * SECOND // options.records_per_second, 1)
        self._span: Duration = options.transaction_ms * MILLISECOND
        self._next_span = self._span - rng.split("transactions").below(max(self._span, 1))
        self._turn = rng.split("partitions").below(len(load.partitions))
        self._made = 0
        self._due: deque[TopicPartition] = deque()
        """Where the batches go whose turn has come, and that were not sent yet or were refused."""
        self._under_way: Counter[TopicPartition] = Counter()
        self._takes: dict[TopicPartition, None] = {}
        """The partitions that took the last batch of which anything was heard."""
        self._again_at: dict[TopicPartition, Instant] = {}
        self._is_ready = False
        self._transactions = 0
        self._written: list[AckedBatch] = []
        """Of the open transaction, what was answered."""
        self._sent: dict[bytes, TopicPartition] = {}
        """Of the open transaction, all batches."""
        self._is_ending = False
        self._is_aborting = False
        self.began: Instant | None = None
        """When the transaction that is open began."""

    @property
    def is_idle(self) -> bool:
        return self._is_ready and not self._under_way.total() and self.began is None

    def open(self) -> None:
        """Ask for a producer id; of the transactional id's producer before this one nothing stays open."""
        self._is_ready = False
        client, cluster = self._load.client, self._load.cluster
        name = client.new_name("writer")
        configs = ProducerConfigs(
            transactional_id=self._name if self._is_transactional else None,
            transaction_timeout_ms=TRANSACTION_TIMEOUT_MS + self._span // MILLISECOND,
            compression=self._load.options.compression,
        )
        servers = tuple(cluster.endpoint(broker_id) for broker_id in cluster.broker_ids)
        self._producer = Producer(name, client.requester, servers, configs)
        client.on_timer(name, self._producer.on_timer)
        self._producer.init(self._world.now, self._on_opened)
        client.perform()

    def _on_opened(self, _: Instant, error: ErrorCode) -> None:
        if error:
            self._later(RETRY_MS * MILLISECOND, self.open)
            return
        self._is_ready = True
        self._later(0, self._go_on)

    def start(self) -> None:
        self._later(self._rng.split("phase").below(self._pause), self._tick)

    def stop(self) -> None:
        self._due.clear()
        if self.began is not None and not self._is_ending:
            self._abort()

    def _later(self, span: Duration, action: Callable[[], None]) -> None:
        """Do something after a pause, outside of the producer's own work, if its site still lives by then."""
        world, client = self._world, self._load.client
        world.at(world.now + span, lambda: action() if world.runs(client.name) else None)

    # -- writing ------------------------------------------------------------------------------

    def _tick(self) -> None:
        if not self._load.runs:
            return
        partitions = self._load.partitions
        self._due.append(partitions[self._turn % len(partitions)])
        self._turn += 1
        self._go_on()
        self._later(self._pause, self._tick)

    def _go_on(self) -> None:
        """Send what is due, in a transaction if the producer has them; while one is ended everything waits."""
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
        """Is `tp` known to take batches, or is there no other batch that finds out?

        While a partition is read-only one batch at a time finds that out. Otherwise every batch whose turn comes would
        be refused, counted, and take the producer to another epoch.
        """
        return tp in self._takes or (not self._under_way[tp] and self._again_at.get(tp, 0) <= self._world.now)

    def _send(self, tp: TopicPartition) -> None:
        key = b"%s-%d" % (self._name.encode(), self._made)
        self._made += 1
        options, filler = self._load.options, self._load.filler
        size = max(options.record_bytes - len(key), 0)
        rows = [RecordData(key=key, value=(b"%d " % n + filler)[:size]) for n in range(options.batch_records)]
        if self._is_transactional:
            if self.began is None:
                self._begin()
            self._sent[key] = tp
            self._load.uncommitted[key] = None
        self._under_way[tp] += 1
        self._producer.send(self._world.now, tp, rows, lambda now, delivery: self._on_delivery(now, tp, key, delivery))

    def _on_delivery(self, now: Instant, tp: TopicPartition, key: bytes, delivery: Delivery) -> None:
        self._under_way[tp] -= 1
        load = self._load
        if delivery.error:
            self._on_refused(now, tp)
            return
        self._takes[tp] = None
        load.first_ack.setdefault(tp, now)
        written = AckedBatch(tp, delivery.base_offset, load.options.batch_records, key, now)
        if self._is_transactional:
            self._written.append(replace(written, transaction=f"{self._name}/{self._transactions}"))
        else:
            load.acked.append(written)
        self._later(0, self._go_on)

    def _on_refused(self, now: Instant, tp: TopicPartition) -> None:
        if self._is_aborting:
            return  # The producer itself gives up what it has not sent.
        self._load.refused += 1
        self._takes.pop(tp, None)
        self._again_at[tp] = now + RETRY_MS * MILLISECOND
        if self._is_transactional:
            self._later(0, self._abort)
        else:
            self._due.appendleft(tp)
            self._later(RETRY_MS * MILLISECOND, self._go_on)

    # -- transactions -------------------------------------------------------------------------

    def _begin(self) -> None:
        self._producer.begin()
        self._transactions += 1
        self.began = self._world.now
        number = self._transactions
        self._later(self._next_span, lambda: self._commit(number))
        self._next_span = self._span

    def _commit(self, number: int) -> None:
        if self.began is None or self._is_ending or number != self._transactions:
            return
        self._is_ending = True
        for key in self._sent:
            self._load.uncommitted.pop(key, None)
        self._producer.end(self._world.now, self._on_committed, commit=True)
        self._load.client.perform()

    def _on_committed(self, now: Instant, error: ErrorCode) -> None:
        if not error:
            self._load.acked += [replace(written, acked_at=now) for written in self._written]
            self._end(0)
        elif self._producer.transactions.state is State.ABORTABLE_ERROR:
            self._later(0, self._abort)
        else:
            self._give_up()

    def _abort(self) -> None:
        """Abort the transaction in which a batch failed, or which `stop` found open; its batches come again."""
        if self.began is None or self._is_aborting:
            return
        self._is_ending = self._is_aborting = True
        self._load.uncommitted.update(dict.fromkeys(self._sent))
        if self._load.runs:
            self._due.extendleft(reversed(self._sent.values()))
        if self._producer.transactions.state is State.FATAL_ERROR:
            self._give_up()
            return
        self._producer.end(self._world.now, self._on_aborted, commit=False)
        self._load.client.perform()

    def _on_aborted(self, _: Instant, error: ErrorCode) -> None:
        if error:
            self._give_up()
        else:
            self._end(RETRY_MS * MILLISECOND)

    def _give_up(self) -> None:
        """Go on as another producer with the same transactional id; the coordinator ends what this one left open."""
        self._end(RETRY_MS * MILLISECOND)
        self._is_ready = False
        self._later(RETRY_MS * MILLISECOND, self.open)

    def _end(self, pause: Duration) -> None:
        self.began = None
        self._is_ending = self._is_aborting = False
        self._written.clear()
        self._sent.clear()
        self._later(pause, self._go_on)
