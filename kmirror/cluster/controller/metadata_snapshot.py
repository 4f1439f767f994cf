"""A snapshot of the metadata log: what Kafka keeps instead of records that it has deleted from the log's beginning.

Only those of a controller of Kafka are read; a controller here writes none, and deletes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.log.state_files import SNAPSHOT_OF_LOG
from kmirror.log.store import PartitionStore


@dataclass(frozen=True, slots=True)
class MetadataSnapshot:
    """All that the log below `end_offset` came to, as record batches with offsets of their own."""

    end_offset: int
    epoch: int
    """The leader epoch of the last record below `end_offset`."""
    data: bytes


def latest_snapshot(store: PartitionStore) -> MetadataSnapshot | None:
    """Return the snapshot that reaches furthest, None if there is none; the one of a new cluster reaches nowhere."""
    found = [match for name in store.files() if (match := SNAPSHOT_OF_LOG.fullmatch(name)) is not None]
    best = max(found, key=lambda match: match.group(), default=None)
    if best is None or not int(best[1]):
        return None
    data = store.read_file(best.group())
    return None if data is None else MetadataSnapshot(int(best[1]), int(best[2]), data)
