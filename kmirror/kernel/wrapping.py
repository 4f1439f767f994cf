"""Wrapper around a node: it sees every event before the inner node and every effect after it."""

from __future__ import annotations

from collections.abc import Callable

from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Effect, Event, Node

WrapNode = Callable[[str, Node], Node]
"""Wraps a new node, for example in hooks or a journal; arguments: name of its process, and the node."""


class Wrapper:
    """Base class of wrappers; changes nothing."""

    def __init__(self, inner: Node) -> None:
        self.inner = inner

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of `event`."""
        return self.inner.handle(now, event)

    def offered_range(self, key: int, range_: tuple[int, int]) -> tuple[int, int] | None:
        """Return the API versions offered to clients, out of those that the innermost node serves; None for none."""
        return self.inner.offered_range(key, range_) if isinstance(self.inner, Wrapper) else range_


def innermost(node: Node) -> Node:
    """Return the node inside all wrappers."""
    while isinstance(node, Wrapper):
        node = node.inner
    return node
