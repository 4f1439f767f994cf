"""A broker that starts repeats its registration until it is accepted, and serves nothing until it has caught up."""

from __future__ import annotations

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.node.lifecycle import RETRY_MS
from kmirror.kernel.events import Reply, RequestReceived
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.headers import encode_request
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation
from tests.client_links import link_opened

TP = TopicPartition("t", 0)


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(Simulation(1), "a")
    made.start()
    topic = CreatableTopic(name="t", num_partitions=1, replication_factor=3)
    made.client.call(made.endpoint(1), CreateTopicsRequest(topics=[topic]), 7)
    made.simulation.run_until(lambda: made.leader(TP) is not None and made.is_settled())
    return made


def test_a_restarted_leader_does_not_lead_in_its_old_epoch(cluster: Cluster) -> None:
    before = cluster.leader(TP)
    assert before is not None
    old = before.broker_id
    cluster.kill(old)
    cluster.restart(old)

    def leads_in_old_epoch() -> bool:
        partition = cluster.broker(old).parts.replicas.partitions.find_led(TP)
        return partition is not None and partition.leader_epoch == before.leader_epoch

    for _ in range(300):
        cluster.simulation.run_for(span_s=0.1)
        assert not leads_in_old_epoch()
    assert cluster.is_settled()
    leader = cluster.leader(TP)
    assert leader is not None and leader.leader_epoch > before.leader_epoch


def test_requests_wait_until_a_broker_has_caught_up(cluster: Cluster) -> None:
    cluster.kill(2)
    cluster.restart(2)
    world = cluster.simulation.world
    frame = encode_request(ApiVersionsRequest(), 0, correlation_id=1, client_id=None)
    broker = cluster.broker(2)
    client = link_opened("stranger", "raw", 1)
    effects = broker.handle(world.now, client) + broker.handle(world.now, RequestReceived(client.link, frame))
    assert not any(isinstance(effect, Reply) for effect in effects)
    cluster.client.call(cluster.endpoint(2), ApiVersionsRequest(), 0)
    assert broker.parts.lifecycle.caught_up and broker.context.image.topics


def test_a_client_that_sends_far_ahead_is_answered_in_order(cluster: Cluster) -> None:
    """Some requests wait in the broker, the others in the network."""
    cluster.kill(2)
    cluster.restart(2)
    told: list[int] = []
    for number in range(40):
        cluster.client.send(
            cluster.endpoint(2),
            ApiVersionsRequest(),
            lambda reply, number=number: told.append(number if reply else -1),  # type: ignore[misc]
        )
    cluster.simulation.run_until(lambda: len(told) == 40)
    assert told == list(range(40))


def test_a_broker_without_a_rack_has_none(cluster: Cluster) -> None:
    answer = cluster.client.call(cluster.endpoint(1), MetadataRequest(topics=[]), 12)
    assert isinstance(answer, MetadataResponse)
    assert [broker.rack for broker in answer.brokers] == [None] * 3


def test_a_broker_with_open_logs_is_unfenced_without_a_pause() -> None:
    """Not at the next heartbeat of a fenced broker, which would be a tenth of a second later."""
    made = Cluster(Simulation(1), "a", brokers=1)
    world = made.simulation.world
    for node_id in (CONTROLLER_ID, 1):
        world.start(made.process(node_id))
    lifecycle = made.broker(1).parts.lifecycle
    made.simulation.run_until(lambda: lifecycle.epoch >= 0)
    registered = made.simulation.now_ms
    made.simulation.run_until(lambda: not lifecycle.fenced)
    assert made.simulation.now_ms - registered < RETRY_MS
