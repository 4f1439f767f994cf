"""Message sets of formats 0 and 1 survive a round trip; garbage is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.errors import CorruptBatch
from kmirror.records import Compression, RecordData
from kmirror.records.layout import CRC_AT, MAGIC_AT
from kmirror.records.legacy import build_message_set, iter_any_batches
from kmirror.testing.strategies.batches import CONTENTS, TIMESTAMPS_MS

RECORDS = st.lists(
    st.builds(
        RecordData,
        key=CONTENTS,
        value=CONTENTS,
        timestamp=TIMESTAMPS_MS,
        headers=st.just(()),
        offset=st.none(),
    ),
    min_size=1,
    max_size=6,
)
MAGICS = st.sampled_from([0, 1])
CODECS = st.sampled_from([codec for codec in Compression if codec is not Compression.ZSTD])


@given(
    records=RECORDS,
    magic=MAGICS,
    codec=CODECS,
    base=st.integers(0, 2**62),
    append_time=st.none() | TIMESTAMPS_MS,
)
def test_records_of_a_message_set_survive_a_round_trip(
    records: list[RecordData], magic: int, codec: Compression, base: int, append_time: int | None
) -> None:
    data = build_message_set(
        records,
        magic=magic,
        base_offset=base,
        compression=codec,
        timestamp_type=append_time is not None,
        timestamp_ms=-1 if append_time is None else append_time,
    )
    batches = list(iter_any_batches(data, check_crc=True))
    assert len(batches) == (len(records) if codec is Compression.NONE else 1)
    assert (batches[0].base_offset, batches[-1].next_offset) == (base, base + len(records))
    found = [record for batch in batches for record in batch.records()]
    assert [(record.key, record.value) for record in found] == [(one.key, one.value) for one in records]
    assert [record.offset for record in found] == list(range(base, base + len(records)))
    for record, given_record in zip(found, records, strict=True):
        stamp = given_record.timestamp if append_time is None else append_time
        assert record.timestamp == (-1 if magic == 0 else stamp)


@given(records=RECORDS, magic=MAGICS, codec=CODECS, flip=st.data())
def test_any_flipped_bit_under_the_checksum_is_caught(
    records: list[RecordData], magic: int, codec: Compression, flip: st.DataObject
) -> None:
    data = bytearray(build_message_set(records[:1], magic=magic, compression=codec))
    at = flip.draw(st.sampled_from([12, 13, 14, 15, *range(CRC_AT, len(data))]))
    data[at] ^= 1 << flip.draw(st.integers(min_value=0, max_value=7))
    with pytest.raises(CorruptBatch):
        list(iter_any_batches(data, check_crc=True))


@given(head=st.binary(min_size=MAGIC_AT, max_size=MAGIC_AT), magic=MAGICS, tail=st.binary(max_size=80))
def test_garbage_is_read_or_refused(head: bytes, magic: int, tail: bytes) -> None:
    sized = head[:8] + (len(tail) + 5).to_bytes(4, "big") + head[12:] + bytes([magic])
    for data in (head + bytes([magic]) + tail, sized + tail):
        try:
            for batch in iter_any_batches(data):
                list(batch.records())
        except CorruptBatch as error:
            assert error.position is not None
