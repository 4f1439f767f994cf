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

TIMEOUT_S = 10.0
_REFUSED = "refused"


class CommandTarget(Stateless):
    """A program, started for each frame."""

    name = "command"

    def __init__(self, words: tuple[str, ...]) -> None:
        self._command = words

    def judge(self, frame: Frame) -> str:
        """Return the first words of its verdict; raises `Fault`."""
        variables = {"KMIRROR_FUZZ_MESSAGE": frame.name, "KMIRROR_FUZZ_VERSION": str(frame.version)}
        try:
            result = subprocess.run(
                self._command,
                input=frame.data,
                capture_output=True,
                timeout=TIMEOUT_S,
                env={**os.environ, **variables},
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Fault(FaultKind.SLOW, f"no verdict within {TIMEOUT_S:.0f} s", "slow", "a verdict") from None
        verdict = result.stdout.decode("utf-8", "replace").strip()
        if result.returncode:
            last = result.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [""]
            exit_status = f"signal {-result.returncode}" if result.returncode < 0 else f"exit code {result.returncode}"
            raise Fault(
                FaultKind.RAISED,
                f"{exit_status}: {last[0]}",
                f"{exit_status} {last[0].partition(':')[0]}",
                "a verdict, and 0",
            )
        if verdict == TAKEN:
            return TAKEN
        if verdict.startswith(_REFUSED):
            if frame.is_valid:
                raise Fault(FaultKind.REFUSED, f"a valid message: {verdict}", f"refused {frame.name}", TAKEN)
            return without_numbers(verdict, words=6)
        raise Fault(FaultKind.RAISED, f"no verdict: {verdict[:80]!r}", "no verdict", '"taken" or "refused"')


def open_target(options: TargetOptions) -> tuple[CommandTarget, Stream]:
    """Return the program as a target; raises `UsageError` if it is not found."""
    if not options.command:
        raise UsageError("the target command needs --command 'PROGRAM ARGUMENTS'")
    if shutil.which(options.command[0]) is None:
        raise UsageError(f"{options.command[0]}: program not found")
    messages = tuple(by_name(name) for name in options.messages or names())
    return CommandTarget(options.command), Stream(options.seed, messages)
