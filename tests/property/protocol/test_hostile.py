"""Hostile bytes: refused with a byte and a path, in bounded memory and time.

`KMIRROR_FUZZ_FRAMES` sets the number of mutated frames: 10 000 by default, 1 000 000 for the long run.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import time
import tracemalloc
from functools import cache
from pathlib import Path

import pytest

from benchmarks import shapes
from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.protocol import FetchRequest, Policy, careful, headers
from kmirror.protocol.gen.list_groups_response import ListedGroup, ListGroupsResponse
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.registry import all_apis, by_name, names
from kmirror.protocol.structs import SKIM_FROM_BYTES

FRAMES = int(os.environ.get("KMIRROR_FUZZ_FRAMES", "10000"))
VECTORS = Path(__file__).parents[2] / "data" / "messages" / "messages.ndjson.gz"

# Lengths and counts that an attacker would choose.
NASTY = [b"\x00", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff\xff\xff\xff\x07", b"\xff\xff\xff\xff\x0f", b"\x80" * 5]
NASTY += [value.to_bytes(4, "big", signed=True) for value in (-1, -2, -(2**31), 2**31 - 1, 2**24, 65536)]


@cache
def seeds() -> list[tuple[str, int, bytes]]:
    with gzip.open(VECTORS, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    found = [(row["m"], row["v"], bytes.fromhex(row["hex"])) for row in rows]
    for shape in (shapes.METADATA_UNIFORM, shapes.FETCH_REQUEST, shapes.API_VERSIONS, shapes.PRODUCE_REQUEST):
        message = shape.build()
        found.append((message.NAME, shape.version, message.encode(shape.version)))
    return found


def mutate(data: bytes, draw: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
        at = draw.randrange(len(out) + 1)
        match draw.randrange(7):
            case 0 if out:
                out[at % len(out)] ^= 1 << draw.randrange(8)
            case 1 if out:
                out[at % len(out)] = draw.randrange(256)
            case 2:
                nasty = draw.choice(NASTY)
                out[at : at + len(nasty)] = nasty
            case 3:
                out[at:at] = draw.choice(NASTY)
            case 4:
                del out[at : at + draw.randrange(1, 9)]
            case 5:
                out[at:at] = out[max(0, at - draw.randrange(1, 40)) : at]
            case _:
                del out[at:]
    return bytes(out)


def mutated_messages(count: int, seed: int) -> list[tuple[str, int, bytes]]:
    draw = random.Random(seed)
    return [(name, version, mutate(data, draw)) for name, version, data in draw.choices(seeds(), k=count)]


def check(name: str, version: int, data: bytes, policy: Policy) -> bool:
    """Return whether the bytes were accepted; any error other than a `ProtocolError` fails the test."""
    try:
        message = by_name(name).decode(data, version, policy=policy)
    except ProtocolError as error:
        assert error.field, (name, version, data.hex())
        assert error.position is not None
        assert 0 <= error.position <= len(data)
        return False
    try:
        again = message.encode(version)
    except LocalProtocolError:
        return True
    if policy is Policy.STRICT:
        # Bytes are compared, as a NaN is not equal to itself.
        assert by_name(name).decode(again, version).encode(version) == again, (name, version, data.hex())
    return True


def test_mutated_messages_are_accepted_or_refused() -> None:
    step = 10_000
    taken = 0
    for first in range(0, FRAMES, step):
        for name, version, data in mutated_messages(min(step, FRAMES - first), first):
            taken += check(name, version, data, Policy.STRICT)
    # Neither all nor none: otherwise the mutations would test nothing.
    assert FRAMES * 0.05 < taken < FRAMES * 0.95


def test_mutated_messages_are_accepted_or_refused_leniently() -> None:
    for name, version, data in mutated_messages(FRAMES // 5, 7):
        check(name, version, data, Policy.LENIENT)


def test_mutated_requests_and_responses_with_their_headers() -> None:
    draw = random.Random(11)
    frames = []
    for api in all_apis():
        for version in (api.min_version, api.max_version):
            frames.append(headers.encode_request(api.request(), version, correlation_id=1, client_id="me"))
    for _ in range(FRAMES // 5):
        frame = mutate(draw.choice(frames), draw)
        try:
            headers.decode_request(frame)
        except ProtocolError:
            pass
        try:
            headers.decode_response(frame, draw.choice(all_apis()).key, 0)
        except ProtocolError:
            pass


@pytest.mark.parametrize("name", sorted(names()))
def test_random_bytes_are_no_message_or_some(name: str) -> None:
    draw = random.Random(13)
    cls = by_name(name)
    for _ in range(20):
        check(name, draw.randint(cls.MIN_VERSION, cls.MAX_VERSION), draw.randbytes(draw.randrange(60)), Policy.STRICT)


# Four times the frame, plus the memory for even an empty message: modules, errors, small objects.
CONSTANT = 256 * 1024


def peak(name: str, version: int, data: bytes) -> int:
    """Return the peak memory of reading."""
    cls = by_name(name)
    tracemalloc.start()
    try:
        cls.decode(data, version)
    except ProtocolError:
        pass
    finally:
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found


def test_memory_is_bounded_by_the_frame() -> None:
    for name in names():
        by_name(name)
    for name, version, data in mutated_messages(max(500, FRAMES // 100), 17):
        found = peak(name, version, data)
        assert found <= 4 * len(data) + CONSTANT, (name, version, len(data), found)


@pytest.mark.parametrize("version", [4, 17])
def test_nine_bytes_that_claim_two_thousand_million_elements_cost_next_to_nothing(version: int) -> None:
    # The wait and the minimum and maximum bytes are truncated: nothing must be allocated for the claimed count.
    claim = b"\x7f\xff\xff\xff" if version < 12 else b"\xff\xff\xff\xff\x07"
    whole = FetchRequest().encode(version)
    at = 21 + 4 - (8 if version < 7 else 0) if version < 15 else 21
    frame = whole[:at] + claim
    assert peak("FetchRequest", version, frame) < 64 * 1024
    best = min(_time(frame, version) for _ in range(20))
    assert best < 5_000_000  # Nanoseconds; it takes some tens of microseconds.


def _time(frame: bytes, version: int) -> int:
    start = time.perf_counter_ns()
    with pytest.raises(ProtocolError):
        FetchRequest.decode(frame, version)
    return time.perf_counter_ns() - start


def test_a_claim_in_the_first_nine_bytes() -> None:
    frame = b"\x00\x00\x00\x00" + b"\xff\xff\xff\xff\x07"
    cls = by_name("MetadataResponse")
    with pytest.raises(ProtocolError, match="2147483646 elements claimed, 0 bytes left") as caught:
        cls.decode(frame, 12)
    assert (caught.value.field, caught.value.position) == ("brokers", 4)
    assert peak("MetadataResponse", 12, frame) < 64 * 1024


def large_metadata(copies: int) -> bytes:
    """Return a response that breaks in its very last bytes."""
    message = shapes.metadata_uniform()
    message.topics *= copies
    return message.encode(12)[:-3] + b"\xff\xff\xff"


def large_fetch_request() -> bytes:
    message = shapes.fetch_request()
    message.topics *= 200
    return message.encode(17)[:-3] + b"\xff\xff\xff"


def large_list_of_groups() -> bytes:
    groups = [ListedGroup(group_id="g", protocol_type="", group_state="s", group_type="t")] * 60_000
    return ListGroupsResponse(groups=groups).encode(5)[:-1]


LARGE = [
    ("MetadataResponse", 12, large_metadata(20)),
    ("FetchRequest", 17, large_fetch_request()),
    ("ListGroupsResponse", 5, large_list_of_groups()),
]


@pytest.mark.parametrize(("name", "version", "data"), LARGE, ids=[name for name, _, _ in LARGE])
def test_large_frames_that_break_at_their_end_cost_no_more(name: str, version: int, data: bytes) -> None:
    assert len(data) > 4 * SKIM_FROM_BYTES
    with pytest.raises(ProtocolError) as caught:
        by_name(name).decode(data, version)
    assert caught.value.field
    assert peak(name, version, data) <= 4 * len(data) + CONSTANT


def test_skimming_refuses_the_same_as_decoding() -> None:
    for name, version, data in mutated_messages(FRAMES // 5, 23):
        cls = by_name(name)
        try:
            expected: object = careful.decode(cls, data, version)[1]
        except ProtocolError as error:
            expected = str(error)
        try:
            found: object = careful.skim(cls, memoryview(data), version)
        except ProtocolError as error:
            found = str(error)
        assert found == expected, (name, version, data.hex())


def test_large_frames_that_are_whole_are_read() -> None:
    message = shapes.metadata_uniform()
    message.topics *= 20
    data = message.encode(12)
    assert MetadataResponse.decode(data, 12) == message
    assert MetadataResponse.decode(memoryview(data), 12, lazy=True) == message


def test_arrays_of_next_to_nothing_are_not_made_on_credit() -> None:
    """The largest count that the frame allows, followed by invalid elements."""
    frame = bytes(FetchRequest().encode(17)[:21]) + b"\xff\xff\x03" + b"\xff" * 70_000
    with pytest.raises(ProtocolError):
        FetchRequest.decode(frame, 17)
    assert peak("FetchRequest", 17, frame) <= 4 * len(frame) + CONSTANT
