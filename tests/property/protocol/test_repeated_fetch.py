"""Repeated fetches: patched bytes and recognised frames equal those of the codec."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.errors import LocalProtocolError
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kmirror.protocol.headers import decode_request, encode_request, peek_request
from kmirror.protocol.repeated_fetch import KEPT_BYTES_MAX, RepeatedFetch, epoch_offset, last_fetch

WITH_SESSIONS = range(7, FetchRequest.MAX_VERSION + 1)
INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
VERSION = st.sampled_from(WITH_SESSIONS)
CLIENT = st.text(max_size=20)


@st.composite
def fetches(draw: st.DrawFn, version: int) -> FetchRequest:
    request = FetchRequest(
        max_wait_ms=draw(INT32),
        min_bytes=draw(INT32),
        max_bytes=draw(INT32),
        isolation_level=draw(st.integers(0, 1)),
        session_id=draw(INT32),
        session_epoch=draw(INT32),
    )
    if version >= 15:
        request.replica_state = ReplicaState(replica_id=draw(INT32), replica_epoch=draw(INT32))
    else:
        request.replica_id = draw(INT32)
    if draw(st.booleans()):
        partitions = [FetchPartition(partition=draw(st.integers(0, 9)), fetch_offset=5)]
        topic = FetchTopic(topic_id=Uuid(bytes(15) + b"x")) if version >= 13 else FetchTopic(topic="orders")
        topic.partitions = partitions
        request.topics, request.session_id = [topic], 0  # In a session it would be news, and would not be stored.
    return request


@given(st.data(), VERSION, CLIENT)
def test_a_patched_frame_is_the_encoded_one(data: st.DataObject, version: int, client_id: str) -> None:
    repeated = RepeatedFetch(data.draw(fetches(version)))
    for correlation_id, epoch in data.draw(st.lists(st.tuples(INT32, INT32), min_size=1, max_size=3)):
        repeated.request.session_epoch = epoch
        frame = repeated.frame(version, correlation_id=correlation_id, client_id=client_id)
        assert frame == encode_request(repeated.request, version, correlation_id=correlation_id, client_id=client_id)


@given(st.data(), VERSION, CLIENT)
def test_a_recognised_frame_equals_its_decoded_form(data: st.DataObject, version: int, client_id: str) -> None:
    request = data.draw(fetches(version))
    frame = encode_request(request, version, correlation_id=data.draw(INT32), client_id=client_id)
    head, body = decode_request(frame)
    assert isinstance(body, FetchRequest)
    last = last_fetch(frame, head, body)
    assert last is not None
    request.session_epoch = data.draw(INT32)
    later = encode_request(request, version, correlation_id=data.draw(INT32), client_id=client_id)
    assert last.match(memoryview(later) if data.draw(st.booleans()) else later) == decode_request(later)


def test_a_fetch_that_names_partitions_in_a_session_is_not_kept() -> None:
    topics = [FetchTopic(topic_id=Uuid(bytes(15) + b"x"), partitions=[FetchPartition()])]
    for session_id, is_kept in ((0, True), (7, False)):
        frame = encode_request(FetchRequest(session_id=session_id, topics=topics), 15, correlation_id=1, client_id="me")
        head, body = decode_request(frame)
        assert isinstance(body, FetchRequest)
        assert (last_fetch(frame, head, body) is not None) is is_kept


@given(st.data(), VERSION)
def test_a_frame_that_differs_elsewhere_is_not_recognised(data: st.DataObject, version: int) -> None:
    frame = encode_request(data.draw(fetches(version)), version, correlation_id=7, client_id="me")
    head, body = decode_request(frame)
    assert isinstance(body, FetchRequest)
    last, offset = last_fetch(frame, head, body), epoch_offset(version)
    assert last is not None and offset is not None
    epoch_at = head.body_position + offset
    elsewhere = [at for at in range(len(frame)) if not 4 <= at < 8 and not epoch_at <= at < epoch_at + 4]
    at = data.draw(st.sampled_from(elsewhere))
    other = frame[:at] + bytes([frame[at] ^ data.draw(st.integers(1, 255))]) + frame[at + 1 :]
    assert last.match(other) is None
    assert last.match(frame + b"\0") is None
    assert last.match(frame[:-1]) is None


def test_a_changed_version_or_client_id_is_encoded_again() -> None:
    repeated = RepeatedFetch(FetchRequest(session_id=1, session_epoch=2))
    for version, client_id in ((12, "a"), (17, "a"), (17, "b"), (12, "a")):
        frame = repeated.frame(version, correlation_id=3, client_id=client_id)
        assert (peek_request(frame).api_version, peek_request(frame).client_id) == (version, client_id)
        assert frame == encode_request(repeated.request, version, correlation_id=3, client_id=client_id)


def test_versions_without_sessions_do_not_repeat() -> None:
    frame = encode_request(FetchRequest(), 6, correlation_id=1, client_id="me")
    head, body = decode_request(frame)
    assert isinstance(body, FetchRequest)
    assert epoch_offset(6) is None
    assert last_fetch(frame, head, body) is None
    with pytest.raises(LocalProtocolError, match="no session epoch"):
        RepeatedFetch(FetchRequest()).frame(6, correlation_id=1, client_id="me")


def test_a_long_fetch_is_not_kept() -> None:
    rows = [FetchPartition(partition=number) for number in range(KEPT_BYTES_MAX)]
    frame = encode_request(FetchRequest(topics=[FetchTopic(partitions=rows)]), 17, correlation_id=1, client_id="me")
    head, body = decode_request(frame)
    assert isinstance(body, FetchRequest)
    assert last_fetch(frame, head, body) is None
