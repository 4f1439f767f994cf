"""Assertion that `kmirror verify` finds no fault in a folder."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from kmirror.cli.verify import command


def assert_verified(folder: str | Path, *options: str) -> None:
    """Fail with the output of `verify`, unless it checked the folder and found no fault.

    Standalone mode is off: with it, click drops the return value of a command, and the exit code is always 0.
    """
    ended = CliRunner().invoke(command, [str(folder), *options], standalone_mode=False)
    assert ended.exception is None, ended.exception
    assert ended.return_value == 0, ended.output
