"""Runs of a client's program, which ends by itself, by a signal, or because it takes too much time or memory.

After a timeout it is sent SIGQUIT, at which Go and Java print their stacks, as does Python with
`faulthandler.register(signal.SIGQUIT)`; then it is killed.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from kmirror.errors import UsageError
from kmirror.fuzz.processes import peak_bytes, reserved_bytes, runnable_seconds

POLL_INTERVAL_S = 0.01
STACKS_TIMEOUT_S = 1.0
STDERR_BYTES_MAX = 16_384
_REASON = re.compile(r"Assertion|panic: |terminate called|\*\*\* ")
_TRACEBACK_FRAME = re.compile(r'File "[^"]*?([^"/]+)", line \d+, in (\S+)')
"""A frame of a Python traceback; the last match is the innermost frame."""


@dataclass(frozen=True)
class Limits:
    """Limits of a program."""

    seconds: float
    peak_bytes: int
    reserved_bytes: int


@dataclass(frozen=True)
class ProgramResult:
    """Outcome and resource use of a finished program."""

    code: int
    """Exit code; below 0 the number of the signal that ended it."""
    seconds: float
    busy_s: float
    """Processor seconds; after a timeout also the seconds spent waiting for a processor."""
    peak_bytes: int
    reserved_bytes: int
    """Peak of the memory reserved by the process, used or not."""
    stderr: str
    """The end of its stderr."""
    is_late: bool = False
    """Whether it was stopped by the timeout."""
    is_large: bool = False
    """Whether it exceeded the memory limits."""

    @property
    def memory(self) -> tuple[int, int]:
        """Return the peak resident and the peak reserved memory, in bytes."""
        return self.peak_bytes, self.reserved_bytes

    @property
    def reason(self) -> str:
        """Return the line of stderr that gives the reason: a failed assertion, a panic, or the last line."""
        lines = self.stderr.strip().splitlines() or [""]
        return next((line for line in lines if _REASON.search(line)), lines[-1])

    @property
    def outcome(self) -> str:
        """Return the outcome in stable words: "exit code 1 KeyError in fetcher.py:_update"."""
        if self.is_late:
            return "no end"
        if self.is_large:
            return "too large"
        if self.code < 0:
            return f"signal {-self.code}"
        if not self.code:
            return "exit code 0"
        frames = _TRACEBACK_FRAME.findall(self.stderr)
        location = " in {}:{}".format(*frames[-1]) if frames else ""
        return f"exit code {self.code} {self.reason.partition(':')[0][:80]}{location}"


def run_program(command: Sequence[str], limits: Limits) -> ProgramResult:
    """Run a program until it ends or exceeds a limit; raises `UsageError` if it cannot be started."""
    with tempfile.TemporaryFile() as stderr_file:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr_file, start_new_session=True
            )
        except OSError as error:
            raise UsageError(f"{command[0]}: {error.strerror}") from None
        began = time.monotonic()
        run = _Run(process.pid, began)
        try:
            while not run.has_ended() and not run.is_over_limit(limits):
                time.sleep(POLL_INTERVAL_S)
            if run.is_late:
                run.request_stacks()
        finally:
            run.kill()
            process.returncode = run.code  # `os.wait4` was used, for its resource usage.
        return ProgramResult(
            run.code, time.monotonic() - began, run.busy_s, run.peak_bytes, run.reserved_bytes, _tail(stderr_file),
            run.is_late, run.is_large,
        )  # fmt: skip


class _Run:
    """A running process with its measurements."""

    def __init__(self, pid: int, began: float) -> None:
        self._pid = pid
        self._began = began
        self._has_ended = False
        self.code = 0
        self.busy_s = 0.0
        self.peak_bytes = 0
        self.reserved_bytes = 0
        self.is_late = False
        self.is_large = False

    def has_ended(self, options: int = os.WNOHANG) -> bool:
        """Return whether it has ended; with 0 for `options` wait for that."""
        if not self._has_ended:
            pid, status, usage = os.wait4(self._pid, options)
            if pid:
                self._has_ended = True
                self.code = os.waitstatus_to_exitcode(status)
                self.busy_s = max(self.busy_s, usage.ru_utime + usage.ru_stime)
        return self._has_ended

    def is_over_limit(self, limits: Limits) -> bool:
        self.peak_bytes = max(self.peak_bytes, peak_bytes(self._pid))
        self.reserved_bytes = max(self.reserved_bytes, reserved_bytes(self._pid))
        self.is_large = self.peak_bytes > limits.peak_bytes or self.reserved_bytes > limits.reserved_bytes
        self.is_late = not self.is_large and time.monotonic() - self._began > limits.seconds
        if self.is_late:
            self.busy_s = runnable_seconds(self._pid)
        return self.is_large or self.is_late

    def request_stacks(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGQUIT)
        until = time.monotonic() + STACKS_TIMEOUT_S
        while not self.has_ended() and time.monotonic() < until:
            time.sleep(POLL_INTERVAL_S)

    def kill(self) -> None:
        """Kill it and its child processes."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, signal.SIGKILL)
        self.has_ended(0)


def _tail(stderr_file: IO[bytes]) -> str:
    size = stderr_file.seek(0, os.SEEK_END)
    stderr_file.seek(max(0, size - STDERR_BYTES_MAX))
    return stderr_file.read().decode("utf-8", "replace")
