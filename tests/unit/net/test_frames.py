"""Frames are split from a stream of any pieces, and nothing is allocated for a length prefix alone."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.kernel.events import Chunk
from kmirror.net import frames
from kmirror.net.frames import FrameReader, Scratch

MOST = 1 << 20


def feed(reader: FrameReader, stream: bytes, pieces: list[int]) -> list[bytes]:
    """Give a stream to a reader in pieces of at most these sizes, like sockets, and return the frames."""
    found: list[bytes] = []
    turn = 0
    while stream and not reader.fault:
        left = pieces[turn % len(pieces)]
        turn += 1
        count = 0
        for buffer in reader.next_buffers():
            part = stream[: min(left, len(buffer))]
            buffer[: len(part)] = part
            stream, left, count = stream[len(part) :], left - len(part), count + len(part)
        found += [bytes(frame) for frame in reader.cut_frames(count)]
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
    reader = FrameReader(MOST, Scratch(scratch))
    assert feed(reader, wire(*bodies), pieces) == bodies
    assert not reader.fault


@given(bodies=st.lists(st.binary(max_size=50), max_size=4), pieces=st.lists(st.integers(1, 60), min_size=1))
def test_frames_share_no_memory_with_later_ones(bodies: list[bytes], pieces: list[int]) -> None:
    scratch = Scratch(32)
    first, second = FrameReader(MOST, scratch), FrameReader(MOST, scratch)
    held = [feed(first, wire(body), pieces) for body in bodies]
    feed(second, wire(*(b"\xff" * 60 for _ in bodies)), pieces)
    assert held == [[body] for body in bodies]


@pytest.mark.parametrize("size", [-1, -(1 << 31), 101, (1 << 31) - 1])
def test_a_size_out_of_bounds_ends_the_stream_after_the_frames_before_it(size: int) -> None:
    reader = FrameReader(100, Scratch(64))
    stream = wire(b"good") + size.to_bytes(4, "big", signed=True) + b"rest"
    assert feed(reader, stream, [64]) == [b"good"]
    assert reader.fault == f"invalid frame size {size}, expected 0 to 100"


def test_the_largest_size_is_accepted() -> None:
    reader = FrameReader(100, Scratch(64))
    assert feed(reader, wire(b"x" * 100), [7]) == [b"x" * 100]


def test_memory_follows_received_not_announced_bytes() -> None:
    reader = FrameReader(100 << 20, Scratch(64))
    tracemalloc.start()
    try:
        feed(reader, (100 << 20).to_bytes(4, "big") + b"x" * 1_000, [64])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50_000


def peak_allocation(run: Callable[[], object]) -> int:
    """Return the peak of allocated bytes."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def receive(reader: FrameReader, size: int) -> list[Chunk]:
    """Receive a frame of `size` bytes in pieces of 64 KiB; return it without a copy."""
    found: list[Chunk] = []
    left = 4 + size
    stream = size.to_bytes(4, "big")
    while left:
        next_buffers = reader.next_buffers()
        count = min(left, 64 << 10, len(next_buffers[0]))
        next_buffers[0][: len(stream)] = stream
        stream, left = b"", left - count
        found += reader.cut_frames(count)
    return found


def test_large_frames_are_received_into_the_same_memory() -> None:
    first, second = (FrameReader(1 << 30, scratch) for scratch in [Scratch(64 << 10)] * 2)
    receive(first, 8 << 20)
    assert peak_allocation(lambda: receive(second, 8 << 20)) < 100_000
    assert peak_allocation(lambda: receive(first, 5 << 20)) < 100_000


def test_memory_is_not_received_into_as_long_as_anything_refers_to_it() -> None:
    reader = FrameReader(1 << 30, Scratch(64 << 10))
    (held,) = receive(reader, 1 << 20)
    part = memoryview(held)[1_000:1_001]
    held = bytes(held)
    for _ in range(2 * frames.KEPT_MAX):
        feed(reader, wire(b"\xff" * (1 << 20)), [64 << 10])
    assert bytes(part) == held[1_000:1_001] != b"\xff"


def test_memory_is_released_without_large_frames() -> None:
    scratch = Scratch(64 << 10)
    reader = FrameReader(1 << 30, scratch)
    receive(reader, 1 << 20)
    for _ in range(frames.KEPT_SWEEPS):
        scratch.sweep()
    assert peak_allocation(lambda: receive(reader, 1 << 20)) < 100_000
    for _ in range(frames.KEPT_SWEEPS + 1):
        scratch.sweep()
    assert peak_allocation(lambda: receive(reader, 1 << 20)) > 1 << 20


@given(st.lists(st.tuples(st.integers(1, 40), st.booleans()), max_size=20))
def test_a_held_frame_is_never_overwritten(drawn: list[tuple[int, bool]]) -> None:
    scratch, held = Scratch(8), []
    for number, (size, is_held) in enumerate(drawn):
        buffer = scratch.get_buffer(size * frames.KEPT_BYTES_MIN, frames.KEPT_BYTES_MIN)
        assert frames.KEPT_BYTES_MIN <= len(buffer) <= size * frames.KEPT_BYTES_MIN
        buffer[:] = bytes([number]) * len(buffer)
        if is_held:
            held.append((number, buffer[1:2]))
        del buffer
    assert all(bytes(view) == bytes([number]) for number, view in held)


def test_a_silent_link_holds_no_memory() -> None:
    scratch = Scratch(1 << 20)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        readers = [FrameReader(MOST, scratch) for _ in range(1_000)]
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert all(reader.is_between for reader in readers)
    assert after - before < 300_000
