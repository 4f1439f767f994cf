"""One run of the question that sweeps ask: what does a failover cost, and what does the way back take away?

Cluster a is written to while cluster b mirrors it. At a chosen instant a fails: its link is cut, or its brokers
die. After a while the failover is ordered; producers turn to b as soon as b lets them. Later a comes back and
mirrors from b. What is measured is in `Figures`; what must hold in any run is judged by name, and a run that
breaks one of these rules ends as usual and says so.

    t=0 load begins   failure_ms: a fails   + detect_ms: failover ordered   ...   + after_ms of load on b: failback
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from kmirror.errors import UsageError
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.partition import LogCut, StateEntered
from kmirror.mirror.states import MirrorState
from kmirror.records.codecs import Compression
from kmirror.sim.checkers import mirror_agrees
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.network import NetworkOptions
from kmirror.sim.simulation import Simulation
from kmirror.sim.workload import AckedBatch, Load

TOPIC = "orders"
MIRROR_NAME = "sweep"
PATIENCE_SECONDS = 900
DOWN_MS = 15_000
CODECS = tuple(codec.name.lower() for codec in Compression)
FAILURES = ("network", "site")
FAULTS = ("none", "source_broker", "destination_broker", "both")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentOptions:
    """What a sweep varies; all numbers are whole, units last. WAN is the line between the clusters."""

    seed: int = 0
    brokers: int = 1
    """In each cluster; they hold min(brokers, 3) replicas."""
    partitions: int = 2
    latency_ms: int = 25
    """One way, on the WAN."""
    jitter_ms: int = 5
    bandwidth_kbps: int = 0
    """Of the WAN, in each direction, in kilobits per second; 0 stands for no limit."""
    loss_ppm: int = 0
    """Packets lost on the WAN, per million."""
    reorder_ppm: int = 0
    batch_records: int = 10
    record_bytes: int = 200
    records_per_second: int = 500
    """In all partitions together."""
    codec: str = "none"
    fetchers: int = 1
    refresh_ms: int = 30_000
    failure: str = "network"
    failure_ms: int = 3_000
    """How long a is written to before it fails."""
    detect_ms: int = 1_000
    """From the failure to the order to fail over; while the link is cut, producers go on writing to a."""
    after_ms: int = 2_000
    """How long b is written to before the failback."""
    fault: str = "none"
    """A broker of that cluster is killed during the load, and restarted."""

    def problem(self) -> str | None:
        """Say what is wrong with these options, or None."""
        for name, choices in (("codec", CODECS), ("failure", FAILURES), ("fault", FAULTS)):
            if getattr(self, name) not in choices:
                return f"{name} is one of {', '.join(choices)}, not {getattr(self, name)!r}"
        for name, (least, most) in BOUNDS.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                return f"{name} is a whole number from {least} to {most}, not {value!r}"
        if self.fault != "none" and self.brokers < 2:
            return f"fault {self.fault!r} kills a broker for a while: brokers has to be 2 or more"
        return None


BOUNDS: dict[str, tuple[int, int]] = {
    "seed": (0, (1 << 63) - 1),
    "brokers": (1, 9),
    "partitions": (1, 1000),
    "latency_ms": (0, 10_000),
    "jitter_ms": (0, 10_000),
    "bandwidth_kbps": (0, 1 << 40),
    "loss_ppm": (0, 500_000),
    "reorder_ppm": (0, 1_000_000),
    "batch_records": (1, 100_000),
    "record_bytes": (0, 1_000_000),
    "records_per_second": (1, 10_000_000),
    "fetchers": (1, 64),
    "refresh_ms": (100, 3_600_000),
    "failure_ms": (0, 3_600_000),
    "detect_ms": (0, 3_600_000),
    "after_ms": (0, 3_600_000),
}
OPTION_NAMES = tuple(field.name for field in fields(ExperimentOptions))


@dataclass(slots=True)
class Figures:
    """What a run showed. Times are virtual milliseconds."""

    mirrored_bytes: int = 0
    mirrored_batches: int = 0
    mirrored_records: int = 0
    lag_max: int = 0
    """Records that a had decided and b did not have, at most, before the failure."""
    lag_at_failure: int = 0
    lag: list[tuple[int, int]] = field(default_factory=list)
    """(ms since the load began, records) while a and b are connected."""
    rpo_records: int = 0
    """Acknowledged by a before it failed, and not on b."""
    rpo_ms: int = 0
    """Age of the oldest of these at the failure."""
    rto_ms: int = 0
    """From the failure to the first write that b took, of the slowest partition."""
    stop_ms: int = 0
    """The same, from the order to fail over."""
    failover_cut_records: int = 0
    """Offsets that b cut: what was undecided there."""
    failback_cut_records: int = 0
    """Offsets that the failback cut from a."""
    failback_lost_records: int = 0
    """Acknowledged by a, and nowhere after the failback."""
    failback_ms: int = 0
    """From the order to fail back until a has all that b has; where b never mirrored anything a keeps its own (D25)."""
    wire_bytes: int = 0
    """Sent between the clusters, both ways."""
    acked_records: int = 0
    refused_produces: int = 0
    """Produce requests that b answered with an error, and asked-for retries."""
    state_ms: dict[str, int] = field(default_factory=dict)
    """How long a partition spent in a state, summed over partitions and both mirrors."""
    virtual_ms: int = 0
    events: int = 0


@dataclass(slots=True)
class Outcome:
    """A finished run."""

    options: ExperimentOptions
    figures: Figures
    broken: list[str]
    """Rules that did not hold, each with where; empty in a good run."""
    digest: str


class Experiment:
    """One run; `run` returns its outcome, or raises `SimulationFailure` if it did not converge."""

    def __init__(self, options: ExperimentOptions) -> None:
        problem = options.problem()
        if problem is not None:
            raise UsageError(problem)
        self.options = options
        low = max(options.latency_ms - options.jitter_ms, 0) * MILLISECOND
        network = NetworkOptions(
            remote_min_us=low,
            remote_max_us=(options.latency_ms + options.jitter_ms) * MILLISECOND,
            bytes_per_second=options.bandwidth_kbps * 125,
            loss_ppm=options.loss_ppm,
            reorder_ppm=options.reorder_ppm,
        )
        self.simulation = Simulation(options.seed, network=network)
        configs = {
            "mirror.num.replica.fetchers": str(options.fetchers),
            "mirror.metadata.refresh.interval.ms": str(options.refresh_ms),
            "mirror.topic.num.partitions": "3",
            "min.insync.replicas": "1" if options.brokers < 3 else "2",
        }
        self.a, self.b = (
            Cluster(self.simulation, name, brokers=options.brokers, configs=configs) for name in ("a", "b")
        )
        self.figures = Figures()
        self.broken: list[str] = []
        self._rng = self.simulation.world.rng.split("experiment")
        self._cuts: list[tuple[str, LogCut]] = []
        self._mirrored: list[TopicPartition] = []
        self._states: dict[tuple[str, TopicPartition], tuple[MirrorState, Instant]] = {}
        self.partitions = [TopicPartition(TOPIC, number) for number in range(options.partitions)]
        self.simulation.world.on_fact.append(self._on_fact)

    def run(self) -> Outcome:
        """Return figures, broken rules and digest; raises `SimulationFailure` if the run does not converge."""
        self.a.start()
        self.b.start()
        self.a.create_topic(TOPIC, self.options.partitions)
        self._there = Mirror(MIRROR_NAME, source=self.a, destination=self.b)
        self._there.create()
        self._there.add_topics([TOPIC])
        self._there.wait_for_state(MirrorState.MIRRORING, self.partitions, within_s=PATIENCE_SECONDS)
        self._watch_marks()
        load, failed_at = self._until_failure()
        after = self._fail_over(load, failed_at)
        self._fail_back(load, after)
        world = self.simulation.world
        self.figures.events = world.events
        self.figures.wire_bytes = sum(world.network.crossed.values())
        for state, since in self._states.values():
            self._spent(state, since, world.now)
        return Outcome(self.options, self.figures, self.broken, self.simulation.digest)

    # -- stages -------------------------------------------------------------------------------

    def _until_failure(self) -> tuple[Load, Instant]:
        """Write to a, let it fail, and go on until the failover is ordered."""
        options, world = self.options, self.simulation.world
        load = self._load(self.a, "a")
        began = world.now
        load.start()
        self._sample_lag(began)
        self._plan_faults()
        self.simulation.world.run_for(span_us=options.failure_ms * MILLISECOND)
        failed_at = world.now
        self.figures.lag_at_failure = self._lag()
        self.simulation.cut(self.a, self.b)
        if options.failure == "site":
            for broker_id in self.a.living():
                self.a.kill(broker_id)
        world.run_for(span_us=options.detect_ms * MILLISECOND)
        load.stop()
        return load, failed_at

    def _fail_over(self, load: Load, failed_at: Instant) -> Load:
        world, figures = self.simulation.world, self.figures
        ordered_at = world.now
        ends = {tp: self._log(self.b, tp).log_end_offset for tp in self.partitions}
        self._there.remove_topics([TOPIC])
        after = self._load(self.b, "b")
        after.start()
        rows = self._there.wait_for_state(MirrorState.STOPPED, self.partitions, within_s=PATIENCE_SECONDS)
        # Of the others b mirrored nothing, so a has the only copy, and a failback waits rightly (D25).
        self._mirrored = [row.tp for row in rows if row.last_mirrored_epoch >= 0]
        self._wait(lambda: len(after.first_ack) == len(self.partitions), "b to take writes in every partition")
        first = max(after.first_ack.values())
        figures.rto_ms = (first - failed_at) // MILLISECOND
        figures.stop_ms = (first - ordered_at) // MILLISECOND
        self._count_failover(load, failed_at, ends)
        world.run_for(span_us=self.options.after_ms * MILLISECOND)
        after.stop()
        after.settle(within_s=PATIENCE_SECONDS)
        figures.refused_produces = after.refused
        return after

    def _fail_back(self, load: Load, after: Load) -> None:
        world, figures = self.simulation.world, self.figures
        for broker_id in self.a.broker_ids:
            if not self.a.runs(broker_id):
                self.a.restart(broker_id)
        self._settle(self.a)
        load.settle(within_s=PATIENCE_SECONDS)
        ends = {tp: self._log(self.a, tp).log_end_offset for tp in self.partitions}
        self.simulation.heal(self.a, self.b)
        self._cuts.clear()
        began = world.now
        back = Mirror(MIRROR_NAME, source=self.b, destination=self.a)
        back.create()
        back.add_topics([TOPIC])
        back.wait_for_state(MirrorState.MIRRORING, self._mirrored, within_s=PATIENCE_SECONDS, caught_up=True)
        figures.failback_ms = (world.now - began) // MILLISECOND
        self._settle(self.a, self.b)
        figures.virtual_ms = world.now // MILLISECOND - self._began_ms
        figures.acked_records = sum(w.count for part in (load, after) for w in part.acked)
        for tp in self.partitions:
            cuts = [cut.offset for process, cut in self._cuts if cut.tp == tp and process.startswith("a-")]
            figures.failback_cut_records += max(ends[tp] - min(cuts, default=ends[tp]), 0)
        figures.failback_lost_records = sum(w.count for w in load.acked if not self._holds(self.a, w))
        self._judge_end(after)

    # -- judging ------------------------------------------------------------------------------

    def _count_failover(self, load: Load, failed_at: Instant, ends: dict[TopicPartition, int]) -> None:
        figures = self.figures
        for tp in self.partitions:
            log = self._log(self.b, tp)
            for batch in log.batches():
                if batch.is_control or self.b.leader(tp) is None or batch.base_offset >= ends[tp]:
                    continue
                figures.mirrored_batches += 1
                figures.mirrored_records += batch.record_count
                figures.mirrored_bytes += batch.size_in_bytes
        for process, cut in self._cuts:
            if process.startswith("b-"):
                figures.failover_cut_records += cut.end - cut.offset
        lost = [w for w in load.acked if w.acked_at <= failed_at and not self._holds(self.b, w)]
        figures.rpo_records = sum(w.count for w in lost)
        figures.rpo_ms = max(((failed_at - w.acked_at) // MILLISECOND for w in lost), default=0)
        for tp in self.partitions:
            gone = {w.base_offset for w in lost if w.tp == tp}
            kept = [w.base_offset for w in load.acked if w.tp == tp and self._holds(self.b, w)]
            if gone and kept and max(kept) > min(gone):
                self.broken.append(f"failover keeps a prefix: {tp} lacks {min(gone)} and has {max(kept)}")

    def _judge_end(self, after: Load) -> None:
        difference, _ = mirror_agrees(self.b, self.a, self._mirrored)
        if difference is not None:
            self.broken.append(f"equal after failback: {difference}")
        for cluster in (self.a, self.b):
            for written in after.acked:
                failed_back = cluster is self.b or written.tp in self._mirrored
                if failed_back and not self._holds(cluster, written):
                    self.broken.append(
                        f"what b acknowledged stays: {written.tp} offset {written.base_offset} is not on {cluster.name}"
                    )
                    break

    def _holds(self, cluster: Cluster, written: AckedBatch) -> bool:
        """Return whether this acknowledged batch is in the leader's log, with its own records."""
        log = self._log(cluster, written.tp)
        end = written.base_offset + written.count
        if end > log.log_end_offset:
            return False
        for batch in log.batches(written.base_offset, end):
            if batch.base_offset == written.base_offset:
                return batch.crc == written.crc
        return False

    def _watch_marks(self) -> None:
        """Look at every replica's marks and epochs ten times a virtual second."""
        world = self.simulation.world
        self._began_ms = world.now // MILLISECOND

        def look() -> None:
            for cluster in (self.a, self.b):
                for broker_id in cluster.living():
                    for tp, partition in cluster.broker(broker_id).parts.replicas.partitions.items():
                        log = partition.log
                        if not log.log_start_offset <= log.high_watermark <= log.log_end_offset:
                            self._break(f"marks in order: {cluster.name}-{broker_id} {tp}: {log}")
                        if partition.is_leader and log.latest_epoch > partition.leader_epoch:
                            self._break(f"no epoch above the leader's: {cluster.name}-{broker_id} {tp}")
            world.at(world.now + 100 * MILLISECOND, look)

        look()

    def _break(self, text: str) -> None:
        if len(self.broken) < 20:
            self.broken.append(text)

    # -- figures ------------------------------------------------------------------------------

    def _lag(self) -> int:
        total = 0
        for tp in self.partitions:
            source, found = self.a.leader(tp), self.b.leader(tp)
            if source is not None:
                have = 0 if found is None else found.log.log_end_offset
                total += max(source.log.last_stable_offset - have, 0)
        return total

    def _sample_lag(self, began: Instant) -> None:
        """Note the lag some forty times before the failure."""
        world, figures = self.simulation.world, self.figures
        span = self.options.failure_ms * MILLISECOND
        step = max(span // 40, 10 * MILLISECOND)

        def sample() -> None:
            lag = self._lag()
            figures.lag.append(((world.now - began) // MILLISECOND, lag))
            figures.lag_max = max(figures.lag_max, lag)
            if world.now + step <= began + span:
                world.at(world.now + step, sample)

        sample()

    def _on_fact(self, process: str, fact: object) -> None:
        if isinstance(fact, LogCut):
            self._cuts.append((process, fact))
        elif isinstance(fact, StateEntered) and fact.tp.topic == TOPIC:
            self._follow(process.partition("-")[0], fact)

    def _follow(self, cluster: str, fact: StateEntered) -> None:
        """Count how long a partition was in the state that it leaves."""
        now = self.simulation.world.now
        before = self._states.get((cluster, fact.tp))
        if before is not None:
            self._spent(*before, now)
        self._states[cluster, fact.tp] = (fact.state, now)

    def _spent(self, state: MirrorState, since: Instant, until: Instant) -> None:
        spent = self.figures.state_ms
        spent[state.name] = spent.get(state.name, 0) + (until - since) // MILLISECOND

    # -- steps --------------------------------------------------------------------------------

    def _load(self, cluster: Cluster, name: str) -> Load:
        options = self.options
        return Load(
            cluster, self.partitions, self._rng.split(f"load {name}"), batch_records=options.batch_records,
            record_bytes=options.record_bytes, records_per_second=options.records_per_second,
            compression=Compression[options.codec.upper()],
        )  # fmt: skip

    def _plan_faults(self) -> None:
        """Kill a broker at some time before the failure, for longer than its session lasts."""
        if self.options.fault == "none":
            return
        world = self.simulation.world
        both = self.options.fault == "both"
        for cluster, name in ((self.a, "source_broker"), (self.b, "destination_broker")):
            if not both and self.options.fault != name:
                continue
            victim = self._rng.choice(cluster.broker_ids)
            down = world.now + self._rng.between(0, self.options.failure_ms) * MILLISECOND
            world.at(down, lambda c=cluster, v=victim: c.kill(v) if c.runs(v) else None)  # type: ignore[misc]
            up = down + DOWN_MS * MILLISECOND
            world.at(up, lambda c=cluster, v=victim: None if c.runs(v) else c.restart(v))  # type: ignore[misc]

    def _log(self, cluster: Cluster, tp: TopicPartition) -> PartitionLog:
        if cluster.leader(tp) is None:
            self._wait(lambda: cluster.leader(tp) is not None, f"a leader of {tp} in {cluster.name}")
        leader = cluster.leader(tp)
        assert leader is not None, "just waited for"
        return leader.log

    def _settle(self, *clusters: Cluster) -> None:
        self._wait(lambda: all(cluster.is_settled() for cluster in clusters), "full ISRs")

    def _wait(self, condition: object, what: str) -> None:
        assert callable(condition)
        self.simulation.run_until(condition, within_s=PATIENCE_SECONDS, what=what)


def run(options: ExperimentOptions) -> Outcome:
    """Return the outcome of the run that `options` name; the same options give the same digest.

    UsageError for options of which no run can be made.
    """
    problem = options.problem()
    if problem is not None:
        raise UsageError(problem)
    return Experiment(options).run()
