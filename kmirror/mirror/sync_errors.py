"""Error counters of metadata syncs: those of KIP-1279's MirrorMetadataManager, by the names of its metrics."""

from __future__ import annotations

from enum import Enum


class SyncKind(Enum):
    """The kinds of syncs; the value is the metric's name."""

    METADATA = "MetadataRefreshError"
    CONFIGS = "TopicConfigMetadataSyncError"
    GROUPS = "ConsumerGroupOffsetSyncError"


class SyncErrors:
    """Counts since this broker was started; omissions by a rule are not errors."""

    def __init__(self) -> None:
        self.counts: dict[SyncKind, int] = dict.fromkeys(SyncKind, 0)

    def add(self, kind: SyncKind, count: int = 1) -> None:
        """Count errors."""
        self.counts[kind] += count
