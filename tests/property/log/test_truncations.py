"""A log that was truncated anywhere ends at the same offset for its user, after a reopening, and in `verify`."""

from __future__ import annotations

import tempfile
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import CLEAN_SHUTDOWN, PartitionLog
from kmirror.log.store import CLEANER_OFFSET, PartitionStore
from kmirror.logdir.store import LogFolder
from kmirror.records import Compression
from kmirror.records.layout import MAGIC_AT, MAGIC_V2
from kmirror.records.legacy import build_message_set, iter_any_batches
from kmirror.records.record import RecordData
from kmirror.testing.strategies import log_batches
from tests.builders import NOW_MS, batch
from tests.folder_checks import assert_verified
from tests.unit.log.partitions import TP, lead, open_log

CONFIGS = st.fixed_dictionaries(
    {"segment_bytes": st.sampled_from([200, 400, 1 << 20]), "index_interval_bytes": st.sampled_from([0, 150, 4096])}
)


class Written(NamedTuple):
    """One batch of a log: its offsets, inclusive, and its bytes."""

    first: int
    last: int
    data: bytes


def written(drawn: list[bytes]) -> list[Written]:
    parts = [one for data in drawn for one in iter_any_batches(data)]
    return [Written(one.base_offset, one.last_offset, bytes(one.view)) for one in parts]


def filled(store: PartitionStore, batches: list[Written], config: dict[str, int]) -> PartitionLog:
    log = open_log(store, **config)
    store.write_file(CLEANER_OFFSET, b"0")  # It has gaps like those of the cleaner.
    for one in batches:
        log.append_as_follower(one.data, max_epoch=1_000)
    return log


def state_of(log: PartitionLog, batches: list[Written]) -> tuple[object, ...]:
    content = b"".join(bytes(segment.view()) for segment in log.segments)
    known = (content, log.log_start_offset, log.log_end_offset, log.segment_base_offsets)
    if log.log_start_offset:
        return known  # A log that is read again may have more state from below its start.
    producers = {
        pid: (one.producer_epoch, one.last_sequence, one.txn_first_offset) for pid, one in log.producers.entries.items()
    }
    if any(one.data[MAGIC_AT] < MAGIC_V2 for one in batches):
        return *known, producers  # An old message clears the known epochs; if it was truncated, it is forgotten.
    return *known, producers, log.last_stable_offset, log.epochs.entries


@given(log_batches(legacy=True, gaps=True), CONFIGS, st.data())
def test_one_story_of_where_it_ends(drawn: list[bytes], config: dict[str, int], data: st.DataObject) -> None:
    batches = written(drawn)
    end = batches[-1].last + 1
    start = data.draw(st.sampled_from([0, 0, 0, data.draw(st.integers(0, end), label="start")]))
    cuts = data.draw(st.lists(st.integers(0, end + 1), min_size=1, max_size=2), label="cuts")
    with tempfile.TemporaryDirectory() as path, LogFolder(path) as folder:
        in_memory, on_disk = (filled(store, batches, config) for store in (MemoryStore(), folder.open(TP)))
        for log in (in_memory, on_disk):
            log.update_high_watermark(end)
            log.advance_log_start(start)
            for cut in cuts:
                bound = min([log.log_end_offset, cut, *(one.first for one in batches if one.first <= cut <= one.last)])
                expected = max(bound, min(log.log_start_offset, cut))
                assert log.end_after_cut(cut) == expected
                log.truncate_to(cut)
                assert log.log_end_offset == expected
                kept = [one for one in batches if one.last < expected]
                assert state_of(log, batches)[0] in (b"".join(one.data for one in kept), b""), (
                    "whole batches, or nothing readable"
                )
            log.update_high_watermark(log.log_end_offset)
        in_memory.write_checkpoints()
        read_again = open_log(in_memory.store.fork(), **config)
        assert state_of(read_again, batches) == state_of(in_memory, batches) == state_of(on_disk, batches)
        on_disk.close()
        # An old message clears the known epochs. If one was truncated, `verify` cannot know why there are none.
        was_old_cut = any(one.data[MAGIC_AT] < MAGIC_V2 and one.last >= expected for one in batches)
        if on_disk.epochs.entries or not was_old_cut:
            assert_verified(folder.path, "--deep")
        on_disk = open_log(folder.open(TP), recovery_point=CLEAN_SHUTDOWN, **config)
        assert state_of(on_disk, batches) == state_of(in_memory, batches)
        for log in (in_memory, read_again, on_disk):
            assert lead(log, batch(2), epoch=500).first_offset == expected
            log.append_as_follower(batch(2, offset=expected + 2, epoch=501), max_epoch=501)
            log.update_high_watermark(log.log_end_offset)
        assert state_of(on_disk, batches) == state_of(in_memory, batches) == state_of(read_again, batches)
        on_disk.close()
        assert_verified(folder.path, "--deep")


@pytest.mark.parametrize("cut", range(12))
@pytest.mark.parametrize("magic", [0, 1])
def test_a_truncation_inside_a_wrapper_removes_the_whole_wrapper(cut: int, magic: int) -> None:
    batches = [Written(first, first + 3, wrapper(first, magic)) for first in (0, 4, 8)]
    log = filled(MemoryStore(), batches, {"index_interval_bytes": 0})
    log.truncate_to(cut)
    assert log.log_end_offset == cut - cut % 4
    log.append_as_follower(wrapper(cut - cut % 4, magic), max_epoch=0)
    assert [one.last_offset for one in log.any_batches()] == list(range(3, cut - cut % 4 + 4, 4))


def wrapper(first: int, magic: int) -> bytes:
    records = [RecordData(b"k", b"v", (), NOW_MS)] * 4
    return build_message_set(records, magic=magic, base_offset=first, compression=Compression.GZIP)
