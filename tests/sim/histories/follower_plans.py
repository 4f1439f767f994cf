"""Hand-written plans in which consumers read from followers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from kmirror.histories.draw_racks import SELECTOR
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step, Value

CONFIGS = {
    **SELECTOR,
    "min.insync.replicas": "1",
    "broker.heartbeat.interval.ms": "300",
    "broker.session.timeout.ms": "1500",
    "replica.lag.time.max.ms": "3000",
    "request.timeout.ms": "2500",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.min.isr": "1",
}


def plan_with_racks(
    steps: Iterable[Step], clients: Iterable[ClientPlan], *, clusters: str = "a", brokers: int = 3
) -> Plan:
    """One topic `t0` with one partition, initially in cluster a; each broker is in its own rack."""
    return Plan(
        seed=0,
        profile="by hand",
        clusters=tuple(ClusterPlan(name, brokers, brokers, CONFIGS, racks=brokers) for name in clusters),
        network={},
        clients=tuple(clients),
        steps=tuple(steps),
        faults_end_ms=12_000,
        converge_ms=20_000,
        topics={"t0": "1@a"},
    )


def client(name: str, kind: str, cluster: str = "a", *, pause_ms: int = 100, **options: Value) -> ClientPlan:
    return ClientPlan(name, kind, cluster, ("t0",), pause_ms, options)


def readers(kind: str, *, cluster: str = "a") -> list[ClientPlan]:
    """Return a consumer in each rack."""
    return [client(f"c{number}", kind, cluster, rack=f"r{number}") for number in (1, 2, 3)]


def two_of_three_die() -> Plan:
    """Broker 3 follows over a slow line; the leader, broker 2, and broker 1 die before it has caught up."""
    steps = (
        Step(2_000, "line_slow", {"one": "a-2", "other": "a-3", "ms": 600, "for_ms": 6_000}),
        Step(4_500, "kill_broker", {"cluster": "a", "broker": 2, "for_ms": 4_000}),
        Step(4_500, "kill_broker", {"cluster": "a", "broker": 1, "for_ms": 4_000}),
    )
    writers = [client(f"p{number}", "plain") for number in range(6)]
    return plan_with_racks(steps, [*writers, *readers("read_committed"), client("c4", "library_read", rack="r1")])


def transactions_in_racks() -> Plan:
    """Transactions are committed, aborted and left to time out, while each rack reads."""
    writers = [client("p0", "plain"), client("p1", "short"), client("p2", "abandoned", timeout_ms=1_500)]
    idle_step = Step(6_000, "turn", {"clients": "p0", "cluster": "a"})
    return plan_with_racks((idle_step,), [*writers, *readers("library_read"), client("c4", "session_read", rack="r1")])


def failback_without_a_follower() -> Plan:
    """Cluster a fails back while its broker 3, from which a consumer reads slowly, reaches no other broker.

    The consumer names no leader epoch, so only broker 3 can know that its log will be truncated.
    """
    forward, reverse = (
        {"mirror": "m", "source": source, "destination": destination, "topics": "t0"}
        for source, destination in ("ab", "ba")
    )
    steps = (
        Step(100, "create_mirror", forward),
        Step(110, "create_mirror", reverse),
        Step(300, "add", forward),
        Step(2_000, "line_down", {"one": "a", "other": "b", "for_ms": 3_000}),
        Step(2_500, "remove", forward),
        Step(4_600, "turn", {"clients": "c3", "cluster": "a"}),
        Step(5_200, "line_down", {"one": "a-1", "other": "a-3", "for_ms": 9_000}),
        Step(5_200, "line_down", {"one": "a-2", "other": "a-3", "for_ms": 9_000}),
        Step(5_300, "add", reverse),
        Step(7_500, "add", reverse),  # Refused; all logs are observed before.
    )
    slow_reader = client("c3", "read_committed", "b", pause_ms=300, rack="r3", bytes_max=1, names_epochs=False)
    clients = [client("p0", "plain"), client("p1", "plain", "b"), slow_reader, client("c0", "read_committed")]
    plan = plan_with_racks(steps, clients, clusters="ab")
    short_lag = {"replica.lag.time.max.ms": "1500"}
    clusters = tuple(replace(row, configs={**row.configs, **short_lag}) for row in plan.clusters)
    return replace(plan, clusters=clusters, faults_end_ms=16_000)


PLANS: dict[str, Callable[[], Plan]] = {
    plan.__name__: plan for plan in (two_of_three_die, transactions_in_racks, failback_without_a_follower)
}
