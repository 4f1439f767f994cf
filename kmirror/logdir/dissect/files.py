"""Dissection of the files of a log directory, field by field.

`dissect` yields a row per field, in file order: byte range, name, value and meaning. It marks a wrong checksum as a
fault and continues. It raises `CorruptBatch` where the structure itself is invalid, after the rows before that point.
Positions in decompressed data start at 0.
"""

from __future__ import annotations

import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import construct as c

from kmirror.errors import CorruptBatch, ProtocolError
from kmirror.logdir.dissect import layouts as layouts
from kmirror.logdir.dissect.core import DissectedRow, rows_of
from kmirror.protocol.json_form import to_json
from kmirror.protocol.registry import by_name
from kmirror.records.batch import Batch
from kmirror.records.codecs import DECOMPRESSED_BYTES_MAX, Compression
from kmirror.records.control import ControlType
from kmirror.records.crc32c import crc32c
from kmirror.records.layout import RECORDS_AT, Buffer, end_of_content
from kmirror.records.legacy import LegacyBatch, iter_any_batches

CONTROL_MESSAGES: Final = {
    ControlType.LEADER_CHANGE: "LeaderChangeMessage",
    ControlType.SNAPSHOT_HEADER: "SnapshotHeaderRecord",
    ControlType.SNAPSHOT_FOOTER: "SnapshotFooterRecord",
    ControlType.KRAFT_VERSION: "KRaftVersionRecord",
    ControlType.KRAFT_VOTERS: "VotersRecord",
}


@dataclass(frozen=True, slots=True)
class FileKind:
    """One kind of file; arguments of `read`: its bytes, the offset in its name, and the decompression limit."""

    name: str
    about: str
    pattern: str
    read: Callable[[memoryview, int, int], Iterator[DissectedRow]]


def dissect(
    kind: FileKind, data: Buffer, *, base_offset: int = 0, limit: int = DECOMPRESSED_BYTES_MAX
) -> Iterator[DissectedRow]:
    """Yield the rows of a file; raises `CorruptBatch` if it is not of this `kind`."""
    return kind.read(memoryview(data), base_offset, limit)


def kind_of(file_name: str) -> tuple[FileKind, int] | None:
    """Return the kind of a file by its name, and the offset at the start of the name, 0 if there is none."""
    name = re.sub(r"(\.deleted|\.cleaned|\.swap|\.tmp)+$", "", file_name)
    for kind in KINDS:
        if re.fullmatch(kind.pattern, name):
            digits = re.match(r"\d{20}", name)
            return kind, int(digits.group()) if digits else 0
    return None


# -- batches and messages ---------------------------------------------------------------------


def _dissect_log(data: memoryview, base_offset: int, limit: int) -> Iterator[DissectedRow]:
    for index, batch in enumerate(iter_any_batches(data)):
        name = f"batch[{index}]"
        if isinstance(batch, LegacyBatch):
            yield from _dissect_message(name, batch, limit)
        else:
            yield from _dissect_batch(name, batch, limit)


def _dissect_batch(name: str, batch: Batch, limit: int) -> Iterator[DissectedRow]:
    start, end = batch.position, batch.position + batch.size_in_bytes
    count = f"{batch.record_count} record{'' if batch.record_count == 1 else 's'}"
    yield DissectedRow(0, name, start, end, None, f"offsets {batch.base_offset} to {batch.last_offset}, {count}")
    crc = _checksum_meaning(batch.crc, crc32c(batch.view[21:]))
    for row in rows_of("", _parse(layouts.BATCH_HEADER, batch.view, start), 1, shift=start):
        yield _mark_checksum(row, crc) if row.name == "crc" else row
    if batch.record_count < 0:
        text = f"a batch cannot hold {batch.record_count} records"
        raise CorruptBatch(text, position=start, offset=batch.base_offset)
    if batch.record_count == 0:
        if end > start + RECORDS_AT:
            yield DissectedRow(
                1, "payload", start + RECORDS_AT, end, bytes(batch.view[RECORDS_AT:]), "ignored: no records"
            )
        return
    codec, within, shift = batch.compression, "", start + RECORDS_AT
    payload = batch.payload(limit=limit)
    if codec is not Compression.NONE:
        yield DissectedRow(
            1, "payload", start + RECORDS_AT, end, None, f"{codec.name.lower()}, {len(payload)} bytes inflated"
        )
        within, shift = f"{name}.payload", 0
    stream = io.BytesIO(payload)
    for index in range(batch.record_count):
        yield from _dissect_record(f"record[{index}]", batch, stream, within, shift)
    if stream.tell() != len(payload):
        left = len(payload) - stream.tell()
        raise CorruptBatch(f"{left} bytes are left after the last record", position=start, offset=batch.base_offset)


