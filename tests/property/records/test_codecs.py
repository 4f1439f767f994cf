"""Every codec restores its input, refuses truncated or broken data, and keeps its memory limit."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.errors import CorruptBatch, LocalProtocolError
from kmirror.records.codecs import LEVELS, Compression, compress, decompress

PACKED = [codec for codec in Compression if codec is not Compression.NONE]
ANY = pytest.mark.parametrize("codec", PACKED, ids=lambda codec: codec.name.lower())
# Long runs and noise, across the block sizes of every codec.
DATA = st.one_of(
    st.binary(max_size=300),
    st.builds(
        lambda piece, times, tail: piece * times + tail,
        st.binary(min_size=1, max_size=30),
        st.integers(min_value=1, max_value=9000),
        st.binary(max_size=30),
    ),
)


@ANY
@given(data=DATA)
def test_compressed_data_is_restored(codec: Compression, data: bytes) -> None:
    packed = compress(codec, data)
    assert decompress(codec, packed) == data
    assert decompress(codec, memoryview(bytearray(packed))) == data
    assert decompress(codec, packed, limit=len(data)) == data
    assert compress(codec, memoryview(data)) == packed


@ANY
@given(data=DATA, level=st.data())
def test_every_level_reads_back(codec: Compression, data: bytes, level: st.DataObject) -> None:
    if codec not in LEVELS:
        with pytest.raises(LocalProtocolError):
            compress(codec, data, level=1)
        return
    _, least, greatest = LEVELS[codec]
    chosen = level.draw(st.integers(min_value=max(least, -20), max_value=min(greatest, 17)))
    assert decompress(codec, compress(codec, data, level=chosen)) == data
    for outside in (least - 1, greatest + 1):
        with pytest.raises(LocalProtocolError, match=str(greatest)):
            compress(codec, data, level=outside)


@ANY
@given(data=st.binary(min_size=1, max_size=200))
def test_a_truncation_anywhere_is_detected(codec: Compression, data: bytes) -> None:
    packed = compress(codec, data)
    for end in range(len(packed)):
        try:
            inflated = decompress(codec, packed[:end])
        except CorruptBatch:
            continue
        # Snappy blocks have no end mark: a truncation between two shows only in missing data.
        assert codec is Compression.SNAPPY
        assert inflated != data


@ANY
@given(data=st.binary(max_size=200))
def test_garbage_raises_nothing_else(codec: Compression, data: bytes) -> None:
    for start in (data, compress(codec, b"x" * 50)[:12] + data):
        try:
            decompress(codec, start)
        except CorruptBatch:
            pass


@ANY
def test_a_bomb_is_refused_by_the_limit_and_not_by_the_memory(codec: Compression) -> None:
    size = 64 * 1024 * 1024
    limit = 2 * 1024 * 1024
    bomb = compress(codec, bytes(size))
    tracemalloc.start()
    try:
        with pytest.raises(CorruptBatch, match=f"limit of {limit} bytes"):
            decompress(codec, bomb, limit=limit)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * limit + 4 * len(bomb)


@ANY
def test_the_limit_is_the_greatest_size_that_passes(codec: Compression) -> None:
    data = b"ab" * 100_000
    packed = compress(codec, data)
    assert decompress(codec, packed, limit=len(data)) == data
    with pytest.raises(CorruptBatch, match="limit"):
        decompress(codec, packed, limit=len(data) - 1)
