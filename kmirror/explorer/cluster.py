"""State of one cluster in a search: one partition, as its leader sees it.

The leader is replica 0; followers are sorted, so clusters that differ only in the names of their replicas are equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kmirror.mirror.cut_rules import SESSION, Uncut
from kmirror.mirror.states import MirrorState

NOT_LISTED = 1 << 10
"""Used instead of a cut epoch: the replica, or the session, is not on D30's list."""

IDLE = 0
DECIDED = 1
"""PREPARING: the list is persisted, the leader's log is not truncated yet."""
CUT = 2
"""PREPARING and STOPPING: this leader has truncated its log."""

OWN_EPOCHS = (MirrorState.UNKNOWN, MirrorState.STOPPED)
"""In these states the partition is writable, and the log has the cluster's own leader epochs."""


class Replica(NamedTuple):
    log: int
    in_isr: bool
    leo_is_known: bool
    """Whether the leader knows its LEO: it fetched since the election, and since the leader truncated its own log."""
    has_confirmed: bool
    """On the list, but a fetch has proved the truncation: known to this leader, not persisted yet."""
    listed_cut: int
    """Its persisted row in D30's list."""

    @property
    def must_cut(self) -> bool:
        return self.listed_cut != NOT_LISTED and not self.has_confirmed


class Cluster(NamedTuple):
    """State of one cluster: persisted values, the leader's knowledge, and the remaining budgets."""

    epoch: int
    hw: int
    committed: int
    """The highest HW since the log was last truncated by the rules; no leader may have less (ghost)."""
    state: MirrorState
    lme: int
    session: int
    """The row of SESSION: the lowest epoch that this session truncated to; NOT_LISTED until it changes the log."""
    phase: int
    cut_epoch: int
    appends: int
    clean: int
    unclean: int
    sessions: int
    replicas: tuple[Replica, ...]

    @property
    def leader(self) -> Replica:
        return self.replicas[0]

    @property
    def knows_all_leos(self) -> bool:
        return all(replica.leo_is_known for replica in self.replicas if replica.in_isr)

    @property
    def is_foreign(self) -> bool:
        return self.state not in OWN_EPOCHS

    @property
    def uncut(self) -> Uncut:
        """D30's list, by place."""
        found = {} if self.session == NOT_LISTED else {SESSION: self.session}
        for place, replica in enumerate(self.replicas):
            if replica.listed_cut != NOT_LISTED:
                found[place] = replica.listed_cut
        return found


class Move(NamedTuple):
    """One step of one cluster: its kind, the place of the replica before it, and the cluster after it."""

    kind: str
    place: int
    after: Cluster
    places: tuple[int, ...]
    """For each replica after the step, its place before it."""


def canonical(cluster: Cluster, places: Iterable[int]) -> tuple[Cluster, tuple[int, ...]]:
    """Return the cluster with sorted followers and without irrelevant values, and the places in that order."""
    counts_all = cluster.state is MirrorState.PREPARING and cluster.phase == CUT
    leader, *followers = (
        (
            replica
            if replica.in_isr or counts_all or not replica.leo_is_known
            else replica._replace(leo_is_known=False),
            place,
        )
        for replica, place in zip(cluster.replicas, places, strict=True)
    )
    ranked = [leader, *sorted(followers)]
    replicas = tuple(row[0] for row in ranked)
    after = cluster if replicas == cluster.replicas else cluster._replace(replicas=replicas)
    return after, tuple(row[1] for row in ranked)
