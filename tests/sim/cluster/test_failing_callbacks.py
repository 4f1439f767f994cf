"""Requests whose response fails after their handler returned: only the client of that request gets an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.images import METADATA_TOPIC_ID
from kmirror.cluster.server import Inbound, Server
from kmirror.kernel.events import Chunk
from kmirror.kernel.failures import OnFailure
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.protocol.gen.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kmirror.protocol.message import Message
from kmirror.sim.cluster import Cluster
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.sim.cluster.random_requests import CONFIGS, RawClient
from tests.sim.cluster.test_authorization import errors_in
from tests.sim.stage import plain

TP = TopicPartition("t", 0)


class Bug(Exception):
    pass


class Breaker:
    """Lets one response to the test's own client fail, if it is sent after the handler of its request returned."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.target: type[Message] | None = None
        self._handling = 0
        work, answer = Server._serve_next, Inbound._respond

        def handling(server: Server, *args: object) -> None:
            self._handling += 1
            try:
                work(server, *args)  # type: ignore[arg-type]
            finally:
                self._handling -= 1

        def answering(inbound: Inbound, chunks: tuple[Chunk, ...], body: Message | None) -> None:
            ours = self.target is type(inbound.body) and inbound.head.client_id == RawClient.NAME
            if ours and not self._handling:
                self.target = None
                raise Bug
            answer(inbound, chunks, body)

        monkeypatch.setattr(Server, "_serve_next", handling)
        monkeypatch.setattr(Inbound, "_respond", answering)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Cluster, RawClient, Breaker]]:
    cluster = Cluster(Simulation(4), "a", configs=CONFIGS, on_failure=OnFailure.CONTINUE)
    cluster.start()
    cluster.create_topic("t")
    breaker = Breaker(monkeypatch)
    yield cluster, RawClient(cluster), breaker


def leader(cluster: Cluster) -> Endpoint:
    cluster.simulation.run_until(lambda: cluster.leader(TP) is not None, what="a leader")
    partition = cluster.leader(TP)
    assert partition is not None
    return cluster.endpoint(partition.broker_id)


def coordinator(cluster: Cluster) -> Endpoint:
    def found() -> list[int]:
        owners = {
            broker_id: cluster.broker(broker_id).parts.components.get(TransactionCoordinator)
            for broker_id in cluster.broker_ids
        }
        return [one for one, owner in owners.items() if owner.runtime.state(owner.shard_of("tx")) is not None]

    if not found():
        Producer(cluster, transactional_id="tx")  # It waits until its coordinator has given it an id.
    return cluster.endpoint(found()[0])


def controller(cluster: Cluster) -> Endpoint:
    METADATA_FETCH.topics[0].partitions[0].fetch_offset = cluster.controller.context.log.log.log_end_offset
    return cluster.endpoint(CONTROLLER_ID)


def produce(acks: int = -1) -> ProduceRequest:
    data = PartitionProduceData(index=0, records=plain(0, 0, "a"))
    return ProduceRequest(acks=acks, timeout_ms=5000, topic_data=[TopicProduceData(name="t", partition_data=[data])])


def fetch(offset: int) -> FetchRequest:
    asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1000)
    return FetchRequest(replica_id=-1, max_wait_ms=300, min_bytes=1, topics=[FetchTopic(topic="t", partitions=[asked])])


METADATA_FETCH = FetchRequest(
    replica_state=ReplicaState(replica_id=9),
    max_wait_ms=10,
    topics=[FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[FetchPartition(partition=0)])],
)
MARKERS = WriteTxnMarkersRequest(
    markers=[
        WritableTxnMarker(
            producer_id=3, producer_epoch=0, topics=[WritableTxnMarkerTopic(name="t", partition_indexes=[0])]
        )
    ]
)
ADD = AddPartitionsToTxnRequest(
    v3_and_below_transactional_id="tx", v3_and_below_topics=[AddPartitionsToTxnTopic(name="t", partitions=[0])]
)
Where = Callable[[Cluster], Endpoint]


