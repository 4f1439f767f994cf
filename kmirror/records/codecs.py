"""Compression and decompression of records, with a limit on the uncompressed size.

Compressed output has the form that Kafka's own producer writes: gzip with an empty header, snappy in xerial blocks of
32 KiB, an lz4 frame of independent 64 KiB blocks without sizes, a zstd stream without a content size. The same input
always gives the same output.

Incomplete or inconsistent data is rejected, also where the JVM does not check: an lz4 frame's content size and
checksum, the reserved bits of a gzip header, and an incomplete gzip member, zstd frame or snappy block after the last
one.

Nothing is decompressed beyond `limit` bytes: larger data raises `CorruptBatch` with the limit, before the memory is
allocated. Compressor contexts are kept between calls (a new zstd context costs more than a small batch), so only one
thread at a time may compress.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from enum import IntEnum
from functools import cache
from typing import Any, Final

from kmirror.errors import CorruptBatch, LocalProtocolError
from kmirror.records.layout import Buffer

DECOMPRESSED_BYTES_MAX: Final = 128 * 1024 * 1024

_GZIP_LEVEL: Final = 6  # Kafka's -1 means zlib's default.
_LZ4_LEVEL: Final = 9  # The default of KIP-390, for which the JVM client uses the fast compressor.
_ZSTD_LEVEL: Final = 3

_XERIAL_HEADER: Final = b"\x82SNAPPY\x00" + (1).to_bytes(4, "big") + (1).to_bytes(4, "big")
_XERIAL_MAGIC: Final = _XERIAL_HEADER[:8]
_XERIAL_BLOCK: Final = 32 * 1024
# A snappy copy of 64 bytes takes three bytes, so no block can grow by a larger factor.
_SNAPPY_RATIO_MAX: Final = 22

_LZ4_BLOCK: Final = 64 * 1024
# Magic, version 1 with independent blocks, 64 KiB blocks, and the checksum of the last two bytes.
_LZ4_HEADER: Final = bytes.fromhex("04224d18604082")
_LZ4_STORED: Final = 0x80000000

_ZSTD_MAGIC: Final = 0xFD2FB528
_ZSTD_SKIPPABLE: Final = 0x184D2A50
_ZSTD_BLOCK_MAX: Final = 128 * 1024
_CHUNK: Final = 1024 * 1024
_GZIP_STEP: Final = 512  # Input size of the first step for the second and later gzip members.


class Compression(IntEnum):
    """Compression bits of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


# Default, minimum and maximum level; codecs without an entry have no levels.
LEVELS: Final[dict[Compression, tuple[int, int, int]]] = {
    Compression.GZIP: (_GZIP_LEVEL, 1, 9),
    Compression.LZ4: (_LZ4_LEVEL, 1, 17),
    Compression.ZSTD: (_ZSTD_LEVEL, -131072, 22),
}


def to_codec(codec: int) -> Compression:
    """Return the enum member, since codecs are compared by identity; raises `LocalProtocolError` if there is none."""
    try:
        return codec if isinstance(codec, Compression) else Compression(codec)
    except ValueError:
        known = ", ".join(f"Compression.{each.name}" for each in Compression)
        raise LocalProtocolError(f"no codec has the number {codec!r}; there are {known}") from None


def resolve_level(codec: Compression, level: int | None) -> int:
    """Return the level to use; raises `LocalProtocolError` for an invalid one."""
    if codec not in LEVELS:
        if level is not None:
            raise LocalProtocolError(f"{codec.name} has no level, not even {level}")
        return 0
    default, minimum, maximum = LEVELS[codec]
    if level is None or (codec is Compression.GZIP and level == -1):  # Kafka's default for gzip is -1.
        return default
    if type(level) is not int or not minimum <= level <= maximum:
        raise LocalProtocolError(f"{codec.name} level is {minimum} to {maximum}, not {level!r}")
    return level


def compress(codec: Compression, data: Buffer, *, level: int | None = None) -> bytes:
    """Return `data` compressed; raises `LocalProtocolError` for an unknown codec or an invalid level."""
    codec = to_codec(codec)
    resolved = resolve_level(codec, level)
    if codec is Compression.NONE:
        return bytes(data)
    if codec is Compression.GZIP:
        return _gzip(data, resolved)
    if codec is Compression.SNAPPY:
        return _snappy(data)
    if codec is Compression.LZ4:
        return _lz4(data, resolved)
    return _zstd(data, resolved)


