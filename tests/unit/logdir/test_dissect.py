"""`kmirror dissect`: kinds of files, their faults, and the places where it stops."""

from __future__ import annotations

import base64
import json
from itertools import islice
from pathlib import Path
from time import process_time_ns

import pytest
from click.testing import CliRunner, Result

from kmirror.cli.commands import COMMANDS
from kmirror.cli.dissect import command
from kmirror.errors import CorruptBatch, KmirrorError, UsageError
from kmirror.logdir.dissect.core import DissectedRow, with_paths
from kmirror.logdir.dissect.files import KINDS, dissect, kind_of
from kmirror.logdir.faults import Unreadable
from kmirror.records import Compression, ControlType, RecordData, build_batch
from kmirror.records.control import control_batch, mirror_pid_reset
from kmirror.records.legacy import build_message, build_message_set

LOG = "00000000000000000042.log"
BATCH = build_batch([RecordData(b"key", b"value", [("h", None)], 1_700_000_000_123)], base_offset=42)
SAMPLE = Path(__file__).parents[2] / "data" / "records" / "kraft-4.3" / "data"


def run(path: Path, *options: str) -> Result:
    return CliRunner().invoke(command, [str(path), *options], standalone_mode=False)


def written(tmp_path: Path, data: bytes, name: str = LOG) -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def by_path(data: bytes, name: str = LOG) -> dict[str, DissectedRow]:
    found = kind_of(name)
    assert found is not None
    kind, base_offset = found
    return {path: row for row, path in with_paths(dissect(kind, data, base_offset=base_offset))}


@pytest.mark.parametrize(
    ("name", "kind", "offset"),
    [
        ("00000000000000000042.log", "log", 42),
        ("00000000000000000042.log.deleted", "log", 42),
        ("00000000000000000042.log.swap.deleted", "log", 42),
        ("00000000000000000042.index.cleaned", "index", 42),
        ("00000000000000000042.timeindex", "timeindex", 42),
        ("00000000000000000042.txnindex.swap", "txnindex", 42),
        ("00000000000000000042.snapshot", "snapshot", 42),
        ("00000000000000000058-0000000001.checkpoint", "metadata-snapshot", 58),
        ("bootstrap.checkpoint", "metadata-snapshot", 0),
        ("leader-epoch-checkpoint", "epochs", 0),
        ("leader-epoch-checkpoint.tmp", "epochs", 0),  # Killed before the rename.
        ("cleaner-offset-checkpoint", "offsets", 0),
        ("partition.metadata", "partition", 0),
        ("meta.properties", "text", 0),
    ],
)
def test_kind_and_base_offset_follow_from_the_name(name: str, kind: str, offset: int) -> None:
    found = kind_of(name)
    assert found is not None
    assert (found[0].name, found[1]) == (kind, offset)


@pytest.mark.parametrize("name", ["42.log", "x.txt", "00000000000000000042", "leader-epoch-checkpoint.tmp2"])
def test_other_names_have_no_kind(name: str) -> None:
    assert kind_of(name) is None


def test_each_field_has_its_place_value_and_meaning() -> None:
    rows = by_path(BATCH)
    base = rows["batch[0].base_offset"]
    assert (base.start, base.end, base.value) == (0, 8, 42)
    stamp = rows["batch[0].base_timestamp"]
    assert (stamp.start, stamp.end, stamp.meaning) == (27, 35, "2023-11-14 22:13:20.123Z")
    assert rows["batch[0].crc"].meaning == "holds"
    assert rows["batch[0].record[0].key"].value == b"key"
    assert rows["batch[0].record[0].headers[0].name"].meaning == "h"
    assert rows["batch[0].record[0].headers[0].value"].meaning == "null"


def test_inflated_records_count_their_own_bytes() -> None:
    rows = by_path(build_batch([RecordData(b"k", b"v" * 500)], compression=Compression.LZ4))
    payload = rows["batch[0].payload"]
    assert (payload.start, payload.meaning) == (61, "lz4, 510 bytes inflated")
    value = rows["batch[0].payload.record[0].value"]
    assert (value.start, value.end, value.within) == (9, 509, "batch[0].payload")


