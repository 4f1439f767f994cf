"""Produce requests like the previous one: the recognised request and its response equal those of the codec."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kmirror.protocol.headers import RequestHead, decode_request, encode_request
from kmirror.protocol.repeated_produce import KEPT_BYTES_MAX, LastProduce, acknowledgement, last_produce
from kmirror.protocol.structs import UnknownTag

VERSION = st.integers(ProduceRequest.MIN_VERSION, ProduceRequest.MAX_VERSION)
INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
ID = Uuid(bytes(15) + b"x")
RECORDS = st.one_of(st.binary(min_size=1, max_size=300), st.integers(16_370, 16_390).map(lambda size: b"r" * size))
LEFT_OUT = 16_382
"""A size that is left to decoding: plus one it takes two bytes, and plus those it would take three."""
CLIENT = st.one_of(st.none(), st.text(max_size=20))


@st.composite
def produces(draw: st.DrawFn, version: int) -> ProduceRequest:
    topic = TopicProduceData(partition_data=[PartitionProduceData(draw(INT32), draw(RECORDS))])
    if version >= 13:
        topic.topic_id = ID
    else:
        topic.name = draw(st.text(min_size=1, max_size=200))
    transactional_id = draw(st.one_of(st.none(), st.text(max_size=9)))
    return ProduceRequest(transactional_id, draw(st.integers(-1, 1)), draw(INT32), [topic])


def last_produce_of(frame: bytes) -> LastProduce | None:
    head, body = decode_request(frame)
    assert isinstance(body, ProduceRequest)
    return last_produce(frame, head, body)


def recognise(last: LastProduce, frame: bytes | memoryview) -> tuple[RequestHead, ProduceRequest] | None:
    records = last.records(frame)
    return None if records is None else last.request(frame, records)


def size_of(request: ProduceRequest) -> int:
    """Return the size of the records."""
    return len(request.topic_data[0].partition_data[0].records or b"")


@given(st.data(), VERSION, CLIENT)
def test_a_recognised_frame_equals_its_decoded_form(data: st.DataObject, version: int, client_id: str | None) -> None:
    request = data.draw(produces(version))
    last = last_produce_of(encode_request(request, version, correlation_id=data.draw(INT32), client_id=client_id))
    assert last is not None
    for _ in range(2):
        request.topic_data[0].partition_data[0].records = data.draw(RECORDS)
        later = encode_request(request, version, correlation_id=data.draw(INT32), client_id=client_id)
        found = recognise(last, memoryview(later) if data.draw(st.booleans()) else later)
        assert found == decode_request(later) or (
            found is None and version >= ProduceRequest.FLEXIBLE_FROM and size_of(request) == LEFT_OUT
        )


@given(st.data(), VERSION)
def test_a_frame_that_differs_elsewhere_is_not_recognised(data: st.DataObject, version: int) -> None:
    request = data.draw(produces(version))
    records = request.topic_data[0].partition_data[0].records
    assert isinstance(records, bytes)
    frame = encode_request(request, version, correlation_id=7, client_id="me")
    last = last_produce_of(frame)
    assert last is not None
    after = 3 if version >= ProduceRequest.FLEXIBLE_FROM else 0
    begin = len(frame) - after - len(records)
    elsewhere = [at for at in range(len(frame)) if not 4 <= at < 8 and not begin <= at < begin + len(records)]
    at = data.draw(st.sampled_from(elsewhere))
    other = frame[:at] + bytes([frame[at] ^ data.draw(st.integers(1, 255))]) + frame[at + 1 :]
    assert recognise(last, other) is None
    assert recognise(last, frame + b"\0") is None
    assert recognise(last, frame[:-1]) is None
    assert recognise(last, frame[:9]) is None


@given(st.data(), VERSION, st.one_of(st.binary(max_size=12), st.integers(5, 9).map(lambda size: b"\x80" * size)))
def test_records_replaced_by_any_bytes_are_decoded_or_not_recognised(
    data: st.DataObject, version: int, rest: bytes
) -> None:
    request = data.draw(produces(version))
    frame = encode_request(request, version, correlation_id=7, client_id="me")
    last = last_produce_of(frame)
    assert last is not None
    records = request.topic_data[0].partition_data[0].records
    assert isinstance(records, bytes)
    after = 3 if version >= ProduceRequest.FLEXIBLE_FROM else 0
    for cut in range(6):
        other = frame[: len(frame) - after - len(records) - cut] + rest
        found = recognise(last, other)
        assert found is None or found == decode_request(other)


@pytest.mark.parametrize("version", [8, 9, 13])
def test_only_plain_requests_are_stored(version: int) -> None:
    def frame_of(*topics: TopicProduceData) -> bytes:
        return encode_request(ProduceRequest(None, -1, 5, list(topics)), version, correlation_id=1, client_id="me")

    def topic(*rows: PartitionProduceData) -> TopicProduceData:
        return TopicProduceData("orders" if version < 13 else "", ID if version >= 13 else Uuid.ZERO, list(rows))

    row = PartitionProduceData(0, b"records")
    assert last_produce_of(frame_of(topic(row))) is not None
    assert last_produce_of(frame_of()) is None
    assert last_produce_of(frame_of(topic())) is None
    assert last_produce_of(frame_of(topic(row), topic(row))) is None
    assert last_produce_of(frame_of(topic(row, row))) is None
    assert last_produce_of(frame_of(topic(PartitionProduceData(0, b"")))) is None
    assert last_produce_of(frame_of(topic(PartitionProduceData(0, None)))) is None
    request = ProduceRequest("t" * KEPT_BYTES_MAX, -1, 5, [topic(row)])
    assert last_produce_of(encode_request(request, version, correlation_id=1, client_id="me")) is None
    if version >= ProduceRequest.FLEXIBLE_FROM:
        tagged = PartitionProduceData(0, b"records", unknown_tags=[UnknownTag(9, b"new")])
        assert last_produce_of(frame_of(topic(tagged))) is None


@given(VERSION, st.text(min_size=1, max_size=50), INT32, INT64, INT64, INT64)
def test_an_acknowledgement_equals_the_codecs_encoding(
    version: int, name: str, index: int, base_offset: int, append_time: int, log_start: int
) -> None:
    row = PartitionProduceResponse(index, 0, base_offset, append_time, log_start)
    expected = ProduceResponse([TopicProduceResponse(name, ID, [row])]).encode(version)
    assert acknowledgement(version, name, ID, index, base_offset, append_time, log_start) == expected
