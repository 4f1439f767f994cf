"""Files of a log that are repaired after an unclean shutdown, or trusted after a clean one."""

from __future__ import annotations

import pytest

from kmirror.errors import CorruptBatch
from kmirror.log.epochs import encode_checkpoint
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import CLEAN_SHUTDOWN, OffsetsOutOfOrder, PartitionLog
from kmirror.log.producer_entry import ProducerEntry
from kmirror.log.state_files import (
    INDEX_SUFFIX,
    SNAPSHOT_SUFFIX,
    TXN_INDEX_SUFFIX,
    decode_snapshot,
    encode_snapshot,
    file_name,
)
from kmirror.log.store import LEADER_EPOCH_CHECKPOINT, LOG_START_OFFSET
from kmirror.records.build import set_base_offset_and_epoch
from tests.builders import batch, idempotent, marker
from tests.unit.log.partitions import content, follow, lead, open_log

CONFIG = {"segment_bytes": 400, "index_interval_bytes": 0}
INDEXES = ("index", ".timeindex", ".txnindex")


@pytest.fixture
def store() -> MemoryStore:
    """Several segments of two producers, one of them with transactions, closed."""
    log = open_log(**CONFIG)
    for number in range(6):
        lead(log, idempotent(number, txn=True))
        lead(log, idempotent(number, pid=2))
        lead(log, marker(commit=number % 2 == 0), coordinator=True)
    log.close()
    assert isinstance(log.store, MemoryStore)
    assert len(log.store.segments()) > 3
    return log.store


def segments_alone(store: MemoryStore) -> MemoryStore:
    return MemoryStore.from_files({base: bytes(store.view(base)) for base in store.segments()}, {})


def indexes(store: MemoryStore) -> dict[str, bytes | None]:
    return {name: store.read_file(name) for name in store.files() if name.endswith(INDEXES)}


@pytest.mark.parametrize("repair", [False, True])
def test_missing_index_files_are_rebuilt(store: MemoryStore, repair: bool) -> None:
    bare = segments_alone(store)
    open_log(bare, repair=repair, **CONFIG).close()
    assert indexes(bare) == indexes(store)


@pytest.mark.parametrize("repair", [False, True])
def test_an_index_without_a_segment_is_deleted(store: MemoryStore, repair: bool) -> None:
    """Kafka deletes a segment file by file, its log first."""
    before = indexes(store)
    for kind in INDEXES:
        store.write_file(f"{1:020d}.{kind.strip('.')}", b"x")
    assert len(indexes(store)) == len(before) + 3
    open_log(store, repair=repair, recovery_point=0 if repair else CLEAN_SHUTDOWN, **CONFIG)
    assert indexes(store) == before


def test_a_transaction_index_without_rows_is_an_empty_file(store: MemoryStore) -> None:
    base = next(base for base in store.segments() if store.read_file(file_name(base, TXN_INDEX_SUFFIX)))
    store.truncate(base, store.size(base) - 1)
    for other in (other for other in store.segments() if other < base):
        store.delete(other)
    name = file_name(base, TXN_INDEX_SUFFIX)
    while store.read_file(name):
        store.truncate(base, store.size(base) - 1)
        log = open_log(store, repair=True, **CONFIG)
        assert log.repair is not None
        log.close()
    assert (store.read_file(name), log.aborted_transactions(0, 99)) == (b"", [])


@pytest.mark.parametrize("log_start", [0, 3, 99], ids=["with records", "in a segment", "above all"])
def test_a_log_that_was_closed_without_a_snapshot_has_no_producers(store: MemoryStore, log_start: int) -> None:
    """Kafka treats it as one from before there were snapshots, and does not read the batches."""
    for name in [name for name in store.files() if name.endswith(SNAPSHOT_SUFFIX)]:
        store.delete_file(name)
    store.write_file(LOG_START_OFFSET, b"%d" % log_start)
    log = open_log(store, recovery_point=CLEAN_SHUTDOWN, **CONFIG)
    log.update_high_watermark(log.log_end_offset)
    assert (log.producers.entries, log.last_stable_offset) == ({}, log.log_end_offset)
    names = [name for name in store.files() if name.endswith(SNAPSHOT_SUFFIX)]
    offsets = {*log.segment_base_offsets[-2:], log.log_end_offset} - {0}
    assert names == [file_name(offset, SNAPSHOT_SUFFIX) for offset in sorted(offsets)]
    assert {store.read_file(name) for name in names} == {encode_snapshot([])}
    lead(log, idempotent(0, pid=5))
    log.close()
    again = open_log(store, recovery_point=CLEAN_SHUTDOWN, **CONFIG)
    assert list(again.producers.entries) == [5]


