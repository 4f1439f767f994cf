"""Reader: kafka-python, with the classes of its protocol modules, and its readers of records."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

from kmirror.errors import CorruptBatch
from kmirror.fuzz.differential.client_records import batches
from kmirror.fuzz.differential.library import LibraryReader
from kmirror.fuzz.differential.verdicts import LEFT_OUT, Form, scalar_to_json, to_snake_case
from kmirror.fuzz.stream import Frame
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.structs import Field
from kmirror.records import layout

_MODULES = ("metadata", "consumer", "producer", "admin", "sasl")
# Fields with another name there.
_RENAMED = {
    "topic_authorized_operations": "authorized_operations",
    "cluster_authorized_operations": "authorized_operations",
}
_NO_OPERATIONS = -(1 << 31)


def _values(found: Any, fields: Sequence[Field]) -> list[Any]:
    return [_value(found, field) for field in fields]


def _value(found: Any, field: Field) -> Any:
    name = to_snake_case(field.name)
    fields = found._struct.fields
    name = name if name in fields else _RENAMED.get(name, name)
    value = getattr(found, name)
    # A tagged struct that was not sent is None.
    return LEFT_OUT if value is None and field.type == "struct" and field.tag >= 0 else value


def _scalar(field: Field, value: Any) -> Any:
    if isinstance(value, set):  # Bits of an int32.
        bits = sum(1 << bit for bit in value)
        return bits - (1 << 32) if bits >= 1 << 31 else bits
    return scalar_to_json(field, Uuid(value.bytes) if field.type == "uuid" else value)


_FORM = Form(_values, _scalar, {"uuid": str(Uuid.ZERO), "int32": _NO_OPERATIONS})


class KafkaPythonReader(LibraryReader):
    """`kafka.protocol`'s `ApiMessage.decode`, and `kafka.record.memory_records`."""

    name = "kafka-python"
    form = _FORM

    def __init__(self) -> None:
        from kafka.errors import KafkaError

        self.version = f"kafka-python {version('kafka-python')}"
        # The errors that its response parser expects; others pass through it.
        self.documented_errors = (ValueError, struct.error, KafkaError, CorruptBatch)

    def can_read(self, frame: Frame) -> bool:
        """Return whether it has this message in this version."""
        message: Any = frame.message
        if message is None:
            # For lz4 in format 0 it needs the package xxhash.
            return frame.version > 0 or frame.data[layout.MAGIC_AT + 1 : layout.MAGIC_AT + 2] != b"\3"
        found = _class(message)
        return found is not None and frame.version <= found.max_version

    def batches(self, data: bytes) -> list[dict[str, Any]]:
        """Return the record batches as JSON."""
        return batches(self.name, data)

    def message(self, cls: Any, version: int, data: bytes) -> Any:
        """Return the message."""
        options = {} if cls.TYPE in ("request", "response") else {"header": False}
        return _class(cls).decode(data, version=version, **options)


@cache
def _class(message: Any) -> Any:
    for module in _MODULES:
        found = getattr(import_module(f"kafka.protocol.{module}"), message.NAME, None)
        if found is not None:
            return found
    return None
