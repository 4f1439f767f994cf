"""Detection of orders that would let clusters mirror a topic in a ring; in most histories operators skip them.

In a ring every cluster waits for the previous one, or is cut for it. Two clusters that mirror a topic from each other
under one mirror name are not a ring here: they wait, and report it (D25).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kmirror.histories.convergence import source_clusters
from kmirror.histories.observer import Observer
from kmirror.histories.orders import NOBODY, step_topics
from kmirror.histories.plan import Step
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.naming import MIRROR_NAME, parse
from kmirror.mirror.states import Wish


@dataclass(frozen=True, slots=True)
class Link:
    """A topic of `destination` that is, or will be, mirrored from `source`."""

    destination: str
    source: str
    mirror: str


@dataclass(slots=True)
class RingWatch:
    """Checks the mirrors of all clusters before an operator gives an order."""

    scene: Scene
    observer: Observer
    _unanswered: dict[int, Step] = field(default_factory=dict)
    """Unanswered orders to add topics, by number: they may be carried out at any time."""

    def refusal_reason(self, cluster: str, number: int, step: Step) -> str:
        """Return the ring that the order to `cluster` would close; empty if it closes none."""
        if step.action not in ("add", "point_mirror"):
            return ""
        mirror = str(step.args["mirror"])
        for topic in step_topics(step.args) or self._topics_of_mirror(cluster, mirror):
            links = list(self._links(topic))
            for source in self._sources(cluster, mirror, step):
                path = _path(links, Link(cluster, source, mirror))
                if path:
                    return f"{topic} would be mirrored in a ring: {' from '.join(path)}"
        if step.action == "add":
            self._unanswered[number] = step
        return ""

    def _sources(self, cluster: str, mirror: str, step: Step | None = None) -> list[str]:
        """Return the clusters that a mirror points to, has pointed to, or will point to."""
        scene = self.scene
        found = source_clusters(scene.plan, scene.account, cluster, mirror)
        if step is not None:
            found.append(str(step.args.get("servers", step.args.get("source", NOBODY))))
        return [name for name in dict.fromkeys(found) if name != NOBODY]

    def _topics_of_mirror(self, cluster: str, mirror: str) -> list[str]:
        image = self.scene.image(cluster)
        return [name for name in image.topics if self._topic_mirror(cluster, name) == mirror]

    def _links(self, topic: str) -> Iterator[Link]:
        for cluster in self.scene.clusters:
            mirror = self._topic_mirror(cluster, topic)
            for source in self._sources(cluster, mirror) if mirror else ():
                yield Link(cluster, source, mirror)
        answered = {order.number for order in self.scene.account.orders if order.error}
        for number in [number for number in self._unanswered if number in answered]:
            del self._unanswered[number]
        for step in self._unanswered.values():
            if topic in step_topics(step.args):
                cluster, mirror = str(step.args["destination"]), str(step.args["mirror"])
                for source in self._sources(cluster, mirror, step):
                    yield Link(cluster, source, mirror)

    def _topic_mirror(self, cluster: str, topic: str) -> str:
        """Return the mirror that has a topic, also while it is STOPPING; empty if none has it."""
        image = self.scene.image(cluster)
        assignment = parse(image.configs.topic(topic).get(MIRROR_NAME, ""))
        if assignment is None:
            return ""
        known = image.topics.get(topic)
        if assignment.wish is Wish.REMOVE and known is not None:
            found = [self.observer.mirror_partition(cluster, TopicPartition(topic, n)) for n in known.partitions]
            if all(mp is not None and mp.state is not None and mp.state.name == "STOPPED" for mp in found):
                return ""
        return assignment.mirror


def _path(links: list[Link], new: Link) -> list[str]:
    """Return the clusters from the destination of `new` through its source back to it; empty if there is no ring."""
    paths = [[new.destination, new.source]]
    while paths:
        path = paths.pop()
        for link in links:
            if link.destination != path[-1]:
                continue
            if link.source == new.destination and not (len(path) == 2 and link.mirror == new.mirror):
                return [*path, link.source]
            if link.source not in path:
                paths.append([*path, link.source])
    return []
