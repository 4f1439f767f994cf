"""Metrics of a controller: the brokers, topics and partitions of the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.cluster.images import MetadataImage
from kmirror.cluster.metrics import Sample, gauge
from kmirror.spec.metrics import row


def controller_samples(image: MetadataImage, *, decides: bool) -> Iterator[Sample]:
    """Yield the metrics of a controller."""
    fenced = sum(1 for broker_id in image.brokers if not image.brokers.is_alive(broker_id))
    partitions = sum(len(topic.partitions) for topic in image.topics.values())
    for name, value in (
        ("ActiveControllerCount", int(decides)),
        ("ActiveBrokerCount", len(image.brokers) - fenced),
        ("FencedBrokerCount", fenced),
        ("GlobalTopicCount", len(image.topics)),
        ("GlobalPartitionCount", partitions),
        ("OfflinePartitionsCount", len(image.topics.leaderless)),
    ):
        yield gauge(row("KafkaController", name), value)
