"""For any two logs on disk, a comparison counts each batch and each record of either side once."""

from __future__ import annotations

import contextlib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.logdir.compare import cursor, records
from kmirror.logdir.compare.partitions import CompareOptions, compare_partition
from kmirror.logdir.compare.results import PartitionResult
from kmirror.logdir.partition import open_partition
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.legacy import iter_any_batches
from kmirror.records.record import RecordData

# Gap before the batch, number of records, leader epoch, a letter for the values, a size of padding.
BATCH = st.tuples(
    st.integers(0, 2), st.integers(1, 3), st.integers(0, 1), st.sampled_from("ab"), st.sampled_from([0, 0, 0, 5_000])
)
LOG = st.lists(BATCH, max_size=12)
Rows = list[tuple[int, int, int, str, int]]


def built(rows: Rows) -> list[bytes]:
    offset, found = 0, []
    for gap, count, epoch, letter, padding in rows:
        offset += gap
        data = [RecordData(None, letter.encode() * (1 + padding), (), 0)] * count
        found.append(build_batch(data, base_offset=offset, partition_leader_epoch=epoch, timestamp_ms=0))
        offset += count
    return found


def write_log(folder: Path, batches: list[bytes], cut: int) -> Path:
    """Write a log of two segments."""
    folder.mkdir(parents=True)
    for part in (batches[:cut], batches[cut:]):
        if part:
            (folder / f"{int.from_bytes(part[0][:8], 'big'):020d}.log").write_bytes(b"".join(part))
    (folder / "leader-epoch-checkpoint").touch()
    return folder


def compare_logs(left: list[bytes], right: list[bytes], cuts: tuple[int, int], *, logical: bool) -> PartitionResult:
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        top = "."
        one, other = (
            # Logs that have lost their beginning are compared from the higher start on: not here.
            open_partition(write_log(Path(top) / name / "t-0", batches, cut))._replace(log_start_offset=0)
            for name, batches, cut in (("a", left, cuts[0]), ("b", right, cuts[1]))
        )
        return compare_partition(one, other, CompareOptions(logical=logical))


@given(LOG, LOG, st.integers(0, 12), st.tuples(st.integers(0, 12), st.integers(0, 12)))
def test_runs_of_equal_bytes_count_as_the_steps_do(ours: Rows, theirs: Rows, same: int, cuts: tuple[int, int]) -> None:
    left, right = built(ours), built([*ours[:same], *theirs])
    found = compare_logs(left, right, cuts, logical=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cursor.LogCursor, "skip_equal", lambda here, there: None)
        assert compare_logs(left, right, cuts, logical=False) == found
    shares = found.shares
    both = shares.common.batches + shares.differing.batches
    assert both + shares.only_expected.batches == len(left)
    assert both + shares.only_found.batches == len(right)
    offsets = sum(count for _, count, *_ in ours)
    assert shares.common.offsets + shares.differing.offsets + shares.only_expected.offsets == offsets
    assert found.is_equal == (left == right)


@given(LOG, LOG, st.integers(0, 12), st.sampled_from([1, 2, 1_000]))
def test_each_record_is_counted_once(ours: Rows, theirs: Rows, same: int, ahead: int) -> None:
    left, right = built(ours), built([*ours[:same], *theirs])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "_AHEAD_MAX", ahead)
        found = compare_logs(left, right, (0, 0), logical=True)
    values = [
        [record.value for batch in iter_any_batches(b"".join(side)) for record in batch.records()]
        for side in (left, right)
    ]
    prefix = list(iter_any_batches(b"".join(left)))[: found.shares.common.batches]
    skipped = sum(batch.record_count or 0 for batch in prefix)
    shares = found.shares
    both = shares.common.records + shares.differing.records
    assert skipped + both + shares.only_expected.records == len(values[0])
    assert skipped + both + shares.only_found.records == len(values[1])
    assert found.is_equal == (values[0] == values[1])


@given(LOG, st.lists(st.integers(1, 5), min_size=1), st.sampled_from(list(Compression)))
def test_a_copy_in_other_batches_is_equal(rows: Rows, sizes: list[int], codec: Compression) -> None:
    left = built(rows)
    data = [
        RecordData(record.key, record.value, (), record.timestamp)
        for batch in iter_any_batches(b"".join(left))
        for record in batch.records()
    ]
    right, offset = [], 7
    while data:
        size = sizes[len(right) % len(sizes)]
        right.append(build_batch(data[:size], base_offset=offset, compression=codec, timestamp_ms=0))
        offset, data = offset + size, data[size:]
    found = compare_logs(left, right, (3, 5), logical=True)
    assert found.is_equal, found.differences
    assert found.shares.common.records == sum(count for _, count, *_ in rows)


@given(st.binary(max_size=60), st.binary(max_size=60), st.integers(1, 64))
def test_the_common_prefix_of_two_buffers_is_found(one: bytes, other: bytes, together: int) -> None:
    size = min(len(one), len(other))
    expected = next((at for at in range(size) if one[at] != other[at]), None)
    views = memoryview(one), memoryview(other)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cursor, "_RUN_BYTES_MAX", together)
        block = cursor._first_block(*views, size)
    assert (None if block is None else cursor._first_byte(*views, block)) == expected
