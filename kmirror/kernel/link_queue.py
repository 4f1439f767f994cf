"""The requests that wait on one link, in order: of a server, of hooks before a node, and of a proxy before a broker."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

WAITING_MAX = 5
"""Number of waiting requests at which a node does not read a link any more.

`max.in.flight.requests.per.connection` of Kafka's producer is 5, so a client that keeps to it is never stopped. Kafka
itself reads one request, then none until it is answered.
"""
WAITING_BYTES_MAX = 1 << 20
"""Waiting bytes at which a node does not read a link any more: about one batch of the default `max.message.bytes`.

A single request may be larger, up to `socket.request.max.bytes`.
"""


@dataclass(slots=True)
class LinkQueue(Generic[T]):
    """Requests with their sizes in bytes; the owner stops reading the link while `is_full`."""

    requests_max: int = WAITING_MAX
    bytes_max: int = WAITING_BYTES_MAX
    requests: deque[tuple[T, int]] = field(default_factory=deque)
    size: int = 0
    """The bytes of all requests."""

    def put(self, request: T, size: int) -> None:
        """Let a request wait behind the others."""
        self.requests.append((request, size))
        self.size += size

    def take(self) -> T:
        """Remove the request that has waited longest, and return it; there is one."""
        request, size = self.requests.popleft()
        self.size -= size
        return request

    @property
    def first(self) -> T:
        """Return the request that has waited longest; there is one."""
        return self.requests[0][0]

    @property
    def is_full(self) -> bool:
        """Return whether the link has as many requests, or as many bytes, as may wait."""
        return len(self.requests) >= self.requests_max or self.size >= self.bytes_max
