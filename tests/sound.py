"""Does `kmirror verify` find nothing wrong in a folder?"""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from kmirror.cli.verify import command


def assert_sound(folder: str | Path, *options: str) -> None:
    """Fail with what `verify` prints, unless it looked at the folder and found no fault.

    Outside of standalone mode: in it click drops what a command returns, and the exit code is 0 whatever was found.
    """
    ended = CliRunner().invoke(command, [str(folder), *options], standalone_mode=False)
    assert ended.exception is None, ended.exception
    assert ended.return_value == 0, ended.output
