"""What is asked, and of which partitions? A request as hooks see it, for every API, from its schema alone.

A row is a topic or, in an API that asks of partitions, a partition. Topics have names or, in newer versions, ids, which
the metadata image translates. What a null array or a fetch session stands for is looked up, so that a request that
names no partition still has its rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.hooks.received import Row
from kmirror.cluster.images import MetadataImage
from kmirror.cluster.refusal import INDEXES, NOT_ANSWERED, TOPIC_NAME
from kmirror.cluster.replication.fetch_sessions import FINAL_EPOCH, INITIAL_EPOCH
from kmirror.kernel.events import Chunk, Node
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.careful import within
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.headers import RequestHead, decode_body
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_key, find_key, key_of
from kmirror.protocol.structs import Field, Struct

BROKER = re.compile(r"broker-\d+")
"""The client ids under which brokers ask."""
Keep = Callable[[str | None, int | None], bool]
PARTITIONS = ("partitions", "partition_data", "partition_indexes")


class Within:
    """The node inside, as far as hooks have to know it."""

    def __init__(self, node: Node) -> None:
        assert isinstance(node, Broker | Controller), f"hooks go around a broker or a controller, not {node!r}"
        self._node = node
        self.node_id = node.context.node_id

    @property
    def image(self) -> MetadataImage:
        """Return the metadata that the node knows."""
        return self._node.context.image

    def whole(self, body: Message) -> Message:
        """Return a fetch within a session as one that names all partitions of the session; any other as it is."""
        if not isinstance(body, FetchRequest) or body.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            return body
        if not isinstance(self._node, Broker):
            return body
        asked = {key: FetchPartition(partition=key[2]) for key in self._node.parts.sessions.partitions(body.session_id)}
        for gone in body.forgotten_topics_data:
            for index in gone.partitions:
                asked.pop((gone.topic, gone.topic_id, index), None)
        for topic in body.topics:
            for partition in topic.partitions:
                asked[topic.topic, topic.topic_id, partition.partition] = partition
        topics: dict[tuple[str, Uuid], FetchTopic] = {}
        for (name, topic_id, _), partition in asked.items():
            one = topics.setdefault((name, topic_id), FetchTopic(topic=name, topic_id=topic_id, partitions=[]))
            one.partitions.append(partition)
        return FetchRequest(topics=list(topics.values()))


class Asked:
    """The rows of one request."""

    def __init__(self, head: RequestHead, frame: Chunk, node: Within) -> None:
        self.head = head
        self.body = decode_body(frame, head)
        self._frame = frame
        self._node = node
        self._whole = node.whole(self.body)
        named = list(_named(self._whole, head.api_version, self.names))
        self.asks_partitions = names_partitions(type(self.body))
        self.is_all = not named and _asks_all(self.body, head.api_version)
        """Whether it asks for all that there is."""
        self.rows: list[Row] = self._everything() if self.is_all else named

    @property
    def names(self) -> Mapping[Uuid, str]:
        """Return topic id to name."""
        return self._node.image.topic_names

    def _everything(self) -> list[Row]:
        topics = self._node.image.topics
        if self.asks_partitions:
            return [(name, index) for name, topic in topics.items() for index in topic.partitions]
        return [(name, None) for name in topics]

    def only(self, rows: Container[Row]) -> Message:
        """Return a request that asks of these rows alone; a fetch also of those that are in its session."""
        copy = self._node.whole(self._copy())
        _retain(copy, self.head.api_version, self.names, lambda topic, index: (topic, index) in rows)
        return copy

    def without(self, keep: Keep) -> Message:
        """Return the request without the rows that `keep` does not keep."""
        copy = self._copy()
        _retain(copy, self.head.api_version, self.names, keep)
        return copy

    def _copy(self) -> Message:
        return decode_body(self._frame, self.head)


def is_of_node(head: RequestHead) -> bool:
    """Return whether a request is one of another node: by its client id, or as no client asks such things."""
    api = find_key(head.api_key)
    by_nodes = api is not None and not is_for_clients(api.request)
    return by_nodes or (head.client_id is not None and BROKER.fullmatch(head.client_id) is not None)


def is_for_clients(request: type[Message]) -> bool:
    """Return whether brokers offer an API to clients."""
    return "broker" in by_key(key_of(request)).listeners


def names_topics(asked: type[Struct]) -> bool:
    """Return whether any version of a request, or of an element of one, asks of topics."""
    return any(
        _is_topic(field) or (field.type == "struct" and field.is_array and names_topics(field.struct))
        for field in asked.FIELDS
        if field.attribute not in NOT_ANSWERED
    )


def names_partitions(asked: type[Struct]) -> bool:
    """Return whether any version of a request, or of an element of one, asks of partitions."""
    if any(_is_topic(field) for field in asked.FIELDS):
        return any(field.attribute in PARTITIONS for field in asked.FIELDS)
    return any(f.type == "struct" and f.is_array and names_partitions(f.struct) for f in asked.FIELDS)


def _is_topic(field: Field) -> bool:
    return (field.type == "string" and field.entity == TOPIC_NAME) or field.attribute == "topic_id"


def _asks_all(body: Message, version: int) -> bool:
    """Return whether an array of topics is null, or empty where that means all (Metadata v0)."""
    for owner, field in _arrays(body, version):
        if _is_topic(field) or (field.type == "struct" and any(_is_topic(f) for f in field.struct.FIELDS)):
            found = getattr(owner, field.attribute)
            if found is None or (body.NAME == "MetadataRequest" and version == 0 and not found):
                return True
    return False


def _arrays(struct: Struct, version: int) -> Iterator[tuple[Struct, Field]]:
    """Yield every array of a struct and of the structs in its arrays, with its owner."""
    for field in type(struct).FIELDS:
        if field.is_array and within(version, field.versions) and field.attribute not in NOT_ANSWERED:
            yield struct, field
            if field.type == "struct" and topic_name(field) is None:
                for element in getattr(struct, field.attribute) or ():
                    yield from _arrays(element, version)


def topic_name(field: Field) -> str | None:
    """Return the attribute of a topic's name or id in the elements of an array; None if it holds no topics."""
    if field.type != "struct":
        return None
    return next((row.attribute for row in field.struct.FIELDS if _is_topic(row) and not row.is_array), None)


