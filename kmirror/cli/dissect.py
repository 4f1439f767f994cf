"""`kmirror dissect FILE`: every field of a file of a log directory, with its byte range and meaning."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import click

from kmirror.cli.commands import CONTEXT
from kmirror.cli.output import Output
from kmirror.errors import CorruptBatch, UsageError
from kmirror.logdir.dissect.core import DissectedRow, with_paths
from kmirror.logdir.dissect.files import KINDS, FileKind, dissect, kind_of
from kmirror.logdir.faults import Unreadable
from kmirror.logdir.mapped import MappedFile
from kmirror.records.codecs import DECOMPRESSED_BYTES_MAX

_BYTES_SHOWN_MAX = 24


@click.command("dissect", context_settings=CONTEXT)
@click.argument("file", type=click.Path(path_type=Path, readable=False))
@click.option(
    "--as",
    "kind_name",
    type=click.Choice([kind.name for kind in KINDS]),
    help="Type of the file, if its name does not show it.",
)
@click.option("--depth", type=click.IntRange(min=0), help="Maximum depth of the groups shown; 0 is the outermost.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=DECOMPRESSED_BYTES_MAX,
    show_default=True,
    help="Maximum size of a batch after decompression, in bytes.",
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: one line per field.")
def command(file: Path, kind_name: str | None, depth: int | None, limit: int, output: str) -> int:
    """Print each field of FILE with its byte range, value and meaning.

    FILE is a segment, an index, a producer snapshot or a checkpoint, in any format since Kafka 0.8. Byte ranges include
    the first number and exclude the last; "~" marks a position in decompressed data. A wrong checksum is marked,
    decoding continues, and the exit code is 1. If the structure itself is broken, the reason is printed on stderr.
    """
    kind, base_offset = _kind(file, kind_name)
    data = _read(file)
    has_fault = False
    try:
        with Output() as out:
            for row, path in with_paths(dissect(kind, data, base_offset=base_offset, limit=limit)):
                has_fault |= row.is_fault
                if depth is None or row.depth <= depth:
                    out.write((json.dumps(_as_json(row, path)) if output == "json" else as_text(row)) + "\n")
    except CorruptBatch as error:
        raise error.with_context(str(file)) from None
    return int(has_fault)


def _kind(file: Path, kind_name: str | None) -> tuple[FileKind, int]:
    found = kind_of(file.name)
    if kind_name is not None:
        return next(kind for kind in KINDS if kind.name == kind_name), found[1] if found else 0
    if found is None:
        raise UsageError(f"{file}: not a file name of a log directory; give the type of the file with --as")
    return found


def _read(file: Path) -> memoryview:
    """Return the file's bytes, mapped so that a large segment need not fit into memory."""
    try:
        return MappedFile(file).view
    except OSError as error:
        raise Unreadable(file, error.strerror or str(error)) from None


def as_text(row: DissectedRow) -> str:
    """Return the row as one line."""
    byte_range = f"{row.start}..{row.end}" + ("~" if row.within else "")
    fault = "  FAULT" if row.is_fault else ""
    name = "  " * row.depth + row.name
    return f"{byte_range:>22}  {name:<32} {_value(row):<22} {row.meaning}{fault}".rstrip()


def _value(row: DissectedRow) -> str:
    value = row.value
    if value is None:
        return ""
    if not isinstance(value, bytes):
        return f"{value:#010x}" if row.name == "crc" else str(value)
    if len(value) > _BYTES_SHOWN_MAX:
        return f"{value[:_BYTES_SHOWN_MAX].hex()}... ({len(value)} bytes)"
    return value.hex()


def _as_json(row: DissectedRow, path: str) -> dict[str, Any]:
    value = row.value
    return {
        "path": path,
        "start": row.start,
        "end": row.end,
        "within": row.within or None,
        "value": base64.b64encode(value).decode() if isinstance(value, bytes) else value,
        "meaning": row.meaning or None,
        "fault": row.is_fault,
    }
