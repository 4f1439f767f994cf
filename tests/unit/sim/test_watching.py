"""Events that a script can watch for, and actions at a time; watching changes nothing."""

from __future__ import annotations

import pytest

from kmirror.errors import UsageError
from kmirror.kernel.clock import SECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.states import MirrorState
from kmirror.records.codecs import Compression
from kmirror.sim.cluster import Cluster
from kmirror.sim.facts import (
    BrokerFenced,
    BrokerUnfenced,
    LeaderElected,
    LineDown,
    LineUp,
    LogCut,
    NodeKilled,
    NodeStarted,
    NodeStopped,
    PowerLost,
    Seen,
    StateEntered,
)
from kmirror.sim.simulation import Simulation
from kmirror.sim.workload import Load, LoadOptions
from tests.sim.stage import ONE_BROKER, TOPIC, TP, WrittenLogs, pair, plain

SOON = {"broker.session.timeout.ms": "1500", "broker.heartbeat.interval.ms": "300"}


def cluster(brokers: int = 3, **configs: str) -> Cluster:
    """Return a cluster of a new simulation, with one topic whose partition is led by broker 1."""
    made = Cluster(Simulation(5), "a", brokers=brokers, configs={**ONE_BROKER, **SOON, **configs})
    made.start()
    made.create_topic(TOPIC)
    return made


def rows_of(seen: list[Seen[object]]) -> list[tuple[str, object]]:
    return [(row.node, row.fact) for row in seen]


def test_nodes_and_lines_report_their_events_with_times() -> None:
    a = cluster()
    simulation, began = a.simulation, len(a.simulation.facts(object))
    start = simulation.elapsed_s
    simulation.at(start + 1, lambda: a.kill(2))
    simulation.at(start + 2, lambda: simulation.line("a-1", "a-3", one_way=True).take_down())
    simulation.at(start + 3, lambda: simulation.line("a-1", "a-3", one_way=True).bring_up())
    simulation.at(start + 4, lambda: a.restart(2))
    simulation.run_for(span_s=8)
    a.stop(2)
    kinds = (NodeKilled, NodeStarted, NodeStopped, LineDown, LineUp)
    seen = [row for row in simulation.facts(object)[began:] if isinstance(row.fact, kinds)]
    assert rows_of(seen) == [
        ("a-2", NodeKilled()),
        ("network", LineDown("a-1>a-3", (("a-1", "a-3"),))),
        ("network", LineUp("a-1>a-3", (("a-1", "a-3"),))),
        ("a-2", NodeStarted()),
        ("a-2", NodeStopped()),
    ]
    assert [row.at_us - round(start * SECOND) for row in seen[:4]] == [SECOND, 2 * SECOND, 3 * SECOND, 4 * SECOND]
    assert [row.cluster for row in seen] == ["a", "", "", "a", "a"]


def test_the_controller_reports_fencing_with_reasons_and_leaders() -> None:
    a = cluster()
    leader = a.leader(TP)
    assert leader is not None
    first = leader.broker_id
    a.kill(first)
    killed_at = a.simulation.elapsed_s
    a.simulation.run_until(lambda: a.leader(TP) is not None)
    [fenced] = a.simulation.facts(BrokerFenced)
    assert (fenced.node, fenced.fact) == ("a-controller", BrokerFenced(first, "its session has ended"))
    assert killed_at + 1.2 <= fenced.at_us / SECOND <= killed_at + 2.1, "a session of 1.5 s, looked at twice a second"
    elected = [seen.fact for seen in a.simulation.facts(LeaderElected) if seen.fact.tp == TP]
    second = a.leader(TP)
    assert second is not None
    isr = tuple(b for b in second.image.replicas if b != first)
    assert [(row.leader, row.leader_epoch, row.unclean) for row in elected] == [
        (first, 0, False),
        (second.broker_id, 1, False),
    ]
    assert elected[1].isr == isr
    a.restart(first)
    a.simulation.run_until(a.is_settled)
    assert a.simulation.facts(BrokerUnfenced)[-1].fact == BrokerUnfenced(first)
    a.stop(first)
    assert a.simulation.facts(BrokerFenced)[-1].fact == BrokerFenced(first, "it shuts down")


def test_a_leader_outside_the_isr_and_a_missing_leader_are_reported() -> None:
    a = cluster(2, **{"unclean.leader.election.enable": "true"})
    leader = a.leader(TP)
    assert leader is not None
    first, second = leader.broker_id, 3 - leader.broker_id
    a.kill(second)
    a.simulation.run_until(lambda: a.image.topics.partition(TP).isr == (first,))  # type: ignore[union-attr]
    a.kill(first)
    a.simulation.run_until(lambda: a.image.topics.partition(TP).leader == -1)  # type: ignore[union-attr]
    a.restart(second)
    a.simulation.run_until(lambda: a.leader(TP) is not None)
    last = [seen.fact for seen in a.simulation.facts(LeaderElected) if seen.fact.tp == TP][-2:]
    assert last == [LeaderElected(TP, -1, 1, ()), LeaderElected(TP, second, 2, (second,), unclean=True)]
    assert [str(row) for row in last] == [
        "orders-0 has no leader in epoch 1",
        f"orders-0 is led by {second} in epoch 2, uncleanly",
    ]