def topic_of(element: Struct, names: Mapping[Uuid, str]) -> str | None:
    """Return the name of the topic that an element speaks of, None if only an id is there that nobody knows."""
    for field in type(element).FIELDS:
        if field.type == "string" and field.entity == TOPIC_NAME and getattr(element, field.attribute):
            return str(getattr(element, field.attribute))
    topic_id = getattr(element, "topic_id", None)
    return None if topic_id is None else names.get(topic_id)


def index_of(element: Struct) -> int | None:
    """Return the number of the partition that an element speaks of."""
    for attribute in INDEXES:
        if hasattr(element, attribute):
            return int(getattr(element, attribute))
    return None


def _partitions(element: Struct, version: int) -> Field | None:
    """Return the array of a topic's element that names partitions."""
    fields = type(element).FIELDS
    return next((f for f in fields if f.attribute in PARTITIONS and within(version, f.versions)), None)


def _named(body: Message, version: int, names: Mapping[Uuid, str]) -> Iterator[Row]:
    for owner, field in _arrays(body, version):
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
    """Take out of a request what `keep` does not keep, and what has nothing left in it then."""
    for field in type(struct).FIELDS:
        if not field.is_array or field.attribute in NOT_ANSWERED or not within(version, field.versions):
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
    return any(topic_name(field) and getattr(owner, field.attribute) for owner, field in _arrays(element, version))


def _retain_partitions(element: Struct, version: int, names: Mapping[Uuid, str], keep: Keep) -> bool:
    """Take partitions out of a topic's element; return whether anything is left of it."""
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
