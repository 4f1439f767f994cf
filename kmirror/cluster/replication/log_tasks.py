"""Tasks that are done at the logs of a broker by the clock: they have the timers of `LogManager`."""

from __future__ import annotations

from kmirror.cluster.node.context import BrokerContext
from kmirror.kernel.clock import MILLISECOND, Instant

TIMER = "logs"


class LogTasks:
    """What the tasks at logs have in common."""

    def __init__(self, context: BrokerContext) -> None:
        self._context = context
        self.is_stopped = False
        """No more work is ordered; what is under way comes to its end."""

    def _again(self, now: Instant, task: str, after_ms: int) -> None:
        """Have `task` done after `after_ms`."""
        self._context.outbox.set_timer((TIMER, task), now + after_ms * MILLISECOND)
