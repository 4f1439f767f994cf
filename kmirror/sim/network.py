"""The simulated network: ordered links, seeded delays, cuts.

A link belongs to the node that opened it and to one channel. Frames on a link arrive in the order
in which they were sent, each after the delay drawn for it. A cut between two groups of nodes loses
whatever is sent across it, without a word, as a firewall does; a node that dies closes its links,
and the other end is told.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.rng import Rng

LinkKey = tuple[str, Endpoint, str]
"""(name of the node that opened it, peer, channel)"""


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """One-way delays in microseconds, inclusive bounds."""

    local_min: Duration = MILLISECOND // 10
    local_max: Duration = MILLISECOND
    remote_min: Duration = 20 * MILLISECOND
    remote_max: Duration = 30 * MILLISECOND


@dataclass(slots=True)
class Link:
    key: LinkKey
    number: int
    """Counts the links of the world; a link that is opened again is another one."""
    client: str
    server: str
    there_at: Instant = 0
    back_at: Instant = 0
    open: bool = True


class Network:
    """Says when a frame arrives, or that it does not."""

    def __init__(self, rng: Rng, options: NetworkOptions) -> None:
        self._rng = rng
        self._options = options
        self._sites: dict[str, str] = {}
        self._cuts: dict[frozenset[str], None] = {}
        self.addresses: dict[Endpoint, str] = {}

    def add(self, name: str, site: str, endpoint: Endpoint | None) -> None:
        """Put a node at a site; delays within a site are local, between sites remote."""
        self._sites[name] = site
        if endpoint is not None:
            self.addresses[endpoint] = name

    def cut(self, one: str, other: str) -> None:
        """Lose everything between two sites or nodes from now on."""
        self._cuts[frozenset((one, other))] = None

    def heal(self, one: str, other: str) -> None:
        self._cuts.pop(frozenset((one, other)), None)

    def is_cut(self, one: str, other: str) -> bool:
        ends = ((one, other), (self._sites[one], self._sites[other]))
        mixed = ((one, self._sites[other]), (self._sites[one], other))
        return any(frozenset(pair) in self._cuts for pair in (*ends, *mixed))

    def arrival(self, now: Instant, sender: str, receiver: str, not_before: Instant) -> Instant:
        """Return when a frame sent now arrives; never before the one sent ahead of it."""
        local = self._sites[sender] == self._sites[receiver]
        options = self._options
        first, last = (
            (options.local_min, options.local_max) if local else (options.remote_min, options.remote_max)
        )
        return max(now + self._rng.between(first, last), not_before)
