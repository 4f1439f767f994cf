"""What changed between two metadata images? Asked when a broker has read a snapshot instead of the records between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from kmirror.cluster.images import Delta, MetadataImage
from kmirror.kernel.ids import TopicPartition

K = TypeVar("K")


def difference(before: MetadataImage, after: MetadataImage) -> Delta:
    """Return what a replay of the records between the two would have left in a delta.

    What came and went in between is not in it: nobody has seen that.
    """
    delta = Delta()
    delta.brokers.update(_changed(before.brokers, after.brokers))
    delta.configs.update(_changed(before.configs, after.configs))
    delta.features.update(_changed(before.features, after.features))
    _add_topics(before, after, delta)
    return delta


def _changed(old: Mapping[K, object], new: Mapping[K, object]) -> dict[K, None]:
    return {key: None for key in {**old, **new} if old.get(key) != new.get(key)}


def _add_topics(before: MetadataImage, after: MetadataImage, delta: Delta) -> None:
    for name, old in before.topics.items():
        new = after.topics.get(name)
        again = before.first_leader_epoch(old.topic_id) != after.first_leader_epoch(old.topic_id)
        if new is None or new.topic_id != old.topic_id or again:  # An id that came back is another topic (D49).
            delta.topics_deleted[name] = {old.topic_id: None}
            delta.partitions.update({TopicPartition(name, index): None for index in old.partitions})
    for name, new in after.topics.items():
        former = before.topics.get(name)
        known = {} if former is None or name in delta.topics_deleted else former.partitions
        if former is None or name in delta.topics_deleted:
            delta.topics_created[name] = None
        for index, partition in new.partitions.items():
            if known.get(index) != partition:
                delta.partitions[TopicPartition(name, index)] = None
