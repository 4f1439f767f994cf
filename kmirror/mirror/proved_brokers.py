"""Proofs that a broker of the source is up to date, and the lags that they make known (D77).

A leader that was deposed, and has lost its controller, still responds to fetches and does not know which records its
successor has acknowledged. A broker that proved to be up to date at some time, and still leads in a fetch that was
sent after the proof, has counted all records that were acknowledged before that time.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from kmirror.client.backoff import Backoff
from kmirror.client.remote_cluster import RemoteCluster
from kmirror.kernel.clock import MILLISECOND, SECOND, Duration, Instant
from kmirror.kernel.ids import Endpoint

PAUSES = Backoff(500, 1_000)
"""The pauses after failed proofs."""
KEPT = 8
"""Number of proofs kept. Proofs are at least a second apart, and the newest answered fetch may have been sent 5 s ago
if the source responds as late as it may (D62)."""


class Proof(NamedTuple):
    """A broker knew at `proved_at` everything that the controller knew at `asked_at`."""

    asked_at: Instant
    proved_at: Instant
    closings: int
    """Number of links to the broker that had ended: a broker that restarted since has proved nothing."""


@dataclass(slots=True)
class ProvedBroker:
    """The proofs of one broker of a source."""

    mirror: str
    source: RemoteCluster
    endpoint: Endpoint
    proofs: deque[Proof] = field(default_factory=lambda: deque(maxlen=KEPT))
    """The newest comes first. The ones before count until a fetch is answered that was sent after it."""
    is_requested: bool = False
    """A proof is under way."""
    next_at: Instant = 0
    """When to ask for the next proof."""
    failures: int = 0
    """Attempts that failed since the last proof."""
    last_error: str = ""
    """Why the last attempt failed; empty if it did not."""

    def as_of(self, confirmed_at: Instant) -> Instant | None:
        """Return the time that the response to a fetch sent at `confirmed_at` covers; None if no proof counts."""
        closings = self.source.closed_links(self.endpoint)
        for proof in self.proofs:
            if proof.proved_at <= confirmed_at and proof.closings == closings:
                return proof.asked_at
        return None

    def on_proof(self, now: Instant, asked_at: Instant, interval: Duration) -> None:
        """Record a proof that was requested at `asked_at`; the next one is due after `interval`."""
        self.proofs.appendleft(Proof(asked_at, now, self.source.closed_links(self.endpoint)))
        self.next_at = asked_at + max(interval, SECOND)
        self.is_requested, self.failures, self.last_error = False, 0, ""

    def on_failure(self, now: Instant, reason: str) -> None:
        """Record that the broker has proved nothing."""
        self.next_at = now + PAUSES.pause_ms(self.failures) * MILLISECOND
        self.is_requested, self.failures, self.last_error = False, self.failures + 1, reason
