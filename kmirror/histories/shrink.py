"""Shrinking of a failed plan: steps, clients, clusters, topics and times are removed while it still fails.

Rule 1: "it fails" means the same finding: the same exit code, and the same checker on the same cluster and on a
partition of the same kind; for a crash the same exception from the same function.
Rule 2: the number of runs is bounded, never the time: the same failure shrinks to the same plan everywhere.
Rule 3: `Shrinker.best` fails at every moment, so an interrupt still leaves the best plan found so far.

Chunks come first, then single items (delta debugging), until a whole round removes nothing: each remaining item is
needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from kmirror.errors import KmirrorError
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step, Value
from kmirror.histories.summary import CRASH
from kmirror.histories.verdict import Anomaly, Exit, Outcome
from kmirror.kernel.clock import MILLISECOND

RUNS_MAX = 300
GAP_MIN_MS = 50
CALM = ("loss_ppm", "reorder_ppm", "bytes_per_second")
"""Fields of NetworkOptions for which 0 is simplest."""
PACE = ("mirror.metadata.refresh.interval.ms",)
"""Configs that stay: with their defaults, mirrors would need longer than `converge_ms` to settle."""
LIVENESS = "stuck-state"
LASTS = "for_ms"
"""Argument of a step for the duration of its fault."""
# Separators between names in an argument such as `t1,t2`, `2@a` or `a>b`.
_BETWEEN = re.compile(r"[\s,|<>@:=;]+")

Run = Callable[[Plan], Outcome]
OnProgress = Callable[[int, Plan], None]
"""Called after each run with the number of runs so far and the smallest plan that fails."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Target:
    """The failure that a smaller plan must reproduce."""

    exit: Exit
    checker: str
    cluster: str
    kind: str
    """For broken-invariant the rule; for other checkers `none`, `internal` or `user`, by the partition; for a crash the
    exception and the function that raised it.
    """

    @classmethod
    def of(cls, outcome: Outcome) -> Target:
        """Return the target of a failed outcome: its crash, else its first anomaly, safety before liveness."""
        if outcome.exit is Exit.CRASH:
            return cls(outcome.exit, CRASH, "", _raised(outcome.account.crash))
        anomaly = first_anomaly(outcome)
        assert anomaly is not None, "only a failed history can be shrunk"
        return cls(outcome.exit, anomaly.checker, anomaly.cluster, _kind(anomaly))

    def is_hit(self, outcome: Outcome) -> bool:
        """Return whether this outcome fails in the same way."""
        if outcome.exit is not self.exit:
            return False
        if self.checker == CRASH:
            return _raised(outcome.account.crash) == self.kind
        return self.find(outcome) is not None

    def find(self, outcome: Outcome) -> Anomaly | None:
        """Return the anomaly of this target, if the outcome has it."""
        finding = (self.checker, self.cluster, self.kind)
        return next((row for row in outcome.anomalies if (row.checker, row.cluster, _kind(row)) == finding), None)


def first_anomaly(outcome: Outcome) -> Anomaly | None:
    """Return the anomaly to report first: safety before liveness, in the order of the checkers."""
    return min(outcome.anomalies, key=lambda row: row.checker == LIVENESS, default=None)


def _kind(anomaly: Anomaly) -> str:
    if anomaly.rule:
        return anomaly.rule
    if anomaly.tp is None:
        return "none"
    return "internal" if anomaly.tp.topic.startswith("__") else "user"


def _raised(trace: str) -> str:
    """Return the exception's type and the innermost function of a traceback."""
    lines = trace.strip().splitlines()
    inner = [line.rpartition(" in ")[2] for line in lines if line.startswith("  File ")]
    last = next((line for line in reversed(lines) if line and not line.startswith(" ")), "")
    return f"{last.partition(':')[0]} in {inner[-1] if inner else '?'}"


