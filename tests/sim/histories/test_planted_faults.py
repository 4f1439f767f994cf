"""Each planted fault is found by the checkers made for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from kmirror.histories.checkers import CHECKERS
from kmirror.histories.monitors.table import RULES
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step
from kmirror.histories.run import run_history
from kmirror.histories.verdict import Outcome
from tests.sim.histories import (
    follower_plans,
    group_plans,
    node_plans,
    planted_descriptions,
    planted_disks,
    planted_followers,
    planted_groups,
    planted_invariants,
    planted_keys,
    planted_nodes,
    planted_syncs,
    planted_topologies,
    planted_transactions,
    transaction_plans,
)
from tests.sim.histories import planted as plants
from tests.sim.histories.planted import FAULTS, Fault, planted


def by_hand(steps: Iterable[Step], clients: Iterable[ClientPlan], *, clusters: str = "a", brokers: int = 2) -> Plan:
    """One topic `t0` with one partition, initially in cluster a."""
    configs = {
        "min.insync.replicas": "1",
        "broker.heartbeat.interval.ms": "300",
        "broker.session.timeout.ms": "1500",
        "replica.lag.time.max.ms": "1500",
    }
    return Plan(
        seed=0,
        profile="by hand",
        clusters=tuple(ClusterPlan(name, brokers, brokers, configs) for name in clusters),
        network={},
        clients=tuple(clients),
        steps=tuple(steps),
        faults_end_ms=12_000,
        converge_ms=20_000,
        topics={"t0": "1@a"},
    )


def client(name: str, kind: str, cluster: str = "a") -> ClientPlan:
    return ClientPlan(name, kind, cluster, ("t0",), 100)


BROKER_2_AWAY = Step(500, "kill_broker", {"cluster": "a", "broker": 2, "for_ms": 4_000})
BROKER_2_FAR = Step(4_000, "line_slow", {"one": "a-1", "other": "a-2", "ms": 800, "for_ms": 3_000})


def late_joiner() -> Plan:
    """Broker 2 returns over a slow line; broker 1 dies before broker 2 has caught up."""
    dies = Step(LATE_MS, "kill_broker", {"cluster": "a", "broker": 1, "for_ms": 4_000})
    return by_hand((BROKER_2_AWAY, BROKER_2_FAR, dies), [client("p0", "plain")])


def read_while_late() -> Plan:
    """Broker 2 returns over a slow line, while a consumer reads from broker 1."""
    return by_hand((BROKER_2_AWAY, BROKER_2_FAR), [client("p0", "plain"), client("c0", "read_uncommitted")])


def late_answer() -> Plan:
    """The brokers lose their connection for longer than a producer waits for a response."""
    apart = Step(1_000, "line_down", {"one": "a-1", "other": "a-2", "for_ms": 4_000})
    return by_hand((apart,), [client("p0", "idempotent")])


def power_lost() -> Plan:
    """Each broker in turn loses power, with a slow line between them, so that each has records that the other lacks."""
    steps = [Step(500, "line_slow", {"one": "a-1", "other": "a-2", "ms": 400, "for_ms": 9_000})]
    steps += [
        Step(at, "lose_power", {"cluster": "a", "broker": broker, "for_ms": 300})
        for at, broker in ((2_000, 1), (2_100, 2), (7_000, 1), (7_100, 2))
    ]
    return by_hand(steps, [client("p0", "plain"), client("p1", "plain")])


def each_other() -> Plan:
    """Cluster b has mirrored a; then each is ordered to mirror the other, and b is unreachable for a moment."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    back = {"mirror": "m", "source": "b", "destination": "a", "topics": "t0"}
    return by_hand(
        (
            Step(100, "create_mirror", there),
            Step(150, "create_mirror", back),
            Step(200, "add", there),
            Step(4_000, "remove", there),
            Step(5_900, "line_slow", {"one": "a", "other": "b", "ms": 400, "for_ms": 6_000}),
            Step(6_000, "add", there),
            Step(6_050, "add", back),
            Step(6_600, "kill_broker", {"cluster": "b", "broker": 1, "for_ms": 1_000}),
        ),
        [client("p0", "plain")],
        clusters="ab",
        brokers=1,
    )


def each_other_again() -> Plan:
    """The same with other random numbers."""
    plan = each_other()
    return replace(plan, seed=plan.seed + 12)


