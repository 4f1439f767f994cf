"""Followers and mirrors keep the received bytes, and refuse batches that cannot follow."""

from __future__ import annotations

import pytest

from kmirror.errors import CorruptBatch
from kmirror.log.partition_log import LogAppendError, OffsetsOutOfOrder, PartitionLog, UnexpectedAppendOffset
from kmirror.records.batch import Batch
from kmirror.records.codecs import Compression
from kmirror.records.crc32c import crc32c
from kmirror.records.legacy import build_message_set
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from tests.builders import NOW_MS, batch, marker, reset, run
from tests.unit.log.partitions import content, follow, lead, open_log, spans


def unchanged_after(log: PartitionLog, error: type[Exception], data: bytes, **kwargs: int) -> pytest.ExceptionInfo:  # type: ignore[type-arg]
    before = repr(log), content(log), log.epochs.entries
    with pytest.raises(error) as caught:
        log.append_as_follower(data, max_epoch=kwargs.get("max_epoch", 99))
    assert (repr(log), content(log), log.epochs.entries) == before
    return caught


@pytest.mark.decision("D12")
@pytest.mark.parametrize("codec", list(Compression))
def test_every_byte_is_kept(codec: Compression) -> None:
    data = batch(3, offset=7, epoch=2, compression=codec) + batch(1, offset=19, epoch=4)
    for log in (open_log(compression_type=Compression.GZIP), open_log(max_message_bytes=10)):
        info = log.append_as_mirror(data, source_epoch=4)
        assert content(log) == data
        assert (info.first_offset, info.last_offset, info.batches, info.bytes) == (7, 19, 2, len(data))
        assert (log.log_start_offset, log.log_end_offset) == (0, 20)
        assert log.epochs.entries == [(2, 7), (4, 19)]


@pytest.mark.decision("D12")
@pytest.mark.parametrize("size", range(1, 90))
def test_an_incomplete_batch_at_the_end_is_ignored(size: int) -> None:
    first, second = batch(1, epoch=1), batch(1, offset=1, epoch=2)
    log = open_log()
    info = follow(log, first, second[:size] if size < len(second) else b"")
    assert content(log) == first
    assert (info.batches, info.refused_epoch) == (1, -1)
    assert log.epochs.entries == [(1, 0)]


def test_nothing_whole_appends_nothing() -> None:
    log = open_log()
    for data in (b"", batch(1)[:30], batch(1)[:-1]):
        assert follow(log, data).batches == 0
    assert log.log_end_offset == 0


@pytest.mark.decision("D12")
@pytest.mark.parametrize("count", [1, 2])
def test_a_batch_above_the_epoch_of_the_fetch_is_refused_even_if_it_is_the_logs_own(count: int) -> None:
    log = open_log()
    follow(log, batch(1, epoch=5))
    info = follow(log, *run(count, start=1, epoch=5), max_epoch=4)
    assert (info.batches, info.refused_epoch, log.log_end_offset) == (0, 5, 1)


@pytest.mark.decision("D12")
def test_batches_of_a_later_epoch_are_ignored_and_those_before_are_kept() -> None:
    batches = [batch(1, offset=0, epoch=1), batch(1, offset=1, epoch=3), batch(1, offset=2, epoch=2)]
    log = open_log()
    info = follow(log, *batches, max_epoch=2)
    assert (info.batches, info.refused_epoch, log.log_end_offset) == (1, 3, 1)
    info = follow(log, *batches[1:], max_epoch=2)
    assert (info.batches, info.refused_epoch) == (0, 3)
    assert log.epochs.entries == [(1, 0)]


def test_a_fault_after_the_refused_batch_is_not_reported() -> None:
    log = open_log()
    info = follow(
        log,
        batch(1),
        batch(1, offset=1, epoch=9),
        b"garbage that is long enough to be a header" * 3,
        max_epoch=5,
    )
    assert (info.batches, info.refused_epoch) == (1, 9)


def test_batches_without_an_epoch_are_kept_and_do_not_change_the_cache() -> None:
    log = open_log()
    follow(log, batch(1, epoch=-1), batch(1, offset=1, epoch=4))
    assert log.epochs.entries == [(4, 1)]


def flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :]


@pytest.mark.parametrize("at", range(21, 90))
def test_a_flipped_bit_under_the_checksum_is_seen_and_nothing_is_appended(at: int) -> None:
    good, bad = batch(1), batch(1, offset=1)
    caught = unchanged_after(open_log(), CorruptBatch, good + flip(bad, at))
    assert (caught.value.position, caught.value.offset) == (len(good), 1)


