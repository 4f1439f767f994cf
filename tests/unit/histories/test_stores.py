"""End of a log on a disk, as read by histories."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kmirror.histories.stores import end_offset, partition_stores, whole_batches
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import MemoryDisk
from kmirror.log.memory_store import MemoryStore
from kmirror.log.state_files import encode_partition_metadata
from kmirror.log.store import PARTITION_METADATA
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData

BATCHES = [build_batch([RecordData(value=b"x")], base_offset=offset) for offset in range(3)]


def test_a_log_ends_after_its_last_batch_or_its_last_flushed_one() -> None:
    store = MemoryStore()
    assert end_offset(store, flushed=False) == 0
    store.create(0)
    store.append(0, b"".join(BATCHES[:2]))
    store.flush(0)
    store.append(0, BATCHES[2])
    assert (end_offset(store, flushed=True), end_offset(store, flushed=False)) == (2, 3)


def test_a_log_ends_before_a_batch_torn_by_a_power_cut() -> None:
    store = MemoryStore.from_files({0: b"".join(BATCHES)[:-5]}, {})
    assert (end_offset(store, flushed=True), end_offset(store, flushed=False)) == (2, 2)
    assert [batch.base_offset for batch in whole_batches(store)] == [0, 1]


OURS, OTHER = Uuid(bytes(15) + b"\x01"), Uuid(bytes(15) + b"\x02")


@pytest.mark.parametrize(("written", "expected"), [(OURS, 1), (OTHER, 0), (None, 1)])
def test_leftovers_of_a_deleted_topic_are_not_the_log_of_the_next(written: Uuid | None, expected: int) -> None:
    """A power cut may have left the file empty."""
    tp, disk = TopicPartition("t", 0), MemoryDisk()
    disk.open(tp).write_file(PARTITION_METADATA, b"" if written is None else encode_partition_metadata(written))
    cluster: Any = SimpleNamespace(log_dirs={2: [disk]})
    assert len(partition_stores(cluster, 2, tp, OURS)) == expected
