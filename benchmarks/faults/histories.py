"""`python -m benchmarks.faults.histories FIRST COUNT PROFILE`: histories up to the first that is not clean.

Prints one line of JSON: how many were run, and what the last one found; nothing if all were clean. A history that
spends more than `CPU_SECONDS_MAX` is found, too: something in it goes round in circles.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Sequence
from types import FrameType

CPU_SECONDS_MAX = 40


class EndlessError(BaseException):
    """Not an Exception, so that no run takes it for a fault inside a node."""


def _stop(signal_number: int, frame: FrameType | None) -> None:
    raise EndlessError


def first_unclean(first: int, count: int, profile: str) -> dict[str, object]:
    """Return `runs`, and what the last one of them found: names of checkers, or how it ended; "" if it is clean."""
    from kmirror.sim import run_history

    signal.signal(signal.SIGVTALRM, _stop)
    found = ""
    for seed in range(first, first + count):
        signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS_MAX)
        try:
            outcome = run_history(seed=seed, profile=profile)
        except EndlessError:
            found = "does not end"
        except Exception as error:
            found = f"the judge raises {type(error).__name__}"
        else:
            found = ", ".join(dict.fromkeys(row.checker for row in outcome.anomalies))
            if outcome.account.crash:
                found = f"exception in a node: {outcome.account.crash.rstrip().splitlines()[-1][:100]}"
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if found:
            return {"runs": seed - first + 1, "found": found}
    return {"runs": count, "found": ""}


def main(arguments: Sequence[str]) -> int:
    first, count, profile = arguments
    print(json.dumps(first_unclean(int(first), int(count), profile)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
