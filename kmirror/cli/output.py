"""How do lines reach stdout: many at a time, in UTF-8, and before anything that goes to stderr?"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, BinaryIO, TextIO, cast

from kmirror.errors import UsageError

_HELD_BYTES_MAX = 1 << 16


class Output:
    """Stdout for tools that print a lot; on the way out it writes what it still holds.

    Raises `UsageError` where it cannot be written, `BrokenPipeError` where the reader has closed the pipe.
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
        """Keep the bytes for the next flush, which comes by itself when many are kept."""
        self._held.append(data)
        self._size += len(data)
        if self._size > _HELD_BYTES_MAX:
            self.flush()

    def flush(self) -> None:
        """Write what is kept; raises `UsageError` where stdout cannot be written."""
        held, self._held, self._size = self._held, [], 0
        with _writing(self._stream):
            self._stream.write(b"".join(held))
            self._stream.flush()

    def complain(self, text: str) -> None:
        """Write to stderr, after what stands before it on stdout."""
        self.flush()
        complain(text)


@contextmanager
def _writing(stream: BinaryIO | TextIO) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # Python still holds bytes, and would fail once more when it writes them at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise UsageError(f"stdout cannot be written: {error.strerror or error}") from None


class _Guarded:
    """Stdout for click and rich, which know nothing of `Output`: it fails in the same words."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        if text == "":
            return 0  # click probes with an empty text, and hides what that raises.
        with _writing(self._stream):
            return self._stream.write(text)

    def flush(self) -> None:
        with _writing(self._stream):
            self._stream.flush()


@contextmanager
def guarded_stdout() -> Iterator[None]:
    """Let what is printed in here raise `UsageError` where stdout cannot be written; escape what it cannot spell."""
    stream = sys.stdout
    if stream is None:
        yield
        return
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    sys.stdout = cast(TextIO, _Guarded(stream))
    try:
        yield
    finally:
        sys.stdout = stream


def complain(text: str) -> None:
    """Write to stderr, if there is one."""
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()
