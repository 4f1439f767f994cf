"""Log directories of one broker: placement of partitions, and failed directories.

A failed directory is offline until the broker restarts (KIP-112, KIP-858). The broker continues with the others. It
must stop if the last directory or the one with its metadata log fails.
"""

from __future__ import annotations

from kmirror.errors import UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import Disk, Disks, OfflineLogDir

UNASSIGNED = Uuid.from_ints(0, 1)
"""Directory id that the controller uses for a replica that is not placed yet (DirectoryId)."""

RESERVED = 100


def is_reserved(directory_id: Uuid) -> bool:
    """Return whether the id is reserved: Kafka keeps the first hundred ids for special meanings."""
    return directory_id.high == 0 and directory_id.low < RESERVED


class LogDirs:
    """Entries of `log.dirs` in order; `metadata` is the directory of the metadata log, by default the first one."""

    def __init__(self, found: Disks, metadata: str | None = None) -> None:
        if not found:
            raise UsageError("no log directory: a broker needs at least one")
        self.names = [each.log_dir for each in found]
        """All directories, by the names that clients see."""
        self.online: list[Disk] = []
        """Directories that have not failed."""
        self.offline: dict[str, str] = {}
        """Reason of the failure, by name of the failed directory."""
        self.offline_ids: list[Uuid] = []
        """Ids of the directories that failed while this broker was running."""
        self._metadata = self.names[0] if metadata is None else metadata
        for each in found:
            if isinstance(each, OfflineLogDir):
                self.offline[each.log_dir] = each.reason
            else:
                self.online.append(each)

    @property
    def ids(self) -> list[Uuid]:
        """Ids of the online directories."""
        return [disk.directory_id for disk in self.online]

    def find(self, tp: TopicPartition) -> Disk | None:
        """Return the online directory that holds the open log of a partition, or None."""
        for disk in self.online:
            if disk.is_open(tp):
                return disk
        return None

    def find_by_id(self, directory_id: Uuid) -> Disk | None:
        """Return the online directory with this id, or None."""
        return next((disk for disk in self.online if disk.directory_id == directory_id), None)

    def sorted_by_load(self) -> list[Disk]:
        """Return the online directories, those with the fewest logs first: the order in which new logs are placed."""
        if len(self.online) == 1:
            return self.online
        return sorted(self.online, key=lambda disk: disk.open_count())

    def is_needed(self, disk: Disk) -> bool:
        """Return whether the broker must stop without this directory: it is the last one or has the metadata log."""
        return len(self.online) == 1 or disk.log_dir == self._metadata

    def fail(self, disk: Disk, reason: str) -> None:
        """Take an online directory offline."""
        self.online.remove(disk)
        self.offline[disk.log_dir] = reason
        self.offline_ids.append(disk.directory_id)
