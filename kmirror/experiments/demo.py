"""The demo: mirror real logs, verify them, fail over, fail back, verify again.

All access to a cluster uses encoded requests; only the verification reads internal state. An `Observer` is notified of
progress, so the script prints nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kmirror.assembly.mirrors import Difference, MirrorRow
from kmirror.assembly.nodes import ExistingLogs
from kmirror.errors import SimulationFailure
from kmirror.kernel.clock import MILLISECOND, SECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import counted
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.facts import LogCut
from kmirror.mirror.states import MirrorState
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.control import ControlType
from kmirror.records.legacy import AnyBatch
from kmirror.records.record import RecordData
from kmirror.sim.checkers import Compared, mirror_agrees
from kmirror.sim.cluster import Cluster
from kmirror.sim.facts import BrokerFenced, NodeKilled, NodeStarted, Seen
from kmirror.sim.faults import FaultPlan
from kmirror.sim.mirror import Mirror
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode

MIRROR_NAME = "demo"
TIMEOUT_SECONDS = 600
CONFIGS: Mapping[str, str] = {
    "transaction.state.log.num.partitions": "3",
    "min.insync.replicas": "2",
    "log.retention.ms": "-1",  # The logs are years older than the simulated clock; Kafka would delete them.
}
CODECS = (Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4, Compression.ZSTD)


class LogsDiffer(SimulationFailure):
    """The verification failed; `difference` is the first difference of the logs."""

    def __init__(self, check_name: str, difference: Difference, simulation: Simulation) -> None:
        self.difference = difference
        super().__init__(f"{check_name}: {difference}", seed=simulation.seed, elapsed_us=simulation.world.elapsed_us)


@dataclass(frozen=True, slots=True)
class Failover:
    """Failover of one partition; `log_end_offset` is the LEO before the truncation."""

    tp: TopicPartition
    log_end_offset: int
    cut_offset: int
    last_mirrored_epoch: int
    leader_epoch: int
    reset_offset: int


@dataclass(frozen=True, slots=True)
class Failback:
    """Failback of one partition; the lost range is [lost_first_offset, lost_end_offset).

    The truncation may reach below the loss: removed records that the source has are fetched again.
    """

    tp: TopicPartition
    cut_offset: int
    lost_first_offset: int
    lost_end_offset: int
    cuts: tuple[LogCut, ...] = ()


class Stage(NamedTuple):
    """A stage of the demo, with the virtual time between the start of the run and the stage."""

    began_ms: int
    title: str


@dataclass(slots=True)
class DemoReport:
    """Results of a run of the demo."""

    seed: int
    stages: list[Stage] = field(default_factory=list)
    digest: str = ""
    topics: int = 0
    mirrored: Compared = field(default_factory=Compared)
    failover: list[Failover] = field(default_factory=list)
    failback: list[Failback] = field(default_factory=list)
    final: Compared = field(default_factory=Compared)
    virtual_seconds: float = 0.0
    events: int = 0

    def as_json(self) -> dict[str, object]:
        """Return the report as printed by `-o json`."""
        return {
            "seed": self.seed,
            "digest": self.digest,
            "mirrored": {
                "topics": self.topics,
                "partitions": self.mirrored.partitions,
                "batches": self.mirrored.batches,
                "bytes": self.mirrored.bytes,
            },
            "equal_after_mirror": True,
            "failover": [
                {
                    "topic": row.tp.topic,
                    "partition": row.tp.partition,
                    "log_end_offset": row.log_end_offset,
                    "cut_offset": row.cut_offset,
                    "last_mirrored_epoch": row.last_mirrored_epoch,
                    "leader_epoch": row.leader_epoch,
                }
                for row in self.failover
            ],
            "failback": [
                {
                    "topic": row.tp.topic,
                    "partition": row.tp.partition,
                    "cut_offset": row.cut_offset,
                    "lost_first_offset": row.lost_first_offset,
                    "lost_end_offset": row.lost_end_offset,
                }
                for row in self.failback
            ],
            "equal_after_failback": True,
        }


class Observer:
    """Callbacks for progress; override those of interest."""

    def on_stage(self, title: str) -> None:
        """Called at the start of a stage."""

    def on_message(self, text: str) -> None:
        """Called with a message for people."""

    def on_rows(self, rows: Sequence[MirrorRow], partitions: int) -> None:
        """Called with each DescribeMirrors table; `partitions` is the final number of rows."""

    def on_failover(self, rows: Sequence[Failover]) -> None:
        """Called with the results of failover, one row for each partition."""

    def on_failback(self, rows: Sequence[Failback]) -> None:
        """Called with the results of failback, one row for each partition."""


class Demo:
    """One run of the demo; `run` returns the report or raises the failure."""

    def __init__(
        self, logs: ExistingLogs, *, seed: int = 0, faults: bool = False, observer: Observer | None = None
    ) -> None:
        self.observer = observer or Observer()
        self.simulation = Simulation(seed)
        self.report = DemoReport(seed)
        self._logs = logs
        self._faults = faults
        self._rng = self.simulation.world.rng.split("demo")
        self._began = self.simulation.world.now
        self.a = Cluster(self.simulation, "a", logs=logs, configs=CONFIGS)
        self.b = Cluster(self.simulation, "b", configs=CONFIGS)
        self._network_line = self.simulation.line(self.a, self.b)
        self._fault_plans = {
            cluster.name: FaultPlan(cluster, self._rng.split(cluster.name)) for cluster in (self.a, self.b)
        }
        self._cuts: list[tuple[str, LogCut]] = []
        self.simulation.on(LogCut, lambda observed: self._cuts.append((observed.node, observed.fact)))
        self.topics: list[str] = []
        self.partitions: list[TopicPartition] = []

    def run(self) -> DemoReport:
        """Run the demo and return the report; raises `LogsDiffer` if a verification fails."""
        self._begin("Starting clusters a and b: a controller and three brokers each")
        self.a.start()
        self.b.start()
        self._report_nodes()
        self.topics = self.a.topics()
        all_partitions = self.a.partitions(self.topics)
        self.partitions = [tp for tp in all_partitions if tp in self._logs.partitions]
        other_partitions = [str(tp) for tp in all_partitions if tp not in self._logs.partitions]
        if other_partitions:
            self.observer.on_message(f"not in these logs: empty here, not counted: {', '.join(other_partitions)}")
        self.report.topics = len(self.topics)
        self._mirror()
        self._fail_over()
        self._fail_back()
        world = self.simulation.world
        self.report.digest = self.simulation.digest
        self.report.virtual_seconds = (world.now - self._began) / SECOND
        self.report.events = world.events
        return self.report

    def _report_nodes(self) -> None:
        """Report when nodes are killed, fenced and started: until a node is fenced, others wait for it."""

        def message(observed: Seen[object], text: str) -> None:
            self.observer.on_message(f"{observed.at_ms / 1000:.3f} s: {text}")

        simulation = self.simulation
        simulation.on(NodeKilled, lambda observed: message(observed, f"{observed.node} is killed"))
        simulation.on(NodeStarted, lambda observed: message(observed, f"{observed.node} is started"))
        simulation.on(
            BrokerFenced,
            lambda observed: message(
                observed, f"{observed.cluster}-{observed.fact.broker_id} is fenced: {observed.fact.why}"
            ),
        )

    def _begin(self, title: str) -> None:
        self.report.stages.append(Stage(self.simulation.world.elapsed_us // MILLISECOND, title))
        self.observer.on_stage(title)

    # -- stages -------------------------------------------------------------------------------

    def _mirror(self) -> None:
        self._begin(f"Mirroring {counted(len(self.topics), 'topic')} from a to b")
        mirror = Mirror(MIRROR_NAME, source=self.a, destination=self.b)
        mirror.create()
        mirror.add_topics(self.topics)
        self._maybe_kill(self.a, self.b)
        self._wait(mirror, MirrorState.MIRRORING, caught_up=True)
        self.report.mirrored = self._verify("after mirroring", mirror)
        self._expect_read_only()
        self.observer.on_message("produce to b: refused with READ_ONLY_TOPIC for every partition")

    def _fail_over(self) -> None:
        mirror = Mirror(MIRROR_NAME, source=self.a, destination=self.b)
        self._begin("Writing to a while b mirrors: records, and a transaction that stays open on b")
        self._write_while_mirroring()
        mirror.catch_up(within_s=TIMEOUT_SECONDS)
        self._begin("Failing over: the line is down, and a has records that b does not have")
        self._network_line.take_down()
        self._write_beyond_the_mirror()
        ends = {tp: self._leader(self.b, tp).log_end_offset for tp in self.partitions}
        self._cuts.clear()
        mirror.remove_topics(self.topics)
        self._maybe_kill(self.b)
        rows = {row.tp: row for row in self._wait(mirror, MirrorState.STOPPED)}
        self._wait_for_full_isrs(self.b)
        for tp in self.partitions:
            log = self._leader(self.b, tp)
            reset = self._producer_reset(tp, log)
            cuts = [cut.offset for process, cut in self._cuts if cut.tp == tp and process.startswith("b-")]
            self.report.failover.append(
                Failover(
                    tp,
                    ends[tp],
                    min(cuts, default=reset.base_offset),
                    rows[tp].last_mirrored_epoch,
                    reset.partition_leader_epoch,
                    reset.base_offset,
                )
            )
        self.observer.on_failover(self.report.failover)
        self._write_after_failover()

    def _fail_back(self) -> None:
        self._begin("Failing back: a mirrors from b under the same mirror name")
        before = {tp: list(self._leader(self.a, tp).any_batches()) for tp in self.partitions}
        ends = {tp: self._leader(self.a, tp).log_end_offset for tp in self.partitions}
        self._cuts.clear()
        self._network_line.bring_up()
        mirror = Mirror(MIRROR_NAME, source=self.b, destination=self.a)
        mirror.create()
        mirror.add_topics(self.topics)
        self._maybe_kill(self.a, self.b)
        self._wait(mirror, MirrorState.MIRRORING, caught_up=True)
        self.report.final = self._verify("after failback", mirror)
        for tp in self.partitions:
            first = first_lost(before[tp], self._leader(self.a, tp), ends[tp])
            cuts = tuple(cut for process, cut in self._cuts if cut.tp == tp and process.startswith("a-"))
            lowest = min((cut.offset for cut in cuts), default=ends[tp])
            self.report.failback.append(Failback(tp, lowest, first, ends[tp], cuts))
        self.observer.on_failback(self.report.failback)

    # -- steps --------------------------------------------------------------------------------

    def _wait(self, mirror: Mirror, state: MirrorState, *, caught_up: bool = False) -> list[MirrorRow]:
        total = len(self.partitions)
        return mirror.wait_for_state(
            state,
            self.partitions,
            within_s=TIMEOUT_SECONDS,
            caught_up=caught_up,
            watch=lambda rows: self.observer.on_rows(rows, total),
        )

    def _wait_for_full_isrs(self, *clusters: Cluster) -> None:
        """Run until every ISR of all clusters is full at the same instant, and no kill is planned."""
        self.simulation.run_until(
            lambda: all(c.is_settled() and not self._fault_plans[c.name].busy for c in clusters),
            within_s=TIMEOUT_SECONDS,
            what="full ISRs",
        )

    def _verify(self, when: str, mirror: Mirror) -> Compared:
        source, destination = mirror.source, mirror.destination
        self._wait_for_full_isrs(source, destination)
        # A source leader that restarted may have reported a low LEO for a while; wait until it is right.
        mirror.catch_up(within_s=TIMEOUT_SECONDS)
        self._wait_for_full_isrs(source, destination)
        difference, compared = mirror_agrees(source, destination, self.partitions)
        if difference is not None:
            raise LogsDiffer(when, difference, self.simulation)
        self.observer.on_message(
            f"{counted(compared.batches, 'batch')}, {counted(compared.bytes, 'byte')} "
            f"in {counted(compared.partitions, 'partition')}: "
            f"equal byte for byte on every replica of {destination.name}"
        )
        return compared

    def _expect_read_only(self) -> None:
        producer = Producer(self.b)
        batch = build_batch([RecordData(value=b"not for a mirror")], timestamp_ms=self.simulation.now_ms)
        left = dict.fromkeys(self.partitions, batch)
        while left:
            for tp, (code, offset, _) in producer.try_send(left).items():
                if code == ErrorCode.READ_ONLY_TOPIC:
                    del left[tp]
                elif not ErrorCode(code).retriable:
                    raise LogsDiffer(
                        "write to a mirror",
                        Difference(tp, offset, "error code", "READ_ONLY_TOPIC", ErrorCode(code).name),
                        self.simulation,
                    )
            if left:
                self.simulation.run_for(span_s=0.2)

    def _write_while_mirroring(self) -> None:
        """Leave b with an undecided transaction in one partition of each topic (KIP-1279, Exactly-Once Semantics).

        One transaction is decided above the first record of another that stays open. The source serves read_committed
        consumers up to that record: b gets the first transaction's data without its marker.
        """
        Producer(self.a, compression=self._rng.choice(CODECS)).send(self._records("a, while mirroring", 3))
        chosen = {tp: rows for tp, rows in self._records("a, in a transaction", 2).items() if tp.partition == 0}
        decided = Producer(self.a, transactional_id="demo-decided")
        hanging = Producer(self.a, transactional_id="demo-open")
        for producer in (decided, hanging):
            producer.begin_transaction()
            producer.send(chosen)
        decided.commit_transaction()
        self.simulation.run_until(
            lambda: all(self._is_transaction_ended(tp, decided.producer_id) for tp in chosen),
            within_s=TIMEOUT_SECONDS,
            what="the commit markers on a",
        )

    def _is_transaction_ended(self, tp: TopicPartition, producer_id: int) -> bool:
        leader = self.a.leader(tp)
        if leader is None or leader.log.high_watermark < leader.log.log_end_offset:
            return False  # A marker counts once it is replicated.
        return producer_id not in leader.log.producers.ongoing.values()

    def _write_beyond_the_mirror(self) -> None:
        """Write records that only a has: some in an epoch that b knows, some in one that b never learns."""
        producer = Producer(self.a, compression=self._rng.choice(CODECS))
        producer.send(self._records("only on a, same epoch", 3))
        victim = self._rng.choice(self.a.living())
        self.a.kill(victim)
        self.simulation.run_for(
            span_s=12
        )  # Longer than broker.session.timeout.ms: other brokers lead its partitions now.
        producer.send(self._records("only on a, after an election", 2))
        self.a.restart(victim)
        self._wait_for_full_isrs(self.a)

    def _write_after_failover(self) -> None:
        self._maybe_kill(self.b)
        plain = Producer(self.b, compression=self._rng.choice(CODECS))
        plain.send(self._records("b, plain", 2))
        idempotent = Producer(self.b, idempotent=True)
        idempotent.send(self._records("b, idempotent", 2))
        transactional = Producer(self.b, transactional_id="demo", compression=self._rng.choice(CODECS))
        transactional.begin_transaction()
        transactional.send(self._records("b, committed", 2))
        transactional.commit_transaction()
        transactional.begin_transaction()
        transactional.send(self._records("b, aborted", 1))
        transactional.abort_transaction()
        self._wait_for_full_isrs(self.b)
        self.simulation.run_until(
            lambda: all(self._leader_is_stable(tp) for tp in self.partitions),
            within_s=TIMEOUT_SECONDS,
            what="the transactions on b to be marked",
        )
        self.observer.on_message(
            f"b accepts writes: plain, idempotent (producer id {idempotent.producer_id}), "
            f"transactional (producer id {transactional.producer_id}; one commit, one abort)"
        )

    def _records(self, text: str, count: int) -> dict[TopicPartition, list[RecordData]]:
        return {
            tp: [RecordData(key=str(tp).encode(), value=f"{text} {n}".encode()) for n in range(count)]
            for tp in self.partitions
        }

    def _leader(self, cluster: Cluster, tp: TopicPartition) -> PartitionLog:
        self.simulation.run_until(
            lambda: cluster.leader(tp) is not None,
            within_s=TIMEOUT_SECONDS,
            what=f"a leader of {tp} in {cluster.name}",
        )
        leader = cluster.leader(tp)
        assert leader is not None, "just waited for"
        return leader.log

    def _leader_is_stable(self, tp: TopicPartition) -> bool:
        leader = self.b.leader(tp)
        return leader is not None and leader.log.last_stable_offset == leader.log.log_end_offset

    def _producer_reset(self, tp: TopicPartition, log: PartitionLog) -> AnyBatch:
        """Return the producer reset, which is the last batch of a log that has just stopped."""
        for batch in log.any_batches(max(log.log_start_offset, log.log_end_offset - 1)):
            record = batch.control() if batch.is_control else None
            if record is not None and record.type is ControlType.MIRROR_PID_RESET:
                return batch
        missing = Difference(tp, log.log_end_offset - 1, "control type", "MIRROR_PID_RESET", "none")
        raise LogsDiffer("failover", missing, self.simulation)

    def _maybe_kill(self, *clusters: Cluster) -> None:
        if not self._faults:
            return
        cluster = self._rng.choice(clusters)
        self._fault_plans[cluster.name].strike()


def first_lost(before: Sequence[AnyBatch], after: PartitionLog, end: int) -> int:
    """Return the first offset of `before` that `after` does not hold unchanged; `end` if nothing was lost."""
    views_after = {batch.last_offset: batch.view for batch in after.any_batches()}
    for batch in before:
        if views_after.get(batch.last_offset) != batch.view:
            return max(batch.base_offset, after.log_start_offset)
    return end