def test_a_wrong_checksum_is_marked_and_passed() -> None:
    rows = by_path(BATCH.replace(b"value", b"vALUE"))
    assert rows["batch[0].crc"].is_fault
    assert rows["batch[0].crc"].meaning.startswith("WRONG")
    assert "batch[0].record[0].key" in rows
    rows = by_path(build_message_set([RecordData(b"k", b"v")], magic=0)[:-1] + b"w")
    assert rows["batch[0].crc"].is_fault
    snapshot = bytearray((SAMPLE / "txn-0" / "00000000000000000044.snapshot").read_bytes())
    snapshot[-1] ^= 1
    assert by_path(bytes(snapshot), "00000000000000000044.snapshot")["crc"].is_fault


def test_control_records_are_dissected() -> None:
    reset = mirror_pid_reset(base_offset=0, leader_epoch=1, timestamp_ms=2, source_cluster_id="abc")
    rows = by_path(reset)
    assert rows["batch[0].record[0].key.type"].meaning == "MIRROR_PID_RESET"
    assert rows["batch[0].record[0].value.source_cluster_id"].meaning == "abc"
    header = (SAMPLE / "__cluster_metadata-0" / "00000000000000000058-0000000001.checkpoint").read_bytes()
    rows = by_path(header, "bootstrap.checkpoint")
    assert json.loads(rows["batch[0].record[0].value.SnapshotHeaderRecord"].meaning)["version"] == 0


def test_a_negative_record_count_and_an_empty_wrapper_stop_the_dissection() -> None:
    counted = build_batch([], last_offset_delta=0)[:57] + b"\xff\xff\xff\xff"
    with pytest.raises(CorruptBatch, match="cannot hold -1 records"):
        by_path(counted)
    with pytest.raises(CorruptBatch, match="a wrapper contains no message"):
        by_path(build_message(RecordData(None, b"\x00"), magic=1, offset=1, attributes=Compression.SNAPPY))


def test_unclaimed_bytes_have_a_row() -> None:
    records = [RecordData(b"\x00\x01\x00\x01new", b"\x00\x01\x00\x00\x00\x05more")]
    rows = by_path(build_batch(records, is_control=True))
    key, rest = rows["batch[0].record[0].key"], rows["batch[0].record[0].key.rest"]
    assert (rest.start, rest.end, rest.value) == (key.end - 3, key.end, b"new")
    assert rows["batch[0].record[0].value.rest"].value == b"more"
    sound = build_message(RecordData(b"k", b"v"), magic=0, offset=1)
    marker = control_batch(ControlType.COMMIT, bytes(6), base_offset=0, leader_epoch=0, timestamp_ms=0)
    assert not [path for path in (*by_path(sound), *by_path(marker)) if path.endswith("rest")]
    message = bytearray(sound + b"after")
    message[11] += 5
    rest = by_path(bytes(message))["batch[0].rest"]
    assert (rest.start, rest.end, rest.value) == (len(message) - 5, len(message), b"after")


def test_a_truncated_control_value_is_a_fault() -> None:
    for kind in (ControlType.COMMIT, ControlType.LEADER_CHANGE, ControlType.MIRROR_PID_RESET):
        rows = by_path(control_batch(kind, b"\x00", base_offset=0, leader_epoch=0, timestamp_ms=0))
        assert [row for row in rows.values() if row.is_fault]
    rows = by_path(build_batch([RecordData(b"\x00\x00\x00\x63", b"v")], is_control=True))
    assert rows["batch[0].record[0].key.type"].meaning == "unknown type"


def test_an_index_of_a_running_broker_ends_in_unused_room() -> None:
    data = bytes.fromhex("00000005 00000100") + bytes(24)
    rows = by_path(data, "00000000000000000042.index")
    assert rows["entry[0]"].meaning == "offset 47"
    assert (rows["preallocated"].start, rows["preallocated"].end) == (8, 32)
    rows = by_path(data + bytes(1 << 17), "00000000000000000042.index")
    assert (rows["preallocated"].start, rows["preallocated"].end) == (8, 32 + (1 << 17))
    assert list(by_path(bytes(1 << 16), "00000000000000000042.index")) == ["preallocated"]
    rows = by_path(data[:11], "00000000000000000042.index")
    assert rows["remainder"].is_fault


