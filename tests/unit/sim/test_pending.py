"""Pending requests: their results, the reasons why they still wait, and the places where they may be started."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.errors import KafkaError, SimulationFailure, UsageError
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest
from kmirror.sim.cluster import Cluster
from kmirror.sim.facts import BrokerFenced, OrderAnswered, OrderSent, StateEntered
from kmirror.sim.mirror import Mirror
from kmirror.sim.pending import Pending
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import TOPIC


def mirrored(**configs: str) -> tuple[Mirror, Cluster]:
    """Return a mirror from a to b that has caught up, and b."""
    simulation = Simulation(7)
    a, b = (Cluster(simulation, name, configs=configs) for name in "ab")
    a.start()
    b.start()
    a.create_topic(TOPIC)
    a.produce(TOPIC, 0, [b"one"])
    mirror = Mirror("m", source=a, destination=b)
    mirror.create()
    mirror.add_topics([TOPIC])
    mirror.catch_up()
    return mirror, b


def test_a_topic_is_created_during_the_run() -> None:
    with Simulation(1) as simulation, Cluster(simulation, "a") as a:
        pending = a.begin_create_topic(TOPIC, 2)
        assert not pending.is_done and TOPIC not in a.topics()
        assert repr(pending) == "<Pending topic orders in a: waits: leaders of its partitions>"
        simulation.run_for(span_s=1)
        assert pending.is_done and pending.waits_for == "" and pending.error is None
        assert len(a.partitions([TOPIC])) == 2
        pending.result()
        assert repr(pending) == "<Pending topic orders in a: done>"


def test_an_impossible_wait_is_refused_and_the_request_continues() -> None:
    with Simulation(1) as simulation, Cluster(simulation, "a") as a:
        pending = a.begin_create_topic(TOPIC)
        simulation.at(simulation.elapsed_s, lambda: pending.result())
        with pytest.raises(UsageError):
            simulation.run_for(span_s=1)
        assert not pending.is_done
        pending.result()
        assert a.topics() == [TOPIC]


def test_a_failed_request_is_reported_when_it_is_checked() -> None:
    with Simulation(1) as simulation, Cluster(simulation, "a") as a:
        a.create_topic(TOPIC)
        again = a.begin_create_topic(TOPIC)
        simulation.run_for(span_s=1)
        assert isinstance(again.error, KafkaError) and again.error.code is ErrorCode.TOPIC_ALREADY_EXISTS
        with pytest.raises(KafkaError, match="TOPIC_ALREADY_EXISTS"):
            again.result()
        assert again.is_done and "failed: " in repr(again)
        answer = a.begin_order(CreateTopicsRequest(topics=[])).result()
        assert isinstance(answer, CreateTopicsResponse)


def test_a_failover_names_the_session_that_it_waits_for() -> None:
    """A broker that is dead and not fenced yet is the coordinator, or in an ISR: nothing is decided without it."""
    mirror, b = mirrored()
    simulation = b.simulation
    b.kill(2)
    ends = b.session_ends_s(2)
    assert ends is not None and ends > simulation.elapsed_s
    failover = mirror.begin_fail_over()
    simulation.run_for(span_s=3)
    assert not failover.is_done
    assert failover.waits_for.startswith("orders-0 (")
    assert failover.waits_for.endswith(f"; broker 2 of b does not run, and its session ends at {ends:.3f} s")
    rows = failover.result()
    assert [row.state for row in rows] == [MirrorState.STOPPED]
    assert simulation.elapsed_s > ends and b.session_ends_s(2) is None
    [fenced] = simulation.facts(BrokerFenced)
    stopped = simulation.facts(StateEntered)[-1]
    assert ends * 1000 <= fenced.at_ms <= stopped.at_ms < simulation.elapsed_s * 1000


def test_a_silent_broker_is_waited_for_too() -> None:
    """Unreachable for its controller, and killed and restarted: it cannot register before its old session has ended."""
    _, b = mirrored()
    simulation = b.simulation
    line = simulation.line("b-1", "b-controller")
    line.take_down()
    b.kill(2)
    b.restart(2)
    simulation.run_for(span_s=5)
    first, second = b.awaited_sessions()
    assert re.fullmatch(r"broker 1 of b is not heard from, and its session ends at \d+\.\d{3} s", first)
    assert second.startswith("broker 2 of b is not heard from")
    line.bring_up()
    simulation.run_until(b.is_settled)
    assert b.awaited_sessions() == []


def test_a_wait_in_vain_names_its_condition_and_is_given_up() -> None:
    mirror, b = mirrored()
    b.kill(2)
    failover = mirror.begin_fail_over()
    with pytest.raises(SimulationFailure, match=r"waited 2 virtual .* orders-0 \(.*broker 2 of b does not run"):
        failover.result(within_s=2)
    assert failover.waits_for == "" and "given up" in repr(failover)
    with pytest.raises(UsageError, match="the failover of mirror m was given up"):
        failover.result()
    b.kill(CONTROLLER_ID)
    assert b.session_ends_s(2) is None and b.awaited_sessions() == ["the controller of b does not run"]


def test_an_order_without_a_controller_reports_it_until_its_timeout() -> None:
    mirror, b = mirrored()
    b.kill(CONTROLLER_ID)
    failover = mirror.begin_fail_over()
    b.simulation.run_for(span_s=50)
    assert not failover.is_done and failover.waits_for.endswith("; the controller of b does not run")
    b.simulation.run_for(span_s=15)
    assert isinstance(failover.error, KafkaError) and failover.error.code is ErrorCode.REQUEST_TIMED_OUT
    b.restart(CONTROLLER_ID)
    assert [row.state for row in mirror.fail_over()] == [MirrorState.STOPPED], "it may be repeated"


def test_a_request_can_be_started_in_a_callback() -> None:
    """The operator starts the failover a second after the line goes down, and a broker dies at the same time."""
    mirror, b = mirrored()
    simulation, begun = b.simulation, list[Pending[object]]()
    done: list[float] = []

    def order() -> None:
        failover = mirror.begin_fail_over()
        failover.on_done(lambda pending: done.append(simulation.elapsed_s))
        begun.append(failover)

    simulation.line("a", "b").take_down()
    down_at = simulation.elapsed_s
    simulation.at(down_at + 1, order)
    watch = simulation.on(OrderSent, lambda seen: b.kill(3))
    simulation.run_until(lambda: bool(begun) and begun[0].is_done)
    watch.cancel()
    assert len(done) == 1 and done[0] > down_at + 1
    begun[0].on_done(lambda pending: done.append(0.0))
    assert done[1:] == [0.0], "at once if it is done"
    sent, answered = simulation.facts(OrderSent)[-1], simulation.facts(OrderAnswered)[-1]
    assert isinstance(sent.fact.request, RemoveTopicsFromMirrorRequest)
    assert (sent.cluster, sent.node, sent.fact.number) == ("b", "b-client", answered.fact.number)
    assert sent.at_us == round((down_at + 1) * 1_000_000) < answered.at_us


def test_concurrent_requests_have_different_numbers() -> None:
    with Simulation(2) as simulation, Cluster(simulation, "a") as a:
        a.kill(CONTROLLER_ID)
        pending = [a.begin_create_topic(name) for name in ("one", "two", "three")]
        simulation.run_for(span_s=3)
        assert not any(each.is_done for each in pending)
        a.restart(CONTROLLER_ID)
        for each in pending:
            each.result()
        assert a.topics() == ["one", "three", "two"]
        numbers = [seen.fact.number for seen in simulation.facts(OrderAnswered)]
        assert sorted(numbers) == [seen.fact.number for seen in simulation.facts(OrderSent)] == [1, 2, 3]


def test_an_order_that_was_refused_here_was_not_sent() -> None:
    with Simulation(2) as simulation, Cluster(simulation, "a", brokers=1) as a:
        number: Any = 5
        for order in (FetchRequest(), CreateTopicsRequest(topics=[CreatableTopic(name=number)])):
            with pytest.raises(UsageError):
                a.begin_order(order)
        assert simulation.facts(OrderSent) == []
        a.create_topic(TOPIC)
        assert [seen.fact.number for seen in simulation.facts(OrderSent)] == [1]


def test_a_controlled_shutdown_continues_during_the_run() -> None:
    with Simulation(3) as simulation, Cluster(simulation, "a") as a:
        a.create_topic(TOPIC)
        stop = a.begin_stop(1)
        assert a.runs(1) and stop.waits_for == "the end of a-1"
        simulation.run_for(span_s=5)
        assert stop.is_done and a.living() == [2, 3]
        everything = a.begin_stop()
        assert everything.waits_for == "the end of a-2, a-3, a-controller"
        everything.result()
        assert not a.runs(CONTROLLER_ID)


def test_an_answered_order_leaves_no_timer() -> None:
    cluster = Cluster(Simulation(7), "a")
    cluster.start()
    cluster.create_topic("one")
    before = len(cluster.client._node.timers)
    cluster.create_topic("two")
    assert len(cluster.client._node.timers) == before


def test_wrong_arguments_are_detected_immediately() -> None:
    with Simulation(3) as simulation, Cluster(simulation, "a") as a, Cluster(simulation, "b") as b:
        mirror = Mirror("m", source=a, destination=b)
        mirror.create()
        with pytest.raises(UsageError, match="mirror m of cluster b has no topics"):
            mirror.begin_fail_over()
        with pytest.raises(UsageError, match="topics takes a list of names"):
            mirror.begin_add_topics(TOPIC)
        refused = mirror.begin_pause([TOPIC])  # The cluster decides whether it may be paused.
        with pytest.raises(KafkaError, match="cannot pause topic orders of mirror m"):
            refused.result()
