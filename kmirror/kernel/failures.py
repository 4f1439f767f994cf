"""What happens when the code of a node raises where nothing may be raised? One policy, given when the node is made.

In a simulation the exception goes on to whoever runs it: it is a bug, and the run shows how to get there. A server
goes on serving: a request in work is answered with UNKNOWN_SERVER_ERROR, a timer fires again, an answer counts as none,
and whoever watches the notes is told of each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from kmirror.kernel.clock import SECOND, Duration, Instant
from kmirror.kernel.events import Event, TimerFired
from kmirror.kernel.outbox import Outbox

TIMER_AGAIN_AFTER: Duration = SECOND
"""When a timer whose work failed fires again, so that what it does every so often goes on."""
FOLLOW_UPS_MAX = 8
"""How often the work that follows from one event may fail before the rest of it waits for the next event."""


class OnFailure(Enum):
    """What to do with an exception that nothing expects."""

    RAISE = "raise"
    GO_ON = "go on"


@dataclass(frozen=True, slots=True)
class HandlingFailed:
    """The fact that goes with the note of a failure; the error has its traceback."""

    during: str
    error: Exception


@dataclass(frozen=True, slots=True)
class GaveUp:
    """The fact that goes with the note of a node that ends because it cannot go on, such as over a damaged disk."""

    why: str


class DiskFailed(Exception):
    """What was begun cannot be done, because its disk failed: the node has taken that in, and it is no bug."""


class Failures:
    """Counts what failed in a node that goes on; lets nothing pass in one that does not."""

    def __init__(self, outbox: Outbox, policy: OnFailure = OnFailure.RAISE) -> None:
        self._outbox = outbox
        self._policy = policy
        self.count = 0

    def caught(self, during: str, error: Exception) -> None:
        """Count and note `error`, or raise it again; call it in the `except` clause. DiskFailed is neither."""
        if isinstance(error, DiskFailed):
            return
        if self._policy is OnFailure.RAISE:
            raise error
        self.count += 1
        self._outbox.note(f"failed during {during}: {error!r}", HandlingFailed(during, error))

    def shield(
        self,
        now: Instant,
        event: Event,
        dispatch: Callable[[Instant, Event], None],
        follow_up: Callable[[Instant], bool],
    ) -> None:
        """Work on an event, and then on what follows from it, until `follow_up` says that nothing is left."""
        try:
            dispatch(now, event)
        except Exception as error:
            self.caught(type(event).__name__, error)
            if isinstance(event, TimerFired):
                self._outbox.set_timer(event.key, now + TIMER_AGAIN_AFTER)
        failed = 0
        while failed < FOLLOW_UPS_MAX:
            try:
                while follow_up(now):
                    pass
                return
            except Exception as error:
                failed += 1
                self.caught(f"what follows from {type(event).__name__}", error)