def test_zeros_before_a_stray_byte_are_entries_and_take_no_time() -> None:
    found = kind_of("00000000000000000042.index")
    assert found is not None
    started = process_time_ns()
    rows = list(islice(dissect(found[0], bytes(10 << 20) + b"\x01"), 1200))
    assert rows[-3].name == "entry[399]"
    assert process_time_ns() - started < 2_000_000_000, "to look behind each entry takes 60 ms"


@pytest.mark.parametrize("name", ["leader-epoch-checkpoint", "replication-offset-checkpoint", "partition.metadata"])
@pytest.mark.parametrize("data", [b"0\n2\n1 5\n", b"zero\n", b"0\n1\n1 5\nmore\n", b"\xff\xfe", b"0\n-1\n"])
def test_a_broken_checkpoint_is_refused(name: str, data: bytes) -> None:
    with pytest.raises(CorruptBatch, match="form is broken"):
        by_path(data, name)


def test_an_empty_file_has_no_fields() -> None:
    for kind in KINDS:
        if kind.name != "snapshot":
            assert list(dissect(kind, b"")) == []
    with pytest.raises(CorruptBatch):
        by_path(b"", "00000000000000000042.snapshot")


def test_records_that_do_not_fill_their_batch_stop_the_dissection() -> None:
    for body in (b"\x0a\x00\x00", b"\x0c\x00\x00\x00\x01\x01\x00\xff"):
        length = (49 + len(body)).to_bytes(4, "big")
        data = BATCH[:8] + length + BATCH[12:61] + body
        with pytest.raises(CorruptBatch) as caught:
            by_path(data)
        assert caught.value.offset == 42


def test_the_command_prints_a_line_a_field(tmp_path: Path) -> None:
    result = run(written(tmp_path, BATCH))
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].split(None, 2) == ["0..79", "batch[0]", "offsets 42 to 42, 1 record"]
    assert any(
        line.split()[:4] == ["17..21", "crc", f"{int.from_bytes(BATCH[17:21], 'big'):#010x}", "holds"] for line in lines
    )
    shallow = run(written(tmp_path, BATCH), "--depth", "0").output
    assert shallow.splitlines() == lines[:1]


def test_as_json_bytes_are_base64(tmp_path: Path) -> None:
    found = [json.loads(line) for line in run(written(tmp_path, BATCH), "-o", "json").output.splitlines()]
    (key,) = [row for row in found if row["path"] == "batch[0].record[0].key"]
    assert base64.b64decode(key["value"]) == b"key"
    assert (key["start"], key["end"], key["within"], key["fault"]) == (66, 69, None, False)


def test_a_fault_exits_with_1(tmp_path: Path) -> None:
    result = run(written(tmp_path, BATCH.replace(b"value", b"vALUE")))
    assert result.return_value == 1
    assert "FAULT" in result.output


def test_a_torn_end_names_file_and_place_after_the_readable_part(tmp_path: Path) -> None:
    path = written(tmp_path, BATCH + BATCH[:70])
    result = run(path)
    assert "batch[0]" in result.output
    assert isinstance(result.exception, KmirrorError)
    assert str(result.exception) == f"{path}: a batch of 79 bytes, but only 70 bytes are left (offset 42) (at byte 79)"


@pytest.mark.parametrize(("name", "reason"), [("x.txt", "--as"), (LOG, "No such file"), ("", "directory")])
def test_unreadable_files_are_reported(tmp_path: Path, name: str, reason: str) -> None:
    path = tmp_path / name
    if name == "x.txt":
        path.write_bytes(BATCH)
    result = run(path, *(["--as", "log"] if not name else []))
    assert isinstance(result.exception, UsageError | Unreadable)
    assert str(path) in str(result.exception) and reason in str(result.exception)


def test_the_kind_can_be_given_as_an_option(tmp_path: Path) -> None:
    assert run(written(tmp_path, BATCH, "x.txt"), "--as", "log").exit_code == 0
    assert run(written(tmp_path, b"", "x.log"), "--as", "log").output == ""


def test_a_bomb_is_refused_by_the_limit(tmp_path: Path) -> None:
    bomb = build_batch([RecordData(None, bytes(100_000))], compression=Compression.GZIP)
    result = run(written(tmp_path, bomb), "--limit", "1000")
    assert isinstance(result.exception, CorruptBatch)
    assert "limit of 1000 bytes" in str(result.exception)


def test_the_command_is_registered() -> None:
    assert "dissect" in {row.name for row in COMMANDS}
