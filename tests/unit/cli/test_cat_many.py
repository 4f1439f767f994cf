"""`kmirror cat`: several partitions, the requested ends, hidden records, and readable JSON."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kmirror.cli.cat import command
from kmirror.errors import UsageError
from kmirror.records.build import build_batch
from kmirror.records.legacy import build_message_set
from kmirror.records.record import RecordData
from tests.builders import batch_of, marker, write_segment

PLACE = "%t-%p@%o "


def cat(*words: str | Path) -> Result:
    return CliRunner().invoke(command, [str(word) for word in words])


def refusal(*words: str | Path) -> str:
    result = cat(*words)
    assert isinstance(result.exception, UsageError), result
    assert result.stdout == ""
    return str(result.exception)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A log folder: topic `a` in 0, 2 and 10, topic `b` in 0; two records each."""
    for name in ("a-10", "a-2", "b-0", "a-0"):
        (tmp_path / name).mkdir()
        write_segment(tmp_path / name, batch_of(b"x", b"y"))
    return tmp_path


def checkpoint(top: Path, *lines: str) -> None:
    (top / "replication-offset-checkpoint").write_text("\n".join(("0", str(len(lines)), *lines)) + "\n")


# -- which partitions -------------------------------------------------------------------------


def test_partitions_are_sorted_by_topic_and_number(top: Path) -> None:
    whole = "a-0@0 a-0@1 a-2@0 a-2@1 a-10@0 a-10@1 "
    assert cat(top, "--topic", "a", "-f", PLACE).stdout == whole
    assert cat(top / "a-10", top / "a-0", top / "a-2", "-f", PLACE).stdout == whole
    assert cat(top, "-t", "b", "-t", "a", "-f", PLACE).stdout == whole + "b-0@0 b-0@1 "
    assert cat(top, "-t", "a", "-p", "10", "-p", "2", "-f", PLACE).stdout == "a-2@0 a-2@1 a-10@0 a-10@1 "
    assert cat(top / "a-10", top / "b-0", "-t", "a", "-f", PLACE).stdout == "a-10@0 a-10@1 "


