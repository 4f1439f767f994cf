"""Strategies for plausible messages between the nodes and clients of a small cluster, with consistent contents.

A `Setting` is such a cluster: topics with ids and partitions, brokers with addresses, groups, producers. A message
drawn for a setting refers only to its contents: topic names with their own ids, existing partitions and brokers,
ordered offsets, and record batches as records. A request and a response for the same setting refer to the same things.
A broker may still reject the message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from hypothesis import strategies as st

from kmirror.kernel.listeners import DEFAULT_NAME
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.careful import RANGES, is_within
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, check_version, fresh_default
from kmirror.spec.error_codes import ErrorCode
from kmirror.testing.strategies.arbitrary import classes, versions
from kmirror.testing.strategies.logs import NOW_MS, log_batches

M = TypeVar("M", bound=Message)
Draw = Callable[[st.SearchStrategy[Any]], Any]

_TOPICS = ("orders", "payments", "clicks", "audit.log", "users-v2")
_GROUPS = ("billing", "search-indexer")
_OFFSET_MAX = 1_000_000
_INT8_MAX = 10  # Resource types, operations and states all have few values.
_SPANS_MS = (0, 100, 500, 5_000, 30_000, 60_000)
_ASCENDING_OFFSETS = ("log_start_offset", "last_stable_offset", "high_watermark")
_ERRORS = (
    ErrorCode.NONE,
    ErrorCode.NONE,
    ErrorCode.NONE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.REQUEST_TIMED_OUT,
)
_PARTITION_NAMES = ("partition", "partition_index", "partition_id", "index")
_PARTITION_LISTS = ("partitions", "partition_indexes")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of a setting."""

    name: str
    topic_id: Uuid
    partitions: int


@dataclass(frozen=True, slots=True)
class Setting:
    """The cluster that messages refer to."""

    cluster_id: str
    topics: tuple[Topic, ...]
    brokers: tuple[int, ...]
    groups: tuple[str, ...] = _GROUPS
    transactional_ids: tuple[str, ...] = ("billing-1", "billing-2")
    producer_ids: tuple[int, ...] = (4000, 4001)

    def topic(self, name: str) -> Topic:
        """Return the topic of this name; KeyError if there is none."""
        return {topic.name: topic for topic in self.topics}[name]


_ids = st.binary(min_size=16, max_size=16).map(lambda octets: Uuid(b"\x01" + octets[1:]))  # Not a reserved id.


@st.composite
def settings_of_messages(draw: st.DrawFn) -> Setting:
    """Draw a cluster of one to three brokers with one to three topics."""
    names = draw(st.lists(st.sampled_from(_TOPICS), min_size=1, max_size=3, unique=True))
    ids = draw(st.lists(_ids, min_size=len(names), max_size=len(names), unique=True))
    topics = tuple(Topic(name, topic_id, draw(st.integers(1, 4))) for name, topic_id in zip(names, ids, strict=True))
    return Setting(str(draw(_ids)), topics, tuple(range(1, draw(st.integers(1, 3)) + 1)))


@st.composite
def plausible_messages(
    draw: st.DrawFn, cls: type[M], version: int | None = None, *, setting: Setting | None = None
) -> M:
    """Draw a message that `version` (by default the newest) can carry, in this setting or in any."""
    used_version = cls.MAX_VERSION if version is None else version
    check_version(cls, used_version)
    writer = _Writer(draw, draw(settings_of_messages()) if setting is None else setting, used_version)
    found: M = writer.draw_struct(cls, None)
    return found


@st.composite
def any_plausible_message(
    draw: st.DrawFn, *, setting: Setting | None = None, release: str | None = None
) -> tuple[Message, int]:
    """Draw a plausible message of any class, with a version that can carry it and that `release`, if given, has."""
    cls = draw(classes(release=release))
    version = draw(versions(cls, release=release))
    return draw(plausible_messages(cls, version, setting=setting)), version


def _is_topic_name(field: Field) -> bool:
    return field.entity == "topicName" and not field.is_array


def _is_partition_number(field: Field) -> bool:
    return field.type == "int32" and not field.is_array and field.attribute in _PARTITION_NAMES


