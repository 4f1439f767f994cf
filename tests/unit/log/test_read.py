"""A read returns whole batches from the offset on, up to the size limit, and nothing from the end offset on."""

from __future__ import annotations

import pytest

from kmirror.log.partition_log import OffsetOutOfRange, PartitionLog
from kmirror.records.batch import iter_batches
from kmirror.spec.error_codes import ErrorCode
from tests.builders import batch
from tests.unit.log.partitions import follow, open_log

ONE = len(batch(3))


@pytest.fixture(params=[0, 200, 4096], ids=lambda interval: f"index every {interval}")
def log(request: pytest.FixtureRequest) -> PartitionLog:
    """Batches of three offsets, 0 to 59, in segments of five batches, with a gap from 30 to 39."""
    log = open_log(index_interval_bytes=request.param, segment_bytes=5 * ONE)
    for start in [*range(0, 30, 3), *range(40, 70, 3)]:
        follow(log, batch(3, offset=start))
    assert len(log.segment_base_offsets) == 4
    return log


def read(log: PartitionLog, offset: int, *, batches: int = 1000, end: int = 1000, min_one: bool = True) -> list[int]:
    """Return the base offsets of the batches that are read."""
    result = log.read(offset, max_bytes=batches * ONE, end_offset=end, min_one=min_one)
    found = list(iter_batches(result.records, check_crc=True))
    if found:
        assert result.start_offset == found[0].base_offset
        assert result.end_offset == found[-1].last_offset + 1
    else:
        assert result.start_offset == result.end_offset == offset
    return [one.base_offset for one in found]


def test_the_first_batch_holds_the_offset(log: PartitionLog) -> None:
    for offset in range(30):
        assert read(log, offset, batches=1) == [offset - offset % 3]


def test_an_offset_in_a_gap_is_answered_from_the_next_batch(log: PartitionLog) -> None:
    for offset in range(30, 41):
        assert read(log, offset, batches=1) == [40]


def test_a_read_stays_in_one_segment(log: PartitionLog) -> None:
    assert read(log, 4) == [3, 6, 9, 12]
    assert read(log, 15) == [15, 18, 21, 24, 27]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_as_many_whole_batches_are_read_as_fit(log: PartitionLog, count: int) -> None:
    assert read(log, 3, batches=count) == [3, 6, 9, 12][:count]
    result = log.read(3, max_bytes=count * ONE + ONE - 1, end_offset=1000)
    assert len(result.records) == count * ONE


def test_one_batch_is_read_though_it_is_too_large(log: PartitionLog) -> None:
    assert len(log.read(3, max_bytes=1, end_offset=1000).records) == ONE
    assert len(log.read(3, max_bytes=ONE - 1, end_offset=1000, min_one=False).records) == 0
    assert len(log.read(3, max_bytes=0, end_offset=1000).records) == ONE


@pytest.mark.parametrize("end", range(18))
def test_nothing_that_reaches_the_bound_is_read(log: PartitionLog, end: int) -> None:
    assert read(log, 0, end=end) == [base for base in (0, 3, 6, 9, 12) if base + 3 <= end]


def test_the_end_of_the_log_is_an_empty_read(log: PartitionLog) -> None:
    assert read(log, log.log_end_offset) == []
    assert read(open_log(), 0) == []


@pytest.mark.parametrize("offset", [-1, 6, 71])
def test_outside_of_the_log(log: PartitionLog, offset: int) -> None:
    log.update_high_watermark(70)
    log.advance_log_start(7)
    with pytest.raises(OffsetOutOfRange) as caught:
        read(log, offset)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert (caught.value.log_start_offset, caught.value.log_end_offset) == (7, 70)


def test_a_log_start_inside_a_batch_reads_the_whole_batch(log: PartitionLog) -> None:
    log.update_high_watermark(70)
    log.advance_log_start(7)
    assert read(log, 7, batches=1) == [6]
    assert next(log.batches()).base_offset == 6


def test_batches_of_a_range(log: PartitionLog) -> None:
    assert [one.base_offset for one in log.batches(10, 19)] == [9, 12, 15, 18]
    assert [one.base_offset for one in log.batches(31, 44)] == [40, 43]
    assert len(list(log.batches())) == 20
