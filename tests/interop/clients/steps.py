"""Common parts of the Python clients' scripts: named steps, and one line of JSON for each.

A script is run as `python -m SCRIPT BOOTSTRAP_SERVERS BROKERS [STEP...]` against any cluster. A line is `{"step": ...,
"outcome": ...}`; an exception is a result too. Results contain no values that differ from run to run: no ids, times,
addresses.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STEP_SECONDS = 30
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"-?\b(1[6-9]|922)\d{11,}\b")  # In ms, of this century; or the minimum of a time.
NODE = re.compile(r"\(broker \d+ PID\{Id:\d+")
ADDRESS = re.compile(r"(localhost|127\.0\.0\.1|\[::1\]):\d+")


def without_ids(text: object) -> str:
    """Return a text without its ids, times, brokers and addresses."""
    text = NODE.sub("(broker N PID{Id:N", str(text))  # First: an id may look like a time.
    return TIME.sub("TIME", ADDRESS.sub("ADDRESS", UUID.sub("UUID", text)))


@dataclass(frozen=True)
class Target:
    """The cluster that a script runs against."""

    family: str
    bootstrap: str
    brokers: int

    @property
    def factor(self) -> int:
        """Replication factor of topics."""
        return min(3, self.brokers)

    @property
    def looks(self) -> int:
        """Consecutive checks of a new topic: the next request may go to a broker that lags."""
        return 1 if self.brokers == 1 else 8

    def named(self, name: str) -> str:
        """Return a name that is unique to this family, for a topic, a group or a transaction."""
        return f"{self.family}-{name}"


Step = Callable[[Target], Any]


def run(family: str, steps: list[Step], describe_error: Callable[[BaseException], Any]) -> None:
    """Run the steps in order, or those in the arguments after the first two, and print a line for each."""
    bootstrap, brokers, *only = sys.argv[1:]
    target = Target(family, bootstrap, int(brokers))
    for step in steps:
        name = step.__name__
        if only and name not in only:
            continue
        started = time.monotonic()
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(STEP_SECONDS)
        try:
            outcome = step(target)
        except Exception as error:
            outcome = {"raised": describe_error(error)}
        finally:
            signal.alarm(0)
        print(json.dumps({"step": name, "outcome": outcome}, default=_plain), flush=True)
        print(f"{Path(sys.argv[0]).stem} {name}: {time.monotonic() - started:.2f} s", file=sys.stderr, flush=True)


def _plain(value: object) -> Any:
    """Return a JSON value for the only type of result that JSON lacks."""
    assert isinstance(value, set | frozenset), value
    return sorted(value)


def _too_long(_number: int, _frame: object) -> None:
    raise TimeoutError(f"the step took more than {STEP_SECONDS} s")


def eventually(ask: Callable[[], Any], holds: Callable[[Any], bool], seconds: float = 15) -> Any:
    """Return the first result for which `holds` is true, or the last one after a timeout."""
    end = time.monotonic() + seconds
    while True:
        answer = ask()
        if holds(answer) or time.monotonic() > end:
            return answer
        time.sleep(0.02)
