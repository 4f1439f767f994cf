"""Index files that no broker wrote are refused."""

from __future__ import annotations

import struct

import pytest

from kmirror.errors import CorruptBatch
from kmirror.log.index import OffsetIndex


@pytest.mark.parametrize(
    "rows",
    [
        [(-1, 70)],
        [(5, -1)],
        [(5, 70), (5, 140)],
        [(5, 70), (9, 70)],
        [(5, 70), (9, -1)],
    ],
    ids=["offset below the base offset", "position below 0", "same offset", "same position", "position falls"],
)
def test_rows_of_an_offset_index_ascend_from_the_base_offset(rows: list[tuple[int, int]]) -> None:
    with pytest.raises(CorruptBatch, match=rf"row {len(rows) - 1} of an offset index is .*, expected ascending rows"):
        OffsetIndex.decode(100, b"".join(struct.pack(">ii", *row) for row in rows))


def test_an_offset_index_is_read_as_it_was_written() -> None:
    data = struct.pack(">iiii", 5, 70, 9, 140)
    index = OffsetIndex.decode(100, data + bytes(16))
    assert list(index.offsets) == [105, 109] and list(index.positions) == [70, 140]
    assert index.encode() == data
