"""Columns and lazy views agree with the record objects, and refuse the same batches."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kmirror.errors import CorruptBatch
from kmirror.records import Batch, Record, RecordData, build_batch, iter_batches
from kmirror.records.framing import check_framing
from kmirror.records.views import iter_views
from kmirror.testing.strategies.batches import record_batches
from tests.property.records.test_batch import seal

numpy = pytest.importorskip("numpy")

from kmirror.records.columns import Columns, read_columns  # noqa: E402

Row = tuple[int, int, bytes | None, bytes | None, int]


def rows(columns: Columns) -> list[Row]:
    return [
        (
            int(columns.offset[row]),
            int(columns.timestamp[row]),
            columns.key(row),
            columns.value(row),
            int(columns.header_count[row]),
        )
        for row in range(len(columns))
    ]


def as_row(record: Record) -> Row:
    return (record.offset, record.timestamp, record.key, record.value, len(record.headers))


@given(parts=st.lists(record_batches(), max_size=4))
def test_columns_are_the_objects_turned(parts: list[bytes]) -> None:
    found = list(iter_batches(b"".join(parts)))
    columns = read_columns(found)
    assert rows(columns) == [as_row(record) for batch in found for record in batch.records()]
    assert columns.batch.tolist() == [index for index, batch in enumerate(found) for _ in range(batch.record_count)]


@given(parts=st.lists(record_batches(), min_size=1, max_size=3))
def test_arrow_shows_the_same(parts: list[bytes]) -> None:
    pytest.importorskip("pyarrow")
    found = list(iter_batches(b"".join(parts)))
    table = read_columns(found).to_arrow()
    table.validate(full=True)
    records = [record for batch in found for record in batch.records()]
    for name in ("offset", "timestamp", "key", "value"):
        assert table.column(name).to_pylist() == [getattr(record, name) for record in records]


@given(size=st.integers(0, 40), count=st.integers(1, 5), null=st.integers(0, 4))
def test_arrow_holds_short_and_long_values_alike(size: int, count: int, null: int) -> None:
    pytest.importorskip("pyarrow")
    records = [RecordData(None, None if index == null else b"\xff" * (size + index)) for index in range(count)]
    table = read_columns([Batch(build_batch(records))]).to_arrow()
    table.validate(full=True)
    assert table.column("value").to_pylist() == [record.value for record in records]
    keys = table.column("key")
    assert keys.null_count == count
    assert keys.buffers()[1].to_pybytes()[:4] == bytes(4)  # The size of a null is 0.


@given(body=st.binary(max_size=60), count=st.integers(min_value=-2, max_value=2**31 - 1))
@example(body=b"\xfe\xff\xff\xff\x0f" + bytes(20), count=1)
@example(body=b"\x0e\x00\x00\x00\x01\x01\xfe\xff\xff\xff\x0f", count=1)
@example(body=b"\x14\x00\x00\x00\xfe\xff\xff\xff\x0f\x01\x00", count=1)
@example(body=b"\x0d\x00\x00\x00\x01\x01\x00", count=1)  # A length of -7.
@example(body=b"\x0e\x00\x00\x00\x01\x01\x00\x00", count=1)  # An extra byte in the record.
@example(body=b"\x1a\x00\x00\x00\x01\x01\x00" + b"\x0c\x00\x00\x00\x01\x01\x00", count=2)
@example(body=b"\x80\x80\x80\x80\x80\x00", count=1)
@example(body=b"\x0c\x00\x00\x00\x01\x01\x00" * 2, count=2)
@example(body=b"\x14\x00\x00\x00\x01\x01\x02\x01\x00\x00\x00", count=1)  # A header with a null name.
def test_garbage_is_read_alike_or_refused_alike(body: bytes, count: int) -> None:
    batch = seal(body, count)
    try:
        records = list(batch.records())
    except CorruptBatch as error:
        with pytest.raises(CorruptBatch) as caught:
            read_columns([batch])
        assert str(caught.value) == str(error)
        with pytest.raises(CorruptBatch):
            for view in iter_views(batch):
                view.decode()
    else:
        assert rows(read_columns([batch])) == [as_row(record) for record in records]
        batch.check_framing()
        assert [view.decode() for view in iter_views(batch)] == records


def test_a_record_with_more_headers_than_are_read_together() -> None:
    headers = [(f"h{number}", b"x" * number) for number in range(200)]
    records = [RecordData(b"k", b"v", headers[:size]) for size in (0, 1, 16, 17, 200)]
    batch = Batch(build_batch(records))
    assert rows(read_columns([batch])) == [as_row(record) for record in batch.records()]


@given(data=record_batches())
def test_views_are_decoded_on_demand(data: bytes) -> None:
    batch = Batch(data)
    batch.check_framing()
    views = list(iter_views(batch))
    assert sum(view.size_in_bytes for view in views) == len(batch.payload())
    for view, record in zip(views, batch.records(), strict=True):
        assert (view.offset, view.timestamp) == (record.offset, record.timestamp)
        assert (view.key, view.value, view.headers) == (record.key, record.value, record.headers)
        assert view.decode() is view.decode()


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (b"\x0d" + bytes(6), 1),  # A negative length.
        (b"\x0c" + bytes(5), 1),
        (b"\x0c" + bytes(7), 1),
        (b"\xff\xff\xff\xff\x0f", 1),
        (b"\x80", 1),
        (b"\x00", -1),
        (b"\x00", 2**31 - 1),
    ],
)
def test_lengths_that_do_not_fill_the_batch_are_refused(data: bytes, count: int) -> None:
    with pytest.raises(CorruptBatch):
        check_framing(data, count)
    with pytest.raises(CorruptBatch):
        seal(data, count).check_framing()


def test_empty_input_gives_no_rows() -> None:
    assert len(read_columns([])) == 0
    assert len(read_columns([Batch(build_batch([], last_offset_delta=4))])) == 0
