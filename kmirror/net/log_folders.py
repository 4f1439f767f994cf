"""Folders named by `data=`: the log directories of a node on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

Data = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
"""One or several folders; None for logs in memory."""


def folders_of(data: Data) -> list[Path]:
    """Return the folders that `data` names; an empty list for None."""
    if data is None:
        return []
    return [Path(each) for each in ([data] if isinstance(data, str | os.PathLike) else data)]


def metadata_folder(configs: dict[str, str]) -> Path | None:
    """Return the folder of `metadata.log.dir`, or None, and make that config absolute: log directories are absolute."""
    value = configs.get("metadata.log.dir")
    if value is None:
        return None
    path = Path(value).absolute()
    configs["metadata.log.dir"] = str(path)
    return path
