"""`python -m benchmarks.faults.histories PROFILE SEED...`: histories up to the first that is not clean.

Prints lines of JSON: for each history its seed, its findings, and the probes that it reached (see reach.py). Each
history runs in a separate process, so that none uses caches of another. A history that takes more than
`CPU_SECONDS_MAX` counts as found too: it contains an endless loop.
"""

from __future__ import annotations

import builtins
import importlib
import json
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from benchmarks.faults.reach import REACHED

CPU_SECONDS_MAX = 100


class EndlessError(BaseException):
    """Not an Exception, so that a run does not treat it as a fault inside a node."""


def _stop(signal_number: int, frame: FrameType | None) -> None:
    raise EndlessError


def run(seed: int, profile: str) -> str:
    """Run a history; return the names of checkers and rules, or the way in which it ended, "" if it is clean."""
    from kmirror.histories import run_history

    signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS_MAX)
    try:
        outcome = run_history(seed=seed, profile=profile)
    except EndlessError:
        return "does not end"
    except Exception as error:
        return f"the judge raises {type(error).__name__}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    if outcome.account.crash:
        return f"exception in a node: {outcome.account.crash.rstrip().splitlines()[-1][:100]}"
    return ", ".join(dict.fromkeys(f"{row.checker} {row.rule}".rstrip() for row in outcome.anomalies))


def main(arguments: Sequence[str]) -> int:
    profile, *seeds = arguments
    reached: set[str] = set()
    setattr(builtins, REACHED, reached)
    importlib.import_module("kmirror.sim")  # Every history reaches the probes that this import reaches.
    for seed in seeds:
        child = os.fork()
        if not child:
            found = run(int(seed), profile)
            print(json.dumps({"seed": int(seed), "found": found, "reached": sorted(reached)}), flush=True)
            os._exit(1 if found else 0)
        if os.waitpid(child, 0)[1]:
            break
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
