"""Exceptions of kmirror, in one tree.

The kinds of failure are kept apart: a Kafka error code is a response and is returned as a value; malformed external
bytes raise `ProtocolError`; invalid input from the caller raises `UsageError`; a broken invariant raises
`AssertionError`.

    KmirrorError
    +-- ProtocolError                   bytes from outside are malformed
    |   +-- CorruptBatch                a record batch or a log file is corrupt
    |       +-- TornBatch               it ends after the end of the data
    |       +-- UnsupportedMagic        a message format other than record batches
    |       +-- OffsetsOutOfOrder       replicated batches are not in ascending order
    |       +-- UnexpectedAppendOffset  replicated batches start below the log end
    |       +-- FileFault               a file of a log folder is damaged: path, position, offset, reason
    |           +-- CorruptSnapshot     a producer snapshot, with the messages of Kafka's dump tool
    |           +-- CorruptSegment      a segment that Spark reads
    +-- UsageError                      the caller's input is unusable; the text says how to correct it
    |   +-- LocalProtocolError          a message or a batch that cannot be encoded
    |   +-- DecodeError                 dump-log's decoder cannot parse a record
    +-- Unreadable                      the operating system cannot read a file or folder
    +-- KafkaError                      a request failed with an error code where the caller asked for success
    |   +-- LogAppendError              a leader rejects an append
    |   |   +-- RecordsRejected         because of some records of a batch
    |   +-- OffsetOutOfRange            a requested offset is not in the log
    +-- SaslError                       a broker's message violates the SASL mechanism
    +-- SparkFailure                    Spark did not start, could not be reached, or did not finish
    +-- SimulationFailure               a simulated run broke an invariant or did not converge
        +-- LogsDiffer                  source and destination of the demo differ
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from kmirror.spec.error_codes import ErrorCode

SUGGESTIONS_MAX = 3
SIMILARITY_MIN = 0.75


class KmirrorError(Exception):
    """Base of all exceptions that kmirror raises on purpose; it can be pickled between worker and parent process."""

    def __reduce__(self) -> tuple[Any, ...]:
        # `args` holds the finished text, which cannot be passed to the constructor again.
        return _unpickle, (type(self), self.args), self.__dict__


def _unpickle(kind: type[KmirrorError], args: tuple[object, ...]) -> KmirrorError:
    """Return an error with its text, without calling its constructor; unpickling sets the fields."""
    return kind.__new__(kind, *args)


class ProtocolError(KmirrorError):
    """Malformed bytes from outside; `position` is the byte offset, `field` the path of the field if known."""

    def __init__(self, message: str, *, position: int | None = None, field: str = "") -> None:
        self.reason = message
        self.position = position
        self.field = field
        location = []
        if field:
            location.append(f"field {field}")
        if position is not None:
            location.append(f"byte {position}")
        super().__init__(f"{message} (at {', '.join(location)})" if location else message)

    def with_context(self, place: str) -> Self:
        """Prefix the text with the file or partition, and return the error so that it can be raised again."""
        self.reason = f"{place}: {self.reason}"
        self.args = (f"{place}: {self}",)
        return self


class CorruptBatch(ProtocolError):
    """Record batch, message set or log file that cannot be parsed or fails its checksum.

    `position` is the byte position in the buffer or file, `offset` the Kafka offset if known.
    """

    def __init__(self, message: str, *, position: int | None = None, offset: int | None = None) -> None:
        self.offset = offset
        text = message if offset is None else f"{message} (offset {offset})"
        super().__init__(text, position=position)


class UsageError(KmirrorError):
    """Invalid argument, option or file, or a call at the wrong time; the text says how to correct it."""


class LocalProtocolError(UsageError):
    """Value that cannot be encoded: an invalid null, type, range or version."""


class KafkaError(KmirrorError):
    """A request failed with `code` where the caller asked for success."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        self.code = code
        super().__init__(message)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.code.name}, {str(self)!r})"


class SimulationFailure(KmirrorError):
    """A simulated run broke an invariant or did not converge; `seed` replays it.

    `elapsed_us` is the virtual time, in microseconds, since the run began.
    """

    def __init__(self, message: str, *, seed: int, elapsed_us: int) -> None:
        self.seed = seed
        self.elapsed_us = elapsed_us
        super().__init__(f"{message} ({moment_of_run(seed, elapsed_us)})")


def moment_of_run(seed: int, elapsed_us: int) -> str:
    """Return seed and elapsed virtual time of a simulated run, as text for its failures."""
    seconds, micros = divmod(elapsed_us, 1_000_000)
    return f"seed {seed}, after {seconds}.{micros:06d} virtual seconds"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return "did you mean A or B?" with the names in `known` closest to `name`, or "" if none is close."""
    from difflib import get_close_matches  # Imported here because most runs have no misspelled name.

    by_lower = {word.lower(): word for word in known}
    lower_name = name.lower()
    similar = [lower for lower in by_lower if lower_name and lower.startswith(lower_name)][:SUGGESTIONS_MAX]
    similar = similar or get_close_matches(lower_name, by_lower, SUGGESTIONS_MAX, SIMILARITY_MIN)
    return f"did you mean {' or '.join(by_lower[lower] for lower in similar)}?" if similar else ""
