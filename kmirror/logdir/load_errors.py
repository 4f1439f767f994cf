"""How does a log folder that cannot be used say so?

Every error names the file as the caller would type it, and says what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kmirror.errors import UsageError

REMEDY = "copy the folder again from a broker that was shut down cleanly, or choose other topics"


def place_of(path: Path, position: int | None = None, offset: int | None = None) -> str:
    """Return where something is: the file, the byte in it, and Kafka's offset there, as far as they are known."""
    place = str(path)
    if position is not None:
        place += f", position {position}"
    if offset is not None:
        place += f", offset {offset}"
    return place


class CorruptLog(UsageError):
    """A file of a log folder does not hold what Kafka would have written.

    `path` is the file; `position` the byte in it where the fault begins, `offset` the Kafka offset there,
    each None where there is none; `reason` is the fault without its place.
    """

    def __init__(
        self, reason: str, *, path: Path, position: int | None = None, offset: int | None = None
    ) -> None:
        self.reason = reason
        self.path = path
        self.position = position
        self.offset = offset
        super().__init__(f"{place_of(path, position, offset)}: {reason}; {REMEDY}")


class Unreadable(UsageError):
    """The operating system refuses a file or a folder; `path` and `reason` are the two parts of the text."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what the operating system refuses about `path` into `Unreadable`."""
    try:
        yield
    except OSError as error:
        # A directory that is walked reports the entry that failed, which is closer than `path`.
        where = Path(error.filename) if isinstance(error.filename, str) else path
        raise Unreadable(where, f"cannot be read: {error.strerror or error}") from None
