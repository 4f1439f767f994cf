"""Objects of a simulation in scripts have a repr, can be used with `with`, and report where they failed."""

from __future__ import annotations

import re

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.assembly.mirrors import Difference
from kmirror.errors import KafkaError, SimulationFailure, UsageError
from kmirror.experiments.demo import LogsDiffer
from kmirror.kernel.ids import TopicPartition
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import ONE_BROKER, T0_MS, TOPIC, TP, WrittenLogs, pair, plain


def test_a_cluster_runs_inside_its_block_and_keeps_its_disks() -> None:
    simulation = Simulation(3)
    with Cluster(simulation, "a", brokers=2, configs=ONE_BROKER) as a:
        a.create_topic(TOPIC)
        a.kill(2)
        assert repr(a) == "<Cluster a: brokers 1, 2, running 1>"
        a.restart(2)
        assert a.produce(TOPIC, 0, [b"one"]) == 0
    assert repr(a) == "<Cluster a: brokers 1, 2, running none>"
    assert not a.runs(CONTROLLER_ID)
    with a:
        assert a.produce(TOPIC, 0, [b"two"]) == 1


def test_an_exception_stops_the_cluster_and_is_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError), Cluster(Simulation(), "a", brokers=1) as a:
        raise ZeroDivisionError
    assert a.living() == []


def test_exceptions_in_a_simulation_have_seed_and_time() -> None:
    with pytest.raises(AssertionError) as caught, Simulation(11) as simulation:
        simulation.run_for(span_s=1.5)
        raise AssertionError("orders-0 is short")
    assert caught.value.__notes__ == ["seed 11, after 1.500000 virtual seconds"]
    with pytest.raises(SimulationFailure, match=r"\(seed 11, after 62\.") as failed, Simulation(11) as simulation:
        simulation.run_for(span_s=2)
        simulation.run_until(lambda: False, what="the end")
    assert not hasattr(failed.value, "__notes__"), "it says so itself"


def test_the_repr_of_a_simulation_lists_its_contents() -> None:
    simulation = Simulation(7)
    assert repr(simulation) == "<Simulation seed 7, after 0.000000 virtual seconds, clusters: none>"
    a, b = (Cluster(simulation, name, brokers=1) for name in "ab")
    assert repr(simulation).endswith("clusters: a, b>")
    assert repr(Mirror("dr", source=a, destination=b)) == "<Mirror dr: a to b>"


def test_an_error_has_seed_and_time() -> None:
    with Cluster(Simulation(5), "a", brokers=1) as a:
        a.create_topic(TOPIC)
        with pytest.raises(KafkaError, match="cannot create topic orders") as caught:
            a.create_topic(TOPIC)
    assert re.search(r"\(seed 5, after [0-9.]+ virtual seconds\)$", str(caught.value))
    assert caught.value.code is ErrorCode.TOPIC_ALREADY_EXISTS


def test_a_failed_assertion_has_seed_and_time() -> None:
    error = LogsDiffer("after failback", Difference(TopicPartition("t", 0), 3, "crc", 1, 2), Simulation(9))
    assert str(error) == (
        "after failback: t-0 offset 3 field crc: expected 1, found 2 (seed 9, after 0.000000 virtual seconds)"
    )
    assert error.seed == 9


def test_assert_equal_names_place_field_both_values_and_moment() -> None:
    p = pair(2, logs=WrittenLogs({TOPIC: [plain(0, 0, "r0")]}), brokers=1)
    p.begin()
    p.there.assert_equal()
    p.b.log().append_as_leader(plain(0, 0, "only here"), leader_epoch=9, now_ms=T0_MS)
    with pytest.raises(AssertionError) as caught:
        p.there.assert_equal()
    where = f"mirror m from a to b: {TP} offset 1 field log end offset: expected 1, found 2"
    assert re.fullmatch(rf"{where} \(seed 2, after [0-9.]+ virtual seconds\)", str(caught.value))


def test_a_line_is_named_by_clusters_or_nodes_and_is_down_both_ways_or_one_way() -> None:
    simulation = Simulation()
    a, b = Cluster(simulation, "a", brokers=2), Cluster(simulation, "b", brokers=1)
    sites, nodes = simulation.line(a, b), simulation.line("a-1", "a-controller", one_way=True)
    assert (str(sites), str(nodes)) == ("a|b", "a-1>a-controller")
    is_down = simulation.world.network.is_down
    sites.take_down()
    assert sites.is_down and is_down("a-1", "b-1") and is_down("b-1", "a-2") and not is_down("a-1", "a-2")
    nodes.take_down()
    assert is_down("a-1", "a-controller") and not is_down("a-controller", "a-1")
    sites.bring_up()
    assert not sites.is_down and nodes.is_down and not is_down("a-1", "b-1")


def test_an_unknown_line_is_refused_with_the_existing_ones() -> None:
    simulation = Simulation()
    a = Cluster(simulation, "a", brokers=2)
    with pytest.raises(UsageError, match="no cluster and no node 'a-3'; there are: a, a-controller, a-1, a-2"):
        simulation.line(a, "a-3")