def decompress(codec: Compression, data: Buffer, *, limit: int = DECOMPRESSED_BYTES_MAX) -> bytes:
    """Return `data` decompressed; raises `CorruptBatch` if it is incomplete or larger than `limit` bytes."""
    if codec is Compression.NONE:
        return bytes(data)
    view = memoryview(data)
    if codec is Compression.GZIP:
        return _gunzip(view, limit)
    if codec is Compression.SNAPPY:
        return _unsnappy(view, limit)
    if codec is Compression.LZ4:
        return _unlz4(view, limit)
    return _unzstd(view, limit)


def _too_large_error(codec: Compression, limit: int) -> CorruptBatch:
    return CorruptBatch(f"{codec.name.lower()} data exceeds the limit of {limit} bytes after decompression")


def _invalid_error(codec: Compression, reason: object) -> CorruptBatch:
    return CorruptBatch(f"{codec.name.lower()} data cannot be decompressed: {reason}")


# -- gzip -------------------------------------------------------------------------------------


def _gzip(data: Buffer, level: int) -> bytes:
    deflate = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    # No timestamp, and "unknown" as operating system, as the JVM writes since Java 16.
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    tail = zlib.crc32(data).to_bytes(4, "little") + (len(data) & 0xFFFFFFFF).to_bytes(4, "little")
    return b"".join((head, deflate.compress(data), deflate.flush(), tail))


def _gunzip(data: memoryview, limit: int) -> bytes:
    chunks: list[bytes] = []
    total = at = 0
    step = len(data)
    while True:
        inflate = zlib.decompressobj(16 + zlib.MAX_WBITS)
        while not inflate.eof:
            piece = data[at : at + step]
            if not piece:
                raise _invalid_error(Compression.GZIP, "it ends early")
            try:
                chunk = inflate.decompress(piece, limit - total + 1)
            except zlib.error as error:
                raise _invalid_error(Compression.GZIP, error) from None
            total += len(chunk)
            if total > limit:
                raise _too_large_error(Compression.GZIP, limit)
            if chunk:  # There may be many empty members.
                chunks.append(chunk)
            at += len(piece)
            step *= 2
        at -= len(inflate.unused_data)
        # More members may follow. Bytes that start no member are ignored, as on the JVM.
        if bytes(data[at : at + 3]) != b"\x1f\x8b\x08":
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)
        # The input left after a member is copied, so later members get small pieces.
        step = _GZIP_STEP


# -- snappy -----------------------------------------------------------------------------------


@cache
def _snappy_packer() -> Callable[[Buffer], bytes]:
    import snappy

    pack: Callable[[Buffer], bytes] = snappy.compress
    return pack


@cache
def _snappy_library() -> Any:
    # cramjam is the library under python-snappy. python-snappy does not report the uncompressed size before it
    # allocates the memory, and it copies the result once more.
    import cramjam

    return cramjam


def _snappy(data: Buffer) -> bytes:
    pack = _snappy_packer()
    view = memoryview(data)
    chunks = [_XERIAL_HEADER]
    for start in range(0, len(view), _XERIAL_BLOCK):
        block = pack(view[start : start + _XERIAL_BLOCK])
        chunks += (len(block).to_bytes(4, "big"), block)
    return b"".join(chunks)


def _unsnappy_block(block: memoryview, limit: int, total: int) -> bytearray:
    if not block:  # cramjam accepts an empty block; the JVM's library rejects it.
        raise _invalid_error(Compression.SNAPPY, "a block is empty")
    library = _snappy_library()
    try:
        size = int(library.snappy.decompress_raw_len(block))
    except library.DecompressionError as error:
        raise _invalid_error(Compression.SNAPPY, error) from None
    if size > limit - total:
        raise _too_large_error(Compression.SNAPPY, limit)
    if size > len(block) * _SNAPPY_RATIO_MAX:
        raise _invalid_error(Compression.SNAPPY, f"a block of {len(block)} bytes claims to contain {size}")
    out = bytearray(size)
    try:
        written = library.snappy.decompress_raw_into(block, out)
    except library.DecompressionError as error:
        raise _invalid_error(Compression.SNAPPY, error) from None
    if written != size:
        raise _invalid_error(Compression.SNAPPY, f"the stated size is {size} bytes, but {written} were decompressed")
    return out


