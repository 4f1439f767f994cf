"""Records of a batch survive a round trip; a batch that is incomplete or invalid is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kmirror.errors import CorruptBatch
from kmirror.records import (
    Batch,
    Compression,
    Record,
    RecordData,
    TornBatch,
    build_batch,
    iter_batches,
    set_base_offset_and_epoch,
)
from kmirror.records.layout import ATTRIBUTES_AT, CRC_AT, add_to_sequence
from kmirror.records.record import BatchContext, decode_records
from kmirror.testing.strategies.batches import CONTENTS, batch_options, record_batches, records

LISTS = st.lists(records(), min_size=1, max_size=8)


@given(records=LISTS, kept=batch_options())
def test_records_of_a_batch_survive_a_round_trip(records: list[RecordData], kept: dict[str, Any]) -> None:
    batch = Batch(build_batch(records, **kept))
    batch.verify_crc()
    appended = kept["timestamp_type"] == 1
    stamps = [kept["timestamp_ms"] if record.timestamp is None else record.timestamp for record in records]
    assert batch.compression is kept["compression"]
    assert batch.is_transactional == kept["is_transactional"]
    assert (batch.base_offset, batch.record_count) == (kept["base_offset"], len(records))
    assert batch.max_timestamp == (kept["timestamp_ms"] if appended else max(stamps))
    assert batch.next_offset == batch.base_offset + len(records)
    for index, (given_record, record) in enumerate(zip(records, batch.records(), strict=True)):
        assert record.offset == batch.base_offset + index
        assert record.timestamp == (kept["timestamp_ms"] if appended else stamps[index])
        assert (record.key, record.value) == (given_record.key, given_record.value)
        assert record.headers == list(given_record.headers)
        assert record.leader_epoch == kept["partition_leader_epoch"]
        first = kept["base_sequence"]
        assert record.sequence == (-1 if first < 0 else add_to_sequence(first, index))


@given(data=record_batches(), flip=st.data())
def test_any_flipped_bit_under_the_checksum_is_caught(data: bytes, flip: st.DataObject) -> None:
    at = flip.draw(st.integers(min_value=CRC_AT, max_value=len(data) - 1))
    bit = flip.draw(st.integers(min_value=0, max_value=7))
    broken = bytearray(data)
    broken[at] ^= 1 << bit
    with pytest.raises(CorruptBatch):
        Batch(broken).verify_crc()


@given(data=record_batches(max_size=3))
def test_a_batch_truncated_anywhere_is_torn(data: bytes) -> None:
    for end in range(1, len(data)):
        with pytest.raises(TornBatch) as caught:
            list(iter_batches(data[:end]))
        assert caught.value.position == 0
        assert caught.value.needed > end


@given(first=record_batches(), second=record_batches(), cut=st.data())
def test_complete_batches_before_a_torn_one_are_returned(first: bytes, second: bytes, cut: st.DataObject) -> None:
    end = cut.draw(st.integers(min_value=1, max_value=len(second) - 1))
    batches_seen = iter_batches(first + second[:end], check_crc=True)
    assert next(batches_seen).view == first
    with pytest.raises(TornBatch) as caught:
        next(batches_seen)
    assert caught.value.position == len(first)


@given(data=record_batches(), offset=st.integers(0, 2**62), epoch=st.integers(-1, 2**31 - 1), lead=st.integers(0, 9))
def test_offset_and_epoch_are_set_without_a_new_checksum(data: bytes, offset: int, epoch: int, lead: int) -> None:
    buffer = bytearray(lead) + bytearray(data)
    set_base_offset_and_epoch(buffer, offset, epoch, position=lead)
    batch = Batch(buffer, lead)
    batch.verify_crc()
    assert (batch.base_offset, batch.partition_leader_epoch) == (offset, epoch)
    assert batch.view[ATTRIBUTES_AT:] == data[ATTRIBUTES_AT:]


@given(
    gaps=st.lists(st.integers(1, 1000), min_size=1, max_size=6),
    codec=st.sampled_from(list(Compression)),
    value=CONTENTS,
)
def test_offsets_that_are_not_consecutive_are_kept(gaps: list[int], codec: Compression, value: bytes | None) -> None:
    offsets = [100 + sum(gaps[: index + 1]) for index in range(len(gaps))]
    records = [RecordData(b"k", value, (), 7, offset) for offset in offsets]
    last = offsets[-1] + 5 - 100
    batch = Batch(build_batch(records, base_offset=100, compression=codec, last_offset_delta=last))
    assert [record.offset for record in batch.records()] == offsets
    assert batch.last_offset == offsets[-1] + 5


def seal(body: bytes, count: int) -> Batch:
    """Return an uncompressed batch with any bytes in place of the records, and a valid checksum."""
    from kmirror.records import build
    from kmirror.records.layout import CHECKED_HEADER

    head = CHECKED_HEADER.pack(0, max(0, count - 1), 0, 0, -1, -1, -1, count)
    return Batch(build.frame_batch(head + body, base_offset=10, partition_leader_epoch=0))


@given(body=st.binary(max_size=60), count=st.integers(min_value=-2, max_value=2**31 - 1))
@example(body=b"\xfe\xff\xff\xff\x0f" + bytes(20), count=1)  # A record of 2^31-1 bytes.
@example(body=b"\x0e\x00\x00\x00\x01\x01\xfe\xff\xff\xff\x0f", count=1)  # 2^31-1 headers.
@example(body=b"\x14\x00\x00\x00\xfe\xff\xff\xff\x0f\x01\x00", count=1)  # A key of 2^31-1 bytes.
@example(body=b"\x80\x80\x80\x80\x80\x00", count=1)  # A varint that is too long.
def test_garbage_records_are_read_or_refused(body: bytes, count: int) -> None:
    batch = seal(body, count)
    try:
        records = list(batch.records())
    except CorruptBatch as error:
        assert (error.position, error.offset) == (0, 10)
    else:
        assert len(records) == count


@given(records=LISTS, cut=st.data())
def test_records_that_lack_their_end_are_refused(records: list[RecordData], cut: st.DataObject) -> None:
    body = Batch(build_batch(records)).payload()
    end = cut.draw(st.integers(min_value=0, max_value=len(body) - 1))
    with pytest.raises(CorruptBatch):
        list(decode_records(body[:end], len(records), BatchContext()))
    with pytest.raises(CorruptBatch):
        list(decode_records(body + b"\x00", len(records), BatchContext()))


@given(data=st.binary(max_size=200))
@example(data=bytes(200))
def test_garbage_is_never_a_batch_by_accident_nor_another_exception(data: bytes) -> None:
    try:
        for batch in iter_batches(data, check_crc=True):
            list(batch.records())
    except CorruptBatch as error:
        assert error.position is not None


def test_a_record_does_not_hold_the_buffer() -> None:
    buffer = bytearray(build_batch([RecordData(b"k", b"v")]))
    records: list[Record] = []
    for batch in iter_batches(buffer):
        records.extend(batch.records())
    del batch
    buffer.extend(b"grows")  # Raises BufferError while a view is alive.
    assert records[0].value == b"v"
