"""The `.kafka_cleanshutdown` file in a log directory, which marks a clean shutdown (CleanShutdownFileHandler).

It is written after the logs have been closed, and removed before they are opened again, because a later crash may leave
them damaged.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from kmirror.log.disk import Disk
from kmirror.log.partition_log import PartitionLog

FILE = ".kafka_cleanshutdown"


def write(disk: Disk, broker_epoch: int) -> None:
    """Write the file: all logs are closed, and the broker had this epoch."""
    disk.write_file(FILE, json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":")).encode())


@dataclass(frozen=True, slots=True)
class CloseLogs:
    """Disk job that closes all logs of a disk, then writes the file, unless `broker_epoch` is None."""

    disk: Disk
    logs: Sequence[PartitionLog]
    broker_epoch: int | None

    def run(self) -> None:
        """Close and write; raise OSError, without writing the file, if the disk fails."""
        with self.disk.batch():
            for log in self.logs:
                log.close()
        self.disk.write_shared()
        if self.broker_epoch is not None:
            write(self.disk, self.broker_epoch)


def remove(disk: Disk) -> int | None:
    """Remove the file; return its broker epoch, -1 if it cannot be read, or None if there was no file."""
    data = disk.read_file(FILE)
    if data is None:
        return None
    disk.delete_file(FILE)
    try:
        epoch = json.loads(data)["brokerEpoch"]
    except (ValueError, TypeError, KeyError):
        return -1
    return epoch if isinstance(epoch, int) else -1
