"""How does a small file get onto a disk, so that a power cut leaves the old one or the new one?"""

from __future__ import annotations

import os
from pathlib import Path

from kmirror.log.store import Chunk


def replace_file(path: Path, data: Chunk) -> None:
    """Replace the file as a whole: there is the old one or the new one, also after a power cut."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        write_new(temporary, data)
    except OSError:
        temporary.unlink(missing_ok=True)  # On a full disk what is half there takes room from others.
        raise
    temporary.rename(path)
    sync_folder(path.parent)


def write_new(path: Path, data: Chunk) -> None:
    """Write the file; its bytes are safe from a power cut when this returns, its name is not."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Make the names in a folder safe from a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
