"""`kmirror decode --bytes`: byte ranges of the fields of a message and of its record batches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import click

from kmirror.cli.decoded_parts import Part, report_errors
from kmirror.errors import CorruptBatch, ProtocolError
from kmirror.kernel.uuid import Uuid
from kmirror.log.state_files import LOG_SUFFIX, file_name
from kmirror.logdir.dissect.core import with_paths
from kmirror.logdir.dissect.files import dissect, kind_of
from kmirror.protocol import careful
from kmirror.protocol.structs import Policy, Struct, check_version
from kmirror.records.batch import TornBatch

SHOWN_BYTES_MAX: Final = 24


class InnerRow(NamedTuple):
    """A field of a batch, with its byte range in the message, or in the decompressed data given by `within`."""

    start: int
    end: int
    path: str
    value: Any
    meaning: str
    within: str


class FieldRow(NamedTuple):
    """A field and its byte range; `inner` are the fields of the batches in it."""

    start: int
    end: int
    path: str
    value: object
    inner: tuple[InnerRow, ...] = ()


class FieldNotes:
    """Collects the fields of one part as `rows`, and errors in its records as `faults`."""

    def __init__(self, part: Part, prefix: str, *, decodes_records: bool) -> None:
        self.rows: list[FieldRow] = []
        self.faults: list[str] = []
        self._prefix = prefix
        self._decodes_records = decodes_records
        self._may_end_inside = part.may_end_inside

    def __call__(self, start: int, end: int, path: str, value: object) -> None:
        full_path = ".".join(name for name in (self._prefix, path) if name)
        inner: tuple[InnerRow, ...] = ()
        # In a KRaft snapshot the field is `unaligned_records`, which may begin inside a batch.
        if self._decodes_records and isinstance(value, memoryview) and path.rpartition(".")[2] == "records":
            inner = tuple(self._batch_rows(value, end - len(value), full_path))
        self.rows.append(FieldRow(start, end, full_path, value, inner))

    def _batch_rows(self, data: memoryview, start: int, path: str) -> Iterator[InnerRow]:
        """Yield a row for each field of the batches in `data`, which begins at byte `start` of the message."""
        kind = kind_of(file_name(0, LOG_SUFFIX))
        assert kind is not None, "a segment's name is known"
        try:
            for row, inner_path in with_paths(dissect(kind[0], data)):
                shift = 0 if row.within else start
                yield InnerRow(row.start + shift, row.end + shift, inner_path, row.value, row.meaning, row.within)
                if row.is_fault:
                    self.faults.append(f"{path}.{inner_path}: {row.meaning}")
        except CorruptBatch as error:
            begin = error.position or 0
            is_fault = not (self._may_end_inside and isinstance(error, TornBatch))
            name = "(fault)" if is_fault else "(incomplete)"
            yield InnerRow(start + begin, start + len(data), name, None, error.reason, "")
            if is_fault:
                self.faults.append(f"{path}, byte {begin} of the records: {error.reason}")


def print_bytes(data: bytes, parts: list[Part], policy: Policy, *, as_json: bool, decodes_records: bool) -> int:
    """Print one line for each field, up to malformed bytes, and return the exit code; raise ProtocolError for those."""
    position, faults = 0, list[str]()
    for part in parts:
        check_version(part.cls, part.version, ProtocolError)
        notes = FieldNotes(part, part.name if len(parts) > 1 else "", decodes_records=decodes_records)
        try:
            _, position = careful.decode(part.cls, data, part.version, position, policy, notes)
        finally:
            for line in lines(notes.rows, as_json=as_json):
                click.echo(line)
        faults += notes.faults
    if position < len(data):
        rest = FieldRow(position, len(data), "(after the message)", data[position:])
        click.echo(next(lines([rest], as_json=as_json)))
    return report_errors(faults, len(data) - position, position)


def lines(rows: list[FieldRow], *, as_json: bool) -> Iterator[str]:
    """Yield the fields in the order of their first bytes; an enclosing field precedes those inside it."""
    width = max((len(row.path) for row in rows), default=0)
    for row in sorted(rows, key=lambda r: (r.start, -r.end, len(r.path))):
        if as_json:
            json_object = {"start": row.start, "end": row.end, "path": row.path, "value": value_text(row.value)}
            yield json.dumps(json_object)
        else:
            yield f"{row.start:>8} {row.end:>8}  {row.path or '(message)':<{width}}  {value_text(row.value)}"
        for inner in row.inner:
            yield inner_line(inner, row.path, as_json=as_json)


def inner_line(row: InnerRow, path: str, *, as_json: bool) -> str:
    """Return the line of a field of a batch; `path` is the path of the records that contain it."""
    value = "" if row.value is None else value_text(row.value)
    if not as_json:
        details = "  ".join(text for text in (value, row.meaning) if text)
        return f"{row.start:>8} {row.end:>8}{'~' if row.within else ' '} {path}.{row.path}  {details}".rstrip()
    within = f"{path}.{row.within}" if row.within else None
    json_object = {"start": row.start, "end": row.end, "path": f"{path}.{row.path}", "within": within}
    return json.dumps(json_object | {"value": value or None, "meaning": row.meaning or None})


def value_text(value: object) -> str:
    """Return a field's value as one short line; long bytes are truncated."""
    if isinstance(value, Struct):
        return type(value).__name__
    if isinstance(value, (list, tuple)):
        return f"{len(value)} element{'' if len(value) == 1 else 's'}"
    if isinstance(value, (bytes, bytearray, memoryview)) and not isinstance(value, Uuid):
        ellipsis = "..." if len(value) > SHOWN_BYTES_MAX else ""
        return f"{len(value)} bytes: {bytes(value[:SHOWN_BYTES_MAX]).hex(' ')}{ellipsis}" if len(value) else "0 bytes"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return json.dumps(value) if isinstance(value, str) else str(value)
