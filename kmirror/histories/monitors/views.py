"""Copies of a controller's image after an event: the image itself changes in place."""

from __future__ import annotations

from copy import copy

from kmirror.cluster.images import MetadataImage, TopicImage


def view_of(image: MetadataImage, known: MetadataImage | None) -> MetadataImage:
    """Return a read-only copy of an image's current brokers, topics and configs.

    Topics that have not changed since the view `known` are shared with it.
    """
    view = copy(image)
    view.brokers, view.features, view.producer_ids = copy(image.brokers), copy(image.features), copy(image.producer_ids)
    view.topics, view.topics.leaderless = copy(image.topics), dict(image.topics.leaderless)
    for name, topic in image.topics.items():
        before = None if known is None else known.topics.get(name)
        is_same = before is not None and before.topic_id == topic.topic_id and before.partitions == topic.partitions
        view.topics[name] = (
            before if is_same and before is not None else TopicImage(name, topic.topic_id, dict(topic.partitions))
        )
    view.configs = copy(image.configs)
    for resource, values in image.configs.items():
        view.configs[resource] = dict(values)
    return view
