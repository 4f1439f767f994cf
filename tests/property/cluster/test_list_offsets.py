"""A lookup by time through the indexes equals a scan of every record of the log."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from kmirror.cluster.broker.apis.list_offsets import _find
from kmirror.cluster.node.partition import Partition
from kmirror.kernel.uuid import Uuid
from kmirror.log.partition_log import PartitionLog
from kmirror.protocol.gen.list_offsets_request import ListOffsetsRequest
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.legacy import build_message_set
from kmirror.records.record import RecordData
from kmirror.spec.wire_values import IsolationLevel, OffsetSpec
from tests.builders import NOW_MS, idempotent
from tests.unit.log.partitions import TP, open_log

TIMES = st.integers(-1, 12)
BATCHES = st.lists(
    st.tuples(
        st.lists(TIMES, min_size=1, max_size=4),
        st.sampled_from(["plain", "plain", "gzip", "old", "txn"]),
        st.integers(0, 2),
    ),
    max_size=25,
)


class Row(NamedTuple):
    offset: int
    timestamp: int


def filled_log(batches: list[tuple[list[int], str, int]], interval: int, segment: int) -> PartitionLog:
    log = open_log(index_interval_bytes=interval, segment_bytes=segment, segment_ms=1 << 40)
    for times, kind, gap in batches:
        end = log.log_end_offset
        records = [RecordData(b"k", b"v" * 20, (), time) for time in times]
        if kind == "old":
            data = build_message_set(records, magic=1, base_offset=end)
        elif kind == "txn":
            data = idempotent(0, len(times), pid=end + 1, txn=True, offset=end + gap, timestamp=times[0])
        else:
            codec = Compression.GZIP if kind == "gzip" else Compression.NONE
            data = build_batch(records, base_offset=end + gap, partition_leader_epoch=0, compression=codec)
        log.append_as_follower(data, max_epoch=0)
    return log


def plain(log: PartitionLog, timestamp: int, bound: int) -> tuple[int, int]:
    """Return Kafka's result by a scan of every record: it stays in the first segment with a timestamp late enough."""
    segments = [
        [
            Row(record.offset, record.timestamp)
            for batch in log.any_batches(segment.base_offset)
            if segment.base_offset <= batch.last_offset < end
            for record in batch.records()
        ]
        for segment, end in zip(log.segments, [*log.segment_base_offsets[1:], 1 << 60], strict=True)
    ]
    found: Row | None = None
    if timestamp == OffsetSpec.MAX_TIMESTAMP:
        greatest = [max((row.timestamp for row in rows), default=-1) for rows in segments]
        latest = segments[greatest.index(max(greatest))]
        found = max(latest, key=lambda row: (row.timestamp, -row.offset), default=None)
    else:
        for rows in segments:
            last = max((row.timestamp for row in rows), default=-1)
            if (last if last >= 0 else NOW_MS) >= timestamp:
                late = [row for row in rows if row.timestamp >= timestamp and row.offset >= log.log_start_offset]
                found = late[0] if late else None
                break
    return (-1, -1) if found is None or found.offset >= bound else (found.timestamp, found.offset)


@given(
    BATCHES,
    st.sampled_from([0, 100, 4096]),
    st.sampled_from([150, 500, 1 << 20]),
    st.tuples(st.integers(0, 40), st.integers(0, 40)),
    st.sampled_from([(-1, IsolationLevel.READ_UNCOMMITTED), (-1, IsolationLevel.READ_COMMITTED), (2, 0)]),
)
def test_the_index_finds_the_same_as_a_scan_of_all_records(
    batches: list[tuple[list[int], str, int]],
    interval: int,
    segment: int,
    marks: tuple[int, int],
    asker: tuple[int, int],
) -> None:
    log = filled_log(batches, interval, segment)
    log.update_high_watermark(marks[0])
    log.advance_log_start(min(marks[1], log.high_watermark))
    partition = Partition(1, TP, Uuid.from_ints(1, 1), log)
    replica_id, isolation = asker
    request = ListOffsetsRequest(replica_id=replica_id, isolation_level=isolation)
    committed = log.last_stable_offset if isolation == IsolationLevel.READ_COMMITTED else log.high_watermark
    bound = log.log_end_offset if replica_id >= 0 else committed
    for timestamp in (*range(14), int(OffsetSpec.MAX_TIMESTAMP)):
        assert _find(partition, timestamp, request)[:2] == plain(log, timestamp, bound), timestamp
