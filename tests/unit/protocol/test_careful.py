"""The slow reader reports place and reason: the byte, the path of the field, and the use of each byte."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.protocol import FetchRequest, Policy, careful
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchTopic
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.structs import Struct
from kmirror.protocol.wire import UnknownTag

FETCH = FetchRequest(max_wait_ms=9, topics=[FetchTopic(topic="t", partitions=[FetchPartition(partition=1)])])


def test_no_byte_is_noted_for_two_values() -> None:
    data = FETCH.encode(11)
    spans: dict[str, tuple[int, int]] = {}

    def note(start: int, end: int, path: str, value: object) -> None:
        if not isinstance(value, list | Struct):
            spans[path] = start, end

    assert careful.decode(FetchRequest, data, 11, note=note) == (FETCH, len(data))
    assert spans["max_wait_ms"] == (4, 8)
    assert "topics[0].partitions[0].partition" in spans
    assert all(before[1] <= after[0] for before, after in pairwise(sorted(spans.values())))


@pytest.mark.parametrize("end", [0, 3, 20, 40])
def test_a_prefix_is_refused_with_place_and_field(end: int) -> None:
    with pytest.raises(ProtocolError) as caught:
        careful.decode(FetchRequest, FETCH.encode(11)[:end], 11)
    assert caught.value.position is not None and caught.value.position <= end
    assert caught.value.field


def test_the_field_that_a_version_cannot_carry_is_named() -> None:
    request = ProduceRequest(
        topic_data=[TopicProduceData(name="t", partition_data=[PartitionProduceData(index=2**31)])]
    )
    with pytest.raises(LocalProtocolError, match=r"field topic_data\[0\].partition_data\[0\].index: "):
        careful.encode(request, 9)


def test_invalid_utf8_is_replaced_as_in_java() -> None:
    data = FETCH.encode(11).replace(b"\0\1t", b"\0\1\xff")
    message, _ = careful.decode(FetchRequest, data, 11)
    assert message.topics[0].topic == "\ufffd"
    kept, _ = careful.decode(FetchRequest, data, 11, policy=Policy.LENIENT)
    assert kept.topics[0].topic.encode("utf-8", "surrogateescape") == b"\xff"


def test_a_tag_of_another_version_is_refused_unless_lenient() -> None:
    data = FetchRequest().encode(12)
    assert data[-1] == 0, "no tags at the end"
    tagged = data[:-1] + b"\1\1\1\0"
    with pytest.raises(ProtocolError, match="tag 1 does not exist in version 12"):
        careful.decode(FetchRequest, tagged, 12)
    kept, end = careful.decode(FetchRequest, tagged, 12, policy=Policy.LENIENT)
    assert (tuple(kept.unknown_tags), end) == ((UnknownTag(1, b"\0"),), len(tagged))
