"""A broker without its surroundings: it gets an image and frames, and its effects are only collected.

It has every component of a broker in a cluster. Only `handle` runs: no heap, no network, no trace, and no timer fires.
So a benchmark measures the engine's own cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kmirror.assembly.nodes import Assembly, feature_records
from kmirror.cluster.authorizer import Authorizer
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import Delta
from kmirror.cluster.node.partition import Partition
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.events import Chunk, Effect, InboundLink, LinkOpened, Reply, RequestReceived
from kmirror.kernel.ids import ANONYMOUS, Endpoint, TopicPartition
from kmirror.kernel.listeners import ListenerSpec
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import MemoryDisk
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.headers import encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.spec.apis import version_served

CONTROLLER = 100
BROKERS = (1, 2, 3)
NOW: Instant = 1_800_000_000 * 1_000_000
LINK = InboundLink(("benchmark",))
LEADER_EPOCH = 0


class LoneBroker:
    """Broker `node_id` of three, all alive; broker `leader` leads every partition, on `replicas`."""

    def __init__(
        self,
        topics: Mapping[str, int],
        *,
        node_id: int = 1,
        leader: int = 1,
        replicas: Sequence[int] = (1,),
        configs: Mapping[str, str] | None = None,
        authorizer: Authorizer | None = None,
    ) -> None:
        endpoints = {node: Endpoint(f"b-{node}", 9092) for node in (*BROKERS, CONTROLLER)}
        self.endpoints = endpoints
        listeners = {node: (ListenerSpec.plain(endpoint),) for node, endpoint in endpoints.items()}
        assembly = Assembly("lone", CONTROLLER, listeners, configs or {}, [], authorizer=authorizer)
        self.broker: Broker = assembly.broker(node_id, [MemoryDisk()], Rng(1))
        self.topic_ids = {name: Uuid.from_ints(1, number) for number, name in enumerate(topics, start=1)}
        self.now = NOW
        self.first_effects = self._publish(self._records(topics, leader, replicas))
        """Effects of the broker's first image with its partitions: a follower sends its first fetch."""
        self.broker.parts.server.accept()
        self.broker.handle(NOW, LinkOpened(LINK, "PLAINTEXT", ANONYMOUS, Endpoint("127.0.0.1", 50_000)))

    def _records(self, topics: Mapping[str, int], leader: int, replicas: Sequence[int]) -> list[Message]:
        records = feature_records(1)
        records += [
            RegisterBrokerRecord(
                broker_id=node,
                broker_epoch=node,
                incarnation_id=Uuid.from_ints(2, node),
                end_points=[BrokerEndpoint(name="PLAINTEXT", host=self.endpoints[node].host, port=9092)],
                fenced=False,
            )
            for node in BROKERS
        ]
        for name, count in topics.items():
            topic_id = self.topic_ids[name]
            records.append(TopicRecord(name=name, topic_id=topic_id))
            records += [
                PartitionRecord(
                    partition_id=index,
                    topic_id=topic_id,
                    replicas=list(replicas),
                    isr=list(replicas),
                    leader=leader,
                    leader_epoch=LEADER_EPOCH,
                    partition_epoch=0,
                )
                for index in range(count)
            ]
        return records

    def _publish(self, records: Sequence[Message]) -> list[Effect]:
        delta = Delta()
        for record in records:
            self.broker.context.image.apply(record, delta)
        self.broker.publish(self.now, delta)
        return self.broker.context.outbox.drain()

    @property
    def now_ms(self) -> int:
        """Return the broker's time in milliseconds."""
        return to_ms(self.now)

    def partition(self, topic: str, index: int) -> Partition:
        """Return one of the broker's partitions."""
        return self.broker.parts.replicas.partitions[TopicPartition(topic, index)]

    def request(self, frame: Chunk) -> list[Effect]:
        """Handle a request of a client; return all effects."""
        return self.broker.handle(self.now, RequestReceived(LINK, frame))


def version(request: type[Message]) -> int:
    """Return the current version: the newest one, with the mirror feature on."""
    return version_served(key_of(request), mirror=True)


def frame_of(body: Message, *, correlation_id: int = 1) -> bytes:
    """Return the frame of a request in its current version."""
    return encode_request(body, version(type(body)), correlation_id=correlation_id, client_id="benchmark")


def response_in(effects: Sequence[Effect]) -> bytes:
    """Return the frame of the only response among the effects of a request."""
    (reply,) = [effect for effect in effects if isinstance(effect, Reply)]
    return b"".join(reply.chunks)