def _unsnappy(data: memoryview, limit: int) -> bytes:
    if data[:8] != _XERIAL_MAGIC:
        # One raw block, as old clients in other languages write.
        return bytes(_unsnappy_block(data, limit, 0))
    if len(data) < len(_XERIAL_HEADER):
        raise _invalid_error(Compression.SNAPPY, "incomplete stream header")
    at = len(_XERIAL_HEADER)
    chunks: list[bytearray] = []
    total = 0
    while at < len(data):
        if data[at : at + 8] == _XERIAL_MAGIC:  # More streams may follow.
            at += len(_XERIAL_HEADER)
            if at > len(data):
                raise _invalid_error(Compression.SNAPPY, "incomplete stream header")
            continue
        size = int.from_bytes(data[at : at + 4], "big")
        at += 4
        if size > len(data) - at:
            left = max(0, len(data) - at)
            raise _invalid_error(Compression.SNAPPY, f"a block of {size} bytes does not fit into {left} bytes")
        chunk = _unsnappy_block(data[at : at + size], limit, total)
        if chunk:
            chunks.append(chunk)
        total += len(chunk)
        at += size
    return b"".join(chunks)


# -- lz4 --------------------------------------------------------------------------------------


@cache
def _lz4_block_library() -> Any:
    import lz4.block

    return lz4.block


def _xxh32(data: bytes) -> int:
    """Return the xxHash32 of fewer than 16 bytes (a frame header is shorter)."""
    assert len(data) < 16
    mask = 0xFFFFFFFF
    total = 374761393 + len(data)
    at = 0
    while at + 4 <= len(data):
        total = total + int.from_bytes(data[at : at + 4], "little") * 3266489917 & mask
        total = (total << 17 | total >> 15) * 668265263 & mask
        at += 4
    for byte in data[at:]:
        total = total + byte * 374761393 & mask
        total = (total << 11 | total >> 21) * 2654435761 & mask
    total = (total ^ total >> 15) * 2246822519 & mask
    total = (total ^ total >> 13) * 3266489917 & mask
    return total ^ total >> 16


def fix_lz4_header_checksum(data: Buffer) -> bytes:
    """Return the frame with the header checksum that the lz4 format requires.

    Before message format 1, Kafka included the magic number in that checksum, so no lz4 library reads its frames. Like
    the JVM, this ignores the stored checksum.
    """
    frame = bytearray(data)
    size = 6 + (8 if len(frame) > 4 and frame[4] & 8 else 0)
    if len(frame) > size:
        frame[size] = _xxh32(bytes(frame[4:size])) >> 8 & 0xFF
    return bytes(frame)


def to_format_0_header(frame: bytes) -> bytes:
    """Return a frame of ours with the header checksum of message format 0, which includes the magic number."""
    assert frame.startswith(_LZ4_HEADER)
    return b"".join((frame[:6], bytes([_xxh32(frame[:6]) >> 8 & 0xFF]), frame[7:]))


def _lz4(data: Buffer, level: int) -> bytes:
    pack = _lz4_block_library().compress
    options: dict[str, object] = {"store_size": False}
    if level != _LZ4_LEVEL:
        options |= {"mode": "high_compression", "compression": min(level, 12)}  # The maximum of liblz4 is 12.
    view = memoryview(data)
    chunks = [_LZ4_HEADER]
    for start in range(0, len(view), _LZ4_BLOCK):
        raw = view[start : start + _LZ4_BLOCK]
        block = pack(raw, **options)
        if len(block) < len(raw):
            chunks += (len(block).to_bytes(4, "little"), block)
        else:
            chunks += ((len(raw) | _LZ4_STORED).to_bytes(4, "little"), bytes(raw))
    chunks.append(b"\x00\x00\x00\x00")
    return b"".join(chunks)


@cache
def _lz4_frame_library() -> Any:
    import lz4.frame

    return lz4.frame


