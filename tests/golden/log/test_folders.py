"""A folder of Kafka is opened with the broker's state, and left as the broker left it."""

from __future__ import annotations

import json

import pytest

from kmirror.log.epochs import decode_checkpoint, encode_checkpoint
from kmirror.log.partition_log import CLEAN_SHUTDOWN, PartitionLog
from kmirror.log.state_files import SNAPSHOT_SUFFIX, offset_of
from kmirror.log.store import HIGH_WATERMARK, LEADER_EPOCH_CHECKPOINT, LOG_START_OFFSET, RECOVERY_POINT
from kmirror.records.batch import UnsupportedMagic
from tests.golden.log.folders import SAMPLE, Folder, name_of, sample, wide

INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata")
OURS = {HIGH_WATERMARK, LOG_START_OFFSET, RECOVERY_POINT}


def has_legacy(folder: Folder) -> bool:
    try:
        return sum(1 for _ in folder.open().batches(0)) < 0
    except UnsupportedMagic:
        return True


FOLDERS = [*sample(), *wide()]
every_folder = pytest.mark.parametrize("folder", FOLDERS, ids=map(name_of, FOLDERS))


def producers(log: PartitionLog) -> list[dict[str, int | None]]:
    """Return the table in the form of DescribeProducers."""
    return [
        {
            "producer_id": entry.producer_id,
            "producer_epoch": entry.producer_epoch,
            "last_sequence": entry.last_sequence,
            "last_timestamp": entry.last_timestamp,
            "coordinator_epoch": entry.coordinator_epoch if entry.coordinator_epoch >= 0 else None,
            "current_transaction_start_offset": entry.txn_first_offset if entry.txn_first_offset >= 0 else None,
        }
        for _, entry in sorted(log.producers.entries.items())
    ]


@pytest.mark.parametrize("recovery_point", [0, CLEAN_SHUTDOWN], ids=["read", "by index"])
@every_folder
def test_offsets_and_producers_equal_the_brokers_description(folder: Folder, recovery_point: int) -> None:
    log = folder.open(recovery_point=recovery_point)
    log.update_high_watermark(log.log_end_offset)
    told = folder.told
    if told is None or folder.tp.topic in INTERNAL:  # Records were written to these after the broker was queried.
        return
    assert log.log_start_offset == told["earliest"]["offset"]
    assert log.log_end_offset == told["latest"]["offset"]
    assert log.last_stable_offset == told["lso"]
    if folder.run.startswith("epochs"):
        return  # Queried before the last restart, at which this broker forgot the producers.
    if isinstance(told.get("producers"), list):
        assert producers(log) == sorted(told["producers"], key=lambda row: row["producer_id"])


@every_folder
def test_epochs_are_those_of_the_checkpoint_as_far_as_the_log_reaches(folder: Folder) -> None:
    data = folder.files().get(LEADER_EPOCH_CHECKPOINT)
    log = folder.open()
    if data is None:
        return
    # A leader that wrote nothing has an entry at the log end. Like Kafka, kmirror drops it when it opens the log.
    kept = [entry for entry in decode_checkpoint(data) if entry.start_offset < log.log_end_offset]
    assert log.epochs.entries == kept
    written = log.store.read_file(LEADER_EPOCH_CHECKPOINT)
    assert written == (encode_checkpoint(kept) if kept != decode_checkpoint(data) else data)


@every_folder
def test_epochs_can_be_read_off_the_batches_alone(folder: Folder) -> None:
    told = folder.open().epochs
    found = folder.open(folder.store(only_segments=True)).epochs
    written = {batch.partition_leader_epoch for batch in folder.open().any_batches(0)} - {-1}
    assert {entry.epoch for entry in found.entries} == written
    for entry in found.entries:
        # Compaction may have removed the first batch of an epoch, so it may be found later.
        assert told.start_offset_of(entry.epoch) <= entry.start_offset


@pytest.mark.parametrize("recovery_point", [0, CLEAN_SHUTDOWN], ids=["read", "by index"])
@every_folder
def test_a_closed_log_leaves_the_same_files_as_the_broker(folder: Folder, recovery_point: int) -> None:
    before = folder.files()
    log = folder.open(recovery_point=recovery_point)
    log.close()
    after = {name: log.store.read_file(name) for name in log.store.files() if name not in OURS}
    for name in {*before, *after} - {LEADER_EPOCH_CHECKPOINT}:
        if before.get(name) != after.get(name):
            assert is_excused(folder, log, name, recovery_point), name


def is_stray(folder: Folder, snapshot: int) -> bool:
    """Return whether the snapshot is not at the start of a segment, and not the last one."""
    others = (offset_of(name, SNAPSHOT_SUFFIX) for name in folder.files())
    return snapshot not in folder.store().segments() and snapshot < max(o for o in others if o is not None)


def is_excused(folder: Folder, log: PartitionLog, name: str, recovery_point: int) -> bool:
    """Return whether Kafka too would change the file if it opened the folder again."""
    snapshot = offset_of(name, SNAPSHOT_SUFFIX)
    if snapshot is not None and (snapshot <= log.log_start_offset or is_stray(folder, snapshot)):
        return True  # Both are deleted when the log is opened.
    if recovery_point == 0 and name.endswith(("index",)):
        # Kafka 2.1 had at most one row for an append, which has several rows for uncompressed legacy messages.
        return is_rebuilt_otherwise(folder)
    return False