def _dissect_record(name: str, batch: Batch, stream: io.BytesIO, within: str, shift: int) -> Iterator[DissectedRow]:
    start = stream.tell()
    depth = 2 if within else 1
    try:
        record = layouts.RECORD.parse_stream(stream)
    except c.ConstructError as error:
        raise _make_error(error, f"{name}, byte {start} of the records", batch.position, batch.base_offset) from None
    fields = record.fields.value
    offset = batch.base_offset + fields.offset_delta.value
    if batch.timestamp_type == 0:
        time = layouts.time_of(batch.base_timestamp + fields.timestamp_delta.value)
    else:
        time = layouts.time_of(batch.max_timestamp)
    yield DissectedRow(depth, name, start + shift, stream.tell() + shift, None, f"offset {offset}, {time}", within)
    yield from rows_of("length", record.length, depth + 1, within=within, shift=shift)
    for row in rows_of("", fields, depth + 1, within=within, shift=shift):
        yield row
        if batch.is_control and row.depth == depth + 1 and row.name in ("key", "value"):
            yield from _dissect_control(row, fields)


def _dissect_control(row: DissectedRow, fields: Any) -> Iterator[DissectedRow]:
    """Yield the fields inside a control record's key or value, given as its row."""
    key = fields.key.value or b""
    layout = layouts.CONTROL_KEY
    if row.name == "value":
        kind = int.from_bytes(key[2:4], "big", signed=True)
        if kind in (ControlType.ABORT, ControlType.COMMIT):
            layout = layouts.END_TXN_MARKER
        elif kind == ControlType.MIRROR_PID_RESET:
            layout = layouts.MIRROR_PID_RESET
        else:
            yield from _dissect_control_message(kind, row)
            return
    try:
        parsed = layout.parse(row.value or b"")
    except c.ConstructError as error:
        yield DissectedRow(row.depth + 1, "fault", row.start, row.end, None, _reason(error), row.within, is_fault=True)
        return
    at = row.start
    for member in rows_of("", parsed, row.depth + 1, within=row.within, shift=row.start):
        yield member
        at = member.end
    yield from _uncovered_row(row.value or b"", at - row.start, replace(row, depth=row.depth + 1), "of a later version")


def _uncovered_row(data: Buffer, at: int, whole: DissectedRow, meaning: str) -> Iterator[DissectedRow]:
    """Yield a row for the bytes from `at` on that no field of `whole` covers; `data` are the bytes of `whole`."""
    if at < len(data):
        start, end = whole.start + at, whole.start + len(data)
        yield DissectedRow(whole.depth, "rest", start, end, bytes(data[at:]), meaning, whole.within)


def _dissect_control_message(kind: int, row: DissectedRow) -> Iterator[DissectedRow]:
    """Yield a KRaft control value as the JSON of its message."""
    name = CONTROL_MESSAGES.get(ControlType(kind)) if kind in list(ControlType) else None
    if name is None or row.value is None:
        return
    version = int.from_bytes(row.value[:2], "big", signed=True)
    cls = by_name(name)
    version = min(max(version, cls.MIN_VERSION), cls.MAX_VERSION)
    try:
        text = json.dumps(to_json(cls.decode(row.value, version), version))
    except ProtocolError as error:
        yield DissectedRow(row.depth + 1, name, row.start, row.end, None, str(error), row.within, is_fault=True)
        return
    yield DissectedRow(row.depth + 1, name, row.start, row.end, None, text, row.within)


def _dissect_message(
    name: str, batch: LegacyBatch, limit: int, within: str = "", depth: int = 0
) -> Iterator[DissectedRow]:
    start, end = batch.position, batch.position + batch.size_in_bytes
    codec = batch.compression
    about = "a wrapper" if codec is not Compression.NONE else "a message"
    yield DissectedRow(
        depth, name, start, end, None, f"{about} of format {batch.magic}, offset {batch.last_offset}", within
    )
    crc = _checksum_meaning(batch.crc, zlib.crc32(batch.view[16:]))
    parsed = _parse(layouts.MESSAGE_V0 if batch.magic == 0 else layouts.MESSAGE_V1, batch.view, start)
    at = start
    for row in rows_of("", parsed, depth + 1, within=within, shift=start):
        if row.name == "value" and codec is not Compression.NONE:
            row = replace(row, value=None, meaning=f"{codec.name.lower()}, a message set")
        yield _mark_checksum(row, crc) if row.name == "crc" else row
        at = row.end
    yield from _uncovered_row(
        batch.view, at - start, DissectedRow(depth + 1, "", start, end, within=within), "ignored: after the value"
    )
    if codec is not Compression.NONE:
        payload = batch.payload(limit=limit)
        if not payload:
            raise CorruptBatch("a wrapper contains no message", position=start, offset=batch.last_offset)
        for index, message in enumerate(iter_any_batches(payload)):
            if not isinstance(message, LegacyBatch) or message.compression is not Compression.NONE:
                raise CorruptBatch("the wrapper contains no plain message", position=start, offset=batch.last_offset)
            yield from _dissect_message(f"message[{index}]", message, limit, f"{name}.value", depth + 2)


# -- files of a segment -----------------------------------------------------------------------


