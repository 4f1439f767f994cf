"""Reader: aiokafka, with its structs for each version of a message, and its compiled readers of records."""

from __future__ import annotations

import pkgutil
import struct
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module, metadata
from typing import Any

from kmirror.errors import CorruptBatch
from kmirror.fuzz.differential.client_records import batches
from kmirror.fuzz.differential.library import LibraryReader
from kmirror.fuzz.differential.verdicts import UNREPORTED, Form, fields_of, scalar_to_json
from kmirror.fuzz.stream import Frame
from kmirror.protocol.structs import Field

_TAGS = "TaggedFields"
# It has a struct where Kafka has two fields; the bytes are the same.
_NESTED_OTHERWISE = ("CreatePartitionsRequest",)


def _values(found: Any, fields: Sequence[Field]) -> list[Any]:
    """Return the values in order: a nested struct is a tuple, or its only field."""
    schema = getattr(found, "SCHEMA", None)
    if schema is not None:
        found = [getattr(found, name) for name in schema.names]
    left = iter(found if schema is not None or isinstance(found, tuple) else [found])
    return [UNREPORTED if field.is_tag_only else next(left) for field in fields]


_FORM = Form(_values, scalar_to_json)


class AiokafkaReader(LibraryReader):
    """`Struct.decode` of `aiokafka.protocol`, and `aiokafka.record.memory_records`. Tagged fields stay bytes there."""

    name = "aiokafka"
    form = _FORM

    def __init__(self) -> None:
        from aiokafka.errors import KafkaError

        self.version = f"aiokafka {metadata.version('aiokafka')}"
        self.documented_errors = (ValueError, struct.error, KafkaError, CorruptBatch)

    def can_read(self, frame: Frame) -> bool:
        """Return whether its clients use this message in this version."""
        message: Any = frame.message
        return message is None or _class(message, frame.version) is not None

    def batches(self, data: bytes) -> list[dict[str, Any]]:
        """Return the record batches as JSON."""
        return batches(self.name, data)

    def message(self, cls: Any, version: int, data: bytes) -> Any:
        """Return the struct."""
        return _class(cls, version).decode(data)

    def to_json(self, cls: Any, version: int, found: Any) -> Any:
        """Return the struct as JSON, or a text if its schema has other fields."""
        theirs = _class(cls, version)
        if not _is_same(cls, version, theirs.SCHEMA):
            return f"{theirs.__name__} with other fields: {', '.join(theirs.SCHEMA.names)}"
        return super().to_json(cls, version, found)


@cache
def _classes() -> Mapping[tuple[int, int, bool], Any]:
    """Return the structs that its clients use, by API key, version, and whether it is a request.

    It has more structs, for versions that it never sends.
    """
    from aiokafka import protocol
    from aiokafka.protocol.api import Request

    for module in pkgutil.iter_modules(protocol.__path__):
        import_module(f"aiokafka.protocol.{module.name}")
    found: dict[tuple[int, int, bool], Any] = {}
    for request in Request.__subclasses__():
        for each in request._CLASSES:
            found[each.API_KEY, each.API_VERSION, True] = each
            found[each.API_KEY, each.API_VERSION, False] = each.RESPONSE_TYPE
    return found


@cache
def _class(message: Any, version: int) -> Any:
    if message.TYPE not in ("request", "response"):
        return None
    if message.NAME in _NESTED_OTHERWISE:
        return None
    return _classes().get((message.API_KEY, version, message.TYPE == "request"))


def _is_same(cls: Any, version: int, schema: Any) -> bool:
    """Return whether aiokafka's schema has the same number of fields, with structs and arrays in the same places.

    Types are not compared: the bytes show them.
    """
    fields = [field for field in fields_of(cls, version) if not field.is_tag_only]
    if not hasattr(schema, "fields"):
        return len(fields) == 1  # A struct with one field is that field.
    theirs = [each for each in schema.fields if getattr(each, "__name__", "") != _TAGS]
    return len(fields) == len(theirs) and all(
        _is_same_field(field, version, their) for field, their in zip(fields, theirs, strict=True)
    )


def _is_same_field(field: Field, version: int, their: Any) -> bool:
    inner = getattr(their, "array_of", None)
    if (inner is not None) is not field.is_array:
        return False
    inner = their if inner is None else inner
    return _is_same(field.struct, version, inner) if field.type == "struct" else not hasattr(inner, "fields")
