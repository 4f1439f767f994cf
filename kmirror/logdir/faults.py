"""Faults of files, gaps in logs, and counters of a long check.

Every error names the file by the path that the caller gave. Advice to the user is left to the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from kmirror.errors import CorruptBatch, KmirrorError

_GAPS_SHOWN_MAX: Final = 5

Progress = Callable[[int], None]
"""Called with the number of bytes of log processed since the last call."""


class FileFault(CorruptBatch):
    """A file of a log folder that Kafka would not have written like this.

    `path` is the file, `position` the byte at which the fault begins, `offset` the Kafka offset there (each None if
    there is none), and `reason` the fault without its location.
    """

    def __init__(self, reason: str, *, path: Path, position: int | None = None, offset: int | None = None) -> None:
        super().__init__(reason, position=position, offset=offset)
        self.reason = reason
        self.path = path
        location = str(path)
        if position is not None:
            location += f", position {position}"
        if offset is not None:
            location += f", offset {offset}"
        self.args = (f"{location}: {reason}",)


class Unreadable(KmirrorError):
    """The operating system cannot read a file or folder; `path` and `reason` are the two parts of the text."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


class Gap(NamedTuple):
    """Offsets that no segment of the partition in `folder` contains, and a possible cause that is no fault.

    Both offsets are inclusive; the last one is None if the end of the log is unknown.
    """

    folder: Path
    first_offset: int
    last_offset: int | None
    reason: str


def offsets_in_words(first_offset: int, last_offset: int | None) -> str:
    """Return the offsets from the first to the last (both inclusive) in words; None means no upper bound."""
    if last_offset is None:
        return f"offset {first_offset} and above"
    return f"offset {first_offset}" if first_offset == last_offset else f"offsets {first_offset} to {last_offset}"


def gaps_in_words(gaps: Iterable[Gap]) -> Iterator[str]:
    """Yield a line per partition and reason; of many gaps only the first ones are listed."""
    ranges_by_folder: dict[tuple[Path, str], list[str]] = {}
    for gap in gaps:
        offsets = offsets_in_words(gap.first_offset, gap.last_offset)
        ranges_by_folder.setdefault((gap.folder, gap.reason), []).append(offsets)
    for (folder, reason), ranges in ranges_by_folder.items():
        more = f" and {len(ranges) - _GAPS_SHOWN_MAX} more ranges" if len(ranges) > _GAPS_SHOWN_MAX else ""
        yield f"{folder}: no segment contains {', '.join(ranges[:_GAPS_SHOWN_MAX])}{more}: {reason}"


def fault_of(error: CorruptBatch, path: Path) -> FileFault:
    """Return `error` as a FileFault for `path`; an error that already names a file is returned unchanged."""
    if isinstance(error, FileFault):
        return error
    reason = error.reason.removesuffix(f" (offset {error.offset})")  # `FileFault` adds the offset itself.
    return FileFault(reason, path=path, position=error.position, offset=error.offset)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Convert errors of the operating system about `path` to `Unreadable`."""
    try:
        yield
    except OSError as error:
        raise read_error(error, path) from None


def read_error(error: OSError | ValueError, path: Path) -> Unreadable:
    """Return the operating system's error about `path`, or about the entry that the error names.

    Python raises `ValueError` for a path with a null character.
    """
    file_name, text = getattr(error, "filename", None), getattr(error, "strerror", None)
    # An error while listing a directory names the entry, which is more precise than `path`.
    return Unreadable(Path(file_name) if isinstance(file_name, str) else path, f"cannot be read: {text or error}")


class Tally:
    """Counts of the checked items; `on_fault` receives each fault when it is found."""

    def __init__(self, on_fault: Callable[[FileFault], None], progress: Progress = lambda count: None) -> None:
        self.on_fault = on_fault
        self.progress = progress
        self.partitions = self.segments = self.batches = self.bytes = 0
        self.index_entries = self.snapshots = 0
        self.faults = 0
        self.skipped: list[str] = []
        self.gaps: list[Gap] = []  # Per partition by offset; a gap at the log's end comes last.

    def add_fault(self, path: Path, reason: str, position: int | None = None, offset: int | None = None) -> None:
        """Count and report a fault; `position` is a byte of the file, `offset` a Kafka offset."""
        self.faults += 1
        self.on_fault(FileFault(reason, path=path, position=position, offset=offset))

    def report_error(self, error: FileFault | Unreadable) -> None:
        """Count and report a file that could not be read."""
        self.faults += 1
        self.on_fault(error if isinstance(error, FileFault) else FileFault(error.reason, path=error.path))
