"""Reader in a child process, so that it cannot harm the campaign.

Compiled code may end its process, and any code may use all memory or never return. Frames and verdicts go through
pipes. The process that imports the reader does not read frames itself: it forks a process that does, reports how that
one ended, and forks the next. After a timeout both are killed, and the next frame starts them again.
"""

from __future__ import annotations

import importlib
import os
import pickle
import resource
import select
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from typing import IO, Any, NoReturn

from kmirror.errors import UsageError
from kmirror.fuzz.differential.verdicts import Verdict
from kmirror.fuzz.findings import FaultKind
from kmirror.fuzz.stream import Frame
from kmirror.protocol.registry import by_name

TIMEOUT_S = 15.0
START_S = 120.0
"""Time to start and to import the reader, in seconds; a busy machine needs a while."""
MEMORY_BYTES_MAX = 1 << 31
"""Limit of the reader's address space, far more than any frame of a campaign needs."""
_SIZE_BYTES = 4
_STDERR_MAX = 120


class SubprocessReader:
    """The reader with the class `module:cls`, in a process that is started when needed."""

    def __init__(self, name: str, module: str, cls: str) -> None:
        self.name = name
        self._class_name = (module, cls)
        self._unknown: set[tuple[str, int]] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self.version = self._start()

    def _start(self) -> str:
        """Start the process; return the version of the reader."""
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 is closed with the process.
        command = [sys.executable, "-m", __name__, *self._class_name]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, env=_environment(),
            start_new_session=True,
        )  # fmt: skip
        found = self._receive(START_S)
        if not isinstance(found, str):
            raise UsageError(f"the reader {self.name} does not start: {found}")
        return found

    def read(self, frame: Frame) -> Verdict | None:
        """Return the verdict, None if the reader does not know the message in this version."""
        key = (frame.name, frame.version)
        if key in self._unknown:
            return None
        if self._process is None:
            self._start()
        assert self._process is not None and self._process.stdin is not None
        send(self._process.stdin, (frame.name, frame.version, frame.data, frame.message is not None))
        verdict = self._receive(TIMEOUT_S)
        if verdict is None and frame.message is not None:
            self._unknown.add(key)
        found: Verdict | None = verdict
        return found

    def _receive(self, timeout_s: float) -> Any:
        """Return the response of the process, or a verdict about its silence; raises `UsageError` if it ended."""
        assert self._process is not None and self._process.stdout is not None
        stdout = self._process.stdout
        ready, _, _ = select.select([stdout], [], [], timeout_s)
        if not ready:
            self.close()
            return Verdict(error=f"no verdict within {timeout_s:.0f} s", fault=FaultKind.SLOW)
        found = receive(stdout)
        if found is _ENDED:
            raise UsageError(f"the reader {self.name} ended with {self._process.wait()}: {_read(self._stderr)}")
        return found

    def close(self) -> None:
        """Stop the process."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        self._process = None


_ENDED = object()


def send(pipe: IO[bytes], value: object) -> None:
    """Write a value; if the other end is closed it is lost, which shows when its response is read."""
    data = pickle.dumps(value)
    with suppress(BrokenPipeError):
        pipe.write(len(data).to_bytes(_SIZE_BYTES, "big") + data)
        pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Return the next value, `_ENDED` if there is none. Both ends are this module."""
    size = pipe.read(_SIZE_BYTES)
    data = pipe.read(int.from_bytes(size, "big"))
    return pickle.loads(data) if len(size) == _SIZE_BYTES and data else _ENDED


def _read(stderr: IO[bytes] | None) -> str:
    """Return the first line of a file."""
    if stderr is None:
        return ""
    return os.pread(stderr.fileno(), _STDERR_MAX, 0).decode("utf-8", "replace").strip().partition("\n")[0]


def _environment() -> dict[str, str]:
    """Return the environment, with the module paths of this process."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "RUST_BACKTRACE": "0"}


def main(module: str, cls: str) -> None:
    """Read frames from stdin, and write verdicts to the original stdout, until the other end is closed."""
    frames, verdicts = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Output of the reader must not mix with the verdicts.
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    reader: Any = getattr(importlib.import_module(module), cls)()
    send(verdicts, reader.version)
    while True:
        pid = os.fork()
        if not pid:
            _serve(reader, frames, verdicts)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if not code:
            return  # The other end is closed.
        send(verdicts, _verdict_of_exit(code))


def _serve(reader: Any, frames: IO[bytes], verdicts: IO[bytes]) -> NoReturn:
    """Serve frames until the input ends, then end this process."""
    try:
        while (request := receive(frames)) is not _ENDED:
            name, version, data, is_message = request
            frame = Frame(0, name, version, data, (), False, by_name(name) if is_message else None)
            send(verdicts, reader.read(frame))
    except BaseException as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)


def _verdict_of_exit(code: int) -> Verdict:
    """Return the verdict of a process that ended, with the first line of its stderr."""
    stderr = _read(sys.stderr.buffer)
    os.ftruncate(2, 0)
    os.lseek(2, 0, os.SEEK_SET)
    exit_status = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return Verdict(error=f"{exit_status}: {stderr}" if stderr else exit_status, fault=FaultKind.RAISED)


if __name__ == "__main__":
    main(*sys.argv[1:])
