"""Intended differences between our readers and Kafka's, with their reasons; they are not findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kmirror.records import layout


class Reason(NamedTuple):
    """An intended difference between Kafka's reader and ours."""

    cause: str
    """Start of the cause of its findings, as a regular expression."""
    case: str
    explanation: str
    holds: Callable[[bytes], bool] = lambda data: True
    """Whether the reason holds for a frame, where the same cause may have other reasons."""


def tail(data: bytes) -> bytes:
    """Return the bytes after the last whole batch or message, by their sizes alone."""
    at = 0
    while len(data) - at >= layout.LOG_OVERHEAD:
        size = int.from_bytes(data[at + layout.BATCH_LENGTH_AT : at + layout.LOG_OVERHEAD], "big", signed=True)
        if size < layout.LEGACY_LENGTH_MIN or at + layout.LOG_OVERHEAD + size > len(data):
            break
        at += layout.LOG_OVERHEAD + size
    return data[at:]


def _claims_2_gib(data: bytes) -> bool:
    size = int.from_bytes(tail(data)[layout.BATCH_LENGTH_AT : layout.LOG_OVERHEAD], "big")
    return size >= (1 << 31) - layout.LOG_OVERHEAD


def _passes_int64(data: bytes) -> bool:
    first = int.from_bytes(data[: layout.BATCH_LENGTH_AT], "big", signed=True)
    delta_at, _ = layout.field_range("last_offset_delta")
    last = first + int.from_bytes(data[delta_at : delta_at + 4], "big", signed=True)
    return not -(1 << 63) <= last < 1 << 63


REASONS: tuple[Reason, ...] = (
    Reason(
        r"ours accepts, kafka refuses: \S*CorruptRecordException: Record size N is less than the minimum",
        "12 to 17 bytes behind the last batch, with a size that no batch can have",
        "Kafka's reader of buffers calls them corrupt, its reader of files a cut batch. kmirror: a cut batch in both",
        lambda data: layout.LOG_OVERHEAD <= len(tail(data)) <= layout.MAGIC_AT + 1,
    ),
    Reason(
        r"ours accepts, kafka refuses: java.lang.IllegalArgumentException: newLimit < N",
        "A batch with a stated size of almost 2 GiB",
        "Kafka: size plus header overflows, an IllegalArgumentException. kmirror: the batch is truncated",
        _claims_2_gib,
    ),
    Reason(
        r"kafka accepts, ours refuses: CorruptBatch: a (batch|message) length of N is (below|too small)",
        "A truncated batch with a stated size below the minimum",
        "Kafka checks only that it is truncated",
        lambda data: len(tail(data)) > 0,
    ),
    Reason(
        r"kafka accepts, ours refuses: CorruptBatch: inside the wrapper, at byte N: (N bytes are left|a message of)",
        "A truncated message inside a compressed one",
        "Kafka's reader ends there without an error, and the data behind it is lost. kmirror rejects the whole message",
    ),
    Reason(
        r"kafka accepts, ours refuses: CorruptBatch: inside the wrapper, at byte N: message format N, expected",
        "A message inside a compressed one has an unknown format, or format 2",
        "Kafka reads it as format 1",
    ),
    Reason(
        r"kafka accepts, ours refuses: CorruptBatch: snappy data cannot be decompressed: "
        r"a block of N bytes does not fit",
        "Bytes behind the last snappy block that are not a whole block",
        "Kafka has all records at that point, and stops reading",
    ),
    Reason(
        r"kafka accepts, ours refuses: CorruptBatch: gzip data cannot be decompressed: Error N while "
        r"decompressing data: "
        r"unknown header flags set",
        "Reserved bits in the header of gzip",
        "RFC 1952 requires an error; Java ignores them",
    ),
    Reason(
        r"kafka accepts, ours refuses: CorruptBatch: lz4 data cannot be decompressed: it ends early",
        "An end mark of lz4 with its highest bit set",
        "Kafka reads it as an end mark; for lz4 it is an empty block, and the frame is truncated",
        lambda data: data.rstrip(b"\0").endswith(b"\x80") or b"\0\0\0\x80" in data,
    ),
    Reason(
        r"kafka accepts, ours refuses: ProtocolError: tag N does not exist in version N",
        "A tag that KIP-1279 adds to a Kafka message, in an earlier version of the message",
        "Kafka does not know the tag; a Kafka with the KIP would reject it there, like its own tags",
    ),
    Reason(
        r"kafka and ours read .* for RecordBatch\.lastOffset",
        "The sum of base offset and last offset delta exceeds 63 bits",
        "Kafka's sum is negative, kmirror's is not. No log accepts such a batch",
        _passes_int64,
    ),
)


def reason_of(cause: str, data: bytes, rows: Sequence[Reason] = REASONS) -> Reason | None:
    """Return the reason for a difference of this cause in this frame; None if it is a finding."""
    return next((row for row in rows if re.match(row.cause, cause) and row.holds(data)), None)
