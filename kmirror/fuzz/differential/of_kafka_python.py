"""kafka-python: the classes of its protocol modules, and its readers of records."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

from kmirror.errors import CorruptBatch
from kmirror.fuzz.differential.client_records import batches
from kmirror.fuzz.differential.verdicts import LEFT_OUT, Form, Verdict, plain, refused, snake
from kmirror.fuzz.stream import Frame
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.structs import Field
from kmirror.records import layout

_MODULES = ("metadata", "consumer", "producer", "admin", "sasl")
# Fields that it has under another name.
_RENAMED = {
    "topic_authorized_operations": "authorized_operations",
    "cluster_authorized_operations": "authorized_operations",
}
_NO_OPERATIONS = -(1 << 31)


def _values(found: Any, fields: Sequence[Field]) -> list[Any]:
    return [_value(found, field) for field in fields]


def _value(found: Any, field: Field) -> Any:
    name = snake(field.name)
    own = found._struct.fields
    name = name if name in own else _RENAMED.get(name, name)
    value = getattr(found, name)
    # A tagged struct that was not sent is None.
    return LEFT_OUT if value is None and field.type == "struct" and field.tag >= 0 else value


def _scalar(field: Field, value: Any) -> Any:
    if isinstance(value, set):  # Bits of an int32.
        bits = sum(1 << bit for bit in value)
        return bits - (1 << 32) if bits >= 1 << 31 else bits
    return plain(field, Uuid(value.bytes) if field.type == "uuid" else value)


_FORM = Form(_values, _scalar, {"uuid": str(Uuid.ZERO), "int32": _NO_OPERATIONS})


class KafkaPythonReader:
    """`kafka.protocol`'s `ApiMessage.decode`, and `kafka.record.memory_records`."""

    name = "kafka-python"

    def __init__(self) -> None:
        from kafka.errors import KafkaError

        self.version = f"kafka-python {version('kafka-python')}"
        # What its parser of answers expects; others pass through it.
        self._typed = (ValueError, struct.error, KafkaError, CorruptBatch)

    def _is_known(self, frame: Frame) -> bool:
        """Return whether it has this message in this version."""
        message: Any = frame.message
        if message is None:
            # For lz4 in messages of format 0 it wants another package, xxhash.
            return frame.version > 0 or frame.data[layout.MAGIC_AT + 1 : layout.MAGIC_AT + 2] != b"\3"
        found = _class(message)
        return found is not None and frame.version <= found.max_version

    def read(self, frame: Frame) -> Verdict | None:
        """Return what became of the frame, None if it is no message that is known."""
        if not self._is_known(frame):
            return None
        cls: Any = frame.message
        try:
            if cls is None:
                return Verdict(batches(self.name, frame.data))
            theirs = _class(cls)
            more = {} if cls.TYPE in ("request", "response") else {"header": False}
            found = theirs.decode(frame.data, version=frame.version, **more)
        except Exception as error:
            return refused(error, is_typed=isinstance(error, self._typed))
        return Verdict(_FORM.struct(cls, frame.version, found))

    def close(self) -> None:
        """Nothing is held."""


@cache
def _class(message: Any) -> Any:
    for module in _MODULES:
        found = getattr(import_module(f"kafka.protocol.{module}"), message.NAME, None)
        if found is not None:
            return found
    return None
