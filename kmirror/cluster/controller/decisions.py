"""What a controller's handler returns: it decides, it does not act."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.kernel.clock import Instant
from kmirror.protocol.message import Message


@dataclass(frozen=True, slots=True)
class Decision:
    """Records to persist, and the answer once they are."""

    records: Sequence[Message]
    response: Message


Decide = Callable[[ControllerContext, Instant, Message, int, Rights], Decision]
"""(controller's context, now, request, version, what its sender may do) -> decision"""

DecideAndCommit = Callable[[Instant, Message, int, Rights], Message | None]
"""(now, request, version, what its sender may do) -> the answer, once what was decided is persisted; None if a request
is not one to decide."""
