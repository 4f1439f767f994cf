"""Rules of responses: right and wrong responses to one request."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.histories.monitors.responses import Codes, Expected, violations
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest
from kmirror.protocol.gen.add_topics_to_mirror_request import TopicData as AddedTopic
from kmirror.protocol.gen.add_topics_to_mirror_response import AddTopicsToMirrorResponse
from kmirror.protocol.gen.add_topics_to_mirror_response import TopicResult as AddResult
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.create_topics_response import CreatableTopicResult, CreateTopicsResponse
from kmirror.protocol.gen.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kmirror.protocol.gen.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kmirror.protocol.gen.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kmirror.protocol.gen.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kmirror.protocol.registry import key_of
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType

ALREADY = ErrorCode.TOPIC_ALREADY_IN_MIRROR


def wrong(request: Any, answer: Any, codes: Codes | None = None, active: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the rules that a response breaks; `codes` are the right errors."""
    return dict(violations(Expected(key_of(type(request)), 0, request, codes, ErrorCode.NONE, active), answer))


def committed(*partitions: int) -> OffsetCommitResponse:
    rows = [OffsetCommitResponsePartition(partition_index=index) for index in partitions]
    return OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name="t", partitions=rows)])


def test_a_response_names_the_requested_resources() -> None:
    rows = [OffsetCommitRequestPartition(partition_index=index, committed_offset=1) for index in (0, 1)]
    request = OffsetCommitRequest(topics=[OffsetCommitRequestTopic(name="t", partitions=rows)])
    assert wrong(request, committed(1, 0)) == {}
    assert wrong(request, committed(0)) == {"answer-rows": "it has t-0, but the request has t-0, t-1"}
    assert [*wrong(request, committed(0, 1, 2))] == ["answer-rows"]


@pytest.mark.parametrize(
    ("count", "error", "is_right"),
    [
        (-1, ErrorCode.NONE, True),
        (-1, ErrorCode.INVALID_PARTITIONS, False),
        (3, ErrorCode.INVALID_PARTITIONS, False),
        (3, ErrorCode.TOPIC_ALREADY_EXISTS, True),
        (0, ErrorCode.INVALID_PARTITIONS, True),
        (0, ErrorCode.NONE, False),
        (-2, ErrorCode.NONE, False),
    ],
)
def test_a_topic_has_a_number_of_partitions_or_the_default(count: int, error: ErrorCode, is_right: bool) -> None:
    request = CreateTopicsRequest(topics=[CreatableTopic(name="t", num_partitions=count, replication_factor=1)])
    answer = CreateTopicsResponse(topics=[CreatableTopicResult(name="t", error_code=error)])
    assert [*wrong(request, answer)] == ([] if is_right else ["answer-partitions"])


@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("has", [True, False])
def test_synonyms_are_returned_on_request(asks: bool, has: bool) -> None:
    resource = DescribeConfigsResource(ResourceType.TOPIC, "t", configuration_keys=None)
    request = DescribeConfigsRequest(resources=[resource], include_synonyms=asks)
    synonyms = [DescribeConfigsSynonym(name="retention.ms", value="1", source=1)] if has else []
    row = DescribeConfigsResourceResult(name="retention.ms", value="1", synonyms=synonyms)
    result = DescribeConfigsResult(0, None, ResourceType.TOPIC, "t", [row])
    found = wrong(request, DescribeConfigsResponse(results=[result]))
    assert [*found] == ([] if asks is has else ["answer-configs"])


def test_a_controllers_response_matches_its_image() -> None:
    request = AddTopicsToMirrorRequest(mirror_name="m", topics=[AddedTopic(topic_name="t")])
    added = AddTopicsToMirrorResponse(mirror_name="m", topics=[AddResult(name="t")])
    assert wrong(request, added, [("t", ErrorCode.NONE)]) == {}
    assert wrong(request, added, [("t", ALREADY)]) == {
        "answer-code": "the response is t NONE, expected t TOPIC_ALREADY_IN_MIRROR"
    }
    assert wrong(request, added, [("t", ErrorCode.NONE)], ("t-0 is STOPPING",)) == {
        "answer-active": "t is added, although t-0 is STOPPING"
    }


def test_a_response_that_refuses_everything_names_nothing() -> None:
    request = AddTopicsToMirrorRequest(mirror_name="m", topics=[AddedTopic(topic_name="t")])
    refused = AddTopicsToMirrorResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE, mirror_name="m")
    assert wrong(request, refused) == wrong(request, refused, [("t", ErrorCode.NONE)]) == {}
    refused.error_code = ErrorCode.UNKNOWN_MIRROR
    assert wrong(request, refused) == {}
    assert [*wrong(request, refused, [("t", ErrorCode.NONE)])] == ["answer-code"]
