"""Messages of formats 0 and 1 in a log folder are read unchanged, and checked as strictly as batches (D21)."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.logdir.load import read_log_dirs
from kmirror.records import layout
from kmirror.records.codecs import Compression, compress
from kmirror.records.legacy import LegacyBatch, build_message, iter_any_batches
from kmirror.records.record import RecordData
from tests.builders import batch
from tests.unit.logdir.folders import TAILS, assert_refused, checkpoint, messages, partition, refused

pytestmark = pytest.mark.decision("D21")
WRITTEN = Path(__file__).resolve().parents[2] / "data" / "log" / "legacy-2.1"  # By Kafka 2.1.1.
ENDS = {"mixed-012-0": 73, "v0-1": 60, "v1-1": 67}
GZIP = Compression.GZIP


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of Kafka 2.1.1, with the checkpoints of a clean shutdown."""
    copy = tmp_path / "logs"
    shutil.copytree(WRITTEN, copy)
    rows = [f"{name.rpartition('-')[0]} {name.rpartition('-')[2]} {end}" for name, end in ENDS.items()]
    (copy / "recovery-point-offset-checkpoint").write_bytes(checkpoint(rows))
    (copy / ".kafka_cleanshutdown").write_bytes(b"")
    return copy


def segment(folder: Path, name: str) -> Path:
    return folder / name / f"{0:020d}.log"


def test_all_formats_are_read_byte_for_byte(folder: Path) -> None:
    found = read_log_dirs(folder)
    assert found.skipped == []
    assert {str(tp): files.log_end_offset for tp, files in found.partitions.items()} == ENDS
    for tp, files in found.partitions.items():
        assert files.segments == {0: segment(folder, str(tp)).read_bytes()}
        assert files.batches == len(list(iter_any_batches(files.segments[0])))
    assert found.partitions[TopicPartition("v1", 1)].log_start_offset == 13
    magics = [one.magic for one in iter_any_batches(found.partitions[TopicPartition("mixed-012", 0)].segments[0])]
    assert set(magics) == {0, 1, 2} and magics == sorted(magics)


@pytest.mark.parametrize("name", sorted(ENDS))
def test_a_flipped_bit_anywhere_is_found_where_it_is(folder: Path, name: str) -> None:
    victim = segment(folder, name)
    data = victim.read_bytes()
    found = list(iter_any_batches(data))
    draw = random.Random(f"flip {name}")
    spots = [draw.randrange(len(data)) for _ in range(60)]
    for one in draw.sample(found, 8):
        spots += [one.position + at for at in range(layout.MAGIC_AT + 2) if isinstance(one, LegacyBatch)]
    for spot in spots:
        hit = next(one for one in found if spot < one.position + one.size_in_bytes)
        broken = bytearray(data)
        broken[spot] ^= 1 << draw.randrange(8)
        victim.write_bytes(broken)
        error = refused(folder)
        assert error.path == victim
        if spot - hit.position >= layout.LOG_OVERHEAD:
            assert error.position == hit.position
        else:  # A wrong offset may show at the next message, or at the end; a wrong size at any place.
            assert error.position is not None and error.position >= hit.position


@pytest.mark.parametrize("name", sorted(ENDS))
def test_a_truncation_inside_a_message_names_the_message(folder: Path, name: str) -> None:
    victim = segment(folder, name)
    data = victim.read_bytes()
    found = list(iter_any_batches(data))
    draw = random.Random(f"cut {name}")
    for cut in [1, 7, 8, 11, 12, 17, 18, 25, len(data) - 1, *(draw.randrange(1, len(data)) for _ in range(40))]:
        torn = next(one for one in found if cut < one.position + one.size_in_bytes)
        victim.write_bytes(data[:cut])
        error = refused(folder)
        assert (error.path, error.position) == (victim, torn.position)
        if cut == torn.position:  # Nothing is torn, but the recovery point is higher.
            assert error.offset == found[found.index(torn) - 1].next_offset
        elif cut - torn.position >= layout.BATCH_LENGTH_AT:
            assert error.offset == (torn.last_offset if isinstance(torn, LegacyBatch) else torn.base_offset)


@pytest.mark.parametrize("name", sorted(ENDS))
def test_bytes_after_the_last_message_are_an_error_at_their_position(folder: Path, name: str) -> None:
    victim = segment(folder, name)
    data = victim.read_bytes()
    for tail, reason in TAILS:
        victim.write_bytes(data + tail)
        error = refused(folder)
        assert (error.path, error.position, error.offset) == (victim, len(data), ENDS[name])
        assert reason in error.reason


def renumbered(message: bytes, offset: int) -> bytes:
    """Return the message with another offset, which its checksum does not cover."""
    return offset.to_bytes(8, "big", signed=True) + message[8:]


