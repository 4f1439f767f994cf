"""What a controller's handler returns or raises: it decides and does not act."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.kernel.clock import Instant
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode


class ApiError(Exception):
    """Refuses one element of a request, such as a topic; the others may succeed (Kafka's ApiError)."""

    def __init__(self, error: ErrorCode, message: str | None) -> None:
        self.error = error
        self.message = message
        """None where Kafka says no more than the code."""
        super().__init__(message or error.text)


@dataclass(frozen=True, slots=True)
class Decision:
    """Records to persist, and the answer to send once they are persisted."""

    records: Sequence[Message]
    response: Message
    atomic: bool = True
    """A crash may not leave some of the records without the others. False where each one stands for itself: then there
    may be more of them than one batch of the metadata log holds (ControllerResult.of and atomicOf)."""


Decide = Callable[[ControllerContext, Instant, Any, int, Rights], Decision]
"""(controller's context, now, request, version, the sender's rights) -> decision; the request is of the class that the
function names, as its row in DECISIONS is (`tests/repo/test_routes.py`)."""

DecideAndCommit = Callable[[Instant, Message, int, Rights], Message | None]
"""(now, request, version, the sender's rights) -> the answer, after the records are persisted; None for a request that
has no decision."""