@pytest.mark.parametrize(
    ("request_", "version", "where"),
    [
        pytest.param(produce(), 9, leader, id="acks of a Produce"),
        pytest.param(fetch(0), 12, leader, id="a parked Fetch"),
        pytest.param(METADATA_FETCH, 17, controller, id="a parked Fetch of metadata"),
        pytest.param(MARKERS, 1, leader, id="acks of WriteTxnMarkers"),
        pytest.param(
            CreateTopicsRequest(topics=[CreatableTopic(name="u", num_partitions=1, replication_factor=1)]),
            7,
            leader,
            id="a forwarded CreateTopics",
        ),
        pytest.param(
            InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=1000),
            4,
            coordinator,
            id="InitProducerId",
        ),
        pytest.param(ADD, 3, coordinator, id="AddPartitionsToTxn"),
        pytest.param(EndTxnRequest(transactional_id="tx", committed=True), 3, coordinator, id="EndTxn"),
    ],
)
def test_a_client_gets_an_error_if_its_response_fails_later(
    request_: Message, version: int, where: Where, broken: tuple[Cluster, RawClient, Breaker]
) -> None:
    cluster, raw, breaker = broken
    endpoint = where(cluster)
    if isinstance(request_, AddPartitionsToTxnRequest | EndTxnRequest):
        begin(cluster, raw, endpoint, request_)
    breaker.target = type(request_)
    reply = raw.ask(endpoint, request_, version)
    assert breaker.target is None, "the answer was given by the handler itself"
    assert reply is not None, "the link was closed"
    assert errors_in(reply) == [ErrorCode.UNKNOWN_SERVER_ERROR]
    brokers = [cluster.broker(broker_id).context.failures for broker_id in cluster.broker_ids]
    assert sum(one.count for one in (*brokers, cluster.controller.failures)) == 1
    again = raw.ask(leader(cluster), produce(), 9)
    assert again is not None and errors_in(again) == []


def begin(cluster: Cluster, raw: RawClient, endpoint: Endpoint, request: Message) -> None:
    """Give the transactional id a producer and, for EndTxn, an open transaction."""
    init = InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=60_000)
    made = raw.ask(endpoint, init, 4)
    assert isinstance(made, InitProducerIdResponse) and not made.error_code
    ADD.v3_and_below_producer_id, ADD.v3_and_below_producer_epoch = made.producer_id, made.producer_epoch
    if isinstance(request, EndTxnRequest):
        request.producer_id, request.producer_epoch = made.producer_id, made.producer_epoch
        added = raw.ask(endpoint, ADD, 3)
        assert added is not None and errors_in(added) == []


class Waiting:
    """A watcher with waiting requests."""

    def __init__(self) -> None:
        self.parked_keys: list[int] = []

    def on_changed(self) -> None:
        pass

    def on_dropped(self) -> None:
        pass


def test_a_failing_callback_does_not_affect_other_waits(broken: tuple[Cluster, RawClient, Breaker]) -> None:
    """Unguarded callbacks of acks, of a coordinator or a mirror, fail alone."""
    cluster, _, _ = broken
    leader(cluster)
    partition = cluster.leader(TP)
    assert partition is not None
    broker, now = cluster.broker(partition.broker_id), cluster.simulation.world.now
    replicas, told = broker.parts.replicas, list[ErrorCode]()

    def failing(*_: object) -> bool:
        raise Bug

    replicas.purgatory.await_acks(now, partition, 0, 1000, failing)
    replicas.purgatory.await_acks(now, partition, 0, 1000, lambda _, error: told.append(error))
    parked = list[object]()
    waiting = Waiting()
    partition.watch(waiting)
    waiting.parked_keys.append(replicas.purgatory.park(now, 1000, failing))
    waiting.parked_keys.append(
        replicas.purgatory.park(now, 1000, lambda _, is_over: bool(parked.append(is_over) or True))
    )
    replicas.changes.mark_changed(TP)
    assert replicas.purgatory.wake_waiters(now)
    assert told == [ErrorCode.NONE] and parked == [False]
    assert broker.context.failures.count == 2
    replicas.changes.mark_changed(TP)
    replicas.purgatory.wake_waiters(now)
    assert broker.context.failures.count == 2 and len(told) == len(parked) == 1, "each was called once"
