"""Messages of formats 0 and 1, and the wrappers around them."""

from __future__ import annotations

import tracemalloc
import zlib

import pytest

from kmirror.errors import CorruptBatch, LocalProtocolError
from kmirror.records import Batch, Compression, RecordData, TimestampType, TornBatch, build_batch
from kmirror.records.codecs import compress
from kmirror.records.layout import LOG_APPEND_TIME_FLAG
from kmirror.records.legacy import LegacyBatch, build_message, build_message_set, iter_any_batches

THREE = [RecordData(b"a", b"1", (), 30), RecordData(None, b"2", (), 50), RecordData(b"c", None, (), 40)]
CODECS = [Compression.GZIP, Compression.SNAPPY, Compression.LZ4]


def wrap(inside: bytes, *, magic: int = 1, offset: int = 0, codec: Compression = Compression.GZIP) -> LegacyBatch:
    data = RecordData(None, compress(codec, inside))
    return LegacyBatch(build_message(data, magic=magic, offset=offset, attributes=codec))


def test_the_bytes_of_a_message() -> None:
    data = build_message(RecordData(b"k", None, (), 5), magic=1, offset=9)
    offset, size, crc, rest = (
        "0000000000000009",
        "00000017",
        "10c63769",
        "01 00 0000000000000005 00000001 6b ffffffff",
    )
    assert data == bytes.fromhex(offset + size + crc + rest)
    assert zlib.crc32(bytes.fromhex(rest)) == int(crc, 16)


@pytest.mark.parametrize("codec", CODECS)
def test_a_wrapper_has_the_last_offset_and_the_greatest_timestamp(codec: Compression) -> None:
    data = build_message_set(THREE, magic=1, base_offset=100, compression=codec)
    batch = LegacyBatch(data)
    batch.verify_crc()
    assert (batch.last_offset, batch.next_offset, batch.base_offset, batch.last_offset_delta) == (
        102,
        103,
        100,
        2,
    )
    assert (batch.timestamp, batch.record_count) == (50, None)
    assert [record.offset for record in batch.records()] == [100, 101, 102]
    assert [record.timestamp for record in batch.records()] == [30, 50, 40]


def test_offsets_inside_are_relative_in_format_1_and_absolute_in_format_0() -> None:
    for magic, first in ((0, 100), (1, 0)):
        batch = LegacyBatch(build_message_set(THREE, magic=magic, base_offset=100, compression=Compression.GZIP))
        assert LegacyBatch(batch.payload()).last_offset == first
        assert [message.offset for message in batch.messages()] == [100, 101, 102]


def test_a_gap_inside_is_kept_as_compaction_left_it() -> None:
    inside = b"".join(build_message(RecordData(b"k", b"v"), magic=1, offset=offset) for offset in (0, 3, 7))
    assert [record.offset for record in wrap(inside, offset=57).records()] == [50, 53, 57]


def test_a_wrapper_with_offset_0_does_not_determine_the_offsets_inside() -> None:
    inside = b"".join(build_message(RecordData(b"k", b"v"), magic=1, offset=offset) for offset in (4, 5))
    assert [record.offset for record in wrap(inside).records()] == [4, 5]


def test_offsets_inside_that_are_too_great_wrap_as_on_the_jvm() -> None:
    inside = b"".join(build_message(RecordData(), magic=1, offset=offset) for offset in (9, 0, -(2**63)))
    batch = wrap(inside, offset=2**63 - 1)
    assert [record.offset for record in batch.records()] == [8, -1, 2**63 - 1]
    assert batch.base_offset == 8


def test_many_small_messages_need_no_more_memory_than_their_bytes() -> None:
    inside = build_message(RecordData(), magic=1, offset=1) * 20_000
    batch = wrap(inside)
    tracemalloc.start()
    try:
        assert sum(1 for _ in batch.records()) == 20_000
        assert tracemalloc.get_traced_memory()[1] < 4 * len(inside)
    finally:
        tracemalloc.stop()


def test_under_log_append_time_the_wrappers_timestamp_is_everybodys() -> None:
    data = build_message_set(
        THREE,
        magic=1,
        compression=Compression.LZ4,
        timestamp_type=TimestampType.LOG_APPEND_TIME,
        timestamp_ms=77,
    )
    batch = LegacyBatch(data)
    assert batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    for record in batch.records():
        assert (record.timestamp, record.timestamp_type) == (77, TimestampType.LOG_APPEND_TIME)


def test_a_broker_sets_the_append_time_only_in_the_wrapper() -> None:
    inside = build_message_set(THREE, magic=1)
    attributes = Compression.GZIP | LOG_APPEND_TIME_FLAG
    packed = RecordData(None, compress(Compression.GZIP, inside), (), 77)
    batch = LegacyBatch(build_message(packed, magic=1, offset=2, attributes=attributes))
    assert {(record.timestamp, record.timestamp_type) for record in batch.records()} == {(77, 1)}


