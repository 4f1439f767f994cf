"""Hand-written plans for faults in decisions, responses and metrics of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step

CONFIGS = {
    "min.insync.replicas": "1",
    "broker.heartbeat.interval.ms": "300",
    "broker.session.timeout.ms": "4000",
    "mirror.metadata.refresh.interval.ms": "1000",
    "metadata.log.max.record.bytes.between.snapshots": "1000",
}
MIRROR = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
MIRROR_STEPS = Step(100, "create_mirror", MIRROR), Step(200, "add", MIRROR)


def node_plan(steps: Iterable[Step], *, brokers: int = 1, clusters: str = "ab", faults_end_ms: int = 8_000) -> Plan:
    """A producer writes one topic `t0` with three partitions, in cluster a."""
    return Plan(
        seed=0,
        profile="by hand",
        clusters=tuple(ClusterPlan(name, brokers, brokers, CONFIGS) for name in clusters),
        network={},
        clients=(ClientPlan("p0", "plain", "a", ("t0",), 100),),
        steps=tuple(steps),
        faults_end_ms=faults_end_ms,
        converge_ms=20_000,
        topics={"t0": "3@a"},
    )


def killed_at_the_source() -> Plan:
    """Broker 1 of three dies, and is restarted after its session has ended."""
    outage = Step(1_000, "kill_broker", {"cluster": "a", "broker": 1, "for_ms": 7_000})
    return node_plan([outage], brokers=3, clusters="a", faults_end_ms=10_000)


def stopped_behind_a_slow_line() -> Plan:
    """Broker 1 of three is stopped while broker 3 gets metadata late."""
    slow = Step(1_000, "line_slow", {"one": "a-3", "other": "a-100", "ms": 1_000, "for_ms": 6_000})
    stop = Step(3_000, "stop_broker", {"cluster": "a", "broker": 1, "for_ms": 4_000})
    return node_plan([slow, stop], brokers=3, clusters="a", faults_end_ms=10_000)


def read_again() -> Plan:
    """Cluster b mirrors a, and b's controller is restarted."""
    return node_plan([*MIRROR_STEPS, Step(4_000, "kill_controller", {"cluster": "b", "for_ms": 500})])


def mirrored() -> Plan:
    """Cluster b mirrors a."""
    return node_plan(MIRROR_STEPS)


def with_a_config() -> Plan:
    """Cluster b mirrors a for a long time; the topic has a config."""
    config = Step(50, "alter_topic", {"cluster": "a", "topic": "t0", "name": "retention.ms", "value": "3600000"})
    return node_plan([config, *MIRROR_STEPS], faults_end_ms=22_000)


def altered_and_removed() -> Plan:
    """One of two topics gets a config at a, and is removed from b's mirror; then the other one gets a config."""
    retention_at_a = {"cluster": "a", "name": "retention.ms", "value": "3600000"}
    steps = [
        Step(2_500, "add", {**MIRROR, "topics": "t1"}),
        Step(4_000, "alter_topic", {**retention_at_a, "topic": "t0"}),
        Step(7_000, "remove", MIRROR),
        Step(9_000, "alter_topic", {**retention_at_a, "topic": "t1"}),
    ]
    plan = node_plan([*MIRROR_STEPS, *steps], faults_end_ms=22_000)
    return replace(plan, topics={**plan.topics, "t1": "1@a"})


def added_out_of_reach() -> Plan:
    """The topic is added to b's mirror while a is unreachable, so b does not have it yet."""
    outage = Step(50, "line_down", {"one": "a", "other": "b", "for_ms": 7_000})
    return node_plan([outage, *MIRROR_STEPS])


def goes_out_of_reach() -> Plan:
    """Cluster a becomes unreachable for b after it is mirrored."""
    outage = Step(3_000, "line_down", {"one": "a", "other": "b", "for_ms": 9_000})
    plan = node_plan([*MIRROR_STEPS, outage], faults_end_ms=13_000)
    # Descriptions are checked once in many events: several producers make some while the source is unreachable.
    return replace(plan, clients=tuple(replace(plan.clients[0], name=f"p{number}") for number in range(4)))


def wanted_by_two() -> Plan:
    """The topic is added to a second mirror."""
    other = {**MIRROR, "mirror": "n"}
    return node_plan([*MIRROR_STEPS, Step(3_000, "create_mirror", other), Step(3_500, "add", other)])


def deleted_while_mirrored() -> Plan:
    """Cluster b mirrors a, until a's topic is deleted."""
    return node_plan([*MIRROR_STEPS, Step(5_000, "delete_topic", {"cluster": "a", "topic": "t0"})])


PLANS: dict[str, Callable[[], Plan]] = {
    plan.__name__: plan
    for plan in (
        killed_at_the_source,
        stopped_behind_a_slow_line,
        read_again,
        mirrored,
        with_a_config,
        altered_and_removed,
        added_out_of_reach,
        goes_out_of_reach,
        wanted_by_two,
        deleted_while_mirrored,
    )
}
