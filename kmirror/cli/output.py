"""How do lines reach stdout: many at a time, in UTF-8, and before anything that goes to stderr?"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import BinaryIO

import click

_HELD_CHARACTERS_MAX = 1 << 16


class Output:
    """Stdout for tools that print a lot; on the way out it writes what it still holds."""

    def __init__(self) -> None:
        self._stream: BinaryIO = sys.stdout.buffer
        self._held: list[str] = []
        self._size = 0

    def __enter__(self) -> Output:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or not issubclass(kind, BrokenPipeError):
            self.flush()

    def write(self, text: str) -> None:
        self._held.append(text)
        self._size += len(text)
        if self._size > _HELD_CHARACTERS_MAX:
            self.flush()

    def write_bytes(self, data: bytes) -> None:
        """Write bytes as they are."""
        self.flush()
        self._stream.write(data)

    def flush(self) -> None:
        held, self._held, self._size = self._held, [], 0
        # A lone surrogate has no UTF-8; the JVM writes a question mark for it.
        self._stream.write("".join(held).encode("utf-8", "replace"))
        self._stream.flush()

    def complain(self, text: str) -> None:
        """Write to stderr, after what stands before it on stdout."""
        self.flush()
        click.echo(text, nl=False, err=True)