def _unlz4(data: memoryview, limit: int) -> bytes:
    if len(data) > 4 and not data[4] & 0x20:
        raise _invalid_error(Compression.LZ4, "its blocks depend on each other, which Kafka does not read")
    if len(data) > 4 and data[4] & 0x01:
        raise _invalid_error(Compression.LZ4, "it needs a dictionary, which Kafka does not use")
    inflate = _lz4_frame_library().LZ4FrameDecompressor()
    chunks: list[bytes] = []
    total = 0
    rest: Buffer = data
    while not inflate.eof:
        if total > limit:
            raise _too_large_error(Compression.LZ4, limit)
        # The library allocates this much memory at once, so it must not always be the limit.
        step = min(limit - total + 1, max(_LZ4_BLOCK, 4 * len(data)))
        try:
            chunk = inflate.decompress(rest, step)
        except (RuntimeError, EOFError, ValueError) as error:
            raise _invalid_error(Compression.LZ4, error) from None
        if not chunk and not inflate.eof:
            raise _invalid_error(Compression.LZ4, "it ends early")
        total += len(chunk)
        chunks.append(chunk)
        rest = b""
    if total > limit:
        raise _too_large_error(Compression.LZ4, limit)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


# -- zstd -------------------------------------------------------------------------------------


@cache
def _zstd_library() -> Any:
    import zstandard

    return zstandard


@cache
def _zstd_compressor(level: int) -> Any:
    return _zstd_library().ZstdCompressor(level=level, write_content_size=False)


@cache
def _zstd_decompressor() -> Any:
    return _zstd_library().ZstdDecompressor()


def _zstd(data: Buffer, level: int) -> bytes:
    # Compress as a stream, not in one call: the JVM does not pass the size to the compressor, which changes its
    # choices. It flushes before it closes, so the last block is empty.
    deflate = _zstd_compressor(level).compressobj()
    flush_block: int = _zstd_library().COMPRESSOBJ_FLUSH_BLOCK
    return b"".join((deflate.compress(data), deflate.flush(flush_block), deflate.flush()))


def _unzstd(data: memoryview, limit: int) -> bytes:
    chunks: list[bytes] = []
    total = at = 0
    while True:
        inflate = _zstd_decompressor().decompressobj()
        for piece in _zstd_pieces(data, at):
            try:
                chunk = inflate.decompress(piece)
            except _zstd_library().ZstdError as error:
                raise _invalid_error(Compression.ZSTD, error) from None
            at += len(piece)
            total += len(chunk)
            if total > limit:
                raise _too_large_error(Compression.ZSTD, limit)
            if chunk:
                chunks.append(chunk)
        if at == len(data):
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _zstd_pieces(data: memoryview, at: int) -> list[memoryview]:
    """Split the frame at `at` into pieces that each decompress to little more than 1 MiB.

    The decompressor returns everything that its input holds, and a block of four bytes may hold 128 KiB. The block
    headers give the ends of the blocks. Raises `CorruptBatch` if the frame is incomplete.
    """
    start = at
    magic = int.from_bytes(data[at : at + 4], "little")
    if magic & 0xFFFFFFF0 == _ZSTD_SKIPPABLE:
        at += 8 + int.from_bytes(data[at + 4 : at + 8], "little")
        if at > len(data):
            raise _invalid_error(Compression.ZSTD, "it ends early")
        return [data[start:at]]
    if magic != _ZSTD_MAGIC or len(data) < at + 5:
        raise _invalid_error(Compression.ZSTD, "no frame starts here")
    descriptor = data[at + 4]
    is_single_segment = descriptor >> 5 & 1
    dictionary_id_bytes = (0, 1, 2, 4)[descriptor & 3]
    content_size_bytes = (is_single_segment, 2, 4, 8)[descriptor >> 6]
    at += 5 + (1 - is_single_segment) + dictionary_id_bytes + content_size_bytes
    pieces: list[memoryview] = []
    size = 0
    is_last = False
    while not is_last:
        block_header = int.from_bytes(data[at : at + 3], "little")
        is_last = bool(block_header & 1)
        block_type = block_header >> 1 & 3
        # An RLE block stores one byte; for the others the header has the stored size.
        stored_size = 1 if block_type == 1 else block_header >> 3
        at += 3 + stored_size
        size += block_header >> 3 if block_type < 2 else _ZSTD_BLOCK_MAX
        if at > len(data) or (block_header >> 3) > _ZSTD_BLOCK_MAX:
            raise _invalid_error(Compression.ZSTD, "it ends early" if at > len(data) else "a block is too large")
        if is_last:
            at += 4 if descriptor & 4 else 0
            if at > len(data):
                raise _invalid_error(Compression.ZSTD, "it ends early")
        if is_last or size >= _CHUNK:
            pieces.append(data[start:at])
            start = at
            size = 0
    return pieces
