"""The answer to a request that a node understands but must not serve: one error, in each part that has a field for it.

It is built from the schemas alone, so it works for every API: the error stands at the top of the answer or, if that
version has no error there, in one element for each element of the request. What an element names (a topic, a
resource, a key) is repeated, so that a client finds its answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kmirror.protocol.careful import within
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_key, key_of
from kmirror.protocol.structs import Field, Struct
from kmirror.spec.error_codes import ErrorCode

NO_BROKER = -1
"""The broker id in an answer that names no broker."""
INDEXES = ("index", "partition", "partition_index")
"""Integer fields that name something; other numbers are not repeated."""


def refusal(request: Message, version: int, error: ErrorCode, message: str) -> Message:
    """Return the answer to `request`, in `version`, that has `error` for all of it."""
    answer = by_key(key_of(type(request))).response()
    _fill(answer, request, version, error, message)
    return answer


def _fill(answer: Struct, asked: Struct, version: int, error: ErrorCode, message: str) -> None:
    """Set `error` in `answer`, which replies to `asked`; in its elements only if it has no error field of its own."""
    there = _fields(type(answer), version)
    known = _fields(type(asked), version)
    for name, field in there.items():
        same = known.get(name)
        if same is not None and _names(same) and (same.type, same.is_array) == (field.type, field.is_array):
            setattr(answer, name, getattr(asked, name))
    if _say(answer, there, error, message):
        return
    for name, field in there.items():
        source = _source(field, known.values(), version)
        if source is not None:
            elements = getattr(asked, source.attribute) or ()
            setattr(answer, name, [_element(field, one, version, error, message) for one in elements])


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
    arrays = [row for row in asked if row.is_array]
    found = [row for row in arrays if row.attribute == field.attribute] or arrays
    return found[0] if len(found) == 1 else None


def _element(field: Field, asked: Any, version: int, error: ErrorCode, message: str) -> Struct:
    element: Struct = field.struct()
    there = _fields(field.struct, version)
    for name, row in there.items():
        if row.entity == "brokerId":
            setattr(element, name, NO_BROKER)
    if isinstance(asked, Struct):
        _fill(element, asked, version, error, message)
    else:  # A bare value, such as a key of FindCoordinator, is the name of its element.
        setattr(element, next(iter(there)), asked)
        _say(element, there, error, message)
    return element
