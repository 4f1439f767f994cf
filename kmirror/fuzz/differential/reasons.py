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
    what: str
    why: str
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
        r"ours takes what kafka refuses: \S*CorruptRecordException: Record size N is less than the minimum",
        "12 to 17 bytes behind the last batch, in which a size stands that no batch has",
        "Kafka's reader of buffers calls them corrupt, its reader of files a batch that is cut. Here it is cut in both",
        lambda data: layout.LOG_OVERHEAD <= len(tail(data)) <= layout.MAGIC_AT + 1,
    ),
    Reason(
        r"ours takes what kafka refuses: java.lang.IllegalArgumentException: newLimit < N",
        "A batch that says it has almost 2 GiB",
        "The sum of its size and its header overflows in Kafka: an IllegalArgumentException. Here the batch is cut",
        _claims_2_gib,
    ),
    Reason(
        r"kafka takes what ours refuses: CorruptBatch: a (batch|message) length of N is (below|too small)",
        "A batch that is cut, and says of itself that it is smaller than any",
        "Kafka looks no further than that it is cut",
        lambda data: len(tail(data)) > 0,
    ),
    Reason(
        r"kafka takes what ours refuses: CorruptBatch: inside the wrapper, at byte N: (N bytes are left|a message of)",
        "A message inside a compressed one is cut",
        "Kafka's reader ends there without a word: what stood behind it is lost. We refuse the whole",
    ),
    Reason(
        r"kafka takes what ours refuses: CorruptBatch: inside the wrapper, at byte N: message format N, expected",
        "A message inside a compressed one is of a format that there is not, or of format 2",
        "Kafka takes it for one of format 1",
    ),
    Reason(
        r"kafka takes what ours refuses: CorruptBatch: snappy data cannot be decompressed: "
        r"a block of N bytes does not fit",
        "Bytes behind the last block of snappy that are no whole block",
        "Kafka has all records by then, and does not read on",
    ),
    Reason(
        r"kafka takes what ours refuses: CorruptBatch: gzip data cannot be decompressed: Error N while "
        r"decompressing data: "
        r"unknown header flags set",
        "Reserved bits in the header of gzip",
        "RFC 1952 has them refused; Java does not look at them",
    ),
    Reason(
        r"kafka takes what ours refuses: CorruptBatch: lz4 data cannot be decompressed: it ends early",
        "An end mark of lz4 with its highest bit set",
        "Kafka takes it for an end mark; for lz4 it is an empty block, and the frame is cut",
        lambda data: data.rstrip(b"\0").endswith(b"\x80") or b"\0\0\0\x80" in data,
    ),
    Reason(
        r"kafka takes what ours refuses: ProtocolError: tag N does not exist in version N",
        "A tag that KIP-1279 adds to a message of Kafka's, in a version before it",
        "Kafka does not know the tag; a Kafka with the KIP refuses it there, as it does with its own",
    ),
    Reason(
        r"kafka and ours read .* for RecordBatch\.lastOffset",
        "Base offset and last offset delta come to more than 63 bits hold",
        "Kafka's sum is negative then, ours is not. No log takes such a batch",
        _passes_int64,
    ),
)


def reason_of(cause: str, data: bytes, rows: Sequence[Reason] = REASONS) -> Reason | None:
    """Return the reason for a difference of this cause in this frame; None if it is a finding."""
    return next((row for row in rows if re.match(row.cause, cause) and row.holds(data)), None)
