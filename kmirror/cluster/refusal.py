"""Error responses built from the schemas, with one error for the whole request.

This works for every API. The error is set at the top level of the response or, if that version has no error field
there, in one element for each element of the request. Names in request elements (topics, resources, keys) are copied,
so that a client can match the elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kmirror.protocol.careful import within
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
NOT_ANSWERED = ("forgotten_topics_data",)
"""Request arrays without counterpart in the response."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    """The error to set, and where."""

    version: int
    error: ErrorCode
    message: str
    in_rows: bool
    """True to set the error in the innermost elements even if the response has an error field above them."""


def refusal(request: Message, version: int, error: ErrorCode, message: str, *, in_rows: bool = False) -> Message:
    """Return the response to `request`, in `version`, that has `error` for the whole request.

    With `in_rows` the error is set in the elements named in the request (topics, partitions, resources) if they have an
    error field, even if the response has one at the top level too.
    """
    answer = by_key(key_of(type(request))).response()
    _fill(answer, request, _Refusal(version, error, message, in_rows))
    return answer


def error_row(like: Struct, version: int, error: ErrorCode, message: str) -> Struct:
    """Return a new response element of the class of `like`, with the names in `like` and with `error`."""
    row = type(like)()
    there = _fields(type(row), version)
    _blank(row, there, version)
    for name, field in there.items():
        if field.attribute == "topic_id" or field.entity == TOPIC_NAME or name in INDEXES:
            setattr(row, name, getattr(like, name))
    _say(row, there, error, message)
    return row


def has_row_errors(field: Field, version: int) -> bool:
    """Return whether the elements of a response array, or elements inside them, have an error field."""
    return field.type == "struct" and field.is_array and _has_error(field.struct, version)


def _fill(answer: Struct, asked: Struct, said: _Refusal) -> None:
    """Set the error in `answer`, the response to `asked`: in itself or in its elements."""
    there = _fields(type(answer), said.version)
    known = _fields(type(asked), said.version)
    for name, field in there.items():
        same = known.get(name) or _called_otherwise(field, known.values())
        if same is not None and _names(same) and (same.type, same.is_array) == (field.type, field.is_array):
            value = getattr(asked, same.attribute)
            if value is not None or within(said.version, field.nullable):
                setattr(answer, name, value)
    sources = {name: source for name, f in there.items() if (source := _source(f, known.values(), said.version))}
    if not (said.in_rows and sources) and _say(answer, there, said.error, said.message):
        return
    for name, source in sources.items():
        elements = getattr(asked, source.attribute) or ()
        setattr(answer, name, [_element(there[name], one, said) for one in elements])


def _called_otherwise(field: Field, asked: Iterable[Field]) -> Field | None:
    """Return the request field that identifies a partition or topic like `field`, but has a different name."""
    if field.attribute in INDEXES:
        return next((row for row in asked if row.attribute in INDEXES), None)
    if field.entity == TOPIC_NAME:
        return next((row for row in asked if row.entity == TOPIC_NAME and not row.is_array), None)
    return None


def _blank(element: Struct, there: Mapping[str, Field], version: int) -> None:
    """Set fields without a value as Kafka does: no broker, no offset, empty records."""
    for name, row in there.items():
        if row.type == "records" and not within(version, row.nullable):
            setattr(element, name, b"")
        elif row.is_array:
            continue
        elif row.entity == "brokerId":
            setattr(element, name, NO_BROKER)
        elif row.type == "int64" and ("offset" in name or name == "high_watermark"):
            setattr(element, name, NO_OFFSET)


def _fields(of: type[Struct], version: int) -> Mapping[str, Field]:
    return {field.attribute: field for field in of.FIELDS if within(version, field.versions)}


def _names(field: Field) -> bool:
    """Return whether a request field identifies its element."""
    if field.is_array or field.type == "struct":
        return False
    return field.map_key or field.type in ("string", "uuid") or bool(field.entity) or field.attribute in INDEXES


def _say(answer: Struct, there: Mapping[str, Field], error: ErrorCode, message: str) -> bool:
    """Set the error of `answer` itself; return False if it has no error field."""
    name = _error_field(there)
    if name is None:
        return False
    setattr(answer, name, error)
    if "error_message" in there:
        answer.error_message = message  # type: ignore[attr-defined]
    return True


def _error_field(there: Mapping[str, Field]) -> str | None:
    return next((name for name in there if name.endswith("error_code")), None)


def _has_error(of: type[Struct], version: int) -> bool:
    """Return whether a struct, or a struct inside it, has an error field."""
    there = _fields(of, version)
    return _error_field(there) is not None or any(
        field.type == "struct" and _has_error(field.struct, version) for field in there.values()
    )


def _source(field: Field, asked: Iterable[Field], version: int) -> Field | None:
    """Return the request array that corresponds to a response array: the one of the same name, or the only one."""
    if field.type != "struct" or not field.is_array or not _has_error(field.struct, version):
        return None
    arrays = [row for row in asked if row.is_array and row.attribute not in NOT_ANSWERED]
    found = [row for row in arrays if row.attribute == field.attribute] or arrays
    return found[0] if len(found) == 1 else None


def _element(field: Field, asked: Any, said: _Refusal) -> Struct:
    element: Struct = field.struct()
    there = _fields(field.struct, said.version)
    _blank(element, there, said.version)
    if isinstance(asked, Struct):
        _fill(element, asked, said)
    else:  # A bare value, such as a FindCoordinator key, identifies its element.
        setattr(element, next(iter(there)), asked)
        _say(element, there, said.error, said.message)
    return element
