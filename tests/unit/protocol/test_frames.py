"""A byte stream is split into frames, for pieces of any size."""

from __future__ import annotations

import pytest

from kmirror.errors import ProtocolError
from kmirror.protocol.frames import FrameReader, add_length


def test_any_splitting_of_the_stream_gives_the_same_frames() -> None:
    sent = [b"", b"a", b"bc" * 100, b"\0\0\0\1"]
    stream = b"".join(add_length(frame) for frame in sent)
    for step in (1, 2, 3, 5, 7, 1000):
        reader = FrameReader()
        found = [f for i in range(0, len(stream), step) for f in reader.feed(stream[i : i + step])]
        assert found == sent
        assert reader.held_bytes == 0
        assert reader.position == len(stream)


def test_a_length_beyond_the_limit_is_refused_at_its_fourth_byte() -> None:
    reader = FrameReader(max_bytes=10)
    assert reader.feed(add_length(b"x" * 10)) == [b"x" * 10]
    assert reader.feed(b"\0\0\0") == []
    with pytest.raises(ProtocolError, match="a frame of 11 bytes: 0 to 10 are allowed") as caught:
        reader.feed(b"\x0b")
    assert (caught.value.position, caught.value.field) == (14, "length")


def test_a_negative_length_is_refused() -> None:
    with pytest.raises(ProtocolError, match="a frame of -1 bytes"):
        FrameReader().feed(b"\xff\xff\xff\xff")
