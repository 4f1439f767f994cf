"""Progress of the hooked requests on a link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kmirror.hooks.actions import RespondWithError
from kmirror.hooks.hook import HoldHook, Hook
from kmirror.hooks.received import ReceivedRequest, Row
from kmirror.hooks.requests import RequestRows
from kmirror.kernel.clock import Duration
from kmirror.kernel.events import Chunk, LinkOpened, Reply
from kmirror.kernel.link_queue import LinkQueue
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import Acks

Rewrite = Callable[[Message], Message]
"""Returns the response that replaces the node's response."""


@dataclass(slots=True)
class RowDecision:
    """Decision of a hook about some rows."""

    hook: Hook
    action: RespondWithError


@dataclass(slots=True)
class RequestProgress:
    """The request of a link that hooks are processing."""

    request_rows: RequestRows
    frame: Chunk
    request: ReceivedRequest
    is_node: bool
    taken_by: list[Hook] = field(default_factory=list)
    """The hooks that have taken the request."""
    decisions: list[RowDecision] = field(default_factory=list)
    held_by: HoldHook | None = None
    held_number: int = 0
    timer: int = 0
    closes_link: bool = False
    """Whether the link is closed instead of sending a response."""
    is_dropped: bool = False
    """Whether nothing is sent in response, neither to it nor to later requests."""
    rewrite: Rewrite | None = None
    throttle_ms: int = 0
    """Throttle time in the response, in ms."""
    bytes_per_s: int | None = None
    """Simulated speed of the link for the request and its response."""
    response_delay: Duration = 0
    response_held_by: list[HoldHook] = field(default_factory=list)
    response: Reply | None = None
    """The response, once nothing delays or holds it any more."""

    @property
    def has_no_response(self) -> bool:
        """Return whether the inner node sends no response."""
        return isinstance(self.request.body, ProduceRequest) and self.request.body.acks == Acks.NONE

    def decision_for(self, topic: str | None, index: int | None) -> RowDecision | None:
        """Return the decision about a row."""
        if index is None and self.request_rows.has_partitions:
            return None
        return next((decision for decision in self.decisions if decision.hook.matches_row((topic, index))), None)

    def error_at(self, topic: str | None, index: int | None) -> tuple[ErrorCode, str] | None:
        """Return the error decided for a row."""
        decision = self.decision_for(topic, index)
        return None if decision is None else (decision.action.error, decision.action.message)

    def is_forwarded(self, topic: str | None, index: int | None) -> bool:
        """Return whether the row is passed to the inner node."""
        decision = self.decision_for(topic, index)
        return decision is None or decision.action.is_applied

    def undecided_rows(self) -> list[Row]:
        """Return the rows without a decision."""
        return [row for row in self.request_rows.rows if self.decision_for(*row) is None]


@dataclass(slots=True)
class HookedLink:
    client: LinkOpened
    waiting: LinkQueue[Chunk] = field(default_factory=LinkQueue)
    outstanding: int = 0
    """Requests without hooks that have no response yet."""
    progress: RequestProgress | None = None
    """The request with hooks; no other of its link is processed at the same time."""
    is_read_by_inner: bool = True
    is_full: bool = False

    @property
    def is_read(self) -> bool:
        return self.is_read_by_inner and not self.is_full
