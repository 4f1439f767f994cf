"""For any batches of producers: the walk over the batches and the log itself agree on committed offsets."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from kmirror.log.committed import Committed, CommittedWalk
from kmirror.log.partition_log import PartitionLog
from kmirror.log.producer_files import snapshot_offsets
from kmirror.log.state_files import SNAPSHOT_SUFFIX, decode_snapshot, file_name
from tests.builders import NOW_MS, batch, idempotent, marker, reset
from tests.unit.log.partitions import follow, open_log

PIDS = st.integers(1, 3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("data"), PIDS, st.integers(1, 3)),
        st.tuples(st.just("abort"), PIDS, st.just(1)),
        st.tuples(st.just("outside"), PIDS, st.integers(1, 3)),
        st.tuples(st.sampled_from(("commit", "abort")), PIDS, st.just(1)),
        st.tuples(st.sampled_from(("reset", "plain")), st.just(0), st.just(1)),
    ),
    min_size=6,
    max_size=40,
)
Step = tuple[str, int, int]


def batches_of(steps: Sequence[Step]) -> list[bytes]:
    """Return the batches of `steps`; data outside a transaction joins the producer's open one, if any."""
    found: list[bytes] = []
    opened: dict[int, bool] = {}
    offset = 0
    for kind, pid, count in steps:
        if kind == "plain":
            data = batch(count, offset=offset)
        elif kind == "reset":
            data = reset(offset=offset)
            opened.clear()
        elif kind in ("commit", "abort"):
            data = marker(pid=pid, commit=kind == "commit", offset=offset)
            opened[pid] = False
        else:
            opened[pid] = opened.get(pid, False) or kind == "data"
            data = idempotent(0, count, pid=pid, txn=opened[pid], offset=offset)
        found.append(data)
        offset += count
    return found


def walk_log(log: PartitionLog, *, with_snapshots: bool) -> Committed:
    """Return the result of the walk over all of the log's segments."""

    def open_at(offset: int) -> dict[int, int]:
        entries = decode_snapshot(log.store.read_file(file_name(offset, SNAPSHOT_SUFFIX)) or b"")
        return {entry.producer_id: entry.txn_first_offset for entry in entries if entry.txn_first_offset >= 0}

    base = log.segment_base_offsets[0]
    snapshots = [offset for offset in snapshot_offsets(log.store) if offset >= base] if with_snapshots else []
    walk = CommittedWalk(snapshots, open_at)
    for found in log.any_batches(base):
        walk.add(found)
    return walk.finish(log.log_end_offset)


def check(log: PartitionLog, committed: Committed) -> None:
    first = committed.first_undecided_offset
    stable = log.log_end_offset if first is None else max(first, log.log_start_offset)
    assert stable == log.last_stable_offset
    aborted = log.aborted_transactions(log.segment_base_offsets[0], log.log_end_offset)
    assert sorted((txn.producer_id, txn.first_offset, txn.last_offset) for txn in aborted) == sorted(
        (producer_id, *pair) for producer_id, pairs in committed.aborted.items() for pair in pairs
    )
    for found in log.batches(log.log_start_offset):
        if not found.is_control:
            is_aborted = found.is_transactional and any(
                txn.producer_id == found.producer_id and txn.first_offset <= found.base_offset <= txn.last_offset
                for txn in aborted
            )
            assert committed.hides(found) == (is_aborted or found.last_offset >= stable), found


@pytest.mark.decision("D15")
@given(STEPS, st.booleans(), st.sampled_from((300, 1 << 20)))
def test_the_walk_and_the_log_agree(steps: list[Step], at_once: bool, segment_bytes: int) -> None:
    log = open_log(segment_bytes=segment_bytes)
    batches = batches_of(steps)
    for part in [batches] if at_once else [[data] for data in batches]:
        follow(log, *part)
    log.update_high_watermark(log.log_end_offset)
    event(f"{len(log.aborted_transactions(0, log.log_end_offset)) > 0} aborted")
    for with_snapshots in (False, True):
        check(log, walk_log(log, with_snapshots=with_snapshots))


@given(STEPS, st.data())
def test_they_agree_on_a_log_that_begins_inside_of_transactions(steps: list[Step], data: st.DataObject) -> None:
    log = open_log(segment_bytes=200)
    for part in batches_of(steps):
        follow(log, part)
    log.update_high_watermark(log.log_end_offset)
    starts = [found.base_offset for found in log.batches()]
    log.advance_log_start(data.draw(st.sampled_from(starts), label="log start"))
    deleted = log.delete_old_segments(NOW_MS)
    event(f"{deleted > 0} deleted")
    check(log, walk_log(log, with_snapshots=True))


@given(STEPS, st.data())
def test_each_part_of_a_log_hides_the_same_records_as_the_whole(steps: list[Step], data: st.DataObject) -> None:
    log = open_log()
    follow(log, *batches_of(steps))
    log.update_high_watermark(log.log_end_offset)
    committed = walk_log(log, with_snapshots=False)
    first = data.draw(st.integers(0, log.log_end_offset))
    end = data.draw(st.none() | st.integers(first, log.log_end_offset))
    part = committed.between(first, end)
    for found in log.batches(first, end):
        if found.base_offset >= first and not found.is_control:
            assert part.hides(found) == committed.hides(found), found
