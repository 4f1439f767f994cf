"""Aspect of the metadata image: dynamic configs of topics, brokers, groups and mirrors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kmirror.cluster.images.aspect import Merges, Replays, changed
from kmirror.cluster.images.delta import Delta
from kmirror.cluster.images.topics import TopicRecords, Topics
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.protocol.keyed_records import VersionedMessage
from kmirror.spec.wire_values import ResourceType


class Configs(dict[tuple[int, str], dict[str, str]]):
    """Resource -> its configs, never empty; do not modify the dicts that the methods return."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._names: dict[int, dict[str, None]] = {}
        """Resource type -> names with configs."""

    def replays(self) -> Replays:
        return {ConfigRecord: self._set, RemoveTopicRecord: self._remove_topic}

    def _set(self, record: ConfigRecord, delta: Delta) -> None:
        resource = (record.resource_type, record.resource_name)
        values = self.setdefault(resource, {})
        names = self._names.setdefault(record.resource_type, {})
        if record.value is None:
            values.pop(record.name, None)
            if not values:
                del self[resource]
                names.pop(record.resource_name, None)
        else:
            values[record.name] = record.value
            names[record.resource_name] = None
        delta.configs[resource] = None

    def _remove_topic(self, record: RemoveTopicRecord, delta: Delta) -> None:
        name = self._topics.names[record.topic_id]
        if self.pop((ResourceType.TOPIC, name), None) is not None:
            del self._names[ResourceType.TOPIC][name]
            delta.configs[(ResourceType.TOPIC, name)] = None

    def add_difference(self, before: Configs, delta: Delta) -> None:
        delta.configs.update(changed(before, self))

    def names(self, resource_type: int) -> Iterable[str]:
        """Return the names of the resources of a type that have configs."""
        return self._names.get(resource_type, {})

    def topic(self, name: str) -> dict[str, str]:
        """Return the configs of the topic itself."""
        return self.get((ResourceType.TOPIC, name), {})

    def broker(self, broker_id: int) -> dict[str, str]:
        """Return the configs of a broker, merged over the cluster-wide ones."""
        cluster_wide = self.get((ResourceType.BROKER, ""), {})
        return {**cluster_wide, **self.get((ResourceType.BROKER, str(broker_id)), {})}


class ConfigRecords:
    """The latest value of each config."""

    def __init__(self, topics: TopicRecords) -> None:
        self._topics = topics
        self._configs: dict[tuple[int, str], dict[str, VersionedMessage]] = {}

    def merges(self) -> Merges:
        return {ConfigRecord: self._set, RemoveTopicRecord: self._remove_topic}

    def _set(self, record: ConfigRecord, version: int) -> None:
        resource = record.resource_type, record.resource_name
        values = self._configs.setdefault(resource, {})
        if record.value is not None:
            values[record.name] = VersionedMessage(record, version)
            return
        values.pop(record.name, None)
        if not values:
            del self._configs[resource]

    def _remove_topic(self, record: RemoveTopicRecord, version: int) -> None:
        self._configs.pop((ResourceType.TOPIC, self._topics.name(record.topic_id)), None)

    def records(self) -> Iterator[VersionedMessage]:
        for values in self._configs.values():
            yield from values.values()
