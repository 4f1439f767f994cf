"""Position of a consumer of a history in a partition."""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.histories.account import FetchedOffsets
from kmirror.histories.metadata_cache import Leader
from kmirror.kernel.clock import Instant


@dataclass(frozen=True, slots=True)
class Preferred:
    """The replica that a partition's leader named as the one to read from (KIP-392)."""

    broker_id: int
    cluster: str
    leader: Leader
    until: Instant


@dataclass(slots=True)
class Position:
    offset: int = 0
    epoch: int = -1
    """Leader epoch of the last batch read; -1 before the first."""
    checked: tuple[str, int] = ("", -1)
    """Cluster and leader epoch for which the position is known to be in the log."""
    known: FetchedOffsets | None = None
    """Values of the last response; only changes are recorded."""
    preferred: Preferred | None = None
