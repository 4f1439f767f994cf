"""Ways to break the content of a response to a client.

One of these: a spot is broken as in any frame, an error code of Kafka is set, the records are replaced by a broken
batch, or the response is valid, but delivered wrongly. The correlation id is usually kept: a client that reads another
one closes its link, and reads no further.
"""

from __future__ import annotations

from typing import Any

from kmirror.errors import ProtocolError
from kmirror.fuzz import batches
from kmirror.fuzz.clients.delivery_faults import BrokenResponse, Draw, apply_delivery_fault
from kmirror.fuzz.field_offsets import CORRELATION_SPOT, ranges_of_field, response_spots
from kmirror.fuzz.mutations import mutate
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.headers import RequestHead, decode_response, encode_response
from kmirror.protocol.registry import find_key, find_response, key_of
from kmirror.spec.error_codes import ErrorCode

_DELIVERY_SHARE = 0.3
_ERROR_SHARE = 0.2
_RECORDS_SHARE = 0.5
_LEGACY_SHARE = 0.1
_CORRELATION_SHARE = 1 / 32
_SAME_KIND_SHARE = 0.6
_CODES = tuple(int(code) for code in ErrorCode if code is not ErrorCode.NONE)
_FETCH = key_of(FetchResponse)
_BASE_OFFSET_BYTES = 8


def break_response(random: Draw, frame: bytes, head: RequestHead, late_ms: int) -> BrokenResponse:
    """Return the broken response, with its steps; a late one is delayed by `late_ms` milliseconds."""
    if random() < _DELIVERY_SHARE:
        found = apply_delivery_fault(random, frame, head, late_ms)
        if found is not None:
            return found
    if head.api_key == _FETCH and random() < _RECORDS_SHARE:
        found = _with_other_records(random, frame, head)
        if found is not None:
            return found
    if random() < _ERROR_SHARE:
        found = _with_error(random, frame, head)
        if found is not None:
            return found
    spots = [spot for spot in response_spots(frame, head.api_key, head.api_version) if spot[2] <= len(frame)]
    if not spots or random() < _CORRELATION_SHARE:
        spots = [CORRELATION_SPOT]
    elif random() < _SAME_KIND_SHARE:
        # A response of hundreds of numbers has one or two counts.
        kinds = sorted({spot[0] for spot in spots})
        kind = kinds[int(random() * len(kinds))]
        spots = [spot for spot in spots if spot[0] is kind]
    data, steps = mutate(random, bytearray(frame), spots)
    return BrokenResponse(bytes(data), tuple(map(str, steps)))


def _with_error(random: Draw, frame: bytes, head: RequestHead) -> BrokenResponse | None:
    """Return the response with an error code in one of its error fields; None if it has none."""
    response, api = find_response(head.api_key), find_key(head.api_key)
    if response is None or api is None:
        return None
    body_at = 4 + api.response_header_version(head.api_version)
    ranges = ranges_of_field(response, frame, head.api_version, body_at, "error_code")
    if not ranges:
        return None
    start, end = ranges[int(random() * len(ranges))]
    code = _CODES[int(random() * len(_CODES))]
    data = frame[:start] + code.to_bytes(end - start, "big", signed=True) + frame[end:]
    return BrokenResponse(data, (f"error {ErrorCode(code).name} at {start}",))


def _with_other_records(random: Draw, frame: bytes, head: RequestHead) -> BrokenResponse | None:
    """Return the response with a broken batch instead of a partition's records; None if it has no records.

    The batch keeps the base offset of those records, as a client drops records before its position.
    """
    try:
        body: Any = decode_response(frame, head.api_key, head.api_version).body
    except ProtocolError:
        return None
    rows = [row for topic in body.responses for row in topic.partitions if row.records]
    if not rows:
        return None
    row = rows[int(random() * len(rows))]
    is_legacy = random() < _LEGACY_SHARE
    data, steps = batches.break_batch(random, batches.draw_legacy(random) if is_legacy else batches.draw_batch(random))
    row.records = bytes(row.records[:_BASE_OFFSET_BYTES]) + data[_BASE_OFFSET_BYTES:]
    number = int.from_bytes(frame[:4], "big", signed=True)
    changed = encode_response(body, head.api_version, correlation_id=number)
    return BrokenResponse(changed, (f"other records of partition {row.partition_index}", *map(str, steps)))
