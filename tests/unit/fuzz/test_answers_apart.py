"""Comparison of two responses: matching of rows, differences, and ignored differences."""

from __future__ import annotations

from kmirror.fuzz.differential.broker_reasons import BROKER_REASONS
from kmirror.fuzz.differential.reasons import reason_of
from kmirror.fuzz.differential.response_diff import differences
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.alter_configs_request import AlterConfigsRequest, AlterConfigsResource
from kmirror.protocol.gen.create_topics_request import CreateTopicsRequest
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_groups_response import DescribedGroup, DescribeGroupsResponse
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.heartbeat_response import HeartbeatResponse
from kmirror.protocol.gen.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from kmirror.protocol.gen.list_groups_response import ListedGroup, ListGroupsResponse
from kmirror.protocol.gen.metadata_response import MetadataResponse, MetadataResponsePartition, MetadataResponseTopic
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kmirror.protocol.headers import encode_request
from kmirror.protocol.message import Message
from kmirror.records import RecordData, build_batch, layout

MARK = ".r00000"


def causes(api: str, ours: Message, theirs: Message, *rounds: str) -> list[str]:
    return [each.cause(api) for each in differences(api, ours, theirs, MARK, rounds)]


def topic(name: str | None, number: int, *codes: int, code: int = 0) -> MetadataResponseTopic:
    rows = [MetadataResponsePartition(partition_index=n, error_code=each) for n, each in enumerate(codes)]
    return MetadataResponseTopic(name=name, topic_id=Uuid.from_ints(0, number), error_code=code, partitions=rows)


def test_rows_are_matched_by_names_not_by_position_or_id() -> None:
    ours = MetadataResponse(topics=[topic("a", 1, 0, 3), topic("b", 2)])
    theirs = MetadataResponse(topics=[topic("b", 7), topic("a", 8, 0, 5)])
    (found,) = differences("Metadata", ours, theirs, MARK, [])
    assert found.cause("Metadata") == (
        "Metadata topics.partitions.errorCode: UNKNOWN_TOPIC_OR_PARTITION by ours, LEADER_NOT_AVAILABLE by theirs"
    )
    assert found.row == "a 1"


def test_nothing_is_reported_below_a_differing_error() -> None:
    ours, theirs = MetadataResponse(topics=[topic("a", 1, code=3)]), MetadataResponse(topics=[topic("a", 1, 0, 0)])
    assert causes("Metadata", ours, theirs) == [
        "Metadata topics.errorCode: UNKNOWN_TOPIC_OR_PARTITION by ours, NONE by theirs"
    ]


def test_a_row_of_one_side_only_is_reported() -> None:
    ours = MetadataResponse(topics=[topic("a.r00000", 1), topic("a.r00007", 2)])
    assert (
        causes("Metadata", ours, MetadataResponse(topics=[])) == ["Metadata topics: a row by ours, none by theirs"] * 2
    )
    assert causes("Metadata", ours, MetadataResponse(topics=[]), ".r00007") == [
        "Metadata topics: a row by ours, none by theirs"
    ]
    assert causes("Metadata", MetadataResponse(topics=[]), ours, ".r00007", ".r00000") == []


def test_of_all_groups_those_count_that_have_the_mark_of_the_round() -> None:
    ours = ListGroupsResponse(groups=[ListedGroup(group_id="g.r0\ufffd000"), ListedGroup(group_id="g.r00000")])
    assert causes("ListGroups", ours, ListGroupsResponse(groups=[ListedGroup(group_id="g.r00000")])) == []
    assert causes("ListGroups", ours, ListGroupsResponse(groups=[])) == [
        "ListGroups groups: a row by ours, none by theirs"
    ]


def test_rows_without_names_of_their_own_are_counted() -> None:
    one, two = (DescribeGroupsResponse(groups=[DescribedGroup(group_id="g")] * count) for count in (1, 2))
    assert causes("DescribeGroups", two, one) == ["DescribeGroups groups: more rows by ours, fewer rows by theirs"]


def test_splitting_a_topic_into_rows_does_not_count() -> None:
    rows = [PartitionProduceResponse(index=0, error_code=0), PartitionProduceResponse(index=1, error_code=3)]
    whole = ProduceResponse(responses=[TopicProduceResponse("a", partition_responses=rows)])
    parts = ProduceResponse(responses=[TopicProduceResponse("a", partition_responses=[row]) for row in reversed(rows)])
    assert causes("Produce", whole, parts) == []


