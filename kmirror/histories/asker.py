"""A client that asks: what every question draws its arguments from, and how it is put.

Arguments are drawn from what exists in the cluster and, now and then, from what does not. A question is put to the
broker that can answer it, or to another one. No answer is judged: a node has to take any question at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kmirror.assembly.inside import CONTROLLER_ID
from kmirror.cluster.images import MetadataImage
from kmirror.histories.producing import Desk
from kmirror.histories.scripts import Ask, Script
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.java import partition_for
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.message import Message
from kmirror.spec.topics import is_internal
from kmirror.spec.wire_values import ResourceType

NO_TOPIC, NO_MIRROR, NO_GROUP = "no-such-topic", "no-such-mirror", "no-such-group"
NO_PARTITION = 99
TIMEOUT_MS = 5_000
"""Longer than a broker waits for what its answer depends on, so that the answer is heard."""


class Asker:
    """One client that asks the cluster where its application is."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.rng: Rng = desk.rng.split("questions")

    # -- what there is ------------------------------------------------------------------------

    @property
    def cluster(self) -> str:
        return self.desk.cluster

    @property
    def image(self) -> MetadataImage:
        return self.desk.scene.image(self.cluster)

    def one_of(self, known: Sequence[str], unknown: str) -> str:
        """Return a name that there is, or in one of four cases, or if there is none, the other one."""
        return unknown if not known or self.rng.chance(1, 4) else self.rng.choice(known)

    def topic(self) -> str:
        return self.one_of([name for name in sorted(self.image.topics) if not is_internal(name)], NO_TOPIC)

    def mirror(self) -> str:
        known = [name for kind, name in self.image.configs if kind == ResourceType.MIRROR]
        return self.one_of(sorted(known), NO_MIRROR)

    def partition(self) -> TopicPartition:
        """Return a partition of a topic, or one that does not exist."""
        topic = self.topic()
        known = self.image.topics.get(topic)
        index = self.rng.choice(sorted(known.partitions)) if known is not None else 0
        return TopicPartition(topic, NO_PARTITION if self.rng.chance(1, 8) else index)

    def topic_id(self, topic: str) -> Uuid:
        """Return the id of a topic, or for one that does not exist an id that nothing has."""
        known = self.image.topics.get(topic)
        return Uuid(self.rng.octets(16)) if known is None else known.topic_id

    def epoch(self, tp: TopicPartition) -> int:
        """Return a leader epoch for a request about a partition: the present one, one near it, or none."""
        known = self.image.topics.partition(tp)
        return -1 if known is None else known.leader_epoch + self.rng.choice((-1, 0, 0, 1))

    # -- who is asked -------------------------------------------------------------------------

    def any_broker(self) -> Endpoint:
        found = self.desk.scene.clusters[self.cluster]
        return found.endpoint(self.rng.choice(found.broker_ids))

    def controller(self) -> Endpoint:
        return self.desk.scene.clusters[self.cluster].endpoint(CONTROLLER_ID)

    def leader(self, tp: TopicPartition) -> Endpoint:
        """Return the leader's address as the controller has it; in one of three cases any broker's."""
        known = self.image.topics.partition(tp)
        found = self.desk.scene.clusters[self.cluster]
        if known is None or known.leader not in found.broker_ids or self.rng.chance(1, 3):
            return self.any_broker()
        return found.endpoint(known.leader)

    def coordinator(self, topic: str, key: str) -> Endpoint:
        """Return the address of who coordinates `key`, as `leader` does; `topic` is the internal one."""
        known = self.image.topics.get(topic)
        return self.any_broker() if known is None else self.leader(
            TopicPartition(topic, partition_for(key, len(known.partitions)))
        )  # fmt: skip

    def own(self, kind: str, count: int = 4) -> str:
        """Return a name of a group or a transactional id that only this client uses."""
        return f"{self.desk.plan.name}-{kind}{self.rng.below(count)}"

    def ask(self, body: Message, at: Endpoint | None = None, version_max: int | None = None) -> Script[Message | None]:
        """Ask, by default any broker; the answer, or None. Once producers stop, nobody is asked any more."""
        if not self.desk.goes_on():
            return None
        endpoint = self.any_broker() if at is None else at
        reply: Message | None = yield Ask(self.cluster, endpoint, body, version_max, TIMEOUT_MS)
        return reply


@dataclass(frozen=True, slots=True)
class Question:
    """One kind of question; it may take several requests."""

    name: str
    about: str
    """What it is about: a client's option `about` names those that it asks."""
    ask: Callable[[Asker], Script[None]]
    weight: int = 2
    """How often it is asked, among the others; what is rarely reached otherwise is asked more often."""
