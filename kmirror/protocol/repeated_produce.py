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
from kmirror.protocol.wire import Buffer, pack_int32, unpack_int32, uvarint

KEPT_BYTES_MAX = 1024
"""A request is kept only if the bytes before its records are at most this many."""
_CORRELATION_ID_AT, _AFTER_CORRELATION_ID = 4, 8
_LOG_START_FROM = 5
_NUMBERS, _NUMBERS_WITHOUT_LOG_START = Struct(">qqq"), Struct(">qq")


class LastProduce:
    """The last request on a link that wrote to one partition, to recognise a similar one."""

    __slots__ = (
        "_index",
        "_middle",
        "_name",
        "_prefix",
        "_settings",
        "_size_at",
        "_size_increment",
        "_suffix",
        "_topic_id",
        "_write_size",
        "head",
    )

    def __init__(self, frame: Buffer, head: RequestHead, request: ProduceRequest, size_at: int, suffix: bytes) -> None:
        self.head = head
        self._prefix = bytes(frame[:_CORRELATION_ID_AT])
        self._middle = bytes(frame[_AFTER_CORRELATION_ID:size_at])
        self._suffix = suffix
        self._size_at = size_at
        is_flexible = head.api_version >= ProduceRequest.FLEXIBLE_FROM
        self._write_size: Callable[[int], bytes] = uvarint if is_flexible else pack_int32
        self._size_increment = int(is_flexible)  # A compact size is encoded plus one.
        (topic,) = request.topic_data
        self._name, self._topic_id, self._index = topic.name, topic.topic_id, topic.partition_data[0].index
        self._settings = request.transactional_id, request.acks, request.timeout_ms

    def records(self, frame: Buffer) -> memoryview | None:
        """Return the records of `frame` if it differs in records and correlation id at most, else None."""
        size_at, end = self._size_at, len(frame) - len(self._suffix)
        if end <= size_at:
            return None
        # The size counts the length field too; near a power of 128 that is a byte too much: then the frame is decoded.
        begin = size_at + len(self._write_size(end - size_at))
        if (
            end <= begin
            or frame[_AFTER_CORRELATION_ID:size_at] != self._middle
            or frame[:_CORRELATION_ID_AT] != self._prefix
            or frame[size_at:begin] != self._write_size(end - begin + self._size_increment)
            or frame[end:] != self._suffix
        ):
            return None
        return memoryview(frame)[begin:end]

    def request(self, frame: Buffer, records: memoryview) -> tuple[RequestHead, ProduceRequest]:
        """Return head and body of `frame` if it differs in correlation id and records at most, else None."""
        (correlation_id,) = unpack_int32(frame, _CORRELATION_ID_AT)
        data = PartitionProduceData(self._index, records)
        request = ProduceRequest(*self._settings, [TopicProduceData(self._name, self._topic_id, [data])])
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
    size, suffix = (uvarint(len(records) + 1), b"\0\0\0") if is_flexible else (pack_int32(len(records)), b"")
    at = len(frame) - len(suffix) - len(records) - len(size)
    if not _AFTER_CORRELATION_ID < at <= KEPT_BYTES_MAX:
        return None
    if frame[at : at + len(size)] != size or frame[len(frame) - len(suffix) :] != suffix:
        return None
    return LastProduce(frame, head, request, at, suffix)


def acknowledgement(
    version: int, name: str, topic_id: Uuid, index: int, base_offset: int, append_time_ms: int, log_start_offset: int
) -> bytes:
    """Return the body of a successful response to a request that wrote to one partition."""
    prefix, pack, suffix = acknowledgement_layout(version, name, topic_id, index)
    return prefix + pack(base_offset, append_time_ms, log_start_offset) + suffix


@lru_cache(maxsize=1_000)
def acknowledgement_layout(
    version: int, name: str, topic_id: Uuid, index: int
) -> tuple[bytes, Callable[[int, int, int], bytes], bytes]:
    """Return the constant start of an `acknowledgement`, the function to pack its numbers, and the constant end."""

    def encode_response(number: int) -> bytes:
        row = PartitionProduceResponse(index, 0, number, number, number)
        return ProduceResponse([TopicProduceResponse(name, topic_id, [row])]).encode(version)

    zeros, ones = encode_response(0), encode_response(-1)
    at = next(at for at, (zero, one) in enumerate(zip(zeros, ones, strict=True)) if zero != one)
    pack = _NUMBERS.pack if version >= _LOG_START_FROM else _without_log_start
    size = len(pack(0, 0, 0))
    assert zeros[at:].startswith(bytes(size)) and ones[at:].startswith(b"\xff" * size)
    return zeros[:at], pack, zeros[at + size :]


def _without_log_start(base_offset: int, append_time_ms: int, _: int) -> bytes:
    return _NUMBERS_WITHOUT_LOG_START.pack(base_offset, append_time_ms)