def stop_among_long_ones() -> Plan:
    """Cluster b mirrors long transactions that overlap, and stops during them."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    steps = Step(100, "create_mirror", there), Step(200, "add", there), Step(STOP_MS, "remove", there)
    return by_hand(steps, [client(f"p{number}", "long") for number in range(5)], clusters="ab", brokers=1)


def orders_while_away() -> Plan:
    """Cluster a writes; its topic is added to a mirror and removed again while the source is unreachable."""
    order = {"mirror": "m", "source": "b", "destination": "a", "topics": "t0"}
    away = Step(800, "line_down", {"one": "a", "other": "b", "for_ms": 5_000})
    steps = Step(300, "create_mirror", order), away, Step(1_500, "add", order), Step(2_500, "remove", order)
    return by_hand(steps, [client("p0", "long"), client("p1", "plain")], clusters="ab", brokers=1)


def mirror_of_a_failback() -> Plan:
    """Cluster c mirrors a; while c is disconnected, a fails back from b, in an epoch that it had used itself."""
    there, again, back = (
        {"mirror": "m", "source": source, "destination": destination, "topics": "t0"}
        for source, destination in ("ab", "ac", "ba")
    )
    return by_hand(
        (
            *(Step(100 + n, "create_mirror", order) for n, order in enumerate((there, again, back))),
            Step(300, "add", there),
            Step(2_000, "remove", there),
            Step(2_500, "kill_broker", {"cluster": "a", "broker": 1, "for_ms": 1_000}),
            Step(3_500, "add", again),
            Step(6_500, "line_down", {"one": "a", "other": "c", "for_ms": 4_000}),
            Step(6_700, "add", back),
        ),
        [client("p0", "plain"), client("p1", "plain", "b")],
        clusters="abc",
    )


def paused_for_a_while() -> Plan:
    """Cluster b mirrors a, and its topic is paused for a while."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    steps = Step(100, "create_mirror", there), Step(200, "add", there), Step(4_000, "pause", there)
    return by_hand((*steps, Step(8_000, "resume", there)), [client("p0", "plain")], clusters="ab", brokers=1)


OFTEN = Step(50, "alter_cluster", {"cluster": "b", "name": "mirror.metadata.refresh.interval.ms", "value": "1000"})
"""Cluster b refreshes its sources' metadata every second."""


def grown_and_altered() -> Plan:
    """Cluster b mirrors a; the source's topic gets more partitions and another config."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    at = {"cluster": "a", "topic": "t0"}
    steps = (
        Step(100, "create_mirror", there),
        Step(200, "add", there),
        Step(4_000, "grow_topic", {**at, "partitions": 3}),
    )
    altered = (
        Step(2_000, "alter_topic", {**at, "name": "retention.ms", "value": "3600000"}),
        Step(6_000, "alter_topic", {**at, "name": "max.message.bytes", "value": "1050000"}),
        Step(6_100, "reset_topic", {**at, "name": "retention.ms"}),
    )
    every = sorted((OFTEN, *steps, *altered), key=lambda step: step.at_ms)
    return by_hand(every, [client("p0", "plain")], clusters="ab", brokers=1)


def filters_altered() -> Plan:
    """Cluster b mirrors a; later a config is excluded, and a group is included."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    filters = {"mirror": "m", "destination": "b", "name": "mirror.groups.include"}
    steps = (
        OFTEN,
        Step(100, "create_mirror", there),
        Step(150, "alter_mirror", {**filters, "value": "nobody"}),
        Step(200, "add", there),
        Step(7_000, "alter_mirror", {**filters, "value": "g"}),
    )
    reader = replace(client("c0", "read_committed"), options={"group": "g"})
    return by_hand(steps, [client("p0", "plain"), reader], clusters="ab", brokers=1)


def kept_for_seconds(cluster: str) -> Plan:
    """Cluster b mirrors a; in one of the two the topic's records are deleted by age."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    at = {"cluster": cluster, "topic": "t0"}
    excluded = {"name": "mirror.topic.properties.exclude", "value": "retention.ms,segment.ms"}
    steps = (
        OFTEN,
        Step(100, "create_mirror", there),
        Step(150, "alter_mirror", {"mirror": "m", "destination": "b", **excluded}),
        Step(200, "add", there),
        Step(1_500, "alter_topic", {**at, "name": "segment.ms", "value": "1000"}),
        Step(1_600, "alter_topic", {**at, "name": "retention.ms", "value": "3000"}),
        Step(9_000, "pause", there),
        Step(9_100, "resume", there),
    )
    plan = by_hand(steps, [client("p0", "plain")], clusters="ab", brokers=1)
    often = {"log.initial.task.delay.ms": "1000", "log.retention.check.interval.ms": "1000"}
    return replace(plan, clusters=tuple(replace(row, configs={**row.configs, **often}) for row in plan.clusters))


def kept_for_seconds_at_the_source() -> Plan:
    """Cluster a deletes records by age, and b, which would keep them, follows a's log start."""
    return kept_for_seconds("a")


