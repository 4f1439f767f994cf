"""Run of a plan by `run_history`, from the start of its clusters to the last observation.

    1  steps of the plan while clients write and read; no step waits for a result
    2  faults end; producers continue for a while, finish their work and stop; everything must settle
    3  everything is observed once more
    4  every node restarts, if the plan says so, and everything is compared with the state before

A failure inside the run never raises: an exception in a node is recorded in `Account.crash`.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial

from kmirror.errors import UsageError
from kmirror.histories.actions import ACTIONS
from kmirror.histories.convergence import ConvergenceCheck, expected_states
from kmirror.histories.coverage.watch import Watch
from kmirror.histories.draw import draw
from kmirror.histories.execution import ActionExecutor
from kmirror.histories.metadata_cache import MetadataCache
from kmirror.histories.observer import Observer
from kmirror.histories.orders import Operator
from kmirror.histories.plan import Plan
from kmirror.histories.plan_check import problem
from kmirror.histories.producing import Application
from kmirror.histories.restarting import Restart
from kmirror.histories.rings import RingWatch
from kmirror.histories.scene import Scene
from kmirror.histories.verdict import Outcome
from kmirror.histories.workloads import start
from kmirror.hooks.hooks import Hooks
from kmirror.kernel.arguments import instance
from kmirror.kernel.clock import MILLISECOND, SECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import counted
from kmirror.sim.cluster import Cluster
from kmirror.sim.network import NetworkOptions
from kmirror.sim.simulation import Simulation

AFTER_FAULTS_MS = 2_500
"""Time for which producers continue after the faults."""
CHECK_MS = 250
READ_AFTER_MS = 1_200
"""Time for which consumers continue to read once everything has settled."""


def run_history(plan: Plan | None = None, *, seed: int = 0, profile: str = "full", coverage: bool = False) -> Outcome:
    """Run a plan, or the one that `seed` gives in `profile`, and return the outcome with all findings.

    With `coverage` it also has the number of times each row of kmirror.histories.coverage was reached; the run is the
    same. Raise UsageError for a plan that cannot be carried out, and for a seed or a profile that does not exist.
    """
    from kmirror.histories.checkers import judge

    outcome = play(draw(seed, profile) if plan is None else plan, coverage=coverage)
    if not outcome.account.crash:
        outcome.anomalies, outcome.accepted = judge(outcome.account, outcome.plan)
    return outcome


def play(plan: Plan, *, coverage: bool = False) -> Outcome:
    """Run a plan without judging it; raise UsageError if it cannot be carried out."""
    wrong = problem(instance("a plan", plan, Plan, "Plan.from_json(text) reads one"))
    if wrong is not None:
        raise UsageError(wrong)
    scene = Scene(plan, Simulation(plan.seed, network=NetworkOptions(**plan.network)))
    world = scene.simulation.world
    watch = Watch(scene) if coverage else None
    try:
        _History(scene, watch).run()
    except Exception:  # Any exception of a node is a finding; so is a cluster that does not start.
        scene.account.crash = traceback.format_exc()
    for kind, subject in list(scene.open_spans):
        scene.end_span(kind, subject)
    return Outcome(
        plan,
        world.trace.digest(),
        account=scene.account,
        story=scene.story,
        virtual_seconds=scene.now / SECOND,
        events=world.events,
        coverage={} if watch is None else watch.reached(),
    )


class _History:
    def __init__(self, scene: Scene, watch: Watch | None) -> None:
        self._scene = scene
        self._watch = watch
        self._observer = Observer(scene)
        self._executor = ActionExecutor(scene, self._observer, ACTIONS, dict(enumerate(scene.plan.steps)))
        self._convergence = ConvergenceCheck(scene, self._observer)

    def run(self) -> None:
        """Run the plan to its end, let everything settle, and observe all logs once more."""
        self._begin()
        scene, plan = self._scene, self._scene.plan
        world = scene.simulation.world
        latest_ms = 0
        for number, step in enumerate(plan.steps):
            latest_ms = max(latest_ms, step.at_ms)
            scene.after_ms(latest_ms, lambda number=number: self._executor.run_step(number))  # type: ignore[misc]
        world.run_to(scene.began + max(plan.faults_end_ms, latest_ms) * MILLISECOND)
        self._executor.end_faults()
        self._observer.disks.observe()
        world.run_for(span_us=AFTER_FAULTS_MS * MILLISECOND)
        scene.writing = False
        self._settle_or_record()
        world.run_for(span_us=READ_AFTER_MS * MILLISECOND)
        self._settle_again()
        scene.reading = False
        self._observer.observe_end()
        if scene.plan.restart:
            Restart(scene, self._observer, self._missing).run()
        if self._watch is not None:
            self._watch.finish()

    def _begin(self) -> None:
        scene, plan = self._scene, self._scene.plan
        rings = None if plan.closes_rings else RingWatch(scene, self._observer)
        for row in plan.clusters:
            make_cluster: Callable[..., Cluster] = Cluster
            if row.release:
                hooks = Hooks()
                hooks.play(row.release)
                make_cluster = partial(Cluster, interpose=hooks)
            cluster = make_cluster(
                scene.simulation,
                row.name,
                brokers=row.brokers,
                replication_factor=row.replication_factor,
                configs=row.configs,
                mirror_version=row.mirror_version,
                transaction_version=row.transaction_version,
                eligible_version=row.eligible_version,
                log_dirs=row.log_dirs,
                racks={n: f"r{(n - 1) % row.racks + 1}" for n in range(1, row.brokers + 1)} if row.racks else None,
            )
            scene.clusters[row.name] = cluster
            cluster.start()
            scene.metadata_caches[row.name] = MetadataCache(cluster)
            operator = self._executor.operators[row.name] = Operator(scene, self._observer, row.name)
            if rings is not None:
                operator.refusal_reason = rings.refusal_reason
        for topic, text in plan.topics.items():
            count, _, name = text.partition("@")
            scene.clusters[name].create_topic(topic, int(count))
        scene.began = scene.simulation.world.now
        self._observer.attach()
        if self._watch is not None:
            self._watch.attach()
        for client in plan.clients:
            application = self._executor.applications[client.name] = Application(scene, client)
            start(application)

    def _settle_or_record(self) -> None:
        """Run until everything has settled, for at most `converge_ms`; then record everything that has not.

        If orders still wait then, they are dropped, and the time is granted once more.
        """
        scene = self._scene
        if self._settle():
            return
        late = [operator for operator in self._executor.operators.values() if operator.drop_waiting()]
        if late and self._settle():
            return
        scene.account.unsettled = self._missing(is_over=True)
        scene.note(f"time is up; not settled: {counted(len(scene.account.unsettled), 'partition')}")

    def _settle(self) -> bool:
        """Run until everything has settled; return whether it did within `converge_ms`."""
        scene, world = self._scene, self._scene.simulation.world
        until = world.now + scene.plan.converge_ms * MILLISECOND
        while world.now < until:
            world.run_for(span_us=CHECK_MS * MILLISECOND)
            self._observer.disks.observe()
            if self._is_idle() and not self._missing():
                scene.note("everything has settled")
                return True
        return False

    def _settle_again(self) -> None:
        """Run until everything has settled again, at most for the time that consumers continue to read.

        A transaction left open by an unclean election does not prevent settling. When it times out later, its records
        become visible to mirrors, and must not be missing there.
        """
        world = self._scene.simulation.world
        until = world.now + READ_AFTER_MS * MILLISECOND
        while world.now < until and self._missing():
            world.run_for(span_us=CHECK_MS * MILLISECOND)

    def _is_idle(self) -> bool:
        """Return whether every producer has stopped, and every order was answered or given up."""
        return self._scene.busy == 0 and all(operator.idle for operator in self._executor.operators.values())

    def _missing(self, *, is_over: bool = False) -> list[tuple[str, TopicPartition, str]]:
        """Return everything that has not settled."""
        self._observer.observe_topic_ids()
        return self._convergence.missing(expected_states(self._scene.plan, self._scene.account), is_over=is_over)
