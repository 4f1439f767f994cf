"""Fast path for repeated produce requests, which differ only in correlation id and records.

The leader compares and need not decode. Its response differs from the previous one only in the offsets and the append
time. The bytes on the wire are the same as from the codec.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from struct import Struct

from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kmirror.protocol.headers import RequestHead
from kmirror.protocol.wire import Buffer, Malformed, pack_int32, read_uvarint, unpack_int32, uvarint

KEPT_BYTES_MAX = 1024
"""A request is kept only if the bytes before its records are at most this many."""
_CORRELATION_ID_AT, _AFTER_CORRELATION_ID = 4, 8
_LOG_START_FROM = 5
_NUMBERS, _NUMBERS_WITHOUT_LOG_START = Struct(">qqq"), Struct(">qq")


class LastProduce:
    """The last request on a link that wrote to one partition, to recognise a similar one."""

    __slots__ = (
        "_after",
        "_before",
        "_between",
        "_index",
        "_is_flexible",
        "_like",
        "_name",
        "_size_at",
        "_topic_id",
        "head",
    )

    def __init__(self, frame: Buffer, head: RequestHead, request: ProduceRequest, size_at: int, after: bytes) -> None:
        self.head = head
        self._before = bytes(frame[:_CORRELATION_ID_AT])
        self._between = bytes(frame[_AFTER_CORRELATION_ID:size_at])
        self._after = after
        self._size_at = size_at
        self._is_flexible = head.api_version >= ProduceRequest.FLEXIBLE_FROM
        (topic,) = request.topic_data
        self._name, self._topic_id, self._index = topic.name, topic.topic_id, topic.partition_data[0].index
        self._like = request.transactional_id, request.acks, request.timeout_ms

    def records(self, frame: Buffer) -> memoryview | None:
        """Return the records of `frame` if it differs in records and correlation id at most, else None."""
        at, after = self._size_at, self._after
        if len(frame) < at + 5 or frame[_AFTER_CORRELATION_ID:at] != self._between or frame[:4] != self._before:
            return None
        if self._is_flexible:
            try:
                size, at = read_uvarint(frame, at)
            except Malformed:
                return None  # Decoding reports the error.
            size -= 1
        else:
            (size,) = unpack_int32(frame, at)
            at += 4
        end = at + size
        if size <= 0 or end + len(after) != len(frame) or frame[end:] != after:
            return None
        return memoryview(frame)[at:end]

    def request(self, frame: Buffer, records: memoryview) -> tuple[RequestHead, ProduceRequest]:
        """Return head and body of `frame` if it differs in correlation id and records at most, else None."""
        (correlation_id,) = unpack_int32(frame, _CORRELATION_ID_AT)
        data = PartitionProduceData(self._index, records)
        request = ProduceRequest(*self._like, [TopicProduceData(self._name, self._topic_id, [data])])
        key, version, _, client_id, body_position = self.head
        return RequestHead(key, version, correlation_id, client_id, body_position), request


def last_produce(frame: Buffer, head: RequestHead, request: ProduceRequest) -> LastProduce | None:
    """Return the state to recognise requests similar to a decoded one; None if it cannot repeat."""
    if len(request.topic_data) != 1 or len(request.topic_data[0].partition_data) != 1:
        return None
    records = request.topic_data[0].partition_data[0].records
    if not records:
        return None
    is_flexible = head.api_version >= ProduceRequest.FLEXIBLE_FROM
    # Partition, topic and request must have no tags.
    size, after = (uvarint(len(records) + 1), b"\0\0\0") if is_flexible else (pack_int32(len(records)), b"")
    at = len(frame) - len(after) - len(records) - len(size)
    if not _AFTER_CORRELATION_ID < at <= KEPT_BYTES_MAX:
        return None
    if frame[at : at + len(size)] != size or frame[len(frame) - len(after) :] != after:
        return None
    return LastProduce(frame, head, request, at, after)


def acknowledgement(
    version: int, name: str, topic_id: Uuid, index: int, base_offset: int, append_time_ms: int, log_start_offset: int
) -> bytes:
    """Return the body of a successful response to a request that wrote to one partition."""
    before, pack, after = acknowledgement_layout(version, name, topic_id, index)
    return before + pack(base_offset, append_time_ms, log_start_offset) + after


@lru_cache(maxsize=1_000)
def acknowledgement_layout(
    version: int, name: str, topic_id: Uuid, index: int
) -> tuple[bytes, Callable[[int, int, int], bytes], bytes]:
    """Return the constant start of an `acknowledgement`, the function to pack its numbers, and the constant end."""

    def encoded(number: int) -> bytes:
        row = PartitionProduceResponse(index, 0, number, number, number)
        return ProduceResponse([TopicProduceResponse(name, topic_id, [row])]).encode(version)

    zeros, ones = encoded(0), encoded(-1)
    at = next(at for at, (zero, one) in enumerate(zip(zeros, ones, strict=True)) if zero != one)
    pack = _NUMBERS.pack if version >= _LOG_START_FROM else _without_log_start
    size = len(pack(0, 0, 0))
    assert zeros[at:].startswith(bytes(size)) and ones[at:].startswith(b"\xff" * size)
    return zeros[:at], pack, zeros[at + size :]


def _without_log_start(base_offset: int, append_time_ms: int, _: int) -> bytes:
    return _NUMBERS_WITHOUT_LOG_START.pack(base_offset, append_time_ms)
