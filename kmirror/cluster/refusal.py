"""The answer to a request that a node understands but must not serve: one error, in each part that has a field for it.

It is built from the schemas alone, so it works for every API: the error stands at the top of the answer or, if that
version has no error there, in one element for each element of the request. What an element names (a topic, a
resource, a key) is repeated, so that a client finds its answer.
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
"""The broker id in an answer that names no broker."""
NO_OFFSET = -1
"""The offset in an answer that has none."""
INDEXES = ("index", "partition", "partition_index", "partition_id")
"""Integer fields that name something; other numbers are not repeated."""
TOPIC_NAME = "topicName"
"""The entity of a field that holds the name of a topic."""
NOT_ANSWERED = ("forgotten_topics_data",)
"""Arrays of a request to whose elements nothing is answered."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    """What is said, and where."""

    version: int
    error: ErrorCode
    message: str
    in_rows: bool
    """Say it as far inside as the request goes, also below an error field."""


def refusal(request: Message, version: int, error: ErrorCode, message: str, *, in_rows: bool = False) -> Message:
    """Return the answer to `request`, in `version`, that has `error` for all of it.

    With `in_rows` it stands at what the request names (topics, partitions, resources) if that has a field for it,
    although there is a field at the top of the answer as well.
    """
    answer = by_key(key_of(type(request))).response()
    _fill(answer, request, _Refusal(version, error, message, in_rows))
    return answer


def error_row(like: Struct, version: int, error: ErrorCode, message: str) -> Struct:
    """Return an element of an answer that names what `like` names, of the same class, and says `error` instead."""
    row = type(like)()
    there = _fields(type(row), version)
    _blank(row, there, version)
    for name, field in there.items():
        if field.attribute == "topic_id" or field.entity == TOPIC_NAME or name in INDEXES:
            setattr(row, name, getattr(like, name))
    _say(row, there, error, message)
    return row


def has_row_errors(field: Field, version: int) -> bool:
    """Return whether the elements of an array of an answer, or elements inside them, have an error field."""
    return field.type == "struct" and field.is_array and _has_error(field.struct, version)


def _fill(answer: Struct, asked: Struct, said: _Refusal) -> None:
    """Set the error in `answer`, which replies to `asked`: in itself or in its elements."""
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
    """Return the field of a request that names a partition or a topic as `field` of the answer does, in other words."""
    if field.attribute in INDEXES:
        return next((row for row in asked if row.attribute in INDEXES), None)
    if field.entity == TOPIC_NAME:
        return next((row for row in asked if row.entity == TOPIC_NAME and not row.is_array), None)
    return None


def _blank(element: Struct, there: Mapping[str, Field], version: int) -> None:
    """Let an element that has nothing to tell name no broker and no offset, as Kafka's do, and have no records."""
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
    """Return whether a request's field names what the element is about."""
    if field.is_array or field.type == "struct":
        return False
    return field.map_key or field.type in ("string", "uuid") or bool(field.entity) or field.attribute in INDEXES


def _say(answer: Struct, there: Mapping[str, Field], error: ErrorCode, message: str) -> bool:
    """Set the error of `answer` itself; False if it has none."""
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
    """Return the array of the request that an array of the answer replies to: the one of its name, or the only one."""
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
    else:  # A bare value, such as a key of FindCoordinator, is the name of its element.
        setattr(element, next(iter(there)), asked)
        _say(element, there, said.error, said.message)
    return element
