"""What is wrong with which file, and how far has a long walk come?

Every error names the file as the caller would type it; what to do about it is for the command line to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from kmirror.errors import CorruptBatch, KmirrorError

_GAPS_TOLD_MAX: Final = 5

Progress = Callable[[int], None]
"""Called with how many bytes of log have been passed since the last call."""


class FileFault(CorruptBatch):
    """A file of a log folder does not hold what Kafka would have written.

    `path` is the file; `position` the byte in it where the fault begins, `offset` the Kafka offset there, each None
    where there is none; `reason` is the fault without its place.
    """

    def __init__(self, reason: str, *, path: Path, position: int | None = None, offset: int | None = None) -> None:
        super().__init__(reason, position=position, offset=offset)
        self.reason = reason
        self.path = path
        place = str(path)
        if position is not None:
            place += f", position {position}"
        if offset is not None:
            place += f", offset {offset}"
        self.args = (f"{place}: {reason}",)


class Unreadable(KmirrorError):
    """The operating system refuses a file or a folder; `path` and `reason` are the two parts of the text."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


class Gap(NamedTuple):
    """Offsets that lie in no segment of the partition in `folder`, and what may have taken them without any fault.

    Both offsets are inclusive; the last is None where nobody knows how far the log went.
    """

    folder: Path
    first_offset: int
    last_offset: int | None
    reason: str


def offsets_in_words(first_offset: int, last_offset: int | None) -> str:
    """Return how to call the offsets from the first to the last, both inclusive, or all from the first on."""
    if last_offset is None:
        return f"offset {first_offset} and above"
    return f"offset {first_offset}" if first_offset == last_offset else f"offsets {first_offset} to {last_offset}"


def gaps_in_words(gaps: Iterable[Gap]) -> Iterator[str]:
    """Yield a line for the gaps that a partition has for one reason; of many it names the first ones."""
    ranges: dict[tuple[Path, str], list[str]] = {}
    for gap in gaps:
        offsets = offsets_in_words(gap.first_offset, gap.last_offset)
        ranges.setdefault((gap.folder, gap.reason), []).append(offsets)
    for (folder, reason), told in ranges.items():
        more = f" and {len(told) - _GAPS_TOLD_MAX} more ranges" if len(told) > _GAPS_TOLD_MAX else ""
        yield f"{folder}: no segment holds {', '.join(told[:_GAPS_TOLD_MAX])}{more}: {reason}"


def fault_of(error: CorruptBatch, path: Path) -> FileFault:
    """Return `error` with the file that it is about; one that names a file already comes back as it is."""
    if isinstance(error, FileFault):
        return error
    reason = error.reason.removesuffix(f" (offset {error.offset})")  # `FileFault` says it itself.
    return FileFault(reason, path=path, position=error.position, offset=error.offset)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what the operating system refuses about `path` into `Unreadable`."""
    try:
        yield
    except OSError as error:
        raise refusal(error, path) from None


def refusal(error: OSError | ValueError, path: Path) -> Unreadable:
    """Return what the operating system says about `path`, or about the entry of it that the error names.

    A `ValueError` is Python's word for a path with a null character.
    """
    named, told = getattr(error, "filename", None), getattr(error, "strerror", None)
    # A directory that is walked reports the entry that failed, which is closer than `path`.
    return Unreadable(Path(named) if isinstance(named, str) else path, f"cannot be read: {told or error}")


class Tally:
    """What was looked at; `tell` gets each fault as it is found."""

    def __init__(self, tell: Callable[[FileFault], None], progress: Progress = lambda count: None) -> None:
        self.tell = tell
        self.progress = progress
        self.partitions = self.segments = self.batches = self.bytes = 0
        self.index_entries = self.snapshots = 0
        self.faults = 0
        self.skipped: list[str] = []
        self.gaps: list[Gap] = []  # Of each partition by offset; one at the log's end comes last.

    def fault(self, path: Path, reason: str, position: int | None = None, offset: int | None = None) -> None:
        """Count a fault and report it; `position` is a byte of the file, `offset` a Kafka offset."""
        self.faults += 1
        self.tell(FileFault(reason, path=path, position=position, offset=offset))

    def wrong(self, error: FileFault | Unreadable) -> None:
        """Count and report a file that raised an error when it was read."""
        self.faults += 1
        self.tell(error if isinstance(error, FileFault) else FileFault(error.reason, path=error.path))
