"""Effects that the parts of a node request, in order.

A node has one outbox. Its parts add effects while an event is handled; the node returns them at the end.
"""

from __future__ import annotations

from collections.abc import Callable

from kmirror.kernel.clock import Instant
from kmirror.kernel.events import CancelTimer, Effect, Note, SetTimer, TimerKey


class Outbox:
    """Collects effects; `drain` returns them."""

    def __init__(self) -> None:
        self._effects: list[Effect] = []
        self.add: Callable[[Effect], None] = self._effects.append
        """Add an effect after the previous ones."""

    def note(self, text: str, fact: object = None) -> None:
        """Add a note for logs and for programs that watch for `fact`; changes nothing."""
        self._effects.append(Note(text, fact))

    def set_timer(self, key: TimerKey, at: Instant) -> None:
        """Fire `key` at `at`; replaces a timer with the same key."""
        self._effects.append(SetTimer(key, at))

    def cancel_timer(self, key: TimerKey) -> None:
        """Cancel the timer `key`, if it is set."""
        self._effects.append(CancelTimer(key))

    def drain(self) -> list[Effect]:
        """Return the effects added since the last call, in order."""
        effects = self._effects.copy()
        self._effects.clear()
        return effects