def _entries_reader(
    name: str, layout: Any, about: Callable[[Any, int], str]
) -> Callable[[memoryview, int, int], Iterator[DissectedRow]]:
    """Return a reader of fixed-size entries; trailing zeros are space that a running broker preallocates."""
    size = layout.sizeof()

    def read(data: memoryview, base_offset: int, limit: int) -> Iterator[DissectedRow]:
        written = end_of_content(data)
        for index, at in enumerate(range(0, len(data) - size + 1, size)):
            entry = data[at : at + size]
            if at >= written:
                yield DissectedRow(
                    0, "preallocated", at, len(data), None, f"{len(data) - at} zero bytes, not written yet"
                )
                return
            parsed = layout.parse(entry)
            yield DissectedRow(0, f"{name}[{index}]", at, at + size, None, about(parsed, base_offset))
            yield from rows_of("", parsed, 1, shift=at)
        left = len(data) % size
        if left:
            at = len(data) - left
            text = f"{left} bytes where an entry takes {size}"
            yield DissectedRow(0, "remainder", at, len(data), bytes(data[at:]), text, is_fault=True)

    return read


def _dissect_snapshot(data: memoryview, base_offset: int, limit: int) -> Iterator[DissectedRow]:
    crc = _checksum_meaning(int.from_bytes(data[2:6], "big"), crc32c(data[6:]))
    for row in rows_of("", _parse(layouts.PRODUCER_SNAPSHOT, data, 0), 0):
        yield _mark_checksum(row, crc) if row.name == "crc" else row


def _file_reader(layout: Any) -> Callable[[memoryview, int, int], Iterator[DissectedRow]]:
    def read(data: memoryview, base_offset: int, limit: int) -> Iterator[DissectedRow]:
        if not data:
            return  # A broker creates checkpoints empty and fills them later.
        yield from rows_of("", _parse(layout, data, 0), 0)

    return read


def _dissect_text(data: memoryview, base_offset: int, limit: int) -> Iterator[DissectedRow]:
    at = 0
    for index, line in enumerate(bytes(data).splitlines(keepends=True)):
        yield DissectedRow(0, f"line[{index}]", at, at + len(line), line, layouts.as_text(line.rstrip(b"\r\n")))
        at += len(line)


def _offset_meaning(suffix: str) -> Callable[[Any, int], str]:
    def about(entry: Any, base_offset: int) -> str:
        return f"offset {base_offset + entry.relative_offset.value}{suffix}"

    return about


def _aborted_meaning(entry: Any, base_offset: int) -> str:
    return f"offsets {entry.first_offset.value} to {entry.last_offset.value} of producer {entry.producer_id.value}"


KINDS: Final = (
    FileKind("log", "record batches and messages", r"\d{20}\.log", _dissect_log),
    FileKind("metadata-snapshot", "record batches", r"(\d{20}-\d{10}|bootstrap)\.checkpoint(\.part)?", _dissect_log),
    FileKind(
        "index", "offset index", r"\d{20}\.index", _entries_reader("entry", layouts.INDEX_ENTRY, _offset_meaning(""))
    ),
    FileKind(
        "timeindex",
        "time index",
        r"\d{20}\.timeindex",
        _entries_reader("entry", layouts.TIME_INDEX_ENTRY, _offset_meaning(" and all below it are not later")),
    ),
    FileKind(
        "txnindex",
        "aborted transactions",
        r"\d{20}\.txnindex",
        _entries_reader("aborted", layouts.TXN_INDEX_ENTRY, _aborted_meaning),
    ),
    FileKind("snapshot", "producer states", r"\d{20}\.snapshot", _dissect_snapshot),
    FileKind("epochs", "leader epochs", "leader-epoch-checkpoint", _file_reader(layouts.LEADER_EPOCH_CHECKPOINT)),
    FileKind(
        "offsets",
        "an offset for each partition",
        "(replication|recovery-point|log-start|cleaner)-offset-checkpoint",
        _file_reader(layouts.OFFSET_CHECKPOINT),
    ),
    FileKind("partition", "the topic's id", r"partition\.metadata", _file_reader(layouts.PARTITION_METADATA)),
    FileKind("text", "lines of text", r"meta\.properties|quorum-state|\.kafka_cleanshutdown", _dissect_text),
)


def _parse(layout: Any, data: memoryview, position: int) -> Any:
    try:
        return layout.parse(bytes(data))
    except (c.ConstructError, ValueError) as error:
        raise _make_error(error, "the form is broken", position, None) from None


def _reason(error: Exception) -> str:
    """Return the first line of construct's error text, without the path at its start."""
    lines = [line for line in str(error).splitlines() if line and not line.startswith("Error in path")]
    return lines[0] if lines else type(error).__name__


def _make_error(error: Exception, location: str, position: int, offset: int | None) -> CorruptBatch:
    return CorruptBatch(f"{location}: {_reason(error)}", position=position, offset=offset)


def _checksum_meaning(stored: int, computed: int) -> str:
    return "holds" if stored == computed else f"WRONG: the bytes give {computed:#010x}"


def _mark_checksum(row: DissectedRow, crc: str) -> DissectedRow:
    return replace(row, meaning=crc, is_fault=crc != "holds")
