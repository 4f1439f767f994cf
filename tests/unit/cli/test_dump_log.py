"""`kmirror dump-log`: cases that the recorded runs lack, its JSON, and files that no broker would write."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from struct import Struct
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kmirror.cli.dump_log import command
from kmirror.errors import KmirrorError
from kmirror.kernel.uuid import Uuid
from kmirror.logdir.dump.indexes import OffsetIndexFile
from kmirror.logdir.mapped import mapped
from kmirror.protocol.gen.last_mirror_epochs_key import LastMirrorEpochsKey
from kmirror.protocol.gen.mirror_partition_state_key import MirrorPartitionStateKey
from kmirror.protocol.gen.mirror_partition_state_value import MirrorPartitionStateValue
from kmirror.protocol.keyed_records import encode_key, encode_value
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.control import mirror_pid_reset
from kmirror.records.legacy import build_message_set
from kmirror.records.record import RecordData

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "cli"
SEGMENT = "00000000000000000000.log"
TOPIC_ID = Uuid.from_str("ZFUKq8B7TeGWNDoHLjIrCg")


def dump(*arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments))


def lines(result: Result) -> list[str]:
    assert result.exception is None, result.exception
    return result.stdout.splitlines()


def objects(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(result)]


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    """Return the path of a segment that begins at offset 0."""
    return tmp_path / SEGMENT


@pytest.mark.kip("1279", "dump")
@pytest.mark.decision("D8")
@pytest.mark.decision("D20")
def test_mirror_state_shows_the_whole_key(segment: Path) -> None:
    key = MirrorPartitionStateKey(mirror_name="my-mirror", topic_id=TOPIC_ID, partition=3)
    value = MirrorPartitionStateValue(topic_name="my-topic", partition=3, state=1)
    fenced = MirrorPartitionStateValue(topic_name="my-topic", partition=3, state=1, leader_epoch=7)
    records = [
        RecordData(encode_key(key), encode_value(value, 0), (), 1771239071191),
        RecordData(encode_key(key), encode_value(fenced, 0), (), 1771239071191),
        RecordData(encode_key(LastMirrorEpochsKey(mirror_name="m", topic_id=TOPIC_ID, partition=3)), None, (), 1),
        RecordData(b"\x00\x09", b"", (), 1),
    ]
    segment.write_bytes(build_batch(records, partition_leader_epoch=0))
    shown = [
        line.partition("headerKeys: [] ")[2] for line in lines(dump("--mirror-state-decoder", "--files", str(segment)))
    ]
    place = '"mirrorName":"my-mirror","topicId":"ZFUKq8B7TeGWNDoHLjIrCg","partition":3'
    stands = '"topicName":"my-topic","partition":3,"state":1'
    assert shown[3:] == [
        f'key: {{"type":"2","data":{{{place}}}}} payload: {{"version":"0","data":{{{stands}}}}}',
        f'key: {{"type":"2","data":{{{place}}}}} payload: {{"version":"0","data":{{{stands},"leaderEpoch":7}}}}',
        f'key: {{"type":"1","data":{{{place.replace("my-mirror", "m")}}}}} payload: <DELETE>',
        "key: Unknown record type 9 at offset 3, skipping.",
    ]


@pytest.mark.kip("1279", "dump")
@pytest.mark.decision("D20")
def test_a_pid_reset_is_shown_as_the_other_control_records_are(segment: Path) -> None:
    segment.write_bytes(mirror_pid_reset(base_offset=0, leader_epoch=5, timestamp_ms=9, source_cluster_id="source"))
    shown = lines(dump("--print-data-log", "--files", str(segment)))
    assert shown[3].endswith('headerKeys: [] MirrorPidReset {"version":0,"sourceClusterId":"source"}')
    assert objects(dump("--deep-iteration", "-o", "json", "--files", str(segment)))[3]["control"] == {
        "type": "MIRROR_PID_RESET",
        "data": {"version": 0, "sourceClusterId": "source"},
    }


def test_disagreements_are_printed_to_stderr(segment: Path) -> None:
    first = build_batch([RecordData(b"k", b"v", (), 5)])
    segment.write_bytes(first + build_batch([RecordData(b"k", b"v", (), 6)], base_offset=7))
    index, times = segment.with_suffix(".index"), segment.with_suffix(".timeindex")
    index.write_bytes(bytes.fromhex("00000001 00000000"))
    times.write_bytes(bytes.fromhex("0000000000000009 00000007 0000000000000008 00000007 0000000000000009 00000005"))
    result = dump("--deep-iteration", "--files", f"{segment},{index},{times},{segment.with_name('x')}")
    assert result.exception is None
    assert result.stderr.splitlines() == [
        f"Ignoring unknown file {segment.with_name('x')}",
        f"Mismatches in :{index}",
        "  Index offset: 1, log offset: 0",
        f"Found timestamp mismatch in :{times}",
        "  Index timestamp: 9, log timestamp: 6",
        "  Index timestamp: 8, log timestamp: 6",
        f"Found out of order timestamp in :{times}",
        "  Index timestamp: 8, Previously indexed timestamp: 9",
        f"The following indexed offsets are not found in :{times}",
        "Indexed offset: 5, found log offset: 7",
        f"Non-consecutive offsets in {segment}",
        "  0 is followed by 7",
    ]


def test_a_codec_that_does_not_exist_ends_the_dump_in_the_line(segment: Path) -> None:
    batch = bytearray(build_batch([RecordData(b"k", b"v", (), 5)]))
    batch[22] |= 7
    segment.write_bytes(batch)
    result = dump("--files", str(segment))
    assert result.stdout.endswith("deleteHorizonMs: OptionalLong.empty")
    assert str(result.exception) == f"{segment}, position 0, offset 0: compression type 7 does not exist"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no-number.log", "the name does not begin with an offset"),
        ("missing/00000000000000000000.log", "no such file"),
        ("0-1.checkpoint", "a snapshot's name is an offset of 20 digits, a dash and an epoch of 10"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, name: str, reason: str) -> None:
    result = dump("--files", str(tmp_path / name))
    assert isinstance(result.exception, KmirrorError)
    assert str(result.exception) == f"{tmp_path / name}: {reason}"


def test_index_of_a_missing_log_is_refused_and_nothing_is_created(tmp_path: Path) -> None:
    (tmp_path / "5.timeindex").write_bytes(bytes(12))
    result = dump("--files", str(tmp_path / "5.timeindex"))
    assert str(result.exception) == f"{tmp_path / '5.log'}: no such file"
    assert [path.name for path in tmp_path.iterdir()] == ["5.timeindex"]


def test_a_batch_cut_off_by_max_bytes_is_not_invalid(segment: Path) -> None:
    one = build_batch([RecordData(b"k", b"v")])
    segment.write_bytes(one + one)
    shown = dump("--max-bytes", str(len(one) + 20), "--files", str(segment))
    assert len(lines(shown)) == 3 and "invalid" not in shown.stdout
    segment.write_bytes(one + one[:20])
    assert lines(dump("--files", str(segment)))[-1] == f"Found 20 invalid bytes at the end of {SEGMENT}"


def test_the_last_record_is_shown_when_nothing_follows_it(segment: Path) -> None:
    two = build_batch([RecordData(b"k", b"v"), RecordData(b"k", b"w")])
    segment.write_bytes(two[:57] + (1).to_bytes(4, "big") + two[61:])
    shown = dump("--deep-iteration", "--files", str(segment))
    assert isinstance(shown.exception, KmirrorError)
    assert "| offset" not in shown.stdout
    segment.write_bytes(two)
    assert dump("--deep-iteration", "--files", str(segment)).stdout.count("| offset") == 2


def test_a_wrapper_with_offset_0_does_not_determine_the_offsets_inside(segment: Path) -> None:
    records = [RecordData(b"k", b"%d" % number, (), 1) for number in range(3)]
    wrapper = build_message_set(records, magic=1, compression=Compression.GZIP)
    segment.write_bytes(bytes(8) + wrapper[8:])
    shown = [line.split()[2] for line in lines(dump("--deep-iteration", "--files", str(segment))) if line[0] == "|"]
    assert shown == ["0", "1", "2"]


def test_a_time_index_that_ends_below_its_segment_is_not_sane(segment: Path) -> None:
    segment.write_bytes(build_batch([RecordData(b"k", b"v")]))
    segment.with_suffix(".index").write_bytes(bytes(8))
    segment.with_suffix(".timeindex").write_bytes(b"".join(Struct(">qi").pack(*row) for row in ((5, 0), (6, -1))))
    shown = dump("--index-sanity-check", "--files", str(segment.with_suffix(".timeindex")))
    assert "position 12: the last offset is -1, less than the base offset 0" in str(shown.exception)


def test_a_lookup_stops_at_the_row_that_it_meets_as_kafkas_does(segment: Path) -> None:
    path = segment.with_suffix(".index")
    path.write_bytes(b"".join(Struct(">ii").pack(*row) for row in ((1, 5), (7, 10), (7, 20), (7, 30))))
    with mapped(path) as file:
        assert OffsetIndexFile(file, 0).lookup(7) == (7, 20)


def test_numbers_as_keys_and_values(segment: Path) -> None:
    segment.write_bytes(
        build_batch([RecordData((-7).to_bytes(4, "big", signed=True), (1 << 40).to_bytes(8, "big"), (), 1)])
    )
    classes = [
        f"--{what}-decoder-class=org.apache.kafka.tools.api.{name}Decoder"
        for what, name in (("key", "Integer"), ("value", "Long"))
    ]
    assert lines(dump(*classes, "--files", str(segment)))[3].endswith("key: -7 payload: 1099511627776")
    result = dump(classes[1].replace("value", "key"), "--files", str(segment))
    assert str(result.exception) == f"{segment}, position 0, offset 0: a number of 8 bytes cannot be read from 4"


def test_an_unknown_class_is_refused_by_name(segment: Path) -> None:
    segment.write_bytes(b"")
    result = dump("--key-decoder-class", "com.example.Mine", "--files", str(segment))
    assert "unknown decoder class 'com.example.Mine'" in str(result.exception)


def test_json_lines(segment: Path) -> None:
    records = [RecordData(b"k", "é".encode(), [("h", b"\xff"), ("n", None)], 5), RecordData(None, b"\xff", (), 5)]
    segment.write_bytes(build_batch(records, producer_id=4, producer_epoch=1, base_sequence=9) + b"\x00" * 10)
    plain = objects(dump("--print-data-log", "-o", "json", "--files", str(segment)))
    assert [row["type"] for row in plain] == ["file", "log", "batch", "record", "record", "invalid_bytes"]
    assert plain[2]["producer_id"] == 4 and plain[2]["is_valid"] is True and plain[2]["compression"] == "none"
    assert plain[3] == {
        "type": "record", "offset": 0, "timestamp": 5, "timestamp_type": "CreateTime", "key_size": 1, "value_size": 2,
        "sequence": 9, "headers": [["h", "/w=="], ["n", None]], "key": "aw==", "value": "w6k=",
    }  # fmt: skip
    assert plain[5] == {"type": "invalid_bytes", "count": 10, "name": SEGMENT}
    text = objects(dump("--print-data-log", "-o", "json", "--text", "--files", str(segment)))
    assert (text[3]["key"], text[3]["value"], text[3]["headers"]) == (
        "k",
        "é",
        [["h", {"base64": "/w=="}], ["n", None]],
    )
    assert (text[4]["key"], text[4]["value"]) == (None, {"base64": "/w=="})


def test_json_of_all_recorded_files_is_json() -> None:
    for path in sorted(SAMPLE.rglob("*.*")):
        if path.suffix in (".log", ".index", ".timeindex", ".txnindex", ".snapshot", ".checkpoint"):
            result = dump("--deep-iteration", "-o", "json", "--files", str(path))
            assert result.exception is None or isinstance(result.exception, KmirrorError)
            rows = [json.loads(line) for line in result.stdout.splitlines()]
            assert rows[0] == {"type": "file", "path": str(path)}


@pytest.mark.parametrize("path", sorted(SAMPLE.glob("*-*/data/*/0*.*")), ids=lambda path: path.name)
def test_any_garbage_is_reported_or_refused(tmp_path: Path, path: Path) -> None:
    if path.suffix == ".txt" or path.stat().st_size > 8192:
        return
    shutil.copytree(path.parent, tmp_path / "copy")
    target = tmp_path / "copy" / path.name
    whole = path.read_bytes()
    for at in range(0, len(whole), max(1, len(whole) // 25)):
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :]):
            target.write_bytes(damaged)
            result = dump("--print-data-log", "--files", str(target))
            assert result.exception is None or isinstance(result.exception, KmirrorError), result.exception