def test_the_epoch_checkpoint_of_a_new_log_is_empty_until_there_is_an_epoch() -> None:
    log = open_log()
    assert log.store.read_file(LEADER_EPOCH_CHECKPOINT) == b""
    log.close()
    assert open_log(log.store).store.read_file(LEADER_EPOCH_CHECKPOINT) == b""
    log.truncate_fully_and_start_at(5)
    assert log.store.read_file(LEADER_EPOCH_CHECKPOINT) == encode_checkpoint([])
    log.assign_epoch_start(3)
    assert log.store.read_file(LEADER_EPOCH_CHECKPOINT) == encode_checkpoint([(3, 5)])


def test_a_log_that_ends_below_its_start_has_no_epochs(store: MemoryStore) -> None:
    store.delete_file(LEADER_EPOCH_CHECKPOINT)
    store.write_file(LOG_START_OFFSET, b"99")
    assert open_log(store, **CONFIG).epochs.entries == []
    assert store.read_file(LEADER_EPOCH_CHECKPOINT) == encode_checkpoint([])


def test_after_an_unclean_end_there_is_a_snapshot_at_every_segment(store: MemoryStore) -> None:
    bare = segments_alone(store)
    log = open_log(bare, repair=True, **CONFIG)
    log.close()
    for base in [*bare.segments()[1:], log.log_end_offset]:
        name = file_name(base, SNAPSHOT_SUFFIX)
        assert bare.read_file(name) == store.read_file(name)


@pytest.mark.parametrize("number", [1, -1])
@pytest.mark.parametrize("believes", [False, True], ids=["above", "at"])
def test_snapshots_are_believed_up_to_the_recovery_point(store: MemoryStore, number: int, believes: bool) -> None:
    at = store.segments()[number] + (0 if believes else 1)
    entries = decode_snapshot(store.read_file(file_name(store.segments()[number], SNAPSHOT_SUFFIX)) or b"")
    for name in [name for name in store.files() if name.endswith(SNAPSHOT_SUFFIX)]:
        store.delete_file(name)
    lie = [*entries, ProducerEntry(99, 0, -1, 1 << 50, -1)]
    store.write_file(file_name(at, SNAPSHOT_SUFFIX), encode_snapshot(lie))
    log = open_log(store, repair=True, recovery_point=store.segments()[number], **CONFIG)
    assert (99 in log.producers.entries) is believes
    again = open_log(segments_alone(store), **CONFIG)
    assert log.producers.entries.keys() - {99} == again.producers.entries.keys()


def test_recovery_forgets_expired_producers_from_segment_to_segment() -> None:
    log = open_log(producer_id_expiration_ms=1 << 60, **CONFIG)
    for pid in range(12):
        lead(log, idempotent(0, pid=pid, timestamp=1))
    log.close()
    bases = log.store.segments()
    opened = open_log(log.store, repair=True, **CONFIG)
    snapshot = decode_snapshot(opened.store.read_file(file_name(bases[2], SNAPSHOT_SUFFIX)) or b"")
    # Each segment is recovered separately, and the state is loaded from its snapshot for the next one.
    assert [entry.producer_id for entry in snapshot] == list(range(bases[1], bases[2]))
    assert opened.producers.entries == {}


def test_a_table_that_shrank_keeps_the_order_of_its_rows(store: MemoryStore) -> None:
    log = open_log(store, producer_id_expiration_ms=1000, **CONFIG)
    for pid in range(100, 140):
        lead(log, idempotent(0, pid=pid, timestamp=1))
    log.remove_expired_producers(2000)
    lead(log, idempotent(0, pid=17))
    lead(log, idempotent(0, pid=3))
    lead(log, idempotent(0, pid=35))
    log.close()
    rows = decode_snapshot(store.read_file(file_name(log.log_end_offset, SNAPSHOT_SUFFIX)) or b"")
    # In a map of 16 buckets 17 would come before 3, and 35 too.
    assert [entry.producer_id for entry in rows] == [1, 2, 3, 17, 35]


@pytest.mark.parametrize("repair", [False, True])
def test_an_offset_that_no_index_row_can_hold_is_a_fault(repair: bool) -> None:
    log = open_log(**CONFIG)
    follow(log, batch(), batch(offset=1))
    kept = content(log)
    base = log.store.segments()[0]
    far = bytearray(batch())
    set_base_offset_and_epoch(far, 1 << 40, 0)
    log.store.append(base, far)
    if repair:
        opened = open_log(log.store, repair=True, **CONFIG)
        assert (content(opened), opened.log_end_offset) == (kept, 2)
        assert opened.repair is not None and opened.repair.position == len(kept)
        return
    with pytest.raises(CorruptBatch, match="too far above") as caught:
        open_log(log.store, **CONFIG)
    assert (caught.value.position, caught.value.offset) == (len(kept), 1 << 40)


