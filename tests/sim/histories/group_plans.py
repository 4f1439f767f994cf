"""Plans with groups for planted_groups.py: one topic of two partitions that members read or transform."""

from __future__ import annotations

from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan, Step

CONFIGS = {
    "min.insync.replicas": "1",
    "broker.heartbeat.interval.ms": "300",
    "broker.session.timeout.ms": "1500",
    "replica.lag.time.max.ms": "1500",
    "group.initial.rebalance.delay.ms": "100",
    "group.min.session.timeout.ms": "500",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
}


LIBRARY = (("p1", "library"), ("c0", "library_read"))


def _plan(*steps: Step, clients: list[ClientPlan], clusters: str = "a", brokers: int = 1) -> Plan:
    return Plan(
        seed=0,
        profile="by hand",
        clusters=tuple(ClusterPlan(name, brokers, brokers, CONFIGS) for name in clusters),
        network={},
        clients=(ClientPlan("p0", "plain", "a", ("t0",), 150), *clients),
        steps=steps,
        faults_end_ms=20_000,
        converge_ms=20_000,
        topics={"t0": "2@a", "o0": "1@a"},
    )


def _members(**options: str | int | bool) -> ClientPlan:
    return ClientPlan("g0", "members", "a", ("t0",), 200, {"group": "gm", "members": 3, "session_ms": 1_000, **options})


def _transform(**options: str | int | bool) -> ClientPlan:
    full = {
        "group": "gx",
        "members": 3,
        "session_ms": 1_000,
        "output": "o0",
        "transaction_version": 2,
        **options,
    }
    return ClientPlan("x0", "transform", "a", ("t0",), 200, full)


def members_come_and_go() -> Plan:
    """Three members read, and at times one is stopped for longer than its session."""
    return _plan(clients=[_members()])


def members_transform() -> Plan:
    """Three members transform, and at times one is stopped during a transaction."""
    return _plan(clients=[_transform()])


def members_mix_commits() -> Plan:
    """Besides three members, another client commits for one partition both in transactions and outside of them."""
    return _plan(clients=[_members(both_ways=True)])


def library_misses_answers() -> Plan:
    """A producer and a consumer of `kmirror.client`, which lose the connection to the broker for moments."""
    lossy_clients = [ClientPlan(name, kind, "a", ("t0",), 150, {"outages": True}) for name, kind in LIBRARY]
    return _plan(clients=lossy_clients)


def coordinators_die() -> Plan:
    """Members commit at a coordinator that dies, while its followers are far away."""
    slow_line = {"one": "a-1", "other": "a-2", "ms": 300, "for_ms": 18_000}
    kills = [
        Step(at, "kill_broker", {"cluster": "a", "broker": broker, "for_ms": 3_000})
        for at, broker in ((4_000, 1), (9_000, 2), (14_000, 1))
    ]
    return _plan(Step(100, "line_slow", slow_line), *kills, clients=[_members()], brokers=2)


def groups_are_mirrored() -> Plan:
    """Cluster b mirrors the topic, and the offsets of its readers in a."""
    forward = {"mirror": "m", "source": "a", "destination": "b", "topics": "t0"}
    frequent_refresh = {"cluster": "b", "name": "mirror.metadata.refresh.interval.ms", "value": "1000"}
    steps = Step(50, "alter_cluster", frequent_refresh), Step(100, "create_mirror", forward), Step(200, "add", forward)
    return _plan(*steps, clients=[_members()], clusters="ab")


PLANS = {
    plan.__name__: plan
    for plan in (
        members_come_and_go,
        members_transform,
        members_mix_commits,
        library_misses_answers,
        coordinators_die,
        groups_are_mirrored,
    )
}
