"""A request with a text that cannot be encoded again closes its link, and the broker continues."""

from __future__ import annotations

import pytest

from kmirror.fuzz.stream import Frame
from kmirror.fuzz.targets.node import NodeTarget
from kmirror.protocol.gen.describe_groups_request import DescribeGroupsRequest
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.headers import encode_request
from kmirror.protocol.message import Message

NAME = "z" * 20_000
REQUESTS: list[tuple[Message, int]] = [
    (ListOffsetsRequest(topics=[ListOffsetsTopic(name=NAME, partitions=[ListOffsetsPartition()])]), 7),
    (DescribeGroupsRequest(groups=[NAME]), 5),
]


@pytest.mark.parametrize(("body", "version"), REQUESTS, ids=lambda of: type(of).__name__)
def test_a_text_that_grows_in_the_response_closes_the_link(body: Message, version: int) -> None:
    """Each byte that is no UTF-8 is read as U+FFFD, as in Java, which takes three bytes."""
    target = NodeTarget(seed=1)
    data = encode_request(body, version, correlation_id=1, client_id="test")
    broken = data.replace(NAME.encode(), b"\xff" * len(NAME))
    name = type(body).__name__
    assert target.judge(Frame(0, name, version, broken, ("no UTF-8",), False)) == "closed"
    assert target.judge(Frame(1, name, version, data, ("one more",), False)) != "closed"
