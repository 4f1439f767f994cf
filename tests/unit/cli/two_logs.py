"""Two log folders with a partition each, and the output of `kmirror diff` for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from kmirror.cli.diff import command
from kmirror.cli.usage_errors import CommandError
from tests.builders import batch_of

LONG = b"".join(b"%d" % number for number in range(500))


def keyed(offset: int = 0, *, values: tuple[bytes, ...] = (b"v",), epoch: int = 0, **fields: Any) -> bytes:
    return batch_of(*values, key=b"k", offset=offset, epoch=epoch, timestamp=10, **fields)


class Logs:
    """Two log folders with a partition each."""

    def __init__(self, top: Path) -> None:
        self.left, self.right = top / "a" / "t-0", top / "b" / "t-0"
        for folder in (self.left, self.right):
            folder.mkdir(parents=True)

    def write(self, left: bytes, right: bytes, *, base_offset: int = 0) -> None:
        for folder, data in ((self.left, left), (self.right, right)):
            (folder / f"{base_offset:020d}.log").write_bytes(data)

    def diff(self, *options: str) -> list[dict[str, Any]]:
        result = CliRunner().invoke(
            command, [str(self.left), str(self.right), "-o", "json", *options], standalone_mode=False
        )
        assert result.exception is None, result.exception
        *found, self.summary = [json.loads(line) for line in result.stdout.splitlines()]
        rows = [row for row in found if row["type"] == "difference"]
        self.partitions = {f"{row['topic']}-{row['partition']}": row for row in found if row["type"] == "partition"}
        assert len(rows) + len(self.partitions) == len(found)
        assert result.return_value == int(bool(rows))
        assert self.summary["differences"] == len(rows)
        return rows

    def refused(self, *options: str) -> str:
        """Return the message if nothing can be compared; checks that the exit code is 2."""
        result = CliRunner().invoke(command, [str(self.left), str(self.right), *options], standalone_mode=False)
        assert isinstance(result.exception, CommandError), result.stdout
        assert result.exception.exit_code == 2
        return result.exception.message

    def text(self, *options: str) -> list[str]:
        result = CliRunner().invoke(command, [str(self.left), str(self.right), *options], standalone_mode=False)
        assert result.exception is None, result.exception
        return result.stdout.splitlines()

    summary: dict[str, Any]
    partitions: dict[str, dict[str, Any]]
