"""The forms of compressed data that other clients write."""

from __future__ import annotations

import gzip
import hashlib
import struct
from time import process_time_ns

import cramjam
import lz4.frame
import pytest
import zstandard

from kmirror.errors import CorruptBatch
from kmirror.records.codecs import Compression, compress, decompress

DATA = b"".join(b"%d of many " % number for number in range(30_000))


def test_gzip_members_may_follow_each_other_and_junk_is_ignored() -> None:
    packed = gzip.compress(DATA) + gzip.compress(b"more")
    assert decompress(Compression.GZIP, packed) == DATA + b"more"
    for junk in (b"junk", b"\x1f\x8b", b"\x1f\x8b\x09junk"):
        assert decompress(Compression.GZIP, packed + junk) == DATA + b"more"


def test_many_gzip_members_take_linear_time() -> None:
    count = 200_000
    start = process_time_ns()
    assert decompress(Compression.GZIP, gzip.compress(b"") * count + gzip.compress(b"end")) == b"end"
    assert process_time_ns() - start < count * 20_000, "to hand each all that follows takes 100 us a member"


def test_gzip_has_the_header_of_the_jvm_and_no_time() -> None:
    assert compress(Compression.GZIP, DATA)[:10].hex() == "1f8b08000000000000ff"
    assert gzip.decompress(compress(Compression.GZIP, DATA)) == DATA


def test_a_gzip_checksum_is_checked() -> None:
    packed = bytearray(compress(Compression.GZIP, DATA))
    packed[-6] ^= 1
    with pytest.raises(CorruptBatch, match="gzip"):
        decompress(Compression.GZIP, packed)


def test_snappy_is_written_in_xerial_blocks_and_read_raw_too() -> None:
    packed = compress(Compression.SNAPPY, DATA)
    assert packed[:16].hex() == "82534e41505059000000000100000001"
    first = struct.unpack_from(">I", packed, 16)[0]
    assert bytes(cramjam.snappy.decompress_raw(packed[20 : 20 + first])) == DATA[: 32 * 1024]
    assert decompress(Compression.SNAPPY, bytes(cramjam.snappy.compress_raw(DATA))) == DATA
    assert decompress(Compression.SNAPPY, packed + packed) == DATA + DATA


def test_a_snappy_length_that_the_block_cannot_hold_is_refused_unread() -> None:
    block = bytes.fromhex("ffffffff07") + b"\x00a"  # Claims 2 GiB.
    with pytest.raises(CorruptBatch, match="limit"):
        decompress(Compression.SNAPPY, block)
    with pytest.raises(CorruptBatch, match="claims to contain"):
        decompress(Compression.SNAPPY, bytes.fromhex("8080801f00") + b"a")


@pytest.mark.parametrize("tail", [bytes(4), bytes(4) + compress(Compression.SNAPPY, DATA)[16:], b"\x82SNAPPY\x00\x00"])
def test_snappy_blocks_are_not_empty_and_stream_headers_not_truncated(tail: bytes) -> None:
    with pytest.raises(CorruptBatch, match=r"a block is empty|incomplete stream header"):
        decompress(Compression.SNAPPY, compress(Compression.SNAPPY, DATA) + tail)


def test_a_snappy_stream_without_blocks_may_follow() -> None:
    packed = compress(Compression.SNAPPY, DATA)
    assert decompress(Compression.SNAPPY, packed + packed[:16]) == DATA


def test_a_snappy_block_with_size_0_has_no_content() -> None:
    assert decompress(Compression.SNAPPY, b"\x00") == b""
    with pytest.raises(CorruptBatch, match="snappy"):
        decompress(Compression.SNAPPY, b"\x00abc")


def test_an_lz4_frame_is_as_kafka_writes_it() -> None:
    noise = hashlib.shake_128(b"noise").digest(1000)
    for data in (DATA, noise, b""):
        packed = compress(Compression.LZ4, data)
        info = lz4.frame.get_frame_info(packed)
        assert packed[:7].hex() == "04224d18604082"
        assert (info["block_size"], info["block_linked"], info["content_size"]) == (65536, False, 0)
        assert not info["content_checksum"] and not info["block_checksum"]
        assert lz4.frame.decompress(packed) == data
    stored = compress(Compression.LZ4, noise)
    assert struct.unpack_from("<I", stored, 7)[0] == 0x80000000 | len(noise)


def test_lz4_frames_of_other_clients_are_read_unless_their_blocks_are_linked() -> None:
    packed = lz4.frame.compress(DATA, block_linked=False, content_checksum=True, store_size=True)
    assert decompress(Compression.LZ4, packed) == DATA
    # The JVM refuses these too.
    with pytest.raises(CorruptBatch, match="depend on each other"):
        decompress(Compression.LZ4, lz4.frame.compress(DATA, block_linked=True))


def test_an_lz4_frame_with_a_dictionary_is_refused_as_by_the_jvm() -> None:
    packed = compress(Compression.LZ4, DATA)
    named = packed[:4] + bytes.fromhex("6140 01020304 fd") + packed[7:]
    assert lz4.frame.decompress(named) == DATA  # Which does not need it.
    with pytest.raises(CorruptBatch, match="dictionary"):
        decompress(Compression.LZ4, named)
    with pytest.raises(CorruptBatch, match="reserved"):
        decompress(Compression.LZ4, packed[:4] + b"\x62" + packed[5:])


def test_zstd_frames_with_and_without_sizes_and_several_in_a_row() -> None:
    sized = zstandard.ZstdCompressor(write_checksum=True).compress(DATA)
    skipped = bytes.fromhex("502a4d18 03000000 aabbcc")
    unsized = compress(Compression.ZSTD, DATA)
    assert zstandard.frame_content_size(unsized) == -1
    assert decompress(Compression.ZSTD, skipped + sized + unsized + skipped) == DATA + DATA


def test_a_zstd_frame_of_many_mebibytes_is_read_in_pieces() -> None:
    data = DATA * 40
    assert decompress(Compression.ZSTD, compress(Compression.ZSTD, data)) == data
    noisy = compress(Compression.ZSTD, DATA)
    for end in range(0, len(noisy), 97):
        with pytest.raises(CorruptBatch):
            decompress(Compression.ZSTD, noisy[:end])


@pytest.mark.parametrize("codec", list(Compression))
def test_nothing_packed_is_nothing_inflated(codec: Compression) -> None:
    assert decompress(codec, compress(codec, b"")) == b""
