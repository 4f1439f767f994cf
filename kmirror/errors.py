"""What can go wrong, in one tree.

Kinds of wrong are never mixed: a Kafka error code is an answer and is returned as a value; bytes that cannot be what
they claim raise `ProtocolError`; what the caller gave wrong is a `UsageError`; a broken invariant is an
`AssertionError`.

    KmirrorError
    +-- ProtocolError                   bytes from outside are not what they claim to be
    |   +-- CorruptBatch                a record batch or a log file
    |       +-- TornBatch               it ends beyond the bytes there are
    |       +-- UnsupportedMagic        a message format that is not that of record batches
    |       +-- OffsetsOutOfOrder       replicated batches do not ascend
    |       +-- UnexpectedAppendOffset  replicated batches begin below the log end
    |       +-- FileFault               a file of a log folder is damaged there: path, position, offset, reason
    |           +-- CorruptSnapshot     a producer snapshot, in the words of Kafka's dump tool
    |           +-- CorruptSegment      a segment that Spark reads
    +-- UsageError                      the caller gave what cannot be used; the text says what to do
    |   +-- LocalProtocolError          a message or a batch that the wire cannot carry
    |   +-- DecodeError                 dump-log's decoder cannot take a record apart
    +-- Unreadable                      the operating system refuses a file or a folder
    +-- KafkaError                      a request was answered with a code where the caller asked for success
    |   +-- LogAppendError              a leader refuses to append
    |   |   +-- RecordsRefused          because of some records of a batch
    |   +-- OffsetOutOfRange            an offset that the log does not hold was asked for
    +-- SaslFailure                     a broker's message is not what the SASL mechanism allows
    +-- SparkFailure                    Spark did not start, could not be reached, or did not finish
    +-- SimulationFailure               a simulated run broke an invariant or did not converge
        +-- NotEqual                    source and destination of the demo differ
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from kmirror.spec.error_codes import ErrorCode

_NEAR_MAX = 3
_LIKENESS_MIN = 0.75


class KmirrorError(Exception):
    """The root of everything kmirror raises on purpose; what a worker process raises reaches its parent whole."""

    def __reduce__(self) -> tuple[Any, ...]:
        # `args` is the text made of what the constructor took, so it cannot be called with that once more.
        return _again, (type(self), self.args), self.__dict__


def _again(kind: type[KmirrorError], args: tuple[object, ...]) -> KmirrorError:
    """Return an error with its text, without its constructor; what unpickles it sets the fields."""
    return kind.__new__(kind, *args)


class ProtocolError(KmirrorError):
    """Bytes from outside are malformed; `position` is the byte offset, `field` the path of the field if known."""

    def __init__(self, message: str, *, position: int | None = None, field: str = "") -> None:
        self.reason = message
        self.position = position
        self.field = field
        where = []
        if field:
            where.append(f"field {field}")
        if position is not None:
            where.append(f"byte {position}")
        super().__init__(f"{message} (at {', '.join(where)})" if where else message)

    def within(self, place: str) -> Self:
        """Put before the text the file or the partition that it is about; returns the error, to raise it again."""
        self.reason = f"{place}: {self.reason}"
        self.args = (f"{place}: {self}",)
        return self


class CorruptBatch(ProtocolError):
    """A record batch, message set or log file cannot be parsed or fails its checksum.

    `position` is the byte position in the buffer or file, `offset` the Kafka offset if it is known.
    """

    def __init__(self, message: str, *, position: int | None = None, offset: int | None = None) -> None:
        self.offset = offset
        text = message if offset is None else f"{message} (offset {offset})"
        super().__init__(text, position=position)


class UsageError(KmirrorError):
    """An argument, an option, a file or a call at this time makes no sense; the text says what to do."""


class LocalProtocolError(UsageError):
    """The caller asked for bytes that the wire cannot carry: a null, a type, a range or a version."""


class KafkaError(KmirrorError):
    """A request was answered with `code` where the caller asked for success."""

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
    """Return which simulated run it is and how far it has come, as every failure of one says it."""
    seconds, micros = divmod(elapsed_us, 1_000_000)
    return f"seed {seed}, after {seconds}.{micros:06d} virtual seconds"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return "did you mean A or B?" with the names of `known` nearest to `name`, or the empty text if none is near."""
    from difflib import get_close_matches  # Most runs give every name right.

    by_lower = {word.lower(): word for word in known}
    wanted = name.lower()
    near = [lower for lower in by_lower if wanted and lower.startswith(wanted)][:_NEAR_MAX]
    near = near or get_close_matches(wanted, by_lower, _NEAR_MAX, _LIKENESS_MIN)
    return f"did you mean {' or '.join(by_lower[lower] for lower in near)}?" if near else ""
