"""Reader: kio, which turns messages into dataclasses, with its compiled readers; its values are converted to JSON."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.metadata import version
from typing import Any

from kmirror.fuzz.differential.library import LibraryReader
from kmirror.fuzz.differential.our_reader import to_base64
from kmirror.fuzz.differential.verdicts import UNREPORTED, Form, fields_of, scalar_to_json, to_snake_case
from kmirror.fuzz.stream import Frame
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.structs import Field
from kmirror.records import layout

_MS = timedelta(milliseconds=1)
_EPOCH = datetime.fromtimestamp(0, UTC)


@cache
def _names(entity: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(entity))


def _scalar(field: Field, value: Any) -> Any:
    match value:
        case timedelta():
            return value // _MS
        case datetime():
            return (value - _EPOCH) // _MS
        case int() if field.type not in ("bool", "float64"):
            return int(value)  # An error code is an enum.
    return scalar_to_json(field, Uuid(value.bytes) if field.type == "uuid" else value)


_FORM = Form(
    lambda entity, fields: [getattr(entity, name) for name in _names(entity.__class__)],
    _scalar,
    {"uuid": str(Uuid.ZERO), "int64": -1},  # A time of -1 is None.
)


class KioReader(LibraryReader):
    """`kio.serial.entity_reader`, and `kio.records` for uncompressed batches of format 2."""

    name = "kio"
    form = _FORM

    def __init__(self) -> None:
        from kio.serial.errors import SerialError

        self.version = f"kio {version('kio')}"
        self.documented_errors = (SerialError, ValueError)

    def can_read(self, frame: Frame) -> bool:
        """Return whether kio has this message in this version, with the same fields."""
        message: Any = frame.message
        if message is not None:
            return _entity(message, frame.version) is not None
        head = frame.data[: layout.RECORDS_AT]
        is_whole = frame.version == layout.MAGIC_V2 and len(head) == layout.RECORDS_AT
        return is_whole and head[layout.ATTRIBUTES_AT + 1] & layout.COMPRESSION_MASK == 0

    def batches(self, data: bytes) -> list[dict[str, Any]]:
        """Return the record batches as JSON."""
        from kio.records.readers import read_batch

        found, at = [], 0
        while at < len(data):
            batch, size = read_batch(data, at)
            found.append(_batch(batch))
            at += size
        return found

    def message(self, cls: Any, version: int, data: bytes) -> Any:
        """Return the entity."""
        from kio.serial import entity_reader

        return entity_reader(_entity(cls, version))(data, 0)[0]


@cache
def _entity(message: Any, version: int) -> Any:
    from kio.index import UnknownEntity, load_entity_schema
    from kio.static.constants import EntityType

    kinds = {"request": EntityType.request, "response": EntityType.response}
    kind: Any = kinds.get(message.TYPE, EntityType.data)
    name = to_snake_case(message.NAME.removesuffix(message.TYPE.capitalize()))
    try:
        entity = load_entity_schema(name, version, kind)
    except UnknownEntity:
        return None
    return entity if _is_same(message, version, entity) else None


def _is_same(cls: Any, version: int, entity: Any) -> bool:
    """Return whether kio's entity has the same number of fields as the struct, at every depth."""
    from kio.serial._introspect import classify_field

    fields, theirs = fields_of(cls, version), dataclasses.fields(entity)
    return len(fields) == len(theirs) and all(
        field.type != "struct" or _is_same(field.struct, version, classify_field(their).type_)
        for field, their in zip(fields, theirs, strict=True)
    )


def _batch(batch: Any) -> dict[str, Any]:
    records = [
        {
            "offset": record.offset,
            "timestamp": UNREPORTED,  # kio drops its milliseconds.
            "key": to_base64(record.key),
            "value": to_base64(record.value),
            "headers": [
                {"key": None if header.key is None else header.key.decode(), "value": to_base64(header.value)}
                for header in record.headers
            ],
        }
        for record in batch.records
    ]
    return {
        **dict.fromkeys(("codec", "timestampType", "isTransactional", "isControl"), UNREPORTED),
        "magic": batch.magic,
        "baseOffset": batch.base_offset,
        "lastOffset": batch.base_offset + batch.last_offset_delta,
        "maxTimestamp": batch.max_timestamp,
        "producerId": batch.producer_id,
        "producerEpoch": batch.producer_epoch,
        "baseSequence": batch.base_sequence,
        "records": records,
    }
