"""Which topics has the source deleted? Pure (D16).

A broker that has just started, or one of a cluster with ZooKeeper, may not know a topic for a moment; a mirror that
stopped then would let producers in. So two cycles in a row have to miss the topic, and a list of all the source's
topics must not have it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

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


def suspects(counts: Mapping[str, int]) -> list[str]:
    """Return the topics for which the list of all topics is to be asked for."""
    return [topic for topic, cycles in counts.items() if cycles >= CYCLES_MISSING]


def plan(suspected: Iterable[str], listed: Collection[str]) -> list[str]:
    """Return the topics to remove from the mirror: those that the list of all the source's topics lacks as well."""
    return [topic for topic in suspected if topic not in listed]