def test_texts_and_times_do_not_count() -> None:
    assert causes("Heartbeat", HeartbeatResponse(throttle_time_ms=7), HeartbeatResponse()) == []
    assert causes("Heartbeat", HeartbeatResponse(error_code=25), HeartbeatResponse(error_code=9999)) == [
        "Heartbeat errorCode: UNKNOWN_MEMBER_ID by ours, code 9999 by theirs"
    ]


def test_a_reason_holds_for_the_requests_that_it_is_about() -> None:
    cause = "CreateTopics topics.errorCode: INVALID_TOPIC_EXCEPTION by ours, REQUEST_TIMED_OUT by theirs"
    for timeout_ms, is_meant in ((0, True), (-5, True), (1000, False)):
        data = encode_request(CreateTopicsRequest(timeout_ms=timeout_ms), 5, correlation_id=1, client_id=None)
        assert (reason_of(cause, data, BROKER_REASONS) is not None) is is_meant
    assert reason_of("Heartbeat errorCode: NONE by ours, UNKNOWN_MEMBER_ID by theirs", b"", BROKER_REASONS) is None


def holds(cause: str, body: Message, version: int) -> bool:
    data = encode_request(body, version, correlation_id=1, client_id=None)
    return reason_of(cause, data, BROKER_REASONS) is not None


def test_resource_types_that_kafka_does_not_know_are_one() -> None:
    cause = "AlterConfigs: answers with INVALID_REQUEST by ours, does not answer by theirs"
    for types, is_meant in (((64, 127), True), ((2, 2), True), ((2, 4), False), ((2, 127), False)):
        rows = [AlterConfigsResource(resource_type=each, resource_name="fuzz") for each in types]
        assert holds(cause, AlterConfigsRequest(resources=rows), 2) is is_meant


def test_refused_configs_of_missing_features_are_expected() -> None:
    for kind, is_meant in ((8, True), (16, True), (32, True), (2, False)):
        request = DescribeConfigsRequest(resources=[DescribeConfigsResource(resource_type=kind, resource_name="1")])
        cause = "DescribeConfigs results.errorCode: INVALID_REQUEST by ours, NONE by theirs"
        assert holds(cause, request, 4) is is_meant


def test_a_protocol_that_is_named_twice_counts_twice_in_kafka() -> None:
    for names, is_meant in (("aa", True), ("aba", True), ("ab", False), ("", False)):
        rows = [JoinGroupRequestProtocol(name=name) for name in names]
        for cause in (
            "JoinGroup: answers with no error by ours, does not answer by theirs",
            "JoinGroup errorCode: NONE by ours, INCONSISTENT_GROUP_PROTOCOL by theirs",
        ):
            assert holds(cause, JoinGroupRequest(group_id="g", protocol_type="p", protocols=rows), 5) is is_meant


def test_a_session_id_has_a_shard_of_kafkas_cache_or_has_not() -> None:
    cause = "Fetch errorCode: FETCH_SESSION_ID_NOT_FOUND by ours, UNKNOWN_SERVER_ERROR by theirs"
    ids = {-(2**31): True, -268435455: True, -268435454: False, -1: False, 7: False, 2147483639: False}
    for number, is_meant in {**ids, 2147483640: True, 2**31 - 1: True}.items():
        assert holds(cause, FetchRequest(session_id=number, session_epoch=1), 12) is is_meant


def test_a_batch_may_end_before_its_producer_id_does() -> None:
    cause = "Produce responses.partitionResponses.errorCode: CORRUPT_MESSAGE by ours, UNKNOWN_SERVER_ERROR by theirs"
    for length, is_meant in ((13, False), (14, True), (38, True), (39, False)):
        batch = bytearray(build_batch([RecordData(value=b"a")]))
        batch[layout.BATCH_LENGTH_AT : layout.LOG_OVERHEAD] = length.to_bytes(4, "big")
        topic = TopicProduceData("t", partition_data=[PartitionProduceData(0, bytes(batch))])
        assert holds(cause, ProduceRequest(topic_data=[topic]), 9) is is_meant
