"""Our reader of record batches as a target: formats 0 to 2, every codec, every way in which records are read.

Any bytes are batches or a `CorruptBatch`. All readers agree on what the records are: the quick one, the one that makes
views, and the outline that a leader takes of a batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.errors import CorruptBatch
from kmirror.fuzz.batches import BatchStream
from kmirror.fuzz.findings import Fault, Kind, raised
from kmirror.fuzz.stream import Frame
from kmirror.fuzz.target import Stateless
from kmirror.fuzz.targets.decoder import TAKEN
from kmirror.fuzz.targets.rows import Wanted
from kmirror.kernel.java import wrap_int64
from kmirror.records.batch import Batch
from kmirror.records.legacy import iter_any_batches
from kmirror.records.outline import outline
from kmirror.records.record import Record
from kmirror.records.views import iter_views

LIMIT_BYTES = 1 << 20
"""What a batch may unpack to here: a frame is small."""
_VIEWS_EVERY = 4


class BatchTarget(Stateless):
    """`iter_any_batches` and what can be asked of each batch."""

    name = "batch"

    def judge(self, frame: Frame) -> str:
        """Return "taken" or what was wrong, without numbers; raises `Fault`."""
        try:
            for batch in iter_any_batches(frame.data):
                batch.verify_crc()
                records = list(batch.records(limit=LIMIT_BYTES))
                if isinstance(batch, Batch) and frame.number % _VIEWS_EVERY == 0:
                    self._as_others_read(batch, records)
        except CorruptBatch as error:
            if frame.is_valid:
                raise Fault(Kind.REFUSED, f"a valid batch: {error}", "a valid batch", "taken") from None
            return _without_numbers(str(error))
        except Fault:
            raise
        except Exception as error:
            raise raised(error) from error
        return TAKEN

    def _as_others_read(self, batch: Batch, records: Sequence[Record]) -> None:
        viewed = [view.decode() for view in iter_views(batch, limit=LIMIT_BYTES)]
        if viewed != records:
            raise Fault(Kind.DIFFERS, f"{len(records)} records, and other ones as views", "views", "the same records")
        seen = outline(batch.payload(limit=LIMIT_BYTES), 0, batch.record_count)
        if seen is None:
            return  # A leader then decodes the records.
        offsets = [wrap_int64(record.offset - batch.base_offset) for record in records]
        told = (offsets == list(range(len(records))), all(record.key is not None for record in records))
        if told != (seen.is_numbered, seen.has_keys):
            raise Fault(
                Kind.DIFFERS, f"{seen} of records with (numbered, keys) {told}", "outline", "what the records say"
            )


def open_target(wanted: Wanted) -> tuple[BatchTarget, BatchStream]:
    """Return the target and the batches of the seed."""
    return BatchTarget(), BatchStream(wanted.seed)


def _without_numbers(text: str) -> str:
    """Return how the text begins: the same for any offset, size or checksum."""
    return " ".join(word for word in text.split()[:8] if word.isalpha())
