"""A node around another one: it sees every event before the node inside and every effect after it."""

from __future__ import annotations

from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Effect, Event, Node


class Wrapper:
    """The base of nodes around a node; this one changes nothing."""

    def __init__(self, inner: Node) -> None:
        self.inner = inner

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of `event`."""
        return self.inner.handle(now, event)


def innermost(node: Node) -> Node:
    """Return the node inside all wrappers."""
    while isinstance(node, Wrapper):
        node = node.inner
    return node
