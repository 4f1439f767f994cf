"""Where a log on a disk ends, as histories see it."""

from __future__ import annotations

from kmirror.histories.stores import end_of, whole_batches
from kmirror.log.memory_store import MemoryStore
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData

BATCHES = [build_batch([RecordData(value=b"x")], base_offset=offset) for offset in range(3)]


def test_a_log_ends_behind_its_last_batch_or_the_last_one_that_is_flushed() -> None:
    store = MemoryStore()
    assert end_of(store, flushed=False) == 0
    store.create(0)
    store.append(0, b"".join(BATCHES[:2]))
    store.flush(0)
    store.append(0, BATCHES[2])
    assert (end_of(store, flushed=True), end_of(store, flushed=False)) == (2, 3)


def test_a_log_ends_before_a_batch_that_a_power_cut_has_torn() -> None:
    store = MemoryStore.from_files({0: b"".join(BATCHES)[:-5]}, {})
    assert (end_of(store, flushed=True), end_of(store, flushed=False)) == (2, 2)
    assert [batch.base_offset for batch in whole_batches(store)] == [0, 1]
