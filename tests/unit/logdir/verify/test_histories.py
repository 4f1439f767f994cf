"""Logs with a past: after changes of format, expired producers, or a removed first part.

Each was written by a Kafka 2.1, 3.9 or 4.3, and reduced to the relevant batches.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kmirror.cli.verify import command
from kmirror.log.producer_entry import AbortedTxn, BatchMetadata, ProducerEntry
from kmirror.log.state_files import encode_aborted, encode_snapshot
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from tests.builders import batch, marker
from tests.unit.logdir.folders import checkpoint, messages, partition

PRODUCER = 7


def faults(folder: Path) -> list[str]:
    result = CliRunner().invoke(command, [str(folder), "-o", "json"], standalone_mode=False)
    assert result.exception is None, result.exception
    *found, summary = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.return_value == (summary["faults"] > 0)
    return [fault["reason"] for fault in found]


def data(offset: int, count: int = 1, *, sequence: int = 0) -> bytes:
    """Return records of a transaction."""
    return build_batch(
        [RecordData(b"k", b"v", (), 1)] * count, base_offset=offset, partition_leader_epoch=0,
        producer_id=PRODUCER, producer_epoch=0, base_sequence=sequence, is_transactional=True,
    )  # fmt: skip


def entry(last_offset: int = -1, sequence: int = 0, *, txn_first_offset: int = -1) -> bytes:
    """Return a snapshot of the producer alone."""
    found = ProducerEntry(PRODUCER, 0, 0, 1, txn_first_offset)
    if last_offset >= 0:
        found.batches.append(BatchMetadata(sequence, last_offset, 0, 1))
    return encode_snapshot([found])


def name(offset: int, suffix: str) -> str:
    return f"{offset:020d}.{suffix}"


def epochs(*rows: str) -> dict[str, bytes]:
    return {"leader-epoch-checkpoint": checkpoint(rows)}


def test_a_broker_that_returns_to_an_old_format_forgets_the_epochs(tmp_path: Path) -> None:
    log = batch(epoch=0) + messages(1)
    assert faults(partition(tmp_path, "a-0", {0: log}, epochs())) == []
    assert faults(partition(tmp_path, "b-0", {0: log + batch(offset=2, epoch=0)}, epochs("0 2"))) == []
    # Without a message that has no epoch nothing explains it.
    told = ["the leader epoch is 0, but leader-epoch-checkpoint says -1"]
    assert faults(partition(tmp_path, "c-0", {0: batch(epoch=0) + batch(offset=1, epoch=1)}, epochs())) == told
    # After such a message the epochs need not be recorded.
    assert faults(partition(tmp_path, "d-0", {0: messages(0) + batch(offset=1, epoch=0)}, epochs())) == []


def test_a_kill_after_delete_records_may_leave_epochs_ahead_of_the_log_start(tmp_path: Path) -> None:
    log = batch(epoch=0) + batch(offset=1, epoch=1) + batch(offset=2, epoch=2) + batch(offset=3, epoch=3)
    assert faults(partition(tmp_path, "a-0", {0: log}, epochs("2 2", "3 3"))) == []
    told = ["the leader epoch is 2, but leader-epoch-checkpoint says 1"]
    assert faults(partition(tmp_path, "b-0", {0: log}, epochs("1 2", "3 3"))) == told
    told = ["the leader epoch is 2, but leader-epoch-checkpoint says -1"]
    assert faults(partition(tmp_path, "c-0", {0: log[: -len(batch(offset=3))]}, epochs("1 3"))) == told


def test_an_expired_producer_returns_with_only_a_marker(tmp_path: Path) -> None:
    """Its transaction included the partition, and the only batch was refused."""
    log = data(0) + marker(offset=1, commit=True, pid=PRODUCER) + marker(offset=2, commit=False, pid=PRODUCER)
    assert faults(partition(tmp_path, "a-0", {0: log}, {name(3, "snapshot"): entry()})) == []
    told = [f"producer {PRODUCER}: its last batch ends at -1, but in the log at 0"]
    assert faults(partition(tmp_path, "b-0", {0: data(0) + batch(offset=1)}, {name(2, "snapshot"): entry()})) == told
    log += data(3, sequence=1)
    told = [f"producer {PRODUCER}: its last batch ends at -1, but in the log at 3"]
    assert faults(partition(tmp_path, "c-0", {0: log}, {name(4, "snapshot"): entry(txn_first_offset=3)})) == told


@pytest.mark.parametrize("has_snapshot", [False, True])
def test_a_transaction_from_below_the_first_segment(tmp_path: Path, has_snapshot: bool) -> None:
    """Kafka 2.1 keeps only the newest snapshots, so none is left at the log start."""
    files = {
        name(10, "txnindex"): encode_aborted([AbortedTxn(PRODUCER, 5, 11, 5)]),
        name(13, "snapshot"): entry(10),
    }
    if has_snapshot:
        files[name(10, "snapshot")] = encode_snapshot([])
    log = data(10) + marker(offset=11, commit=False, pid=PRODUCER) + batch(offset=12)
    told = ["the transaction begins at 5, but in the log at 10"] if has_snapshot else []
    assert faults(partition(tmp_path, "a-0", {10: log}, files)) == told
    files = {name(12, "snapshot"): entry(10, txn_first_offset=5)} | (
        {name(10, "snapshot"): encode_snapshot([])} if has_snapshot else {}
    )
    told = [f"producer {PRODUCER}: its open transaction began at 5, but in the log at 10"] if has_snapshot else []
    assert faults(partition(tmp_path, "b-0", {10: data(10) + batch(offset=11)}, files)) == told


def test_a_transaction_whose_records_were_deleted_in_between(tmp_path: Path) -> None:
    """Kafka 2.1 forgets a producer that has nothing above the log start."""
    (tmp_path / "log-start-offset-checkpoint").write_bytes(checkpoint([f"{topic} 0 2" for topic in "abcd"]))
    log = data(0, 2) + data(2, sequence=2) + marker(offset=3, commit=False, pid=PRODUCER)

    def files(first_offset: int) -> dict[str, bytes]:
        rows = [AbortedTxn(PRODUCER, first_offset, 3, first_offset)]
        return {name(0, "txnindex"): encode_aborted(rows), name(4, "snapshot"): entry(2, 2)}

    assert faults(partition(tmp_path, "a-0", {0: log}, files(2))) == []
    # The checkpoints of the folder may be older than that, after a kill; the epochs are truncated immediately.
    assert faults(partition(tmp_path, "e-0", {0: log}, files(2))) == [
        "the transaction begins at 2, but in the log at 0"
    ]
    assert faults(partition(tmp_path, "f-0", {0: log}, files(2) | epochs("0 2"))) == []
    late = batch(2) + data(2) + data(3) + marker(offset=4, commit=False, pid=PRODUCER)
    reasons = faults(
        partition(tmp_path, "b-0", {0: late}, {name(0, "txnindex"): encode_aborted([AbortedTxn(7, 3, 4, 3)])})
    )
    assert reasons == ["the transaction begins at 3, but in the log at 2"]
    # If it ends before anything is above the log start, its row says that it had nothing but the marker.
    emptied = data(0, 2) + marker(offset=2, commit=False, pid=PRODUCER)
    rows = encode_aborted([AbortedTxn(PRODUCER, 2, 2, 2)])
    kept = {name(0, "txnindex"): rows, name(3, "snapshot"): entry()}
    assert faults(partition(tmp_path, "c-0", {0: emptied}, kept)) == []
    (tmp_path / "log-start-offset-checkpoint").write_bytes(checkpoint(["d 0 3"]))
    kept = {name(0, "txnindex"): rows, name(2, "snapshot"): encode_snapshot([]), name(3, "snapshot"): entry()}
    assert faults(partition(tmp_path, "d-0", {0: emptied}, kept)) == []


def test_a_folder_marked_for_deletion_has_no_epochs(tmp_path: Path) -> None:
    deleted = "-0.b4379a1025d545d4a0eb1bc6e8983526-delete"
    (tmp_path / ".kafka_cleanshutdown").touch()
    log = {0: batch(epoch=0)}
    assert faults(partition(tmp_path, f"a{deleted}", log, epochs() | {name(0, "timeindex"): b""})) == []
    assert len(faults(partition(tmp_path, "b-0", log, epochs("0 0") | {name(0, "timeindex"): b""}))) == 1
    assert len(faults(partition(tmp_path, "c-0", log, epochs()))) == 1
    assert faults(partition(tmp_path, f"d{deleted}", log, epochs("0 0"))) == []


def test_an_aborted_row_of_a_replica_may_have_a_later_stable_offset(tmp_path: Path) -> None:
    """It appended both at once: a partition that moved between disks, or followed its leader."""
    other = build_batch(
        [RecordData(b"k", b"v", (), 1)], base_offset=4, partition_leader_epoch=0,
        producer_id=PRODUCER + 1, producer_epoch=0, base_sequence=0, is_transactional=True,
    )  # fmt: skip
    log = data(0, 2) + marker(offset=2, commit=False, pid=PRODUCER) + batch(offset=3) + other
    for stable, told in ((3, []), (4, []), (5, ["the last stable offset is 5, but the segment ends at 5"])):
        rows = encode_aborted([AbortedTxn(PRODUCER, 0, 2, stable)])
        assert faults(partition(tmp_path, f"a-{stable}", {0: log}, {name(0, "txnindex"): rows})) == told


# No row of a transaction index contains the aborted transaction.
ABORTED = {0: data(0, 2) + marker(offset=2, commit=False, pid=PRODUCER)}
NO_ROW = [f"aborts the transaction of producer {PRODUCER}, which has no row in {name(0, 'txnindex')}"]
KRAFT = "version=1\ncluster.id=c\nnode.id=1\n"
OLD_BROKER = "version=0\nbroker.id=0\n"  # Before 2.4 there was no `cluster.id`.


@pytest.mark.parametrize("properties", [KRAFT, OLD_BROKER], ids=["4.3", "2.1"])
def test_a_kill_may_happen_between_a_marker_and_its_row(tmp_path: Path, properties: str) -> None:
    (tmp_path / "meta.properties").write_text(properties)
    folder = partition(tmp_path, "a-0", ABORTED, epochs("0 0"))
    assert faults(tmp_path) == faults(folder) == []
    (tmp_path / ".kafka_cleanshutdown").touch()
    assert faults(tmp_path) == faults(folder) == NO_ROW


def test_for_a_partition_of_an_unknown_broker_everything_is_expected(tmp_path: Path) -> None:
    assert faults(partition(tmp_path, "a-0", ABORTED, epochs("0 0"))) == NO_ROW


@pytest.mark.parametrize("kind", ["future", "delete"])
def test_a_kill_counts_for_a_folder_that_was_set_aside_too(tmp_path: Path, kind: str) -> None:
    """Unless the checkpoints belong to the partition that took its place."""
    (tmp_path / "meta.properties").write_text(KRAFT)
    folder = partition(tmp_path, f"a-0.{'0a' * 16}-{kind}", ABORTED, epochs("0 0"))
    assert faults(folder) == []
    partition(tmp_path, "a-0", {0: batch(epoch=0)}, epochs("0 0"))
    assert faults(folder) == NO_ROW


@pytest.mark.parametrize(("point", "told"), [(None, []), (2, []), (3, NO_ROW), (4, NO_ROW)])
def test_a_segment_that_ends_at_the_recovery_point_was_flushed(
    tmp_path: Path, point: int | None, told: list[str]
) -> None:
    (tmp_path / "meta.properties").write_text(KRAFT)
    if point is not None:
        (tmp_path / "recovery-point-offset-checkpoint").write_bytes(checkpoint([f"a 0 {point}"]))
    partition(tmp_path, "a-0", ABORTED | {3: batch(offset=3, epoch=0)}, epochs("0 0"))
    assert faults(tmp_path) == told


def test_of_a_swapped_segment_no_file_under_a_plain_name_counts(tmp_path: Path) -> None:
    """A broker deletes them all before it renames the log."""
    log = batch(epoch=0) + batch(offset=1, epoch=0)
    garbage = {name(0, suffix): b"\x7f" * 5 for suffix in ("index", "timeindex", "txnindex")}
    folder = partition(tmp_path, "a-0", {0: log}, epochs("0 0") | garbage)
    assert len(faults(folder)) >= 3
    (folder / name(0, "log")).rename(folder / f"{name(0, 'log')}.swap")
    assert faults(folder) == []
