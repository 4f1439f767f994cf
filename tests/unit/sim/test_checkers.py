"""A difference between two logs is found at any place, and named."""

from __future__ import annotations

import pytest

from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import LogConfig, PartitionLog
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.record import RecordData
from kmirror.sim.checkers import Compared, first_difference
from tests.sim.stage import TP, legacy, plain

BATCHES = [plain(0, 0, "r0", "r1"), plain(2, 1, "r2"), plain(5, 1, "r5")]


def log(*batches: bytes) -> PartitionLog:
    return PartitionLog.open(TP, MemoryStore.from_files({0: b"".join(batches)}, {}), LogConfig(), now_ms=0)


def test_equal_logs_have_no_difference() -> None:
    compared = Compared()
    assert first_difference(TP, log(*BATCHES), log(*BATCHES), 6, compared) is None
    assert (compared.partitions, compared.batches, compared.bytes) == (1, 3, sum(map(len, BATCHES)))


@pytest.mark.parametrize(
    ("other", "offset", "field"),
    [
        ([BATCHES[0], plain(2, 1, "x2"), BATCHES[2]], 2, "record value"),
        ([BATCHES[0], plain(2, 0, "r2"), BATCHES[2]], 2, "leader epoch"),
        ([BATCHES[0], plain(3, 1, "r2"), BATCHES[2]], 2, "base offset"),
        ([plain(0, 0, "r0"), BATCHES[1], BATCHES[2]], 0, "last offset"),
        ([BATCHES[0], BATCHES[1]], 5, "batch"),
        ([BATCHES[0], BATCHES[2]], 2, "base offset"),
    ],
)
def test_the_first_difference_is_named(other: list[bytes], offset: int, field: str) -> None:
    difference = first_difference(TP, log(*BATCHES), log(*other), 6)
    assert difference is not None
    assert (difference.offset, difference.field) == (offset, field)
    assert str(TP) in str(difference) and str(offset) in str(difference)


def test_records_at_or_above_the_bound_are_not_compared() -> None:
    assert first_difference(TP, log(*BATCHES), log(*BATCHES[:2]), 5) is None


def test_another_log_start_is_a_difference() -> None:
    other = log(*BATCHES)
    other.update_high_watermark(6)
    other.advance_log_start(2)
    difference = first_difference(TP, log(*BATCHES), other, 6)
    assert difference is not None and difference.field == "log start offset"


GZIP = Compression.GZIP
OLD = [legacy(0, 0, "r0", "r1"), legacy(2, 1, "r2", "r3", codec=GZIP), plain(5, 1, "r5")]


def test_messages_of_old_formats_count_as_a_batch_each() -> None:
    compared = Compared()
    assert first_difference(TP, log(*OLD), log(*OLD), 6, compared) is None
    assert (compared.partitions, compared.batches, compared.bytes) == (1, 4, sum(map(len, OLD)))


@pytest.mark.parametrize(
    ("other", "offset", "field"),
    [
        ([legacy(0, 0, "r0", "x1"), *OLD[1:]], 1, "record value"),
        ([legacy(0, 1, "r0", "r1"), *OLD[1:]], 0, "message format"),
        ([OLD[0], legacy(3, 1, "r2", "r3", codec=GZIP), OLD[2]], 3, "offset"),
        ([OLD[0], legacy(2, 1, "r2", "r3"), OLD[2]], 2, "offset"),
        ([OLD[0], legacy(2, 1, "r2", "xyz", codec=GZIP), OLD[2]], 3, "record value"),
        ([OLD[0], plain(3, 0, "r3"), OLD[2]], 3, "message format"),
        ([OLD[0], OLD[2]], 3, "message format"),
        ([OLD[0], OLD[1]], 5, "batch"),
    ],
)
def test_a_difference_between_messages_of_old_formats_is_named(other: list[bytes], offset: int, field: str) -> None:
    difference = first_difference(TP, log(*OLD), log(*other), 6)
    assert difference is not None
    assert (difference.offset, difference.field) == (offset, field)


def test_a_message_that_is_missing_is_named_by_its_offset() -> None:
    difference = first_difference(TP, log(*OLD[:2]), log(OLD[0]), 4)
    assert str(difference) == f"{TP} offset 3 field batch: expected 3, found none"
    assert first_difference(TP, log(*OLD[:2]), log(OLD[0]), 2) is None


@pytest.mark.decision("D46")
@pytest.mark.parametrize(("compact", "field"), [(True, None), (False, "base offset")])
def test_records_removed_by_a_cleaner_are_no_difference(compact: bool, field: str | None) -> None:
    written = [build_batch([RecordData(key=b"k", value=value)], base_offset=n) for n, value in enumerate((b"a", b"b"))]
    full, cleaned = log(*written), log(written[1])
    full.config = cleaned.config = LogConfig(compact=compact)
    difference = first_difference(TP, full, cleaned, 2)
    assert (None if difference is None else difference.field) == field
