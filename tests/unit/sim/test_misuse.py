"""Misuse of simulations and clusters raises an error immediately, with a text that shows the correction."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror import Cluster, Consumer, Mirror, Producer, Simulation
from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.errors import SimulationFailure
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol import (
    AlterPartitionReassignmentsRequest,
    CreateTopicsRequest,
    CreateTopicsResponse,
    FetchRequest,
    Message,
)
from kmirror.sim.disk_work import DiskOptions
from kmirror.sim.network import NetworkOptions
from tests.unit.sim.misuse import ANY, T0, Misuse, Stage, check_told


def cluster(**options: Any) -> Misuse:
    return lambda s: Cluster(s.simulation, options.pop("name", "c"), **options)


ROWS: dict[str, tuple[Misuse, str]] = {
    # simulations
    "a seed in quotes": (
        lambda s: Simulation(ANY or "7"),
        "seed must be an integer from 0 to 18446744073709551615, not '7'",
    ),
    "half a seed": (lambda s: Simulation(ANY or 1.5), "seed must be an integer .*, not 1.5"),
    "a seed below 0": (lambda s: Simulation(-1), "seed must be an integer .*, not -1"),
    "a seed above 64 bits": (lambda s: Simulation(1 << 64), "seed must be an integer"),
    "a network as a dict": (
        lambda s: Simulation(network=ANY or {"loss_ppm": 1}),
        "network must be a NetworkOptions, not {",
    ),
    "a disk as a number": (lambda s: Simulation(disk=ANY or 3), "disk must be a DiskOptions, not 3"),
    "delays the wrong way": (
        lambda s: NetworkOptions(local_min_us=9, local_max_us=1),
        "local_max_us must be an integer from 9 on, not 1",
    ),
    "a loss below 0": (lambda s: NetworkOptions(loss_ppm=-1), "loss_ppm must be an integer from 0 to 1000000, not -1"),
    "more than everything lost": (lambda s: NetworkOptions(loss_ppm=2_000_000), "loss_ppm must be an integer"),
    "a delay in quotes": (lambda s: NetworkOptions(remote_max_us=ANY or "5"), "remote_max_us must be an integer"),
    "jobs the wrong way": (lambda s: DiskOptions(9, 1), "job_max_us must be an integer from 9 on, not 1"),
    "time back": (lambda s: s.simulation.run_for(span_s=-1), "span_s must be a number of seconds, 0 or more, not -1"),
    "time in quotes": (lambda s: s.simulation.run_for(span_s=ANY or "1"), "span_s must be a number of seconds"),
    "no time": (lambda s: s.simulation.run_for(span_s=float("nan")), "span_s must be a number of seconds"),
    "for ever": (lambda s: s.simulation.run_for(span_s=float("inf")), "span_s must be a number of seconds"),
    "no condition": (lambda s: s.simulation.run_until(ANY or False), "condition must be callable, not False"),
    "until before now": (
        lambda s: s.simulation.run_until(lambda: False, within_s=-5),
        "within_s must be a number of sec",
    ),
    "a plan for yesterday": (
        lambda s: s.simulation.at(-1, print),
        "when must be a number of seconds, 0 or more, not -1",
    ),
    "a plan for a word": (
        lambda s: s.simulation.at(ANY or "soon", print),
        "when must be a number of seconds.*not 'soon'",
    ),
    "a plan of nothing": (lambda s: s.simulation.at(99, ANY), "action must be callable, not None"),
    "a fact's name": (
        lambda s: s.simulation.on(ANY or "NodeKilled", print),
        "kind is a class of kmirror.sim.facts",
    ),
    "facts by a name": (lambda s: s.simulation.facts(ANY or "NodeKilled"), "kind is a class of kmirror.sim.facts"),
    "a line to itself": (lambda s: s.simulation.line("a-1", "a-1"), "there is no line between 'a-1' and itself"),
    "a watch of nothing": (lambda s: s.simulation.on(object, ANY), "call must be callable, not None"),
    "a line to a number": (lambda s: s.simulation.line(s.a, ANY or 1), "a line ends at a cluster.*not at 1"),
    "a line to nowhere": (lambda s: s.simulation.line(s.a, "z"), "no cluster and no node 'z'"),
    "a line across worlds": (lambda s: s.simulation.line(s.a, Stage().b), "a cluster of this simulation"),
    "a result before now": (
        lambda s: s.a.begin_create_topic("u").result(within_s=-1),
        "within_s must be a number of seconds, 0 or more, not -1",
    ),
    # clusters before they are made
    "no simulation": (lambda s: Cluster(ANY or 1, "c"), "simulation must be a Simulation, not 1"),
    "a name twice": (cluster(name="a"), "there is a 'a' in this simulation already: give cluster 'a' another name"),
    "the name of a node": (cluster(name="a-1"), "there is a 'a-1' in this simulation already"),
    "an empty name": (cluster(name=""), "letters, digits, ., _, -; not ''"),
    "a name with a comma": (cluster(name="b,c:9"), "letters, digits, ., _, -; not 'b,c:9'"),
    "a number for a name": (cluster(name=3), "name must be a string, not 3"),
    "no brokers": (cluster(brokers=0), "brokers must be an integer from 1 to 99, not 0"),
    "a hundred brokers": (cluster(brokers=100), "brokers must be an integer from 1 to 99, not 100"),
    "brokers in quotes": (cluster(brokers="3"), "brokers must be an integer from 1 to 99, not '3'"),
    "no replicas": (cluster(replication_factor=0), "replication_factor must be an integer from 1 to 3, not 0"),
    "more replicas than brokers": (
        cluster(brokers=2, replication_factor=3),
        "replication_factor must be .* from 1 to 2, not 3",
    ),
    "a path for logs": (cluster(logs="/var/lib/kafka"), "read_log_dirs.*not '/var/lib/kafka'"),
    "an unknown config": (cluster(configs={"nope": "1"}), "Unknown broker config name: nope$"),
    "a mistyped config": (
        cluster(configs={"log.segment.byte": "1"}),
        r"log\.segment\.byte: did you mean log\.segment\.bytes",
    ),
    "a topic's config": (
        cluster(configs={"segment.bytes": "1048576"}),
        r"segment\.bytes: it is a config of topics.*is log\.segment\.bytes",
    ),
    "a config's number": (
        cluster(configs={"log.segment.bytes": 1 << 20}),
        r"configs\['log\.segment\.bytes'\] must be a string, not 1048576",
    ),
    "a config's wrong value": (
        cluster(configs={"log.segment.bytes": "lots"}),
        "Invalid value lots for configuration log.segment.bytes: Not a",
    ),
    "a config out of bounds": (cluster(configs={"log.segment.bytes": "-1"}), "Value must be at least 1048576"),
    "configs as a list": (cluster(configs=["a"]), "configs must be a mapping of names to strings, not"),
    "racks as a list": (cluster(racks=["east"]), r"racks must map broker ids to strings, such as .* not \['east'\]"),
    "a rack of no broker": (cluster(racks={7: "east"}), "racks: unknown broker 7; brokers are 1, 2, 3$"),
    "a rack as a number": (cluster(racks={1: 5}), "the rack of broker 1 must be a string, not 5"),
    "a version of mirroring": (cluster(mirror_version=9), "mirror_version must be an integer from 0 to 1, not 9"),
    "a policy in quotes": (cluster(on_failure="raise"), r"on_failure must be one of OnFailure\.RAISE, .* not 'raise'"),
    "no authorizer": (cluster(authorizer=1), "authorizer needs the methods of Authorizer, which 1 lacks"),
    # clusters that were not started
    **{
        f"{what} before the start": (misuse, r"cluster c was not started: (use it in a `with` block|.*start\(\))")
        for what, misuse in {
            "create_topic": lambda s: s.unstarted().create_topic("t"),
            "produce": lambda s: s.unstarted().produce("t", 0, [b"x"]),
            "read": lambda s: s.unstarted().read(T0),
            "order": lambda s: s.unstarted().order(CreateTopicsRequest()),
            "a producer": lambda s: Producer(s.unstarted()),
            "a consumer": lambda s: Consumer(s.unstarted(), "t"),
            "restart": lambda s: s.unstarted().restart(1),
            "a mirror": lambda s: Mirror("m", source=s.a, destination=s.unstarted()).create(),
        }.items()
    },
    "kill before the start": (lambda s: s.unstarted().kill(1), r"c-1 is not running: call start\(\)"),
    "the controller before the start": (
        lambda s: s.unstarted().controller,
        r"c-controller is not running: call start\(\)",
    ),
    # nodes
    "start twice": (
        lambda s: s.a.start(),
        r"cluster a is already running: nodes 1, 100; restart\(node_id\)",
    ),
    "with after start": (lambda s: s.a.__enter__(), "cluster a is already running"),
    "kill twice": (
        lambda s: s.after(lambda: s.a.kill(1), lambda: s.a.kill(1)),
        r"a-1 is not running: call restart\(1\)",
    ),
    "stop what is down": (lambda s: s.after(lambda: s.a.kill(1), lambda: s.a.stop(1)), "a-1 is not running"),
    "restart what runs": (lambda s: s.a.restart(1), r"a-1 is already running: call kill\(1\) or stop\(1\) first"),
    "kill nobody": (lambda s: s.a.kill(7), "cluster a has no node 7: it has brokers 1 and controller 100"),
    "kill by name": (lambda s: s.a.kill(ANY or "a-1"), "cluster a has no node 'a-1'"),
    "kill several": (lambda s: s.a.kill(ANY or [1]), r"cluster a has no node \[1\]"),
    "restart nobody": (lambda s: s.a.restart(9), "cluster a has no node 9"),
    "stop nobody": (lambda s: s.a.stop(9), "cluster a has no node 9"),
    "ask after nobody": (lambda s: s.a.runs(9), "cluster a has no node 9"),
    "the address of nobody": (lambda s: s.a.endpoint(9), "cluster a has no node 9"),
    "look at nobody": (lambda s: s.a.broker(9), "cluster a has no node 9"),
    "the session of nobody": (lambda s: s.a.session_ends_s(9), "cluster a has no node 9"),
    "the session of a controller": (lambda s: s.a.session_ends_s(100), "100 is the controller of cluster a"),
    "the controller as a broker": (
        lambda s: s.a.broker(CONTROLLER_ID),
        "100 is the controller of cluster a: use `controller`",
    ),
    "look at a dead broker": (lambda s: (s.a.kill(1), s.a.broker(1)), r"a-1 is not running: call restart\(1\)"),
    "look at a dead controller": (
        lambda s: (s.a.kill(100), s.a.controller),
        r"a-controller is not running: call restart\(100\)",
    ),
    # topics and requests
    "text for values": (lambda s: s.a.produce("t", 0, ANY or "xyz"), "values must be a list of bytes, not 'xyz'"),
    "bytes for values": (lambda s: s.a.produce("t", 0, ANY or b"xyz"), "values must be a list of bytes, not b'xyz'"),
    "text for a value": (
        lambda s: s.a.produce("t", 0, ANY or ["x"]),
        r"t-0: record 0: the value must be bytes or None, not 'x'; \.enc",
    ),
    "nothing to write": (lambda s: s.a.produce("t", 0, []), "t-0: a batch without records cannot be sent"),
    "bytes for a topic": (
        lambda s: s.a.produce(ANY or b"t", 0, [b"x"]),
        "topic must be a string, not b't'; 't' is text",
    ),
    "a partition in quotes": (
        lambda s: s.a.produce("t", ANY or "0", [b"x"]),
        r"string and an integer, not \('t', '0'\)",
    ),
    "read a topic": (lambda s: s.a.read(ANY or "t"), r"partitions? must be a .*TopicPartition.*not 't'"),
    "the leader of a topic": (lambda s: s.a.leader(ANY or "t"), r"such as TopicPartition\('orders', 0\), not 't'"),
    "replicas of a tuple": (
        lambda s: s.a.replicas(ANY or ("t", 0)),
        r"a partition must be a TopicPartition, .*not \('t', 0\)",
    ),
    "an isolation in quotes": (
        lambda s: s.a.read(T0, isolation=ANY or "read_committed"),
        r"isolation must be one of IsolationLevel\.READ",
    ),
    "partitions in quotes": (
        lambda s: s.a.create_topic("u", ANY or "3"),
        r"field topics\[0\]\.num_partitions: '3' is no int32",
    ),
    "too many partitions": (lambda s: s.a.create_topic("u", 1 << 40), r"num_partitions: 1099511627776 is no int32"),
    "a number for a topic": (lambda s: s.a.create_topic(ANY or 3), r"field topics\[0\]\.name"),
    "a topic config's number": (
        lambda s: s.a.create_topic("u", configs={"retention.ms": ANY or 5}),
        r"configs\['retention\.ms'\] must be a string, not 5",
    ),
    "topic configs as a list": (lambda s: s.a.create_topic("u", configs=ANY or ["x"]), "configs must be a mapping"),
    "no order": (lambda s: s.a.order(ANY), "an order must be a Message, not None; such as CreateTopicsRequest"),
    "an order that is a fetch": (
        lambda s: s.a.order(FetchRequest()),
        "not a request that changes the cluster: FetchRequest.*; use one of AddTop",
    ),
    "an order that this engine does not know": (
        lambda s: s.a.order(AlterPartitionReassignmentsRequest()),
        "not a request that changes the cluster: AlterPartitionReassignmentsRequest",
    ),
    "an answer for an order": (
        lambda s: s.a.order(CreateTopicsResponse()),
        "not a request that changes the cluster: CreateTopicsResponse",
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_misuse_raises_an_error(row: str) -> None:
    check_told(*ROWS[row])


def test_a_dead_controllers_decisions_can_be_read_and_brokers_continue() -> None:
    a = Stage().a
    image = a.image
    a.kill(CONTROLLER_ID)
    assert a.image is image and a.topics() == ["t"]
    assert a.produce("t", 0, [b"x"]) == 0
    assert [record.value for record in a.read(T0)] == [b"x"]
    a.restart(CONTROLLER_ID)
    assert a.topics() == ["t"], "also while it still reads its log"
    a.simulation.run_until(a.is_settled)
    a.create_topic("u")
    assert a.topics() == ["t", "u"]


def test_a_cluster_that_ended_starts_again() -> None:
    a = Stage().a
    a.stop()
    a.stop()
    with a:
        assert a.produce("t", 0, [b"x"]) == 0


def test_a_wait_in_vain_takes_its_given_time() -> None:
    simulation = Simulation(3)
    with pytest.raises(SimulationFailure, match=r"waited 5 virtual seconds for: the moon \(seed 3, after 5\.0"):
        simulation.run_until(lambda: False, within_s=5, what="the moon")
    assert simulation.now_ms == Simulation(3).now_ms + 5_000


def test_the_default_replication_factor_is_three_or_the_number_of_brokers() -> None:
    simulation = Simulation()
    factors = [Cluster(simulation, name, brokers=n).replication_factor for n, name in enumerate("abcd", 1)]
    assert factors == [1, 2, 3, 3]


def test_an_accepted_order_returns_its_response() -> None:
    stage = Stage()
    request: Message = CreateTopicsRequest(topics=[])
    assert isinstance(stage.a.order(request), CreateTopicsResponse)


def test_a_script_can_wait_for_a_topic_to_be_led() -> None:
    a = Stage().a
    assert a.leader(TopicPartition("later", 0)) is None
    a.create_topic("later")
    assert a.leader(TopicPartition("later", 0)) is not None
