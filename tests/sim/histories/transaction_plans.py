"""Plans with short and long transactions, and some that time out."""

from __future__ import annotations

from collections.abc import Callable

from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step

CONFIGS = {
    "min.insync.replicas": "1",
    "broker.heartbeat.interval.ms": "300",
    "broker.session.timeout.ms": "1500",
    "replica.lag.time.max.ms": "1500",
    "transaction.state.log.num.partitions": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
}


def transactions_that_time_out() -> Plan:
    """Cluster a writes transactions, and some are never ended; one of its brokers is down for a while."""
    kinds = {"p0": "abandoned", "p1": "overlapping", "p2": "short"}
    clients = [ClientPlan(name, kind, "a", ("t0",), 100, {"timeout_ms": 2_500}) for name, kind in kinds.items()]
    return Plan(
        seed=0,
        profile="by hand",
        clusters=(ClusterPlan("a", 2, 2, CONFIGS),),
        network={},
        clients=tuple(clients),
        steps=(Step(5_000, "kill_broker", {"cluster": "a", "broker": 2, "for_ms": 2_000}),),
        faults_end_ms=14_000,
        converge_ms=20_000,
        topics={"t0": "2@a"},
    )


PLANS: dict[str, Callable[[], Plan]] = {"transactions_that_time_out": transactions_that_time_out}
