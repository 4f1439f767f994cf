"""Target: any decoder as a program that reads the frame from stdin and writes a verdict to stdout.

`KMIRROR_FUZZ_MESSAGE` and `KMIRROR_FUZZ_VERSION` hold the message and its version. The program writes "taken", or
"refused" and the reason, and exits with 0. Another exit code, a signal, another verdict and a timeout are findings.
"""

from __future__ import annotations

import os
import shutil
import subprocess

from kmirror.errors import UsageError
from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.fuzz.stream import Frame, Stream
from kmirror.fuzz.target import TAKEN, Stateless, without_numbers
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.protocol.registry import by_name, names

PATIENCE_S = 10.0
_REFUSED = "refused"


class CommandTarget(Stateless):
    """A program, started for each frame."""

    name = "command"

    def __init__(self, words: tuple[str, ...]) -> None:
        self._words = words

    def judge(self, frame: Frame) -> str:
        """Return the first words of its verdict; raises `Fault`."""
        told = {"KMIRROR_FUZZ_MESSAGE": frame.name, "KMIRROR_FUZZ_VERSION": str(frame.version)}
        try:
            ended = subprocess.run(
                self._words,
                input=frame.data,
                capture_output=True,
                timeout=PATIENCE_S,
                env={**os.environ, **told},
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Fault(FaultKind.SLOW, f"no verdict within {PATIENCE_S:.0f} s", "slow", "a verdict") from None
        verdict = ended.stdout.decode("utf-8", "replace").strip()
        if ended.returncode:
            last = ended.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [""]
            how = f"signal {-ended.returncode}" if ended.returncode < 0 else f"exit code {ended.returncode}"
            raise Fault(FaultKind.RAISED, f"{how}: {last[0]}", f"{how} {last[0].partition(':')[0]}", "a verdict, and 0")
        if verdict == TAKEN:
            return TAKEN
        if verdict.startswith(_REFUSED):
            if frame.is_valid:
                raise Fault(FaultKind.REFUSED, f"a valid message: {verdict}", f"refused {frame.name}", TAKEN)
            return without_numbers(verdict, words=6)
        raise Fault(FaultKind.RAISED, f"no verdict: {verdict[:80]!r}", "no verdict", '"taken" or "refused"')


def open_target(wanted: TargetOptions) -> tuple[CommandTarget, Stream]:
    """Return the program as a target; raises `UsageError` if it is not found."""
    if not wanted.command:
        raise UsageError("the target command needs --command 'PROGRAM ARGUMENTS'")
    if shutil.which(wanted.command[0]) is None:
        raise UsageError(f"{wanted.command[0]}: program not found")
    messages = tuple(by_name(name) for name in wanted.messages or names())
    return CommandTarget(wanted.command), Stream(wanted.seed, messages)
