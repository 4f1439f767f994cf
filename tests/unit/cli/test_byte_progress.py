"""The progress bar on stderr: shown only to people, in the units of the final output."""

from __future__ import annotations

import pytest

from kmirror.cli.byte_progress import byte_progress

GIBIBYTE = 1 << 30


def test_a_terminal_gets_a_bar_with_binary_units(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with byte_progress("verify", GIBIBYTE) as progress:
        for _ in range(4):
            progress(GIBIBYTE // 4)
    err = capsys.readouterr().err
    assert "1.0/1.0 GiB" in err
    assert "iB/s" in err


def test_no_bar_is_shown_where_stderr_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    with byte_progress("verify", GIBIBYTE) as progress:
        progress(GIBIBYTE)
    assert capsys.readouterr() == ("", "")