class _Writer:
    """Draws the parts of one message."""

    def __init__(self, draw: Draw, setting: Setting, version: int) -> None:
        self.draw = draw
        self.setting = setting
        self.version = version
        self.producer = draw(st.sampled_from(setting.producer_ids))

    def draw_struct(self, cls: Any, topic: Topic | None, fixed: Mapping[str, Any] | None = None) -> Any:
        """Return an object of `cls`; `fixed` values are not drawn, and fields about a topic refer to `topic`."""
        values = dict(fixed or {})
        if topic is None and any(_is_topic_name(f) or f.attribute == "topic_id" for f in cls.FIELDS):
            topic = self.draw(st.sampled_from(self.setting.topics))
        for field in cls.FIELDS:
            if not is_within(self.version, field.versions):
                values[field.attribute] = fresh_default(field)
            elif field.attribute not in values:
                values[field.attribute] = self._draw_value(field, topic)
        offsets = [name for name in _ASCENDING_OFFSETS if values.get(name, -1) >= 0]
        values |= dict(zip(offsets, sorted(values[name] for name in offsets), strict=True))
        return cls(**values)

    def _draw_value(self, field: Field, topic: Topic | None) -> Any:
        if is_within(self.version, field.nullable) and self.draw(st.integers(0, 7)) == 0:
            return None
        if field.struct is not None:
            return self._draw_structs(field, topic) if field.is_array else self.draw_struct(field.struct, topic)
        if field.is_array:
            return self._draw_list(field, topic)
        return self.draw(self._scalar(field, topic))

    def _draw_structs(self, field: Field, topic: Topic | None) -> list[Any]:
        """Return rows: one per chosen topic, one per chosen partition of the topic, or a few of any other kind."""
        fields = {f.attribute: f for f in field.struct.FIELDS if is_within(self.version, f.versions)}
        if any(_is_topic_name(f) for f in fields.values()) or ("topic_id" in fields and topic is None):
            topics = self.draw(st.lists(st.sampled_from(self.setting.topics), max_size=3, unique=True))
            return [self.draw_struct(field.struct, each) for each in topics]
        number_field = next((name for name, f in fields.items() if _is_partition_number(f)), None)
        if number_field is not None:
            return [
                self.draw_struct(field.struct, topic, {number_field: number}) for number in self._draw_partitions(topic)
            ]
        return [self.draw_struct(field.struct, topic) for _ in range(self.draw(st.integers(0, 2)))]

    def _draw_partitions(self, topic: Topic | None) -> list[int]:
        count = self.setting.topics[0].partitions if topic is None else topic.partitions
        return sorted(self.draw(st.lists(st.integers(0, count - 1), max_size=count, unique=True)))

    def _draw_list(self, field: Field, topic: Topic | None) -> list[Any]:
        if field.type == "int32" and field.attribute in _PARTITION_LISTS:
            return self._draw_partitions(topic)
        if field.entity == "brokerId":
            brokers: list[int] = self.draw(st.lists(st.sampled_from(self.setting.brokers), max_size=3, unique=True))
            return brokers
        found: list[Any] = self.draw(st.lists(self._scalar(field, topic), max_size=2))
        return found

    def _scalar(self, field: Field, topic: Topic | None) -> st.SearchStrategy[Any]:
        setting, name = self.setting, field.attribute
        match field.type:
            case "string":
                return st.sampled_from(self._texts(field, topic))
            case "uuid" if "topic" in name and topic is not None:
                return st.just(topic.topic_id)
            case "uuid":
                return _ids
            case "records":
                return log_batches(max_size=2).map(b"".join)
            case "bytes":
                return st.binary(max_size=16)
            case "bool":
                return st.booleans()
            case "float64":
                return st.integers(0, 1_000).map(float)
        if field.entity == "brokerId":
            return st.sampled_from(setting.brokers)
        if field.entity == "producerId":
            return st.just(self.producer)
        if _is_partition_number(field):
            return st.integers(0, (topic or setting.topics[0]).partitions - 1)
        if name.endswith("error_code"):
            return st.sampled_from(_ERRORS).map(int)
        return _number(field)

    def _texts(self, field: Field, topic: Topic | None) -> tuple[str, ...]:
        setting, name = self.setting, field.attribute
        if field.entity == "topicName":
            return (topic.name,) if topic is not None else tuple(each.name for each in setting.topics)
        if field.entity == "groupId" or name == "group":
            return setting.groups
        if field.entity == "transactionalId":
            return setting.transactional_ids
        if name == "cluster_id":
            return (setting.cluster_id,)
        if "host" in name:
            return tuple(f"broker-{broker}.example.org" for broker in setting.brokers)
        if name == "member_id":
            return tuple(f"consumer-{group}-1-{setting.cluster_id}" for group in setting.groups)
        return _WORDS.get(name, (name.replace("_", "-"), f"{name.replace('_', '-')}-2"))


def _number(field: Field) -> st.SearchStrategy[int]:
    """Return a strategy for numbers that are usual for a field of this name."""
    name, (low, high) = field.attribute, RANGES[field.type]
    if "timestamp" in name:
        return st.integers(0, 60_000).map(lambda delta_ms: NOW_MS + delta_ms)
    if name.endswith("_ms"):
        return st.sampled_from(_SPANS_MS)
    if "port" in name:
        return st.sampled_from([9092, 9093])
    if field.type == "int8":
        return st.integers(max(low, 0), _INT8_MAX)
    if "offset" in name or "watermark" in name:
        return st.integers(0, min(high, _OFFSET_MAX))
    if "bytes" in name:
        return st.sampled_from([1, 1 << 16, 1 << 20])
    return st.integers(0, 20)


_WORDS: Mapping[str, tuple[str, ...]] = {
    "rack": ("use1-az1", "use1-az2"),
    "rack_id": ("use1-az1", "use1-az2"),
    "client_id": ("billing-service", "rdkafka"),
    "error_message": ("The request timed out.",),
    "protocol_type": ("consumer",),
    "security_protocol": (DEFAULT_NAME,),
    "user": ("alice", "bob"),
    "principal": ("User:alice", "User:bob"),
    "client_software_name": ("apache-kafka-java", "librdkafka"),
    "client_software_version": ("4.3.1", "2.8.0"),
}
