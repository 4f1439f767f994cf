"""Which request does an answer belong to? The headers of what was asked on each link and is not answered yet."""

from __future__ import annotations

from collections import deque

from kmirror.kernel.events import Chunk, InboundLink
from kmirror.protocol.headers import RequestHead


class Asked:
    """What is under way on the links of clients."""

    def __init__(self) -> None:
        self._heads: dict[InboundLink, deque[RequestHead]] = {}

    def add(self, link: InboundLink, head: RequestHead | None) -> None:
        """Note a request; None is a frame that is none."""
        if head is not None:
            self._heads.setdefault(link, deque()).append(head)

    def forget(self, link: InboundLink) -> None:
        """Forget a link that is closed."""
        self._heads.pop(link, None)

    def answered(self, link: InboundLink, frame: Chunk) -> RequestHead | None:
        """Return the request that this frame answers, known by its correlation id; those before it have no answer.

        None if there is no such request, as for a SASL token.
        """
        number = int.from_bytes(frame[:4], "big", signed=True)
        heads = self._heads.get(link)
        if heads is None or all(head.correlation_id != number for head in heads):
            return None
        while heads[0].correlation_id != number:
            heads.popleft()
        return heads.popleft()
