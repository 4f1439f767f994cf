"""Errors of a partition log.

A rejected produce (`LogAppendError`) and a read outside the log (`OffsetOutOfRange`) carry the Kafka error code for the
response. Batches from another replica that do not fit the log raise subclasses of `CorruptBatch`: the sender is at
fault, and the partition fails, not the request.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.errors import CorruptBatch, KafkaError
from kmirror.spec.error_codes import ErrorCode


class LogAppendError(KafkaError):
    """The leader rejects the append; `code` is the error for the producer."""


class RecordsRejected(LogAppendError):
    """Rejection because of single records; `record_errors` holds the index and the error of each (KIP-467).

    `message` covers the whole batch and has a broker's wording. A producer receives both; other rejections send
    neither.
    """

    def __init__(self, code: ErrorCode, message: str, record_errors: Sequence[tuple[int, str]]) -> None:
        self.record_errors = record_errors
        super().__init__(code, message)


class OffsetOutOfRange(KafkaError):
    """The requested offset is outside `log_start_offset` to `log_end_offset`."""

    def __init__(self, message: str, *, offset: int, log_start_offset: int, log_end_offset: int) -> None:
        self.offset = offset
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_end_offset
        super().__init__(ErrorCode.OFFSET_OUT_OF_RANGE, message)


class OffsetsOutOfOrder(CorruptBatch):
    """Replicated batches with offsets that do not ascend; nothing was appended."""


class UnexpectedAppendOffset(CorruptBatch):
    """Replicated batches that begin below the log end offset; nothing was appended."""

    def __init__(self, message: str, *, first_offset: int, last_offset: int) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        super().__init__(message, offset=first_offset)
