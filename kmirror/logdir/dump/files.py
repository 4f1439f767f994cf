"""kafka-dump-log: dumping a list of files.

Rule 1: files are dumped in the given order; the suffix of a name selects the format, and the name gives the base
offset. Rule 2: the first file at which Kafka's tool would fail ends the dump with an error, after the output up to that
point. Rule 3: indexes that do not match their log are listed on stderr at the end, without an error.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kmirror.errors import CorruptBatch, UsageError
from kmirror.kernel import java
from kmirror.logdir.dump.batches import FileBatch, FileMessage, Head, iter_heads, open_batch
from kmirror.logdir.dump.decoders import DEFAULT_DECODER, DecodeError, Decoder, plain_decoder
from kmirror.logdir.dump.indexes import (
    BatchLookup,
    CorruptSnapshot,
    OffsetIndexFile,
    TimeIndexFile,
    aborted_rows,
    producer_rows,
    sibling,
)
from kmirror.logdir.dump.printers import Printer
from kmirror.logdir.dump.rows import TimeRow
from kmirror.logdir.faults import FileFault, fault_of
from kmirror.logdir.mapped import MappedFile, mapped

MAX_BYTES: Final = 2**31 - 1
MAX_MESSAGE_SIZE: Final = 5 * 1024 * 1024
SEGMENT_BYTES_MAX: Final = 2**31 - 1
_BOOTSTRAP: Final = "bootstrap.checkpoint"
_NUMBER: Final = re.compile(r"[+-]?[0-9]+")
_SLASHES: Final = re.compile(r"/+")
_OFFSET_DIGITS: Final = 20
_EPOCH_DIGITS: Final = 10
_INT64_MAX: Final = 2**63 - 1

Write = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class DumpOptions:
    """Options of a dump. The callables run once for each file that needs them, and may raise UsageError."""

    decoder: Callable[[], Decoder] = lambda: plain_decoder(DEFAULT_DECODER, DEFAULT_DECODER)
    prints_data: bool = False
    is_deep: bool = False
    verifies_only: bool = False
    checks_sanity: bool = False
    max_message_size: Callable[[], int] = lambda: MAX_MESSAGE_SIZE
    max_bytes: Callable[[], int] = lambda: MAX_BYTES


@dataclass(slots=True)
class Disagreements:
    """Mismatches found, by the absolute path of the file that contains them."""

    offsets: dict[str, dict[int, int]] = field(default_factory=dict)  # Indexed offset -> offset in the log.
    timestamps: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    order: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    not_found: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    gaps: dict[str, dict[int, int]] = field(default_factory=dict)  # Offset -> offset of the next record.

    def write(self, write: Write) -> None:
        """Write the mismatches in the wording and order of Kafka's tool."""
        for path in _sort_paths(self.offsets):
            write(f"Mismatches in :{path}\n")
            for offset, found in sorted(self.offsets[path].items(), reverse=True):
                write(f"  Index offset: {offset}, log offset: {found}\n")
        for path in _sort_paths(self.timestamps):
            write(f"Found timestamp mismatch in :{path}\n")
            for indexed, found in self.timestamps[path]:
                write(f"  Index timestamp: {indexed}, log timestamp: {found}\n")
        for path in _sort_paths(self.order):
            write(f"Found out of order timestamp in :{path}\n")
            for indexed, previous in self.order[path]:
                write(f"  Index timestamp: {indexed}, Previously indexed timestamp: {previous}\n")
        for path in _sort_paths(self.not_found):
            write(f"The following indexed offsets are not found in :{path}\n")
            for offset, found in self.not_found[path]:
                write(f"Indexed offset: {offset}, found log offset: {found}\n")
        for path in _sort_paths(self.gaps):
            write(f"Non-consecutive offsets in {path}\n")
            for offset, next_offset in sorted(self.gaps[path].items()):
                write(f"  {offset} is followed by {next_offset}\n")


def _sort_paths(paths: Iterable[str]) -> list[str]:
    return java.in_hash_order(paths, java.hash_of_text)


