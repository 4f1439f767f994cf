"""A log that lost a segment: a fault if another file shows it, else its offsets are reported."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from kmirror.cli.verify import command
from kmirror.errors import CorruptBatch
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.config import LogConfig
from kmirror.log.index import TIME_ROW
from kmirror.log.partition_log import PartitionLog
from kmirror.log.state_files import encode_snapshot
from kmirror.logdir.faults import FileFault, Gap
from kmirror.logdir.load import read_log_dirs
from kmirror.logdir.store import LogFolder
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.keyed_records import encode_metadata_record
from kmirror.protocol.message import Message
from kmirror.records import RecordData, build_batch, layout
from kmirror.records.codecs import Compression
from kmirror.records.crc32c import crc32c
from tests.builders import batch
from tests.segment_removal import BROKERS, judge
from tests.unit.logdir.folders import checkpoint, messages, partition

PLAIN = {0: batch(3), 3: batch(2, offset=3), 5: batch(offset=5)}
HOLE = {0: batch(3), 5: batch(offset=5)}
NO_PRODUCERS = encode_snapshot([])
NOW_MS = 1_700_000_000_000
TOLD = "no segment contains offsets 3 to 4"


def name(offset: int, suffix: str) -> str:
    return f"{offset:020d}.{suffix}"


def faults(folder: Path) -> list[str]:
    """Return the faults that `verify` finds in a partition, after loading has found the same first fault, or none."""
    found, _ = judge(folder)
    try:
        read_log_dirs(folder)
    except FileFault as error:
        assert str(error) in found
    else:
        assert not found
    return sorted(found)


def gaps(folder: Path) -> list[tuple[int, int, str]]:
    """Return the gaps that `verify` and loading report, where neither finds a fault."""
    found, told = judge(folder)
    assert not found
    (files,) = read_log_dirs(folder).partitions.values()
    assert set(files.gaps) == told
    return sorted((gap.first_offset, gap.last_offset, gap.reason) for gap in told)


# -- each segment of brokers' logs ------------------------------------------------------------


@pytest.mark.parametrize("top", BROKERS[1:4], ids=lambda path: str(path.relative_to(path.parents[2])))
def test_a_brokers_folder_has_no_faults(top: Path) -> None:
    assert judge(top)[0] == set()


# -- a hole between two segments --------------------------------------------------------------


def test_a_hole_in_a_log_that_was_never_compacted_is_a_missing_segment(tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", HOLE)
    told = f"{place / name(0, 'log')}, position {len(batch(3))}, offset 3: {TOLD}, and nothing shows"
    assert [fault.startswith(told) for fault in faults(place)] == [True]
    assert faults(partition(tmp_path, "u-0", PLAIN)) == []


def test_a_truncation_between_two_batches_leaves_an_empty_segment_as_the_end(tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", {0: batch(3), 5: b""})
    assert [gap[:2] for gap in gaps(place)] == [(3, 4)]
    assert len(faults(partition(tmp_path, "u-0", {0: batch(3), 5: batch(offset=5), 6: b""}))) == 1


@pytest.mark.parametrize("format_", [0, 1])
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
def test_so_it_is_in_the_old_formats(format_: int, codec: Compression, tmp_path: Path) -> None:
    def some(offset: int, count: int) -> bytes:
        return messages(offset, count, magic=format_, codec=codec)

    assert TOLD in faults(partition(tmp_path, "t-0", {0: some(0, 3), 5: some(5, 2), 7: some(7, 1)}))[0]
    assert faults(partition(tmp_path, "u-0", {0: some(0, 3), 3: some(3, 2)})) == []
    # The cleaner removed a message from the last segment.
    assert gaps(partition(tmp_path, "v-0", {0: some(0, 3), 5: some(5, 1) + some(7, 1)}))[0][:2] == (3, 4)


def test_each_hole_is_reported_and_the_scan_continues(tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", {0: batch(3), 5: batch(offset=5), 9: batch(offset=9)})
    assert ["offsets 3 to 4" in told or "offsets 6 to 8" in told for told in sorted(judge(place)[0])] == [True, True]


def test_after_bytes_that_cannot_be_read_no_segment_is_missed(tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", {0: batch(3)[:-1], 5: batch(offset=5)})
    assert [" left" in fault for fault in faults(place)] == [True]


@pytest.mark.parametrize(
    "segments",
    [
        {0: batch(2) + batch(offset=2), 5: batch(offset=6)},  # A batch is missing below the first of a segment,
        {0: batch() + batch(offset=2), 5: batch(offset=5)},  # or between two,
        {0: batch(3), 5: b"", 9: batch(offset=9)},  # or all of a segment.
    ],
)
def test_batches_that_are_missing_inside_segments_show_the_cleaner(segments: dict[int, bytes], tmp_path: Path) -> None:
    assert {reason for _, _, reason in gaps(partition(tmp_path, "t-0", segments))} == {
        "records are missing inside its segments too, as after a compaction"
    }


def change_bytes(data: bytes, at: int, new: bytes) -> bytes:
    """Return the batch with other bytes at a position that its checksum covers."""
    data = data[:at] + new + data[at + len(new) :]
    return (
        data[: layout.CRC_AT] + crc32c(data[layout.ATTRIBUTES_AT :]).to_bytes(4, "big") + data[layout.ATTRIBUTES_AT :]
    )


@pytest.mark.parametrize(
    "first",
    [
        change_bytes(batch(2), layout.LAST_OFFSET_DELTA_AT, (2).to_bytes(4, "big")),  # A record is missing in it,
        change_bytes(batch(3), layout.ATTRIBUTES_AT, layout.DELETE_HORIZON_FLAG.to_bytes(2, "big")),  # or may go soon.
    ],
)
def test_a_batch_shows_that_the_cleaner_was_there(first: bytes, tmp_path: Path) -> None:
    assert [gap[:2] for gap in gaps(partition(tmp_path, "t-0", {0: first, 5: batch(offset=5)}))] == [(3, 4)]


@pytest.mark.parametrize(
    ("topic", "policy", "reason"),
    [
        ("t", [("t", "cleanup.policy", "compact")], "__cluster_metadata has cleanup.policy=compact for it"),
        ("t", [("t", "cleanup.policy", "delete,compact")], "__cluster_metadata has"),
        # It was compacted once.
        ("t", [("t", "cleanup.policy", "compact"), ("t", "cleanup.policy", "delete")], "__cluster_metadata has"),
        ("t", [("", "log.cleanup.policy", "compact")], "__cluster_metadata has"),
        ("t", [("t", "cleanup.policy", "delete"), ("other", "cleanup.policy", "compact")], None),
        ("t", [("t", "retention.ms", "1"), ("t", "cleanup.policy", None)], None),
        ("t", [], None),
    ],
)
def test_the_metadata_log_shows_if_a_topic_is_compacted(
    topic: str, policy: list[tuple[str, str, str | None]], reason: str | None, tmp_path: Path
) -> None:
    records: list[Message] = [TopicRecord(name="t", topic_id=Uuid.from_ints(1, 1))]
    records += [ConfigRecord(2, *row) for row in policy]
    values = [RecordData(None, encode_metadata_record(record, 0), (), 1) for record in records]
    data = build_batch(values, partition_leader_epoch=0)
    place = partition(tmp_path, "t-0", HOLE)
    for file in (name(0, "log"), f"{len(values):020d}-0000000001.checkpoint"):
        shutil.rmtree(tmp_path / "__cluster_metadata-0", ignore_errors=True)
        partition(tmp_path, "__cluster_metadata-0", {}, {file: data})
        if reason is None:
            assert TOLD in faults(place)[0]
        else:
            ((first, last, told),) = gaps(place)
            assert (first, last) == (3, 4) and told.startswith(reason)
    # A metadata log that cannot be read proves nothing.
    (tmp_path / "__cluster_metadata-0" / name(0, "log")).write_bytes(data[:-3])
    (tmp_path / "__cluster_metadata-0" / file).unlink()
    assert TOLD in faults(place)[0]


def test_the_cleaners_checkpoint_shows_that_a_topic_is_compacted(tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", HOLE)
    path = tmp_path / "cleaner-offset-checkpoint"
    path.write_bytes(checkpoint(["t 7 5"]))  # For any of its partitions.
    assert gaps(place) == [(3, 4, "cleaner-offset-checkpoint has the topic")]
    path.write_bytes(checkpoint(["t1 0 5"]))
    assert TOLD in faults(place)[0]
    path.write_bytes(b"?")
    assert gaps(place) == [(3, 4, "cleaner-offset-checkpoint cannot be read")]


def test_kafka_compacts_two_topics_of_its_own(tmp_path: Path) -> None:
    for topic, is_fault in (
        ("__consumer_offsets", False),
        ("__transaction_state", False),
        ("__share_group_state", True),
    ):
        found, told = judge(partition(tmp_path, f"{topic}-0", HOLE))
        assert (len(found), len(told)) == (int(is_fault), int(not is_fault))


def test_the_cleaned_offset_of_a_folder_set_aside_is_unknown(tmp_path: Path) -> None:
    for kind in ("delete", "future", "stray"):
        found, (gap,) = judge(partition(tmp_path, f"t-0.{'0a' * 16}-{kind}", HOLE))
        assert not found and "set the folder aside" in gap.reason


def test_an_interrupted_compaction_leaves_holes(tmp_path: Path) -> None:
    """All among its swap files is removed at the next start, which may be killed during that."""
    files = {name(0, "log.swap"): batch(2), name(5, "log.swap"): batch(offset=5), name(3, "index"): b""}
    place = partition(tmp_path, "t-0", {**PLAIN, 9: batch(offset=9)}, files)
    (place / name(3, "log")).unlink()
    assert gaps(place) == [(2, 4, "a compaction was interrupted"), (6, 8, "a compaction was interrupted")]
    (place / name(8, "index")).write_bytes(b"")
    assert [told.partition(": ")[2] for told in faults(place)] == [
        "there is no 00000000000000000008.log, and no segment contains offsets 6 to 8"
    ]


# -- leftover files ---------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["index", "timeindex", "txnindex"])
def test_an_index_without_a_log_is_a_missing_segment_at_any_place(suffix: str, tmp_path: Path) -> None:
    (tmp_path / "cleaner-offset-checkpoint").write_bytes(checkpoint(["t 0 5"]))  # Compaction does not excuse it.
    place = partition(tmp_path, "t-0", {4: batch(3, offset=4), 9: batch(offset=9)})
    for base, told in (
        (0, "there is no 00000000000000000000.log, and no segment contains offsets 0 to 3"),
        (8, "there is no 00000000000000000008.log, and no segment contains offsets 7 to 8"),
        (10, "there is no 00000000000000000010.log, but the log ends at 10"),
    ):
        orphan = place / name(base, suffix)
        orphan.write_bytes(b"")
        (fault,) = faults(place)
        assert fault.startswith(str(orphan)) and told in fault
        orphan.unlink()
    (place / name(5, suffix)).write_bytes(b"")  # No offset is missing there.
    assert len(gaps(place)) == 1


def test_a_kill_while_a_segment_is_deleted_leaves_its_index(tmp_path: Path) -> None:
    (tmp_path / "cleaner-offset-checkpoint").write_bytes(checkpoint(["t 0 5"]))
    place = partition(tmp_path, "t-0", HOLE, {name(3, "index"): b"", name(3, "log.deleted"): b"?"})
    assert len(gaps(place)) == 1
    (tmp_path / ".kafka_cleanshutdown").write_bytes(b"{}")  # A clean shutdown completes its renames.
    assert "there is no 00000000000000000003.log" in faults(place)[0]


def test_a_snapshot_without_a_segment_is_no_fault(tmp_path: Path) -> None:
    """Each one leaves a snapshot at the log end of that time; a start removes those below the last segment."""
    snapshots = {name(offset, "snapshot"): NO_PRODUCERS for offset in (1, 4, 6)}
    assert faults(partition(tmp_path, "t-0", PLAIN, snapshots)) == []
    (tmp_path / "cleaner-offset-checkpoint").write_bytes(checkpoint(["u 0 5"]))
    assert len(gaps(partition(tmp_path, "u-0", HOLE, snapshots))) == 1


def test_kmirror_deletes_a_segment_after_the_files_about_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = LogFolder(tmp_path)
    tp = TopicPartition("t", 0)
    log = PartitionLog.open(tp, store := found.open(tp), LogConfig(segment_bytes=200), now_ms=NOW_MS)
    for _ in range(6):
        log.append_as_leader(batch(), leader_epoch=0, now_ms=NOW_MS)

    delete_file = store.delete_file

    def fail_at_an_index(file: str) -> None:
        if file == name(2, "index"):
            raise OSError("the power fails")
        delete_file(file)

    monkeypatch.setattr(store, "delete_file", fail_at_an_index)
    with pytest.raises(OSError, match="the power fails"):
        log.truncate_to(1)
    assert (tmp_path / "t-0" / name(2, "index")).exists()
    assert (tmp_path / "t-0" / name(2, "log")).exists()


# -- below the first segment and above the last -----------------------------------------------


def test_epochs_below_the_first_segment_are_reported(tmp_path: Path) -> None:
    """Retention truncates them, but may write them too late for a shutdown; and they include tiered segments."""
    segments = {5: batch(offset=5, epoch=2)}
    for rows, told in ((["1 0", "2 4"], [(0, 4)]), (["2 5"], []), (["2 4"], [(4, 4)])):
        shutil.rmtree(tmp_path / "t-0", ignore_errors=True)
        place = partition(tmp_path, "t-0", segments, {"leader-epoch-checkpoint": checkpoint(rows)})
        assert [gap[:2] for gap in gaps(place)] == told


@pytest.mark.parametrize(
    ("file", "data", "told"),
    [
        ("leader-epoch-checkpoint", checkpoint(["0 0", "4 7"]), "epoch 4 begins at 7"),
        (name(7, "snapshot"), NO_PRODUCERS, "a snapshot at offset 7"),
    ],
)
def test_records_that_another_file_shows_above_the_log_end_are_missing(
    file: str, data: bytes, told: str, tmp_path: Path
) -> None:
    segments = {0: batch(3, epoch=0), 3: batch(2, offset=3, epoch=0)}
    place = partition(tmp_path, "t-0", segments, {file: data})
    (fault,) = faults(place)
    assert fault == f"{place / file}, offset 5: {told}, but the log ends at 5"
    # After a kill the log may have been truncated, and these files not yet.
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=x\n")
    ((first, last, reason),) = gaps(place)
    assert (first, last) == (5, 6) and told in reason
    (tmp_path / ".kafka_cleanshutdown").write_bytes(b"{}")
    assert [told in one for one in faults(place)] == [True]
    # The log is known to end where the broker closed it. Kafka writes the epochs of a truncated log a little later.
    (tmp_path / "recovery-point-offset-checkpoint").write_bytes(checkpoint(["t 0 5"]))
    assert [told in one for one in faults(place)] == [True] * file.endswith("snapshot")


def test_an_epoch_or_a_snapshot_at_the_log_end_is_expected(tmp_path: Path) -> None:
    files = {"leader-epoch-checkpoint": checkpoint(["0 0", "4 6"]), name(6, "snapshot"): NO_PRODUCERS}
    plain = {base: batch(count, offset=base, epoch=0) for base, count in ((0, 3), (3, 2), (5, 1))}
    assert faults(partition(tmp_path, "t-0", plain, files)) == []


def test_a_single_partition_is_compared_with_the_checkpoints_around_it(tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", {0: batch(3)})
    path = tmp_path / "recovery-point-offset-checkpoint"
    path.write_bytes(checkpoint(["t 0 5"]))
    assert judge(place)[0] == {f"{path}: t-0 is at 5, but its log ends at 3"}
    (tmp_path / ".kafka_cleanshutdown").write_bytes(b"{}")
    path.write_bytes(checkpoint(["t 0 2"]))
    assert judge(place)[0] == {f"{path}: t-0 was closed at 2, but its log ends at 3"}
    aside = place.rename(tmp_path / f"t-0.{'0a' * 16}-delete")
    assert judge(aside)[0] == set()


def test_a_segment_that_was_rolled_is_not_the_last(tmp_path: Path) -> None:
    """Except for a kill in the middle of a roll. The active segment has indexes of full length."""
    rolled = {name(3, "timeindex"): TIME_ROW.pack(NOW_MS, 1), name(3, "index"): b"", name(3, "snapshot"): NO_PRODUCERS}
    segments = {0: batch(3), 3: batch(2, offset=3)}
    place = partition(tmp_path, "t-0", segments, rolled)
    reason = "the last segment was closed by a roll, but the next one is missing"
    assert judge(place) == (set(), {Gap(place, 5, None, reason)})
    assert read_log_dirs(place).partitions[TopicPartition("t", 0)].gaps == (Gap(place, 5, None, reason),)
    for sound in (
        {name(5, "snapshot"): NO_PRODUCERS},  # A clean shutdown.
        {name(3, "index"): bytes(800)},
        {name(3, "timeindex"): TIME_ROW.pack(NOW_MS, 1) + bytes(1200)},
        {name(3, "snapshot"): None},  # A broker that is so old that it writes none.
        {name(3, "timeindex"): None},
        {name(3, "index"): None},
    ):
        shutil.rmtree(place)
        files = {file: data for file, data in {**rolled, **sound}.items() if data is not None}
        (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=x\n")
        assert judge(partition(tmp_path, "t-0", segments, files)) == (set(), set())


def test_a_high_watermark_above_the_log_end_is_a_fault_after_a_clean_shutdown(tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", PLAIN)
    (tmp_path / "replication-offset-checkpoint").write_bytes(checkpoint(["t 0 9"]))
    (files,) = read_log_dirs(place).partitions.values()
    assert files.gaps == (Gap(place, 6, 8, "the high watermark is above it"),)
    (tmp_path / ".kafka_cleanshutdown").write_bytes(b"{}")
    with pytest.raises(FileFault, match="offset 6: the log ends here, and its high watermark is 9"):
        read_log_dirs(place)


# -- output -----------------------------------------------------------------------------------


def test_gaps_are_printed_before_the_summary(tmp_path: Path) -> None:
    segments = {10 * number: batch(offset=10 * number) for number in range(8)}
    place = partition(tmp_path, "t-0", segments)
    (tmp_path / "cleaner-offset-checkpoint").write_bytes(checkpoint(["t 0 5"]))
    told = CliRunner().invoke(command, [str(place)], standalone_mode=False)
    assert told.return_value == 0
    line, summary = told.stdout.splitlines()
    assert line == (
        f"{place}: no segment contains offsets 1 to 9, offsets 11 to 19, offsets 21 to 29, offsets 31 to 39, "
        "offsets 41 to 49 and 2 more ranges: cleaner-offset-checkpoint has the topic"
    )
    assert summary.startswith("no fault in ")
    told = CliRunner().invoke(command, [str(place), "-o", "json"], standalone_mode=False)
    *rows, end = [json.loads(line) for line in told.stdout.splitlines()]
    assert rows[0] == {
        "type": "gap",
        "path": str(place),
        "first_offset": 1,
        "last_offset": 9,
        "reason": "cleaner-offset-checkpoint has the topic",
    }
    assert (len(rows), end["gaps"], end["faults"]) == (7, 7, 0)


@pytest.mark.parametrize("joint", ["", "\n", "\r\n"])
def test_partition_metadata_that_is_written_twice_over_is_a_fault(joint: str, tmp_path: Path) -> None:
    """A broker reads "ID" and the next line's key as one, and does not start."""
    metadata = "version: 0\ntopic_id: rQx8Ll2tQ4u0mJmS9pX1AQ"
    place = partition(tmp_path, "t-0", PLAIN, {"partition.metadata": f"{metadata}{joint}{metadata}".encode()})
    (fault,) = faults(place)
    assert fault.startswith(f"{place / 'partition.metadata'}: not the two lines")
    assert faults(partition(tmp_path, "u-0", PLAIN, {"partition.metadata": f"{metadata}\r\n".encode()})) == []
    with pytest.raises(CorruptBatch, match="not the two lines"):
        read_log_dirs(tmp_path)
