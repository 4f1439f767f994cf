"""Topic ids for topics whose source has no topic ids (before Kafka 2.8). Pure functions (D53).

The id is derived from the source's cluster id and the topic's name, so that nothing must be remembered but the topic
itself: every broker can see that the id was generated, even after the source was upgraded and has an id of its own. All
mirrors of one source generate the same id, so that one of them can become the source of another.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import count

from kmirror.kernel.uuid import Uuid


def generated_topic_id(source_cluster_id: str, topic: str) -> Uuid:
    """Return the id of `topic` when mirrored from a cluster without topic ids: a UUID of version 8 (RFC 9562)."""
    for attempt in count():
        raw = bytearray(sha256(f"{source_cluster_id}\n{topic}\n{attempt}".encode()).digest()[:16])
        raw[6] = raw[6] & 0x0F | 0x80
        raw[8] = raw[8] & 0x3F | 0x80
        topic_id = Uuid(raw)
        if not str(topic_id).startswith("-"):  # As in Kafka: a command would parse the text as an option.
            return topic_id
    raise AssertionError("one in 64 begins with a dash")


def is_same_topic(
    source_topic_id: Uuid, local_topic_id: Uuid, source_cluster_id: str, cluster_id: str, topic: str
) -> bool:
    """Return whether, by its ids, the source's topic is the one that exists here, in the cluster `cluster_id` (D16).

    A source without ids counts as having those that are generated here. The id that it has since its upgrade proves
    nothing.
    """
    if source_topic_id == local_topic_id:
        return True
    return local_topic_id == generated_topic_id(source_cluster_id, topic) or was_copied_without_id(
        source_topic_id, cluster_id, topic
    )


def was_copied_without_id(source_topic_id: Uuid, cluster_id: str, topic: str) -> bool:
    """Return whether the source mirrored its topic from us when the topics of our cluster had no ids."""
    return source_topic_id == generated_topic_id(cluster_id, topic)
