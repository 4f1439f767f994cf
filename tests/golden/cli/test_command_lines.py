"""`kmirror dump-log` accepts and refuses the same command lines as Kafka's tool, with the same exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmirror.cli import main
from tests.golden.cli.command_lines import (
    ASKED_FOR_HELP,
    NOTHING,
    REFUSED_AT_A_FILE,
    TABLE,
    CommandLine,
    arguments,
    lay_out,
)


def run(words: list[str], capfdbinary: pytest.CaptureFixture[bytes]) -> tuple[object, bytes, bytes]:
    """Return exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as caught:
        main.run(["dump-log", *words])
    return caught.value.code, *capfdbinary.readouterr()


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.words)
def test_as_kafkas_tool(row: CommandLine, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    folder = lay_out(tmp_path)
    exit_code, out, err = run(row.on(folder), capfdbinary)
    assert exit_code == row.exit_code
    if row.like == NOTHING:
        assert out == b"" and bool(err) == bool(exit_code)
    else:
        assert (exit_code, out, err) == run(arguments(row.like, folder), capfdbinary)
        assert out


@pytest.mark.parametrize("words", ASKED_FOR_HELP)
def test_help_is_no_error(words: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    exit_code, out, err = run(arguments(words, lay_out(tmp_path)), capfdbinary)
    assert (exit_code, err) == (0, b"") and b"--skip-record-metadata" in out


@pytest.mark.parametrize("words", REFUSED_AT_A_FILE)
def test_values_that_the_files_need(words: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    given = arguments(words, lay_out(tmp_path))
    exit_code, out, err = run(given, capfdbinary)
    assert (exit_code, out.decode()) == (1, f"Dumping {given[-1]}\n")
    option = words.split()[0].partition("=")[0]
    assert err.startswith(b"kmirror: ") and (option.encode() in err or b"unknown decoder class" in err)
