"""Clusters upstream of a source, and rings that include this cluster. Pure functions (D58).

The clusters *upstream* of a log are the one that it is mirrored from, that one's source, and so on. A source that is
fed by this cluster closes a ring: records cut for it are removed from every cluster in the ring.

Each leader reports the clusters upstream that it knows from its own source, and the age of that knowledge. Two clusters
may close a ring at the same time, before either knows of the other's mirror. So a leader first reports that it mirrors,
then asks its source, and for a cut only answers from after that count: the later of the two sees the ring.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kmirror.kernel.clock import MILLISECOND, Instant


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where one log is mirrored from, as far as that is known."""

    clusters: tuple[str, ...] = ()
    """Ids of the clusters upstream, the nearest first; empty if the log is mirrored from none."""
    reported_at: tuple[Instant, ...] = ()
    """For each of them a time after which the cluster before it reported that it mirrors from this one."""
    ended_at: Instant = 0
    """A time after which the last of them reported that it mirrors from none."""
    is_complete: bool = True
    """The last of them mirrors the log from no other cluster, or is in a ring."""
    waits: bool = False
    """Some mirror on the way is PREPARING: it mirrors no records so far."""
    asked_at: Instant = 0
    """Time of the request to the source."""

    @property
    def true_at(self) -> Instant:
        """A time after which each cluster upstream has reported its part."""
        return min(*self.reported_at, self.ended_at) if self.reported_at else self.ended_at

    def with_source(self, now: Instant, source: str, cluster: str, *, prepares: bool) -> Upstream:
        """Return the clusters upstream of the log of `cluster`, given that this is upstream of its source's log.

        A cluster that finds itself reports only the way to itself: a ring has no end.
        """
        path, reported_at = (source, *self.clusters), (now, *self.reported_at)
        known = replace(self, clusters=path, reported_at=reported_at, waits=self.waits or prepares)
        if cluster not in path:
            return known
        count = path.index(cluster) + 1
        reported_at = reported_at[:count]
        return replace(
            known, clusters=path[:count], reported_at=reported_at, ended_at=reported_at[-1], is_complete=True
        )


def ring(cluster: str, source: str, upstream: Upstream | None) -> tuple[str, ...]:
    """Return the ring that a mirror of `source` closes, from `cluster` over its source back to it; else nothing."""
    path = (source, *(() if upstream is None else upstream.clusters))
    return (cluster, *path[: path.index(cluster) + 1]) if cluster in path else ()


def ring_reason(clusters: tuple[str, ...]) -> str:
    """Return the reason for a partition that waits because of a ring."""
    return f"clusters mirror this topic in a ring, {' from '.join(clusters)}: remove it from the mirror in one of them"


def unknown_upstream_reason(upstream: Upstream) -> str:
    """Return the reason for a partition that waits until it is known whether there is a ring."""
    return f"the source has the topic from cluster {upstream.clusters[-1]}, and must ask that cluster for its source"


def reported_age_ms(now: Instant, reported_at: Instant) -> int:
    """Return an upper bound for the age of a report in milliseconds, for a clock that may be an eighth too slow."""
    return -((reported_at - now) * 9 // (8 * MILLISECOND))
