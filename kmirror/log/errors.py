"""What a partition log refuses, and how it says so.

A refused produce is an answer with a Kafka error code (`LogAppendError`); so is a read outside the log
(`OffsetOutOfRange`). Bytes from another replica that cannot follow what is there raise `CorruptBatch`'s
kin, because the fault is the sender's and the partition, not the request, fails.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.errors import CorruptBatch, KafkaError
from kmirror.spec.error_codes import ErrorCode


class LogAppendError(KafkaError):
    """The leader refuses to append; `code` is what the producer is answered with."""


class RecordsRefused(LogAppendError):
    """Single records are why the leader refuses; `record_errors` has the index and the fault of each (KIP-467).

    The message is one for the whole batch, in a broker's words: a producer gets both, and for no other refusal any.
    """

    def __init__(self, code: ErrorCode, message: str, record_errors: Sequence[tuple[int, str]]) -> None:
        self.record_errors = record_errors
        super().__init__(code, message)


class OffsetOutOfRange(KafkaError):
    """An offset outside `log_start_offset` to `log_end_offset` was asked for."""

    def __init__(self, message: str, *, offset: int, log_start_offset: int, log_end_offset: int) -> None:
        self.offset = offset
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_end_offset
        super().__init__(ErrorCode.OFFSET_OUT_OF_RANGE, message)


class OffsetsOutOfOrder(CorruptBatch):
    """Replicated batches whose offsets do not ascend; nothing was appended."""


class UnexpectedAppendOffset(CorruptBatch):
    """Replicated batches that begin below the log end; nothing was appended."""

    def __init__(self, message: str, *, first_offset: int, last_offset: int) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        super().__init__(message, offset=first_offset)
