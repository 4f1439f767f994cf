"""An outline of a batch agrees with its decoded records, and there is none for refused records."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from kmirror.errors import CorruptBatch
from kmirror.records.build import build_batch
from kmirror.records.framing import record_starts
from kmirror.records.layout import RECORDS_AT
from kmirror.records.outline import Outline, outline
from kmirror.records.record import BatchContext, Record, RecordData, decode_records

KEYS = st.sampled_from([None, b"", b"k", b"key", b"k" * 70])
VALUES = st.sampled_from([None, b"", b"v", b"v" * 63, b"v" * 64, b"v" * 100, b"v" * 9000])
HEADERS = st.sampled_from([[], [], [], [("h", b"1")], [("", None)], [("h" * 70, b"x" * 200)] * 3])
DELTAS = st.sampled_from([0, 0, 1, 63, 64, -1, -64, 8191, 8192, -8193, 1 << 20, 1 << 40, -(1 << 40)])


@st.composite
def payloads(draw: st.DrawFn) -> tuple[bytes, int]:
    """Draw the records of a batch, with runs of similar ones, and their number."""
    records: list[RecordData] = []
    for _ in range(draw(st.integers(1, 3))):
        shape = RecordData(draw(KEYS), draw(VALUES), draw(HEADERS))
        step = draw(st.sampled_from([0, 0, 1, 7, 100, -1]))
        start = draw(DELTAS)
        count = draw(st.sampled_from([1, 2, 9, 30, 60, 200]))
        records += [shape._replace(timestamp=start + n * step) for n in range(count)]
    if draw(st.integers(0, 3)) == 0:
        gap = draw(st.integers(1, 100))
        records = [record._replace(offset=n + (n >= gap)) for n, record in enumerate(records)]
    return build_batch(records)[RECORDS_AT:], len(records)


def decoded(data: bytes, count: int) -> list[Record] | None:
    try:
        return list(decode_records(data, count, BatchContext(base_offset=0, base_timestamp=0)))
    except CorruptBatch:
        return None


def expected_outline(records: list[Record]) -> Outline:
    times = [record.timestamp for record in records]
    is_numbered = [record.offset for record in records] == list(range(len(records)))
    return Outline(min(times), max(times), is_numbered, all(record.key is not None for record in records))


@given(payloads())
def test_batches_of_producers_have_an_outline(drawn: tuple[bytes, int]) -> None:
    data, count = drawn
    records = decoded(data, count)
    assert records is not None
    assert outline(data, 0, count) == expected_outline(records)
    assert outline(bytearray(b"head" + data), 4, count) == expected_outline(records)


@given(payloads(), st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), max_size=2), st.integers(-1, 1))
def test_a_changed_batch_has_no_outline_or_a_correct_one(
    drawn: tuple[bytes, int], changes: list[tuple[int, int]], more: int
) -> None:
    data, count = bytearray(drawn[0]), max(1, drawn[1] + more)
    for place, byte in changes:
        data[place % len(data)] = byte
    found, records = outline(data, 0, count), decoded(bytes(data), count)
    assert found is None or (records is not None and found == expected_outline(records))


@given(st.binary(max_size=60), st.integers(1, 3))
@example(b"\x0d\x00\x00\x00\x01\x01\x00", 1)  # A length of -7.
@example(b"\x0e\x00\x00\x00\x01\x01\x00\x00", 1)  # An extra byte in the record.
@example(b"\x14\x00\x00\x00\x01\x01\x02\x01\x00\x00\x00", 1)  # A header with a null name.
@example(b"\x0c\x00\x00\x00\x01\x01\x01", 1)  # A negative count of headers.
@example(b"\x80\x80\x80\x80\x80\x00", 1)
def test_any_bytes_are_judged_as_decoding_judges_them(data: bytes, count: int) -> None:
    found, records = outline(data, 0, count), decoded(data, count)
    assert found is None or (records is not None and found == expected_outline(records))


def test_every_small_number_of_equal_records_is_checked() -> None:
    count = 200
    records = [RecordData(b"key", b"v" * 100, (), n % 70) for n in range(count)]
    data = build_batch(records)[RECORDS_AT:]
    starts = record_starts(data, count, 0, len(data))
    for number in (8, 9, 10, 63, 64, 73, 74, 150, count - 1):
        start, end = starts[number], (*starts, len(data))[number + 1]
        for place in (*range(start, start + 16), end - 1):
            for bit in (1, 2, 0x80):
                changed = bytearray(data)
                changed[place] ^= bit
                found, expected = outline(changed, 0, count), decoded(bytes(changed), count)
                assert found is None or (expected is not None and found == expected_outline(expected)), (
                    number,
                    place - start,
                )


def test_records_that_are_alike_are_not_read_one_by_one() -> None:
    class Counting(bytearray):
        reads = 0

        def __getitem__(self, at: Any) -> Any:
            Counting.reads += 1
            return super().__getitem__(at)

    data = build_batch([RecordData(b"key", b"v" * 100, (), n // 10) for n in range(1000)])[RECORDS_AT:]
    assert outline(Counting(data), 0, 1000) == Outline(0, 99, is_numbered=True, has_keys=True)
    assert Counting.reads < 1000, "less than one for each record, which has eight small numbers"
