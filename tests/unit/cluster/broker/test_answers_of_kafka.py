"""Requests that no client sends, drawn by `kmirror fuzz brokers`; the expected responses are Kafka 4.3.1's."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from kmirror.protocol.gen import incremental_alter_configs_request as incremental
from kmirror.protocol.gen.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kmirror.protocol.gen.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kmirror.protocol.message import Message
from kmirror.records import Compression, RecordData, build_batch, layout
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode as E
from kmirror.spec.wire_values import IsolationLevel, OffsetSpec
from tests.sim.stage import T0_MS, transactional

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


def call(cluster: Cluster, body: Message, version: int) -> Any:
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


def test_a_partition_named_twice_is_written_once_as_named_last(cluster: Cluster) -> None:
    first, last, other = (PartitionProduceData(n, batch(value)) for n, value in ((0, b"a"), (0, b"b"), (1, b"c")))
    request = produce(
        TopicProduceData(TOPIC, partition_data=[first, other]), TopicProduceData(TOPIC, partition_data=[last])
    )
    answer = call(cluster, request, 9)
    assert rows(answer) == {(TOPIC, 0): E.NONE, (TOPIC, 1): E.NONE}
    assert [[record.value for record in cluster.read(tp)] for tp in cluster.partitions([TOPIC])] == [[b"b"], [b"c"]]


def test_a_topic_without_partitions_has_no_row(cluster: Cluster) -> None:
    data = PartitionProduceData(0, batch(b"a"))
    answer = call(
        cluster, produce(TopicProduceData("none", partition_data=[]), TopicProduceData(TOPIC, partition_data=[data])), 9
    )
    assert [topic.name for topic in answer.responses] == [TOPIC]
    asking = ListOffsetsRequest(
        topics=[ListOffsetsTopic("none", []), ListOffsetsTopic(TOPIC, [ListOffsetsPartition(0)])]
    )
    assert [topic.name for topic in call(cluster, asking, 7).topics] == [TOPIC]


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
def test_a_missing_partition_is_reported_before_other_errors(
    cluster: Cluster, name: str, index: int, acks: int, code: E
) -> None:
    data = PartitionProduceData(index, batch(b"a"))
    answer = call(cluster, produce(TopicProduceData(name, partition_data=[data]), acks=acks), 9)
    assert rows(answer) == {(name, index): code}


def batch_with(at: int, mask: str, number: int) -> bytes:
    """Return a batch with another number in its header, and an unchecked checksum."""
    changed = bytearray(batch(b"a"))
    struct.pack_into(mask, changed, at, number)
    return bytes(changed)


NO_SIZES = [batch_with(layout.BATCH_LENGTH_AT, ">i", size) for size in (-1, 0, 13)]
NO_FORMATS = [batch_with(layout.MAGIC_AT, "b", magic) for magic in (-1, 3)]


@pytest.mark.parametrize("records", [*NO_SIZES, *NO_FORMATS, NO_SIZES[0][:12], NO_FORMATS[0][:17]])
@pytest.mark.parametrize("indexes", [(0, 9), (9, 0)])
def test_an_invalid_size_or_format_fails_all_partitions(
    cluster: Cluster, records: bytes, indexes: tuple[int, int]
) -> None:
    data = [PartitionProduceData(n, records if n == 0 else batch(b"a")) for n in indexes]
    answer = call(cluster, produce(TopicProduceData(TOPIC, partition_data=[*data, data[0]])), 9)
    assert rows(answer) == {(TOPIC, 0): E.CORRUPT_MESSAGE, (TOPIC, 9): E.CORRUPT_MESSAGE}
    refused = call(cluster, produce(TopicProduceData(TOPIC, partition_data=data), acks=7), 9)
    assert rows(refused) == {(TOPIC, 0): E.CORRUPT_MESSAGE, (TOPIC, 9): E.CORRUPT_MESSAGE}


@pytest.mark.parametrize("magic", [0, 1])
def test_an_old_format_is_reported_for_its_partition(cluster: Cluster, magic: int) -> None:
    data = [PartitionProduceData(0, batch_with(layout.MAGIC_AT, "b", magic)), PartitionProduceData(9, batch(b"a"))]
    answer = call(cluster, produce(TopicProduceData(TOPIC, partition_data=data)), 9)
    assert rows(answer) == {(TOPIC, 0): E.INVALID_RECORD, (TOPIC, 9): E.UNKNOWN_TOPIC_OR_PARTITION}


def test_a_denied_transactional_write_fails_before_later_checks(cluster: Cluster) -> None:
    in_transaction, corrupt = bytes(transactional(0, 1, 0, "a")), NO_SIZES[0]
    for first, second, code in (
        (in_transaction, corrupt, E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
        (corrupt, in_transaction, E.CORRUPT_MESSAGE),
    ):
        data = [PartitionProduceData(0, first), PartitionProduceData(1, second)]
        answer = call(cluster, produce(TopicProduceData(TOPIC, partition_data=data)), 9)
        assert rows(answer) == {(TOPIC, 0): code, (TOPIC, 1): code}


def test_a_truncated_batch_is_in_no_transaction(cluster: Cluster) -> None:
    data = PartitionProduceData(0, bytes(transactional(0, 1, 0, "a"))[:-1])
    answer = call(cluster, produce(TopicProduceData(TOPIC, partition_data=[data])), 9)
    assert rows(answer) == {(TOPIC, 0): E.INVALID_RECORD}


@pytest.mark.parametrize(
    ("rest", "code"),
    [
        (b"12345", E.NONE),
        (bytes(11), E.NONE),
        (batch(b"b")[:-1], E.NONE),
        (bytes(12), E.CORRUPT_MESSAGE),
        (NO_FORMATS[0], E.CORRUPT_MESSAGE),
        (batch(b"b"), E.INVALID_RECORD),
    ],
)
def test_bytes_after_a_batch_are_ignored_unless_they_may_be_one(cluster: Cluster, rest: bytes, code: E) -> None:
    first = batch(b"a")
    answer = call(cluster, produce(TopicProduceData(TOPIC, partition_data=[PartitionProduceData(0, first + rest)])), 9)
    assert rows(answer) == {(TOPIC, 0): code}
    (tp, *_) = cluster.partitions([TOPIC])
    assert [record.value for record in cluster.read(tp)] == [b"a"] * (code is E.NONE)


@pytest.mark.parametrize(("name", "acks"), [(INTERNAL, -1), (TOPIC, 7), (INTERNAL, 7)])
def test_invalid_records_are_reported_before_acks_and_topic(cluster: Cluster, name: str, acks: int) -> None:
    for records, code in ((batch(b"a")[:-1], E.INVALID_RECORD), (batch(b"a") * 2, E.INVALID_RECORD)):
        data = PartitionProduceData(0, records)
        answer = call(cluster, produce(TopicProduceData(name, partition_data=[data]), acks=acks), 9)
        assert rows(answer) == {(name, 0): code}


@pytest.mark.parametrize(
    ("version", "code"), [(3, E.UNSUPPORTED_COMPRESSION_TYPE), (6, E.UNSUPPORTED_COMPRESSION_TYPE), (7, E.NONE)]
)
def test_zstd_needs_version_7(cluster: Cluster, version: int, code: E) -> None:
    records = build_batch([RecordData(value=b"a" * 99)], compression=Compression.ZSTD)
    plain = produce(TopicProduceData(TOPIC, partition_data=[PartitionProduceData(0, batch(b"a"))]))
    squeezed = produce(TopicProduceData(TOPIC, partition_data=[PartitionProduceData(0, records)]))
    assert rows(call(cluster, plain, version)) == {(TOPIC, 0): E.NONE}
    for _ in range(2):  # On one link, where a shortcut answers a request that equals the one before.
        assert rows(call(cluster, squeezed, version)) == {(TOPIC, 0): code}


@pytest.mark.parametrize("acks", [-1, 7])
@pytest.mark.parametrize("version", [9, 12])
def test_batches_of_several_transactional_producers_fail_the_whole_request(
    cluster: Cluster, acks: int, version: int
) -> None:
    data = [PartitionProduceData(n, bytes(transactional(0, 0, 7 + n, "a"))) for n in range(2)]
    data.append(PartitionProduceData(9, batch(b"a")))
    request = produce(TopicProduceData(TOPIC, partition_data=data), acks=acks, transactional_id="t")
    found = rows(call(cluster, request, version))
    assert found == {(TOPIC, n): E.INVALID_PRODUCER_ID_MAPPING for n in (0, 1, 9)}
    data[1].index = 8  # There is no such partition either: only one producer counts.
    assert rows(call(cluster, request, version))[TOPIC, 8] == E.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(("name", "code"), [(None, E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED), ("", E.INVALID_REQUEST)])
@pytest.mark.parametrize("version", [9, 12])
def test_an_empty_transactional_id_is_one_that_the_coordinator_refuses(
    cluster: Cluster, name: str | None, code: E, version: int
) -> None:
    data = PartitionProduceData(0, bytes(transactional(0, 1, 0, "a")))
    answer = call(cluster, produce(TopicProduceData(TOPIC, partition_data=[data]), transactional_id=name), version)
    assert rows(answer) == {(TOPIC, 0): code}


@pytest.mark.parametrize("version", [9, 12])
def test_a_transaction_that_does_not_exist_is_reported_before_an_internal_topic(cluster: Cluster, version: int) -> None:
    data = PartitionProduceData(0, bytes(transactional(0, 1, 0, "a")))
    answer = call(cluster, produce(TopicProduceData(INTERNAL, partition_data=[data]), transactional_id="t"), version)
    assert rows(answer) == {(INTERNAL, 0): E.INVALID_PRODUCER_ID_MAPPING}


def test_list_offsets_has_one_row_for_each_partition_and_one_topic_for_its_rows(cluster: Cluster) -> None:
    topics = [ListOffsetsTopic(TOPIC, [ListOffsetsPartition(n) for n in each]) for each in ((0, 0), (1,))]
    answer = call(cluster, ListOffsetsRequest(topics=topics), 7)
    (topic,) = answer.topics
    assert {row.partition_index: E(row.error_code) for row in topic.partitions} == {0: E.INVALID_REQUEST, 1: E.NONE}
    assert len(topic.partitions) == 2


@pytest.mark.parametrize("level", [-1, 2, 127])
def test_list_offsets_knows_two_isolation_levels(cluster: Cluster, level: int) -> None:
    topics = [ListOffsetsTopic(TOPIC, [ListOffsetsPartition(0), ListOffsetsPartition(9)])]
    answer = call(cluster, ListOffsetsRequest(isolation_level=level, topics=topics), 7)
    assert [E(row.error_code) for row in answer.topics[0].partitions] == [E.UNKNOWN_SERVER_ERROR] * 2


@pytest.mark.parametrize("verify_only", [True, False])
def test_a_missing_partition_is_also_reported_by_a_verification(cluster: Cluster, verify_only: bool) -> None:
    named = AddPartitionsToTxnTopic(TOPIC, [0, 9])
    transaction = AddPartitionsToTxnTransaction("t", 7, 0, verify_only, [named])
    answer = call(cluster, AddPartitionsToTxnRequest(transactions=[transaction]), 5)
    (topic,) = answer.results_by_transaction[0].topic_results
    codes = {row.partition_index: E(row.partition_error_code) for row in topic.results_by_partition}
    assert codes == {0: E.OPERATION_NOT_ATTEMPTED, 9: E.UNKNOWN_TOPIC_OR_PARTITION}


@pytest.mark.parametrize("version", [0, 3, 4])
def test_partitions_are_added_to_a_transaction_as_often_as_they_were_named(cluster: Cluster, version: int) -> None:
    topics = [AddPartitionsToTxnTopic(TOPIC, [0, 0]), AddPartitionsToTxnTopic("none", [])]
    if version < 4:
        body = AddPartitionsToTxnRequest([], "t", 7, 0, topics)
        found = call(cluster, body, version).results_by_topic_v3_and_below
    else:
        body = AddPartitionsToTxnRequest([AddPartitionsToTxnTransaction("t", 7, 0, topics=topics)])
        found = call(cluster, body, version).results_by_transaction[0].topic_results
    codes = {topic.name: [E(row.partition_error_code) for row in topic.results_by_partition] for topic in found}
    assert codes == {TOPIC: [E.INVALID_PRODUCER_ID_MAPPING] * 2, "none": []}


@pytest.mark.parametrize(("epoch", "code"), [(-1, E.NOT_LEADER_OR_FOLLOWER), (0, E.UNKNOWN_LEADER_EPOCH)])
def test_a_fetcher_that_is_no_replica_gets_an_error_by_its_epoch(cluster: Cluster, epoch: int, code: E) -> None:
    wanted = FetchPartition(0, current_leader_epoch=epoch, partition_max_bytes=1)
    request = FetchRequest(replica_id=9, session_epoch=-1, topics=[FetchTopic(topic=TOPIC, partitions=[wanted])])
    (topic,) = call(cluster, request, 9).responses
    assert [E(row.error_code) for row in topic.partitions] == [code]


@pytest.mark.parametrize("version", [4, 7, 12, 13, 18])
@pytest.mark.parametrize("level", [-1, 2])
@pytest.mark.parametrize("replica", [-1, 1])
def test_a_fetch_knows_two_isolation_levels_where_there_is_a_partition(
    cluster: Cluster, version: int, level: int, replica: int
) -> None:
    by_id = version >= 13
    (described,) = call(cluster, MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)]), 12).topics

    def fetched(*indexes: int, **session: int) -> FetchResponse:
        topics = [FetchTopic(TOPIC, described.topic_id, [FetchPartition(n, partition_max_bytes=1) for n in indexes])]
        request = FetchRequest(isolation_level=level, topics=topics, max_wait_ms=0, **session)
        if version < 15:
            request.replica_id = replica
        else:
            request.replica_state = ReplicaState(replica)
        answer = call(cluster, request, version)
        assert isinstance(answer, FetchResponse)
        return answer

    def codes(answer: FetchResponse) -> list[E]:
        return [E(row.error_code) for topic in answer.responses for row in topic.partitions]

    refused = fetched(0, 9, session_epoch=0)
    assert codes(refused) == [E.UNKNOWN_SERVER_ERROR] * (0 if by_id else 2)
    assert E(refused.error_code) == (E.UNKNOWN_SERVER_ERROR if version >= 7 else E.NONE)
    assert refused.session_id == 0
    answer = fetched(9, session_epoch=-1)
    assert (codes(answer), E(answer.error_code)) == ([E.UNKNOWN_TOPIC_OR_PARTITION], E.NONE)
    if version >= 7:
        opened = fetched(9, session_epoch=0)
        again = fetched(0, session_id=opened.session_id, session_epoch=1)
        assert (again.session_id, E(again.error_code)) == (opened.session_id, E.UNKNOWN_SERVER_ERROR)
        gone = fetched(0, session_id=opened.session_id, session_epoch=1)
        assert E(gone.error_code) == E.INVALID_FETCH_SESSION_EPOCH, "the request counts"


def test_a_failed_fetch_does_not_take_another_session() -> None:
    slots = "max.incremental.fetch.session.cache.slots"
    made = Cluster(Simulation(1), "b", brokers=1, configs={slots: "1"})
    made.start()
    made.create_topic(TOPIC, 1)
    topics = [FetchTopic(TOPIC, partitions=[FetchPartition(0, partition_max_bytes=1)])]
    opened, failed = (
        call(made, FetchRequest(isolation_level=level, topics=topics, max_wait_ms=0, session_epoch=0), 12)
        for level in (IsolationLevel.READ_UNCOMMITTED, 2)
    )
    assert (failed.session_id, E(failed.error_code)) == (0, E.UNKNOWN_SERVER_ERROR)
    again = call(made, FetchRequest(session_id=opened.session_id, session_epoch=1, max_wait_ms=0), 12)
    assert E(again.error_code) == E.NONE


@pytest.mark.parametrize("name", [TOPIC, INTERNAL])
def test_a_marker_without_a_producer_is_not_written(cluster: Cluster, name: str) -> None:
    topics = [WritableTxnMarkerTopic(name, [0])]
    for producer_id, epoch, code in ((-1, 0, E.INVALID_REQUEST), (7, -1, E.INVALID_REQUEST), (7, 0, E.NONE)):
        marker = WritableTxnMarker(producer_id, epoch, topics=topics, coordinator_epoch=3 if code else 0)
        (result,) = call(cluster, WriteTxnMarkersRequest([marker]), 1).markers
        assert [E(row.error_code) for row in result.topics[0].partitions] == [code]


def test_a_producer_rejected_by_the_log_gets_the_log_start(cluster: Cluster) -> None:
    for _ in range(3):
        cluster.produce(TOPIC, 0, [b"a"])
    topics = [DeleteRecordsTopic(TOPIC, [DeleteRecordsPartition(0, 2)])]
    call(cluster, DeleteRecordsRequest(topics=topics, timeout_ms=1000), 2)
    early = build_batch([RecordData(value=b"a")], producer_id=7, producer_epoch=1, base_sequence=0)
    late = build_batch([RecordData(value=b"a")], producer_id=7, producer_epoch=1, base_sequence=9)
    for records, code, start in (
        (early, E.NONE, 2),
        (late, E.OUT_OF_ORDER_SEQUENCE_NUMBER, 2),
        (batch_with(0, ">q", 5), E.INVALID_RECORD, 2),
        (batch(b"a")[:-1], E.INVALID_RECORD, -1),
        (batch(b"a") * 2, E.INVALID_RECORD, -1),
        (batch_with(layout.CRC_AT, ">I", 5), E.CORRUPT_MESSAGE, -1),
    ):
        answer = call(cluster, produce(TopicProduceData(TOPIC, partition_data=[PartitionProduceData(0, records)])), 9)
        assert rows(answer) == {(TOPIC, 0): code}
        assert answer.responses[0].partition_responses[0].log_start_offset == start


def test_the_maximum_timestamp_has_its_epoch_also_below_the_log_start(cluster: Cluster) -> None:
    cluster.produce(TOPIC, 0, [b"a"])
    topics = [DeleteRecordsTopic(TOPIC, [DeleteRecordsPartition(0, 1)])]
    call(cluster, DeleteRecordsRequest(topics=topics, timeout_ms=1000), 2)
    for timestamp, offset in ((OffsetSpec.MAX_TIMESTAMP, 0), (OffsetSpec.LATEST, 1)):
        asking = ListOffsetsRequest(topics=[ListOffsetsTopic(TOPIC, [ListOffsetsPartition(0, -1, timestamp)])])
        (topic,) = call(cluster, asking, 7).topics
        assert [(row.offset, row.leader_epoch) for row in topic.partitions] == [(offset, 0)]


@pytest.mark.parametrize(
    ("index", "offset", "size", "aborted"),
    [(0, 9, 99, None), (9, 0, 99, []), (0, 0, 1, None), (0, 0, 0, []), (0, 1, 99, [])],
)
def test_a_list_of_aborted_transactions_is_there_or_null(
    cluster: Cluster, index: int, offset: int, size: int, aborted: list[object] | None
) -> None:
    for n in range(2):
        cluster.produce(TOPIC, n, [b"a"])
    named = FetchPartition(index, fetch_offset=offset, partition_max_bytes=size)
    parts = [FetchPartition(1, partition_max_bytes=999), named]
    request = FetchRequest(
        isolation_level=1, session_epoch=-1, max_wait_ms=0, topics=[FetchTopic(TOPIC, partitions=parts)]
    )
    (topic,) = call(cluster, request, 11).responses
    assert [row.aborted_transactions for row in topic.partitions if row.partition_index == index] == [aborted]


def begun(cluster: Cluster) -> int:
    """Return the producer id of the transactional id `t`, whose epoch is 0."""
    answer = call(cluster, InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=60_000), 4)
    assert (E(answer.error_code), answer.producer_epoch) == (E.NONE, 0)
    return int(answer.producer_id)


def adds(cluster: Cluster, producer_id: int) -> None:
    body = AddPartitionsToTxnRequest([], "t", producer_id, 0, [AddPartitionsToTxnTopic(TOPIC, [0])])
    (found,) = call(cluster, body, 3).results_by_topic_v3_and_below
    assert [E(row.partition_error_code) for row in found.results_by_partition] == [E.NONE]


def sent(cluster: Cluster, version: int, producer_id: int, sequence: int, epoch: int = 0, size: int = 1) -> Any:
    """Return the response to a batch of a transaction."""
    records = build_batch(
        [RecordData(value=bytes(size))],
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=True,
        timestamp_ms=T0_MS,
    )
    data = [PartitionProduceData(0, records)]
    request = produce(TopicProduceData(TOPIC, partition_data=data), transactional_id="t")
    (row,) = call(cluster, request, version).responses[0].partition_responses
    return row


def test_a_batch_before_an_earlier_one_is_validated_by_its_records_first(cluster: Cluster) -> None:
    producer_id = begun(cluster)
    for size, code, start in ((2_000_000, E.MESSAGE_TOO_LARGE, -1), (1, E.OUT_OF_ORDER_SEQUENCE_NUMBER, 0)):
        row = sent(cluster, 12, producer_id, 5, size=size)
        assert (E(row.error_code), row.log_start_offset) == (code, start)
    assert E(sent(cluster, 12, producer_id, 0).error_code) == E.NONE


def test_a_repetition_ends_no_verification(cluster: Cluster) -> None:
    producer_id = begun(cluster)
    adds(cluster, producer_id)
    first = sent(cluster, 9, producer_id, 0)
    assert E(call(cluster, EndTxnRequest("t", producer_id, 0, committed=False), 3).error_code) == E.NONE
    cluster.simulation.run_for(span_s=1)
    adds(cluster, producer_id)
    again = sent(cluster, 9, producer_id, 0)
    assert (E(again.error_code), again.base_offset) == (E.NONE, first.base_offset)
    assert E(sent(cluster, 9, producer_id, 1).error_code) == E.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_the_first_batch_decides_if_a_verification_adds_the_partition(cluster: Cluster) -> None:
    producer_id = begun(cluster)
    assert E(sent(cluster, 9, producer_id, 5, epoch=1).error_code) == E.INVALID_PRODUCER_EPOCH
    assert E(sent(cluster, 12, producer_id, 5).error_code) == E.NONE


def test_a_fetch_returns_the_aborted_transactions_of_its_records(cluster: Cluster) -> None:
    producer_id = begun(cluster)
    adds(cluster, producer_id)
    old = build_batch([RecordData(value=b"a")], timestamp_ms=T0_MS - 1000)
    call(cluster, produce(TopicProduceData(TOPIC, partition_data=[PartitionProduceData(0, old)])), 9)
    order = incremental.IncrementalAlterConfigsRequest(
        resources=[
            incremental.AlterConfigsResource(
                resource_type=2,
                resource_name=TOPIC,
                configs=[incremental.AlterableConfig(name="segment.ms", value="1")],
            )
        ]
    )
    assert [E(row.error_code) for row in call(cluster, order, 1).responses] == [E.NONE]
    cluster.simulation.run_for(span_s=1)
    assert sent(cluster, 9, producer_id, 0).base_offset == 1
    assert E(call(cluster, EndTxnRequest("t", producer_id, 0, committed=False), 3).error_code) == E.NONE
    cluster.simulation.run_for(span_s=1)
    for offset, found in ((0, []), (1, [(producer_id, 1)])):
        wanted = FetchPartition(0, fetch_offset=offset, partition_max_bytes=9999)
        request = FetchRequest(isolation_level=1, session_epoch=-1, topics=[FetchTopic(TOPIC, partitions=[wanted])])
        (row,) = call(cluster, request, 11).responses[0].partitions
        assert [(one.producer_id, one.first_offset) for one in row.aborted_transactions] == found
        assert row.records
