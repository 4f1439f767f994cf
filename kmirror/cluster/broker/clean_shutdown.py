"""Did the last process over this disk end cleanly? `.kafka_cleanshutdown` says so (CleanShutdownFileHandler).

It is written after the logs were closed, and goes before they are opened again: what happens from then on may leave
them torn.
"""

from __future__ import annotations

import json

from kmirror.log.disk import Disk

FILE = ".kafka_cleanshutdown"


def write(disk: Disk, broker_epoch: int) -> None:
    """Note that all logs are closed, and in which epoch the broker was."""
    disk.write_file(FILE, json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":")).encode())


def take(disk: Disk) -> int | None:
    """Remove the note; return its broker epoch, -1 if it cannot be read, or None if there was no note."""
    data = disk.read_file(FILE)
    if data is None:
        return None
    disk.delete_file(FILE)
    try:
        epoch = json.loads(data)["brokerEpoch"]
    except (ValueError, TypeError, KeyError):
        return -1
    return epoch if isinstance(epoch, int) else -1
