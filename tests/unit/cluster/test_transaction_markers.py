"""Phase two of a transaction: one marker for each partition, and none of it left half done."""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.coordinators.transaction_state import Status
from kmirror.cluster.coordinators.transactions import TransactionCoordinator
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.create_topics_request import CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.end_txn_response import EndTxnResponse
from kmirror.records.control import ControlType
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import TRANSACTION_TOPIC

CONFIGS = {"transaction.state.log.num.partitions": "1"}
IMPATIENT = {"request.timeout.ms": "3000"}
ALONE = {"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1"}
STATE = TopicPartition(TRANSACTION_TOPIC, 0)


def start(configs: Mapping[str, str]) -> tuple[Cluster, int, TopicPartition, TopicPartition]:
    """Return a cluster, its coordinator, and two partitions that the two other brokers lead."""
    cluster = Cluster(Simulation(1), "a", configs={**CONFIGS, **configs})
    cluster.start()
    Producer(cluster, transactional_id="first")  # Brings the topic of the coordinators into being.
    state = cluster.leader(STATE)
    assert state is not None
    others = [b for b in cluster.broker_ids if b != state.broker_id]
    rows = [
        CreatableReplicaAssignment(partition_index=n, broker_ids=[b, *(c for c in cluster.broker_ids if c != b)])
        for n, b in enumerate(others)
    ]
    topic = CreatableTopic(name="t", num_partitions=-1, replication_factor=-1, assignments=rows)
    cluster.client.call(cluster.endpoint(1), CreateTopicsRequest(topics=[topic]), 7)
    cluster.simulation.run_until(lambda: "t" in cluster.image.topics and cluster.is_settled())
    cluster.simulation.run_for(3)
    return cluster, state.broker_id, TopicPartition("t", 0), TopicPartition("t", 1)


def begin(cluster: Cluster, *partitions: TopicPartition) -> Producer:
    producer = Producer(cluster, transactional_id="id")
    rows = {tp: [RecordData(value=b"v")] for tp in partitions}
    producer.add_partitions(rows)
    producer.send(rows)
    return producer


def markers(cluster: Cluster, tp: TopicPartition) -> list[ControlType]:
    leader = cluster.leader(tp)
    assert leader is not None
    found = [batch.control() for batch in leader.log.batches() if batch.is_control]
    return [record.type for record in found if record is not None and record.type is not None]


def status(cluster: Cluster) -> Status | None:
    state = cluster.leader(STATE)
    if state is None:
        return None
    for component in cluster.broker(state.broker_id).components:
        if isinstance(component, TransactionCoordinator) and (found := component.find("id")) is not None:
            return found.status
    return None


def test_a_slow_partition_gets_one_marker_while_another_is_asked_again_and_again() -> None:
    cluster, _, dying, slow = start(ALONE)
    producer = begin(cluster, dying, slow)
    victim = cluster.leader(dying)
    assert victim is not None
    # The slow one waits for this broker as a follower, until the controller misses it.
    cluster.kill(victim.broker_id)
    producer.end(commit=True)
    cluster.simulation.run_until(lambda: status(cluster) is Status.COMPLETE_COMMIT, within=60)
    assert markers(cluster, slow) == [ControlType.COMMIT]
    assert markers(cluster, dying) == [ControlType.COMMIT]


def test_a_decision_that_was_not_confirmed_in_time_is_carried_out_all_the_same() -> None:
    cluster, coordinator, one, other = start(IMPATIENT)
    producer = begin(cluster, one, other)
    others = [b for b in cluster.broker_ids if b != coordinator]
    network = cluster.simulation.world.network
    for broker in others:
        network.cut(cluster.process(coordinator), cluster.process(broker))
    request = EndTxnRequest(
        transactional_id="id", producer_id=producer.producer_id, producer_epoch=producer.producer_epoch, committed=True
    )
    reply = cluster.client.call(cluster.endpoint(coordinator), request, 4)
    assert isinstance(reply, EndTxnResponse)
    assert reply.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    for broker in others:
        network.heal(cluster.process(coordinator), cluster.process(broker))
    cluster.simulation.run_until(lambda: status(cluster) is Status.COMPLETE_COMMIT, within=60)
    assert markers(cluster, one) == markers(cluster, other) == [ControlType.COMMIT]


def test_the_opposite_of_a_decision_under_way_is_refused_for_good() -> None:
    cluster, coordinator, one, other = start(ALONE)
    producer = begin(cluster, one, other)
    victim = cluster.leader(one)
    assert victim is not None
    cluster.kill(victim.broker_id)
    producer.end(commit=True)
    assert status(cluster) is Status.PREPARE_COMMIT
    for committed, error in ((True, ErrorCode.CONCURRENT_TRANSACTIONS), (False, ErrorCode.INVALID_TXN_STATE)):
        request = EndTxnRequest(
            transactional_id="id", producer_id=producer.producer_id, producer_epoch=producer.producer_epoch,
            committed=committed,
        )
        reply = cluster.client.call(cluster.endpoint(coordinator), request, 4)
        assert isinstance(reply, EndTxnResponse) and reply.error_code == error