class Shrinker:
    """Makes a failed plan smaller; `best` is the outcome of the smallest plan so far."""

    def __init__(
        self, outcome: Outcome, run: Run, *, runs_max: int = RUNS_MAX, on_progress: OnProgress | None = None
    ) -> None:
        self.target = Target.of(outcome)
        self.best = outcome
        self.runs = 0
        self._run = run
        self._runs_max = runs_max
        self._on_progress = on_progress
        self._tried = {outcome.plan.to_json()}

    @property
    def limit_reached(self) -> bool:
        """Return whether the limit of runs was reached, so that a smaller plan might still fail."""
        return self.runs >= self._runs_max

    def shrink(self) -> Outcome:
        """Return the outcome of the smallest plan found that still fails."""
        self._try(_without_later_steps(self.best))
        while True:
            before = self.best.plan
            self._drop(lambda plan: plan.steps, lambda plan, steps: replace(plan, steps=steps))
            self._try_each(_without_pair)
            self._drop(lambda plan: plan.clients, lambda plan, clients: replace(plan, clients=clients))
            for candidates in (
                _fewer_clusters,
                _fewer_topics,
                _fewer_partitions,
                _fewer_brokers,
                _with_fewer_options,
                _with_calmer_network,
            ):
                self._try_each(candidates)
            self._shorten()
            if self.best.plan == before or self.limit_reached:
                return self.best

    def _try(self, plan: Plan | None) -> bool:
        """Run a candidate; if it fails in the same way, keep it as the best."""
        if plan is None or self.limit_reached:
            return False
        text = plan.to_json()
        if text in self._tried:
            return False
        self._tried.add(text)
        self.runs += 1
        try:
            outcome = self._run(plan)
        except (KmirrorError, LookupError, ValueError, AssertionError):
            return False  # An invalid plan, such as one with a step on a removed broker.
        if is_hit := self.target.is_hit(outcome):
            self.best = outcome
        if self._on_progress is not None:
            self._on_progress(self.runs, self.best.plan)
        return is_hit

    def _drop(
        self, get_items: Callable[[Plan], tuple[T, ...]], set_items: Callable[[Plan, tuple[T, ...]], Plan]
    ) -> None:
        """Remove all items, then halves, quarters, ..., single ones."""
        size = len(get_items(self.best.plan))
        while size:
            start = 0
            while start < len(get_items(self.best.plan)):
                items = get_items(self.best.plan)
                if not self._try(set_items(self.best.plan, items[:start] + items[start + size :])):
                    start += size
            size //= 2

    def _try_each(self, candidates: Callable[[Plan], Iterator[Plan]]) -> None:
        """Try candidates until none made from the best plan fails."""
        while any(self._try(plan) for plan in candidates(self.best.plan)):
            pass

    def _shorten(self) -> None:
        """Halve the pauses before and after steps while the plan still fails.

        The time to converge stays: with less of it every history would be stuck.
        """
        while self._try(_halve_gaps(self.best.plan)):
            pass
        while self._try(_halve_faults(self.best.plan)):
            pass
        self._try_each(_with_shorter_fault)


def shrink(outcome: Outcome, run: Run, *, runs_max: int = RUNS_MAX, on_progress: OnProgress | None = None) -> Outcome:
    """Return the outcome of the smallest plan found, in at most `runs_max` runs, that fails like `outcome`."""
    return Shrinker(outcome, run, runs_max=runs_max, on_progress=on_progress).shrink()


def _without_later_steps(outcome: Outcome) -> Plan | None:
    """Return the plan without the steps after the anomaly was seen."""
    anomaly = first_anomaly(outcome)
    if anomaly is None or anomaly.at < 0:
        return None
    steps = tuple(step for step in outcome.plan.steps if step.at_ms * MILLISECOND <= anomaly.at)
    return replace(outcome.plan, steps=steps)


def _without_pair(plan: Plan) -> Iterator[Plan]:
    """Yield plans without two steps with the same arguments, such as a removal and its reversal."""
    for first, one in enumerate(plan.steps):
        for second in range(first + 1, len(plan.steps)):
            if one.args and one.args == plan.steps[second].args:
                rest = (*plan.steps[:first], *plan.steps[first + 1 : second], *plan.steps[second + 1 :])
                yield replace(plan, steps=rest)


def _fewer_clusters(plan: Plan) -> Iterator[Plan]:
    for cluster in plan.clusters if len(plan.clusters) > 1 else ():
        name = cluster.name
        yield replace(
            plan,
            clusters=tuple(row for row in plan.clusters if row.name != name),
            clients=tuple(row for row in plan.clients if row.cluster != name),
            steps=tuple(step for step in plan.steps if not _names_cluster(step.args, name)),
            topics={topic: settings for topic, settings in plan.topics.items() if name not in _BETWEEN.split(settings)},
        )


def _names_cluster(args: Mapping[str, Value], name: str) -> bool:
    parts = [part for value in args.values() if isinstance(value, str) for part in _BETWEEN.split(value)]
    return any(re.fullmatch(rf"{re.escape(name)}(-\d+)?", part) for part in parts)


def _fewer_topics(plan: Plan) -> Iterator[Plan]:
    """Yield plans without one topic; clients keep their other topics, and those without any are removed."""
    named = dict.fromkeys([*plan.topics, *(topic for client in plan.clients for topic in client.topics)])
    for topic in named if len(named) > 1 else ():
        clients = [
            replace(client, topics=tuple(name for name in client.topics if name != topic)) for client in plan.clients
        ]
        steps = [_without_topic(step, topic) for step in plan.steps]
        yield replace(
            plan,
            clients=tuple(client for client in clients if client.topics),
            steps=tuple(step for step in steps if step is not None),
            topics={name: settings for name, settings in plan.topics.items() if name != topic},
        )


