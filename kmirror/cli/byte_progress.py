"""Progress bar with rate and remaining time for reading large files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from kmirror.logdir.available_memory import size_in_words

# With one of these variables rich treats stderr as a terminal in any case.
_FORCE_VARIABLES: Final = frozenset({"FORCE_COLOR", "TTY_COMPATIBLE"})


@contextmanager
def byte_progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of bytes read; it shows a bar on stderr if stderr is a terminal."""
    if sys.stderr is None or not (sys.stderr.isatty() or _FORCE_VARIABLES.intersection(os.environ)):
        yield lambda count: None  # Importing rich takes longer than verifying 100 MiB.
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """Rate in the units of the sizes beside it and of the last line; rich's own column counts in thousands."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{size_in_words(int(speed))}/s" if speed else "?", style="progress.data.speed")

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(binary_units=True),
        Rate(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=total)
        yield lambda count: progress.advance(task, count)
