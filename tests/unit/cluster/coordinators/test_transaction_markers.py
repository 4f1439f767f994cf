"""Phase two of a transaction: every partition gets exactly one marker, regardless of failures in between."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.coordinators.transactions.state import Status
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kmirror.protocol.gen.add_partitions_to_txn_response import AddPartitionsToTxnResponse
from kmirror.protocol.gen.create_topics_request import CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.end_txn_response import EndTxnResponse
from kmirror.records.control import ControlType
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.lines import Line
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import TRANSACTION_TOPIC

CONFIGS = {"transaction.state.log.num.partitions": "1"}
IMPATIENT = {"request.timeout.ms": "3000"}
PATIENT = {**IMPATIENT, "replica.lag.time.max.ms": "60000"}
ALONE = {"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1"}
STATE = TopicPartition(TRANSACTION_TOPIC, 0)


def start(configs: Mapping[str, str]) -> tuple[Cluster, int, TopicPartition, TopicPartition]:
    """Return a cluster, its coordinator, and two partitions led by the two other brokers."""
    cluster = Cluster(Simulation(1), "a", configs={**CONFIGS, **configs})
    cluster.start()
    Producer(cluster, transactional_id="first")  # Creates `__transaction_state`.
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
    cluster.simulation.run_for(span_s=3)
    return cluster, state.broker_id, TopicPartition("t", 0), TopicPartition("t", 1)


def begin(cluster: Cluster, *partitions: TopicPartition) -> Producer:
    producer = Producer(cluster, transactional_id="id")
    rows = {tp: [RecordData(value=b"v")] for tp in partitions}
    producer.begin_transaction()
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
    for component in cluster.broker(state.broker_id).parts.components:
        if isinstance(component, TransactionCoordinator) and (found := component.find("id")) is not None:
            return found.status
    return None


def test_a_slow_partition_gets_one_marker_while_another_is_retried() -> None:
    cluster, _, dying, slow = start(ALONE)
    producer = begin(cluster, dying, slow)
    victim = cluster.leader(dying)
    assert victim is not None
    # The marker on the slow leader waits for this follower until the controller fences it.
    cluster.kill(victim.broker_id)
    producer.commit_transaction()
    cluster.simulation.run_until(lambda: status(cluster) is Status.COMPLETE_COMMIT, within_s=60)
    assert markers(cluster, slow) == [ControlType.COMMIT]
    assert markers(cluster, dying) == [ControlType.COMMIT]


def test_a_decision_not_confirmed_in_time_is_still_carried_out() -> None:
    cluster, coordinator, one, other = start(IMPATIENT)
    producer = begin(cluster, one, other)
    others = [b for b in cluster.broker_ids if b != coordinator]
    lines = [cluster.simulation.line(cluster.process(coordinator), cluster.process(broker)) for broker in others]
    for line in lines:
        line.take_down()
    request = EndTxnRequest(
        transactional_id="id", producer_id=producer.producer_id, producer_epoch=producer.producer_epoch, committed=True
    )
    reply = cluster.client.call(cluster.endpoint(coordinator), request, 4)
    assert isinstance(reply, EndTxnResponse)
    assert reply.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    for line in lines:
        line.bring_up()
    cluster.simulation.run_until(lambda: status(cluster) is Status.COMPLETE_COMMIT, within_s=60)
    assert markers(cluster, one) == markers(cluster, other) == [ControlType.COMMIT]


def isolate(cluster: Cluster, broker_id: int) -> None:
    """Separate a broker from all other brokers and the controller."""
    for line in lines_of(cluster, broker_id):
        line.take_down()


def rejoin(cluster: Cluster, broker_id: int) -> None:
    for line in lines_of(cluster, broker_id):
        line.bring_up()


def lines_of(cluster: Cluster, broker_id: int) -> list[Line]:
    here, simulation = cluster.process(broker_id), cluster.simulation
    return [
        simulation.line(here, cluster.process(other))
        for other in (*cluster.broker_ids, CONTROLLER_ID)
        if other != broker_id
    ]


def ask(cluster: Cluster, broker_id: int, producer: Producer, *, commit: bool) -> int:
    """Return the error of EndTxn."""
    request = EndTxnRequest(
        transactional_id="id",
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        committed=commit,
    )
    reply = cluster.client.call(cluster.endpoint(broker_id), request, 4)
    assert isinstance(reply, EndTxnResponse)
    return reply.error_code


def test_a_partition_that_only_the_coordinators_own_log_has_is_not_acknowledged() -> None:
    cluster, coordinator, one, _ = start(IMPATIENT)
    producer = Producer(cluster, transactional_id="id")
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="id",
        v3_and_below_producer_id=producer.producer_id,
        v3_and_below_producer_epoch=producer.producer_epoch,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name=one.topic, partitions=[one.partition])],
    )

    def add(broker_id: int) -> int:
        reply = cluster.client.call(cluster.endpoint(broker_id), request, 3)
        assert isinstance(reply, AddPartitionsToTxnResponse)
        return reply.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code

    isolate(cluster, coordinator)
    answers = [add(coordinator) for _ in range(3)]
    under_way = ErrorCode.CONCURRENT_TRANSACTIONS
    assert answers == [ErrorCode.COORDINATOR_NOT_AVAILABLE, under_way, under_way], "its successor will not know of it"
    assert status(cluster) is Status.EMPTY
    cluster.simulation.run_until(lambda: getattr(cluster.leader(STATE), "broker_id", coordinator) != coordinator)
    assert status(cluster) is Status.EMPTY
    rejoin(cluster, coordinator)


def test_a_decision_that_only_the_coordinators_own_log_has_writes_no_marker() -> None:
    cluster, coordinator, _, _ = start(IMPATIENT)
    own = TopicPartition("own", 0)
    row = CreatableReplicaAssignment(partition_index=0, broker_ids=[coordinator])
    topic = CreatableTopic(name=own.topic, num_partitions=-1, replication_factor=-1, assignments=[row])
    cluster.client.call(cluster.endpoint(1), CreateTopicsRequest(topics=[topic]), 7)
    cluster.simulation.run_until(lambda: own.topic in cluster.image.topics and cluster.is_settled())
    producer = begin(cluster, own)
    isolate(cluster, coordinator)
    assert ask(cluster, coordinator, producer, commit=True) == ErrorCode.COORDINATOR_NOT_AVAILABLE
    log = cluster.broker(coordinator).parts.replicas.partitions[own].log
    cluster.simulation.run_for(span_s=1)
    assert not any(batch.is_control for batch in log.batches()), "the successor may decide otherwise"
    cluster.simulation.run_until(lambda: getattr(cluster.leader(STATE), "broker_id", coordinator) != coordinator)
    rejoin(cluster, coordinator)
    state = cluster.leader(STATE)
    assert state is not None
    assert ask(cluster, state.broker_id, producer, commit=False) == ErrorCode.NONE
    cluster.simulation.run_until(
        lambda: status(cluster) is Status.COMPLETE_ABORT and cluster.leader(own) is not None, within_s=60
    )
    assert markers(cluster, own) == [ControlType.ABORT]


@pytest.mark.decision("D48")
def test_a_decision_that_a_new_coordinator_may_lose_as_well_writes_no_marker() -> None:
    """The first coordinator's PREPARE_COMMIT reaches its successor, but not the next one, which aborts."""
    cluster, first, _, _ = start(PATIENT)
    second, third = (b for b in cluster.image.topics[STATE.topic].partitions[0].replicas if b != first)
    own = TopicPartition("own", 0)
    row = CreatableReplicaAssignment(partition_index=0, broker_ids=[second])
    topic = CreatableTopic(name=own.topic, num_partitions=-1, replication_factor=-1, assignments=[row])
    cluster.client.call(cluster.endpoint(1), CreateTopicsRequest(topics=[topic]), 7)
    cluster.simulation.run_until(lambda: own.topic in cluster.image.topics and cluster.is_settled())
    producer = begin(cluster, own)
    lines = [cluster.simulation.line(cluster.process(b), cluster.process(third)) for b in (first, second)]
    for line in lines:
        line.take_down()
    assert ask(cluster, first, producer, commit=True) == ErrorCode.COORDINATOR_NOT_AVAILABLE
    cluster.kill(first)
    cluster.simulation.run_until(lambda: getattr(cluster.leader(STATE), "broker_id", first) == second, within_s=60)
    cluster.simulation.run_for(span_s=1)
    assert third in cluster.image.topics[STATE.topic].partitions[0].isr
    assert markers(cluster, own) == [], "the third may lead next, and has an open transaction"
    assert ask(cluster, second, producer, commit=True) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    cluster.kill(second)
    for line in lines:
        line.bring_up()
    cluster.simulation.run_until(lambda: getattr(cluster.leader(STATE), "broker_id", second) == third, within_s=60)
    cluster.restart(second)
    cluster.simulation.run_until(lambda: second in cluster.image.topics[STATE.topic].partitions[0].isr, within_s=60)
    assert ask(cluster, third, producer, commit=False) == ErrorCode.NONE
    cluster.simulation.run_until(lambda: status(cluster) is Status.COMPLETE_ABORT, within_s=60)
    assert markers(cluster, own) == [ControlType.ABORT]


def test_the_opposite_of_a_pending_decision_is_refused_permanently() -> None:
    cluster, coordinator, one, other = start(ALONE)
    producer = begin(cluster, one, other)
    victim = cluster.leader(one)
    assert victim is not None
    cluster.kill(victim.broker_id)
    producer.commit_transaction()
    assert status(cluster) is Status.PREPARE_COMMIT
    for committed, error in ((True, ErrorCode.CONCURRENT_TRANSACTIONS), (False, ErrorCode.INVALID_TXN_STATE)):
        request = EndTxnRequest(
            transactional_id="id",
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            committed=committed,
        )
        reply = cluster.client.call(cluster.endpoint(coordinator), request, 4)
        assert isinstance(reply, EndTxnResponse) and reply.error_code == error
