"""Requests that no client sends, and that `kmirror fuzz brokers` put to a real 4.3.1: the answers are its own."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.protocol.gen.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.message import Message
from kmirror.records import RecordData, build_batch
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode as E
from tests.sim.stage import transactional

TOPIC = "orders"
INTERNAL = "__consumer_offsets"


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(Simulation(1), "a", brokers=1)
    made.start()
    made.create_topic(TOPIC, 2)
    for name in (INTERNAL, "__transaction_state"):
        made.create_topic(name, 1)
    made.simulation.run_for(span_s=1)
    return made


def asked(cluster: Cluster, body: Message, version: int) -> Any:
    return cluster.client.call(cluster.endpoint(1), body, version)


def rows(answer: Any) -> dict[tuple[str, int], E]:
    found = [
        (topic.name, row.index, E(row.error_code)) for topic in answer.responses for row in topic.partition_responses
    ]
    assert len({(name, index) for name, index, _ in found}) == len(found), "a row for each partition"
    return {(name, index): code for name, index, code in found}


def batch(*values: bytes) -> bytes:
    return build_batch([RecordData(value=value) for value in values])


def produce(*topics: TopicProduceData, acks: int = -1, transactional_id: str | None = None) -> ProduceRequest:
    return ProduceRequest(transactional_id, acks, 1000, list(topics))


def test_a_partition_that_a_produce_names_twice_is_written_once_as_it_was_named_last(cluster: Cluster) -> None:
    first, last, other = (PartitionProduceData(n, batch(value)) for n, value in ((0, b"a"), (0, b"b"), (1, b"c")))
    request = produce(
        TopicProduceData(TOPIC, partition_data=[first, other]), TopicProduceData(TOPIC, partition_data=[last])
    )
    answer = asked(cluster, request, 9)
    assert rows(answer) == {(TOPIC, 0): E.NONE, (TOPIC, 1): E.NONE}
    assert [[record.value for record in cluster.read(tp)] for tp in cluster.partitions([TOPIC])] == [[b"b"], [b"c"]]


def test_a_topic_without_partitions_has_no_row(cluster: Cluster) -> None:
    data = PartitionProduceData(0, batch(b"a"))
    answer = asked(
        cluster, produce(TopicProduceData("none", partition_data=[]), TopicProduceData(TOPIC, partition_data=[data])), 9
    )
    assert [topic.name for topic in answer.responses] == [TOPIC]
    asking = ListOffsetsRequest(
        topics=[ListOffsetsTopic("none", []), ListOffsetsTopic(TOPIC, [ListOffsetsPartition(0)])]
    )
    assert [topic.name for topic in asked(cluster, asking, 7).topics] == [TOPIC]


@pytest.mark.parametrize(
    ("name", "index", "acks", "code"),
    [
        (TOPIC, 0, 7, E.INVALID_REQUIRED_ACKS),
        (TOPIC, 9, 7, E.UNKNOWN_TOPIC_OR_PARTITION),
        (INTERNAL, 0, 7, E.INVALID_REQUIRED_ACKS),
        (INTERNAL, 0, 1, E.INVALID_TOPIC_EXCEPTION),
        (INTERNAL, 9, 1, E.UNKNOWN_TOPIC_OR_PARTITION),
        (INTERNAL, 9, 7, E.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_a_partition_that_there_is_not_goes_before_all_else(
    cluster: Cluster, name: str, index: int, acks: int, code: E
) -> None:
    data = PartitionProduceData(index, batch(b"a"))
    answer = asked(cluster, produce(TopicProduceData(name, partition_data=[data]), acks=acks), 9)
    assert rows(answer) == {(name, index): code}


@pytest.mark.parametrize(("name", "code"), [(None, E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED), ("", E.INVALID_REQUEST)])
@pytest.mark.parametrize("version", [9, 12])
def test_an_empty_transactional_id_is_one_that_the_coordinator_refuses(
    cluster: Cluster, name: str | None, code: E, version: int
) -> None:
    data = PartitionProduceData(0, bytes(transactional(0, 1, 0, "a")))
    answer = asked(cluster, produce(TopicProduceData(TOPIC, partition_data=[data]), transactional_id=name), version)
    assert rows(answer) == {(TOPIC, 0): code}


def test_list_offsets_has_one_row_for_each_partition_and_one_topic_for_its_rows(cluster: Cluster) -> None:
    topics = [ListOffsetsTopic(TOPIC, [ListOffsetsPartition(n) for n in each]) for each in ((0, 0), (1,))]
    answer = asked(cluster, ListOffsetsRequest(topics=topics), 7)
    (topic,) = answer.topics
    assert {row.partition_index: E(row.error_code) for row in topic.partitions} == {0: E.INVALID_REQUEST, 1: E.NONE}
    assert len(topic.partitions) == 2


@pytest.mark.parametrize("level", [-1, 2, 127])
def test_list_offsets_knows_two_isolation_levels(cluster: Cluster, level: int) -> None:
    topics = [ListOffsetsTopic(TOPIC, [ListOffsetsPartition(0), ListOffsetsPartition(9)])]
    answer = asked(cluster, ListOffsetsRequest(isolation_level=level, topics=topics), 7)
    assert [E(row.error_code) for row in answer.topics[0].partitions] == [E.UNKNOWN_SERVER_ERROR] * 2


@pytest.mark.parametrize("verify_only", [True, False])
def test_a_partition_that_there_is_not_is_told_by_a_verification_too(cluster: Cluster, verify_only: bool) -> None:
    named = AddPartitionsToTxnTopic(TOPIC, [0, 9])
    transaction = AddPartitionsToTxnTransaction("t", 7, 0, verify_only, [named])
    answer = asked(cluster, AddPartitionsToTxnRequest(transactions=[transaction]), 5)
    (topic,) = answer.results_by_transaction[0].topic_results
    codes = {row.partition_index: E(row.partition_error_code) for row in topic.results_by_partition}
    assert codes == {0: E.OPERATION_NOT_ATTEMPTED, 9: E.UNKNOWN_TOPIC_OR_PARTITION}


@pytest.mark.parametrize("version", [0, 3, 4])
def test_partitions_are_added_to_a_transaction_as_often_as_they_were_named(cluster: Cluster, version: int) -> None:
    topics = [AddPartitionsToTxnTopic(TOPIC, [0, 0]), AddPartitionsToTxnTopic("none", [])]
    if version < 4:
        body = AddPartitionsToTxnRequest([], "t", 7, 0, topics)
        found = asked(cluster, body, version).results_by_topic_v3_and_below
    else:
        body = AddPartitionsToTxnRequest([AddPartitionsToTxnTransaction("t", 7, 0, topics=topics)])
        found = asked(cluster, body, version).results_by_transaction[0].topic_results
    codes = {topic.name: [E(row.partition_error_code) for row in topic.results_by_partition] for topic in found}
    assert codes == {TOPIC: [E.INVALID_PRODUCER_ID_MAPPING] * 2, "none": []}


@pytest.mark.parametrize(("epoch", "code"), [(-1, E.NOT_LEADER_OR_FOLLOWER), (0, E.UNKNOWN_LEADER_EPOCH)])
def test_a_fetcher_that_is_no_replica_is_behind_if_it_knows_the_epoch(cluster: Cluster, epoch: int, code: E) -> None:
    wanted = FetchPartition(0, current_leader_epoch=epoch, partition_max_bytes=1)
    request = FetchRequest(replica_id=9, session_epoch=-1, topics=[FetchTopic(topic=TOPIC, partitions=[wanted])])
    (topic,) = asked(cluster, request, 9).responses
    assert [E(row.error_code) for row in topic.partitions] == [code]