def test_the_log_folders_of_one_broker_are_read_together(top: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("disk-2")
    (other / "a-1").mkdir()
    write_segment(other / "a-1", batch_of(b"x"))
    (other / "a-3").mkdir()  # The broker was killed right after it made the folder.
    assert cat(other, top, "-t", "a", "-f", "%p ").stdout == "0 0 1 2 2 10 10 "


def test_a_partition_that_is_there_twice_is_refused(top: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("replica")
    (other / "a-2").mkdir()
    write_segment(other / "a-2", batch_of(b"x"))
    assert refusal(top, other, "-t", "a") == f"{top / 'a-2'} and {other / 'a-2'} are both a-2: give only one of them"
    assert "are both a-2" in refusal(top / "a-2", top / "a-2")
    assert cat(top, other, "-t", "b").exit_code == 0


def test_a_selection_without_partitions_is_refused(top: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert refusal(top).startswith(f"{top}: a log folder with a, b: select a topic with --topic")
    assert refusal(top, "-t", "orders") == f"{top}: no partitions of topic orders; available topics: a, b"
    (top / "orders-0").mkdir()
    assert refusal(top, "-t", "ordes").endswith("no partitions of topic ordes; did you mean orders?")
    assert refusal(top, "-t", "a", "-t", "c").startswith(f"{top}: no partitions of topic c;")
    assert refusal(top, "-t", "a", "-p", "2", "-p", "3") == f"{top}: no partition 3; available: 0, 2, 10"
    assert "a-2: no partitions of topic b; available topics: a" in refusal(top / "a-2", "-t", "b")
    empty = tmp_path_factory.mktemp("empty")
    (empty / "meta.properties").write_text("version=1\n")
    assert refusal(empty, "-t", "a") == f"{empty}: a log folder without partitions"
    assert cat().exit_code == 2


def test_no_record_is_printed_before_all_folders_and_the_format_are_checked(top: Path) -> None:
    (top / "nothing").mkdir()
    assert "contains no segment files" in refusal(top / "a-0", top / "nothing")
    assert "unknown %z" in refusal(top, "-t", "a", "-f", "%z")


# -- where it ends ----------------------------------------------------------------------------


def test_max_messages_counts_over_all_partitions(top: Path) -> None:
    assert cat(top, "-t", "a", "-f", PLACE, "-c", "3").stdout == "a-0@0 a-0@1 a-2@0 "
    assert cat(top, "-t", "a", "-f", PLACE, "--max-messages", "0").stdout == ""
    assert cat(top, "-t", "a", "-f", "%o", "-c", "100").stdout == "010101"


def test_records_after_the_last_requested_one_are_not_read(top: Path) -> None:
    whole = batch_of(*[b"v"] * 4)
    write_segment(top / "a-0", whole, whole[:-1])
    assert cat(top / "a-0", "-f", "%o", "-c", "4").stdout == "0123"
    assert cat(top / "a-0", "-f", "%o", "--until-offset", "4").stdout == "0123"
    assert cat(top / "a-0", "-f", "%o", "--until-offset", "4", "--timestamp", "1" + "0" * 18).exit_code == 0
    for words in (("-c", "5"), ("--until-offset", "5"), ()):
        failed = cat(top / "a-0", "-f", "%o", *words)
        assert (failed.exit_code, failed.stdout) == (1, "0123")


def test_the_offset_at_which_it_ends_is_not_printed(top: Path) -> None:
    write_segment(top / "a-0", batch_of(b"0", b"1", b"2"), batch_of(b"3", b"4", offset=3), batch_of(b"5", offset=5))
    for until, found in (("0", ""), ("2", "01"), ("3", "012"), ("4", "0123"), ("5", "01234"), ("99", "012345")):
        assert cat(top / "a-0", "--until-offset", until, "-f", "%o").stdout == found, until
    assert cat(top / "a-0", "--from-offset", "1", "--until-offset", "4", "-f", "%o").stdout == "123"
    assert cat(top / "a-0", "--from-offset", "4", "--until-offset", "4", "-f", "%o").stdout == ""
    wrapper = build_message_set([RecordData(None, b"v", (), 1)] * 4, magic=1, compression=1)
    write_segment(top / "a-0", wrapper)
    assert cat(top / "a-0", "--until-offset", "2", "-f", "%o").stdout == "01"


def test_until_offset_does_not_change_which_records_are_committed(top: Path) -> None:
    write_segment(
        top / "a-0",
        batch_of(b"aborted", producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True),
        batch_of(b"plain", offset=1),
        marker(offset=2, pid=1, commit=False),
    )
    assert cat(top / "a-0", "--read-committed", "--until-offset", "2").stdout == "plain\n"


# -- hidden records ----------------------------------------------------------------------------


def test_records_above_the_high_watermark_are_reported_as_hidden(top: Path) -> None:
    checkpoint(top, "a 0 0", "a 2 1", "a 10 2", "b 0 2")
    write_segment(top / "a-2", batch_of(b"x"), batch_of(b"y", offset=1), marker(offset=2, commit=True))
    told = cat(top, "-t", "a", "-f", PLACE)
    assert (told.exit_code, told.stdout) == (0, "a-2@0 a-10@0 a-10@1 ")
    assert told.stderr.splitlines() == [
        "kmirror: a-0: 2 records are not shown, at or above the high watermark 0; --to-end prints them",
        "kmirror: a-2: 1 record is not shown, at or above the high watermark 1; --to-end prints them",
    ]
    assert cat(top, "-t", "a", "-o", "json").stderr == told.stderr


def test_only_requested_records_are_reported_as_hidden(top: Path) -> None:
    write_segment(top / "a-0", batch_of(*[b"v"] * 5), batch_of(*[b"v"] * 5, offset=5))
    checkpoint(top, "a 0 5")
    hidden = {"--from-offset=7": 3, "--until-offset=7": 2, "--until-offset=5": 0, "-c5": 0, "--to-end": 0, "-c6": 5}
    for word, count in hidden.items():
        told = cat(top / "a-0", word).stderr
        assert (f"a-0: {count} records are not shown" in told) == bool(count), (word, told)
    write_segment(top / "a-0", batch_of(*[b"v"] * 5), marker(offset=5, commit=True))
    assert cat(top / "a-0").stderr == ""


def test_a_torn_end_above_the_high_watermark_is_no_fault(top: Path) -> None:
    write_segment(top / "a-0", batch_of(b"v"), batch_of(b"v", b"v", offset=1), batch_of(b"v", offset=3)[:-1])
    checkpoint(top, "a 0 1")
    told = cat(top / "a-0")
    assert (told.exit_code, told.stdout) == (0, "v\n")
    assert told.stderr.startswith("kmirror: a-0: at least 2 records are not shown, at or above the high watermark 1;")


# -- JSON -------------------------------------------------------------------------------------


def test_json_has_text_as_text_and_other_bytes_as_base64(top: Path) -> None:
    record = RecordData(
        "Zoë".encode(), b"\xff\x00", [("h", b"text"), ("h", b"\xc3"), ("n", None), ("e", b"")], 1_700_000_000_123
    )
    write_segment(top / "a-0", build_batch([record, RecordData(None, b"", (), 5)]))
    first, second = (json.loads(line) for line in cat(top / "a-0", "-o", "json").stdout.splitlines())
    assert first == {
        "topic": "a", "partition": 0, "offset": 0, "timestamp": 1_700_000_000_123,
        "timestamp_utc": "2023-11-14T22:13:20.123Z", "timestamp_type": "CreateTime", "leader_epoch": None,
        "key": "Zoë", "value_base64": "/wA=",
        "headers": [
            {"key": "h", "value": "text"}, {"key": "h", "value_base64": "ww=="}, {"key": "n", "value": None},
            {"key": "e", "value": ""},
        ],
    }  # fmt: skip
    assert (second["key"], second["value"]) == (None, "")


@pytest.mark.parametrize(
    "value",
    [
        b"a\nb\r\x00\x1b[31m\x7f",
        "\x9b31m\x85".encode(),  # C1 controls: a terminal treats the first as an escape sequence.
        "\u2028\u2029\ufeff".encode(),  # Some readers treat these as the end of a line, or as a byte order mark.
        "\U0001f600 \ufffd".encode(),
        b"\xed\xa0\x80",  # A surrogate has no UTF-8.
        b"\xc0\x80",
        bytes(range(256)),
    ],
)
def test_no_value_breaks_a_line_or_is_lost(top: Path, value: bytes) -> None:
    write_segment(top / "a-0", batch_of(value))
    out = cat(top / "a-0", "-o", "json").stdout
    assert len(out.splitlines()) == 1
    assert not any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in out.rstrip("\n"))
    row = json.loads(out)
    assert (row["value"].encode() if "value" in row else base64.b64decode(row["value_base64"])) == value


# -- streaming --------------------------------------------------------------------------------


PEAK = """if True:
    import sys
    from pathlib import Path
    from kmirror.cli.main import run
    try:
        run(sys.argv[1:])
    finally:
        print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0], file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the peak of a process alone, without its parent's")
def test_a_log_is_printed_in_memory_that_does_not_grow_with_it(top: Path) -> None:
    peaks = []
    for count in (1, 60):
        write_segment(top / "a-0", *(batch_of(os.urandom(1 << 20), offset=number) for number in range(count)))
        words = [sys.executable, "-c", PEAK, "cat", str(top), "-t", "a", "-o", "json", "--read-committed"]
        ended = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
        peaks.append(int(ended.stderr.splitlines()[-1]))
    assert peaks[1] - peaks[0] < 30_000, peaks  # KiB, of 60 MiB.


def test_a_reader_that_has_enough_ends_it_quietly(top: Path) -> None:
    write_segment(top / "a-0", *(batch_of(b"v" * 1000, offset=number) for number in range(1000)))
    checkpoint(top, "a 0 999")
    script = f'{{ "{sys.executable}" -m kmirror cat "{top}" -t a; echo $? >&2; }} | head -n 1'
    ended = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("v" * 1000 + "\n", "1\n")
