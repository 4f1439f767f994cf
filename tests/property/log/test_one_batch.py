"""A batch that is appended without a scan leaves the log as the scan would have left it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.errors import CorruptBatch
from kmirror.log import partition_log
from kmirror.log.one_batch import append_one
from kmirror.log.partition_log import PartitionLog
from kmirror.records.legacy import build_message_set
from kmirror.records.record import RecordData
from tests.unit.log.partitions import NOW_MS, batch, idempotent, marker, open_log

STEPS = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["batch"] * 12 + ["producer", "marker", "legacy", "two", "torn", "flipped"]),
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
    if kind == "producer":
        return idempotent(0, count, **fields)
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
    return segments, log.log_end_offset, log.epochs.entries, log.producers.map_end_offset


@given(STEPS, st.sampled_from([0, 150, 4096]), st.sampled_from([400, 1500, 1 << 20]), st.sampled_from([250, 1 << 40]))
def test_it_is_the_scan_s_answer(steps: list[dict[str, Any]], interval: int, segment: int, roll_ms: int) -> None:
    config = {"index_interval_bytes": interval, "segment_bytes": segment, "segment_ms": roll_ms}
    quick, slow = open_log(**config), open_log(**config)
    epoch = 0
    for step in steps:
        epoch += step["epoch"]
        data = encoded(step, max(0, slow.log_end_offset + step["gap"]), epoch)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(partition_log, "append_one", lambda *_: None)
            expected = follow(slow, data)
        assert follow(quick, data) == expected
        assert state(quick) == state(slow)


def test_a_plain_batch_is_not_scanned() -> None:
    log = open_log()
    log.append_as_follower(batch(), max_epoch=0)
    info = append_one(log, memoryview(batch(2, offset=3)), 0)
    assert info is not None
    assert (info.first_offset, info.last_offset, info.batches, log.log_end_offset) == (3, 4, 1, 5)
    assert append_one(log, memoryview(batch(offset=5, epoch=1)), 1) is None, "its epoch begins there"
    assert append_one(log, memoryview(batch(offset=4)), 1) is None, "that offset is taken"
    log.roll(5)
    assert append_one(log, memoryview(batch(offset=5)), 1) is None, "it tells when its segment is to be rolled"
