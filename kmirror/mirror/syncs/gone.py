"""Which topics has the source deleted? Pure (D16).

A mirror that stopped while its source has the topic would let producers in. That a topic is missing is believed of
brokers that are up to date alone (D60); those of a cluster with ZooKeeper cannot prove that they are, and all of them
may not know a topic for a moment. So two cycles in a row have to miss it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kmirror.mirror.states import Wish
from kmirror.mirror.syncs.topics import TopicFacts

CYCLES_MISSING = 2


def missing(before: Mapping[str, int], topics: Iterable[TopicFacts]) -> dict[str, int]:
    """Return the topics that the source does not have, and for how many cycles in a row, by those of the last cycle.

    A topic that is not here either is not in it: it may be on its way to both clusters, and there is nothing to stop.
    """
    return {
        topic.name: before.get(topic.name, 0) + 1
        for topic in topics
        if topic.wish is Wish.MIRROR and topic.theirs is None and topic.refused is None and topic.ours is not None
    }


def plan(counts: Mapping[str, int]) -> list[str]:
    """Return the topics to remove from the mirror."""
    return [topic for topic, cycles in counts.items() if cycles >= CYCLES_MISSING]
