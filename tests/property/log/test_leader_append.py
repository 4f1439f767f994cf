"""A batch that a leader appends by its outline, without a scan, leaves the log as after the careful path."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.log import leader_append, partition_log
from kmirror.log.config import LONG_MAX, LogConfig
from kmirror.log.errors import LogAppendError, RecordsRejected
from kmirror.log.fast_append import lead_one
from kmirror.log.partition_log import AppendInfo, AppendOrigin, PartitionLog
from kmirror.records import layout
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.crc32c import crc32c
from kmirror.records.layout import TimestampType
from kmirror.records.record import RecordData
from tests.builders import NOW_MS, marker
from tests.property.log.test_fast_append import state
from tests.unit.log.partitions import open_log

CODECS = st.sampled_from([Compression.NONE] * 4 + [Compression.GZIP, Compression.LZ4])
CONFIGS = st.fixed_dictionaries(
    {
        "compact": st.booleans(),
        "message_timestamp_type": st.sampled_from([TimestampType.CREATE_TIME] * 3 + [TimestampType.LOG_APPEND_TIME]),
        "message_timestamp_before_max_ms": st.sampled_from([LONG_MAX, LONG_MAX, 1000]),
        "message_timestamp_after_max_ms": st.sampled_from([3_600_000, 1000, LONG_MAX]),
        "compression_type": st.sampled_from([None] * 5 + [Compression.NONE, Compression.GZIP]),
        "max_message_bytes": st.sampled_from([1 << 20] * 3 + [300]),
        "segment_bytes": st.sampled_from([1 << 20, 1 << 20, 900, 120]),
        "index_interval_bytes": st.sampled_from([0, 150, 4096]),
    }
)
HEADER_CHANGES = st.sampled_from(
    [
        (layout.BASE_OFFSET_AT, 8),
        (layout.BATCH_LENGTH_AT, 4),
        (layout.MAGIC_AT, 1),
        (layout.ATTRIBUTES_AT, 2),
        (layout.LAST_OFFSET_DELTA_AT, 4),
        (layout.BASE_TIMESTAMP_AT, 8),
        (layout.MAX_TIMESTAMP_AT, 8),
        (layout.PRODUCER_ID_AT, 8),
        (layout.BASE_SEQUENCE_AT, 4),
        (layout.RECORD_COUNT_AT, 4),
    ]
)
NUMBERS = st.sampled_from([0, 1, 2, -1, -2, 0x08, 0x10, 0x20, 0x40, 0x04, 0x07, NOW_MS, 1 << 31, LONG_MAX, -LONG_MAX])


@st.composite
def appends(draw: st.DrawFn) -> tuple[bytes, AppendOrigin]:
    """Draw a batch of a client, valid or nearly so, or a valid one of a coordinator."""
    origin = draw(st.sampled_from([AppendOrigin.CLIENT, AppendOrigin.CLIENT, AppendOrigin.COORDINATOR]))
    if draw(st.integers(0, 9)) == 0:
        return marker(commit=draw(st.booleans())), origin
    time = NOW_MS + draw(st.sampled_from([0, 0, 0, -1001, -1000, 1000, 1001, 3_600_001, -1 - NOW_MS, -2 - NOW_MS]))
    step = draw(st.sampled_from([0, 1, 50, -3]))
    shape = RecordData(draw(st.sampled_from([b"key", b"key", None])), b"v" * draw(st.integers(0, 90)))
    records = [shape._replace(timestamp=time + n * step) for n in range(draw(st.sampled_from([1, 1, 2, 3, 70])))]
    if draw(st.integers(0, 5)) == 0:
        odd = RecordData(draw(st.sampled_from([b"k", None])), None, [("h", b"x")], time)
        records.insert(draw(st.integers(0, len(records))), odd)
    gaps = draw(st.integers(0, 9)) == 0
    if gaps:
        records = [record._replace(offset=n + (n > 0)) for n, record in enumerate(records)]
    is_idempotent = draw(st.booleans())
    batch = build_batch(
        records,
        compression=draw(CODECS),
        producer_id=draw(st.integers(1, 2)) if is_idempotent else -1,
        producer_epoch=draw(st.sampled_from([0, 0, 0, 1])) if is_idempotent else -1,
        base_sequence=draw(st.sampled_from([0, 1, 2, 3, 0x7FFF_FFFF])) if is_idempotent else -1,
        is_transactional=is_idempotent and draw(st.integers(0, 4)) == 0,
        last_offset_delta=len(records) - 1 if gaps else None,
    )
    is_changed = origin is AppendOrigin.CLIENT and draw(st.booleans())
    return draw(changed_batches(batch)) if is_changed else batch, origin


@st.composite
def changed_batches(draw: st.DrawFn, batch: bytes) -> bytes:
    """Draw the same bytes with a fault or a change, mostly under a valid checksum."""
    data = bytearray(batch)
    if draw(st.booleans()):
        at, size = draw(HEADER_CHANGES)
        number = draw(NUMBERS) & ((1 << 8 * size) - 1)
        data[at : at + size] = number.to_bytes(size, "big")
    else:
        data[draw(st.integers(layout.RECORDS_AT, len(data) - 1))] = draw(st.integers(0, 255))
    if draw(st.integers(0, 9)):
        data[layout.CRC_AT : layout.CRC_AT + 4] = crc32c(data[layout.ATTRIBUTES_AT :]).to_bytes(4, "big")
    return bytes(data)


STEPS = st.lists(st.tuples(appends(), st.sampled_from([0, 0, 0, 1]), st.integers(0, 9)), min_size=1, max_size=12)


def lead(log: PartitionLog, data: bytes, epoch: int, origin: AppendOrigin, now_ms: int) -> object:
    try:
        return log.append_as_leader(data, leader_epoch=epoch, now_ms=now_ms, origin=origin)
    except LogAppendError as error:
        return error.code, str(error)


@given(STEPS, CONFIGS)
def test_the_result_equals_the_careful_paths(
    steps: list[tuple[tuple[bytes, AppendOrigin], int, int]], config: dict[str, Any]
) -> None:
    quick, careful = open_log(**config), open_log(**config)
    epoch, now_ms = 0, NOW_MS
    for (data, origin), raised, waited in steps:
        epoch, now_ms = epoch + raised, now_ms + waited
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(leader_append, "outline", lambda *_: None)
            patch.setattr(partition_log, "lead_one", lambda *_: None)
            expected = lead(careful, data, epoch, origin, now_ms)
        assert lead(quick, data, epoch, origin, now_ms) == expected
        assert state(quick) == state(careful)


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.ZSTD])
@pytest.mark.parametrize("producer_id", [-1, 7])
def test_a_plain_batch_is_neither_decoded_nor_scanned(
    codec: Compression, producer_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = open_log()
    records = [RecordData(b"key", b"v" * 100, (), NOW_MS + n) for n in range(20)]
    idempotent = producer_id >= 0

    def lead_next(number: int) -> int:
        sequence = number * len(records) if idempotent else -1
        epoch = 0 if idempotent else -1
        data = build_batch(
            records, compression=codec, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence
        )
        return log.append_as_leader(data, leader_epoch=0, now_ms=NOW_MS).last_offset

    assert lead_next(0) == 19, "the first batch of a segment is scanned"

    def never(*_: object, **__: object) -> None:
        raise AssertionError("not for a plain batch")

    monkeypatch.setattr(partition_log, "scan_batches", never)
    monkeypatch.setattr(leader_append.Batch, "records", never)
    assert [lead_next(1), lead_next(2)] == [39, 59]


@pytest.mark.parametrize("delta", [-1001, 1001])
def test_a_timestamp_out_of_range_is_detected_at_any_position(delta: int) -> None:
    """The client sets the header's maximum timestamp, and its base timestamp need not be the minimum."""
    log = open_log(message_timestamp_before_max_ms=1000, message_timestamp_after_max_ms=1000)
    for place in (0, 1, 9, 50, 64, 99):
        times = [NOW_MS] * 100
        times[place] += delta
        data = bytearray(build_batch([RecordData(b"key", b"v", (), time) for time in times]))
        data[layout.MAX_TIMESTAMP_AT : layout.MAX_TIMESTAMP_AT + 8] = NOW_MS.to_bytes(8, "big")
        data[layout.CRC_AT : layout.CRC_AT + 4] = crc32c(data[layout.ATTRIBUTES_AT :]).to_bytes(4, "big")
        with pytest.raises(RecordsRejected) as caught:
            log.append_as_leader(bytes(data), leader_epoch=0, now_ms=NOW_MS)
        assert caught.value.code.name == "INVALID_TIMESTAMP"
        ((index, text),) = caught.value.record_errors
        assert index == place and f"Timestamp {NOW_MS + delta} of message" in text
    assert log.log_end_offset == 0


