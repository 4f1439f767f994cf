"""Logs of message formats before batches are kept unchanged (D21), alone and mixed with batches."""

from __future__ import annotations

import pytest

from kmirror.errors import CorruptBatch
from kmirror.log.partition_log import CLEAN_SHUTDOWN, OffsetsOutOfOrder, PartitionLog, UnexpectedAppendOffset
from kmirror.log.state_files import file_name
from kmirror.records.batch import UnsupportedMagic
from kmirror.records.codecs import Compression
from kmirror.records.legacy import LegacyBatch, build_message, build_message_set
from kmirror.records.record import RecordData
from kmirror.spec.wire_values import OffsetSpec
from tests.builders import NOW_MS, batch
from tests.unit.log.partitions import follow, open_log

pytestmark = pytest.mark.decision("D21")
WRAPPED = [Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4]


def messages(
    count: int, *, offset: int, magic: int, codec: Compression = Compression.NONE, time: int = NOW_MS, size: int = 10
) -> bytes:
    records = [RecordData(b"k%d" % (i % 3), b"v" * size, (), time + i) for i in range(count)]
    return build_message_set(records, magic=magic, base_offset=offset, compression=codec)


def stored(log: PartitionLog) -> bytes:
    return b"".join(bytes(one.view) for one in log.any_batches(0))


def last_offsets(log: PartitionLog) -> list[int]:
    return [one.last_offset for one in log.any_batches(0)]


@pytest.mark.parametrize("codec", WRAPPED)
@pytest.mark.parametrize("magic", [0, 1])
def test_every_byte_is_kept(magic: int, codec: Compression) -> None:
    data = messages(3, offset=5, magic=magic, codec=codec) + messages(2, offset=20, magic=magic, codec=codec)
    log = open_log()
    info = log.append_as_mirror(data, source_epoch=0)
    assert stored(log) == data
    assert (info.last_offset, log.log_end_offset, info.bytes) == (21, 22, len(data))
    assert info.max_timestamp == (NOW_MS + 2 if magic else -1)
    assert last_offsets(log) == ([7, 21] if codec else [5, 6, 7, 20, 21])
    assert log.epochs.entries == []


@pytest.mark.parametrize("interval", [0, 4096])
def test_all_formats_in_one_log(interval: int) -> None:
    log = open_log(index_interval_bytes=interval, segment_bytes=400)
    parts = [
        messages(4, offset=0, magic=0),
        messages(4, offset=4, magic=1, codec=Compression.GZIP),
        batch(4, offset=8, epoch=3),
        messages(2, offset=12, magic=1),
        batch(2, offset=14, epoch=4),
    ]
    for part in parts[:3]:
        follow(log, part)
    assert log.epochs.entries == [(3, 8)]
    follow(log, parts[3] + parts[4])
    assert log.epochs.entries == [(4, 14)], "Kafka forgets the epochs when messages without one follow"
    assert stored(log) == b"".join(parts)
    for offset in range(16):
        found = next(log.any_batches(offset))
        assert found.last_offset >= offset > found.last_offset - 4
        assert log.read(offset, max_bytes=1, end_offset=16).end_offset == found.last_offset + 1
    for again in (open_log(log.store), closed_and_opened(log)):
        assert (stored(again), again.log_end_offset) == (stored(log), 16)
    with pytest.raises(UnsupportedMagic):
        next(log.batches())


def closed_and_opened(log: PartitionLog) -> PartitionLog:
    log.close()
    return open_log(log.store, recovery_point=CLEAN_SHUTDOWN)


@pytest.mark.parametrize("end", range(1, 12))
@pytest.mark.decision("D47")
def test_a_truncation_removes_complete_wrappers(end: int) -> None:
    log = open_log(index_interval_bytes=0)
    follow(log, messages(4, offset=0, magic=1, codec=Compression.SNAPPY), messages(4, offset=4, magic=0))
    follow(log, batch(4, offset=8))
    log.truncate_to(end)
    assert log.log_end_offset == (end if 4 <= end < 8 else end - end % 4)
    assert last_offsets(log) == [last for last in (3, 4, 5, 6, 7, 11) if last < end]


@pytest.mark.decision("D47")
def test_a_truncation_inside_an_unreadable_wrapper_ends_after_the_previous_batch() -> None:
    log = open_log()
    wrapper = RecordData(None, b"no gzip", (), NOW_MS)
    follow(log, batch(4), build_message(wrapper, magic=1, offset=9, attributes=Compression.GZIP))
    log.truncate_to(8)
    assert (log.log_end_offset, last_offsets(log)) == (4, [3])


@pytest.mark.parametrize("size", range(1, 45))
def test_an_incomplete_message_at_the_end_is_ignored(size: int) -> None:
    whole, torn = messages(2, offset=0, magic=1), messages(1, offset=2, magic=1)
    log = open_log()
    follow(log, whole, torn[: min(size, len(torn) - 1)])
    assert stored(log) == whole


def test_index_rows_do_not_depend_on_how_messages_arrive() -> None:
    together, apart = open_log(index_interval_bytes=100), open_log(index_interval_bytes=100)
    parts = [messages(1, offset=offset, magic=1) for offset in range(12)]
    follow(together, *parts)
    for part in parts:
        follow(apart, part)
    rows = [(list(log.segments[0].offsets.offsets), list(log.segments[0].times.offsets)) for log in (together, apart)]
    assert rows[0] == rows[1]
    assert len(rows[0][0]) > 2


