"""What is wrong with which file, and how far has a long walk come?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from kmirror.net.log_errors import place_of

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


@dataclass(slots=True)
class Tally:
    """What was looked at; `tell` gets each fault as it is found."""

    tell: Callable[[Fault], None]
    progress: Progress = lambda count: None
    partitions: int = 0
    segments: int = 0
    batches: int = 0
    bytes: int = 0
    index_entries: int = 0
    snapshots: int = 0
    faults: int = 0
    skipped: list[str] = field(default_factory=list)

    def fault(self, path: Path, reason: str, position: int | None = None, offset: int | None = None) -> None:
        self.faults += 1
        self.tell(Fault(path, reason, position, offset))
