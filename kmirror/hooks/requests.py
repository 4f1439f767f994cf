"""Topics and partitions of a request, for every API, derived from its schema.

A row is a topic or, in an API for partitions, a partition. Topics have names or, in newer versions, ids, which the node
resolves. A null array or a fetch session is expanded, so that a request that names no partition still has its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping

from kmirror.cluster.error_response import INDEXES, NOT_IN_RESPONSE, TOPIC_NAME
from kmirror.hooks.node_view import NodeView
from kmirror.hooks.received import Row
from kmirror.kernel.events import Chunk
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.careful import is_within
from kmirror.protocol.headers import RequestHead, decode_request_body
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_key, key_of
from kmirror.protocol.structs import Field, Struct

Keep = Callable[[str | None, int | None], bool]
PARTITIONS = ("partitions", "partition_data", "partition_indexes")


class RequestRows:
    """The rows of one request."""

    def __init__(self, head: RequestHead, frame: Chunk, node: NodeView) -> None:
        self.head = head
        self.body = decode_request_body(frame, head)
        self._frame = frame
        self._node = node
        self._expanded = node.with_session_partitions(self.body)
        rows = list(_rows_of(self._expanded, head.api_version, self.names))
        self.has_partitions = names_partitions(type(self.body))
        self.requests_all = not rows and _requests_all_topics(self.body, head.api_version)
        """Whether it requests all topics."""
        self.rows: list[Row] = self._all_rows() if self.requests_all else rows

    @property
    def names(self) -> Mapping[Uuid, str]:
        """Return the mapping of topic id to name."""
        return self._node.topic_names

    def _all_rows(self) -> list[Row]:
        topics = self._node.partitions
        if self.has_partitions:
            return [(name, index) for name, indexes in topics.items() for index in indexes]
        return [(name, None) for name in topics]

    def restricted_to(self, rows: Container[Row]) -> Message:
        """Return a request for these rows only, including those of a fetch session."""
        copy = self._node.with_session_partitions(self._copy())
        _retain(copy, self.head.api_version, self.names, lambda topic, index: (topic, index) in rows)
        return copy

    def without_rows(self, keep: Keep) -> Message:
        """Return the request without the rows that `keep` rejects."""
        copy = self._copy()
        _retain(copy, self.head.api_version, self.names, keep)
        return copy

    def _copy(self) -> Message:
        return decode_request_body(self._frame, self.head)


def is_for_clients(request: type[Message]) -> bool:
    """Return whether brokers offer an API to clients."""
    return "broker" in by_key(key_of(request)).listeners


def names_topics(request: type[Struct]) -> bool:
    """Return whether any version of a request, or of its elements, names topics."""
    return any(
        _is_topic_field(field) or (field.type == "struct" and field.is_array and names_topics(field.struct))
        for field in request.FIELDS
        if field.attribute not in NOT_IN_RESPONSE
    )


def names_partitions(request: type[Struct]) -> bool:
    """Return whether any version of a request, or of its elements, names partitions."""
    if any(_is_topic_field(field) for field in request.FIELDS):
        return any(field.attribute in PARTITIONS for field in request.FIELDS)
    return any(f.type == "struct" and f.is_array and names_partitions(f.struct) for f in request.FIELDS)


def _is_topic_field(field: Field) -> bool:
    """Return whether a field contains a topic name or a topic id."""
    return (field.type == "string" and field.entity == TOPIC_NAME) or field.attribute == "topic_id"


def _requests_all_topics(body: Message, version: int) -> bool:
    """Return whether an array of topics is null, or empty where that means all (Metadata v0)."""
    for owner, field in _nested_arrays(body, version):
        if _is_topic_field(field) or (field.type == "struct" and any(_is_topic_field(f) for f in field.struct.FIELDS)):
            found = getattr(owner, field.attribute)
            if found is None or (body.NAME == "MetadataRequest" and version == 0 and not found):
                return True
    return False


def _nested_arrays(struct: Struct, version: int) -> Iterator[tuple[Struct, Field]]:
    """Yield every array of a struct and of the structs in its arrays, with its owner."""
    for field in type(struct).FIELDS:
        if field.is_array and is_within(version, field.versions) and field.attribute not in NOT_IN_RESPONSE:
            yield struct, field
            if field.type == "struct" and topic_name(field) is None:
                for element in getattr(struct, field.attribute) or ():
                    yield from _nested_arrays(element, version)


def topic_name(field: Field) -> str | None:
    """Return the attribute of a topic's name or id in the elements of an array; None if it holds no topics."""
    if field.type != "struct":
        return None
    return next((row.attribute for row in field.struct.FIELDS if _is_topic_field(row) and not row.is_array), None)


