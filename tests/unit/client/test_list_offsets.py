"""Offsets in ListOffsets responses."""

from __future__ import annotations

from kmirror.client.list_offsets import offsets_in
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kmirror.spec.error_codes import ErrorCode


def test_errors_and_partitions_without_such_an_offset_are_skipped() -> None:
    rows = [
        ListOffsetsPartitionResponse(partition_index=0, offset=0),
        ListOffsetsPartitionResponse(partition_index=1, offset=-1),
        ListOffsetsPartitionResponse(partition_index=2, offset=7, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ]
    answer = ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=rows)])
    assert offsets_in([None, answer]) == {TopicPartition("t", 0): 0}
