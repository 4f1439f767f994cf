"""Files on the nodes' disks at the end of a history: a part of the account."""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.kernel.clock import Duration, Instant
from kmirror.kernel.ids import TopicPartition


@dataclass(frozen=True, slots=True)
class ReplicaFiles:
    """Files and sizes of one replica when all has settled."""

    cluster: str
    tp: TopicPartition
    broker: int
    is_leader: bool
    mirror_state: str
    """State according to the partition's leader; empty if the partition is in no mirror."""
    log_start_offset: int
    log_end_offset: int
    size: int
    """Bytes of the batches between log start and log end."""
    segments: tuple[tuple[int, int], ...]
    """Base offset and size of each segment."""
    files_below: tuple[str, ...]
    """Names of files below the first segment. Snapshots of producers count only where a segment was seen to begin: cuts
    leave others behind, and Kafka, too, removes those only when it opens the log again.
    """
    first_age_ms: int
    """Age of the youngest record in the first segment, by its timestamp; -1 if the segment is empty."""
    policies: tuple[str, ...]
    """Effective `cleanup.policy` of the topic; the next two are effective values, too."""
    retention_ms: int
    retention_bytes: int
    unchanged_since: Instant
    """Time since which the broker has not restarted, and mirror state and configs have not changed."""
    starts: tuple[tuple[Instant, int], ...]
    """Log starts observed since then, each with the first time it was observed."""
    checks: Duration
    """Longest time after a change until the broker has checked for old segments."""
    at: Instant

    def log_start_from(self, moment: Instant) -> int:
        """Return the lowest log start from a moment on; -1 if none was observed from `unchanged_since` to that moment.

        A log that is created again may begin lower than before.
        """
        before = [start for at, start in self.starts if at <= moment]
        return min([before[-1], *(start for at, start in self.starts if at > moment)]) if before else -1


@dataclass(slots=True)
class DiskAccount:
    replicas: list[ReplicaFiles] = field(default_factory=list)
    leftovers: list[tuple[str, int, TopicPartition, str]] = field(default_factory=list)
    """Partitions in a broker's log directories that it should not have: cluster, broker, partition, and the reason."""
