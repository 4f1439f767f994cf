"""A node around another one: it sees every event before the node inside and every effect after it."""

from __future__ import annotations

from collections.abc import Callable

from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Effect, Event, Node

Interpose = Callable[[str, Node], Node]
"""Puts something around a node that was just made, whose process has this name: hooks, or a journal."""


class Wrapper:
    """The base of nodes around a node; this one changes nothing."""

    def __init__(self, inner: Node) -> None:
        self.inner = inner

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of `event`."""
        return self.inner.handle(now, event)

    def cap(self, key: int, range_: tuple[int, int]) -> tuple[int, int] | None:
        """Return the versions of an API that clients are offered, of those that the innermost node serves; or None."""
        return self.inner.cap(key, range_) if isinstance(self.inner, Wrapper) else range_


def innermost(node: Node) -> Node:
    """Return the node inside all wrappers."""
    while isinstance(node, Wrapper):
        node = node.inner
    return node
