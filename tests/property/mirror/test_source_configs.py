"""Cached DescribeConfigs responses, found by their digests, equal decoded ones."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from kmirror.kernel.events import Chunk
from kmirror.kernel.ids import Endpoint
from kmirror.mirror.syncs.source_configs import RESPONSES_KEPT, ConfigsRequest, ResponseCache, SourceConfigs, read
from kmirror.protocol.gen.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kmirror.protocol.headers import decode_response, encode_response_chunks
from kmirror.spec.wire_values import ConfigSource, ResourceType

VERSION = 4
NAMES = ["retention.ms", "unclean.leader.election.enable"]
ENTRIES = st.builds(
    DescribeConfigsResourceResult,
    name=st.sampled_from(NAMES),
    value=st.sampled_from(["1", "true", None]),
    config_source=st.sampled_from([ConfigSource.TOPIC, ConfigSource.DEFAULT]),
)
RESULTS = st.builds(
    DescribeConfigsResult,
    error_code=st.sampled_from([0, 0, 0, 3]),
    error_message=st.none(),
    resource_type=st.just(ResourceType.TOPIC),
    resource_name=st.sampled_from(["t0", "t1"]),
    configs=st.lists(ENTRIES, max_size=2, unique_by=lambda entry: entry.name),
)
ANSWERS = st.lists(RESULTS, max_size=2, unique_by=lambda result: result.resource_name)


class Source:
    """A source whose responses are given; like a requester, it offers each frame before it decodes it."""

    def __init__(self) -> None:
        self.frame: Chunk = b""
        self.read = 0

    def send(self, now: int, endpoint: Endpoint, purpose: str, body: Any, on_reply: Any, **named: Any) -> None:
        if not named["on_frame"](now, self.frame):
            self.read += 1
            on_reply(now, decode_response(self.frame, 32, VERSION).body)


@given(st.lists(ANSWERS, min_size=1, max_size=3), st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=12))
def test_a_cached_response_equals_its_decoded_form(
    answers: list[list[DescribeConfigsResult]], order: list[tuple[int, bool]]
) -> None:
    source, known, came = Source(), ResponseCache(), dict[int, None]()
    said: list[SourceConfigs | None] = []
    for number, (which, shrinks) in enumerate(order):
        response = DescribeConfigsResponse(results=answers[which % len(answers)])
        source.frame = b"".join(encode_response_chunks(response, VERSION, correlation_id=number))
        request = ConfigsRequest(["t0", "t1"], known, Endpoint("a", 1))
        request.send(cast(Any, None), cast(Any, source), number, lambda _, response: said.append(response))
        assert said.pop() == read(decode_response(source.frame, 32, VERSION).body)
        came[which % len(answers)] = None
        if shrinks:
            known.shrink(RESPONSES_KEPT)
    assert source.read <= len(came), "each response is read once"
