"""Frames are cut from a stream wherever it is torn, and nothing is allocated for what a prefix merely says."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.net import frames
from kmirror.net.frames import FrameReader

MOST = 1 << 20


def feed(reader: FrameReader, stream: bytes, pieces: list[int]) -> list[bytes]:
    """Give a stream to a reader in pieces of at most these sizes, as sockets do, and return the frames."""
    found: list[bytes] = []
    turn = 0
    while stream and not reader.fault:
        left = pieces[turn % len(pieces)]
        turn += 1
        count = 0
        for buffer in reader.into():
            part = stream[: min(left, len(buffer))]
            buffer[: len(part)] = part
            stream, left, count = stream[len(part) :], left - len(part), count + len(part)
        found += [bytes(frame) for frame in reader.received(count)]
    return found


def wire(*bodies: bytes) -> bytes:
    return b"".join(len(body).to_bytes(4, "big") + body for body in bodies)


@pytest.fixture(autouse=True)
def small_first_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "FIRST_BYTES", 8)


@given(
    bodies=st.lists(st.binary(max_size=100), max_size=8),
    pieces=st.lists(st.integers(1, 60), min_size=1, max_size=8),
    scratch=st.integers(1, 64),
)
def test_any_frames_in_any_pieces(bodies: list[bytes], pieces: list[int], scratch: int) -> None:
    reader = FrameReader(MOST, memoryview(bytearray(scratch)))
    assert feed(reader, wire(*bodies), pieces) == bodies
    assert not reader.fault


@given(bodies=st.lists(st.binary(max_size=50), max_size=4), pieces=st.lists(st.integers(1, 60), min_size=1))
def test_frames_share_no_memory_with_what_comes_later(bodies: list[bytes], pieces: list[int]) -> None:
    scratch = memoryview(bytearray(32))
    first, second = FrameReader(MOST, scratch), FrameReader(MOST, scratch)
    held = [feed(first, wire(body), pieces) for body in bodies]
    feed(second, wire(*(b"\xff" * 60 for _ in bodies)), pieces)
    assert held == [[body] for body in bodies]


@pytest.mark.parametrize("size", [-1, -(1 << 31), 101, (1 << 31) - 1])
def test_a_size_out_of_bounds_ends_the_stream_after_the_frames_before_it(size: int) -> None:
    reader = FrameReader(100, memoryview(bytearray(64)))
    stream = wire(b"good") + size.to_bytes(4, "big", signed=True) + b"rest"
    assert feed(reader, stream, [64]) == [b"good"]
    assert reader.fault == f"a frame of {size} bytes; 0 to 100 are taken"


def test_the_largest_size_is_taken() -> None:
    reader = FrameReader(100, memoryview(bytearray(64)))
    assert feed(reader, wire(b"x" * 100), [7]) == [b"x" * 100]


def test_memory_follows_what_has_come_and_not_what_was_announced() -> None:
    reader = FrameReader(100 << 20, memoryview(bytearray(64)))
    tracemalloc.start()
    try:
        feed(reader, (100 << 20).to_bytes(4, "big") + b"x" * 1_000, [64])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50_000


def test_a_link_that_says_nothing_holds_nothing() -> None:
    scratch = memoryview(bytearray(1 << 20))
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        readers = [FrameReader(MOST, scratch) for _ in range(1_000)]
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert all(reader.is_between for reader in readers)
    assert after - before < 300_000
