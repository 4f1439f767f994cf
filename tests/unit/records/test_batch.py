"""Header fields of a batch, and the error for each broken beginning."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from kmirror.errors import CorruptBatch, LocalProtocolError
from kmirror.records import (
    Batch,
    BatchBuilder,
    Compression,
    RecordData,
    TimestampType,
    TornBatch,
    UnsupportedMagic,
    build_batch,
    iter_batches,
    set_base_offset_and_epoch,
)
from kmirror.records.columns import read_columns
from kmirror.records.layout import SEQUENCE_MAX, add_to_sequence

SMALL = build_batch([RecordData(b"k", b"v", (), 1000)], base_offset=42, partition_leader_epoch=3)


def edited(at: int, data: bytes) -> bytes:
    return SMALL[:at] + data + SMALL[at + len(data) :]


@pytest.mark.parametrize(
    ("data", "kind", "reason"),
    [
        (edited(8, (48).to_bytes(4, "big")), CorruptBatch, "below the 49"),
        (edited(8, (13).to_bytes(4, "big")), CorruptBatch, "too small"),
        (edited(8, b"\xff\xff\xff\xff"), CorruptBatch, "too small"),
        (edited(8, b"\x7f\xff\xff\xff"), TornBatch, "only 70 bytes are left"),
        (edited(16, b"\x03"), CorruptBatch, "format 3 does not exist"),
        (edited(16, b"\xff"), CorruptBatch, "format -1 does not exist"),
        (edited(16, b"\x01"), UnsupportedMagic, "message format 1"),
        (edited(16, b"\x00")[:30], UnsupportedMagic, "message format 0"),
        (bytes(100), CorruptBatch, "too small"),
        (SMALL[:60], TornBatch, "60 bytes are left"),
        (SMALL[:5], TornBatch, "5 bytes are left"),
        (SMALL[:-1], TornBatch, "only 69 bytes are left"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_start_is_named_with_its_position(data: bytes, kind: type[CorruptBatch], reason: str) -> None:
    batches = iter_batches(SMALL + data)
    next(batches)
    with pytest.raises(CorruptBatch, match=reason) as caught:
        next(batches)
    assert type(caught.value) is kind
    assert caught.value.position == len(SMALL)


def test_the_magic_of_an_old_message_is_carried() -> None:
    with pytest.raises(UnsupportedMagic) as caught:
        Batch(edited(16, b"\x01"))
    assert (caught.value.magic, caught.value.offset) == (1, 42)


def test_a_wrong_checksum_names_offset_and_both_numbers() -> None:
    batch = Batch(edited(17, b"\x00\x00\x00\x00"))
    with pytest.raises(CorruptBatch, match=r"stored 0x00000000, .*offset 42"):
        batch.verify_crc()
    with pytest.raises(CorruptBatch):
        list(iter_batches(batch.view, check_crc=True))


@pytest.mark.parametrize("bits", [5, 6, 7])
def test_a_codec_that_does_not_exist_is_refused(bits: int) -> None:
    batch = Batch(edited(22, bytes([bits])))
    with pytest.raises(CorruptBatch, match=f"compression type {bits}"):
        list(batch.records())


def test_the_attributes_are_read_bit_by_bit() -> None:
    batch = Batch(edited(21, b"\x00\x7c"))
    assert batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert batch.is_transactional and batch.is_control
    assert batch.delete_horizon_ms == 1000
    assert batch.compression is Compression.ZSTD
    plain = Batch(SMALL)
    assert plain.timestamp_type is TimestampType.CREATE_TIME
    assert not plain.is_transactional and not plain.is_control
    assert plain.delete_horizon_ms is None


def test_sequence_numbers_begin_again_at_zero() -> None:
    assert add_to_sequence(SEQUENCE_MAX, 1) == 0
    assert add_to_sequence(SEQUENCE_MAX - 1, 1) == SEQUENCE_MAX
    # Like the JVM's int additions with the values of broken bytes.
    back = [(10, -3, 7 - 2**31), (5, -7, 2**31 - 2), (0, -(2**31), 0), (-2, -(2**31), 2**31 - 2)]
    assert [add_to_sequence(sequence, step) for sequence, step, _ in back] == [found for _, _, found in back]
    records = [RecordData(b"k", b"v")] * 3
    batch = Batch(build_batch(records, producer_id=1, producer_epoch=0, base_sequence=SEQUENCE_MAX))
    assert batch.last_sequence == 1
    assert [record.sequence for record in batch.records()] == [SEQUENCE_MAX, 0, 1]
    assert Batch(SMALL).last_sequence == -1


def test_a_sequence_number_is_known_where_offsets_wrap() -> None:
    data = bytearray(build_batch([RecordData()] * 2, producer_id=1, producer_epoch=0, base_sequence=7))
    set_base_offset_and_epoch(data, 2**63 - 1, 0)
    assert [(record.offset, record.sequence) for record in Batch(data).records()] == [(2**63 - 1, 7), (-(2**63), 8)]


@pytest.mark.parametrize(
    ("name", "read"),
    [
        (b"\xed\xa0\x80\xed\xb0\x80", "\ufffd\ufffd"),
        (b"a\xed\xa0b", "a\ufffdb"),
        (b"\xed\xbf", "\ufffd"),
        (b"\xe0\x80\x80", "\ufffd\ufffd\ufffd"),
        (b"\xf0\x9f\x98!", "\ufffd!"),
        (b"\xed\x9f\xbf\xff", "\ud7ff\ufffd"),
    ],
)
def test_a_header_name_that_is_no_text_reads_as_on_the_jvm(name: bytes, read: str) -> None:
    sound = build_batch([RecordData(None, None, [("x" * len(name), None)])])
    (record,) = Batch(sound.replace(b"x" * len(name), name)).records()
    assert record.headers == [(read, None)]


def test_an_emptied_batch_keeps_its_span() -> None:
    data = build_batch([], base_offset=5, last_offset_delta=3, producer_id=9, compression=Compression.GZIP)
    batch = Batch(data)
    assert (len(data), batch.last_offset, batch.next_offset, batch.record_count) == (61, 8, 9, 0)
    assert list(batch.records()) == []


def test_values_that_no_batch_can_hold_are_refused() -> None:
    with pytest.raises(LocalProtocolError, match="needs last_offset_delta"):
        build_batch([])
    with pytest.raises(LocalProtocolError, match="span"):
        build_batch([RecordData(offset=3)], base_offset=4)
    with pytest.raises(LocalProtocolError, match="base offset"):
        build_batch([RecordData()], base_offset=-1)


@pytest.mark.parametrize(
    "field",
    [
        {"partition_leader_epoch": 1 << 31},
        {"producer_id": 1 << 63},
        {"producer_epoch": 1 << 15},
        {"base_sequence": 1 << 31},
        {"timestamp_ms": 1 << 63},
        {"delete_horizon_ms": 1 << 63},
    ],
)
def test_a_number_that_its_field_cannot_hold_is_named(field: dict[str, int]) -> None:
    (value,) = field.values()
    with pytest.raises(LocalProtocolError, match=str(value)):
        build_batch([RecordData(b"k")], **field)  # type: ignore[arg-type]


@pytest.mark.parametrize("timestamps", [(-1, 2**63 - 1), (2**63 - 1, -(2**63)), (0, -(2**63)), (5000, 0)])
def test_timestamps_far_apart_are_kept(timestamps: tuple[int, int]) -> None:
    data = build_batch([RecordData(timestamp=timestamp) for timestamp in timestamps])
    assert tuple(record.timestamp for record in Batch(data).records()) == timestamps
    assert tuple(read_columns([Batch(data)]).timestamp) == timestamps


def test_numbers_beyond_a_long_begin_again_at_the_least() -> None:
    data = bytearray(build_batch([RecordData(timestamp=2**63 - 2 + index) for index in (0, 1)]))
    data[27:35] = (2**63 - 1).to_bytes(8, "big")
    set_base_offset_and_epoch(data, 2**63 - 1, 0)
    found = [(record.offset, record.timestamp) for record in Batch(data).records()]
    assert found == [(2**63 - 1, 2**63 - 1), (-(2**63), -(2**63))]
    columns = read_columns([Batch(data)])
    assert list(zip(columns.offset, columns.timestamp, strict=True)) == found


def test_a_record_shows_itself_and_compares_by_content() -> None:
    first, second = (next(Batch(SMALL).records()) for _ in range(2))
    assert first == second
    assert "offset=42" in repr(first) and "key=b'k'" in repr(first)
    second.value = b"other"
    assert first != second
    assert first != "a record"
    assert "base_offset=42" in repr(Batch(SMALL))


@pytest.mark.parametrize("codec", list(Compression))
def test_a_plain_number_is_the_codec_of_that_number(codec: Compression) -> None:
    record = RecordData(None, b"v" * 50)
    expected = build_batch([record], compression=codec, timestamp_ms=1)
    assert build_batch([record], compression=int(codec), timestamp_ms=1) == expected  # type: ignore[arg-type]
    builder = BatchBuilder(compression=int(codec), timestamp_ms=1)  # type: ignore[arg-type]
    builder.append(value=record.value)
    assert builder.build() == expected


@pytest.mark.parametrize("make", [partial(build_batch, [RecordData()]), BatchBuilder], ids=["batch", "builder"])
def test_a_number_without_a_codec_is_refused_at_once(make: Callable[..., object]) -> None:
    with pytest.raises(LocalProtocolError, match="no codec has the number 9"):
        make(compression=9)
