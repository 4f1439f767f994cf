"""What an append and a read give back."""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.records.layout import NO_TIMESTAMP


@dataclass(slots=True)
class AppendInfo:
    """What an append did; the offsets are -1 and `batches` is 0 when nothing was appended."""

    first_offset: int = -1
    last_offset: int = -1
    batches: int = 0
    bytes: int = 0
    max_timestamp: int = NO_TIMESTAMP
    log_append_time: int = NO_TIMESTAMP
    duplicate: bool = False  # The batch was there already; the offsets are those of the first time.
    refused_epoch: int = -1  # The leader epoch of the first batch that was left out, KAFKA-18723.
    control_types: tuple[int, ...] = ()


@dataclass(slots=True)
class ReadResult:
    """Whole batches, the first of which may begin below the offset asked for.

    Kafka sends what `max_bytes` cuts off of the next batch too, and every client throws it away.
    """

    records: memoryview
    start_offset: int  # The base offset of the first batch; the offset asked for when there is none.
    end_offset: int  # One above the last batch's last offset; `start_offset` when there is none.