def kept_for_seconds_at_the_destination() -> Plan:
    """Cluster b is configured to delete records by age, and does not while it mirrors."""
    return kept_for_seconds("b")


def kept_for_seconds_in_short_segments() -> Plan:
    """Like `kept_for_seconds_at_the_source`, and b rolls its segments every second, despite the topic's configs."""
    plan = kept_for_seconds("a")
    return replace(
        plan, clusters=tuple(replace(row, configs={**row.configs, "log.roll.ms": "1000"}) for row in plan.clusters)
    )


def kept_for_seconds_after_the_stop() -> Plan:
    """Like `kept_for_seconds_at_the_destination`, but b's mirror stops, and its own retention applies from then on."""
    plan = kept_for_seconds("b")
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    return replace(plan, steps=(*plan.steps[:-2], Step(6_000, "remove", there)))


def deleted_records_of_followers() -> Plan:
    """Cluster b mirrors a, with two replicas each; records are deleted at a."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    gone = {"cluster": "a", "topic": "t0", "partition": 0, "offset": 10}
    steps = Step(100, "create_mirror", there), Step(200, "add", there), Step(4_000, "delete_records", gone)
    return by_hand(steps, [client("p0", "plain")], clusters="ab")


def described_late() -> Plan:
    """Cluster b mirrors a for twelve seconds before the first observation."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    steps = Step(100, "create_mirror", there), Step(200, "add", there), Step(14_000, "remove", there)
    plan = by_hand(steps, [client("p0", "plain")], clusters="ab", brokers=1)
    return replace(plan, faults_end_ms=15_000)


def source_out_of_reach() -> Plan:
    """Like `described_late`, but b cannot reach a from the second second on."""
    plan = described_late()
    apart = Step(2_000, "line_down", {"one": "a", "other": "b", "for_ms": 12_500})
    return replace(plan, steps=(*plan.steps[:2], apart, *plan.steps[2:]))


def deleted_at_the_source() -> Plan:
    """Cluster b mirrors a, until a's topic is deleted."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    gone = Step(5_000, "delete_topic", {"cluster": "a", "topic": "t0"})
    steps = OFTEN, Step(100, "create_mirror", there), Step(200, "add", there), gone
    return by_hand(steps, [client("p0", "plain")], clusters="ab", brokers=1)


def created_anew_at_the_source() -> Plan:
    """Like `deleted_at_the_source`, but another topic of that name is created immediately."""
    plan = deleted_at_the_source()
    anew = Step(5_100, "create_topic", {"cluster": "a", "topic": "t0", "partitions": 1})
    return replace(plan, steps=(*plan.steps, anew))


def mirrored_again() -> Plan:
    """Cluster b's topic is deleted once its mirror has stopped, and mirrored again."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    steps = (
        OFTEN,
        Step(100, "create_mirror", there),
        Step(200, "add", there),
        Step(4_000, "remove", there),
        Step(6_000, "delete_topic", {"cluster": "b", "topic": "t0"}),
        Step(6_500, "add", there),
    )
    return by_hand(steps, [client("p0", "plain")], clusters="ab", brokers=1)


def mirror_of_a_deleted_mirror() -> Plan:
    """Like `mirror_of_a_failback`; but a fails over again, and its mirror of b is deleted, before c reaches a."""
    plan = mirror_of_a_failback()
    back = {"mirror": "m", "source": "b", "destination": "a", "topics": "t0"}
    steps = [
        replace(step, args={**step.args, "for_ms": 7_500}) if step.action == "line_down" else step
        for step in plan.steps
    ]
    steps += [Step(10_500, "remove", back), Step(12_500, "delete_mirror", {"mirror": "m", "destination": "a"})]
    return replace(plan, steps=tuple(steps), faults_end_ms=16_000)


