"""What nodes keep on their disks at the end of a history: a part of the account of a history."""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.kernel.clock import Duration, Instant
from kmirror.kernel.ids import TopicPartition


@dataclass(frozen=True, slots=True)
class ReplicaKept:
    """What one replica keeps of a partition when all has come to rest."""

    cluster: str
    tp: TopicPartition
    broker: int
    is_leader: bool
    mirror_state: str
    """As the partition's leader has it; empty if the partition is in no mirror."""
    log_start_offset: int
    log_end_offset: int
    size: int
    """Bytes of the batches between log start and log end."""
    segments: tuple[tuple[int, int], ...]
    """Base offset and size of each."""
    files_below: tuple[str, ...]
    """Names of files below the first segment, but for snapshots of producers where no segment was seen to begin: cuts
    leave those behind, and Kafka, too, removes them only when the log is opened again."""
    first_age_ms: int
    """Of the youngest record in the first segment, by its timestamp; -1 if the segment is empty."""
    policies: tuple[str, ...]
    """`cleanup.policy` that holds for the topic; so do the next two."""
    retention_ms: int
    retention_bytes: int
    unchanged_since: Instant
    """Since then the broker has run without a restart, and mirror state and configs are what they are."""
    starts: tuple[tuple[Instant, int], ...]
    """The log starts that were seen since then, each with the first moment."""
    checks: Duration
    """So long after a change the broker has looked for old segments at the latest."""
    at: Instant

    def start_at(self, moment: Instant) -> int:
        """Return the lowest log start from a moment on; -1 if none was seen before it since the replica is as it is.

        A log that begins anew may begin lower than before.
        """
        before = [start for at, start in self.starts if at <= moment]
        return min([before[-1], *(start for at, start in self.starts if at > moment)]) if before else -1


@dataclass(slots=True)
class DiskAccount:
    replicas: list[ReplicaKept] = field(default_factory=list)
    leftovers: list[tuple[str, int, TopicPartition, str]] = field(default_factory=list)
    """Partitions in a broker's log directories that it should not keep: cluster, broker, partition, and why not."""
