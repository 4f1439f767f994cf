"""Results of a controller's handlers: decisions and errors. Handlers decide and have no side effects."""

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
    """Rejects one element of a request, such as a topic; the others may succeed (Kafka's ApiError)."""

    def __init__(self, error: ErrorCode, message: str | None) -> None:
        self.error = error
        self.message = message
        """None where Kafka only returns the code."""
        super().__init__(message or error.text)


@dataclass(frozen=True, slots=True)
class Decision:
    """Records to persist, and the response to send once they are persisted."""

    records: Sequence[Message]
    response: Message
    atomic: bool = True
    """Whether a crash must leave all records or none.

    False if the records are independent: then there may be more than fit into one batch of the metadata log
    (ControllerResult.of and atomicOf).
    """


Decide = Callable[[ControllerContext, Instant, Any, int, Rights], Decision]
"""(controller's context, now, request, version, the sender's rights) -> decision.

The request has the class in the function's annotation, like its row in DECISIONS (`tests/repo/test_routes.py`).
"""

DecideAndCommit = Callable[[Instant, Message, int, Rights], Message | None]
"""(now, request, version, the sender's rights) -> the response, after the records are persisted; None if no decision

exists for the request.
"""
