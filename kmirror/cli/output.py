"""How do lines reach stdout: many at a time, in UTF-8, and before anything that goes to stderr?"""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import BinaryIO

from kmirror.errors import UsageError

_HELD_BYTES_MAX = 1 << 16


class Output:
    """Stdout for tools that print a lot; on the way out it writes what it still holds.

    Raises `UsageError` where it cannot be written, `BrokenPipeError` where nobody reads on.
    """

    def __init__(self) -> None:
        if sys.stdout is None:
            raise UsageError("stdout is closed")
        self._stream: BinaryIO = sys.stdout.buffer
        self._held: list[bytes] = []
        self._size = 0

    def __enter__(self) -> Output:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or not issubclass(kind, BrokenPipeError):
            self.flush()

    def write(self, text: str) -> None:
        # A lone surrogate has no UTF-8; the JVM writes a question mark for it.
        self.write_bytes(text.encode("utf-8", "replace"))

    def write_bytes(self, data: bytes) -> None:
        self._held.append(data)
        self._size += len(data)
        if self._size > _HELD_BYTES_MAX:
            self.flush()

    def flush(self) -> None:
        held, self._held, self._size = self._held, [], 0
        try:
            self._stream.write(b"".join(held))
            self._stream.flush()
        except OSError as error:
            # Python still holds bytes, and would fail once more when it writes them at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            if isinstance(error, BrokenPipeError):
                raise
            raise UsageError(f"stdout cannot be written: {error.strerror or error}") from None

    def complain(self, text: str) -> None:
        """Write to stderr, after what stands before it on stdout."""
        self.flush()
        complain(text)


def complain(text: str) -> None:
    """Write to stderr, if there is one."""
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()
