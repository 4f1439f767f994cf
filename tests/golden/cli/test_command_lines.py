"""What Kafka's dump tool takes and refuses, `kmirror dump-log` takes and refuses, with the same exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmirror.cli import main
from tests.golden.cli.command_lines import NOTHING, REFUSED_AT_A_FILE, TABLE, CommandLine, arguments, lay_out


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


@pytest.mark.parametrize("words", REFUSED_AT_A_FILE)
def test_values_that_the_files_need(words: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    exit_code, _, err = run(arguments(words, lay_out(tmp_path)), capfdbinary)
    assert exit_code == 1
    option = words.split()[0].partition("=")[0]
    assert err.startswith(b"kmirror: ") and (option.encode() in err or b"no decoder class" in err)
