"""Reader: our own decoder, and our own reader of record batches."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from kmirror.errors import CorruptBatch, LocalProtocolError, ProtocolError
from kmirror.fuzz.differential.verdicts import OURS, Verdict, refusal
from kmirror.fuzz.stream import Frame
from kmirror.records.batch import Batch, TornBatch
from kmirror.records.legacy import AnyBatch, iter_any_batches

LIMIT_BYTES = 1 << 24
"""Maximum size of a decompressed batch here, in bytes, as frames are small."""


class OurReader:
    """`Message.decode` and `iter_any_batches`, in their default strict mode."""

    name = "ours"
    version = "kmirror"

    def read(self, frame: Frame) -> Verdict:
        """Return the verdict."""
        return self._message(frame) if frame.message is not None else self._batches(frame.data)

    def _message(self, frame: Frame) -> Verdict:
        cls: Any = frame.message
        try:
            found = cls.decode(frame.data, frame.version)
        except ProtocolError as error:
            return refusal(error, is_typed=True, field=error.field)
        except Exception as error:
            return refusal(error, is_typed=False)
        try:
            rewritten = found.encode(frame.version)
        except LocalProtocolError:
            rewritten = None  # Kafka reads some bytes that it cannot write: text that is not UTF-8.
        return Verdict(OURS.struct(cls, frame.version, found), rewritten=rewritten)

    def _batches(self, data: bytes) -> Verdict:
        found = []
        try:
            for batch in iter_any_batches(data):
                batch.verify_crc()
                found.append(_batch(batch))
        except TornBatch:
            pass  # A consumer uses the whole batches, like Kafka's.
        except CorruptBatch as error:
            return refusal(error, is_typed=True)
        except Exception as error:
            return refusal(error, is_typed=False)
        return Verdict(found)

    def close(self) -> None:
        """Do nothing: there are no resources."""


def _batch(batch: AnyBatch) -> dict[str, Any]:
    records = [
        record_to_json(each.offset, each.timestamp, each.key, each.value, each.headers)
        for each in batch.records(limit=LIMIT_BYTES)
    ]
    if not isinstance(batch, Batch):
        return {"magic": batch.magic, "codec": int(batch.compression), "records": records}
    return {
        "magic": batch.magic,
        "codec": int(batch.compression),
        "baseOffset": batch.base_offset,
        "lastOffset": batch.last_offset,
        "timestampType": int(batch.timestamp_type),
        "maxTimestamp": batch.max_timestamp,
        "producerId": batch.producer_id,
        "producerEpoch": batch.producer_epoch,
        "baseSequence": batch.base_sequence,
        "isTransactional": batch.is_transactional,
        "isControl": batch.is_control,
        "records": records,
    }


def record_to_json(
    offset: int, timestamp: int, key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes | None]]
) -> dict[str, Any]:
    """Return a record as JSON."""
    return {
        "offset": offset,
        "timestamp": timestamp,
        "key": to_base64(key),
        "value": to_base64(value),
        "headers": [{"key": name, "value": to_base64(content)} for name, content in headers],
    }


def to_base64(data: bytes | None) -> str | None:
    """Return bytes as JSON: base64."""
    return None if data is None else base64.b64encode(data).decode("ascii")