# Partly written by a broker that was restarted, which then counts the bytes between two rows from zero, or by Kafka
# 2.1: tests/interop/cleaner shows that the current JVM recovery gives the same result for such segments as kmirror's.
REBUILT_OTHERWISE = {
    "epochs-4.3/broker-1": {"__cluster_metadata-0", "epochs-0"},
    "epochs-4.3/broker-2": {"__cluster_metadata-0", "ule-0"},
    "epochs-4.3/broker-3": {"__cluster_metadata-0", "ule-0"},
    "crash-4.3/data": {"__cluster_metadata-0"},
    "legacy-2.1": {"v2-compacted-0"},
}


def is_rebuilt_otherwise(folder: Folder) -> bool:
    run = folder.run.removesuffix("/data") if folder.run.startswith(("epochs", "legacy")) else folder.run
    return folder.name in REBUILT_OTHERWISE.get(run, ()) or has_legacy(folder)


@every_folder
def test_rebuilt_indexes_equal_the_brokers(folder: Folder) -> None:
    before = folder.files()
    log = folder.open(folder.store(only_segments=True), repair=True)
    log.close()
    is_exact = not is_rebuilt_otherwise(folder)
    for name in (name for name in {*before, *log.store.files()} if name.endswith("index")):
        if is_exact or name.endswith(".txnindex"):
            assert log.store.read_file(name) == before.get(name), name
        else:
            assert (log.store.read_file(name) is None) == (name not in before), name


CONSUMED = json.loads((SAMPLE / "consumed.json").read_text())
KRAFT = [folder for folder in sample() if folder.run == "kraft-4.3"]


@pytest.mark.parametrize("folder", KRAFT, ids=map(name_of, KRAFT))
def test_read_committed_returns_the_records_of_kafkas_consumer(folder: Folder) -> None:
    log = folder.open(folder.store(only_segments=True))
    log.update_high_watermark(log.log_end_offset)
    assert consume(log, log.high_watermark, committed=False) == CONSUMED[folder.name]["all"]
    assert consume(log, log.last_stable_offset, committed=True) == CONSUMED[folder.name]["committed"]


def consume(log: PartitionLog, bound: int, *, committed: bool) -> list[int]:
    """Return the offsets that a consumer delivers, with Kafka's rule for aborted transactions, in small fetches."""
    offset, delivered = log.log_start_offset, list[int]()
    while True:
        result = log.read(offset, max_bytes=600, end_offset=bound)
        if result.end_offset <= offset:
            return delivered
        aborted = sorted(log.aborted_transactions(offset, result.end_offset), key=lambda txn: txn.first_offset)
        inside: set[int] = set()
        for batch in log.batches(offset, result.end_offset):
            while aborted and aborted[0].first_offset <= batch.last_offset:
                inside.add(aborted.pop(0).producer_id)
            if batch.is_control:
                inside.discard(batch.producer_id)
            elif not (committed and batch.is_transactional and batch.producer_id in inside):
                delivered += [record.offset for record in batch.records() if record.offset >= offset]
        offset = result.end_offset


NAMES = {"earliest": -2, "latest": -1, "max_timestamp": -3, "earliest_local": -4}
TIMES = {"at_T0_plus_1000": 1_700_000_001_000, "at_1712345700000": 1_712_345_700_000}
ASKED = [folder for folder in FOLDERS if folder.told is not None and folder.tp.topic not in INTERNAL]


@pytest.mark.parametrize("recovery_point", [0, CLEAN_SHUTDOWN], ids=["read", "by index"])
@pytest.mark.parametrize("folder", ASKED, ids=map(name_of, ASKED))
def test_list_offsets_equals_the_brokers_responses(folder: Folder, recovery_point: int) -> None:
    log = folder.open(recovery_point=recovery_point)
    log.update_high_watermark(log.log_end_offset)
    for entry in decode_checkpoint(folder.files().get(LEADER_EPOCH_CHECKPOINT, b"")):
        if entry.start_offset >= log.log_end_offset:
            log.assign_epoch_start(entry.epoch)  # The live broker leads and has written nothing yet.
    for name, timestamp in (NAMES | TIMES).items():
        told = folder.told.get(name) if folder.told else None
        if not isinstance(told, dict):
            continue  # Kafka 2.1 refused.
        found = log.offset_for_timestamp(timestamp)
        if found is None:
            assert told["offset"] == -1, name
            continue
        assert (found.timestamp, found.offset) == (told["timestamp"], told["offset"]), name
        if told["leader_epoch"] is not None and folder.tp.topic != "spread":  # Led by another broker.
            assert found.leader_epoch == told["leader_epoch"], name


GREW_ON = [folder for folder in FOLDERS if folder.told is not None and folder.tp.topic in INTERNAL]


@pytest.mark.parametrize("folder", GREW_ON, ids=map(name_of, GREW_ON))
def test_internal_topics_truncated_to_the_brokers_end_equal_its_description(folder: Folder) -> None:
    assert folder.told is not None
    told = folder.told
    log = folder.open()
    log.truncate_to(told["latest"]["offset"])
    log.update_high_watermark(log.log_end_offset)
    ends = log.log_start_offset, log.log_end_offset, log.last_stable_offset
    assert ends == (told["earliest"]["offset"], told["latest"]["offset"], told["lso"])
    if isinstance(told.get("producers"), list):
        assert producers(log) == sorted(told["producers"], key=lambda row: row["producer_id"])
    for name, timestamp in (NAMES | TIMES).items():
        answer = told.get(name)
        if isinstance(answer, dict):
            found = log.offset_for_timestamp(timestamp)
            expected = None if answer["offset"] < 0 else (answer["timestamp"], answer["offset"])
            assert (None if found is None else (found.timestamp, found.offset)) == expected, name
