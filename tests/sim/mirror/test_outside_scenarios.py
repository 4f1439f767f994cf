"""Scenarios of disaster recovery, from KIP-1279 and the manual, by an author who had not read the engine."""

from __future__ import annotations

import pytest

from kmirror import (
    Cluster,
    Consumer,
    ErrorCode,
    Hooks,
    IsolationLevel,
    KafkaError,
    Mirror,
    MirrorState,
    Producer,
    RecordData,
    Simulation,
    TopicPartition,
)
from kmirror.protocol import (
    AddTopicsToMirrorRequest,
    DeleteTopicsRequest,
    DescribeMirrorsRequest,
    DescribeMirrorsResponse,
    IncrementalAlterConfigsRequest,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ProduceRequest,
    ProduceResponse,
)
from kmirror.protocol.gen.add_topics_to_mirror_request import TopicData
from kmirror.protocol.gen.delete_topics_request import DeleteTopicState
from kmirror.protocol.gen.describe_mirrors_request import LineageTopic
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kmirror.protocol.gen.produce_request import PartitionProduceData, TopicProduceData
from kmirror.records import build_batch
from kmirror.sim.facts import LogCut, NodeKilled, Seen, StateEntered

TP = TopicPartition("t", 0)
OTHER = TopicPartition("u", 0)
REFRESH = {"mirror.metadata.refresh.interval.ms": "1000"}
TOPIC_CONFIG = 2


def two_clusters(
    *, hooks: Hooks | None = None, configs: dict[str, str] | None = None, transaction_version: int = 2
) -> tuple[Cluster, Cluster]:
    """Return a, which has topic t, and b, both running."""
    simulation = Simulation(seed=1)
    a = Cluster(simulation, "a", configs=REFRESH, interpose=hooks)
    b = Cluster(simulation, "b", configs=REFRESH, transaction_version=transaction_version)
    a.start()
    b.start()
    a.create_topic("t", configs=configs)
    return a, b


def mirrored(source: Cluster, destination: Cluster) -> Mirror:
    """Return a mirror that has caught up with t."""
    mirror = Mirror("dr", source=source, destination=destination)
    mirror.create()
    mirror.add_topics(["t"])
    mirror.catch_up()
    return mirror


def failed_over(lost: list[bytes], written: list[bytes], a: Cluster, b: Cluster) -> Mirror:
    """Return the stopped mirror to b; a has `lost`, which b never got, and b has `written` instead."""
    mirror = mirrored(a, b)
    line = a.simulation.line(a, b)
    line.take_down()
    if lost:
        a.produce("t", 0, lost)
    mirror.fail_over()
    if written:
        b.produce("t", 0, written)
    line.bring_up()
    return mirror


def values(cluster: Cluster, tp: TopicPartition = TP) -> list[bytes | None]:
    return [record.value for record in cluster.read(tp, isolation=IsolationLevel.READ_COMMITTED)]


def leader_of(cluster: Cluster) -> int:
    return cluster.image.topics["t"].partitions[0].leader


def test_a_write_is_not_acknowledged_if_its_leader_is_truncated_meanwhile() -> None:
    hooks = Hooks()
    a, b = two_clusters(hooks=hooks)
    a.produce("t", 0, [b"m"])
    failed_over([], [b"b%d" % number for number in range(5)], a, b)
    leader = leader_of(a)
    back = Mirror("dr", source=b, destination=a)
    back.create()
    unread = hooks.on(FetchRequest, node=leader, topic="t", partition=0, from_nodes=True)
    hook = unread.answer(ErrorCode.UNKNOWN_SERVER_ERROR)  # The followers do not get records from now on.
    a.simulation.run_for(span_s=2)  # Their fetches that wait at the leader end.
    now = a.simulation.elapsed_s

    def order() -> None:
        back.begin_add_topics(["t"])

    a.simulation.at(now + 1, order)
    a.simulation.at(now + 3, hook.remove)
    batch = build_batch([RecordData(value=b"waits")])
    partition = PartitionProduceData(index=0, records=batch)
    topic = TopicProduceData(name="t", topic_id=a.image.topics["t"].topic_id, partition_data=[partition])
    request = ProduceRequest(acks=-1, timeout_ms=60_000, topic_data=[topic])
    answer = a.client.call(a.endpoint(leader), request, timeout_ms=90_000)
    assert isinstance(answer, ProduceResponse)
    assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    back.catch_up()
    back.assert_equal()
    assert a.read(TP)[1].value == b"b0", "the offset of the write belongs to another record"


def test_a_consumer_across_failover_and_failback_reads_the_replacing_records() -> None:
    a, b = two_clusters()
    a.produce("t", 0, [b"m"])
    mirror = mirrored(a, b)
    a.simulation.line(a, b).take_down()
    a.produce("t", 0, [b"lost 0", b"lost 1", b"lost 2"])
    consumer = Consumer(a, "t")
    assert len(list(consumer)) == 4
    mirror.fail_over()
    b.produce("t", 0, [b"b%d" % number for number in range(10)])
    a.simulation.line(a, b).bring_up()
    mirrored(b, a)
    assert [record.value for record in consumer] == [b"b%d" % number for number in range(10)]