def append_as_leader(log: PartitionLog, data: bytes, leader_epoch: int = 0) -> AppendInfo | None:
    """Append to the log as its leader if that is possible without a scan."""
    log.now_ms = NOW_MS
    return lead_one(
        log.segments, log.producers, log.config, memoryview(data), leader_epoch, log.latest_epoch, now_ms=NOW_MS
    )


def records(count: int = 20, *, key: bytes | None = b"k", step: int = 1) -> list[RecordData]:
    return [RecordData(key, b"v", (), NOW_MS + n * step) for n in range(count)]


def with_header(data: bytes, at: int, number: int, size: int) -> bytes:
    """Return the batch with another number in its header, under a valid checksum."""
    changed = bytearray(data)
    changed[at : at + size] = number.to_bytes(size, "big", signed=True)
    changed[layout.CRC_AT : layout.CRC_AT + 4] = crc32c(changed[layout.ATTRIBUTES_AT :]).to_bytes(4, "big")
    return bytes(changed)


PLAIN = build_batch(records())
NEXT_OF_PRODUCER = build_batch(records(), producer_id=7, producer_epoch=0, base_sequence=1)
NUMBERED_WITH_A_GAP = build_batch(
    [record._replace(offset=2 * n) for n, record in enumerate(records(2))],
    compression=Compression.LZ4,
    last_offset_delta=1,
)
NOT_TAKEN_AT_ONCE: dict[str, tuple[dict[str, Any], bytes]] = {
    "stamped by the broker": ({"message_timestamp_type": TimestampType.LOG_APPEND_TIME}, PLAIN),
    "to be compressed": ({"compression_type": Compression.GZIP}, PLAIN),
    "to be inflated": ({"compression_type": Compression.NONE}, build_batch(records(), compression=Compression.GZIP)),
    "too large": ({"max_message_bytes": len(PLAIN) - 1}, PLAIN),
    "too large for the segment": ({"segment_bytes": len(PLAIN) + 20}, PLAIN),
    "without keys": ({"compact": True}, build_batch(records(key=None))),
    "too early": ({"message_timestamp_before_max_ms": 5}, build_batch(records(step=-1))),
    "too late": ({"message_timestamp_after_max_ms": 5}, PLAIN),
    "numbered with a gap": ({}, NUMBERED_WITH_A_GAP),
    "at an offset": ({}, with_header(PLAIN, layout.BASE_OFFSET_AT, 1, 8)),
    "longer": ({}, PLAIN + b"\0"),
    "shorter": ({}, PLAIN[:-1]),
    "of format 1": ({}, with_header(PLAIN, layout.MAGIC_AT, 1, 1)),
    "a control batch": ({}, with_header(PLAIN, layout.ATTRIBUTES_AT, layout.CONTROL_FLAG, 2)),
    "of a codec that is none": ({}, with_header(PLAIN, layout.ATTRIBUTES_AT, 7, 2)),
    "not what its codec writes": ({}, with_header(PLAIN, layout.ATTRIBUTES_AT, Compression.LZ4, 2)),
    "in a transaction": ({}, with_header(NEXT_OF_PRODUCER, layout.ATTRIBUTES_AT, layout.TRANSACTIONAL_FLAG, 2)),
    "stamped by a client": ({}, with_header(PLAIN, layout.ATTRIBUTES_AT, layout.LOG_APPEND_TIME_FLAG, 2)),
    "with a horizon": ({}, with_header(PLAIN, layout.ATTRIBUTES_AT, layout.DELETE_HORIZON_FLAG, 2)),
    "of fewer records": ({}, with_header(PLAIN, layout.RECORD_COUNT_AT, 19, 4)),
    "of fewer offsets": ({}, with_header(PLAIN, layout.LAST_OFFSET_DELTA_AT, 18, 4)),
    "of a lower greatest time": ({}, with_header(PLAIN, layout.MAX_TIMESTAMP_AT, NOW_MS + 18, 8)),
    "of a higher greatest time": ({}, with_header(PLAIN, layout.MAX_TIMESTAMP_AT, NOW_MS + 25, 8)),
    "of an unknown producer": ({}, build_batch(records(), producer_id=8, producer_epoch=0, base_sequence=0)),
    "of a later epoch": ({}, build_batch(records(), producer_id=7, producer_epoch=1, base_sequence=1)),
    "out of order": ({}, build_batch(records(), producer_id=7, producer_epoch=0, base_sequence=2)),
    "there already": ({}, build_batch(records(1), producer_id=7, producer_epoch=0, base_sequence=0)),
    "not what its checksum says": ({}, PLAIN[:-1] + b"\1"),
}


@pytest.mark.parametrize(("config", "data"), NOT_TAKEN_AT_ONCE.values(), ids=NOT_TAKEN_AT_ONCE)
def test_other_batches_are_left_to_the_careful_path(config: dict[str, Any], data: bytes) -> None:
    log = open_log(**config)
    first = build_batch(records(1), producer_id=7, producer_epoch=0, base_sequence=0)
    log.append_as_leader(first, leader_epoch=0, now_ms=NOW_MS)
    before = state(log)
    assert append_as_leader(log, data) is None and state(log) == before
    log.config = LogConfig()
    for count, plain in enumerate((PLAIN, NEXT_OF_PRODUCER), 1):
        assert append_as_leader(log, plain, leader_epoch=1) is None, "the epoch begins there"
        taken = append_as_leader(log, plain)
        assert taken is not None and taken.last_offset == 20 * count
