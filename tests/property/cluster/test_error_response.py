"""An error response names the requested resources, in every version, and has nothing that looks like a value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kmirror.cluster.error_response import error_response
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.remove_topics_from_mirror_request import RemoveTopicsFromMirrorRequest, TopicData
from kmirror.protocol.registry import Api, all_apis
from kmirror.spec.error_codes import ErrorCode
from kmirror.testing.strategies import versioned

X = ErrorCode.KAFKA_STORAGE_ERROR


def refused(request: Any, version: int, *, in_rows: bool = True) -> Any:
    answer = error_response(request, version, X, "why", in_rows=in_rows)
    type(answer).decode(answer.encode(version), version)
    return answer


@pytest.mark.parametrize("version", [4, 7, 12, 13, 17])
def test_a_fetch_is_refused_by_the_numbers_of_its_partitions(version: int) -> None:
    """The field is `partition` in the Fetch request and `partition_index` in the response."""
    topic = {"topic_id": Uuid.from_ints(1, 2)} if version >= 13 else {"topic": "orders"}
    rows = [FetchPartition(partition=3), FetchPartition(partition=5)]
    forgotten = [ForgottenTopic(partitions=[9], **topic)] if version >= 7 else []
    request = FetchRequest(topics=[FetchTopic(partitions=rows, **topic)], forgotten_topics_data=forgotten)
    answer = refused(request, version)
    assert answer.error_code == 0
    assert [(t.topic, t.topic_id) for t in answer.responses] == [(request.topics[0].topic, request.topics[0].topic_id)]
    found = [(row.partition_index, row.error_code, row.high_watermark) for row in answer.responses[0].partitions]
    assert found == [(3, X, -1), (5, X, -1)]


def test_a_refused_write_has_no_offset() -> None:
    topic = TopicProduceData(name="orders", partition_data=[PartitionProduceData(index=4)])
    (row,) = refused(ProduceRequest(topic_data=[topic]), 9).responses[0].partition_responses
    assert (row.index, row.error_code, row.base_offset, row.log_append_time_ms, row.error_message) == (
        4,
        X,
        -1,
        -1,
        "why",
    )


@pytest.mark.parametrize("api", all_apis(), ids=lambda api: api.name)
@settings(max_examples=8)
@given(st.data())
def test_any_request_can_be_refused_in_its_own_version(api: Api, data: st.DataObject) -> None:
    """The response contains nothing that its schema forbids, such as a null, or a number for an array."""
    request, version = data.draw(versioned(api.request))
    refused(request, version)
    refused(request, version, in_rows=False)


def test_an_error_is_at_the_top_or_in_the_rows_as_requested() -> None:
    topics = [OffsetFetchRequestTopics(name="orders", partition_indexes=[1, 2])]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=topics)])
    (group,) = refused(request, 8).groups
    assert (group.group_id, group.error_code) == ("g", 0)
    rows = [(row.partition_index, row.error_code, row.committed_offset) for row in group.topics[0].partitions]
    assert rows == [(1, X, -1), (2, X, -1)]
    (group,) = refused(request, 8, in_rows=False).groups
    assert (group.group_id, group.error_code, group.topics) == ("g", X, [])


def test_a_topic_is_named_although_the_response_uses_another_field() -> None:
    request = RemoveTopicsFromMirrorRequest(mirror_name="m", topics=[TopicData(topic_name="orders")])
    answer = refused(request, 0)
    assert [(row.name, row.error_code) for row in answer.topics] == [("orders", X)]


@pytest.mark.parametrize("version", [10, 11, 12, 13])
def test_a_topic_requested_by_its_id_has_no_name(version: int) -> None:
    """A Metadata request may omit the name from version 10 on, a response from version 12 on."""
    topic_id = Uuid.from_ints(1, 2)
    request = MetadataRequest(topics=[MetadataRequestTopic(topic_id=topic_id, name=None)])
    (row,) = refused(request, version).topics
    assert (row.topic_id, row.name, row.error_code) == (topic_id, None if version >= 12 else "", X)
