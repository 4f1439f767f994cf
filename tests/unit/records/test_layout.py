"""Structs over the header of a batch read the right fields wherever they are used."""

from __future__ import annotations

from struct import Struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.log import fast_append, producer_staging, scan, scan_result, segment
from kmirror.logdir.verify import log_walk, producers
from kmirror.records import layout
from kmirror.records.layout import HEADER, HEADER_FIELDS, header_struct

# Positions in Kafka's documentation.
POSITIONS = {
    "base_offset": 0,
    "batch_length": 8,
    "partition_leader_epoch": 12,
    "magic": 16,
    "crc": 17,
    "attributes": 21,
    "last_offset_delta": 23,
    "base_timestamp": 27,
    "max_timestamp": 35,
    "producer_id": 43,
    "producer_epoch": 51,
    "base_sequence": 53,
    "record_count": 57,
}


def test_header_fields_are_at_kafkas_positions() -> None:
    constants = {name: getattr(layout, f"{name.upper().removeprefix('PARTITION_')}_AT") for name in HEADER_FIELDS}
    assert constants == POSITIONS
    assert (layout.RECORDS_AT, layout.HEADER_SIZE, layout.LOG_OVERHEAD, layout.BATCH_LENGTH_MIN) == (61, 61, 12, 49)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (layout.HEADER, ">qiibIhiqqqhii"),
        (layout.CHECKED_HEADER, ">hiqqqhii"),
        (layout.UNCHECKED_HEADER, ">qiibI"),
        (layout.OVERHEAD, ">qi"),
        (producer_staging._LAST_OFFSET, ">q15xi"),
        (producer_staging._PRODUCER_FIELDS, ">q13xhi8xqqhi"),
        (producer_staging._KIND, ">21xh20xq"),
        (fast_append._OF_PRODUCER, ">51xhi"),
        (scan.FUSED, ">qiibIhi8xqq"),
        (scan_result._START, ">qiib"),
        (segment._BOUNDS, ">qi4xb6xi"),
        (segment._LEGACY_BOUNDS, ">qi4xb"),
        (producers._PRODUCER_FIELDS, ">q15xi24xhi"),
        (log_walk._FIELDS, ">qiibIhi8xqq6xi"),
    ],
)
def test_the_structs_of_hot_loops_skip_in_one_piece(found: Struct, expected: str) -> None:
    assert found.format == expected


@given(data=st.binary(min_size=61, max_size=61), wanted=st.sets(st.sampled_from(list(HEADER_FIELDS)), min_size=1))
def test_any_fields_are_those_of_the_whole_header(data: bytes, wanted: set[str]) -> None:
    names = [name for name in HEADER_FIELDS if name in wanted]
    whole = dict(zip(HEADER_FIELDS, HEADER.unpack(data), strict=True))
    assert header_struct(*names).unpack_from(data) == tuple(whole[name] for name in names)


def test_fields_are_named_in_their_order() -> None:
    with pytest.raises(AssertionError, match="magic"):
        header_struct("crc", "magic")
    with pytest.raises(AssertionError, match="crc"):
        header_struct("crc", "crc")
    with pytest.raises(AssertionError, match="base_offset"):
        header_struct("base_offset", start="attributes")
    with pytest.raises(ValueError, match="leader_epoch"):
        header_struct("leader_epoch")
