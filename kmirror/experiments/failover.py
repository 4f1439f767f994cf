"""The failover experiment: one run that measures the cost of a failover, and the loss at failback.

Clients write to cluster a while cluster b mirrors it. At a chosen instant a fails: its line goes down, or its brokers
die. After a while the failover is ordered; producers switch to b as soon as b accepts writes. Later a returns and
mirrors from b. The measurements are in `Figures`; the rules that must hold in any run are checked by name, and a run
that breaks one ends as usual and reports it.

    t=0 load begins   failure_ms + up to failure_spread_ms: a fails   + detect_ms: failover ordered   ...
    + after_ms of load on b: failback

The clusters idle for a while before the load begins, and a fails some time after `failure_ms`: both spans are drawn
from the seed, as are the producers' phases. So seeds differ in their phase relative to the cycles of fetches,
producers, transactions and timers, and the confidence interval of a mean over seeds includes that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kmirror.errors import UsageError
from kmirror.experiments.failover_figures import Figures, Outcome
from kmirror.experiments.failover_options import ExperimentOptions
from kmirror.experiments.failover_rules import (
    Contents,
    check_atomic_per_partition,
    check_kept,
    check_no_open_transaction,
    check_only_committed,
    check_prefix,
    content,
    missing,
    transactions,
)
from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.facts import LogCut, StateEntered
from kmirror.mirror.states import MirrorState
from kmirror.records.codecs import Compression
from kmirror.sim.checkers import mirror_agrees
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.simulation import Simulation
from kmirror.sim.workload import Load, LoadOptions

TOPIC = "orders"
MIRROR_NAME = "sweep"
TIMEOUT_SECONDS = 900
DOWN_MS = 15_000
IDLE_MS_MAX = 30_000
BROKEN_MAX = 20


class Experiment:
    """One failover and failback. `run` returns the outcome, or raises `SimulationFailure` if it does not converge."""

    def __init__(self, options: ExperimentOptions) -> None:
        problem = options.problem()
        if problem is not None:
            raise UsageError(problem)
        self.options = options
        self.simulation = Simulation(options.seed)
        configs = {
            "mirror.num.replica.fetchers": str(options.fetchers),
            "mirror.metadata.refresh.interval.ms": str(options.refresh_ms),
            "mirror.topic.num.partitions": "3",
            "transaction.state.log.num.partitions": "3",
            "min.insync.replicas": "1" if options.brokers < 3 else "2",
        }
        self.a, self.b = (
            Cluster(self.simulation, name, brokers=options.brokers, configs=configs) for name in ("a", "b")
        )
        self._network_line = self.simulation.line(self.a, self.b)
        self._network_line.set(
            latency_ms=options.latency_ms,
            jitter_ms=options.jitter_ms,
            bandwidth_kbps=options.bandwidth_kbps,
            loss_ppm=options.loss_ppm,
            reorder_ppm=options.reorder_ppm,
        )
        self.figures = Figures()
        self.broken: list[str] = []
        self._rng = self.simulation.world.rng.split("experiment")
        self._cuts: list[tuple[str, LogCut]] = []
        self._mirrored: list[TopicPartition] = []
        self._states: dict[tuple[str, TopicPartition], tuple[MirrorState, Instant]] = {}
        self.partitions = [TopicPartition(TOPIC, number) for number in range(options.partitions)]
        self._is_site_down = False
        self.simulation.on(LogCut, lambda observed: self._cuts.append((observed.node, observed.fact)))
        self.simulation.on(StateEntered, lambda observed: self._on_state(observed.cluster, observed.fact))

    def run(self) -> Outcome:
        """Return figures, broken rules and digest; raises `SimulationFailure` if the run does not converge."""
        self.a.start()
        self.b.start()
        self.a.create_topic(TOPIC, self.options.partitions)
        self._mirror_to_b = Mirror(MIRROR_NAME, source=self.a, destination=self.b)
        self._mirror_to_b.create()
        self._mirror_to_b.add_topics([TOPIC])
        self._mirror_to_b.wait_for_state(MirrorState.MIRRORING, self.partitions, within_s=TIMEOUT_SECONDS)
        self._check_offsets_regularly()
        self._load_a, self._load_b = self._load(self.a), self._load(self.b)
        failed_at = self._until_failure()
        self._fail_over(failed_at)
        self._fail_back()
        world = self.simulation.world
        self.figures.events = world.events
        self.figures.wire_bytes = sum(world.network.crossed.values())
        for state, since in self._states.values():
            self._add_state_time(state, since, world.now)
        return Outcome(self.options, self.figures, self.broken, self.simulation.digest)

    # -- stages -------------------------------------------------------------------------------

    def _until_failure(self) -> Instant:
        """Write to a, make it fail, run until the failover is ordered, and return the time of the failure."""
        options, world, figures = self.options, self.simulation.world, self.figures
        # Nothing in a cluster has a longer cycle than the metadata refresh.
        world.run_for(span_us=self._random_span(min(options.refresh_ms, IDLE_MS_MAX), "idle"))
        began = world.now
        fails_at = began + options.failure_ms * MILLISECOND + self._random_span(options.failure_spread_ms, "failure")
        self._load_a.start()
        self._sample_lag(began)
        self._plan_faults(fails_at)
        world.run_to(fails_at)
        figures.lag_at_failure = self._lag()
        figures.lag_max = max(figures.lag_max, figures.lag_at_failure)
        since = self._load_a.open_since()
        figures.open_transaction_ms = 0 if since is None else (fails_at - since) // MILLISECOND
        leaders = [leader for tp in self.partitions if (leader := self.a.leader(tp)) is not None]
        figures.undecided_at_failure = sum(p.log.high_watermark - p.log.last_stable_offset for p in leaders)
        self._network_line.take_down()
        if options.failure == "site":
            self._is_site_down = True
            self._load_a.crash()
            for broker_id in self.a.living():
                self.a.kill(broker_id)
        world.run_for(span_us=options.detect_ms * MILLISECOND)
        if options.failure != "site":
            self._load_a.stop()
        return fails_at

    def _fail_over(self, failed_at: Instant) -> None:
        world, figures, after = self.simulation.world, self.figures, self._load_b
        ordered_at = world.now
        ends = {tp: self._log(self.b, tp).log_end_offset for tp in self.partitions}
        self._cuts.clear()
        self._mirror_to_b.remove_topics([TOPIC])
        after.start()
        rows = self._mirror_to_b.wait_for_state(MirrorState.STOPPED, self.partitions, within_s=TIMEOUT_SECONDS)
        # b mirrored nothing of the others, so a has the only copy, and a failback rightly waits (D25).
        self._mirrored = [row.tp for row in rows if row.last_mirrored_epoch >= 0]
        self._wait(lambda: len(after.first_ack) == len(self.partitions), "b to accept writes in every partition")
        figures.rto_ms = (max(after.first_ack.values()) - failed_at) // MILLISECOND
        stopped_at = max(since for (cluster, _), (_, since) in self._states.items() if cluster == self.b.name)
        figures.stop_ms = (stopped_at - ordered_at) // MILLISECOND
        self._count_failover(failed_at, ends)
        world.run_for(span_us=self.options.after_ms * MILLISECOND)
        after.stop()
        after.settle(within_s=TIMEOUT_SECONDS)
        self._wait(
            lambda: not any(check_no_open_transaction(self._logs(self.b), "b")), "the markers of b's transactions"
        )
        figures.refused_produces = after.refused

    def _fail_back(self) -> None:
        world, figures, load, after = self.simulation.world, self.figures, self._load_a, self._load_b
        self._is_site_down = False
        for broker_id in self.a.broker_ids:
            if not self.a.runs(broker_id):
                self.a.restart(broker_id)
        self._wait_for_full_isrs(self.a)
        load.settle(within_s=TIMEOUT_SECONDS)
        ends = {tp: self._log(self.a, tp).log_end_offset for tp in self.partitions}
        self._network_line.bring_up()
        self._cuts.clear()
        began = world.now
        mirror_to_a = Mirror(MIRROR_NAME, source=self.b, destination=self.a)
        mirror_to_a.create()
        mirror_to_a.add_topics([TOPIC])
        self._wait(lambda: all(self._has_caught_up(tp) for tp in self._mirrored), "a to have all that b has")
        figures.failback_ms = (world.now - began) // MILLISECOND
        if self._mirrored:
            mirror_to_a.wait_for_state(MirrorState.MIRRORING, self._mirrored, within_s=TIMEOUT_SECONDS, caught_up=True)
        self._wait_for_full_isrs(self.a, self.b)
        figures.virtual_ms = world.now // MILLISECOND - self._began_ms
        figures.acked_records = sum(batch.count for part in (load, after) for batch in part.acked)
        figures.failback_cut_records = self._cut_records(self.a, ends)
        figures.failback_lost_records = sum(batch.count for batch in missing(load.acked, self._contents(self.a)))
        self._check_end()

    # -- judging ------------------------------------------------------------------------------

    def _count_failover(self, failed_at: Instant, ends: dict[TopicPartition, int]) -> None:
        figures, load = self.figures, self._load_a
        for tp in self.partitions:
            end = self._lowest_cut(self.b, tp, ends[tp])
            for batch in self._log(self.b, tp).batches(end=end):
                figures.mirrored_batches += 1
                figures.mirrored_records += batch.record_count
                figures.mirrored_bytes += batch.size_in_bytes
        figures.failover_cut_records = self._cut_records(self.b, ends)
        contents = self._contents(self.b)
        promised = [batch for batch in load.acked if batch.acked_at <= failed_at]
        lost = missing(promised, contents)
        figures.rpo_records = sum(batch.count for batch in lost)
        figures.rpo_ms = max(((failed_at - batch.acked_at) // MILLISECOND for batch in lost), default=0)
        figures.rpo_transactional_records = sum(batch.count for batch in lost if batch.transaction is not None)
        figures.lost_transactions = len(transactions(lost))
        lost_keys = {batch.key for batch in lost}
        figures.torn_transactions = sum(
            0 < sum(batch.key in lost_keys for batch in batches) < len(batches)
            for batches in transactions(promised).values()
        )
        self._report(check_prefix(load.acked, contents))
        self._report(check_atomic_per_partition(load.acked, contents))
        self._report(check_only_committed(load.uncommitted, contents))

    def _check_end(self) -> None:
        difference = mirror_agrees(self.b, self.a, self._mirrored)[0] if self._mirrored else None
        if difference is not None:
            self._report([f"equal after failback: {difference}"])
        for cluster in (self.a, self.b):
            partitions = self.partitions if cluster is self.b else self._mirrored
            contents = self._contents(cluster, partitions)
            self._report(check_kept(self._load_b.acked, contents, cluster.name))
            self._report(check_only_committed([*self._load_a.uncommitted, *self._load_b.uncommitted], contents))
            self._report(check_no_open_transaction([self._log(cluster, tp) for tp in partitions], cluster.name))

    def _contents(self, cluster: Cluster, partitions: Iterable[TopicPartition] | None = None) -> Contents:
        requested = self.partitions if partitions is None else partitions
        return {tp: content(self._log(cluster, tp)) for tp in requested}

    def _lowest_cut(self, cluster: Cluster, tp: TopicPartition, end: int) -> int:
        """Return the lowest offset to which a replica of `cluster` was truncated, or `end` if none is below it."""
        cuts = [cut.offset for process, cut in self._cuts if cut.tp == tp and process.startswith(f"{cluster.name}-")]
        return min(cuts, default=end)

    def _cut_records(self, cluster: Cluster, ends: dict[TopicPartition, int]) -> int:
        return sum(max(end - self._lowest_cut(cluster, tp, end), 0) for tp, end in ends.items())

    def _check_offsets_regularly(self) -> None:
        """Check the offsets and epochs of every replica ten times per virtual second."""
        world = self.simulation.world
        self._began_ms = world.now // MILLISECOND

        def check_offsets() -> None:
            for cluster in (self.a, self.b):
                for broker_id in cluster.living():
                    for tp, partition in cluster.broker(broker_id).parts.replicas.partitions.items():
                        log = partition.log
                        if not log.log_start_offset <= log.high_watermark <= log.log_end_offset:
                            self._report([f"marks in order: {cluster.name}-{broker_id} {tp}: {log}"])
                        if partition.is_leader and log.latest_epoch > partition.leader_epoch:
                            self._report([f"no epoch above the leader's: {cluster.name}-{broker_id} {tp}"])
            world.at(world.now + 100 * MILLISECOND, check_offsets)

        check_offsets()

    def _report(self, faults: Iterable[str]) -> None:
        self.broken += list(faults)[: BROKEN_MAX - len(self.broken)]

    # -- figures ------------------------------------------------------------------------------

    def _lag(self) -> int:
        total = 0
        for tp in self.partitions:
            source, found = self.a.leader(tp), self.b.leader(tp)
            if source is not None:
                destination_end = 0 if found is None else found.log.log_end_offset
                total += max(source.log.high_watermark - destination_end, 0)
        return total

    def _sample_lag(self, began: Instant) -> None:
        """Record the lag some forty times before the earliest instant at which a may fail."""
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

    def _on_state(self, cluster: str, fact: StateEntered) -> None:
        """Add the time that a partition spent in the state that it leaves."""
        if fact.tp.topic != TOPIC:
            return
        now = self.simulation.world.now
        before = self._states.get((cluster, fact.tp))
        if before is not None:
            if before[0] is fact.state:
                return  # A new leader has read the state written by the former one.
            self._add_state_time(*before, now)
        self._states[cluster, fact.tp] = (fact.state, now)

    def _add_state_time(self, state: MirrorState, since: Instant, until: Instant) -> None:
        spent = self.figures.state_ms
        spent[state.name] = spent.get(state.name, 0) + (until - since) // MILLISECOND

    # -- steps --------------------------------------------------------------------------------

    def _random_span(self, span_ms: int, stream_name: str) -> Duration:
        """Return a random part of a span, in microseconds, from a random stream of its own."""
        return self._rng.split(stream_name).below(max(span_ms * MILLISECOND, 1))

    def _load(self, cluster: Cluster) -> Load:
        """Return producers at a cluster's site that have their PIDs: those of b are ready from the start."""
        options = self.options
        load_options = LoadOptions(
            producers=options.producers, transactional=options.transactional_producers,
            transaction_ms=options.transaction_ms, batch_records=options.batch_records,
            record_bytes=options.record_bytes, records_per_second=options.records_per_second,
            compression=Compression[options.codec.upper()],
        )  # fmt: skip
        load = Load(cluster, cluster.name, self.partitions, self._rng.split(f"load {cluster.name}"), load_options)
        load.prepare(within_s=TIMEOUT_SECONDS)
        return load

    def _plan_faults(self, fails_at: Instant) -> None:
        """Kill a broker at some time before the failure, for longer than its session timeout."""
        if self.options.fault == "none":
            return
        world = self.simulation.world
        both = self.options.fault == "both"
        for cluster, name in ((self.a, "source_broker"), (self.b, "destination_broker")):
            if not both and self.options.fault != name:
                continue
            victim = self._rng.choice(cluster.broker_ids)
            down = self._rng.between(world.now, fails_at)
            world.at(down, lambda c=cluster, v=victim: c.kill(v) if c.runs(v) else None)  # type: ignore[misc]
            up = down + DOWN_MS * MILLISECOND
            world.at(up, lambda c=cluster, v=victim: self._restart(c, v))  # type: ignore[misc]

    def _restart(self, cluster: Cluster, broker_id: int) -> None:
        # Brokers of a site that is down stay down; the failback starts all of them.
        if not cluster.runs(broker_id) and not (cluster is self.a and self._is_site_down):
            cluster.restart(broker_id)

    def _log(self, cluster: Cluster, tp: TopicPartition) -> PartitionLog:
        if cluster.leader(tp) is None:
            self._wait(lambda: cluster.leader(tp) is not None, f"a leader of {tp} in {cluster.name}")
        leader = cluster.leader(tp)
        assert leader is not None, "just waited for"
        return leader.log

    def _logs(self, cluster: Cluster) -> list[PartitionLog]:
        return [self._log(cluster, tp) for tp in self.partitions]

    def _has_caught_up(self, tp: TopicPartition) -> bool:
        """Return whether a has all records of b, up to the epoch in which b accepted writes."""
        leader, source_leader = self.a.leader(tp), self.b.leader(tp)
        return (
            leader is not None
            and source_leader is not None
            and leader.log.high_watermark == source_leader.log.last_stable_offset
            and leader.log.latest_epoch == source_leader.log.latest_epoch
        )

    def _wait_for_full_isrs(self, *clusters: Cluster) -> None:
        self._wait(lambda: all(cluster.is_settled() for cluster in clusters), "full ISRs")

    def _wait(self, condition: Callable[[], bool], description: str) -> None:
        self.simulation.run_until(condition, within_s=TIMEOUT_SECONDS, what=description)


def run(options: ExperimentOptions) -> Outcome:
    """Return the outcome of the run with these options; the same options give the same digest.

    Raises UsageError for invalid options.
    """
    problem = options.problem()
    if problem is not None:
        raise UsageError(problem)
    return Experiment(options).run()
