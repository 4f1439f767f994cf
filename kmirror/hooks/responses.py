"""Responses in which some rows have errors set by hooks, and the others are the broker's."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kmirror.cluster.error_response import INDEXES, TOPIC_NAME, error_response, error_row, has_row_errors
from kmirror.hooks.received import Row
from kmirror.hooks.requests import RequestRows, index_of, topic_of
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.careful import is_within
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_key
from kmirror.protocol.structs import Field, Struct
from kmirror.spec.error_codes import ErrorCode

THROTTLE = "throttle_time_ms"
ErrorAt = Callable[[str | None, int | None], tuple[ErrorCode, str] | None]
"""Returns the error and the text that a hook has for a row; None for a row of the broker."""


def can_have_row_errors(response: type[Struct], version: int) -> bool:
    """Return whether the topics or partitions of a response, or of its elements, have error codes of their own."""
    fields = (
        field for field in response.FIELDS if is_within(version, field.versions) and has_row_errors(field, version)
    )
    return any(_is_topic_array(field) or can_have_row_errors(field.struct, version) for field in fields)


def with_row_errors(request_rows: RequestRows, response: Message | None, error_at: ErrorAt) -> Message:
    """Return the broker's response (None if it got no request), with the hooks' errors in some rows.

    A row with such an error has no other content; a requested row that is missing is added.
    """
    version = request_rows.head.api_version
    result = by_key(request_rows.head.api_key).response() if response is None else response
    if isinstance(result, MetadataResponse) and not request_rows.requests_all:
        _remove_unrequested(request_rows, result)
    _overwrite(result, version, request_rows.names, error_at)
    errors: dict[tuple[ErrorCode, str], dict[Row, None]] = {}
    for row in () if request_rows.requests_all and response is not None else request_rows.rows:
        found = error_at(*row)
        if found is not None:
            errors.setdefault(found, {})[row] = None
    for (error, message), rows in errors.items():
        rejected = error_response(request_rows.restricted_to(rows), version, error, message, in_rows=True)
        _add_missing(result, rejected, version, request_rows.names)
    return result


def set_throttle_time(response: Message, version: int, ms: int) -> None:
    """Set the throttle time of a response to at least `ms`, if this version has the field."""
    for field in type(response).FIELDS:
        if field.attribute == THROTTLE and is_within(version, field.versions):
            setattr(response, THROTTLE, max(getattr(response, THROTTLE), ms))


def _remove_unrequested(request_rows: RequestRows, response: MetadataResponse) -> None:
    """Remove the topics that were not requested: a Metadata v0 without topics requests all."""
    requested = {topic for topic, _ in request_rows.rows}
    response.topics = [row for row in response.topics if topic_of(row, request_rows.names) in requested]


def _elements(struct: Struct, version: int) -> list[tuple[Field, list[Struct]]]:
    fields = (f for f in type(struct).FIELDS if f.type == "struct" and f.is_array and is_within(version, f.versions))
    return [(field, getattr(struct, field.attribute) or []) for field in fields]


def _is_topic_array(field: Field) -> bool:
    """Return whether the elements of a response array are topics."""
    return any(f.attribute == "topic_id" or f.entity == TOPIC_NAME for f in field.struct.FIELDS)


def _is_partition_array(field: Field) -> bool:
    return any(row.attribute in INDEXES for row in field.struct.FIELDS)


def _overwrite(struct: Struct, version: int, names: Mapping[Uuid, str], error_at: ErrorAt) -> None:
    for field, elements in _elements(struct, version):
        if not has_row_errors(field, version):
            continue
        if not _is_topic_array(field):
            for element in elements:
                _overwrite(element, version, names, error_at)
            continue
        for position, element in enumerate(elements):
            topic = topic_of(element, names)
            found = error_at(topic, None)
            if found is not None:
                elements[position] = error_row(element, version, *found)
                continue
            for inner_field, partitions in _elements(element, version):
                for number, partition in enumerate(partitions if _is_partition_array(inner_field) else ()):
                    found = error_at(topic, index_of(partition))
                    if found is not None:
                        partitions[number] = error_row(partition, version, *found)


def _add_missing(result: Struct, errors: Struct, version: int, names: Mapping[Uuid, str]) -> None:
    """Add the rows of `errors` that are missing in `result`, which has the same class."""
    for field, added in _elements(errors, version):
        if not has_row_errors(field, version):
            continue
        known = list(getattr(result, field.attribute) or ())
        by_name = {_name(element, field, names): element for element in known}
        for element in added:
            existing = by_name.get(_name(element, field, names))
            if existing is None:
                known.append(element)
            else:
                _add_missing(existing, element, version, names)
        setattr(result, field.attribute, known)


def _name(element: Struct, field: Field, names: Mapping[Uuid, str]) -> object:
    """Return the key that identifies an element of a response array."""
    if _is_topic_array(field):
        return topic_of(element, names) or getattr(element, "topic_id", None)
    if _is_partition_array(field):
        return index_of(element)
    return tuple(getattr(element, f.attribute) for f in field.struct.FIELDS if f.map_key or f.entity)
