"""Replication inside one cluster: guarantees for producers and followers."""

from __future__ import annotations

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation

TP = TopicPartition("t", 0)


def cluster_of(brokers: int) -> Cluster:
    cluster = Cluster(Simulation(1), "a", brokers=brokers)
    cluster.start()
    cluster.create_topic("t")
    return cluster


def test_a_write_is_acknowledged_when_the_last_lagging_follower_leaves_the_isr() -> None:
    cluster = cluster_of(2)
    leader = cluster.leader(TP)
    assert leader is not None
    follower = next(b for b in cluster.broker_ids if b != leader.broker_id)
    cluster.kill(follower)
    before = cluster.simulation.now_ms
    cluster.produce("t", 0, [b"alone"])
    # The controller fences the dead follower after broker.session.timeout.ms; nothing else fetches or writes here.
    assert cluster.simulation.now_ms - before < 10_000
    assert leader.log.high_watermark == leader.log.log_end_offset == 1


def test_an_altered_topic_config_reaches_the_open_log() -> None:
    cluster = cluster_of(1)
    config = AlterableConfig(name="internal.segment.bytes", config_operation=0, value="1234")
    request = IncrementalAlterConfigsRequest(
        resources=[AlterConfigsResource(resource_type=2, resource_name="t", configs=[config])]
    )
    cluster.client.call(cluster.endpoint(1), request, 1)
    cluster.simulation.run_for(span_s=1)
    leader = cluster.leader(TP)
    assert leader is not None and leader.log.config.segment_bytes == 1234


@pytest.mark.decision("D74")
def test_a_broker_disconnected_from_its_controller_for_three_seconds_is_not_fenced() -> None:
    """By default a session lasts nine seconds, and a request may take thirty."""
    cluster = cluster_of(3)
    line = cluster.simulation.line("a-2", "a-controller")
    line.take_down()
    cluster.simulation.run_for(span_s=3)
    line.bring_up()
    for _ in range(100):
        cluster.simulation.run_for(span_s=0.2)
        assert cluster.image.brokers.is_alive(2)


@pytest.mark.decision("D74")
def test_a_reconnected_broker_learns_the_decisions_it_missed() -> None:
    cluster = cluster_of(3)
    line = cluster.simulation.line("a-2", "a-controller")
    line.take_down()
    cluster.simulation.run_for(span_s=1)
    cluster.client.call(
        cluster.endpoint(1),
        CreateTopicsRequest(topics=[CreatableTopic(name="u", num_partitions=1, replication_factor=1)]),
        7,
    )
    cluster.simulation.run_for(span_s=1)
    assert "u" not in cluster.broker(2).parts.context.image.topics
    line.bring_up()
    cluster.simulation.run_for(span_s=2.2)
    assert "u" in cluster.broker(2).parts.context.image.topics


@pytest.mark.decision("D74")
def test_a_broker_restarted_without_its_controller_is_unfenced_soon_after() -> None:
    """Its registration was lost: it is sent again after half a session, not after `request.timeout.ms`."""
    cluster = cluster_of(3)
    cluster.kill(2)
    cluster.simulation.run_until(lambda: not cluster.image.brokers.is_alive(2), what="the end of its session")
    line = cluster.simulation.line("a-2", "a-controller")
    line.take_down()
    cluster.restart(2)
    cluster.simulation.run_for(span_s=3)
    line.bring_up()
    cluster.simulation.run_for(span_s=4)
    assert cluster.image.brokers.is_alive(2)
