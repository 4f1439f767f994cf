"""Trace of a run: one line per event, and a digest of all lines.

The digest covers every line in order, so two runs with equal digests did the same things at the same virtual times.
Only the newest lines are kept; the digest does not need them.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable

from kmirror.kernel.clock import Instant

HASHED_AT_ONCE = 1 << 16
"""Bytes collected before hashing: one call per line would cost more than the hash itself."""


class Trace:
    """Collects lines; `digest()` may be read at any time."""

    def __init__(self, *, keep: int = 2000) -> None:
        self._hash = hashlib.sha256()
        self._unhashed = bytearray()
        self.lines: deque[str] = deque(maxlen=keep)
        self.count = 0
        self.listeners: list[Callable[[Instant, str, str], None]] = []

    def add(self, now: Instant, node: str, text: str, payload: bytes | memoryview = b"") -> None:
        """Record `text` about `node` at `now`; only the digest covers `payload`."""
        line = f"{now} {node} {text}"
        unhashed = self._unhashed
        unhashed += payload
        unhashed += line.encode()
        unhashed += b"\n"
        if len(unhashed) >= HASHED_AT_ONCE:
            self._hash_now()
        self.lines.append(line)
        self.count += 1
        for listener in self.listeners:
            listener(now, node, text)

    def digest(self) -> str:
        """Return 64 hex digits over all lines so far."""
        self._hash_now()
        return self._hash.hexdigest()

    def _hash_now(self) -> None:
        self._hash.update(self._unhashed)
        self._unhashed.clear()