@pytest.mark.parametrize("magic", [0, 1])
def test_a_flipped_bit_is_seen_and_nothing_is_appended(magic: int) -> None:
    good, bad = messages(1, offset=0, magic=magic), messages(1, offset=1, magic=magic)
    for at in range(12, len(bad)):
        log = open_log()
        with pytest.raises(CorruptBatch) as caught:
            follow(log, good, bad[:at] + bytes([bad[at] ^ 0x10]) + bad[at + 1 :])
        assert caught.value.position == len(good)
        assert log.log_end_offset == 0


def test_offsets_ascend_over_all_formats() -> None:
    for second in (messages(1, offset=1, magic=1), batch(1, offset=1)):
        with pytest.raises(OffsetsOutOfOrder):
            follow(open_log(), messages(2, offset=0, magic=0), second)
    log = open_log()
    follow(log, batch(5))
    with pytest.raises(UnexpectedAppendOffset):
        follow(log, messages(3, offset=2, magic=1))
    with pytest.raises(UnexpectedAppendOffset):
        follow(log, messages(1, offset=4, magic=1, codec=Compression.GZIP))


def test_damage_is_named_with_its_file_and_removed_on_repair() -> None:
    log = open_log()
    follow(log, messages(3, offset=0, magic=1))
    size = log.size_in_bytes
    log.store.append(0, messages(1, offset=3, magic=1)[:-4])
    with pytest.raises(CorruptBatch, match=file_name(0, ".log")) as caught:
        open_log(log.store)
    assert caught.value.position == size
    again = open_log(log.store, repair=True)
    assert (again.log_end_offset, again.size_in_bytes) == (3, size)


def test_epochs_ended_by_old_messages_are_not_restored() -> None:
    """A topic may have used an old format for a while: the batches before have epochs, the cache has none."""
    log = open_log()
    follow(log, batch(2, offset=0, epoch=3), messages(2, offset=2, magic=1))
    assert log.epochs.entries == open_log(log.store).epochs.entries == []
    follow(log, batch(2, offset=4, epoch=5))
    assert log.epochs.entries == open_log(log.store).epochs.entries == [(5, 4)]


def test_a_log_start_among_old_messages_has_no_epoch() -> None:
    log = open_log()
    follow(log, messages(3, offset=0, magic=1), batch(1, offset=3, epoch=4))
    assert log.offset_for_timestamp(OffsetSpec.EARLIEST) == (-1, 0, -1)
    log.update_high_watermark(4)
    log.advance_log_start(3)
    assert log.offset_for_timestamp(OffsetSpec.EARLIEST) == (-1, 3, 4)


def test_timestamps_are_found_in_format_1() -> None:
    log = open_log(index_interval_bytes=0)
    follow(log, messages(3, offset=0, magic=0))
    follow(log, messages(3, offset=3, magic=1, codec=Compression.GZIP, time=NOW_MS + 100))
    follow(log, messages(3, offset=6, magic=1, time=NOW_MS + 200))
    assert log.offset_for_timestamp(NOW_MS + 101) == (NOW_MS + 101, 4, -1)
    assert log.offset_for_timestamp(NOW_MS + 150) == (NOW_MS + 200, 6, -1)
    assert log.offset_for_timestamp(-3) == (NOW_MS + 202, 8, -1)


def test_format_0_has_no_greatest_timestamp() -> None:
    log = open_log()
    follow(log, messages(3, offset=0, magic=0))
    assert log.offset_for_timestamp(-3) is None


def test_segments_roll_below_a_wrapper() -> None:
    log = open_log(segment_bytes=200)
    for base in range(0, 12, 4):
        follow(log, messages(4, offset=base, magic=1, codec=Compression.GZIP, size=150))
    assert log.segment_base_offsets[0] == 0 and len(log.segment_base_offsets) > 1
    assert set(log.segment_base_offsets) <= {0, 4, 8}, "a segment begins at or below its first record"


def test_the_cleaner_converts_the_records_it_keeps() -> None:
    log = open_log(compact=True, delete=False, delete_retention_ms=1_000)
    gone = build_message_set([RecordData(b"k1", None, (), NOW_MS)], magic=1, base_offset=6)
    follow(log, messages(3, offset=0, magic=0), messages(3, offset=3, magic=1, codec=Compression.GZIP), gone)
    log.roll(7)
    log.update_high_watermark(7)
    assert log.compact(NOW_MS) is not None
    assert not [one for one in log.any_batches(0) if isinstance(one, LegacyBatch)]
    records = [(record.offset, record.key, record.value) for one in log.batches(0) for record in one.records()]
    assert records == [(3, b"k0", b"v" * 10), (5, b"k2", b"v" * 10), (6, b"k1", None)]
    first, last = log.batches(0)
    assert (first.base_offset, first.last_offset, first.compression) == (3, 5, Compression.GZIP)
    assert (first.partition_leader_epoch, last.delete_horizon_ms) == (-1, NOW_MS + 1_000)
