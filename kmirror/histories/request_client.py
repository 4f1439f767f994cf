"""Client that sends random requests: choice of arguments and brokers, and sending.

Arguments usually name things that exist in the cluster, and sometimes things that do not. A request goes to the broker
responsible for it, or to another one. No response is judged: a node must handle any request at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.images import MetadataImage
from kmirror.histories.producing import Application
from kmirror.histories.scripts import Request, Script
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
"""Longer than a broker waits before it responds, so that the response is received."""


class RequestClient:
    """A client that sends requests to the cluster where its application is."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.rng: Rng = application.rng.split("questions")

    # -- existing names -----------------------------------------------------------------------

    @property
    def cluster(self) -> str:
        return self.application.cluster

    @property
    def image(self) -> MetadataImage:
        return self.application.scene.image(self.cluster)

    def pick(self, known: Sequence[str], unknown: str) -> str:
        """Return one of the known names; in one of four cases, or if there is none, return `unknown`."""
        return unknown if not known or self.rng.chance(1, 4) else self.rng.choice(known)

    def topic(self) -> str:
        return self.pick([name for name in sorted(self.image.topics) if not is_internal(name)], NO_TOPIC)

    def mirror(self) -> str:
        known = [name for kind, name in self.image.configs if kind == ResourceType.MIRROR]
        return self.pick(sorted(known), NO_MIRROR)

    def partition(self) -> TopicPartition:
        """Return a partition of a topic, sometimes one that does not exist."""
        topic = self.topic()
        known = self.image.topics.get(topic)
        index = self.rng.choice(sorted(known.partitions)) if known is not None else 0
        return TopicPartition(topic, NO_PARTITION if self.rng.chance(1, 8) else index)

    def topic_id(self, topic: str) -> Uuid:
        """Return the id of a topic, or an unused id if the topic does not exist."""
        known = self.image.topics.get(topic)
        return Uuid(self.rng.octets(16)) if known is None else known.topic_id

    def epoch(self, tp: TopicPartition) -> int:
        """Return a leader epoch for a request about a partition: the current one, one near it, or -1."""
        known = self.image.topics.partition(tp)
        return -1 if known is None else known.leader_epoch + self.rng.choice((-1, 0, 0, 1))

    # -- brokers ------------------------------------------------------------------------------

    def any_broker(self) -> Endpoint:
        found = self.application.scene.clusters[self.cluster]
        return found.endpoint(self.rng.choice(found.broker_ids))

    def controller(self) -> Endpoint:
        return self.application.scene.clusters[self.cluster].endpoint(CONTROLLER_ID)

    def leader(self, tp: TopicPartition) -> Endpoint:
        """Return the leader's address according to the controller; in one of three cases that of any broker."""
        known = self.image.topics.partition(tp)
        found = self.application.scene.clusters[self.cluster]
        if known is None or known.leader not in found.broker_ids or self.rng.chance(1, 3):
            return self.any_broker()
        return found.endpoint(known.leader)

    def coordinator(self, topic: str, key: str) -> Endpoint:
        """Return the address of the coordinator of `key`, chosen as in `leader`; `topic` is the coordinator's internal
        topic.
        """
        known = self.image.topics.get(topic)
        return self.any_broker() if known is None else self.leader(
            TopicPartition(topic, partition_for(key, len(known.partitions)))
        )  # fmt: skip

    def own_name(self, kind: str, count: int = 4) -> str:
        """Return a name of a group or a transactional id that only this client uses."""
        return f"{self.application.plan.name}-{kind}{self.rng.below(count)}"

    def send(self, body: Message, at: Endpoint | None = None, version_max: int | None = None) -> Script[Message | None]:
        """Send a request, by default to any broker, and return the response or None.

        Send nothing after the producers have stopped.
        """
        if not self.application.is_writing():
            return None
        endpoint = self.any_broker() if at is None else at
        reply: Message | None = yield Request(self.cluster, endpoint, body, version_max, TIMEOUT_MS)
        return reply


@dataclass(frozen=True, slots=True)
class RequestKind:
    """A kind of request to send; it may take several requests."""

    name: str
    category: str
    """Category; a client's option `about` selects categories."""
    send: Callable[[RequestClient], Script[None]]
    weight: int = 2
    """Relative frequency; higher for kinds that reach rarely tested code."""
