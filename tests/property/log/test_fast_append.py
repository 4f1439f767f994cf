"""A batch that is appended without a scan leaves the log as after a scan."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.errors import CorruptBatch
from kmirror.log import partition_log, producer_staging
from kmirror.log.fast_append import append_one
from kmirror.log.partition_log import PartitionLog
from kmirror.log.results import AppendInfo
from kmirror.records.legacy import build_message_set
from kmirror.records.record import RecordData
from tests.builders import NOW_MS, batch, idempotent, marker
from tests.unit.log.partitions import open_log

STEPS = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(
                ["batch"] * 8 + ["producer"] * 8 + ["txn", "txn", "txn", "marker", "legacy", "two", "torn", "flipped"]
            ),
            "pid": st.integers(1, 2),
            "producer_epoch": st.sampled_from([0, 0, 0, 1]),
            "sequence": st.sampled_from([0, 1, 5, 0x7FFF_FFFE, 0x7FFF_FFFF]),
            "gap": st.sampled_from([0, 0, 0, 0, 1, 7, -1]),
            "epoch": st.sampled_from([0, 0, 0, 0, 1, 0, 2]),
            "count": st.integers(1, 3),
            "size": st.integers(0, 120),
            "timestamp": st.integers(-1, 6).map(lambda n: n if n < 0 else NOW_MS + n * 100),
        }
    ),
    min_size=1,
    max_size=25,
)


def encoded(step: dict[str, Any], offset: int, epoch: int) -> bytes:
    kind, count = step["kind"], step["count"]
    if kind == "marker":
        return marker(commit=True, offset=offset, epoch=epoch)
    if kind == "legacy":
        return build_message_set([RecordData(None, b"v", (), NOW_MS)] * count, magic=1, base_offset=offset)
    fields = {"offset": offset, "epoch": epoch, "size": step["size"], "timestamp": step["timestamp"]}
    if kind in ("producer", "txn"):
        fields |= {"pid": step["pid"], "producer_epoch": step["producer_epoch"], "txn": kind == "txn"}
        return idempotent(step["sequence"], count, **fields)
    data = batch(count, **fields)
    if kind == "two":
        return data + batch(1, **{**fields, "offset": offset + count})
    if kind == "torn":
        return data[:-3]
    if kind == "flipped":
        return data[:-1] + bytes([data[-1] ^ 1])
    return data


def follow(log: PartitionLog, data: bytes) -> object:
    try:
        return log.append_as_follower(data, max_epoch=4)
    except CorruptBatch as error:
        return type(error), str(error)


def state(log: PartitionLog) -> object:
    segments = [
        (
            *(s.base_offset, s.size, s.since_row, s.first_timestamp, s.max_timestamp, s.max_timestamp_offset),
            *(s.created_ms, s.modified_ms, s.offsets.encode(), s.times.encode(), s.view().tobytes()),
        )
        for s in log.segments
    ]
    return segments, log.log_end_offset, log.epochs.entries, producer_table(log)


def producer_table(log: PartitionLog) -> object:
    table = log.producers
    rows = [
        (
            *(entry.producer_id, entry.producer_epoch, entry.coordinator_epoch, entry.last_timestamp),
            *(entry.txn_first_offset, tuple(entry.batches)),
        )
        for entry in table.entries.values()
    ]
    return rows, list(table.ongoing.items()), table.unreplicated, table.map_end_offset, table.max_count


@given(STEPS, st.sampled_from([0, 150, 4096]), st.sampled_from([400, 1500, 1 << 20]), st.sampled_from([250, 1 << 40]))
def test_the_result_equals_the_scans(steps: list[dict[str, Any]], interval: int, segment: int, roll_ms: int) -> None:
    config = {"index_interval_bytes": interval, "segment_bytes": segment, "segment_ms": roll_ms}
    quick, slow = open_log(**config), open_log(**config)
    epoch = 0
    for step in steps:
        epoch += step["epoch"]
        data = encoded(step, max(0, slow.log_end_offset + step["gap"]), epoch)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(partition_log, "append_one", lambda *_, **__: None)
            expected = follow(slow, data)
        assert follow(quick, data) == expected
        assert state(quick) == state(slow)


# Kind, producer id, producer epoch, base sequence.
RUNS = st.lists(
    st.tuples(
        st.sampled_from(["producer"] * 6 + ["batch", "txn", "marker"]),
        st.integers(1, 3),
        st.integers(0, 1),
        st.sampled_from([-1, 0, 5, 0x7FFF_FFFE]),
    ),
    min_size=6,
    max_size=24,
)


@given(RUNS, st.booleans(), st.integers(0, 24))
def test_skipping_batches_of_a_run_does_not_change_the_state(
    run: list[tuple[str, int, int, int]], is_plain: bool, known: int
) -> None:
    quick, slow, taken = open_log(), open_log(), open_log()
    data = []
    for kind, pid, producer_epoch, sequence in run:
        offset = taken.log_end_offset
        if kind == "marker" and not is_plain:
            one = marker(commit=False, pid=pid, producer_epoch=producer_epoch, offset=offset)
        elif kind == "batch":
            one = batch(2, offset=offset)
        else:
            is_txn = kind == "txn" and not is_plain
            one = idempotent(sequence, 3, pid=pid, producer_epoch=producer_epoch, txn=is_txn, offset=offset)
        if isinstance(follow(taken, one), AppendInfo):
            data.append(one)
    for part in (b"".join(data[:known]), b"".join(data[known:])):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(producer_staging, "_drop_evicted", lambda view, positions, staging: positions)
            expected = follow(slow, part)
        assert follow(quick, part) == expected and isinstance(expected, AppendInfo)
        assert state(quick) == state(slow)


def test_a_producer_that_writes_outside_its_transaction_is_named_with_the_batch() -> None:
    log = open_log()
    log.append_as_follower(idempotent(0, txn=True), max_epoch=0)
    run = b"".join(idempotent(number, offset=number) for number in range(1, 9))
    with pytest.raises(CorruptBatch, match=r"outside a transaction at offset 1,") as caught:
        log.append_as_follower(run, max_epoch=0)
    assert caught.value.offset == 1 and log.log_end_offset == 1


def test_a_refused_batch_after_a_gap_leaves_no_segment_above_the_log_end() -> None:
    log = open_log(segment_bytes=200)
    log.append_as_follower(idempotent(0, txn=True, size=100), max_epoch=0)
    with pytest.raises(CorruptBatch, match="outside a transaction at offset 9"):
        log.append_as_follower(idempotent(1, size=100, offset=9), max_epoch=0)
    assert (log.segment_base_offsets, log.log_end_offset) == ([0], 1)
    log.append_as_follower(idempotent(1, txn=True, size=100, offset=1), max_epoch=0)
    assert (log.segment_base_offsets, log.log_end_offset) == ([0, 1], 2)


def at_once(log: PartitionLog, data: bytes, max_epoch: int = 0) -> AppendInfo | None:
    """Append to the log if that is possible without a scan."""
    return append_one(
        log.segments,
        log.producers,
        log.config,
        memoryview(data),
        max_epoch=max_epoch,
        latest_epoch=log.latest_epoch,
        now_ms=log.now_ms,
    )


def test_a_plain_batch_is_not_scanned() -> None:
    log = open_log()
    log.append_as_follower(batch(), max_epoch=0)
    info = at_once(log, batch(2, offset=3))
    assert info is not None
    assert (info.first_offset, info.last_offset, info.batches, log.log_end_offset) == (3, 4, 1, 5)
    assert at_once(log, batch(offset=5, epoch=1), max_epoch=1) is None, "its epoch begins there"
    assert at_once(log, batch(offset=4), max_epoch=1) is None, "that offset is taken"
    assert at_once(log, idempotent(7, offset=5)) is None, "the log does not know its producer"
    log.append_as_follower(idempotent(7, offset=5), max_epoch=0)
    assert at_once(log, idempotent(8, offset=6)) is not None
    assert log.producers.entries[1].last_sequence == 8
    assert at_once(log, idempotent(0, producer_epoch=1, offset=7)) is None, "it begins anew"
    assert at_once(log, idempotent(9, txn=True, offset=7)) is None, "it begins a transaction"
    log.append_as_follower(idempotent(9, txn=True, offset=7), max_epoch=0)
    assert at_once(log, idempotent(9, offset=8)) is None, "it may not write outside of one"
    assert at_once(log, idempotent(10, txn=True, offset=8)) is not None
    log.roll(9)
    assert at_once(log, batch(offset=9), max_epoch=1) is None, "it tells when its segment is to be rolled"
