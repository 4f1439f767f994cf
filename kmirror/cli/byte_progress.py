"""How far has a walk over many bytes come, and how long will it take yet?"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

# With one of these rich takes stderr for a terminal, whatever it is.
_FORCES: Final = frozenset({"FORCE_COLOR", "TTY_COMPATIBLE"})


@contextmanager
def byte_progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yield what takes the bytes passed; there is a bar on stderr with rate and ETA while stderr is a terminal."""
    if sys.stderr is None or not (sys.stderr.isatty() or _FORCES.intersection(os.environ)):
        yield lambda count: None  # Importing rich takes longer than verifying 100 MiB.
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=total)
        yield lambda count: progress.advance(task, count)
