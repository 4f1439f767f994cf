"""Handling of unexpected exceptions in a node's code, by a policy that is set when the node is created.

In a simulation the exception is raised to the caller: it is a bug, and the run shows how to reproduce it. A server
continues: the current request is answered with UNKNOWN_SERVER_ERROR, a timer fires again, a response whose handler
fails is ignored, and a note reports each failure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from kmirror.kernel.clock import SECOND, Duration, Instant
from kmirror.kernel.events import Event, TimerFired
from kmirror.kernel.outbox import Outbox

TIMER_AGAIN_AFTER: Duration = SECOND
"""Delay before a timer with a failed handler fires again, so that periodic work continues."""
FOLLOW_UPS_MAX = 8
"""Maximum number of failures in the follow-up work of one event; the rest waits for the next event."""


class OnFailure(Enum):
    """Policy for unexpected exceptions."""

    RAISE = "raise"
    CONTINUE = "continue"


@dataclass(frozen=True, slots=True)
class HandlingFailed:
    """Fact in the note about a failure; the error has its traceback."""

    operation: str
    error: Exception


@dataclass(frozen=True, slots=True)
class GaveUp:
    """Fact in the note about a node that stops because it cannot continue, such as with a damaged disk."""

    reason: str


class DiskFailed(Exception):
    """The current work cannot be completed because its disk failed. The node has handled the failure; it is no bug."""


class Failures:
    """Counts and reports failures of a node that continues, or raises them again, depending on the policy."""

    def __init__(self, outbox: Outbox, policy: OnFailure = OnFailure.RAISE) -> None:
        self._outbox = outbox
        self._policy = policy
        self.count = 0

    def report(self, operation: str, error: Exception) -> None:
        """Count `error` and add a note, or raise it again; call it in the `except` clause. DiskFailed is ignored."""
        if isinstance(error, DiskFailed):
            return
        if self._policy is OnFailure.RAISE:
            raise error
        self.count += 1
        self._outbox.note(f"failed during {operation}: {error!r}", HandlingFailed(operation, error))

    def process(
        self,
        now: Instant,
        event: Event,
        dispatch: Callable[[Instant, Event], None],
        follow_up: Callable[[Instant], bool],
    ) -> None:
        """Process an event, then call `follow_up` until it returns False (no work is left)."""
        try:
            dispatch(now, event)
        except Exception as error:
            self.report(type(event).__name__, error)
            if isinstance(event, TimerFired):
                self._outbox.set_timer(event.key, now + TIMER_AGAIN_AFTER)
        failure_count = 0
        while failure_count < FOLLOW_UPS_MAX:
            try:
                while follow_up(now):
                    pass
                return
            except Exception as error:
                failure_count += 1
                self.report(f"what follows from {type(event).__name__}", error)
