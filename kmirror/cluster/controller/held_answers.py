"""Responses of a controller that are held until the records they depend on are committed.

A response waits for the end offset of the metadata log at the time when it was produced. This also holds for responses
without records: they may be based on records that are not committed (Kafka's DeferredEventQueue).
"""

from __future__ import annotations

from collections import deque

from kmirror.cluster.metadata.quorum import Quorum
from kmirror.kernel.events import CloseLink, Reply
from kmirror.kernel.outbox import Outbox


class HeldAnswers:
    """Responses, and links to close, in order."""

    def __init__(self, quorum: Quorum, outbox: Outbox) -> None:
        self._quorum = quorum
        self._outbox = outbox
        self._held: deque[tuple[int, Reply | CloseLink]] = deque()
        """(offset that must be committed, effect)"""
        self._is_dropped = False

    def put(self, answer: Reply | CloseLink) -> None:
        """Send a response as soon as all records proposed before it are committed."""
        end_offset = self._quorum.end_offset
        if self._quorum.committed_end < end_offset:
            self._held.append((end_offset, answer))
        elif not self._is_dropped:
            self._outbox.add(answer)

    def release(self) -> None:
        """Send the responses whose records are now committed."""
        committed_end = self._quorum.committed_end
        while self._held and self._held[0][0] <= committed_end:
            self._outbox.add(self._held.popleft()[1])

    def drop(self) -> None:
        """Drop all held responses, and send no more."""
        self._is_dropped = True
        self._held.clear()
