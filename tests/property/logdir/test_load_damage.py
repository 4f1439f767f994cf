"""Every fault in a log folder: one error names file, byte, offset and reason; nothing is changed."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kmirror.errors import UsageError
from kmirror.logdir.faults import FileFault, Unreadable
from kmirror.logdir.load import read_log_dirs
from kmirror.records import RecordData, build_batch, iter_batches, layout, set_base_offset_and_epoch
from kmirror.records.build import frame_batch
from tests.builders import batch
from tests.unit.logdir.folders import SAMPLE, TAILS, assert_refused, checkpoint, partition, refused, sample

# In these logs no offset is missing and none is below the log start, so that the checkpoints and the neighbours show
# changes of every header field outside the checksum.
GAPLESS = ("clients", "codecs", "epochs", "idem", "logappend", "txn")
SEGMENTS = [path for path in sorted(SAMPLE.rglob("*.log")) if path.stat().st_size]


def label(path: Path) -> str:
    return f"{path.parent.name}/{path.name.lstrip('0')}"


@pytest.mark.parametrize("segment", SEGMENTS, ids=label)
def test_a_segment_truncated_inside_a_batch_names_the_batch(segment: Path, tmp_path: Path) -> None:
    folder = sample(tmp_path, segment.parent.name)
    victim = folder / segment.parent.name / segment.name
    data = segment.read_bytes()
    found = list(iter_batches(data))
    draw = random.Random(f"cut {label(segment)}")
    cuts = [1, 11, 12, 16, 17, 60, 61, len(data) - 1, *(draw.randrange(1, len(data)) for _ in range(6))]
    for cut in cuts:
        broken = next(item for item in found if cut < item.position + item.size_in_bytes)
        if cut == broken.position:
            continue
        victim.write_bytes(data[:cut])
        error = refused(folder)
        assert error.path == victim
        assert error.position == broken.position
        if cut - broken.position >= layout.BATCH_LENGTH_AT:  # Otherwise its offset cannot be read.
            assert error.offset == broken.base_offset


@pytest.mark.parametrize("segment", SEGMENTS, ids=label)
def test_a_flipped_bit_anywhere_in_a_segment_is_found(segment: Path, tmp_path: Path) -> None:
    folder = sample(tmp_path, segment.parent.name)
    victim = folder / segment.parent.name / segment.name
    data = segment.read_bytes()
    found = list(iter_batches(data))
    draw = random.Random(f"flip {label(segment)}")
    spots = [draw.randrange(len(data)) for _ in range(12)]
    for item in draw.sample(found, min(4, len(found))):
        spots += [item.position + draw.randrange(at, until) for at, until in checked_fields(segment)]
    for spot in spots:
        hit = next(item for item in found if spot < item.position + item.size_in_bytes)
        if not any(at <= spot - hit.position < until for at, until in [*checked_fields(segment), (61, 1 << 31)]):
            continue
        broken = bytearray(data)
        broken[spot] ^= 1 << draw.randrange(8)
        victim.write_bytes(broken)
        error = refused(folder)
        assert error.path == victim or error.path.parent == victim.parent
        assert error.position is not None
        assert error.offset is not None
        if spot - hit.position >= layout.CRC_AT:
            assert (error.position, error.offset) == (hit.position, hit.base_offset)
            assert "checksum" in error.reason


def checked_fields(segment: Path) -> list[tuple[int, int]]:
    """Return the parts of a batch header in which any flipped bit must be found."""
    under_a_checksum = [(layout.CRC_AT, layout.ATTRIBUTES_AT), (layout.ATTRIBUTES_AT, layout.RECORDS_AT)]
    frame = [(layout.BATCH_LENGTH_AT, layout.LEADER_EPOCH_AT), (layout.MAGIC_AT, layout.CRC_AT)]
    if segment.parent.name.rpartition("-")[0] not in GAPLESS:
        return under_a_checksum + frame
    return [*under_a_checksum, *frame, (0, layout.BATCH_LENGTH_AT), (layout.LEADER_EPOCH_AT, layout.MAGIC_AT)]


@pytest.mark.parametrize("segment", SEGMENTS, ids=label)
def test_bytes_after_the_last_batch_are_an_error_at_their_position(segment: Path, tmp_path: Path) -> None:
    folder = sample(tmp_path, segment.parent.name)
    victim = folder / segment.parent.name / segment.name
    data = segment.read_bytes()
    for tail, reason in TAILS:
        victim.write_bytes(data + tail)
        error = refused(folder)
        assert (error.path, error.position) == (victim, len(data))
        assert error.offset == list(iter_batches(data))[-1].next_offset
        assert reason in error.reason


def test_a_log_that_lost_its_last_batch_is_found_by_the_recovery_point(tmp_path: Path) -> None:
    folder = sample(tmp_path, "idem-0")
    victim = folder / "idem-0" / f"{56:020d}.log"
    last = list(iter_batches(victim.read_bytes()))[-1]
    victim.write_bytes(victim.read_bytes()[: last.position])
    error = refused(folder)
    assert (error.path, error.position, error.offset) == (victim, last.position, last.base_offset)
    assert "flushed up to offset 63" in error.reason
    victim.write_bytes(b"")
    assert refused(folder).offset == 56
    victim.unlink()
    assert refused(folder).path == folder / "idem-0" / f"{0:020d}.log"


def test_a_log_that_is_longer_than_at_the_clean_shutdown_is_refused(tmp_path: Path) -> None:
    partition(tmp_path, "t-0", {0: batch(2) + batch(offset=2)})
    (tmp_path / "recovery-point-offset-checkpoint").write_bytes(checkpoint(["t 0 2"]))
    read_log_dirs(tmp_path)  # After a crash the recovery point lags.
    (tmp_path / ".kafka_cleanshutdown").write_bytes(b"{}")
    assert "had closed it at offset 2" in refused(tmp_path).reason


def test_a_closed_segment_that_lost_its_last_batch_is_found_by_its_time_index(tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", {0: batch(2), 5: batch(offset=5)})
    (tmp_path / "cleaner-offset-checkpoint").write_bytes(checkpoint(["t 0 5"]))
    index = place / f"{0:020d}.timeindex"
    for harmless in (1, 5, 2**31 - 1):
        index.write_bytes((1000).to_bytes(8, "big") + harmless.to_bytes(4, "big"))
        read_log_dirs(tmp_path)
    (place / f"{0:020d}.log").write_bytes(b"")
    index.write_bytes(bytes(24))  # Preallocated for a segment that stayed empty.
    read_log_dirs(tmp_path)
    (place / f"{0:020d}.log").write_bytes(batch(2))
    index.write_bytes((1000).to_bytes(8, "big") + (2).to_bytes(4, "big"))
    error = refused(tmp_path)
    assert (error.position, error.offset) == (len(batch(2)), 2)
    assert "time index has offset 2" in error.reason


def at_offset(offset: int) -> bytes:
    """Return a batch at an offset that no builder would write."""
    return offset.to_bytes(8, "big", signed=True) + batch()[8:]


@pytest.mark.parametrize(
    ("segments", "file", "position", "offset", "reason"),
    [
        ({0: batch(3) + batch(offset=2)}, 0, len(batch(3)), 2, "not above 2, the previous one"),
        ({0: batch(3) + batch(3)}, 0, len(batch(3)), 0, "not above 2, the previous one"),
        ({10: batch(2, offset=9)}, 10, 0, 9, "below the segment's base offset 10"),
        ({0: at_offset(-1)}, 0, 0, -1, "below the segment's base offset 0"),
        ({0: batch(3), 2: batch(offset=3)}, 0, 0, 0, "continues to offset 2, but the next one begins with 2"),
        ({0: batch(5), 5: batch(offset=4)}, 5, 0, 4, "below the segment's base offset 5"),
        ({0: at_offset(2**63 - 1)}, 0, 0, 2**63 - 1, "more than 2147483647 above"),
        ({2**63 - 1: at_offset(2**63 - 1)}, 2**63 - 1, 0, 2**63 - 1, "the greatest possible offset"),
        ({0: batch() + batch(2, offset=2**31 - 1)}, 0, len(batch()), 2**31, "more than 2147483647 above"),
        ({0: batch(epoch=5) + batch(offset=1, epoch=4)}, 0, len(batch()), 1, "is 4, after 5"),
        ({0: batch(epoch=5), 1: batch(offset=1, epoch=-1)}, 1, 0, 1, "is -1, after 5"),
    ],
)
def test_batches_out_of_their_place_are_refused(
    segments: dict[int, bytes], file: int, position: int, offset: int, reason: str, tmp_path: Path
) -> None:
    assert_refused(tmp_path, segments, file, position, offset, reason)


def test_an_epoch_missing_in_the_checkpoint_is_refused_after_a_clean_shutdown(tmp_path: Path) -> None:
    data = bytearray(batch() + batch(offset=1))
    set_base_offset_and_epoch(data, 1, 3, position=len(batch()))
    partition(tmp_path, "t-0", {0: bytes(data)}, {"leader-epoch-checkpoint": checkpoint(["0 0"])})
    read_log_dirs(tmp_path)  # After a crash the checkpoint may lag.
    (tmp_path / ".kafka_cleanshutdown").write_bytes(b"{}")
    error = refused(tmp_path)
    assert (error.position, error.offset) == (len(batch()), 1)
    assert "checkpoint says 0" in error.reason


@pytest.mark.parametrize(
    ("entries", "position", "reason"),
    [
        ([], 0, "the leader epoch is 2, but leader-epoch-checkpoint says -1"),
        (["1 3"], 0, "the leader epoch is 2, but leader-epoch-checkpoint says -1"),
        (["1 0", "2 1"], 0, "the leader epoch is 2, but leader-epoch-checkpoint says 1"),
        (["2 0", "3 2"], len(batch(2)), "the leader epoch is 2, but leader-epoch-checkpoint says 3"),
    ],
)
def test_a_checkpoint_without_an_epoch_of_the_log_is_no_clean_shutdown(
    entries: list[str], position: int, reason: str, tmp_path: Path
) -> None:
    files = {"leader-epoch-checkpoint": checkpoint(entries)}
    partition(tmp_path, "t-0", {0: batch(2, epoch=2) + batch(offset=2, epoch=2)}, files)
    read_log_dirs(tmp_path)  # After a crash the checkpoint may lag.
    (tmp_path / ".kafka_cleanshutdown").write_bytes(b"{}")
    error = refused(tmp_path)
    assert (error.position, error.reason) == (position, reason)


@pytest.mark.parametrize("epoch", [-1, 1])
def test_a_batch_below_the_log_start_has_the_epoch_that_the_checkpoint_knows(epoch: int, tmp_path: Path) -> None:
    files = {"leader-epoch-checkpoint": checkpoint(["0 0", "2 4"])}
    (tmp_path / ".kafka_cleanshutdown").write_bytes(b"{}")
    (tmp_path / "log-start-offset-checkpoint").write_bytes(checkpoint(["t 0 4"]))
    partition(
        tmp_path, "t-0", {0: batch(2, epoch=epoch) + batch(2, offset=2, epoch=1) + batch(offset=4, epoch=2)}, files
    )
    error = refused(tmp_path)
    assert (error.position, error.offset) == (0, 0)
    assert f"the leader epoch is {epoch}, but leader-epoch-checkpoint says 0" in error.reason


def test_a_checkpoint_truncated_at_the_log_start_lacks_earlier_epochs(tmp_path: Path) -> None:
    files = {"leader-epoch-checkpoint": checkpoint(["1 3", "2 4"])}
    (tmp_path / ".kafka_cleanshutdown").write_bytes(b"{}")
    (tmp_path / "log-start-offset-checkpoint").write_bytes(checkpoint(["t 0 3"]))
    partition(tmp_path, "t-0", {0: batch(2) + batch(2, offset=2, epoch=1) + batch(offset=4, epoch=2)}, files)
    read_log_dirs(tmp_path)


def test_more_records_than_offsets_are_refused_though_the_checksum_holds(tmp_path: Path) -> None:
    whole = build_batch([RecordData(b"k", b"v", timestamp=1000)] * 2, partition_leader_epoch=0)
    body = bytearray(whole[layout.ATTRIBUTES_AT :])
    body[layout.LAST_OFFSET_DELTA_AT - layout.ATTRIBUTES_AT + 3] = 0
    partition(tmp_path, "t-0", {0: frame_batch(bytes(body), base_offset=0, partition_leader_epoch=0)})
    assert refused(tmp_path).reason == "2 records in 1 offset"


def test_attributes_that_a_producer_made_up_are_read_as_a_broker_does(tmp_path: Path) -> None:
    """A broker keeps unknown bits, so they are no damage; `verify` reports them."""
    body = bytearray(batch()[layout.ATTRIBUTES_AT :])
    body[1] |= 0x80
    partition(tmp_path, "t-0", {0: frame_batch(bytes(body), base_offset=0, partition_leader_epoch=0)})
    read_log_dirs(tmp_path)
    body[1] = 5  # A codec that does not exist: no broker accepts it.
    (tmp_path / "t-0" / f"{0:020d}.log").write_bytes(frame_batch(bytes(body), base_offset=0, partition_leader_epoch=0))
    assert "have unknown bits" in refused(tmp_path).reason


def test_a_segment_that_no_broker_can_open_is_refused_before_it_is_read(tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", {0: b""})
    with (place / f"{0:020d}.log").open("wb") as stream:
        stream.truncate(1 << 31)  # A hole.
    with pytest.raises(FileFault, match="more than the 2147483647 of a segment"):
        read_log_dirs(tmp_path, memory_limit=1 << 40)


def test_a_magic_byte_that_was_flipped_to_an_old_format_is_no_old_message(tmp_path: Path) -> None:
    for magic in (0, 1, 3, 0x82):
        data = bytearray(batch())
        data[layout.MAGIC_AT] = magic
        place = tmp_path / str(magic)
        partition(place, "t-0", {0: bytes(data)})
        assert refused(place).position == 0


def test_a_damaged_swap_file_is_named(tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", {0: batch(5)})
    (place / f"{0:020d}.log.swap").write_bytes(batch()[:-1])
    assert refused(tmp_path).path == place / f"{0:020d}.log.swap"


@pytest.mark.parametrize("name", ["1.log", f"{1:019d}.log", f"{1:021d}.log", "kafka.log", f"{2**63:020d}.log"])
def test_a_segment_with_an_impossible_name_is_refused(name: str, tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", {0: b""})
    (place / name).write_bytes(b"")
    assert refused(tmp_path).path == place / name


def test_a_missing_first_segment_shows_by_the_log_start(tmp_path: Path) -> None:
    partition(tmp_path, "t-0", {0: batch()})
    (tmp_path / "log-start-offset-checkpoint").write_bytes(checkpoint(["t 0 7"]))
    assert "below its log start offset 7" in refused(tmp_path).reason


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "0",
        "1\n0\n",
        "0\n1\n",
        "0\n0\nt 0 5\n",
        "0\n1\nt 0\n",
        "0\n1\nt 0 -5\n",
        "0\n1\nt 0 5 6\n",
        "0\n1\nt a 5\n",
    ],
)
@pytest.mark.parametrize(
    "name",
    ["replication-offset-checkpoint", "log-start-offset-checkpoint", "recovery-point-offset-checkpoint"],
)
def test_a_malformed_checkpoint_is_named(name: str, text: str, tmp_path: Path) -> None:
    partition(tmp_path, "t-0", {0: b""})
    (tmp_path / name).write_text(text)
    assert refused(tmp_path).path == tmp_path / name


@pytest.mark.parametrize("text", ["", "version: 1\ntopic_id: rQx8Ll2tQ4u0mJmS9pX1AQ", "version: 0\ntopic_id: x"])
def test_malformed_partition_metadata_is_named(text: str, tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", {0: b""}, {"partition.metadata": text.encode()})
    assert refused(tmp_path).path == place / "partition.metadata"


def test_a_zero_topic_id_is_refused(tmp_path: Path) -> None:
    metadata = b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA"
    partition(tmp_path, "t-0", {0: b""}, {"partition.metadata": metadata})
    assert "zero" in refused(tmp_path).reason


def test_a_malformed_epoch_checkpoint_is_named(tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", {0: b""}, {"leader-epoch-checkpoint": b"0\n2\n0 0\n"})
    assert refused(tmp_path).path == place / "leader-epoch-checkpoint"


def test_two_topic_ids_under_one_name_are_refused(tmp_path: Path) -> None:
    for number, topic_id in enumerate(("rQx8Ll2tQ4u0mJmS9pX1AQ", "dbkpwiB6TJ2rmJGwdWbf4w")):
        metadata = f"version: 0\ntopic_id: {topic_id}".encode()
        partition(tmp_path, f"t-{number}", {0: b""}, {"partition.metadata": metadata})
    with pytest.raises(UsageError, match=r"t-0 has the topic id rQx8.* and t-1 has dbkp"):
        read_log_dirs(tmp_path)


def test_a_folder_without_a_log_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contains no log; give the folder"):
        read_log_dirs(tmp_path)
    partition(tmp_path, "__consumer_offsets-0", {0: b""})
    with pytest.raises(UsageError, match=r"contains no log to mirror \(__consumer_offsets: internal topic\)"):
        read_log_dirs(tmp_path)
    with pytest.raises(UsageError, match="internal topic"):
        read_log_dirs(tmp_path / "__consumer_offsets-0")


def test_the_folder_above_the_right_one_leads_to_it(tmp_path: Path) -> None:
    folder = sample(tmp_path, "txn-0")
    with pytest.raises(UsageError, match=re.escape(f"did you mean {folder}?")):
        read_log_dirs(tmp_path)


def test_segments_in_a_folder_that_names_no_partition_are_not_guessed_at(tmp_path: Path) -> None:
    place = partition(tmp_path, "orders", {0: batch()})
    with pytest.raises(UsageError, match="the name is not TOPIC-PARTITION"):
        read_log_dirs(place)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda path: path / "nowhere", "does not exist"),
        (lambda path: path / "file", "is not a folder"),
        (lambda path: path / "file" / "below", "is not a folder"),
        (lambda path: path / "nul\0", "does not exist"),
    ],
)
def test_a_path_that_is_no_folder_is_reported(make: Callable[[Path], Path], text: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match=text):
        read_log_dirs(make(tmp_path))


@pytest.mark.parametrize(("name", "text"), [("x" * 300, "File name too long"), ("loop", "Too many levels")])
def test_a_path_that_the_system_refuses_is_named(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(Unreadable, match=f"{name}: cannot be read: {text}"):
        read_log_dirs(tmp_path / name)


def test_unreadable_files_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permission errors are patched in, as root ignores permissions."""
    place = partition(tmp_path, "t-0", {0: batch()})
    segment = place / f"{0:020d}.log"
    scandir, read_bytes = os.scandir, Path.read_bytes

    def refuse(path: Path | str) -> PermissionError:
        return PermissionError(13, "Permission denied", str(path))

    def scan(path: Path | str) -> object:
        if Path(path) == closed:
            raise refuse(path)
        return scandir(path)

    def read(path: Path) -> bytes:
        if path == closed:
            raise refuse(path)
        return read_bytes(path)

    monkeypatch.setattr(os, "scandir", scan)
    monkeypatch.setattr(Path, "read_bytes", read)
    for closed in (tmp_path, place, segment, tmp_path / "meta.properties"):
        with pytest.raises(Unreadable, match=re.escape(f"{closed}: cannot be read: Permission denied")):
            read_log_dirs(tmp_path)
