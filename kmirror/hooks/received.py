"""A request that came in, as hooks are told of it."""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.kernel.events import LinkOpened
from kmirror.protocol.message import Message

Row = tuple[str | None, int | None]
"""A topic, None if nobody knows its id, and a partition, None in an API that asks of whole topics."""


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request that came in, as hooks are told of it."""

    node_id: int
    """The node to which it came."""
    at_ms: int
    """When it was its turn on its link, in ms since 1970."""
    client: LinkOpened
    """The link: listener, principal and address of who asks."""
    client_id: str | None
    correlation_id: int
    version: int
    body: Message
    """The decoded request; do not change it."""
