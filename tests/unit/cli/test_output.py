"""Stdout of the tools: their results are written however they end."""

from __future__ import annotations

import sys

import pytest

from kmirror.cli.output import Output, write_stderr


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, ZeroDivisionError])
def test_buffered_output_is_written_when_a_tool_fails(
    capsysbinary: pytest.CaptureFixture[bytes], error: type[BaseException]
) -> None:
    with pytest.raises(error), Output() as out:
        out.write("found before\n")
        raise error
    assert capsysbinary.readouterr().out == b"found before\n"


def test_errors_are_printed_after_earlier_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with Output() as out:
        out.write("before\n")
        out.write_stderr("no good\n")
        assert capfdbinary.readouterr() == (b"before\n", b"no good\n")


def test_without_a_stderr_complaints_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    write_stderr("no good\n")