def test_bytes_that_are_no_batch_are_refused_with_their_place() -> None:
    good = batch(1)
    log = open_log()
    assert unchanged_after(log, CorruptBatch, good + b"\0" * 100).value.position == len(good)
    assert unchanged_after(log, CorruptBatch, good + b"\0" * 12).value.position == len(good)
    unchanged_after(log, CorruptBatch, good[:16] + b"\x01" + good[17:])
    unchanged_after(log, CorruptBatch, good[:16] + b"\x03" + good[17:])
    unchanged_after(log, CorruptBatch, good[:8] + b"\0\0\0\x20" + good[12:])


def test_offsets_must_ascend_within_an_append() -> None:
    for second in (0, 1, 2):
        unchanged_after(open_log(), OffsetsOutOfOrder, batch(3) + batch(1, offset=second))


@pytest.mark.parametrize("held", [0, 1])
def test_a_batch_that_ends_below_its_beginning_is_refused(held: int) -> None:
    body = bytearray(batch(1, offset=held))
    body[23:27] = b"\xff\xff\xff\xfe"
    body[17:21] = crc32c(body[21:]).to_bytes(4, "big")
    log = open_log()
    follow(log, *run(held))
    unchanged_after(log, OffsetsOutOfOrder, bytes(body))
    unchanged_after(log, OffsetsOutOfOrder, bytes(body) + batch(1, offset=held + 1))


def test_an_append_begins_at_or_above_the_log_end() -> None:
    log = open_log()
    follow(log, batch(5))
    caught = unchanged_after(log, UnexpectedAppendOffset, batch(3, offset=4) + batch(1, offset=8))
    assert (caught.value.first_offset, caught.value.last_offset) == (4, 8)
    follow(log, batch(1, offset=9))
    assert spans(log) == [(0, 4), (9, 9)]


def test_the_first_batch_of_an_empty_log_may_straddle_its_start() -> None:
    log = open_log()
    log.truncate_fully_and_start_at(7)
    follow(log, batch(10, offset=0), batch(1, offset=10))
    assert (log.log_start_offset, log.log_end_offset) == (7, 11)
    assert spans(log) == [(0, 9), (10, 10)]
    assert log.high_watermark == 7
    assert log.read(7, max_bytes=1 << 20, end_offset=11).start_offset == 0


def test_a_log_that_holds_something_admits_no_straddling_batch() -> None:
    log = open_log()
    log.truncate_fully_and_start_at(7)
    unchanged_after(log, UnexpectedAppendOffset, batch(5, offset=0))
    follow(log, batch(1, offset=7))
    unchanged_after(log, UnexpectedAppendOffset, batch(10, offset=0))


def test_segments_roll_by_size() -> None:
    one = batch(1)
    log = open_log(segment_bytes=2 * len(one))
    for number in range(5):
        follow(log, batch(1, offset=number))
    assert log.segment_base_offsets == [0, 2, 4]


def test_a_fetch_larger_than_a_segment_is_parted() -> None:
    one = batch(2)
    log = open_log(segment_bytes=3 * len(one))
    data = b"".join(run(7, records=2)) + batch(1, offset=14, epoch=9)[:50]
    info = follow(log, data)
    assert log.segment_base_offsets == [0, 6, 12]
    assert (info.batches, info.bytes, info.first_offset, info.last_offset) == (7, 7 * len(one), 0, 13)
    assert content(log) == b"".join(run(7, records=2))


def test_an_append_in_parts_returns_the_same_as_a_whole_one() -> None:
    data = b"".join((batch(1, timestamp=NOW_MS + 9), reset(offset=1), *run(4, start=2), marker(commit=True, offset=6)))
    whole, parted = open_log(), open_log(segment_bytes=len(batch(1)) + 30)
    assert follow(whole, data) == follow(parted, data)
    assert len(parted.segment_base_offsets) > 3


def test_a_time_row_names_the_greatest_timestamp_of_an_earlier_append() -> None:
    log = open_log(index_interval_bytes=100)
    follow(log, batch(1, timestamp=NOW_MS + 9))
    follow(log, *run(3, start=1, timestamp=-1))
    assert log.segments[-1].times.last_entry() == (NOW_MS + 9, 0)


def test_a_batch_larger_than_a_segment_gets_one_of_its_own() -> None:
    log = open_log(segment_bytes=100)
    follow(log, batch(1), batch(1, offset=1, size=500), batch(1, offset=2))
    assert log.segment_base_offsets == [0, 1, 2]


def test_segments_roll_by_the_records_own_time() -> None:
    log = open_log(segment_ms=1_000)
    follow(log, batch(1, timestamp=NOW_MS))
    follow(log, batch(1, offset=1, timestamp=NOW_MS + 1_000))
    assert log.segment_base_offsets == [0]
    follow(log, batch(1, offset=2, timestamp=NOW_MS + 1_001))
    assert log.segment_base_offsets == [0, 2]