def test_format_0_has_no_time() -> None:
    for batch in iter_any_batches(build_message_set(THREE, magic=0)):
        (record,) = batch.records()
        assert (record.timestamp, record.timestamp_type) == (-1, TimestampType.NO_TIMESTAMP_TYPE)
        assert (record.leader_epoch, record.sequence, record.headers) == (-1, -1, [])


def test_format_0_writes_the_wrong_lz4_header_checksum_and_reads_either() -> None:
    batch = LegacyBatch(build_message_set(THREE, magic=0, compression=Compression.LZ4))
    value = bytes(batch.view[26:])  # After the header and two lengths; the key is null.
    assert value[:7].hex() == "04224d1860401a"  # Written by Kafka 2.1.
    right = build_message(
        RecordData(None, value[:6] + b"\x82" + value[7:]), magic=0, offset=2, attributes=Compression.LZ4
    )
    assert list(LegacyBatch(right).records()) == list(batch.records())
    # Format 1 fixes this, so the wrong one is refused there.
    wrong = build_message(RecordData(None, value), magic=1, offset=2, attributes=Compression.LZ4)
    with pytest.raises(CorruptBatch, match="lz4"):
        list(LegacyBatch(wrong).records())


def test_a_header_checksum_over_a_content_size_is_mended_too() -> None:
    import lz4.frame

    inside = build_message_set(THREE, magic=0)
    frame = bytearray(lz4.frame.compress(inside, store_size=True, block_linked=False))
    frame[14] ^= 0xFF
    data = build_message(RecordData(None, bytes(frame)), magic=0, offset=2, attributes=Compression.LZ4)
    assert len(list(LegacyBatch(data).records())) == 3


def test_formats_may_be_mixed_in_one_segment() -> None:
    data = b"".join(
        (
            build_message_set(THREE, magic=0, base_offset=0),
            build_message_set(THREE, magic=1, base_offset=3, compression=Compression.SNAPPY),
            build_batch(THREE, base_offset=6),
        )
    )
    batches = list(iter_any_batches(data, check_crc=True))
    assert [batch.magic for batch in batches] == [0, 0, 0, 1, 2]
    assert isinstance(batches[-1], Batch)
    assert [record.offset for batch in batches for record in batch.records()] == list(range(9))
    assert [batch.position for batch in batches][-1] == len(data) - batches[-1].size_in_bytes


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        (wrap(b""), "contains no message"),
        (wrap(build_message_set(THREE, magic=1)[:-1], offset=2), "inside the wrapper, at byte"),
        (wrap(build_batch(THREE), offset=2), "message format 2"),
        (
            wrap(build_message_set(THREE, magic=1, compression=Compression.GZIP), offset=2),
            "contains a wrapper",
        ),
        (wrap(build_message_set(THREE, magic=1), offset=1), "above the wrapper's"),
        (LegacyBatch(build_message(RecordData(), magic=1, offset=0, attributes=1)), "no value"),
        (LegacyBatch(build_message(RecordData(None, b""), magic=1, offset=0, attributes=4)), "zstd"),
        (LegacyBatch(build_message(RecordData(None, b""), magic=1, offset=0, attributes=7)), "type 7"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrapper_that_makes_no_sense_is_refused(batch: LegacyBatch, reason: str) -> None:
    with pytest.raises(CorruptBatch, match=reason) as caught:
        list(batch.messages())
    assert caught.value.position == 0


def test_lengths_are_checked_against_the_remaining_bytes() -> None:
    data = build_message(RecordData(b"key", b"value"), magic=0, offset=3)
    for at in (18, 25):  # The key's length and the value's.
        broken = data[:at] + b"\x7f\xff\xff\xff" + data[at + 4 :]
        with pytest.raises(CorruptBatch, match="2147483647 bytes does not fit"):
            list(LegacyBatch(broken).records())
        with pytest.raises(CorruptBatch, match="checksum"):
            LegacyBatch(broken).verify_crc()
    with pytest.raises(CorruptBatch, match="no value length"):
        list(LegacyBatch(data[:18] + b"\x00\x00\x00\x09" + data[22:]).records())
    for end in range(1, len(data)):
        with pytest.raises(TornBatch):
            list(iter_any_batches(data[:end]))
    with pytest.raises(CorruptBatch, match="too small"):
        LegacyBatch(data[:8] + b"\x00\x00\x00\x0d" + data[12:])
    with pytest.raises(CorruptBatch, match="format 2, expected"):
        LegacyBatch(build_batch(THREE))


def test_values_that_old_formats_cannot_hold_are_refused() -> None:
    with pytest.raises(LocalProtocolError, match="headers"):
        build_message_set([RecordData(headers=[("a", b"")])], magic=1)
    with pytest.raises(LocalProtocolError, match="zstd"):
        build_message_set(THREE, magic=1, compression=Compression.ZSTD)
    with pytest.raises(LocalProtocolError, match="not 2"):
        build_message_set(THREE, magic=2)
    assert build_message_set([], magic=1, compression=Compression.GZIP) == b""
