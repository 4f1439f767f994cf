"""The text equals that of Kafka's own tool, byte for byte, and so does the exit code."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from kmirror.cli.dump_log import command
from kmirror.errors import KmirrorError
from tests.golden.cli.runs import SAMPLE, WHOLE, DumpCase, dump_cases


def check(case: DumpCase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case.run)
    result = CliRunner().invoke(command, case.arguments)
    assert result.stdout_bytes == case.expected.read_bytes(), case.name
    if case.exit_code == 0:
        assert result.exception is None, case.name
    else:
        assert isinstance(result.exception, KmirrorError), case.name
        assert "\n" not in str(result.exception), case.name


@pytest.mark.parametrize("case", dump_cases(SAMPLE), ids=lambda case: case.name)
def test_sample(case: DumpCase, monkeypatch: pytest.MonkeyPatch) -> None:
    check(case, monkeypatch)


def test_sample_has_every_kind_of_file_and_both_endings() -> None:
    cases = dump_cases(SAMPLE)
    words = " ".join(word for case in cases for word in case.arguments)
    kinds = (".log", ".index", ".timeindex", ".txnindex", ".snapshot", ".checkpoint")
    decoders = ("offsets", "transaction-log", "share-group-state", "cluster-metadata", "remote-log-metadata")
    others = ("--deep-iteration", "--skip-record-metadata", "--index-sanity-check", "--verify-index-only")
    assert [kind for kind in (*kinds, *(f"--{d}-decoder" for d in decoders), *others) if kind not in words] == []
    assert {case.exit_code for case in cases} == {0, 1}


def test_every_recorded_run(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = dump_cases(WHOLE)
    assert len(cases) > 450
    for case in cases:
        check(case, monkeypatch)


def test_as_a_process_a_death_is_one_line_after_the_text() -> None:
    case = next(case for case in dump_cases(SAMPLE) if case.exit_code == 1 and case.name.endswith("00.log.txt"))
    words = [sys.executable, "-m", "kmirror", "dump-log", *case.arguments]
    environment = {"PYTHONPATH": str(SAMPLE.parents[2])}
    done = subprocess.run(words, cwd=case.run, capture_output=True, env=environment, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, case.expected.read_bytes())
    assert done.stderr.decode().splitlines() == [
        f"kmirror: {case.arguments[-1]}, position 7506, offset 0: "
        "a batch length of 0 is below 14, the least of any format"
    ]
