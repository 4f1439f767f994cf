"""Hostile bytes: refused with a byte and a path, in bounded memory and time.

`KMIRROR_FUZZ_FRAMES` sets how many mutated frames are tried: 10 000 unless it is set, 1 000 000 for the long run.
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
from kmirror.protocol import FetchRequest, Policy, headers
from kmirror.protocol.registry import all_apis, by_name, names

FRAMES = int(os.environ.get("KMIRROR_FUZZ_FRAMES", "10000"))
VECTORS = Path(__file__).parents[2] / "data" / "messages" / "messages.ndjson.gz"

# What lengths and counts are when somebody means harm.
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


def mutated(count: int, seed: int) -> list[tuple[str, int, bytes]]:
    draw = random.Random(seed)
    return [(name, version, mutate(data, draw)) for name, version, data in draw.choices(seeds(), k=count)]


def check(name: str, version: int, data: bytes, policy: Policy) -> bool:
    """Whether the bytes were taken; anything but a message or a `ProtocolError` fails the test."""
    try:
        message = by_name(name).decode(data, version, policy=policy)
    except ProtocolError as error:
        assert error.path, (name, version, data.hex())
        assert error.position is not None
        assert 0 <= error.position <= len(data)
        return False
    try:
        again = message.encode(version)
    except LocalProtocolError:
        return True
    if policy is Policy.STRICT:
        assert by_name(name).decode(again, version) == message, (name, version, data.hex())
    return True


def test_mutated_messages_are_taken_or_refused() -> None:
    step = 10_000
    taken = 0
    for first in range(0, FRAMES, step):
        for name, version, data in mutated(min(step, FRAMES - first), first):
            taken += check(name, version, data, Policy.STRICT)
    # Neither all nor none: else the mutations would test nothing.
    assert FRAMES * 0.05 < taken < FRAMES * 0.95


def test_mutated_messages_are_taken_or_refused_leniently() -> None:
    for name, version, data in mutated(FRAMES // 5, 7):
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


# Four times the frame, above what even an empty message may take: modules, errors, small objects.
CONSTANT = 256 * 1024


def peak(name: str, version: int, data: bytes) -> int:
    tracemalloc.start()
    try:
        check(name, version, data, Policy.STRICT)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_is_bounded_by_the_frame() -> None:
    for name in names():
        by_name(name)
    for name, version, data in mutated(max(500, FRAMES // 100), 17):
        found = peak(name, version, data)
        assert found <= 4 * len(data) + CONSTANT, (name, version, len(data), found)


@pytest.mark.parametrize("version", [4, 17])
def test_nine_bytes_that_claim_two_thousand_million_elements_cost_next_to_nothing(version: int) -> None:
    # Wait, least and most bytes are cut short: what counts is that nothing is made for the claim.
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
    assert (caught.value.path, caught.value.position) == ("brokers", 4)
    assert peak("MetadataResponse", 12, frame) < 64 * 1024


def test_arrays_of_next_to_nothing_are_not_made_on_credit() -> None:
    """A count as large as the frame allows, and then elements that are none."""
    frame = bytes(FetchRequest().encode(17)[:21]) + b"\xff\xff\x03" + b"\xff" * 70_000
    with pytest.raises(ProtocolError):
        FetchRequest.decode(frame, 17)
    assert peak("FetchRequest", 17, frame) <= 4 * len(frame) + CONSTANT
