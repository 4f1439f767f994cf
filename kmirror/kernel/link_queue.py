"""Queue of the requests that wait on one connection: at a server, in hooks before a node, or in a proxy."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

WAITING_MAX = 5
"""Number of waiting requests at which a node stops reading a link.

`max.in.flight.requests.per.connection` of Kafka's producer is 5, so a client within that limit is never stopped. Kafka
itself reads one request, then none until it is answered.
"""
WAITING_BYTES_MAX = 1 << 20
"""Waiting bytes at which a node stops reading a link: about one batch of the default `max.message.bytes`.

A single request may be larger, up to `socket.request.max.bytes`.
"""


@dataclass(slots=True)
class LinkQueue(Generic[T]):
    """Requests with their sizes in bytes; the owner stops reading the link while `is_full`."""

    requests_max: int = WAITING_MAX
    bytes_max: int = WAITING_BYTES_MAX
    requests: deque[tuple[T, int]] = field(default_factory=deque)
    size: int = 0
    """Total size of the requests in bytes."""

    def put(self, request: T, size: int) -> None:
        """Add a request at the end."""
        self.requests.append((request, size))
        self.size += size

    def take(self) -> T:
        """Remove and return the oldest request; the queue must not be empty."""
        request, size = self.requests.popleft()
        self.size -= size
        return request

    @property
    def first(self) -> T:
        """The oldest request; the queue must not be empty."""
        return self.requests[0][0]

    @property
    def is_full(self) -> bool:
        """True if the number or the bytes of waiting requests have reached their limit."""
        return len(self.requests) >= self.requests_max or self.size >= self.bytes_max
