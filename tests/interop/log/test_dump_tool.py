"""Kafka's dump tool reads kmirror's files without errors, and prints the same as `kmirror dump-log`.

tests/interop/conftest.py describes the source of Kafka's jars.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from kmirror.cli.dump_log import command
from tests.golden.cli.command_lines import ASKED_FOR_HELP, NOTHING, REFUSED_AT_A_FILE, TABLE, arguments, lay_out
from tests.interop.log.judge import Judge
from tests.interop.log.written import Written

METADATA = "__cluster_metadata-0"
RESET = re.compile(r" MirrorPidReset \{.*\}")


def files(written: Written, *suffixes: str) -> list[Path]:
    """Return all files with these suffixes; the tool fails for an index of an empty log, so those are left out."""
    return [
        path
        for path in sorted(written.path.glob("*-*/*"))
        if path.suffix in suffixes and (path.suffix == ".snapshot" or path.with_suffix(".log").stat().st_size)
    ]


def both(judge: Judge, paths: list[Path], *flags: str) -> tuple[str, str]:
    """Return the output of Kafka's tool and of kmirror's."""
    arguments = [*flags, "--files", ",".join(map(str, paths))]
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return judge.dump(*arguments), result.stdout_bytes.decode()


@pytest.mark.parametrize("flags", [(), ("--deep-iteration",), ("--deep-iteration", "--print-data-log")], ids=len)
def test_logs(judge: Judge, written: Written, flags: tuple[str, ...]) -> None:
    logs = files(written, ".log")
    theirs, ours = both(judge, logs, *flags)
    # A Kafka without KIP-1279 shows the type of a producer reset by its number.
    ours, resets = RESET.subn(" controlType: UNKNOWN(7)", ours)
    assert ours == theirs
    assert resets == sum(tp.topic.startswith("failed-over-") for tp in written.partitions) * bool(flags)
    assert theirs.count("Dumping ") == len(logs) > 60
    assert theirs.count("isvalid: true") > 900 and "isvalid: false" not in theirs and "invalid bytes" not in theirs


def test_the_metadata_log(judge: Judge, written: Written) -> None:
    theirs, ours = both(judge, [written.path / METADATA / f"{0:020}.log"], "--cluster-metadata-decoder")
    assert ours == theirs
    assert theirs.count('"type":"TOPIC_RECORD"') == len({tp.topic for tp in written.partitions})


@pytest.mark.parametrize("suffix", [".index", ".timeindex", ".txnindex", ".snapshot"])
def test_other_files_are_dumped_as_by_kafka(judge: Judge, written: Written, suffix: str) -> None:
    paths = files(written, suffix)
    theirs, ours = both(judge, paths)
    assert ours == theirs
    assert theirs.count("Dumping ") == len(paths) > 5
    assert "mismatch" not in theirs.lower() and "out of order" not in theirs and "not found" not in theirs.lower()


@pytest.mark.parametrize("flag", ["--index-sanity-check", "--verify-index-only"])
def test_indexes_are_sane_and_true(judge: Judge, written: Written, flag: str) -> None:
    paths = files(written, ".index", ".timeindex")
    theirs, ours = both(judge, paths, flag)
    assert ours == theirs
    empty = sum(path.suffix == ".index" and not path.stat().st_size for path in paths)
    assert theirs.count(" is empty.") == empty
    if flag == "--index-sanity-check":
        assert theirs.count(" passed sanity check.") == len(paths) - empty > 100
    else:
        lines = [line for line in theirs.splitlines() if not line.endswith(" is empty.")]
        assert lines == [f"Dumping {path}" for path in paths]


def test_command_lines(judge: Judge, tmp_path: Path) -> None:
    folder = lay_out(tmp_path)
    for row in TABLE:
        theirs = judge.run_dump(row.on(folder))
        assert theirs.status == row.exit_code, row
        if row.like == NOTHING:
            assert theirs.out == "" and bool(theirs.err) == bool(row.exit_code), row
            continue
        assert theirs == judge.run_dump(arguments(row.like, folder)), row
        ours = CliRunner().invoke(command, row.on(folder))
        assert (ours.exit_code, ours.stdout, ours.stderr) == theirs, row


def test_help(judge: Judge, tmp_path: Path) -> None:
    for words in ASKED_FOR_HELP:
        theirs = judge.run_dump(arguments(words, tmp_path))
        assert (theirs.status, theirs.out) == (1, "") and "--skip-record-metadata" in theirs.err, words


def test_values_that_the_files_need(judge: Judge, tmp_path: Path) -> None:
    folder = lay_out(tmp_path)
    for words in REFUSED_AT_A_FILE:
        given = arguments(words, folder)
        theirs, ours = judge.run_dump(given), CliRunner().invoke(command, given)
        assert (ours.exit_code, ours.stdout) == (theirs.status, theirs.out) == (1, f"Dumping {given[-1]}\n"), words
