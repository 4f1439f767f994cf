"""The segments of a log: ordered, looked up by offset; changes of segments update the end of the log."""

from __future__ import annotations

import pytest

from kmirror.log.segment_list import SegmentList
from tests.builders import NOW_MS, batch
from tests.unit.log.partitions import open_log


def segments_of(count: int = 4, *, gap: int = 0) -> SegmentList:
    """Return segments of two batches with one record each, with `gap` missing offsets between any two of them."""
    log = open_log(segment_bytes=2 * len(batch()))
    for number in range(2 * count):
        log.append_as_follower(batch(offset=number + number // 2 * gap), max_epoch=0)
    return log.segments


def known(segments: SegmentList) -> tuple[list[int], int, int]:
    """Return the base offsets, the base offset of the active segment, and the end; checks that the store agrees."""
    assert segments.base_offsets == [s.base_offset for s in segments] == segments.store.segments()
    assert segments.active is segments[-1] and len(segments) == len(segments.base_offsets)
    return segments.base_offsets, segments.active.base_offset, segments.end_offset


def test_the_last_segment_is_the_active_one_and_the_end_is_above_its_last_record() -> None:
    assert known(segments_of()) == ([0, 2, 4, 6], 6, 8)
    assert segments_of().size_in_bytes == 8 * len(batch())


@pytest.mark.parametrize(
    ("offset", "first"), [(0, 0), (1, 0), (2, 0), (6, 0), (7, 7), (8, 7), (13, 7), (14, 14), (99, 14)]
)
def test_the_segment_that_would_contain_an_offset_comes_first(offset: int, first: int) -> None:
    assert segments_of(3, gap=5).reaching(offset)[0].base_offset == first


@pytest.mark.parametrize(
    ("offset", "found"), [(0, (0, 0)), (1, (0, 1)), (2, (7, 7)), (8, (7, 8)), (9, (14, 14)), (15, (14, 15)), (16, None)]
)
def test_a_batch_is_found_after_a_gap_between_segments(offset: int, found: tuple[int, int] | None) -> None:
    place = segments_of(3, gap=5).find(offset)
    assert found == (place and (place[0].base_offset, place[1].base_offset))


@pytest.mark.parametrize(
    ("offset", "bases"), [(8, [0, 2, 4, 6]), (7, [0, 2, 4, 6]), (6, [0, 2, 4, 6]), (5, [0, 2, 4]), (0, [0])]
)
def test_a_truncation_moves_the_end_and_keeps_the_segment_that_would_contain_it(offset: int, bases: list[int]) -> None:
    segments = segments_of()
    segments.truncate_to(offset, NOW_MS)
    assert known(segments) == (bases, bases[-1], offset)


def test_no_truncation_goes_below_the_first_segment() -> None:
    segments = segments_of()
    segments.set_aside_first(1)
    with pytest.raises(AssertionError, match="a cut to 1, below 2"):
        segments.truncate_to(1, NOW_MS)


def test_the_oldest_segments_are_deleted_and_the_active_one_stays() -> None:
    segments = segments_of()
    assert segments.set_aside_first(3) == [0, 2, 4]
    assert known(segments) == ([6], 6, 8)
    with pytest.raises(AssertionError, match="1 of 1 segments"):
        segments.set_aside_first(1)


def test_a_log_restarted_from_scratch_ends_at_its_start() -> None:
    segments = segments_of()
    segments.restart_at(50, open_log().config, NOW_MS)
    assert known(segments) == ([50], 50, 50)


def test_a_segment_replaces_neighbours_but_not_the_active_one() -> None:
    segments = segments_of()
    new = segments[1]
    segments.replace(new, 2)
    assert segments.base_offsets == [0, 2, 6] and segments[1] is new
    with pytest.raises(AssertionError):
        segments.replace(new, 2)
