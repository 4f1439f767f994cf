"""Copies of a controller's image after an event: the image itself changes in place."""

from __future__ import annotations

from copy import copy

from kmirror.cluster.images import MetadataImage, TopicImage


def view_of(image: MetadataImage, known: MetadataImage | None) -> MetadataImage:
    """Return a copy of what an image says now of brokers, topics and configs, to be read only.

    A topic that is as it was in the view `known` is the same object there and here.
    """
    view = copy(image)
    view.brokers, view.features, view.leaderless = dict(image.brokers), dict(image.features), dict(image.leaderless)
    view.topics = {}
    for name, topic in image.topics.items():
        before = None if known is None else known.topics.get(name)
        is_same = before is not None and before.topic_id == topic.topic_id and before.partitions == topic.partitions
        view.topics[name] = (
            before if is_same and before is not None else TopicImage(name, topic.topic_id, dict(topic.partitions))
        )
    view.configs = {resource: dict(values) for resource, values in image.configs.items()}
    return view
