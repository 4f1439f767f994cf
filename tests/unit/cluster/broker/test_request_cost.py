"""Overhead of a request in a broker, in calls and effects."""

from __future__ import annotations

import pytest

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import Delta
from kmirror.kernel.events import Effect, LinkOpened, Reply, RequestReceived, SetTimer
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from kmirror.spec.apis import version_served
from kmirror.spec.wire_values import Acks
from tests.builders import batch
from tests.call_counts import count_calls
from tests.client_links import link_opened

TOPIC = "orders"
VERSION = version_served(key_of(ProduceRequest), mirror=True)


class RequestedBroker:
    """A broker that leads the topic alone, or with a follower that never fetches, and a client's link to it."""

    def __init__(self, *, partitions: int = 1, replicas: int = 1) -> None:
        self.cluster = Cluster(Simulation(5), "a", brokers=replicas)
        self.cluster.start()
        self.cluster.create_topic(TOPIC, partitions)
        self.broker: Broker = self.cluster.broker(self.cluster.leader(TopicPartition(TOPIC, 0)).broker_id)
        self.now = self.cluster.simulation.world.now
        self.client: LinkOpened = link_opened("c")
        self.broker.handle(self.now, self.client)

    def event(self, body: Message, version: int) -> RequestReceived:
        return RequestReceived(self.client.link, encode_request(body, version, correlation_id=1, client_id="c"))

    def produce(self, *partitions: int, acks: int) -> RequestReceived:
        rows = [PartitionProduceData(index=index, records=batch(1, size=100, timestamp=0)) for index in partitions]
        topic = TopicProduceData(topic_id=self.cluster.image.topics[TOPIC].topic_id, partition_data=rows)
        return self.event(ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[topic]), VERSION)


def calls_of(asked: RequestedBroker, event: RequestReceived) -> tuple[int, list[Effect]]:
    """Return the number of calls of Python functions to handle the event."""
    effects: list[Effect] = []
    count = count_calls(lambda: effects.extend(asked.broker.handle(asked.now, event)), in_python=True)
    return count, effects


def errors_in(effects: list[Effect]) -> list[int]:
    [reply] = [effect for effect in effects if isinstance(effect, Reply)]
    answer = decode_response(b"".join(reply.chunks), key_of(ProduceRequest), VERSION).body
    assert isinstance(answer, ProduceResponse)
    return [row.error_code for topic in answer.responses for row in topic.partition_responses]


@pytest.mark.parametrize("acks", [Acks.LEADER, Acks.ALL])
def test_a_record_is_appended_in_few_calls(acks: Acks) -> None:
    asked = RequestedBroker()
    event = asked.produce(0, acks=acks)
    asked.broker.handle(asked.now, event)
    count, effects = calls_of(asked, event)
    assert errors_in(effects) == [0]
    assert count <= 60, "a request that is like the one before it is answered from its bytes"


def test_another_partition_costs_its_append() -> None:
    asked = RequestedBroker(partitions=20)
    one, all_ = asked.produce(0, acks=Acks.LEADER), asked.produce(*range(20), acks=Acks.LEADER)
    asked.broker.handle(asked.now, all_)
    few, _ = calls_of(asked, one)
    many, effects = calls_of(asked, all_)
    assert errors_in(effects) == [0] * 20
    assert (many - few) / 19 <= 72, "38 of them are the append"


def test_no_timer_is_set_where_all_have_acknowledged() -> None:
    asked = RequestedBroker()
    effects = asked.broker.handle(asked.now, asked.produce(0, acks=Acks.ALL))
    assert errors_in(effects) == [0]
    assert [type(effect) for effect in effects] == [Reply]


def test_a_timer_is_set_if_a_request_waits() -> None:
    asked = RequestedBroker(replicas=2)
    effects = asked.broker.handle(asked.now, asked.produce(0, acks=Acks.ALL))
    assert [effect for effect in effects if isinstance(effect, SetTimer)]
    assert not [effect for effect in effects if isinstance(effect, Reply) and effect.link == asked.client.link]


def test_the_cost_of_metadata_grows_with_changes_only() -> None:
    asked = RequestedBroker(partitions=5)
    for number in range(60):
        asked.cluster.create_topic(f"t{number}", 5)
    asked.now = asked.cluster.simulation.world.now
    event = asked.event(MetadataRequest(topics=None), 12)
    first, told = calls_of(asked, event)
    second, repeated = calls_of(asked, event)
    assert told == repeated
    assert first > 1000 and second <= 40
    delta = Delta(partitions={TopicPartition("t7", 0): None})
    asked.broker.publish(asked.now, delta)
    asked.broker.handle(asked.now, asked.event(MetadataRequest(topics=None), 11))
    third, repeated = calls_of(asked, event)
    assert told == repeated
    assert third <= 300, "four for each topic; to describe and encode it takes twenty"


def test_a_lookup_by_time_uses_the_index() -> None:
    asked = RequestedBroker()
    log = asked.broker.parts.replicas.partitions[TopicPartition(TOPIC, 0)].log
    for number in range(1000):
        log.append_as_leader(batch(1, size=1000, timestamp=number), leader_epoch=0, now_ms=number)
    log.update_high_watermark(1000)
    partitions = [ListOffsetsPartition(partition_index=0, timestamp=900)]
    topics = [ListOffsetsTopic(name=TOPIC, partitions=partitions)]
    request = ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=topics)
    count, effects = calls_of(asked, asked.event(request, 7))
    [reply] = [effect for effect in effects if isinstance(effect, Reply)]
    answer = decode_response(b"".join(reply.chunks), key_of(ListOffsetsRequest), 7).body
    assert isinstance(answer, ListOffsetsResponse)
    assert [(row.timestamp, row.offset) for row in answer.topics[0].partitions] == [(900, 900)]
    assert count < 200, "a thousand batches lie in the log, four between two rows of the index"