def test_segments_without_timestamps_roll_by_the_clock() -> None:
    log = open_log(segment_ms=1_000)
    log.append_as_follower(batch(1, timestamp=-1), max_epoch=0, now_ms=NOW_MS + 1_000)
    log.append_as_follower(batch(1, offset=1, timestamp=-1), max_epoch=0, now_ms=NOW_MS + 1_000)
    assert log.segment_base_offsets == [0]
    log.append_as_follower(batch(1, offset=2, timestamp=-1), max_epoch=0, now_ms=NOW_MS + 1_001)
    assert log.segment_base_offsets == [0, 2]


def test_a_segment_holds_offsets_that_fit_an_index_row() -> None:
    log = open_log()
    follow(log, batch(1))
    follow(log, batch(1, offset=2**31))
    assert log.segment_base_offsets == [0, 2**31]
    far = open_log()
    follow(far, batch(1, offset=2**40))
    assert far.segment_base_offsets == [0, 2**40]
    assert far.read(0, max_bytes=1000, end_offset=2**41).start_offset == 2**40


def test_a_full_index_rolls_the_segment() -> None:
    log = open_log(index_interval_bytes=0, segment_index_bytes=48)
    for number in range(12):
        follow(log, batch(1, offset=number, timestamp=NOW_MS + number))
    assert log.segment_base_offsets == [0, 4, 8]


def test_an_index_without_room_for_a_row_gives_each_batch_its_segment() -> None:
    """segment.index.bytes may be 4, which is less than a row."""
    log = open_log(index_interval_bytes=0, segment_index_bytes=4)
    for number in range(3):
        follow(log, batch(1, offset=number, timestamp=NOW_MS + number))
    assert log.segment_base_offsets == [0, 1, 2]
    assert log.read(1, max_bytes=1000, end_offset=3).start_offset == 1


def test_leader_and_follower_have_equal_logs() -> None:
    leader, follower = open_log(segment_bytes=400), open_log(segment_bytes=400)
    for number in range(12):
        lead(leader, batch(2), epoch=number // 3)
        read = leader.read(follower.log_end_offset, max_bytes=1000, end_offset=leader.log_end_offset)
        follow(follower, read.records, max_epoch=number // 3)  # type: ignore[arg-type]
    assert content(leader) == content(follower)
    assert leader.epochs.entries == follower.epochs.entries
    assert leader.segment_base_offsets == follower.segment_base_offsets


TOP = 2**63 - 1  # The maximum offset, and so the maximum end of a log.


@pytest.mark.decision("D12")
@pytest.mark.parametrize("before", [0, 1, 3])
def test_the_end_of_a_log_is_always_an_offset(before: int) -> None:
    """Kafka's offsets overflow there, and it refuses the batch as out of order."""
    log = open_log()
    follow(log, batch(1, offset=TOP - 40))
    unchanged_after(log, OffsetsOutOfOrder, batch(2, offset=TOP - 1, epoch=log.latest_epoch))  # Alone and plain.
    start = list(run(before, start=TOP - 20, epoch=1))
    for beyond in (batch(2, offset=TOP - 1, epoch=1), batch(1, offset=TOP, epoch=1), batch(9, offset=TOP, epoch=2)):
        caught = unchanged_after(log, OffsetsOutOfOrder, b"".join([*start, beyond, b"more"]))
        assert (caught.value.position, caught.value.offset) == (sum(map(len, start)), Batch(beyond).base_offset)
        assert "the largest offset of a log is" in str(caught.value)
    follow(log, *start, batch(1, offset=TOP - 2, epoch=1))
    with pytest.raises(LogAppendError, match="too few offsets are left"):
        lead(log, batch(2), epoch=1)
    lead(log, batch(1), epoch=1)
    assert log.log_end_offset == TOP
    with pytest.raises(LogAppendError) as refused:
        lead(log, batch(1), epoch=2)
    assert refused.value.code is ErrorCode.UNKNOWN_SERVER_ERROR
    assert log.log_end_offset == TOP


@pytest.mark.decision("D21")
@pytest.mark.parametrize("compression", [Compression.NONE, Compression.GZIP])
def test_messages_too_end_below_the_greatest_offset(compression: Compression) -> None:
    def message_of(offset: int) -> bytes:
        count = 1 if compression is Compression.NONE else 2
        records = [RecordData(None, b"v", (), 1)] * count
        return build_message_set(records, magic=1, base_offset=offset - count + 1, compression=compression)

    log = open_log()
    follow(log, message_of(TOP - 9))
    with pytest.raises(OffsetsOutOfOrder, match="the largest offset of a log is"):
        follow(log, message_of(TOP - 5), message_of(TOP))
    assert log.log_end_offset == TOP - 8
    follow(log, message_of(TOP - 1))
    assert log.log_end_offset == TOP
