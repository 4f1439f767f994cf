"""What the parts of a node want done, in the order in which they said so.

A node has one outbox. Its parts write into it while an event is handled; the node hands it over in the end.
"""

from __future__ import annotations

from collections.abc import Callable

from kmirror.kernel.clock import Instant
from kmirror.kernel.events import CancelTimer, Effect, Note, SetTimer, TimerKey


class Outbox:
    """Collects effects; `drain` hands them over."""

    def __init__(self) -> None:
        self._effects: list[Effect] = []
        self.add: Callable[[Effect], None] = self._effects.append
        """Have an effect carried out after those before it."""

    def note(self, text: str, fact: object = None) -> None:
        """Tell people, and programs that watch for `fact`; changes nothing."""
        self._effects.append(Note(text, fact))

    def set_timer(self, key: TimerKey, at: Instant) -> None:
        """Fire `key` at `at`, instead of when it was to fire before."""
        self._effects.append(SetTimer(key, at))

    def cancel_timer(self, key: TimerKey) -> None:
        """Do not fire `key`; nothing happens if it is not set."""
        self._effects.append(CancelTimer(key))

    def drain(self) -> list[Effect]:
        """Return what is wanted since the last call, in order."""
        effects = self._effects.copy()
        self._effects.clear()
        return effects
