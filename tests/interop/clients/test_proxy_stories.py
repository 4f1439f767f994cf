"""Reactions of librdkafka to a fault, and the result in Kafka's log. One story for each kind of rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kmirror.hooks.hook import Hook
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.proxy.proxy import Proxy
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.releases import last_version
from tests.interop.clients.proxied import Proxied
from tests.net.wire import Wire

WITHIN_S = 30
QUIET = {"log_level": 0, "retry.backoff.ms": 20, "reconnect.backoff.ms": 20}
VALUES = [b"%d" % number for number in range(10)]
FIRST = 1
"""The log start of a topic."""


@pytest.fixture
def proxy(proxied: Proxied) -> Iterator[Proxy]:
    yield proxied.proxy
    proxied.proxy.clear()
    assert not proxied.proxy.ended_nodes


@pytest.fixture
def topic(request: pytest.FixtureRequest, proxied: Proxied) -> str:
    """Return a new topic of one partition with one record: all relevant brokers know it by then."""
    name = re.sub("[^A-Za-z0-9]+", "-", f"story-{request.node.name}")
    admin = AdminClient({"bootstrap.servers": proxied.direct, **QUIET})
    admin.create_topics([NewTopic(name, 1, 3)])[name].result(WITHIN_S)
    assert produce(proxied.direct, name, [b"first"]) == [None]
    for done in admin.delete_records([TopicPartition(name, 0, FIRST)]).values():
        done.result(WITHIN_S)
    return name


def produce(at: str, topic: str, values: list[bytes] = VALUES, **config: Any) -> list[str | None]:
    """Write the batches in order, and return the name of each one's error."""
    told: list[str | None] = []
    producer = Producer({"bootstrap.servers": at, "linger.ms": 0, "delivery.timeout.ms": 20_000, **QUIET, **config})
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: told.append(error and error.name()))
        producer.flush(WITHIN_S)
    return told