def failback_to_a_far_replica() -> Plan:
    """Both clusters write in epoch 1; a fails back, and its leader dies before its other, far replica has truncated."""
    there, back = (
        {"mirror": "m", "source": source, "destination": destination, "topics": "t0"}
        for source, destination in ("ab", "ba")
    )
    return by_hand(
        (
            *(Step(100 + n, "create_mirror", order) for n, order in enumerate((there, back))),
            Step(300, "add", there),
            Step(2_000, "line_down", {"one": "a", "other": "b", "for_ms": 3_000}),
            Step(2_200, "kill_broker", {"cluster": "a", "broker": 1, "for_ms": 800}),
            Step(2_500, "remove", there),
            Step(5_200, "line_slow", {"one": "a-1", "other": "a-2", "ms": 800, "for_ms": 4_000}),
            Step(5_300, "add", back),
            Step(6_000, "kill_broker", {"cluster": "a", "broker": 2, "for_ms": 3_000}),
        ),
        [client("p0", "plain"), client("p1", "plain", "b")],
        clusters="ab",
    )


def keys_and_tombstones() -> Plan:
    """A topic of cluster a is compacted; one client writes to few of its keys and leaves, another one continues."""
    configs = {
        "min.cleanable.dirty.ratio": "0.01",
        "segment.ms": "300",
        "delete.retention.ms": "500",
        "cleanup.policy": "compact",
    }
    at = {"cluster": "a", "topic": "t0"}
    steps = [Step(0, "alter_topic", {**at, "name": name, "value": value}) for name, value in configs.items()]
    keyed = replace(client("p0", "idempotent"), pause_ms=150, options={"keys": 4, "tombstones": 50})
    leaves = Step(5_000, "turn", {"clients": "p0", "cluster": "b"})
    plan = by_hand((*steps, leaves), [keyed, client("p1", "plain")], clusters="ab")
    often = {"log.cleaner.backoff.ms": "400"}
    return replace(plan, clusters=tuple(replace(row, configs={**row.configs, **often}) for row in plan.clusters))


def keys_in_a_mirror() -> Plan:
    """The same, and cluster b mirrors the topic for longer than one run of the cleaner."""
    plan = keys_and_tombstones()
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    steps = Step(100, "create_mirror", there), Step(200, "add", there), *plan.steps
    return replace(plan, steps=tuple(sorted(steps, key=lambda step: step.at_ms)), faults_end_ms=15_000)


def keys_in_a_mirror_that_lags() -> Plan:
    """The same, but the line is down for some seconds, which is shorter than the retention of tombstones."""
    plan = keys_in_a_mirror()
    steps = [
        replace(step, args={**step.args, "value": "60000"}) if step.args.get("name") == "delete.retention.ms" else step
        for step in plan.steps
    ]
    apart = Step(2_500, "line_down", {"one": "a", "other": "b", "for_ms": 4_000})
    return replace(plan, steps=tuple(sorted([*steps, apart], key=lambda step: step.at_ms)))


def deposed_and_does_not_know() -> Plan:
    """Cluster b mirrors a; its leader cannot reach its controller, and the next leader stops."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    steps = (
        Step(100, "create_mirror", there),
        Step(200, "add", there),
        Step(1_000, "kill_broker", {"cluster": "b", "broker": 1, "for_ms": 3_500}),
        Step(6_000, "line_down", {"one": "b-2", "other": "b-100", "for_ms": 9_000}),
        *(Step(at, "remove", there) for at in (9_000, 11_000, 13_000)),  # All logs are observed before each.
    )
    plan = replace(by_hand(steps, [client("p0", "plain")], clusters="ab"), faults_end_ms=17_000)
    soon = {"broker.session.timeout.ms": "1500", "broker.heartbeat.interval.ms": "300"}
    return replace(plan, clusters=tuple(replace(row, configs={**row.configs, **soon}) for row in plan.clusters))


def source_leader_deposed() -> Plan:
    """Cluster b mirrors a, and reaches only the broker of a that was deposed and does not know it."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    apart = [{"one": "a-1", "other": other, "for_ms": 15_000} for other in ("a-2", "a-100")]
    apart += [{"one": "a-2", "other": other, "for_ms": 15_000} for other in ("b-1", "b-2")]
    steps = (
        OFTEN,
        Step(100, "create_mirror", there),
        Step(200, "add", there),
        *(Step(2_000, "line_down", args) for args in apart),
        Step(16_000, "remove", there),  # All logs are observed before it.
    )
    return replace(by_hand(steps, [client("p0", "plain")], clusters="ab"), faults_end_ms=18_000)


