"""A test gets clusters on TCP, and mirrors between them, in one line; failures inside are reported."""

from __future__ import annotations

import socket

import pytest

import kmirror.testing
from kmirror import Hooks
from kmirror.errors import KafkaError, UsageError
from kmirror.kernel.failures import HandlingFailed
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.spec.error_codes import ErrorCode

TP = TopicPartition("orders", 0)


def test_a_cluster_serves_within_its_block_and_not_after_it() -> None:
    with kmirror.testing.cluster(brokers=3, topics={"orders": 6}) as cluster:
        assert cluster.produce("orders", 5, [b"one"]) == 0
        assert len(cluster.partitions()) == 6
        port = int(cluster.bootstrap_servers.rsplit(":", 1)[1])
    with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
        probe.connect(("127.0.0.1", port))


def test_a_cluster_of_one_broker_has_defaults_like_a_fresh_kafka() -> None:
    with kmirror.testing.cluster(configs={"num.partitions": "3"}) as cluster:
        assert cluster.broker_ids == (1,)
        assert cluster.configs["transaction.state.log.num.partitions"] == "5"
        assert cluster.configs["num.partitions"] == "3"


def test_hooks_intercept_requests_of_a_cluster() -> None:
    hooks = Hooks()
    hooks.on(ProduceRequest, times=1).answer(ErrorCode.MESSAGE_TOO_LARGE)
    with kmirror.testing.cluster(topics=["orders"], interpose=hooks) as cluster:
        with pytest.raises(KafkaError, match="MESSAGE_TOO_LARGE"):
            cluster.produce("orders", 0, [b"one"])
        assert cluster.produce("orders", 0, [b"one"]) == 0


def test_a_failure_within_a_node_fails_the_block_and_is_reported() -> None:
    error = RuntimeError("the planted failure")
    with (
        pytest.raises(AssertionError, match=r"please report it(.|\n)*the planted failure"),
        kmirror.testing.cluster(name="broken") as cluster,
    ):
        cluster.failures.append(HandlingFailed("a timer", error))


def test_the_state_of_a_cluster_names_dead_nodes_and_missing_replicas() -> None:
    with kmirror.testing.cluster(brokers=3, topics=["orders"]) as cluster:
        healthy = kmirror.testing.state_of(cluster)
        assert f"bootstrap.servers={cluster.bootstrap_servers}" in healthy
        assert "topic orders, 1 partition: every replica in sync" in healthy
        cluster.stop(2)
        cluster.until(lambda: len(cluster.image.topics["orders"].partitions[0].isr) == 2)
        text = kmirror.testing.state_of(cluster)
        assert f"broker 2 at {cluster.endpoint(2)}: down" in text
        assert "broker 3" in text and "controller: running" in text
        assert "degraded: orders-0 (leader" in text


def test_a_mirror_between_two_clusters_copies_and_fails_over() -> None:
    with kmirror.testing.mirror_pair(topics={"orders": 2}) as pair:
        pair.source.produce("orders", 0, [b"one", b"two"])
        assert pair.state(TP) is None
        pair.add_topics("orders")
        pair.catch_up()
        assert pair.state(TP) is MirrorState.MIRRORING
        assert [record.value for record in pair.destination.read(TP)] == [b"one", b"two"]
        with pytest.raises(KafkaError, match="READ_ONLY_TOPIC"):
            pair.destination.produce("orders", 0, [b"too early"])
        pair.fail_over()
        assert pair.state(TP) is MirrorState.STOPPED
        assert pair.destination.produce("orders", 0, [b"three"]) >= 2


def test_errors_of_a_pair_name_topics_and_states() -> None:
    with kmirror.testing.mirror_pair(topics=["orders"]) as pair:
        with pytest.raises(UsageError, match="has no topics: call add_topics"):
            pair.catch_up()
        with pytest.raises(UsageError, match="cluster source has no topic 'order'"):
            pair.add_topics("order")
        pair.add_topics("orders")
        pair.catch_up()
        pair.destination.kill(1)
        pair.source.produce("orders", 0, [b"unseen"])
        with pytest.raises(KafkaError, match=r"mirror mirror to catch up(.|\n)*states: orders-0 MIRRORING"):
            pair.catch_up(within_s=0.05)
