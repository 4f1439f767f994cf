"""The log directories of one broker: in which does a partition lie, where does a new one go, and which have failed?

A directory that fails goes offline and stays so until the broker starts anew (KIP-112, KIP-858). The broker goes on
with the others; without the last one, or without the one of its metadata log, it has to end.
"""

from __future__ import annotations

from kmirror.errors import UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import Disk, Disks, OfflineLogDir

UNASSIGNED = Uuid.from_ints(0, 1)
"""What the controller names as the directory of a replica that is still to be placed (DirectoryId)."""

RESERVED = 100


def is_reserved(directory_id: Uuid) -> bool:
    """Return whether no directory may have this id: the first hundred have, or may get, a meaning of their own."""
    return directory_id.high == 0 and directory_id.low < RESERVED


class LogDirs:
    """The entries of `log.dirs`, in their order; the first is that of the metadata log, unless `metadata` names it."""

    def __init__(self, found: Disks, metadata: str | None = None) -> None:
        if not found:
            raise UsageError("a broker has no log directory: give it at least one")
        self.names = [each.log_dir for each in found]
        """All of them, as clients know them."""
        self.online: list[Disk] = []
        """Those that have not failed."""
        self.offline: dict[str, str] = {}
        """Those that have, each with the reason."""
        self.offline_ids: list[Uuid] = []
        """The ids of those that failed while this broker ran."""
        self._metadata = self.names[0] if metadata is None else metadata
        for each in found:
            if isinstance(each, OfflineLogDir):
                self.offline[each.log_dir] = each.reason
            else:
                self.online.append(each)

    @property
    def ids(self) -> list[Uuid]:
        """Return the ids of those that are online."""
        return [disk.directory_id for disk in self.online]

    def of(self, tp: TopicPartition) -> Disk | None:
        """Return the directory online in which the open log of a partition lies; None if there is none."""
        for disk in self.online:
            if disk.is_open(tp):
                return disk
        return None

    def by_id(self, directory_id: Uuid) -> Disk | None:
        """Return the directory online that has this id, if there is one."""
        return next((disk for disk in self.online if disk.directory_id == directory_id), None)

    def by_load(self) -> list[Disk]:
        """Return those that are online, the one with the fewest logs first, as new logs are placed."""
        if len(self.online) == 1:
            return self.online
        return sorted(self.online, key=lambda disk: disk.open_count())

    def is_needed(self, disk: Disk) -> bool:
        """Return whether the broker ends with this directory: it is the last one, or has the metadata log."""
        return len(self.online) == 1 or disk.log_dir == self._metadata

    def fail(self, disk: Disk, reason: str) -> None:
        """Take a directory offline that is online."""
        self.online.remove(disk)
        self.offline[disk.log_dir] = reason
        self.offline_ids.append(disk.directory_id)
