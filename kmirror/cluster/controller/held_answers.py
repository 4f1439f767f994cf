"""Which answers of a controller may not leave yet? Those that depend on records that may still be lost.

An answer waits for the offset at which the metadata log ended when it was given. That holds for answers without
records, too: they may be based on records that are not committed (Kafka's DeferredEventQueue).
"""

from __future__ import annotations

from collections import deque

from kmirror.cluster.metadata.quorum import Quorum
from kmirror.kernel.events import CloseLink, Reply
from kmirror.kernel.outbox import Outbox


class HeldAnswers:
    """Answers, and links to close, in the order in which they were given."""

    def __init__(self, quorum: Quorum, outbox: Outbox) -> None:
        self._quorum = quorum
        self._outbox = outbox
        self._held: deque[tuple[int, Reply | CloseLink]] = deque()
        """Each with the offset that has to be committed."""
        self._is_dropped = False

    def put(self, answer: Reply | CloseLink) -> None:
        """Let an answer leave as soon as all records proposed before it are committed."""
        end_offset = self._quorum.end_offset
        if self._quorum.committed_end < end_offset:
            self._held.append((end_offset, answer))
        elif not self._is_dropped:
            self._outbox.add(answer)

    def release(self) -> None:
        """Let the answers leave whose records are committed now."""
        committed_end = self._quorum.committed_end
        while self._held and self._held[0][0] <= committed_end:
            self._outbox.add(self._held.popleft()[1])

    def drop(self) -> None:
        """Let no answer leave any more."""
        self._is_dropped = True
        self._held.clear()
