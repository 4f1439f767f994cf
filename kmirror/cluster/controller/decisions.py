"""What a controller's handler returns: it decides, it does not act."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kmirror.kernel.clock import Instant
from kmirror.protocol.message import Message

if TYPE_CHECKING:
    from kmirror.cluster.controller.controller import Controller


@dataclass(frozen=True, slots=True)
class Decision:
    """Records to persist, and the answer once they are."""

    records: Sequence[Message]
    response: Message


Decide = Callable[["Controller", Instant, Message, int], Decision]
"""(controller, now, request, version) -> decision"""