@pytest.mark.parametrize(
    ("segments", "file", "position", "offset", "reason"),
    [
        ({0: messages(0, 3) + messages(2)}, 0, len(messages(0, 3)), 2, "not above 2, the previous one"),
        (
            {0: messages(0, 3) + messages(2, 2, codec=GZIP)},
            0,
            len(messages(0, 3)),
            3,
            "begins with offset 2: an offset that is not above 2",
        ),
        ({0: batch(3) + messages(1, magic=0)}, 0, len(batch(3)), 1, "not above 2, the previous one"),
        ({10: messages(9)}, 10, 0, 9, "below the segment's base offset 10"),
        ({0: renumbered(messages(0), -1)}, 0, 0, -1, "below the segment's base offset 0"),
        (
            {0: messages(0, 3), 2: messages(3)},
            0,
            2 * len(messages(0)),
            2,
            "continues to offset 2, but the next one begins with 2",
        ),
        (
            {0: messages(0, 5), 5: messages(4, 2, codec=GZIP)},
            5,
            0,
            5,
            "begins with offset 4: an offset below the segment's base offset 5",
        ),
        ({0: renumbered(messages(0), 2**63 - 1)}, 0, 0, 2**63 - 1, "more than 2147483647 above"),
        ({0: renumbered(messages(0, 3, magic=0, codec=GZIP), 5)}, 0, 0, 5, "has offset 5, but its last message has 2"),
        (
            {0: batch(epoch=5) + messages(1) + batch(offset=2, epoch=4)},
            0,
            len(batch() + messages(1)),
            2,
            "is 4, after 5",
        ),
    ],
)
def test_messages_out_of_their_place_are_refused(
    segments: dict[int, bytes], file: int, position: int, offset: int, reason: str, tmp_path: Path
) -> None:
    assert_refused(tmp_path, segments, file, position, offset, reason)


def wrapper(inside: bytes, offset: int) -> bytes:
    """Return a gzip wrapper of format 0 around these bytes."""
    return build_message(RecordData(None, compress(GZIP, inside)), magic=0, offset=offset, attributes=GZIP)


def test_offsets_inside_a_wrapper_ascend(tmp_path: Path) -> None:
    inner = messages(1, magic=0) + messages(0, magic=0) + messages(2, magic=0)
    partition(tmp_path, "t-0", {0: wrapper(inner, 2)})
    assert "do not ascend: [1, 0, 2]" in refused(tmp_path).reason


@pytest.mark.parametrize(
    ("inside", "reason"),
    [
        (b"no set", "inside the wrapper, at byte 0"),
        (b"", "contains no message"),
        (messages(0)[:-1], "inside the wrapper"),
    ],
)
def test_a_wrapper_that_cannot_be_read_is_refused_though_its_checksum_holds(
    inside: bytes, reason: str, tmp_path: Path
) -> None:
    partition(tmp_path, "t-0", {0: messages(0) + wrapper(inside, 1)})
    error = refused(tmp_path)
    assert (error.position, error.offset) == (len(messages(0)), 1)
    assert reason in error.reason


def test_a_log_may_begin_inside_a_wrapper(tmp_path: Path) -> None:
    """A replica that began at a log start inside a wrapper has the whole wrapper, in a segment of that name."""
    whole = messages(10, 5, codec=GZIP)
    partition(tmp_path, "t-0", {12: whole + messages(15)})
    (files,) = read_log_dirs(tmp_path).partitions.values()
    assert (files.log_start_offset, files.log_end_offset, files.batches) == (12, 16, 2)


def test_a_checkpoint_that_gives_a_message_an_epoch_is_contradicted_by_it(tmp_path: Path) -> None:
    files = {"leader-epoch-checkpoint": checkpoint(["0 1"])}
    partition(tmp_path, "t-0", {0: messages(0, 2) + batch(offset=2)}, files)
    read_log_dirs(tmp_path)  # After a crash the checkpoint proves nothing.
    (tmp_path / ".kafka_cleanshutdown").write_bytes(b"")
    error = refused(tmp_path)
    assert (error.position, error.offset) == (len(messages(0)), 1)
    assert "format 1 has no epoch, but leader-epoch-checkpoint says 0" in error.reason


def test_an_interrupted_compaction_of_old_messages_is_brought_to_its_end(tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", {0: messages(0, 5), 5: messages(5, 5), 10: messages(10)})
    (place / f"{0:020d}.log.swap").write_bytes(messages(1) + messages(8, 2, codec=GZIP))
    (files,) = read_log_dirs(tmp_path).partitions.values()
    assert files.segments == {0: messages(1) + messages(8, 2, codec=GZIP), 10: messages(10)}
    (place / f"{0:020d}.log.swap").write_bytes(messages(1)[:-1])
    assert refused(tmp_path).path == place / f"{0:020d}.log.swap"
