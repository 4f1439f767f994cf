"""Atomic replacement of small files."""

from __future__ import annotations

import os
from pathlib import Path

from kmirror.log.store import Chunk


def replace_file(path: Path, data: Chunk) -> None:
    """Replace the file atomically: after a power cut, either the old or the new content is there."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        write_new(temporary, data)
    except OSError:
        temporary.unlink(missing_ok=True)  # On a full disk, the incomplete file would take space from others.
        raise
    temporary.rename(path)
    sync_folder(path.parent)


def write_new(path: Path, data: Chunk) -> None:
    """Write the file; on return its bytes are safe from a power cut, but not its name."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Flush a folder (fsync), so that the names of its files survive a power failure."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
