"""Runs `kmirror verify` on a copy of a broker's log folder, and damages its files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from kmirror.cli.verify import command

SAMPLE = Path(__file__).resolve().parent / "data" / "cli" / "logs"


def copy_sample(folder: Path) -> Path:
    """Copy a log folder after a clean shutdown of its broker to `folder`."""
    return shutil.copytree(SAMPLE / "kraft-4.3" / "data", folder)


def verify(folder: Path, *options: str) -> tuple[int, list[dict[str, Any]], dict[str, Any]]:
    """Return the exit code, the rows of faults and the summary."""
    result = CliRunner().invoke(command, [str(folder), "-o", "json", *options], standalone_mode=False)
    assert result.exception is None, result.exception
    *found, summary = [json.loads(line) for line in result.stdout.splitlines()]
    return result.return_value, [line for line in found if line["type"] == "fault"], summary


def segment(folder: Path, base_offset: int, suffix: str = ".log") -> Path:
    return folder / f"{base_offset:020d}{suffix}"


def flip(path: Path, position: int, bits: int = 1) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= bits
    path.write_bytes(data)
