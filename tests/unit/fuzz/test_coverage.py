"""Inputs of libFuzzer, and their conversion by the grammar. Atheris itself is not required."""

from __future__ import annotations

from random import Random

import pytest

from kmirror.errors import UsageError
from kmirror.fuzz.campaign import Campaign
from kmirror.fuzz.coverage import inputs_of
from kmirror.fuzz.stream import Frame
from kmirror.fuzz.target import TAKEN
from kmirror.fuzz.targets.request import HOLLOW, LEFT_OVER
from kmirror.fuzz.targets.rows import TargetOptions, open_target
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kmirror.protocol.headers import decode_request, encode_request


def test_the_input_of_a_reader_of_requests_is_named_by_its_header() -> None:
    inputs = inputs_of(*open_target("request", TargetOptions()))
    data = encode_request(HeartbeatRequest(), 4, correlation_id=7, client_id=None)
    frame = inputs.frame(data)
    assert frame is not None
    assert (frame.name, frame.version, frame.data, frame.is_valid) == ("HeartbeatRequest", 4, data, False)
    for other in (b"", b"\0", b"\0\x0c\0\x63", b"\x7f\xff\0\0"):
        unknown = inputs.frame(other)
        assert unknown is not None and (unknown.name, unknown.version) == ("Request", -1)


def test_the_input_of_a_reader_of_bodies_has_its_name_before_it() -> None:
    inputs = inputs_of(*open_target("decoder", TargetOptions(messages=("HeartbeatRequest",))))
    frame = inputs.frame(b"\0\0\x04body")
    assert frame is not None
    assert (frame.name, frame.version, frame.data) == ("HeartbeatRequest", 4, b"body")
    assert inputs.frame(b"\0\0") is None


@pytest.mark.parametrize("target", ["decoder", "request"])
def test_the_grammar_writes_accepted_and_refused_frames(target: str) -> None:
    opened, source = open_target(target, TargetOptions())
    campaign, inputs, random = Campaign(opened, source), inputs_of(opened, source), Random(1).random
    for _ in range(300):
        frame = inputs.frame(inputs.mutate_input(b"\0\0\0", random))
        assert frame is not None
        campaign.put(frame)
    assert not campaign.tally.findings
    assert 150 < campaign.tally.taken < 290


def test_requests_of_the_grammar_have_their_header() -> None:
    _, source = open_target("request", TargetOptions(seed=3))
    for number in range(50):
        frame = source.block(number)[0]
        assert frame.message is not None
        head, body = decode_request(frame.data)
        assert (head.api_key, head.api_version, type(body)) == (frame.message.API_KEY, frame.version, frame.message)


def test_the_outcome_shows_how_far_the_reader_got() -> None:
    target, _ = open_target("request", TargetOptions())
    topic = OffsetDeleteRequestTopic(name="t", partitions=[OffsetDeleteRequestPartition()])
    for body, more, outcome in (
        (OffsetDeleteRequest(topics=[topic]), b"", TAKEN),
        (OffsetDeleteRequest(topics=[topic]), b"\0", LEFT_OVER),
        (OffsetDeleteRequest(), b"", HOLLOW),
        (OffsetDeleteRequest(topics=[OffsetDeleteRequestTopic(name="t")]), b"", HOLLOW),
    ):
        data = encode_request(body, 0, correlation_id=1, client_id=None) + more
        assert target.judge(Frame(0, body.NAME, 0, data, ("made",), False)) == outcome


def test_targets_without_messages_are_not_guided() -> None:
    with pytest.raises(UsageError, match="decoder, request"):
        inputs_of(*open_target("batch", TargetOptions()))
