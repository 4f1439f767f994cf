"""A received request, as passed to hooks."""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.kernel.events import LinkOpened
from kmirror.protocol.message import Message

Row = tuple[str | None, int | None]
"""A topic, None if its id is unknown, and a partition, None in an API for whole topics."""


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A received request, as passed to hooks."""

    node_id: int
    """The node that received it."""
    at_ms: int
    """Start of its processing on its link, in ms since 1970."""
    client: LinkOpened
    """The link: listener, principal and address of the client."""
    client_id: str | None
    correlation_id: int
    version: int
    body: Message
    """The decoded request; it must not be changed."""