def killed_in_the_end(way: str = "kill") -> Plan:
    """Cluster b mirrors a, and stops; a group commits at a. Then every node dies, and is restarted."""
    there = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    steps = Step(100, "create_mirror", there), Step(200, "add", there), Step(3_000, "remove", there)
    reader = replace(client("c0", "read_committed"), options={"group": "g"})
    plan = by_hand(steps, [client("p0", "plain"), client("p1", "short"), reader], clusters="ab", brokers=1)
    nodes = [f"{name}-{node}" for name in "ab" for node in (1, 100)]
    return replace(plan, faults_end_ms=5_000, restart=dict.fromkeys(nodes, way))


LATE_MS = 5_600
STOP_MS = 9_000
PLANS: dict[str, Callable[[], Plan]] = (
    {
        plan.__name__: plan
        for plan in (
            late_joiner,
            read_while_late,
            late_answer,
            power_lost,
            each_other,
            each_other_again,
            mirror_of_a_failback,
            mirror_of_a_deleted_mirror,
            paused_for_a_while,
            grown_and_altered,
            filters_altered,
            kept_for_seconds_at_the_source,
            kept_for_seconds_at_the_destination,
            kept_for_seconds_in_short_segments,
            kept_for_seconds_after_the_stop,
            described_late,
            source_out_of_reach,
            deleted_records_of_followers,
            deleted_at_the_source,
            created_anew_at_the_source,
            mirrored_again,
            failback_to_a_far_replica,
            stop_among_long_ones,
            orders_while_away,
            keys_and_tombstones,
            keys_in_a_mirror,
            keys_in_a_mirror_that_lags,
            deposed_and_does_not_know,
            source_leader_deposed,
            killed_in_the_end,
        )
    }
    | group_plans.PLANS
    | follower_plans.PLANS
    | node_plans.PLANS
    | transaction_plans.PLANS
)


QUICK = "smoke", *PLANS


KEPT = Path(__file__).parents[2] / "data" / "histories" / "planted.jsonl"
DRAWN = {(plan.profile, plan.seed): plan for plan in map(Plan.from_json, KEPT.read_text().splitlines())}
"""Histories as drawn when a fault was first found in them; a seed draws another one when profiles change."""


def run(profile: str, seed: int) -> Outcome:
    plan = PLANS.get(profile)
    return run_history(DRAWN[profile, seed] if plan is None else plan())


def checkers_of(outcome: Outcome) -> set[str]:
    """Return the names of checkers, and of rules in place of broken-invariant."""
    return {anomaly.rule or anomaly.checker for anomaly in outcome.anomalies}


@cache
def found_without_faults(profile: str, seed: int) -> set[str]:
    return checkers_of(run(profile, seed))


EACH_FAULT = pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)


@EACH_FAULT
def test_a_planted_fault_is_found(fault: Fault) -> None:
    with planted(fault.name):
        outcome = run(fault.profile, fault.seed)
    assert not outcome.account.crash
    assert checkers_of(outcome) & set(fault.checkers), checkers_of(outcome)


@EACH_FAULT
def test_without_the_fault_its_checker_is_silent(fault: Fault) -> None:
    assert not found_without_faults(fault.profile, fault.seed) & set(fault.checkers)


def test_every_fault_is_planted_and_described() -> None:
    modules = (
        plants,
        planted_descriptions,
        planted_disks,
        planted_followers,
        planted_groups,
        planted_invariants,
        planted_keys,
        planted_nodes,
        planted_syncs,
        planted_topologies,
        planted_transactions,
    )
    named = [row for module in modules for row in vars(module).items()]
    written = [name for name, plant in named if not name.startswith("_") and is_plant(plant)]
    assert written == list(FAULTS)
    assert len(FAULTS) >= 20
    assert all(fault.doc.endswith(".") or fault.doc.endswith(").") for fault in FAULTS.values())
    assert 2 * sum(fault.profile in QUICK for fault in FAULTS.values()) > len(FAULTS)


def is_plant(plant: object) -> bool:
    return getattr(plant, "__annotations__", None) == {"patch": "Patch", "return": "None"}


def test_every_checker_has_a_fault_that_only_it_finds() -> None:
    judges = {fault.checkers[0] for fault in FAULTS.values() if len(fault.checkers) == 1}
    assert [name for name in CHECKERS if name not in judges and name != "broken-invariant"] == []
    assert [name for fault in FAULTS.values() for name in fault.checkers if name not in {*CHECKERS, *RULES}] == []
