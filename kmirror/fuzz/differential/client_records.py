"""Record batches read with kafka-python and aiokafka, whose readers have a common origin."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from kmirror.errors import CorruptBatch
from kmirror.fuzz.differential.our_reader import record_to_json
from kmirror.fuzz.differential.verdicts import UNREPORTED
from kmirror.records import layout

_PACKAGES = {"kafka-python": "kafka", "aiokafka": "aiokafka"}


def batches(name: str, data: bytes) -> list[dict[str, Any]]:
    """Return the batches of `data` as the named package reads them; raises the errors that it raises.

    As in its consumer, each batch's checksum is checked first; a wrong one raises `CorruptBatch`.
    """
    memory_records = import_module(f"{_PACKAGES[name]}.record.memory_records").MemoryRecords
    found = []
    rest = memory_records(data)
    while (batch := rest.next_batch()) is not None:
        if not batch.validate_crc():
            raise CorruptBatch("its checksum is not that of the batch")
        found.append(_batch(batch))
    return found


def _batch(batch: Any) -> dict[str, Any]:
    is_legacy = "Legacy" in type(batch).__name__
    records = [
        record_to_json(
            each.offset,
            layout.NO_TIMESTAMP if each.timestamp is None else each.timestamp,
            each.key,
            each.value,
            each.headers,
        )
        for each in batch
    ]
    if is_legacy:
        return {"magic": UNREPORTED, "codec": UNREPORTED, "records": records}
    return {
        "magic": batch.magic,
        "codec": batch.compression_type,
        "baseOffset": batch.base_offset,
        "lastOffset": batch.next_offset - 1,
        "timestampType": batch.timestamp_type,
        "maxTimestamp": batch.max_timestamp,
        "producerId": batch.producer_id,
        "producerEpoch": batch.producer_epoch,
        "baseSequence": batch.base_sequence,
        "isTransactional": batch.is_transactional,
        "isControl": batch.is_control_batch,
        "records": records,
    }
