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

LOOK_EVERY_S = 0.01
STACK_S = 1.0
TOLD_BYTES_MAX = 16_384
_REASON = re.compile(r"Assertion|panic: |terminate called|\*\*\* ")
_PLACE = re.compile(r'File "[^"]*?([^"/]+)", line \d+, in (\S+)')
"""A frame of a Python traceback; the last match is the innermost frame."""


@dataclass(frozen=True)
class Bounds:
    """Limits of a program."""

    seconds: float
    peak_bytes: int
    reserved_bytes: int


@dataclass(frozen=True)
class Ended:
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
        places = _PLACE.findall(self.stderr)
        where = " in {}:{}".format(*places[-1]) if places else ""
        return f"exit code {self.code} {self.reason.partition(':')[0][:80]}{where}"


def run_program(words: Sequence[str], bounds: Bounds) -> Ended:
    """Run a program until it ends or exceeds a limit; raises `UsageError` if it cannot be started."""
    with tempfile.TemporaryFile() as told:
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=told, start_new_session=True
            )
        except OSError as error:
            raise UsageError(f"{words[0]}: {error.strerror}") from None
        began = time.monotonic()
        run = _Run(process.pid, began)
        try:
            while not run.has_ended() and not run.is_beyond(bounds):
                time.sleep(LOOK_EVERY_S)
            if run.is_late:
                run.ask_stacks()
        finally:
            run.kill()
            process.returncode = run.code  # `os.wait4` was used, for its resource usage.
        return Ended(
            run.code, time.monotonic() - began, run.busy_s, run.peak_bytes, run.reserved_bytes, _tail(told),
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

    def is_beyond(self, bounds: Bounds) -> bool:
        self.peak_bytes = max(self.peak_bytes, peak_bytes(self._pid))
        self.reserved_bytes = max(self.reserved_bytes, reserved_bytes(self._pid))
        self.is_large = self.peak_bytes > bounds.peak_bytes or self.reserved_bytes > bounds.reserved_bytes
        self.is_late = not self.is_large and time.monotonic() - self._began > bounds.seconds
        if self.is_late:
            self.busy_s = runnable_seconds(self._pid)
        return self.is_large or self.is_late

    def ask_stacks(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGQUIT)
        until = time.monotonic() + STACK_S
        while not self.has_ended() and time.monotonic() < until:
            time.sleep(LOOK_EVERY_S)

    def kill(self) -> None:
        """Kill it and its child processes."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._pid, signal.SIGKILL)
        self.has_ended(0)


def _tail(told: IO[bytes]) -> str:
    size = told.seek(0, os.SEEK_END)
    told.seek(max(0, size - TOLD_BYTES_MAX))
    return told.read().decode("utf-8", "replace")
