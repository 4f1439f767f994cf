"""Base of the periodic log tasks, which share the timers of `LogManager`."""

from __future__ import annotations

from kmirror.cluster.node.context import BrokerContext
from kmirror.kernel.clock import MILLISECOND, Instant

TIMER = "logs"


class LogTasks:
    """Common base of the log tasks."""

    def __init__(self, context: BrokerContext) -> None:
        self._context = context
        self.is_stopped = False
        """True if no more jobs may be submitted; jobs in flight are completed."""

    def _schedule(self, now: Instant, task: str, after_ms: int) -> None:
        """Set a timer that runs `task` after `after_ms`."""
        self._context.outbox.set_timer((TIMER, task), now + after_ms * MILLISECOND)
