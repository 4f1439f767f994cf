"""A leader validates the batches of clients, and changes as few bytes as possible."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.log.config import DAY_MS
from kmirror.log.errors import RecordsRejected
from kmirror.log.partition_log import AppendOrigin, LogAppendError
from kmirror.records.batch import Batch
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.crc32c import crc32c
from kmirror.records.layout import TimestampType
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from tests.builders import NOW_MS, batch, idempotent, marker
from tests.unit.log.partitions import content, lead, open_log, spans


def refusal(data: bytes, **config: Any) -> ErrorCode:
    """Return the error of an append to a new log; as in Kafka, the epoch may have been entered nevertheless."""
    log = open_log(**config)
    with pytest.raises(LogAppendError) as caught:
        lead(log, data)
    assert (log.log_end_offset, log.size_in_bytes) == (0, 0)
    return caught.value.code


def with_bytes(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def with_checksum(data: bytes) -> bytes:
    """Return the data with the correct checksum."""
    return with_bytes(data, 17, crc32c(data[21:]).to_bytes(4, "big"))


def test_offsets_and_epoch_are_assigned_and_nothing_else_changes() -> None:
    log = open_log()
    data = batch(3)
    lead(log, batch(2), epoch=4)
    info = lead(log, data, epoch=5)
    assert (info.first_offset, info.last_offset, info.batches, info.bytes) == (2, 4, 1, len(data))
    kept = content(log)[-len(data) :]
    assert (kept[8:12], kept[16:]) == (data[8:12], data[16:])
    stored = Batch(kept)
    assert (stored.base_offset, stored.partition_leader_epoch) == (2, 5)
    assert log.epochs.entries == [(4, 0), (5, 2)]


def test_the_clients_buffer_is_not_changed() -> None:
    data = bytearray(batch(1))
    before = bytes(data)
    log = open_log()
    lead(log, batch(1))
    lead(log, data)  # type: ignore[arg-type]
    assert data == before


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", ErrorCode.INVALID_RECORD),
        (batch(1)[:40], ErrorCode.INVALID_RECORD),
        (batch(1)[:-1], ErrorCode.INVALID_RECORD),
        (batch(1) + batch(1), ErrorCode.INVALID_RECORD),
        (batch(1, offset=1), ErrorCode.INVALID_RECORD),
        (marker(commit=True), ErrorCode.INVALID_RECORD),
        (idempotent(-1), ErrorCode.INVALID_RECORD),
        (with_bytes(batch(1), 16, b"\x01"), ErrorCode.INVALID_RECORD),
        (with_bytes(batch(1), 16, b"\x03"), ErrorCode.CORRUPT_MESSAGE),
        (with_bytes(batch(1), 8, b"\x00\x00\x00\x05"), ErrorCode.CORRUPT_MESSAGE),
        (with_bytes(batch(1), 70, b"\xff"), ErrorCode.CORRUPT_MESSAGE),
        (
            with_checksum(with_bytes(batch(1), 23, b"\x00\x00\x00\x01")),
            ErrorCode.INVALID_RECORD,
        ),  # Two offsets, one record.
        (with_checksum(with_bytes(batch(1), 57, b"\x00\x00\x00\x00")), ErrorCode.INVALID_RECORD),
        (with_checksum(with_bytes(batch(1), 23, b"\xff\xff\xff\xff")), ErrorCode.INVALID_RECORD),
        (with_bytes(batch(1), 57, b"\x00\x00\x00\x00"), ErrorCode.CORRUPT_MESSAGE),  # The checksum is checked first.
    ],
)
def test_anything_but_a_single_valid_batch_is_refused(data: bytes, error: ErrorCode) -> None:
    assert refusal(data) is error


def test_sizes_are_bounded() -> None:
    data = batch(1)
    assert refusal(data, max_message_bytes=len(data) - 1) is ErrorCode.MESSAGE_TOO_LARGE
    assert refusal(data, segment_bytes=len(data) - 1) is ErrorCode.RECORD_LIST_TOO_LARGE
    lead(open_log(max_message_bytes=len(data), segment_bytes=len(data)), data)


def test_the_size_counts_as_it_is_written() -> None:
    data = batch(1, size=10_000, compression=Compression.GZIP)
    assert len(data) < 200
    assert refusal(data, compression_type=Compression.NONE, max_message_bytes=200) is ErrorCode.MESSAGE_TOO_LARGE


def test_a_compacted_topic_wants_keys() -> None:
    data = build_batch([RecordData(None, b"v", (), NOW_MS)])
    assert refusal(data, compact=True) is ErrorCode.INVALID_RECORD
    lead(open_log(), data)


@pytest.mark.parametrize(
    ("timestamp", "fits"),
    [(NOW_MS - 101, False), (NOW_MS - 100, True), (NOW_MS + 50, True), (NOW_MS + 51, False), (-1, True)],
)
def test_timestamps_are_bounded(timestamp: int, fits: bool) -> None:
    config = {"message_timestamp_before_max_ms": 100, "message_timestamp_after_max_ms": 50}
    if fits:
        lead(open_log(**config), batch(1, timestamp=timestamp))
    else:
        assert refusal(batch(1, timestamp=timestamp), **config) is ErrorCode.INVALID_TIMESTAMP


def test_a_client_may_not_stamp_append_time() -> None:
    data = batch(1, timestamp_type=TimestampType.LOG_APPEND_TIME, timestamp_ms=NOW_MS)
    assert refusal(data, message_timestamp_type=TimestampType.LOG_APPEND_TIME) is ErrorCode.INVALID_TIMESTAMP
    untimed = batch(1, timestamp_type=TimestampType.LOG_APPEND_TIME)
    assert refusal(untimed) is ErrorCode.INVALID_TIMESTAMP


def test_where_producers_stamp_an_append_time_in_range_becomes_the_batch_s_greatest_timestamp() -> None:
    log = open_log()
    lead(log, batch(1, timestamp_type=TimestampType.LOG_APPEND_TIME, timestamp_ms=NOW_MS - 5))
    stored = Batch(content(log))
    assert (stored.timestamp_type, stored.max_timestamp) == (TimestampType.CREATE_TIME, NOW_MS - 5)
    stored.verify_crc()


def test_one_record_without_a_key_does_not_hide_another_s_wrong_timestamp() -> None:
    keyless = RecordData(None, b"v", timestamp=NOW_MS)
    untimely = RecordData(b"k", b"v", timestamp=NOW_MS + DAY_MS)
    assert refusal(build_batch([keyless, untimely]), compact=True) is ErrorCode.INVALID_TIMESTAMP
    assert refusal(build_batch([untimely._replace(key=None)]), compact=True) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("codec", list(Compression))
def test_append_time_is_written_only_into_the_batch(codec: Compression) -> None:
    log = open_log(message_timestamp_type=TimestampType.LOG_APPEND_TIME)
    data = batch(3, timestamp=5, compression=codec)
    info = lead(log, data)
    assert (info.log_append_time, info.max_timestamp) == (NOW_MS, NOW_MS)
    kept = content(log)
    stored = Batch(kept)
    stored.verify_crc()
    assert [record.timestamp for record in stored.records()] == [NOW_MS] * 3
    assert kept[61:] == data[61:]
    assert kept[27:35] == data[27:35], "the base timestamp stays the producer's"


def test_a_wrong_greatest_timestamp_is_mended() -> None:
    records = [RecordData(None, b"", (), NOW_MS + delta) for delta in (0, 9, 3)]
    right = build_batch(records)
    body = with_bytes(right, 35, (NOW_MS + 1).to_bytes(8, "big"))
    wrong = with_bytes(body, 17, crc32c(body[21:]).to_bytes(4, "big"))
    log = open_log()
    assert lead(log, wrong).max_timestamp == NOW_MS + 9
    assert content(log) == right[:12] + b"\0\0\0\0" + right[16:]


def test_timestamps_below_minus_1_are_kept_and_never_the_maximum() -> None:
    log = open_log()
    data = batch(timestamp=-2)
    assert lead(log, data).max_timestamp == -1
    stored = Batch(content(log))
    stored.verify_crc()
    assert [record.timestamp for record in stored.records()] == [-2]
    assert refusal(data, compression_type=Compression.GZIP) is ErrorCode.UNKNOWN_SERVER_ERROR


@pytest.mark.parametrize("codec", list(Compression))
def test_a_codec_of_the_topic_replaces_the_producers(codec: Compression) -> None:
    log = open_log(compression_type=codec)
    data = idempotent(0, 3, compression=Compression.GZIP, txn=True)
    lead(log, data)
    stored = next(log.batches())
    assert stored.compression is codec
    assert [record.value for record in stored.records()] == [record.value for record in Batch(data).records()]
    assert (stored.producer_id, stored.base_sequence, stored.is_transactional) == (1, 0, True)
    if codec is Compression.GZIP:
        assert bytes(stored.view[61:]) == data[61:]


def test_a_compressed_batch_with_gaps_in_its_offsets_is_rewritten() -> None:
    records = [RecordData(None, b"a", (), NOW_MS, 0), RecordData(None, b"b", (), NOW_MS, 2)]
    data = build_batch(records, compression=Compression.LZ4, last_offset_delta=1)
    log = open_log()
    lead(log, data)
    stored = next(log.batches())
    assert [record.offset for record in stored.records()] == [0, 1]
    assert stored.compression is Compression.LZ4


def test_markers_stay_uncompressed_for_any_topic_config() -> None:
    log = open_log(compression_type=Compression.ZSTD)
    lead(log, idempotent(0, txn=True))
    lead(log, marker(commit=True), coordinator=True)
    assert [stored.compression for stored in log.batches()] == [Compression.ZSTD, Compression.NONE]


def test_a_leader_never_appends_as_a_replica() -> None:
    with pytest.raises(AssertionError):
        open_log().append_as_leader(batch(1), leader_epoch=0, now_ms=0, origin=AppendOrigin.REPLICATION)


def test_the_epoch_of_a_leader_that_wrote_nothing_is_replaced() -> None:
    log = open_log()
    lead(log, batch(1), epoch=1)
    log.assign_epoch_start(2)
    log.assign_epoch_start(3)
    lead(log, batch(1), epoch=3)
    assert log.epochs.entries == [(1, 0), (3, 1)]
    assert log.end_offset_for_epoch(2) == (1, 1)
    assert spans(log) == [(0, 0), (1, 1)]


def test_every_record_that_is_to_blame_is_named_and_a_timestamp_decides() -> None:
    """One error for all, and each record's own reason: a client may send the other records again (KIP-467)."""
    log = open_log(compact=True, message_timestamp_after_max_ms=1000)
    rows = [RecordData(None, b"v", (), NOW_MS), RecordData(b"k", b"v", (), NOW_MS), RecordData(None, b"v", (), NOW_MS)]
    with pytest.raises(RecordsRejected, match=r"due to 2 record errors.*batchIndex=0.*batchIndex=2") as caught:
        log.append_as_leader(build_batch(rows), leader_epoch=0, now_ms=NOW_MS)
    assert caught.value.code is ErrorCode.INVALID_RECORD
    assert [index for index, _ in caught.value.record_errors] == [0, 2]
    rows[1] = RecordData(b"k", b"v", (), NOW_MS + 1001)
    with pytest.raises(RecordsRejected, match="due to invalid timestamp") as caught:
        log.append_as_leader(build_batch(rows), leader_epoch=0, now_ms=NOW_MS)
    assert caught.value.code is ErrorCode.INVALID_TIMESTAMP
    assert [index for index, _ in caught.value.record_errors] == [0, 1, 2]
    assert log.log_end_offset == 0