def _without_topic(step: Step, topic: str) -> Step | None:
    args: dict[str, Value] = {}
    for key, value in step.args.items():
        parts = value.split(",") if isinstance(value, str) else []
        if topic not in parts:
            args[key] = value
        elif left := [part for part in parts if part != topic]:
            args[key] = ",".join(left)
        else:
            return None
    return replace(step, args=args)


def _fewer_partitions(plan: Plan) -> Iterator[Plan]:
    for topic, settings in plan.topics.items():
        count, separator, rest = settings.partition("@")
        for fewer in range(1, int(count) if count.isdecimal() else 0):
            yield replace(plan, topics={**plan.topics, topic: f"{fewer}{separator}{rest}"})


def _fewer_brokers(plan: Plan) -> Iterator[Plan]:
    for index, cluster in enumerate(plan.clusters):
        for brokers in range(1, cluster.brokers):
            factor = min(cluster.replication_factor, brokers)
            yield _with_cluster(plan, index, replace(cluster, brokers=brokers, replication_factor=factor))
        for factor in range(1, cluster.replication_factor):
            yield _with_cluster(plan, index, replace(cluster, replication_factor=factor))


def _with_fewer_options(plan: Plan) -> Iterator[Plan]:
    """Yield plans without configs, racks and eligible replicas of a cluster, and without options of a client."""
    for index, cluster in enumerate(plan.clusters):
        paced = {name: cluster.configs[name] for name in PACE if name in cluster.configs}
        for configs in _with_fewer({name: value for name, value in cluster.configs.items() if name not in paced}):
            yield _with_cluster(plan, index, replace(cluster, configs={**paced, **configs}))
        if cluster.racks:
            yield _with_cluster(plan, index, replace(cluster, racks=0))
        if cluster.eligible_version:
            yield _with_cluster(plan, index, replace(cluster, eligible_version=0))
    for index, client in enumerate(plan.clients):
        for options in _with_fewer(client.options):
            yield replace(plan, clients=_changed(plan.clients, index, replace(client, options=options)))


def _with_calmer_network(plan: Plan) -> Iterator[Plan]:
    unrest = {name: 0 for name in CALM if plan.network.get(name, 0)}
    if unrest:
        yield replace(plan, network={**plan.network, **unrest})
    for name in unrest if len(unrest) > 1 else ():
        yield replace(plan, network={**plan.network, name: 0})


def _with_fewer(settings: Mapping[str, T]) -> Iterator[dict[str, T]]:
    if settings:
        yield {}
    for name in settings if len(settings) > 1 else ():
        yield {key: value for key, value in settings.items() if key != name}


def _changed(rows: Sequence[ClientPlan], index: int, row: ClientPlan) -> tuple[ClientPlan, ...]:
    return (*rows[:index], row, *rows[index + 1 :])


def _with_cluster(plan: Plan, index: int, cluster: ClusterPlan) -> Plan:
    return replace(plan, clusters=(*plan.clusters[:index], cluster, *plan.clusters[index + 1 :]))


def _halve_gaps(plan: Plan) -> Plan | None:
    """Return the plan with half the pauses between steps; later times move forward with the last step."""
    times = [0, *(step.at_ms for step in plan.steps)]
    gaps = [late - early for early, late in pairwise(times)]
    if max(gaps, default=0) < 2 * GAP_MIN_MS:
        return None
    steps, at_ms = [], 0
    for step, gap in zip(plan.steps, gaps, strict=True):
        at_ms += gap if gap < 2 * GAP_MIN_MS else gap // 2
        steps.append(replace(step, at_ms=at_ms))
    earlier = times[-1] - at_ms
    last = max(step.at_ms for step in steps)
    return replace(plan, steps=tuple(steps), faults_end_ms=max(plan.faults_end_ms - earlier, last))


def _with_shorter_fault(plan: Plan) -> Iterator[Plan]:
    """Yield plans with half the duration of one fault."""
    for index, step in enumerate(plan.steps):
        lasts = step.args.get(LASTS, 0)
        if isinstance(lasts, int) and lasts >= 2 * GAP_MIN_MS:
            brief = replace(step, args={**step.args, LASTS: lasts // 2})
            yield replace(plan, steps=(*plan.steps[:index], brief, *plan.steps[index + 1 :]))


def _halve_faults(plan: Plan) -> Plan | None:
    """Return the plan with half the time between the last step and the end of faults."""
    last = max((step.at_ms for step in plan.steps), default=0)
    left = plan.faults_end_ms - last
    return None if left < 2 * GAP_MIN_MS else replace(plan, faults_end_ms=last + left // 2)
