"""Scenarios of operators, by the manual and the public API alone: combined features keep the manual's guarantees."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kmirror import Cluster, IsolationLevel, KafkaError, Mirror, MirrorState, Producer, RecordData, Simulation
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen import create_partitions_request, delete_records_request, delete_topics_request
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.spec.error_codes import ErrorCode

TP = TopicPartition("t", 0)
TOPIC = 2
QUICK = {"mirror.metadata.refresh.interval.ms": "1000"}


def clusters(seed: int, **options: object) -> tuple[Simulation, Cluster, Cluster]:
    simulation = Simulation(seed=seed)
    a, b = (Cluster(simulation, name, configs=QUICK, **options) for name in "ab")  # type: ignore[arg-type]
    a.start()
    b.start()
    return simulation, a, b


def mirrored(source: Cluster, destination: Cluster, name: str = "dr") -> Mirror:
    mirror = Mirror(name, source=source, destination=destination)
    mirror.create()
    mirror.add_topics(source.topics())
    mirror.catch_up()
    return mirror


def alter(cluster: Cluster, topic: str, key: str, value: str) -> None:
    config = AlterableConfig(name=key, config_operation=0, value=value)
    resource = AlterConfigsResource(resource_type=TOPIC, resource_name=topic, configs=[config])
    cluster.order(IncrementalAlterConfigsRequest(resources=[resource]))


def grow(cluster: Cluster, count: int) -> None:
    row = create_partitions_request.CreatePartitionsTopic(name="t", count=count, assignments=None)
    cluster.order(create_partitions_request.CreatePartitionsRequest(topics=[row], timeout_ms=30_000))


def delete_topic(cluster: Cluster) -> None:
    row = delete_topics_request.DeleteTopicState(name="t")
    cluster.order(delete_topics_request.DeleteTopicsRequest(topics=[row], timeout_ms=30_000))


def leader_of(cluster: Cluster, tp: TopicPartition = TP) -> int:
    return next(broker for broker, replica in cluster.replicas(tp).items() if replica is cluster.leader(tp))


def values(cluster: Cluster, tp: TopicPartition = TP) -> list[bytes | None]:
    return [record.value for record in cluster.read(tp, isolation=IsolationLevel.READ_COMMITTED)]


def refusal(call: Callable[[], object]) -> ErrorCode:
    with pytest.raises(KafkaError) as refused:
        call()
    return refused.value.code


def lose_the_only_leader(simulation: Simulation, cluster: Cluster) -> None:
    """Kill the last member of the ISR, and restart the others."""
    last = leader_of(cluster)
    others = [broker for broker in cluster.living() if broker != last]
    for broker in others:
        cluster.kill(broker)
    simulation.run_for(span_s=40)
    cluster.produce("t", 0, [b"only there"])
    cluster.kill(last)
    simulation.run_for(span_s=15)
    for broker in others:
        cluster.restart(broker)
    simulation.run_for(span_s=15)


def test_an_unclean_election_allowed_after_the_loss_takes_up_to_five_minutes() -> None:
    simulation, a, _ = clusters(1)
    a.create_topic("t")
    a.produce("t", 0, [b"1"])
    lose_the_only_leader(simulation, a)
    simulation.run_for(span_s=310)
    assert a.leader(TP) is None
    alter(a, "t", "unclean.leader.election.enable", "true")
    simulation.run_until(lambda: a.leader(TP) is not None, within_s=310, what="an unclean election")
    assert values(a) == [b"1"]


def test_a_stopped_topic_is_writable_once_the_state_topic_has_a_leader_again() -> None:
    simulation, a, b = clusters(2)
    a.create_topic("t")
    a.produce("t", 0, [b"1"])
    mirrored(a, b).fail_over()
    alter(b, "t", "unclean.leader.election.enable", "true")
    lose_the_only_leader(simulation, b)
    assert refusal(lambda: b.produce("t", 0, [b"2"])) is ErrorCode.REQUEST_TIMED_OUT
    alter(b, "__mirror_state", "unclean.leader.election.enable", "true")
    simulation.run_for(span_s=330)
    b.produce("t", 0, [b"2"])
    assert values(b) == [b"1", b"2"]


def test_a_failover_ends_although_every_destination_node_is_restarted() -> None:
    simulation, a, b = clusters(3)
    a.create_topic("t", 4)
    for partition in range(4):
        a.produce("t", partition, [b"1", b"2"])
    mirror = mirrored(a, b)
    for node in (1, 2, 3, 100):
        a.kill(node)
    failover = mirror.begin_fail_over()
    for node in (1, 100, 2, 3, 100):
        b.stop(node)
        b.restart(node)
        simulation.run_for(span_s=1)
    simulation.run_until(lambda: failover.is_done, what="the failover")
    for partition in range(4):
        b.produce("t", partition, [b"3"])
        assert values(b, TopicPartition("t", partition)) == [b"1", b"2", b"3"]


@pytest.mark.parametrize("delay_s", [0.0, 0.5, 3.0])
def test_source_partitions_added_during_a_failover_are_writable_or_missing(delay_s: float) -> None:
    simulation, a, b = clusters(4)
    a.create_topic("t")
    a.produce("t", 0, [b"1"])
    mirror = mirrored(a, b)
    grow(a, 3)
    simulation.run_for(span_s=delay_s)
    failover = mirror.begin_fail_over()
    grow(a, 5)
    simulation.run_until(lambda: failover.is_done, what="the failover")
    simulation.run_for(span_s=5)
    for tp in b.partitions(["t"]):
        b.produce(tp.topic, tp.partition, [b"here"])
    grow(b, 5)
    simulation.run_for(span_s=3)
    assert mirrored(b, a).difference() is None


def test_records_deleted_at_the_source_during_a_pause_are_skipped() -> None:
    simulation, a, b = clusters(5)
    a.create_topic("t")
    a.produce("t", 0, [b"old"] * 10)
    mirror = mirrored(a, b)
    mirror.pause(["t"])
    mirror.wait_for_state(MirrorState.PAUSED, [TP])
    a.produce("t", 0, [b"gone"] * 5 + [b"kept"] * 5)
    row = delete_records_request.DeleteRecordsPartition(partition_index=0, offset=15)
    topic = delete_records_request.DeleteRecordsTopic(name="t", partitions=[row])
    request = delete_records_request.DeleteRecordsRequest(topics=[topic], timeout_ms=30_000)
    a.client.call(a.endpoint(leader_of(a)), request)
    simulation.run_for(span_s=10)
    assert values(b) == [b"old"] * 10
    mirror.resume(["t"])
    mirror.catch_up()
    mirror.assert_equal()
    assert [record.offset for record in b.read(TP)] == [15, 16, 17, 18, 19]
    mirror.fail_over()
    assert b.produce("t", 0, [b"here"]) == 21


def test_a_recreated_topic_is_mirrored_once_the_old_one_is_deleted_here() -> None:
    simulation, a, b = clusters(6)
    a.create_topic("t")
    a.produce("t", 0, [b"old"])
    mirror = mirrored(a, b)
    delete_topic(a)
    a.create_topic("t")
    a.produce("t", 0, [b"new"])
    mirror.wait_for_state(MirrorState.FAILED, [TP])
    mirror.fail_over()
    assert values(b) == [b"old"]
    assert refusal(lambda: mirror.add_topics(["t"])) is ErrorCode.INCONSISTENT_TOPIC_ID
    delete_topic(b)
    simulation.run_for(span_s=3)
    mirror.add_topics(["t"])
    mirror.catch_up()
    assert values(b) == [b"new"]


def test_a_failover_waits_for_min_insync_replicas_with_a_reason() -> None:
    simulation, a, b = clusters(7)
    a.create_topic("t")
    a.produce("t", 0, [b"1"])
    mirror = mirrored(a, b)
    alter(b, "t", "min.insync.replicas", "3")
    b.kill(3)
    simulation.run_for(span_s=20)
    failover = mirror.begin_fail_over()
    simulation.run_for(span_s=30)
    assert not failover.is_done
    assert "is smaller than min.insync.replicas" in failover.waits_for
    alter(b, "t", "min.insync.replicas", "2")
    simulation.run_until(lambda: failover.is_done, within_s=10, what="the failover")
    assert b.produce("t", 0, [b"2"]) == 2


def write_in_a_transaction(cluster: Cluster, value: bytes, transactional_id: str = "payments") -> Producer:
    """Write one record, and leave the transaction open."""
    producer = Producer(cluster, transactional_id=transactional_id)
    producer.begin_transaction()
    producer.send({TP: [RecordData(value=value)]})
    return producer


def test_a_transactional_id_moves_there_and_back_and_leaves_nothing_open() -> None:
    simulation, a, b = clusters(8)
    a.create_topic("t")
    expected: list[bytes] = []
    for source, destination in ((a, b), (b, a)):
        write_in_a_transaction(source, b"before").commit_transaction()
        mirror = mirrored(source, destination)
        write_in_a_transaction(source, b"open", "hanging")
        simulation.run_for(span_s=3)
        assert refusal(lambda: write_in_a_transaction(destination, b"no")) is ErrorCode.READ_ONLY_TOPIC  # noqa: B023
        mirror.fail_over()
        write_in_a_transaction(destination, b"after").commit_transaction()
        write_in_a_transaction(destination, b"goes on", "hanging").commit_transaction()
        expected += [b"before", b"after", b"goes on"]
        assert values(destination) == expected
