"""Error responses built from the schemas, with one error for the whole request.

This works for every API. The error is set at the top level of the response or, if that version has no error field
there, in one element for each element of the request. Names in request elements (topics, resources, keys) are copied,
so that a client can match the elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kmirror.protocol.careful import is_within
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_key, key_of
from kmirror.protocol.structs import Field, Struct
from kmirror.spec.error_codes import ErrorCode

NO_BROKER = -1
"""Broker id in a response element that names no broker."""
NO_OFFSET = -1
"""Offset in a response element that has none."""
INDEXES = ("index", "partition", "partition_index", "partition_id")
"""Integer fields that identify something; other numbers are not copied."""
TOPIC_NAME = "topicName"
"""Entity type of a field that holds a topic name."""
NOT_IN_RESPONSE = ("forgotten_topics_data",)
"""Request arrays without counterpart in the response."""


@dataclass(frozen=True, slots=True)
class _ErrorSpec:
    """The error to set, and the place where to set it."""

    version: int
    error: ErrorCode
    message: str
    in_rows: bool
    """True to set the error in the innermost elements even if the response has an error field above them."""


def error_response(request: Message, version: int, error: ErrorCode, message: str, *, in_rows: bool = False) -> Message:
    """Return the response to `request`, in `version`, that has `error` for the whole request.

    With `in_rows` the error is set in the elements named in the request (topics, partitions, resources) if they have an
    error field, even if the response has one at the top level too.
    """
    response = by_key(key_of(type(request))).response()
    _fill(response, request, _ErrorSpec(version, error, message, in_rows))
    return response


def error_row(element: Struct, version: int, error: ErrorCode, message: str) -> Struct:
    """Return a new response element of the class of `element`, with the names in `element` and with `error`."""
    row = type(element)()
    fields = _fields(type(row), version)
    _set_defaults(row, fields, version)
    for name, field in fields.items():
        if field.attribute == "topic_id" or field.entity == TOPIC_NAME or name in INDEXES:
            setattr(row, name, getattr(element, name))
    _set_error(row, fields, error, message)
    return row


def has_row_errors(field: Field, version: int) -> bool:
    """Return whether the elements of a response array, or elements inside them, have an error field."""
    return field.type == "struct" and field.is_array and _has_error(field.struct, version)


def _fill(response: Struct, request: Struct, spec: _ErrorSpec) -> None:
    """Set the error in `response`, the response to `request`: in itself or in its elements."""
    fields = _fields(type(response), spec.version)
    request_fields = _fields(type(request), spec.version)
    for name, field in fields.items():
        request_field = request_fields.get(name) or _field_with_other_name(field, request_fields.values())
        if (
            request_field is not None
            and _identifies(request_field)
            and (request_field.type, request_field.is_array) == (field.type, field.is_array)
        ):
            value = getattr(request, request_field.attribute)
            if value is not None or is_within(spec.version, field.nullable):
                setattr(response, name, value)
    sources = {
        name: source for name, f in fields.items() if (source := _source(f, request_fields.values(), spec.version))
    }
    if not (spec.in_rows and sources) and _set_error(response, fields, spec.error, spec.message):
        return
    for name, source in sources.items():
        elements = getattr(request, source.attribute) or ()
        setattr(response, name, [_element(fields[name], element, spec) for element in elements])


def _field_with_other_name(field: Field, request: Iterable[Field]) -> Field | None:
    """Return the request field that identifies a partition or topic like `field`, but has a different name."""
    if field.attribute in INDEXES:
        return next((row for row in request if row.attribute in INDEXES), None)
    if field.entity == TOPIC_NAME:
        return next((row for row in request if row.entity == TOPIC_NAME and not row.is_array), None)
    return None


def _set_defaults(element: Struct, fields: Mapping[str, Field], version: int) -> None:
    """Set fields without a value as Kafka does: no broker, no offset, empty records."""
    for name, row in fields.items():
        if row.type == "records" and not is_within(version, row.nullable):
            setattr(element, name, b"")
        elif row.is_array:
            continue
        elif row.entity == "brokerId":
            setattr(element, name, NO_BROKER)
        elif row.type == "int64" and ("offset" in name or name == "high_watermark"):
            setattr(element, name, NO_OFFSET)


def _fields(struct_class: type[Struct], version: int) -> Mapping[str, Field]:
    return {field.attribute: field for field in struct_class.FIELDS if is_within(version, field.versions)}


def _identifies(field: Field) -> bool:
    """Return whether a request field identifies its element."""
    if field.is_array or field.type == "struct":
        return False
    return field.map_key or field.type in ("string", "uuid") or bool(field.entity) or field.attribute in INDEXES


def _set_error(response: Struct, fields: Mapping[str, Field], error: ErrorCode, message: str) -> bool:
    """Set the error of `response` itself; return False if it has no error field."""
    name = _error_field(fields)
    if name is None:
        return False
    setattr(response, name, error)
    if "error_message" in fields:
        response.error_message = message  # type: ignore[attr-defined]
    return True


def _error_field(fields: Mapping[str, Field]) -> str | None:
    return next((name for name in fields if name.endswith("error_code")), None)


def _has_error(struct_class: type[Struct], version: int) -> bool:
    """Return whether a struct, or a struct inside it, has an error field."""
    fields = _fields(struct_class, version)
    return _error_field(fields) is not None or any(
        field.type == "struct" and _has_error(field.struct, version) for field in fields.values()
    )


def _source(field: Field, request: Iterable[Field], version: int) -> Field | None:
    """Return the request array that corresponds to a response array: the one of the same name, or the only one."""
    if field.type != "struct" or not field.is_array or not _has_error(field.struct, version):
        return None
    arrays = [row for row in request if row.is_array and row.attribute not in NOT_IN_RESPONSE]
    found = [row for row in arrays if row.attribute == field.attribute] or arrays
    return found[0] if len(found) == 1 else None


def _element(field: Field, request: Any, spec: _ErrorSpec) -> Struct:
    element: Struct = field.struct()
    fields = _fields(field.struct, spec.version)
    _set_defaults(element, fields, spec.version)
    if isinstance(request, Struct):
        _fill(element, request, spec)
    else:  # A bare value, such as a FindCoordinator key, identifies its element.
        setattr(element, next(iter(fields)), request)
        _set_error(element, fields, spec.error, spec.message)
    return element
