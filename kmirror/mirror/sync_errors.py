"""How often did a sync fail? The error counters of KIP-1279's MirrorMetadataManager, by the names of its metrics."""

from __future__ import annotations

from enum import Enum


class SyncKind(Enum):
    """What was synced; the value is the metric's name."""

    METADATA = "MetadataRefreshError"
    CONFIGS = "TopicConfigMetadataSyncError"
    GROUPS = "ConsumerGroupOffsetSyncError"


class SyncErrors:
    """Counts since this broker was started; what is merely left out by a rule is no error."""

    def __init__(self) -> None:
        self.counts: dict[SyncKind, int] = dict.fromkeys(SyncKind, 0)

    def add(self, kind: SyncKind, count: int = 1) -> None:
        """Count errors."""
        self.counts[kind] += count