def with_row(store: MemoryStore, number: int, position: int) -> PartitionLog:
    """Open the log with its files, after one index row of the first segment was changed."""
    name = file_name(0, INDEX_SUFFIX)
    rows = bytearray(store.read_file(name) or b"")
    rows[8 * number + 4 : 8 * number + 8] = position.to_bytes(4, "big")
    store.write_file(name, bytes(rows))
    return open_log(store, recovery_point=CLEAN_SHUTDOWN, **CONFIG)


def test_the_index_of_an_emptied_segment_is_rebuilt(store: MemoryStore) -> None:
    last = store.segments()[-1]
    store.truncate(last, 0)
    log = open_log(store, recovery_point=CLEAN_SHUTDOWN, **CONFIG)
    assert (log.log_end_offset, len(log.segments[-1].offsets)) == (last, 0)


@pytest.mark.parametrize("recovery_point", [0, CLEAN_SHUTDOWN])
def test_the_bytes_between_index_rows_count_from_zero_after_a_restart(recovery_point: int) -> None:
    config = {"index_interval_bytes": 2 * len(batch(1))}
    log = open_log(**config)
    follow(log, batch(1), batch(1, offset=1))
    log.close()
    again = open_log(log.store, recovery_point=recovery_point, **config)
    follow(again, *(batch(1, offset=offset) for offset in range(2, 6)))
    assert list(again.segments[-1].offsets.offsets) == [5]


def test_a_snapshot_at_the_log_start_is_of_another_log(store: MemoryStore) -> None:
    start = store.segments()[1]
    name = file_name(start, SNAPSHOT_SUFFIX)
    store.write_file(name, encode_snapshot([ProducerEntry(77)]))
    store.write_file(LOG_START_OFFSET, b"%d" % start)
    for base in store.segments()[:1]:
        store.delete(base)
    for other in [name for name in store.files() if name.endswith(SNAPSHOT_SUFFIX)]:
        if other != name:
            store.delete_file(other)
    assert sorted(open_log(store, **CONFIG).producers.entries) == [1, 2]
    assert store.read_file(name) is None


def test_a_fault_names_partition_file_offset_and_position_once_and_keeps_its_class() -> None:
    first, wrong = batch(2), batch(1, offset=1)
    store = MemoryStore.from_files({0: first + wrong}, {})
    with pytest.raises(OffsetsOutOfOrder) as caught:
        open_log(store)
    assert str(caught.value) == (
        f"t-0: {0:020d}.log: a batch starts at offset 1, expected an offset above 1 (offset 1) (at byte {len(first)})"
    )
    assert (caught.value.offset, caught.value.position) == (1, len(first))


def test_an_index_row_that_leads_to_no_batch_is_refused(store: MemoryStore) -> None:
    log = with_row(store, 0, 5)
    with pytest.raises(CorruptBatch, match=r"0\.index points to a position without a batch"):
        log.read(1, max_bytes=1000, end_offset=log.log_end_offset)


@pytest.mark.parametrize("position", [0, 1 << 20], ids=["not above the last", "beyond the log"])
def test_an_index_of_another_segment_is_rebuilt(store: MemoryStore, position: int) -> None:
    told = content(open_log(store.fork(), **CONFIG))
    rows = len(store.read_file(file_name(0, INDEX_SUFFIX)) or b"") // 8
    log = with_row(store, rows - 1, position)
    assert content(log) == told
    assert indexes(store) == indexes(log.store)  # type: ignore[arg-type]


def test_an_epoch_that_begins_with_the_faulty_batch_is_not_noted() -> None:
    log = open_log()
    follow(log, batch(3, offset=0, epoch=0))
    log.store.append(0, batch(1, offset=1, epoch=5))
    log = open_log(log.store, repair=True)
    assert log.repair is not None and log.log_end_offset == 3
    assert log.epochs.entries == [(0, 0)]


def test_an_emptied_segment_ends_at_its_base_offset() -> None:
    """Offsets are missing between two segments of a compacted log: the log does not end where the first one ends."""
    damaged = MemoryStore.from_files({0: batch(), 7: batch(offset=6)}, {})
    log = open_log(damaged, repair=True)
    assert (log.log_end_offset, damaged.size(7)) == (7, 0)
    lead(log, batch())
    log.close()
    assert open_log(damaged).log_end_offset == log.log_end_offset