@pytest.mark.parametrize("state", [MirrorState.STOPPING, MirrorState.STOPPED])
def test_nothing_hangs_after_a_power_loss_of_the_site_during_a_failover(
    state: MirrorState,
) -> None:
    a, b = two_clusters()
    first, second = Producer(a, transactional_id="first"), Producer(a, transactional_id="second")
    mirror = mirrored(a, b)
    first.begin_transaction()
    first.send({TP: [RecordData(value=b"cut")]})
    second.begin_transaction()
    second.send({TP: [RecordData(value=b"open")]})
    first.commit_transaction()  # b gets its record, but not its marker.
    simulation = a.simulation
    simulation.run_for(span_s=2)
    simulation.line(a, b).take_down()

    def lose_power() -> None:
        for broker in b.living():
            b.kill(broker, power_cut=True)

    def record_state(seen: Seen[StateEntered]) -> None:
        if seen.cluster == "b" and seen.fact.state is state:
            lose_power()

    watch = simulation.on(StateEntered, record_state)
    mirror.begin_remove_topics(["t"])
    simulation.run_for(span_s=20)
    watch.cancel()
    assert len(simulation.facts(NodeKilled)) == 3
    for broker in b.broker_ids:
        b.restart(broker)
    simulation.run_until(b.is_settled)
    mirror.fail_over()
    b.produce("t", 0, [b"b"])
    assert values(b) == [b"b"], "of what was mirrored nothing is left, and nothing waits for it"


@pytest.mark.decision("D41")
@pytest.mark.parametrize("records", [0, 3])
def test_a_transaction_that_names_a_mirrored_topic_ends(records: int) -> None:
    a, b = two_clusters(transaction_version=1)  # In this version a producer adds partitions itself.
    b.create_topic("u")
    if records:
        a.produce("t", 0, [b"m"] * records)
    mirrored(a, b)
    producer = Producer(b, transactional_id="p")
    for number in range(2):
        producer.begin_transaction()
        producer.add_partitions([TP])  # It could not write there.
        producer.send({OTHER: [RecordData(value=b"u%d" % number)]})
        producer.commit_transaction()
    b.simulation.run_for(span_s=1)
    assert values(b, OTHER) == [b"u0", b"u1"]


@pytest.mark.decision("D11")
def test_a_waiting_failback_continues_when_min_insync_replicas_is_lowered() -> None:
    a, b = two_clusters(configs={"min.insync.replicas": "3"})
    a.produce("t", 0, [b"m"])
    failed_over([b"lost"], [b"b"], a, b)
    dead = next(broker for broker in a.broker_ids if broker != leader_of(a))
    a.kill(dead)
    a.simulation.run_for(span_s=15)
    back = Mirror("dr", source=b, destination=a)
    back.create()
    back.add_topics(["t"])
    a.simulation.run_for(span_s=10)
    (row,) = back.describe()
    assert row.state is MirrorState.PREPARING
    assert "smaller than min.insync.replicas" in row.reason
    config = AlterableConfig(name="min.insync.replicas", value="2")
    resource = AlterConfigsResource(resource_type=TOPIC_CONFIG, resource_name="t", configs=[config])
    a.order(IncrementalAlterConfigsRequest(resources=[resource]))
    back.catch_up()
    back.assert_equal()
    a.restart(dead)
    a.simulation.run_until(a.is_settled)
    back.assert_equal()  # The replica that had to truncate has done it.
    assert values(a) == [b"m", b"b"]


@pytest.mark.decision("D25")
def test_a_mirror_of_its_own_cluster_truncates_nothing() -> None:
    a, b = two_clusters()
    a.produce("t", 0, [b"m0", b"m1"])
    loop = Mirror("loop", source=b, destination=a)
    loop.create({})
    loop.alter({"bootstrap.servers": a.bootstrap_servers})
    loop.add_topics(["t"])
    a.simulation.run_for(span_s=10)
    (row,) = loop.describe()
    assert (row.state, bool(row.reason)) == (MirrorState.PREPARING, True)
    loop.fail_over()
    a.produce("t", 0, [b"m2"])
    assert values(a) == [b"m0", b"m1", b"m2"]
    loop.delete()


