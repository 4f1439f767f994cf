"""Common parts of the confluent-kafka scripts: clients, reading to the end, forms of messages and errors."""

from __future__ import annotations

import functools
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    NewTopic,
)

from tests.interop.clients.steps import Target, eventually, without_ids

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
WAIT = 20


def error(raised: BaseException) -> Any:
    inner = raised.args[0] if raised.args else None
    if isinstance(raised, KafkaException) and hasattr(inner, "code"):
        return {
            "code": inner.name(),
            "text": without_ids(inner.str()),
            "fatal": inner.fatal(),
            "retriable": inner.retriable(),
            "abortable": inner.txn_requires_abort(),
        }
    return {"type": type(raised).__name__, "text": without_ids(raised)}


def outcome(future: Any, say: Any = lambda value: "ok") -> Any:
    """Return the result of an admin call."""
    try:
        return say(future.result(WAIT))
    except Exception as raised:
        return error(raised)


def outcomes(futures: dict[Any, Any], say: Any = lambda value: "ok") -> dict[str, Any]:
    return {without_ids(key): outcome(future, say) for key, future in futures.items()}


@functools.cache
def admin(target: Target) -> AdminClient:
    """Return the client of this process: a garbage-collected one would drop its pending requests."""
    return AdminClient({"bootstrap.servers": target.bootstrap})


def make(target: Target, name: str, partitions: int = 1, **configs: str) -> str:
    """Create a topic and wait until every broker knows its leaders."""
    topic = target.named(name)
    given = {key.replace("_", "."): value for key, value in configs.items()}
    new = NewTopic(topic, num_partitions=partitions, replication_factor=target.factor, config=given)
    client = admin(target)
    client.create_topics([new], operation_timeout=10)[topic].result(WAIT)
    for _ in range(target.looks):
        eventually(
            lambda: client.list_topics(topic, timeout=WAIT).topics[topic],
            lambda seen: len(seen.partitions) == partitions and all(p.leader >= 0 for p in seen.partitions.values()),
        )
    return topic


def producer(target: Target, **configs: Any) -> Producer:
    given = {key.replace("_", "."): value for key, value in configs.items()}
    return Producer({"bootstrap.servers": target.bootstrap, "linger.ms": 0, **given})


def send(client: Producer, topic: str, values: list[Any], partition: int = 0, **more: Any) -> list[Any]:
    """Produce and return the offset or the error of each value."""
    seen: list[Any] = []

    def delivered(failed: Any, message: Message) -> None:
        seen.append({"code": failed.name(), "text": failed.str()} if failed else message.offset())

    for value in values:
        client.produce(topic, value, partition=partition, on_delivery=delivered, **more)
    client.flush(WAIT)
    return seen


def consumer(target: Target, group: str = "plain", **configs: Any) -> Consumer:
    given = {key.replace("_", "."): value for key, value in configs.items()}
    defaults = {
        "bootstrap.servers": target.bootstrap,
        "group.id": target.named(group),
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "fetch.wait.max.ms": 50,
        "heartbeat.interval.ms": 100,
        "session.timeout.ms": 6000,
        "enable.partition.eof": True,
    }
    return Consumer(defaults | given)


def read(client: Consumer, ends: int = 1) -> list[Message]:
    """Read until `ends` partitions have been read to their ends."""
    messages: list[Message] = []
    while ends:
        message = client.poll(WAIT)
        if message is None:
            raise TimeoutError(f"no end after {len(messages)} messages")
        failed = message.error()
        if failed is None:
            messages.append(message)
        elif failed.name() == "_PARTITION_EOF":
            ends -= 1
        else:
            raise KafkaException(failed)
    return messages


@functools.cache
def reader(target: Target, isolation: str) -> Consumer:
    """Return the consumer of this process: librdkafka takes half a second to start another."""
    return consumer(target, isolation_level=isolation)


def read_all(
    target: Target, topic: str, start: int = OFFSET_BEGINNING, partition: int = 0, isolation: str = "read_committed"
) -> list[Message]:
    client = reader(target, isolation)
    client.assign([TopicPartition(topic, partition, start)])
    try:
        return read(client)
    finally:
        client.unassign()


def shown(message: Message, times: bool = False) -> Any:
    row: dict[str, Any] = {"offset": message.offset(), "epoch": message.leader_epoch()}
    for name, data in (("key", message.key()), ("value", message.value())):
        row[name] = None if data is None else data[:40].decode()
    row["headers"] = [[key, None if value is None else value.decode()] for key, value in message.headers() or []]
    kind, when = message.timestamp()
    return row | {"timestamp type": kind} | ({"timestamp": when} if times else {})


def values(messages: list[Message]) -> list[str]:
    return [message.value().decode() for message in messages]
