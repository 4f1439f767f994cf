"""Counters of traffic, and a recording of it without secrets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kmirror.errors import UsageError
from kmirror.kernel.ids import Endpoint
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse, MetadataResponseTopic
from kmirror.protocol.gen.sasl_authenticate_request import SaslAuthenticateRequest
from kmirror.protocol.headers import encode_request, peek_request
from kmirror.protocol.message import Message
from kmirror.proxy.recording import TrafficRecorder, line_of, read_recording
from kmirror.proxy.traffic import Exchange, RequestCounts, errors_in
from kmirror.spec.error_codes import ErrorCode


def exchange(body: Message, version: int = 1, latency: int | None = 1000) -> Exchange:
    frame = encode_request(body, version, correlation_id=1, client_id="c")
    responded_at = None if latency is None else 10 + latency
    return Exchange("broker 1", Endpoint("127.0.0.1", 5), 1, 10, peek_request(frame), frame, responded_at)


@pytest.mark.parametrize("span", [0, 1, 15, 16, 17, 31, 32, 100, 12_345, 999_999, 60_000_000])
def test_a_latency_is_reported_to_within_a_twentieth(span: int) -> None:
    counts = RequestCounts()
    counts.add(exchange(HeartbeatRequest(), latency=span))
    found = counts.latency_ms(0.5)
    assert found is not None and abs(found * 1000 - span) <= span / 20


def test_percentiles() -> None:
    counts = RequestCounts()
    for number in range(1, 101):
        counts.add(exchange(HeartbeatRequest(), latency=number * 1000))
    latencies = [counts.latency_ms(part) or 0 for part in (0.01, 0.5, 0.99, 1.0)]
    assert [abs(found - wanted) <= wanted / 20 for found, wanted in zip(latencies, (1, 50, 99, 100), strict=True)] == [
        True
    ] * 4
    assert RequestCounts().latency_ms(0.5) is None


def test_errors_are_found_at_any_level() -> None:
    topics = [MetadataResponseTopic(error_code=n, name="a") for n in (3, 0, 3, 999)]
    found = errors_in(MetadataResponse(topics=topics, error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED), 13)
    assert sorted(found) == ["999", "CLUSTER_AUTHORIZATION_FAILED", *["UNKNOWN_TOPIC_OR_PARTITION"] * 2]
    assert list(errors_in(MetadataResponse(error_code=31), 12)) == [], "version 12 has no such field"


def test_credentials_are_not_recorded() -> None:
    line = line_of(exchange(SaslAuthenticateRequest(auth_bytes=b"\0user\0hunter2"), 2))
    assert line["api"] == "SaslAuthenticate"
    assert not {"request", "request_bytes", "response", "response_bytes"} & line.keys()
    token = Exchange("broker 1", Endpoint("127.0.0.1", 5), 1, 10, None, b"\0user\0hunter2")
    assert not {"request", "request_bytes"} & line_of(token).keys()


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "record"
    file = TrafficRecorder(path)
    with_session_partitions, none = (
        exchange(HeartbeatRequest(group_id="g"), 4),
        exchange(HeartbeatRequest(), 4, latency=None),
    )
    none.is_cut = True
    with_session_partitions.errors = ("A", "B")
    for each in (with_session_partitions, none):
        file.add(each)
    file.close()
    first, second = read_recording(path)
    assert first == (1, "broker 1", 1, "Heartbeat", 4, with_session_partitions.frame, True, False, ("A", "B"))
    assert (second.number, second.is_answered, second.is_cut) == (2, False, True)
    assert json.loads(path.read_text().splitlines()[0])["request"]["groupId"] == "g"


@pytest.mark.parametrize("line", ["", "{", "[]", "{}", '{"request_bytes": "?"}'])
def test_a_line_that_is_none_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "record"
    path.write_text(f"{line}\n")
    with pytest.raises(UsageError, match="line 1: is not a line of a recording"):
        list(read_recording(path))