def test_lookups_by_time_after_a_truncation_equal_the_sources() -> None:
    a, b = two_clusters(configs={"internal.segment.bytes": "400", "index.interval.bytes": "0"})
    began = a.simulation.now_ms

    def write(cluster: Cluster, value: bytes, after_ms: int) -> None:
        Producer(cluster).send({TP: [RecordData(value=value, timestamp=began + after_ms)]})

    for number in range(10):
        write(a, b"m", number * 1_000)
    mirror = mirrored(a, b)
    a.simulation.line(a, b).take_down()
    for number in range(8):
        write(a, b"lost", 500_000 + number)
    mirror.fail_over()
    for number in range(4):
        write(b, b"b", 20_000 + number)
    a.simulation.line(a, b).bring_up()
    mirrored(b, a)
    assert [seen.fact.end - seen.fact.offset for seen in a.simulation.facts(LogCut) if seen.cluster == "a"] == [8]

    def ask(cluster: Cluster, timestamp: int) -> tuple[int, int]:
        topic = ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition(timestamp=timestamp)])
        request = ListOffsetsRequest(replica_id=-1, topics=[topic])
        answer = cluster.client.call(cluster.endpoint(leader_of(cluster)), request)
        assert isinstance(answer, ListOffsetsResponse)
        (row,) = answer.topics[0].partitions
        return row.offset, row.timestamp

    latest_by_time = -3
    for timestamp in (began, began + 5_500, began + 20_002, began + 400_000, latest_by_time):
        assert ask(a, timestamp) == ask(b, timestamp)
    assert ask(a, latest_by_time)[1] == began + 20_003, "no time of a record that was cut"


@pytest.mark.decision("D10")
@pytest.mark.parametrize("deleted", [False, True])
def test_a_topic_that_was_in_a_wrong_mirror_fails_back_incrementally(deleted: bool) -> None:
    simulation = Simulation(seed=1)
    a, b, c = (Cluster(simulation, name, brokers=1, configs=REFRESH) for name in "abc")
    for cluster in (a, b, c):
        cluster.start()
    for cluster in (a, c):
        cluster.create_topic("t")
    a.produce("t", 0, [b"m"] * 5)
    c.produce("t", 0, [b"another topic"])
    mirrored(a, b).fail_over()
    b.produce("t", 0, [b"b"])
    wrong = Mirror("wrong", source=c, destination=b)
    wrong.create()
    by_name = AddTopicsToMirrorRequest(mirror_name="wrong", topics=[TopicData(topic_name="t")])
    b.client.call(b.endpoint(1), by_name)
    wrong.wait_for_state(MirrorState.FAILED, [TP])
    wrong.fail_over()
    if deleted:  # Another mirror of that name has settled nothing.
        first = Mirror("dr", source=a, destination=b)
        first.delete()
        first.create()
    else:
        asked = LineageTopic(topic_name="t", partitions=[0])
        request = DescribeMirrorsRequest(mirror_names=["dr"], lineages=[asked], named_only=True)
        answer = b.client.call(b.endpoint(1), request)
        assert isinstance(answer, DescribeMirrorsResponse)
        (settled,) = answer.mirrors[0].topics[0].partitions
        assert settled.leader_epoch == b.image.topics["t"].partitions[0].leader_epoch
    mirrored(b, a).assert_equal()
    cuts = [(seen.fact.offset, seen.fact.end) for seen in simulation.facts(LogCut) if seen.cluster == "a"]
    assert cuts == ([(0, 5)] if deleted else [])


@pytest.mark.decision("D38")
def test_a_mirror_reports_topics_that_cannot_be_created_with_the_reason() -> None:
    a, b = two_clusters()
    a.create_topic("a.b")
    b.create_topic("a_b")
    mirror = mirrored(a, b)
    mirror.add_topics(["a.b"])
    a.simulation.run_for(span_s=5)
    assert "topic a.b is not created: INVALID_TOPIC_EXCEPTION" in mirror.reason()
    assert "collides with existing topic: a_b" in mirror.reason()
    b.order(DeleteTopicsRequest(topics=[DeleteTopicState(name="a_b")], timeout_ms=30_000))
    mirror.catch_up()
    assert mirror.reason() == ""


@pytest.mark.decision("D16")
def test_a_failback_from_a_recreated_topic_truncates_nothing() -> None:
    a, b = two_clusters()
    a.produce("t", 0, [b"m"])
    failed_over([b"only here"], [], a, b)
    b.order(DeleteTopicsRequest(topics=[DeleteTopicState(name="t")], timeout_ms=30_000))
    b.create_topic("t")
    b.produce("t", 0, [b"new"])
    back = Mirror("dr", source=b, destination=a)
    back.create()
    with pytest.raises(KafkaError, match="INCONSISTENT_TOPIC_ID"):
        back.add_topics(["t"])
    by_name = AddTopicsToMirrorRequest(mirror_name="dr", topics=[TopicData(topic_name="t")])
    a.client.call(a.endpoint(1), by_name)
    (row,) = back.wait_for_state(MirrorState.FAILED, [TP])
    assert "they are different topics" in row.reason
    assert row.reason.endswith("remove the topic from the mirror, delete it here, then add it again")
    back.fail_over()
    a.produce("t", 0, [b"goes on"])
    assert values(a) == [b"m", b"only here", b"goes on"]
    a.order(DeleteTopicsRequest(topics=[DeleteTopicState(name="t")], timeout_ms=30_000))
    back.add_topics(["t"])  # The advice of the reason.
    back.catch_up()
    assert values(a) == [b"new"]
