"""Invalid state files are refused, with the position of the fault."""

from __future__ import annotations

import pytest

from kmirror.errors import CorruptBatch
from kmirror.kernel.ids import TopicPartition
from kmirror.log.producer_entry import AbortedTxn, ProducerEntry
from kmirror.log.state_files import (
    decode_aborted,
    decode_offsets,
    decode_snapshot,
    encode_aborted,
    encode_offsets,
    encode_snapshot,
    offset_of,
)
from kmirror.records.crc32c import crc32c

SNAPSHOT = encode_snapshot([ProducerEntry(1), ProducerEntry(2)])
ROWS = [AbortedTxn(1, 40, 45, 46), AbortedTxn(2, 41, 47, 48)]


def with_count(count: int) -> bytes:
    body = count.to_bytes(4, "big", signed=True) + SNAPSHOT[10:]
    return SNAPSHOT[:2] + crc32c(body).to_bytes(4, "big") + body


@pytest.mark.parametrize(
    ("data", "position"),
    [
        (b"", None),
        (SNAPSHOT[:9], None),
        (b"\0\2" + SNAPSHOT[2:], 0),
        (SNAPSHOT[:-1] + b"\0", 2),
        (with_count(3), 6),
        (with_count(-1), 6),
    ],
    ids=["empty", "cut", "version", "checksum", "more than there are", "negative count"],
)
def test_bytes_that_are_no_snapshot_are_refused(data: bytes, position: int | None) -> None:
    with pytest.raises(CorruptBatch, match="producer snapshot") as caught:
        decode_snapshot(data)
    assert caught.value.position == position


def test_bytes_after_a_snapshots_rows_count_for_nothing() -> None:
    assert [entry.producer_id for entry in decode_snapshot(with_count(1))] == [1]


def test_a_transaction_index_that_ends_inside_a_row() -> None:
    data = encode_aborted(ROWS)
    assert decode_aborted(data, base_offset=45) == ROWS
    assert decode_aborted(data[:-1]) == ROWS[:1]


@pytest.mark.parametrize(
    ("data", "base_offset", "reason", "position"),
    [
        (encode_aborted(ROWS), 46, "ends at 45, below 46", 0),
        (encode_aborted(reversed(ROWS)), 0, "ascending", 34),
        (encode_aborted(ROWS[:1] * 2), 0, "ascending", 34),
        (b"\0\1" + encode_aborted(ROWS)[2:], 0, "version 1", 0),
    ],
    ids=["below the segment", "descending", "twice", "version"],
)
def test_bytes_that_are_no_transaction_index_are_refused(
    data: bytes, base_offset: int, reason: str, position: int
) -> None:
    with pytest.raises(CorruptBatch, match=reason) as caught:
        decode_aborted(data, base_offset=base_offset)
    assert caught.value.position == position


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff", "version 0 and a count"),
        (b"0\n", "version 0 and a count"),
        (b"1\n0\n", "version 0 and a count"),
        (b"0\n2\na 0 5\n", "its count is '2' lines, but it has 1"),
        (b"0\n1\n\na 0 5\n", "line 3 is not"),
        (b"0\n1\na 0\n", "line 3 is not"),
        (b"0\n2\na 0 5\na 1 x\n", "line 4 is not"),
        (b"0\n1\na 0 -5\n", "line 3 is not"),
        (b"0\n1\na 0 1_0\n", "line 3 is not"),
        pytest.param(b"0\n1\na 0 " + b"9" * 5_000, "line 3 is not", id="more digits than Python reads"),
    ],
)
def test_bytes_that_are_no_offset_checkpoint_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(CorruptBatch, match=reason):
        decode_offsets(data)


def test_an_offset_checkpoint_survives_a_round_trip() -> None:
    offsets = {TopicPartition("b", 3): 5, TopicPartition("a-1.x", 0): 2**63 - 1}
    assert decode_offsets(encode_offsets(offsets)) == offsets
    assert decode_offsets(b"") == {}


@pytest.mark.parametrize(
    ("name", "offset"),
    [
        ("00000000000000000000.log", 0),
        ("09223372036854775807.log", 2**63 - 1),
        ("09223372036854775808.log", None),
        ("99999999999999999999.log", None),
        ("0000000000000000000.log", None),
        ("000000000000000000000.log", None),
        ("0000000000000000000x.log", None),
        ("0000000000000000000٣.log", None),
        ("00000000000000000000.log.swap", None),
        ("00000000000000000000.index", None),
        (".log", None),
    ],
)
def test_a_file_s_name_is_an_offset_that_there_can_be(name: str, offset: int | None) -> None:
    assert offset_of(name, ".log") == offset
