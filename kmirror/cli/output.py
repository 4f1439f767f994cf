"""Output to stdout: buffered, in UTF-8, and always before later output to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, BinaryIO, TextIO, cast

from kmirror.errors import UsageError

_BUFFERED_BYTES_MAX = 1 << 16


class Output:
    """Stdout for tools with much output; leaving the context writes the rest.

    Raises UsageError if stdout cannot be written, and BrokenPipeError if the reader has closed the pipe.
    """

    def __init__(self) -> None:
        if sys.stdout is None:
            raise UsageError("stdout is closed")
        self._stream: BinaryIO = sys.stdout.buffer
        self._buffered: list[bytes] = []
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
        """Buffer the bytes for the next flush; a full buffer is flushed at once."""
        self._buffered.append(data)
        self._size += len(data)
        if self._size > _BUFFERED_BYTES_MAX:
            self.flush()

    def flush(self) -> None:
        """Write the buffer; raise UsageError if stdout cannot be written."""
        buffered, self._buffered, self._size = self._buffered, [], 0
        with _convert_write_errors(self._stream):
            self._stream.write(b"".join(buffered))
            self._stream.flush()

    def write_stderr(self, text: str) -> None:
        """Write to stderr, after flushing earlier output to stdout."""
        self.flush()
        write_stderr(text)


@contextmanager
def _convert_write_errors(stream: BinaryIO | TextIO) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # Python still has buffered bytes, and would fail again when it writes them at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise UsageError(f"stdout cannot be written: {error.strerror or error}") from None


class _GuardedStdout:
    """Stdout for click and rich, which do not use `Output`, with the same errors."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        if text == "":
            return 0  # click probes with an empty text, and hides the exceptions of that.
        with _convert_write_errors(self._stream):
            return self._stream.write(text)

    def flush(self) -> None:
        with _convert_write_errors(self._stream):
            self._stream.flush()


@contextmanager
def guarded_stdout() -> Iterator[None]:
    """Let output in the block raise UsageError if stdout cannot be written; escape unencodable characters."""
    stream = sys.stdout
    if stream is None:
        yield
        return
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    sys.stdout = cast(TextIO, _GuardedStdout(stream))
    try:
        yield
    finally:
        sys.stdout = stream


def write_stderr(text: str) -> None:
    """Write to stderr, if there is one."""
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()
