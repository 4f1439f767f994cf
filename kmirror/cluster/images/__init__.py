"""The metadata image, built by replaying the metadata log, and the delta between two images.

Controller and brokers replay the same records with the same code, and an image never changes in another way. Each
aspect of the image is one file, as in Kafka's package `org.apache.kafka.image`. It replays its records, adds its
differences from an earlier image to a delta, and merges its records for a snapshot. A new metadata record only changes
the file of its aspect.
"""

from __future__ import annotations

from kmirror.cluster.images.brokers import BrokerImage
from kmirror.cluster.images.delta import Delta
from kmirror.cluster.images.image import MetadataImage
from kmirror.cluster.images.snapshot import SnapshotRecords
from kmirror.cluster.images.topics import (
    LEADER_UNCHANGED,
    LOST,
    METADATA_TOPIC_ID,
    MIGRATING,
    NO_LEADER,
    RECOVERY_UNCHANGED,
    PartitionImage,
    TopicImage,
)

__all__ = [
    "LEADER_UNCHANGED",
    "LOST",
    "METADATA_TOPIC_ID",
    "MIGRATING",
    "NO_LEADER",
    "RECOVERY_UNCHANGED",
    "BrokerImage",
    "Delta",
    "MetadataImage",
    "PartitionImage",
    "SnapshotRecords",
    "TopicImage",
]
