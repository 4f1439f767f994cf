"""Target: our reader of record batches, with formats 0 to 2, every codec, and every way to read records.

Any bytes are batches or raise `CorruptBatch`. All readers must return the same records, also for a broken batch that is
accepted: the fast reader, the one that makes views, the outline that a leader takes of a batch, and a plain reader
written for this comparison.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from kmirror.errors import CorruptBatch
from kmirror.fuzz.batches import BatchStream, append_message
from kmirror.fuzz.findings import Fault, FaultKind, fault_of_exception
from kmirror.fuzz.mutations import Step
from kmirror.fuzz.roundtrip_check import castagnoli, decode_message, decode_records, encode_records, matches
from kmirror.fuzz.stream import Frame
from kmirror.fuzz.target import TAKEN, Stateless, without_numbers
from kmirror.fuzz.targets.rows import TargetOptions
from kmirror.kernel.java import wrap_int64
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.codecs import Compression
from kmirror.records.layout import TimestampType
from kmirror.records.legacy import AnyBatch, LegacyBatch, iter_any_batches
from kmirror.records.outline import outline
from kmirror.records.record import Record
from kmirror.records.views import iter_views

LIMIT_BYTES = 1 << 20
"""Maximum size of a decompressed batch here, in bytes, as frames are small."""
_VIEWS_EVERY = 4
_VARINT_MAX = 5


class BatchTarget(Stateless):
    """`iter_any_batches`, with all readers of each batch."""

    name = "batch"

    def judge(self, frame: Frame) -> str:
        """Return "taken" or the error, without numbers; raises `Fault`."""
        try:
            for batch in iter_any_batches(frame.data):
                batch.verify_crc()
                records = list(batch.records(limit=LIMIT_BYTES))
                if frame.number % _VIEWS_EVERY == 0 or not frame.is_valid:
                    self._compare_readers(frame, batch, records)
            self._check_lengths(frame)
        except CorruptBatch as error:
            if frame.is_valid:
                raise Fault(FaultKind.REFUSED, f"a valid batch: {error}", "a valid batch", TAKEN) from None
            return without_numbers(str(error), words=8)
        except Fault:
            raise
        except Exception as error:
            raise fault_of_exception(error) from error
        return TAKEN

    def _check_lengths(self, frame: Frame) -> None:
        """Raise `Fault` for an accepted batch with a record length whose varint is longer than five bytes."""
        steps = [step for step in frame.steps if isinstance(step, Step)]
        if len(steps) == 1 and steps[0].mutation.name == "varint made longer":
            _, start, end, _ = steps[0].spot
            if end - start + int(str(steps[0].detail)) > _VARINT_MAX and _is_record_length(steps[0]):
                raise Fault(FaultKind.TAKEN, "a varint of more than five bytes", "long varint", "refused")

    def _compare_readers(self, frame: Frame, batch: AnyBatch, records: Sequence[Record]) -> None:
        if not isinstance(batch, Batch):
            self._check_legacy(frame, batch, records)
            return
        checksum = castagnoli(batch.view[layout.ATTRIBUTES_AT :])
        if checksum != int.from_bytes(batch.view[layout.CRC_AT : layout.ATTRIBUTES_AT], "big"):
            raise Fault(FaultKind.TAKEN, f"its checksum is {checksum:#010x}", "checksum", "refused")
        if frame.is_valid:
            self._check_encoding(batch, records)
        deltas = self._check_decoding(batch, records)
        view_records = [view.decode() for view in iter_views(batch, limit=LIMIT_BYTES)]
        if view_records != records:
            raise Fault(
                FaultKind.DIFFERS, f"{len(records)} records, and other ones as views", "views", "the same records"
            )
        found = outline(batch.payload(limit=LIMIT_BYTES), 0, batch.record_count) if records else None
        if found is None:
            return  # A leader then decodes the records; a batch that the cleaner emptied has none.
        offsets = [wrap_int64(record.offset - batch.base_offset) for record in records]
        is_numbered = offsets == list(range(len(records)))
        expected = (min(deltas), max(deltas), is_numbered, all(record.key is not None for record in records))
        if expected != found:
            raise Fault(
                FaultKind.DIFFERS, f"{found} of records with {expected}", "outline", "the values of the records"
            )

    def _check_decoding(self, batch: Batch, records: Sequence[Record]) -> list[int]:
        """Return the timestamp deltas in the batch; raises `Fault` if its records are not those that were read."""
        try:
            rows = decode_records(batch.payload(limit=LIMIT_BYTES), batch.record_count)
        except ValueError as error:
            raise Fault(FaultKind.TAKEN, f"its records: {error}", "records", "refused") from None
        has_own_times = batch.timestamp_type is not TimestampType.LOG_APPEND_TIME
        base_timestamp = batch.base_timestamp if has_own_times else None
        if len(rows) != len(records):
            description = f"{len(rows)} records are there, {len(records)} were read"
            raise Fault(FaultKind.DIFFERS, description, "count", "the same records")
        for number, (row, record) in enumerate(zip(rows, records, strict=True)):
            if not matches(record, row, batch.base_offset, base_timestamp):
                raise Fault(
                    FaultKind.DIFFERS,
                    f"record {number} is {record}, in the batch {row}",
                    "record",
                    "as in the batch",
                )
        return [row.timestamp_delta for row in rows]

    def _check_encoding(self, batch: Batch, records: Sequence[Record]) -> None:
        if batch.timestamp_type is TimestampType.LOG_APPEND_TIME:
            if any(record.timestamp != batch.max_timestamp for record in records):
                raise Fault(FaultKind.DIFFERS, "a record has a time of its own", "append time", "that of the batch")
        elif encode_records(records, batch.base_offset, batch.base_timestamp) != batch.payload(limit=LIMIT_BYTES):
            raise Fault(
                FaultKind.CHANGED, "its records are written back otherwise", "written otherwise", "the same bytes"
            )

    def _check_legacy(self, frame: Frame, batch: LegacyBatch, records: Sequence[Record]) -> None:
        checksum = zlib.crc32(batch.view[layout.MAGIC_AT :])
        if checksum != int.from_bytes(batch.view[layout.LOG_OVERHEAD : layout.MAGIC_AT], "big"):
            raise Fault(FaultKind.TAKEN, f"its checksum is {checksum:#010x}", "checksum", "refused")
        if batch.compression is not Compression.NONE:
            return
        try:
            row = decode_message(bytes(batch.view))
        except ValueError as error:
            raise Fault(FaultKind.TAKEN, f"its message: {error}", "message", "refused") from None
        if [row] != [(record.offset, record.timestamp, record.key, record.value) for record in records]:
            raise Fault(FaultKind.DIFFERS, f"the message {row} is read as {records}", "message", "as in the bytes")
        if frame.is_valid:
            out = bytearray()
            for record in records:
                append_message(out, [], batch.magic, 0, record.offset, record.key, record.value)
            if out != batch.view:
                raise Fault(FaultKind.CHANGED, "the message is written back otherwise", "written otherwise", "the same")


def open_target(options: TargetOptions) -> tuple[BatchTarget, BatchStream]:
    """Return the target and the batches of the seed."""
    return BatchTarget(), BatchStream(options.seed)


def _is_record_length(step: Step) -> bool:
    field = step.spot[3]
    return field is not None and field.attribute == "record_length"
