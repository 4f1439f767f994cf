"""Memory used by a decoder, measured with tracemalloc in a child process.

tracemalloc slows a process down several times, so it cannot run where every frame is read. Nor can it be started and
stopped for each frame: CPython 3.11 loses 32 bytes at each stop for every line that allocated memory, which is 9 bytes
for each frame of a campaign. So one child process starts it once, and ends with the campaign.
"""

from __future__ import annotations

import os
import pickle
import signal
import tracemalloc
import weakref
from contextlib import suppress
from typing import IO, Any, NoReturn

from kmirror.errors import ProtocolError
from kmirror.protocol.message import Message

_SIZE_BYTES = 4


class MemoryProbe:
    """Reads messages in a child process, which is forked for the first message and ends with this object."""

    def __init__(self) -> None:
        self._pipes: tuple[IO[bytes], IO[bytes]] | None = None
        self._end: weakref.finalize[..., MemoryProbe] | None = None

    def peak_bytes(self, message: type[Message], version: int, data: bytes) -> int | None:
        """Return the peak memory while the message was read, in bytes; None if reading ended the process."""
        if self._pipes is None:
            self._begin()
        assert self._pipes is not None
        requests, responses = self._pipes
        with suppress(BrokenPipeError):
            _send(requests, (message, version, data))
        peak: int | None = _receive(responses)
        if peak is None:
            self.close()
        return peak

    def close(self) -> None:
        """Stop the process; another one is started if more is to read."""
        if self._end is not None:
            self._end()
        self._pipes = self._end = None

    def _begin(self) -> None:
        requests, responses = os.pipe(), os.pipe()
        pid = os.fork()
        if not pid:
            os.close(requests[1])
            os.close(responses[0])
            _serve(os.fdopen(requests[0], "rb"), os.fdopen(responses[1], "wb"))
        os.close(requests[0])
        os.close(responses[1])
        self._pipes = os.fdopen(requests[1], "wb"), os.fdopen(responses[0], "rb")
        self._end = weakref.finalize(self, _finish, pid, *self._pipes)


def _finish(pid: int, *pipes: IO[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)
    for pipe in pipes:
        with suppress(BrokenPipeError):
            pipe.close()


def _serve(requests: IO[bytes], responses: IO[bytes]) -> NoReturn:
    """Serve requests until the other end is closed, then end this process."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the campaign, which ends this process.
        tracemalloc.start()
        while (request := _receive(requests)) is not None:
            _send(responses, _peak(*request))
    finally:
        os._exit(0)


def _peak(message: type[Message], version: int, data: bytes) -> int:
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    with suppress(ProtocolError):
        message.decode(data, version)
    return tracemalloc.get_traced_memory()[1] - before


def _send(pipe: IO[bytes], value: object) -> None:
    data = pickle.dumps(value)
    pipe.write(len(data).to_bytes(_SIZE_BYTES, "big") + data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    """Return the next value; None at the end of the stream. Both ends are this module."""
    size = pipe.read(_SIZE_BYTES)
    return pickle.loads(pipe.read(int.from_bytes(size, "big"))) if len(size) == _SIZE_BYTES else None