def read(at: str, topic: str, count: int, **config: Any) -> list[bytes]:
    """Return the values of a topic, up to `count` of them."""
    group = {"group.id": topic, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer({"bootstrap.servers": at, **group, **QUIET, **config})
    consumer.subscribe([topic])
    found: list[bytes] = []
    try:
        while len(found) < count:
            message = consumer.poll(WITHIN_S)
            assert message is not None, f"after {found}"
            if message.error() is None:
                found.append(message.value())
    finally:
        consumer.close()
    return found


def in_log(proxied: Proxied, topic: str) -> list[bytes]:
    """Return all values in the Kafka cluster's log."""
    produce(proxied.direct, topic, [b"end"])
    found: list[bytes] = []
    more = Consumer(
        {"bootstrap.servers": proxied.direct, "group.id": f"{topic}-log", "auto.offset.reset": "earliest", **QUIET}
    )
    more.subscribe([topic])
    while b"end" not in found:
        message = more.poll(WITHIN_S)
        assert message is not None and message.error() is None, found
        found.append(message.value())
    more.close()
    return found[:-1]


def test_errors_are_tried_again(proxied: Proxied, proxy: Proxy, topic: str) -> None:
    hook = proxy.inject(ErrorCode.NOT_LEADER_OR_FOLLOWER, api="Produce", topic=topic, every=2, times=3)
    assert produce(proxy.bootstrap_servers, topic) == [None] * 10 and hook.count == 3
    assert in_log(proxied, topic) == VALUES


def test_a_final_error_reaches_the_application(proxied: Proxied, proxy: Proxy, topic: str) -> None:
    proxy.inject(ErrorCode.INVALID_RECORD, api="Produce", topic=topic, nth=3, times=1)
    told = produce(proxy.bootstrap_servers, topic)
    assert told == [None, None, "INVALID_RECORD", *[None] * 7]
    assert in_log(proxied, topic) == [value for value in VALUES if value != b"2"]


@pytest.mark.parametrize("applied", [False, True])
def test_an_idempotent_producer_writes_an_unanswered_batch_once(
    proxied: Proxied, proxy: Proxy, topic: str, applied: bool
) -> None:
    hook = proxy.on("Produce", topic=topic, nth=2, every=3, times=3).close(applied=applied)
    assert produce(proxy.bootstrap_servers, topic, **{"enable.idempotence": True}) == [None] * 10
    assert hook.count == 3
    assert in_log(proxied, topic) == VALUES


def test_without_idempotence_an_unanswered_batch_is_written_twice(proxied: Proxied, proxy: Proxy, topic: str) -> None:
    """So the broker did act: the story before is no coincidence."""
    proxy.on("Produce", topic=topic, nth=2, times=1).close(applied=True)
    assert produce(proxy.bootstrap_servers, topic, **{"enable.idempotence": False}) == [None] * 10
    assert in_log(proxied, topic) == [VALUES[0], VALUES[1], *VALUES[1:]]


def test_a_commit_whose_response_is_lost_is_a_commit(proxied: Proxied, proxy: Proxy, topic: str) -> None:
    hook = proxy.on("EndTxn", times=1).close(applied=True)
    producer = Producer({"bootstrap.servers": proxy.bootstrap_servers, "transactional.id": topic, **QUIET})
    producer.init_transactions(WITHIN_S)
    producer.begin_transaction()
    producer.produce(topic, b"a")
    try:
        producer.commit_transaction(WITHIN_S)
    except KafkaException as error:
        assert error.args[0].retriable()
        producer.commit_transaction(WITHIN_S)
    assert hook.count == 1
    assert read(proxied.direct, topic, 1, **{"isolation.level": "read_committed"}) == [b"a"]


COORDINATOR = ErrorCode.NOT_COORDINATOR
ORDERS: list[Callable[[Proxy, str], Hook]] = [
    lambda proxy, topic: proxy.inject(ErrorCode.UNKNOWN_LEADER_EPOCH, api="Fetch", topic=topic, times=2),
    lambda proxy, topic: proxy.inject(COORDINATOR, api="JoinGroup", times=1),
    lambda proxy, topic: proxy.inject(ErrorCode.REBALANCE_IN_PROGRESS, api="SyncGroup", times=1, applied=True),
    lambda proxy, topic: proxy.on("FindCoordinator", times=1).close(),
    lambda proxy, topic: proxy.on("Fetch", topic=topic, times=2).close(applied=True),
    lambda proxy, topic: proxy.on("Fetch", topic=topic, times=2).delay(50),
    lambda proxy, topic: proxy.on("Fetch", topic=topic, times=2).throttle(50),
    lambda proxy, topic: proxy.on("OffsetFetch", times=1).slow(1000),
]


@pytest.mark.parametrize("order", ORDERS, ids=range(len(ORDERS)))
def test_a_consumer_still_reads_everything(
    proxied: Proxied, proxy: Proxy, topic: str, order: Callable[[Proxy, str], Hook]
) -> None:
    produce(proxied.direct, topic)
    hook = order(proxy, topic)
    assert read(proxy.bootstrap_servers, topic, 10) == VALUES
    assert hook.count > 0


@pytest.mark.parametrize("applied", [False, True])
def test_a_producer_gives_up_a_broker_that_never_responds(
    proxied: Proxied, proxy: Proxy, topic: str, applied: bool
) -> None:
    """If the broker acted, it had the batch already: then the same batch came twice, and was appended once."""
    hook = proxy.on("Produce", topic=topic, times=1).drop(applied=applied)
    config = {"socket.timeout.ms": 1000, "request.timeout.ms": 900, "enable.idempotence": True}
    assert produce(proxy.bootstrap_servers, topic, [b"a"], **config) == [None]
    assert hook.count == 1 and in_log(proxied, topic) == [b"a"]


def test_a_record_with_a_held_response_is_stored(proxied: Proxied, proxy: Proxy, topic: str) -> None:
    held = proxy.on("Produce", topic=topic, times=1).hold(applied=True)
    told: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": proxy.bootstrap_servers, "linger.ms": 0, **QUIET})
    producer.produce(topic, b"a", on_delivery=lambda error, _: told.append(error))
    proxy.until(lambda: len(held.requests) == 1)
    assert read(proxied.direct, topic, 1) == [b"a"] and told == []
    held.release()
    producer.flush(WITHIN_S)
    assert told == [None]


def test_a_client_of_now_meets_a_broker_of_then(proxied: Proxied, proxy: Proxy, topic: str) -> None:
    proxy.play("2.8")
    before = len(proxied.exchanges)
    assert produce(proxy.bootstrap_servers, topic) == [None] * 10
    assert read(proxy.bootstrap_servers, topic, 10) == VALUES
    versions = {(row.api, row.head.api_version) for row in proxied.exchanges[before:] if row.head is not None}
    asked = {(api, version) for api, version in versions if api != "ApiVersions"}
    assert {api for api, _ in asked} >= {"Produce", "Fetch", "Metadata", "JoinGroup"}
    assert [row for row in asked if row[1] > last_version(row[0], "2.8")] == []


def test_records_are_the_same_bytes(proxied: Proxied, proxy: Proxy, topic: str) -> None:
    produce(proxy.bootstrap_servers, topic, **{"compression.type": "zstd", "batch.num.messages": 3})
    assert fetch_records(proxy.bootstrap_servers, topic) == fetch_records(proxied.direct, topic) != b""


def fetch_records(at: str, topic: str) -> bytes:
    """Return a partition's records in its leader's response; the leader is found as in a client."""
    with Wire(at.split(",")[0]) as wire:
        asked = [MetadataRequestTopic(name=topic)]
        metadata = wire.ask(MetadataRequest(topics=asked, allow_auto_topic_creation=False), 9)
        assert isinstance(metadata, MetadataResponse)
    leader = metadata.topics[0].partitions[0].leader_id
    (row,) = [row for row in metadata.brokers if row.node_id == leader]
    with Wire(f"{row.host}:{row.port}") as wire:
        parts = [FetchPartition(partition=0, fetch_offset=FIRST, partition_max_bytes=1 << 20)]
        answer = wire.ask(FetchRequest(max_bytes=1 << 20, topics=[FetchTopic(topic=topic, partitions=parts)]), 12)
        assert isinstance(answer, FetchResponse)
        return bytes(answer.responses[0].partitions[0].records or b"")
