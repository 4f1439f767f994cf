"""Results of appends and reads."""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.records.layout import NO_TIMESTAMP


@dataclass(slots=True)
class AppendInfo:
    """Result of an append; the offsets are -1 and `batches` is 0 if nothing was appended."""

    first_offset: int = -1
    last_offset: int = -1
    batches: int = 0
    bytes: int = 0
    max_timestamp: int = NO_TIMESTAMP
    log_append_time: int = NO_TIMESTAMP
    duplicate: bool = False  # The batch was already in the log; the offsets are those of the first append.
    refused_epoch: int = -1  # Leader epoch of the first batch that was left out (KAFKA-18723).
    control_types: tuple[int, ...] = ()


@dataclass(slots=True)
class ReadResult:
    """Whole batches; the first may begin below the requested offset.

    Kafka also sends the part of the next batch that fits into `max_bytes`, which every client discards.
    """

    records: memoryview
    start_offset: int  # Base offset of the first batch, or the requested offset if there is none.
    end_offset: int  # Last offset of the last batch plus one, or `start_offset` if there is none.