class Dump:
    """One run over files; `printer` writes stdout, `write_stderr` receives lines for stderr."""

    def __init__(self, options: DumpOptions, printer: Printer, write_stderr: Write) -> None:
        self._options = options
        self._printer = printer
        self._write_stderr = write_stderr
        self._disagreements = Disagreements()

    def run(self, files: Sequence[str]) -> None:
        """Dump the files; raises `UsageError` or `FileFault` where Kafka's tool fails with an exception."""
        for argument in files:
            java_path = _to_java_path(argument)
            self._printer.file(java_path)
            path = Path(java_path)
            name = java_path.rpartition("/")[2]
            dump = KINDS.get(name[name.rindex(".") :] if "." in name else name)
            if dump is None:
                self._write_stderr(f"Ignoring unknown file {java_path}\n")
                continue
            try:
                dump(self, java_path, path)
            except CorruptBatch as error:
                raise fault_of(error, path) from None
        self._disagreements.write(self._write_stderr)

    # -- logs ---------------------------------------------------------------------------------

    def _dump_log(self, java_path: str, path: Path) -> None:
        decoder, max_bytes = self._options.decoder(), self._options.max_bytes()
        name = path.name
        if name.endswith(".log"):
            self._printer.log_start(_base_offset(path))
        elif name == _BOOTSTRAP:
            self._printer.snapshot(None, 0)
        else:
            self._printer.snapshot(*_snapshot_id(path))
        with _open_segment(path) as file:
            self._dump_batches(file, decoder, max_bytes, _absolute(java_path))

    def _dump_batches(self, file: MappedFile, decoder: Decoder, max_bytes: int, absolute: str) -> None:
        printer = self._printer
        if max_bytes < 0:
            raise UsageError(f"{file.path}: --max-bytes must not be negative, but is {max_bytes}")
        end = min(file.size, max_bytes)
        at, last_offset = 0, -1
        for head in iter_heads(file.view, 0, end):
            batch = open_batch(file.view, head)
            printer.batch(batch)
            if self._options.is_deep:
                last_offset = self._dump_records(batch, decoder, last_offset, absolute)
            at = head.position + head.size_in_bytes
            file.release_before(at)
        if end > at and max_bytes == MAX_BYTES:
            printer.invalid_bytes(end - at, file.path.name)

    def _dump_records(self, batch: FileBatch | FileMessage, decoder: Decoder, last_offset: int, absolute: str) -> int:
        record_decoder = decoder if self._options.prints_data else None
        for record in batch.records():
            if record.offset != last_offset + 1:
                self._disagreements.gaps.setdefault(absolute, {})[last_offset] = record.offset
            last_offset = record.offset
            try:
                self._printer.record(batch, record, record_decoder)
            except DecodeError as error:
                raise CorruptBatch(str(error), position=batch.head.position, offset=record.offset) from None
        return last_offset

    # -- files of a segment -------------------------------------------------------------------

    def _dump_offset_index(self, java_path: str, path: Path) -> None:
        max_message_size = self._options.max_message_size()
        base_offset = _base_offset(path)
        with _open_segment(sibling(path, ".log")) as log, mapped(path) as file:
            index = OffsetIndexFile(file, base_offset)
            if index.rows == 0:
                self._printer.verdict(java_path, "is empty")
                return
            if self._options.checks_sanity:
                index.sanity_check()
                self._printer.verdict(java_path, "passed sanity check")
                return
            lookup = BatchLookup(log)
            for number in range(index.rows):
                row = index.row(number)
                if row.offset == base_offset and number > 0:
                    return
                head = lookup.first_at(row.position, max_message_size)
                found = open_batch(log.view, head).last_offset
                if found != row.offset:
                    self._disagreements.offsets.setdefault(_absolute(java_path), {})[row.offset] = found
                if not self._options.verifies_only:
                    self._printer.row(row)

    def _dump_time_index(self, java_path: str, path: Path) -> None:
        base_offset = _base_offset(path)
        offset_path = sibling(path, ".index")
        with _open_segment(sibling(path, ".log")) as log, mapped(offset_path) as offsets, mapped(path) as file:
            index = TimeIndexFile(file, base_offset)
            if self._options.checks_sanity:
                index.sanity_check()
                self._printer.verdict(java_path, "passed sanity check")
                return
            positions, lookup = OffsetIndexFile(offsets, base_offset), BatchLookup(log)
            previous = -1
            for number in range(index.rows):
                row = index.row(number)
                if row.offset == base_offset and number > 0:
                    return
                head = lookup.first_with(row.offset, positions.lookup(row.offset).position)
                self._compare_time_row(row, head, log, previous, _absolute(java_path))
                if not self._options.verifies_only:
                    self._printer.row(row)
                previous = row.timestamp

    def _compare_time_row(self, row: TimeRow, head: Head | None, log: MappedFile, previous: int, absolute: str) -> None:
        """Compare a time index row with the batch that it points to."""
        batch = None if head is None else open_batch(log.view, head)
        if batch is None or batch.last_offset != row.offset:
            offset = -1 if batch is None else batch.last_offset
            self._disagreements.not_found.setdefault(absolute, []).append((row.offset, offset))
            return
        max_timestamp = max(-1, max((record.timestamp for record in batch.records()), default=-1))
        if max_timestamp != row.timestamp:
            self._disagreements.timestamps.setdefault(absolute, []).append((row.timestamp, max_timestamp))
        if previous >= row.timestamp:
            self._disagreements.order.setdefault(absolute, []).append((row.timestamp, previous))

    def _dump_producers(self, java_path: str, path: Path) -> None:
        with mapped(path) as file:
            try:
                rows = producer_rows(file)
            except CorruptSnapshot as error:
                self._write_stderr(f"{error.reason}\n")
                return
        for row in rows:
            self._printer.row(row)

    def _dump_aborted(self, java_path: str, path: Path) -> None:
        _base_offset(path)
        if not path.exists():
            return  # A segment without aborted transactions has no such file.
        with mapped(path) as file:
            for row in aborted_rows(file):
                self._printer.row(row)


