"""Auto-creation of requested topics, if configs and request allow it; descriptions of topics and brokers."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.controller.controller import Controller
from kmirror.protocol.gen.create_topics_request import CreateTopicsRequest
from kmirror.protocol.gen.describe_cluster_request import DescribeClusterRequest
from kmirror.protocol.gen.describe_topic_partitions_request import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.message import Message
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import TRANSACTION_TOPIC
from tests.sim.stage import SMALL, StagedCluster


def start_cluster(**configs: str) -> StagedCluster:
    own = {name.replace("_", "."): value for name, value in configs.items()}
    cluster = StagedCluster(Simulation(4), "a", configs={**SMALL, **own})
    cluster.start()
    return cluster


def ask(cluster: StagedCluster, *names: str, create: bool = True, version: int = 12) -> list[ErrorCode]:
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names], allow_auto_topic_creation=create
    )
    reply: Any = cluster.client.call(cluster.endpoint(1), request, version)
    return [ErrorCode(row.error_code) for row in reply.topics]


UNKNOWN, INVALID = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return a list that receives the topics of each CreateTopics that a controller decides."""
    seen: list[list[str]] = []
    decide = Controller.decide

    def record_request(self: Controller, now: int, body: Message, *rest: Any) -> Message | None:
        if isinstance(body, CreateTopicsRequest):
            seen.append([topic.name for topic in body.topics])
        return decide(self, now, body, *rest)

    monkeypatch.setattr(Controller, "decide", record_request)
    return seen


def test_a_requested_topic_is_created_soon(orders: list[list[str]]) -> None:
    cluster = start_cluster(num_partitions="3")
    cluster.simulation.line(cluster.process(1), cluster.process(CONTROLLER_ID)).set(latency_ms=200)
    for _ in range(2):
        assert ask(cluster, "a", "b d", "b") == [UNKNOWN, INVALID, UNKNOWN]
    cluster.simulation.run_for(span_s=1)
    assert ask(cluster, "a", "b") == [ErrorCode.NONE] * 2
    assert orders == [["a", "b"]], "one order for both, and no other while that was under way"
    assert [len(one.replicas) for one in cluster.image.topics["a"].partitions.values()] == [3, 3, 3]


@pytest.mark.parametrize(("configs", "create"), [({}, False), ({"auto_create_topics_enable": "false"}, True)])
def test_nothing_is_created_where_request_or_configs_forbid_it(
    orders: list[list[str]], configs: dict[str, str], create: bool
) -> None:
    cluster = start_cluster(**configs)
    for _ in range(2):
        assert ask(cluster, "a", "b d", create=create) == [UNKNOWN, INVALID]
        cluster.simulation.run_for(span_s=1)
    assert orders == []


def test_a_repeated_request_tries_the_creation_again(orders: list[list[str]]) -> None:
    """The response is not cached, though it equals the one before."""
    cluster = start_cluster()
    assert ask(cluster, "a.b") == [UNKNOWN]
    cluster.simulation.run_until(lambda: "a.b" in cluster.image.topics)
    for _ in range(2):
        assert ask(cluster, "a_b") == [UNKNOWN]
        cluster.simulation.run_for(span_s=1)
    assert orders == [["a.b"], ["a_b"], ["a_b"]]


def test_a_topic_is_requested_again_if_the_controller_did_not_respond() -> None:
    cluster = start_cluster(request_timeout_ms="2000")
    cluster.kill(CONTROLLER_ID)
    assert ask(cluster, "a") == [UNKNOWN]
    cluster.simulation.run_for(span_s=3)
    cluster.restart(CONTROLLER_ID)
    cluster.simulation.run_until(lambda: ask(cluster, "a") == [ErrorCode.NONE], what="the topic")


def test_an_internal_topic_gets_the_size_and_configs_of_its_own() -> None:
    cluster = start_cluster()
    assert ask(cluster, TRANSACTION_TOPIC) == [UNKNOWN]
    cluster.simulation.run_until(lambda: TRANSACTION_TOPIC in cluster.image.topics, what="the topic")
    assert cluster.image.configs.topic(TRANSACTION_TOPIC)["cleanup.policy"] == "compact"
    assert len(cluster.image.topics[TRANSACTION_TOPIC].partitions) == 1


def test_an_offline_broker_is_left_out_or_returned_as_fenced() -> None:
    cluster = start_cluster()
    cluster.place_topic("t", replicas=((1, 2, 3),))
    cluster.kill(3)
    cluster.simulation.run_until(
        lambda: 3 in cluster.broker(1).context.image.brokers and not cluster.broker(1).context.image.brokers.is_alive(3)
    )
    request = MetadataRequest(topics=[MetadataRequestTopic(name="t")])
    old: Any = cluster.client.call(cluster.endpoint(1), request, 0)
    row = old.topics[0].partitions[0]
    assert (ErrorCode(row.error_code), [*row.replica_nodes]) == (ErrorCode.REPLICA_NOT_AVAILABLE, [1, 2])
    new: Any = cluster.client.call(cluster.endpoint(1), request, 12)
    row = new.topics[0].partitions[0]
    assert (row.error_code, [*row.replica_nodes], [*row.offline_replicas]) == (ErrorCode.NONE, [1, 2, 3], [3])
    for with_fenced, expected in ((False, [(1, False), (2, False)]), (True, [(1, False), (2, False), (3, True)])):
        asked = DescribeClusterRequest(include_fenced_brokers=with_fenced)
        reply: Any = cluster.client.call(cluster.endpoint(1), asked, 2)
        assert sorted((one.broker_id, one.is_fenced) for one in reply.brokers) == expected


def test_all_partitions_are_described_page_by_page() -> None:
    cluster = start_cluster(max_request_partition_size_limit="4")
    for name, count in (("b", 3), ("a", 5), ("c", 1)):
        cluster.place_topic(name, replicas=((1, 2, 3),) * count)
    seen: list[tuple[str, int]] = []
    cursor, pages = None, 0
    while pages == 0 or cursor is not None:
        request = DescribeTopicPartitionsRequest(
            topics=[TopicRequest(name=name) for name in ("c", "a", "b")],
            response_partition_limit=100,
            cursor=None
            if cursor is None
            else Cursor(topic_name=cursor.topic_name, partition_index=cursor.partition_index),
        )
        reply: Any = cluster.client.call(cluster.endpoint(2), request, 0)
        page = [(topic.name, row.partition_index) for topic in reply.topics for row in topic.partitions]
        assert 1 <= len(page) <= 4
        seen, cursor, pages = seen + page, reply.next_cursor, pages + 1
    assert seen == [(name, index) for name, count in (("a", 5), ("b", 3), ("c", 1)) for index in range(count)]
    assert pages == 3
