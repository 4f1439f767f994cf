"""What is wrong with which file, and how far has a long walk come?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kmirror.logdir.load_errors import place_of

Progress = Callable[[int], None]
"""Called with how many bytes of log have been passed since the last call."""


class Fault(NamedTuple):
    """One thing that Kafka would not have written; `position` is a byte in the file, `offset` Kafka's."""

    path: Path
    reason: str
    position: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        return f"{place_of(self.path, self.position, self.offset)}: {self.reason}"


class Tally:
    """What was looked at; `tell` gets each fault as it is found."""

    def __init__(self, tell: Callable[[Fault], None], progress: Progress = lambda count: None) -> None:
        self.tell = tell
        self.progress = progress
        self.partitions = self.segments = self.batches = self.bytes = 0
        self.index_entries = self.snapshots = 0
        self.faults = 0
        self.skipped: list[str] = []

    def fault(self, path: Path, reason: str, position: int | None = None, offset: int | None = None) -> None:
        self.faults += 1
        self.tell(Fault(path, reason, position, offset))