KINDS: Final[Mapping[str, Callable[[Dump, str, Path], None]]] = {
    ".log": Dump._dump_log,
    ".checkpoint": Dump._dump_log,
    ".index": Dump._dump_offset_index,
    ".timeindex": Dump._dump_time_index,
    ".snapshot": Dump._dump_producers,
    ".txnindex": Dump._dump_aborted,
}
"""Dump methods by file suffix, or by the whole name if it has no dot; arguments: the name and the path."""


def _to_java_path(argument: str) -> str:
    """Return a path in the form of `java.io.File`."""
    java_path = _SLASHES.sub("/", argument)
    return java_path[:-1] if len(java_path) > 1 and java_path.endswith("/") else java_path


def _absolute(java_path: str) -> str:
    return java_path if java_path.startswith("/") else f"{os.getcwd()}/{java_path}"


def _base_offset(path: Path) -> int:
    stem = path.name.split(".")[0]
    if not _NUMBER.fullmatch(stem) or abs(int(stem)) > _INT64_MAX:
        raise UsageError(f"{path}: the name does not begin with an offset")
    return int(stem)


def _snapshot_id(path: Path) -> tuple[int, int]:
    """Return the end offset and epoch in the name of a snapshot."""
    name = path.name
    offset, epoch = name[:_OFFSET_DIGITS], name[_OFFSET_DIGITS + 1 : _OFFSET_DIGITS + 1 + _EPOCH_DIGITS]
    if not _NUMBER.fullmatch(offset) or not _NUMBER.fullmatch(epoch):
        raise UsageError(f"{path}: a snapshot's name is an offset of 20 digits, a dash and an epoch of 10")
    return int(offset), int(epoch)


@contextmanager
def _open_segment(path: Path) -> Iterator[MappedFile]:
    """Yield the segment file; raises `FileFault` if it is larger than Kafka can open."""
    with mapped(path) as file:
        if file.size > SEGMENT_BYTES_MAX:
            raise FileFault(f"{file.size} bytes, more than the {SEGMENT_BYTES_MAX} of a segment", path=path)
        yield file
