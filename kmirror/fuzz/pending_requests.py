"""Requests without a response yet, per link, to find the request of a response."""

from __future__ import annotations

from collections import deque

from kmirror.kernel.events import Chunk, InboundLink
from kmirror.protocol.headers import RequestHead


class PendingRequests:
    """Outstanding requests on the links of clients."""

    def __init__(self) -> None:
        self._headers: dict[InboundLink, deque[RequestHead]] = {}

    def add(self, link: InboundLink, head: RequestHead | None) -> None:
        """Record a request; None means that the frame is no request, and is ignored."""
        if head is not None:
            self._headers.setdefault(link, deque()).append(head)

    def forget(self, link: InboundLink) -> None:
        """Remove a link that is closed."""
        self._headers.pop(link, None)

    def take_request(self, link: InboundLink, frame: Chunk) -> RequestHead | None:
        """Return the request with the correlation id of this response, and drop those before it.

        None if there is no such request, as for a SASL token.
        """
        number = int.from_bytes(frame[:4], "big", signed=True)
        heads = self._headers.get(link)
        if heads is None or all(head.correlation_id != number for head in heads):
            return None
        while heads[0].correlation_id != number:
            heads.popleft()
        return heads.popleft()
