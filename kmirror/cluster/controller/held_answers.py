"""What a controller has said to clients, and what of it may not leave yet: it speaks of records that may be lost.

An answer waits for the offset at which the metadata log ended when it was given, and that holds for answers without
records, too: what they are based on may not be committed (Kafka's DeferredEventQueue).
"""

from __future__ import annotations

from collections import deque

from kmirror.cluster.metadata.quorum import Quorum
from kmirror.kernel.events import CloseLink, Reply
from kmirror.kernel.outbox import Outbox


class HeldAnswers:
    """Answers, and links that are closed, in the order in which they were given."""

    def __init__(self, quorum: Quorum, outbox: Outbox) -> None:
        self._quorum = quorum
        self._outbox = outbox
        self._held: deque[tuple[int, Reply | CloseLink]] = deque()
        """Each with the offset that has to be committed."""
        self._is_dropped = False

    def put(self, answer: Reply | CloseLink) -> None:
        """Let an answer leave as soon as all that was proposed before it is committed."""
        end_offset = self._quorum.end_offset
        if self._quorum.committed_end < end_offset:
            self._held.append((end_offset, answer))
        elif not self._is_dropped:
            self._outbox.add(answer)

    def release(self) -> None:
        """Let those leave that had to wait for what is committed by now."""
        committed_end = self._quorum.committed_end
        while self._held and self._held[0][0] <= committed_end:
            self._outbox.add(self._held.popleft()[1])

    def drop(self) -> None:
        """Let nothing leave any more."""
        self._is_dropped = True
        self._held.clear()
