"""ListOffsets finds the first record that is not older, with or without the index."""

from __future__ import annotations

import pytest

from kmirror.log.partition_log import PartitionLog
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.record import RecordData
from kmirror.spec.wire_values import OffsetSpec
from tests.builders import batch
from tests.unit.log.partitions import follow, open_log

# Offset by offset; three records in each batch. They do not ascend, and 70 occurs twice.
TIMES = [10, 30, 20, 40, 15, 50, 50, 70, 60, 65, 70, 5]


@pytest.fixture(params=[0, 200, 4096], ids=lambda interval: f"index every {interval}")
def log(request: pytest.FixtureRequest) -> PartitionLog:
    log = open_log(index_interval_bytes=request.param, segment_bytes=300, segment_ms=1 << 40)
    for base in range(0, len(TIMES), 3):
        records = [RecordData(b"k", b"v" * 30, (), time) for time in TIMES[base : base + 3]]
        codec = Compression.GZIP if base % 2 else Compression.NONE
        follow(
            log,
            build_batch(records, base_offset=base, partition_leader_epoch=base // 6, compression=codec),
        )
    assert len(log.segment_base_offsets) > 1
    return log


@pytest.mark.parametrize("timestamp", range(75))
def test_the_first_record_that_is_not_older(log: PartitionLog, timestamp: int) -> None:
    expected = next(((time, offset, offset // 6) for offset, time in enumerate(TIMES) if time >= timestamp), None)
    assert log.offset_for_timestamp(timestamp) == expected


@pytest.mark.parametrize("timestamp", [0, 15, 40])
def test_records_below_the_log_start_do_not_count(log: PartitionLog, timestamp: int) -> None:
    log.update_high_watermark(len(TIMES))
    log.advance_log_start(4)
    expected = next((time, offset) for offset, time in enumerate(TIMES) if time >= timestamp and offset >= 4)
    found = log.offset_for_timestamp(timestamp)
    assert found is not None and found[:2] == expected


def test_names(log: PartitionLog) -> None:
    log.update_high_watermark(len(TIMES))
    assert log.offset_for_timestamp(OffsetSpec.EARLIEST) == (-1, 0, 0)
    assert log.offset_for_timestamp(OffsetSpec.LATEST) == (-1, 12, 1)
    assert log.offset_for_timestamp(OffsetSpec.MAX_TIMESTAMP) == (70, 7, 1)
    assert log.offset_for_timestamp(OffsetSpec.LATEST_TIERED) == (-1, -1, -1)
    assert log.offset_for_timestamp(OffsetSpec.EARLIEST_PENDING_UPLOAD) == (-1, -1, -1)
    log.advance_log_start(9)
    assert (
        log.offset_for_timestamp(OffsetSpec.EARLIEST)
        == log.offset_for_timestamp(OffsetSpec.EARLIEST_LOCAL)
        == (-1, 9, 1)
    )
    assert log.offset_for_timestamp(OffsetSpec.MAX_TIMESTAMP) == (70, 7, 1), "Kafka does not ask for the log start here"


def test_of_equal_greatest_timestamps_the_first_counts() -> None:
    log = open_log(segment_bytes=1)
    for offset, time in enumerate([10, 70, 20, 70]):
        follow(log, batch(offset=offset, timestamp=time))
    assert len(log.segment_base_offsets) == 4
    assert log.offset_for_timestamp(OffsetSpec.MAX_TIMESTAMP) == (70, 1, 0)


def test_the_maximum_timestamp_after_a_truncation(log: PartitionLog) -> None:
    log.truncate_to(7)
    assert log.offset_for_timestamp(OffsetSpec.MAX_TIMESTAMP) == (50, 5, 0)
    assert log.offset_for_timestamp(51) is None


def test_a_log_without_records_or_timestamps_has_no_greatest() -> None:
    assert open_log().offset_for_timestamp(OffsetSpec.MAX_TIMESTAMP) is None
    assert open_log().offset_for_timestamp(0) is None
    assert open_log().offset_for_timestamp(OffsetSpec.EARLIEST) == (-1, 0, -1)