def test_watching_does_not_change_the_run() -> None:
    def digest(*, watched: bool) -> str:
        a = cluster()
        if watched:
            a.simulation.on(object, lambda seen: None)
            a.simulation.at(lambda: False, lambda: None)
            a.simulation.at(a.simulation.elapsed_s + 1, lambda: None)
        a.kill(1)
        a.simulation.run_for(span_s=5)
        return a.simulation.digest

    assert digest(watched=True) == digest(watched=False)


def test_a_watcher_acts_after_the_event_unless_cancelled() -> None:
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0", "r1")]}), brokers=3)
    p.begin()
    simulation, victims = p.simulation, list[str]()

    def kill_the_leader(seen: Seen[StateEntered]) -> None:
        if seen.fact.state is MirrorState.STOPPING:
            watch.cancel()
            victims.append(seen.node)
            p.b.kill(int(seen.node.removeprefix("b-")))

    watch = simulation.on(StateEntered, kill_the_leader)
    p.there.fail_over()
    assert len(victims) == 1, "the next leader came to STOPPING as well, and nobody watched"
    states = [seen.fact.state for seen in simulation.facts(StateEntered) if seen.fact.tp == TP]
    assert states.count(MirrorState.STOPPING) > 1 and states[-1] is MirrorState.STOPPED


def test_a_condition_is_checked_after_every_event_and_acted_on_once() -> None:
    a = cluster()
    simulation, times = a.simulation, list[int]()
    simulation.at(lambda: not a.runs(2), lambda: times.append(simulation.world.now))
    never = simulation.at(lambda: not a.runs(2), lambda: times.append(-1))
    never.cancel()
    simulation.at(simulation.elapsed_s + 1, lambda: a.kill(2))
    planned = simulation.at(simulation.elapsed_s + 2, lambda: times.append(-2))
    planned.cancel()
    began = simulation.world.now
    simulation.run_for(span_s=3)
    assert times == [began + SECOND]


def test_a_power_cut_is_over_before_the_kill_is_reported() -> None:
    a = cluster(brokers=2)
    a.simulation.on(NodeKilled, lambda seen: a.restart(2))
    a.kill(2, power_cut=True)
    last = [(row.node, type(row.fact)) for row in a.simulation.facts(object)][-3:]
    assert last == [("a-2", NodeKilled), ("a-2", PowerLost), ("a-2", NodeStarted)]


def test_producers_that_die_with_their_site_are_no_nodes() -> None:
    a = cluster(brokers=1)
    options = LoadOptions(
        producers=1, transactional=0, transaction_ms=0, batch_records=1, record_bytes=10, records_per_second=10,
        compression=Compression.NONE,
    )  # fmt: skip
    load = Load(a, "load", [TP], a.rng.split("load"), options)
    load.crash()
    assert a.simulation.facts(NodeKilled) == []


def test_an_instant_that_is_over_is_refused() -> None:
    simulation = Simulation()
    simulation.run_for(span_s=2)
    with pytest.raises(UsageError, match=r"1\.5 s has passed, it is 2\.000000 s"):
        simulation.at(1.5, lambda: None)


def test_blocking_calls_are_refused_inside_callbacks() -> None:
    a = cluster()
    a.simulation.at(a.simulation.elapsed_s + 1, lambda: a.create_topic("late"))
    with pytest.raises(UsageError, match=r"a function that on.. or at.. calls cannot wait.*begin_create_topic"):
        a.simulation.run_for(span_s=2)
    a.simulation.on(NodeKilled, lambda seen: a.simulation.run_for(span_s=1))
    with pytest.raises(UsageError, match="calls cannot wait, because"):
        a.kill(2)
    assert not a.runs(2)
    a.simulation.run_for(span_s=1)


def test_a_step_is_one_event() -> None:
    simulation = Simulation()
    assert not simulation.step()
    done: list[float] = []
    for second in (1, 2):
        simulation.at(second, lambda: done.append(simulation.elapsed_s))
    assert simulation.step() and done == [1]
    assert simulation.step() and done == [1, 2]
    assert not simulation.step()


def test_a_truncation_is_reported_with_its_offsets() -> None:
    p = pair(logs=WrittenLogs({TOPIC: [plain(0, 0, "r0", "r1")]}), brokers=1)
    p.begin()
    p.simulation.line(p.a, p.b).take_down()
    p.a.write("only on a")
    p.there.fail_over()
    p.simulation.line(p.a, p.b).bring_up()
    p.back.create()
    p.back.add_topics([TOPIC])
    p.back.catch_up()
    [cut] = [seen for seen in p.simulation.facts(LogCut) if seen.cluster == "a"]
    assert (cut.fact.tp, cut.fact.offset, cut.fact.end) == (TopicPartition(TOPIC, 0), 2, 3)


def test_impossible_watches_and_actions_are_refused_immediately() -> None:
    simulation = Simulation()
    with pytest.raises(UsageError, match=r"kind is a class of kmirror\.sim\.facts, or object for all of them, not 'x'"):
        simulation.on("x", print)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="call must be callable, not None"):
        simulation.on(object, None)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="when must be a number of seconds, 0 or more, not -1"):
        simulation.at(-1, lambda: None)
    with pytest.raises(UsageError, match="action must be callable, not 5"):
        simulation.at(1, 5)  # type: ignore[arg-type]
