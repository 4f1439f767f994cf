"""Record batches in the JSON of decoded messages: Produce requests, Fetch and ShareFetch responses.

Rule 1: a list of batches replaces the base64 of the JSON form, with the field names of kafka-dump-log, each batch with
its records.
Rule 2: a batch of an aborted transaction is marked, if the response's own list of aborted transactions has it.
Rule 3: a response may end inside a batch, which clients ignore: that is reported, but no error. In a request it is an
error, and so are a wrong checksum and bytes that are not a batch; readable data is still shown.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any, Final

from kmirror.cli.record_json import payload, utc_or_none
from kmirror.errors import CorruptBatch
from kmirror.log.committed import with_aborted
from kmirror.protocol.json_form import json_name
from kmirror.protocol.structs import Struct
from kmirror.records.batch import Batch, TornBatch
from kmirror.records.control import ControlRecord
from kmirror.records.layout import TIMESTAMP_NAMES, Buffer
from kmirror.records.legacy import AnyBatch, iter_any_batches
from kmirror.records.record import Record

RECORDS: Final = "Records"
"""Field that begins with a batch; UnalignedRecords of a KRaft snapshot may begin inside one."""


class RecordsInJson:
    """Replaces the base64 of records in a message's JSON by batches; `faults` lists their errors.

    With `may_end_inside` the last batch may be truncated.
    """

    def __init__(self, *, may_end_inside: bool) -> None:
        self.faults: list[str] = []
        self._may_end_inside = may_end_inside

    def replace_records(self, struct: Struct, json_object: dict[str, Any], path: str = "") -> None:
        """Replace the records in `json_object`, the JSON form of `struct` at `path`, and in its nested structs."""
        for field in struct.FIELDS:
            name, value = json_name(field.name), getattr(struct, field.attribute)
            field_path = f"{path}.{name}" if path else name
            if value is None or name not in json_object:
                continue
            if field.name == RECORDS:
                aborted = getattr(struct, "aborted_transactions", None)
                pairs = (
                    None
                    if aborted is None
                    else [(transaction.producer_id, transaction.first_offset) for transaction in aborted]
                )
                json_object[name] = list(self._batches(value, pairs, field_path))
            elif field.type == "struct" and field.is_array:
                for index, (item, inner) in enumerate(zip(value, json_object[name], strict=True)):
                    self.replace_records(item, inner, f"{field_path}[{index}]")
            elif field.type == "struct":
                self.replace_records(value, json_object[name], field_path)

    def _batches(self, data: Buffer, aborted: list[tuple[int, int]] | None, path: str) -> Iterator[dict[str, Any]]:
        view, position = memoryview(data), 0
        try:
            for index, (batch, is_aborted) in enumerate(with_aborted(iter_any_batches(view), aborted or ())):
                yield self._batch(batch, f"{path}[{index}]", None if aborted is None else is_aborted)
                position = batch.position + batch.size_in_bytes
        except CorruptBatch as error:
            name = "incomplete" if self._may_end_inside and isinstance(error, TornBatch) else "fault"
            if name == "fault":
                self.faults.append(f"{path}, byte {position} of the records: {error.reason}")
            yield {name: error.reason, "position": position, "base64": base64.b64encode(view[position:]).decode()}

    def _batch(self, batch: AnyBatch, path: str, is_aborted: bool | None) -> dict[str, Any]:
        json_object = _header(batch)
        if is_aborted is not None:
            json_object["isAborted"] = is_aborted
        try:
            batch.verify_crc()
        except CorruptBatch as error:
            json_object["isValid"] = False
            self.faults.append(f"{path}: {error.reason}")
        try:
            json_object["records"] = [_record(batch, record) for record in batch.records()]
        except CorruptBatch as error:
            if json_object["isValid"]:
                self.faults.append(f"{path}: {error.reason}")
            json_object |= {"records": None, "fault": error.reason}
        return json_object


def _header(batch: AnyBatch) -> dict[str, Any]:
    """Return the fields of the header, with the names of kafka-dump-log."""
    fields: dict[str, Any] = {"lastOffset": batch.last_offset}
    if isinstance(batch, Batch):
        fields = {
            "baseOffset": batch.base_offset,
            "lastOffset": batch.last_offset,
            "count": batch.record_count,
            "baseSequence": batch.base_sequence,
            "lastSequence": batch.last_sequence,
            "producerId": batch.producer_id,
            "producerEpoch": batch.producer_epoch,
            "partitionLeaderEpoch": batch.partition_leader_epoch,
            "isTransactional": batch.is_transactional,
            "isControl": batch.is_control,
            "deleteHorizonMs": batch.delete_horizon_ms,
        }
    return fields | {
        "timestampType": TIMESTAMP_NAMES[batch.timestamp_type],
        "maxTimestamp": batch.max_timestamp,
        "size": batch.size_in_bytes,
        "magic": batch.magic,
        "compression": batch.compression.name.lower(),
        "crc": batch.crc,
        "isValid": True,
    }


def _record(batch: AnyBatch, record: Record) -> dict[str, Any]:
    json_object: dict[str, Any] = {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestampUtc": utc_or_none(record.timestamp),
        **payload("key", record.key, "keyBase64"),
        **payload("value", record.value, "valueBase64"),
        "headers": [{"key": name, **payload("value", value, "valueBase64")} for name, value in record.headers],
    }
    control = batch.control() if batch.is_control else None
    return json_object if control is None else json_object | {"control": _control(control)}


def _control(control: ControlRecord) -> dict[str, Any]:
    identity = {"coordinatorEpoch": control.coordinator_epoch, "sourceClusterId": control.source_cluster_id}
    name = f"UNKNOWN({control.type_id})" if control.type is None else control.type.name
    return {"type": name} | {key: value for key, value in identity.items() if value is not None}