def topic_of(element: Struct, names: Mapping[Uuid, str]) -> str | None:
    """Return the topic name of an element, None if it has only an unknown id."""
    for field in type(element).FIELDS:
        if field.type == "string" and field.entity == TOPIC_NAME and getattr(element, field.attribute):
            return str(getattr(element, field.attribute))
    topic_id = getattr(element, "topic_id", None)
    return None if topic_id is None else names.get(topic_id)


def index_of(element: Struct) -> int | None:
    """Return the partition index of an element."""
    for attribute in INDEXES:
        if hasattr(element, attribute):
            return int(getattr(element, attribute))
    return None


def _partitions(element: Struct, version: int) -> Field | None:
    """Return the array of partitions in a topic's element."""
    fields = type(element).FIELDS
    return next((f for f in fields if f.attribute in PARTITIONS and is_within(version, f.versions)), None)


def _rows_of(body: Message, version: int, names: Mapping[Uuid, str]) -> Iterator[Row]:
    for owner, field in _nested_arrays(body, version):
        found = getattr(owner, field.attribute) or ()
        if field.type == "string" and field.entity == TOPIC_NAME:
            yield from ((name, None) for name in found)
        if topic_name(field) is None:
            continue
        for element in found:
            topic, partitions = topic_of(element, names), _partitions(element, version)
            if partitions is None:
                yield topic, None
            else:
                for one in getattr(element, partitions.attribute) or ():
                    yield topic, index_of(one) if isinstance(one, Struct) else one


def _retain(struct: Struct, version: int, names: Mapping[Uuid, str], keep: Keep) -> None:
    """Remove the rows that `keep` rejects from a request, and elements that become empty."""
    for field in type(struct).FIELDS:
        if not field.is_array or field.attribute in NOT_IN_RESPONSE or not is_within(version, field.versions):
            continue
        found = getattr(struct, field.attribute) or ()
        if field.type == "string" and field.entity == TOPIC_NAME:
            setattr(struct, field.attribute, [name for name in found if keep(name, None)])
        elif topic_name(field) is not None:
            kept = [element for element in found if _retain_partitions(element, version, names, keep)]
            if found:
                setattr(struct, field.attribute, kept)
        elif field.type == "struct" and names_topics(field.struct):
            for element in found:
                _retain(element, version, names, keep)
            setattr(struct, field.attribute, [element for element in found if _has_rows(element, version)])


def _has_rows(element: Struct, version: int) -> bool:
    return any(
        topic_name(field) and getattr(owner, field.attribute) for owner, field in _nested_arrays(element, version)
    )


def _retain_partitions(element: Struct, version: int, names: Mapping[Uuid, str], keep: Keep) -> bool:
    """Remove partitions from a topic's element; return whether any are left."""
    topic, partitions = topic_of(element, names), _partitions(element, version)
    if partitions is None:
        return keep(topic, None)
    kept = [
        one
        for one in getattr(element, partitions.attribute) or ()
        if keep(topic, index_of(one) if isinstance(one, Struct) else one)
    ]
    setattr(element, partitions.attribute, kept)
    return bool(kept)
