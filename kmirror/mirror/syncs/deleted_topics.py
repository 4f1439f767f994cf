"""Topics that the source has deleted. Pure (D16).

A mirror that stopped while its source still has the topic would let producers in. Only brokers that are up to date are
believed that a topic is missing (D60). Brokers of a cluster with ZooKeeper cannot prove that they are, and all of them
may not know a topic for a moment, so two cycles in a row must miss it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kmirror.mirror.states import Wish
from kmirror.mirror.syncs.topics import TopicFacts

CYCLES_MISSING = 2


def count_missing(before: Mapping[str, int], topics: Iterable[TopicFacts]) -> dict[str, int]:
    """Return the number of cycles in a row for each topic that the source does not have; `before` is the last result.

    Topics that do not exist here are left out: they may be about to be created in both clusters, and there is nothing
    to stop.
    """
    return {
        topic.name: before.get(topic.name, 0) + 1
        for topic in topics
        if topic.wish is Wish.MIRROR
        and topic.source_topic is None
        and topic.source_error is None
        and topic.local_topic is not None
    }


def plan(counts: Mapping[str, int]) -> list[str]:
    """Return the topics to remove from the mirror."""
    return [topic for topic, cycles in counts.items() if cycles >= CYCLES_MISSING]
