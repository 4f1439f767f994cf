"""Which folders does `data=` name, the log directories of a node on this machine?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

Data = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
"""One folder or several; None for logs in memory."""


def folders_of(data: Data) -> list[Path]:
    """Return the folders that `data` names, none without it."""
    if data is None:
        return []
    return [Path(each) for each in ([data] if isinstance(data, str | os.PathLike) else data)]


def metadata_folder(configs: dict[str, str]) -> Path | None:
    """Return what `metadata.log.dir` names, and have it say so with an absolute path, as log directories are known."""
    named = configs.get("metadata.log.dir")
    if named is None:
        return None
    path = Path(named).absolute()
    configs["metadata.log.dir"] = str(path)
    return path
