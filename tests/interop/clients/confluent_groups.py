"""Steps of confluent-kafka (librdkafka) about consumer groups."""

from __future__ import annotations

from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaException,
    TopicPartition,
)

from tests.interop.clients.confluent_kit import (
    WAIT,
    admin,
    consumer,
    error,
    make,
    outcome,
    outcomes,
    producer,
    read,
    send,
    values,
)
from tests.interop.clients.steps import Target, eventually

# -- groups -------------------------------------------------------------------------------------


def _join(client: Consumer, topic: str) -> None:
    client.subscribe([topic])


def _assigned(clients: list[Consumer]) -> list[list[int]]:
    for client in clients:
        client.poll(0.02)
    return [sorted(one.partition for one in client.assignment()) for client in clients]


def _settled(clients: list[Consumer], sizes: list[int]) -> Any:
    return eventually(lambda: _assigned(clients), lambda seen: [len(one) for one in seen] == sizes)


def rebalance(target: Target) -> Any:
    topic = make(target, "rebalance", 4)
    told: dict[str, Any] = {}
    for strategy in ("range", "roundrobin", "cooperative-sticky"):
        asked = {"partition_assignment_strategy": strategy, "client_id": "a"}
        first = consumer(target, f"of-{strategy}", **asked)
        second = consumer(target, f"of-{strategy}", **(asked | {"client_id": "b"}))
        _join(first, topic)
        alone = _settled([first], [4])
        _join(second, topic)
        both = _settled([first, second], [2, 2])
        described = _described(target, f"of-{strategy}", counts_only=strategy == "cooperative-sticky")
        second.close()
        again = _settled([first], [4])
        first.close()
        if strategy == "cooperative-sticky":
            both = [len(one) for one in both]
        told[strategy] = {"alone": alone, "both": both, "again": again, "described": described}
    return told


def _described(target: Target, group: str, counts_only: bool = False) -> Any:
    name = target.named(group)

    def describe(found: Any) -> Any:
        members = sorted(found.members, key=lambda member: (member.client_id, member.group_instance_id or ""))
        return {
            "state": found.state.name,
            "type": found.type.name,
            "assignor": found.partition_assignor,
            "simple": found.is_simple_consumer_group,
            "coordinator": found.coordinator.id in range(1, target.brokers + 1),
            "members": [
                {
                    "client": member.client_id,
                    "instance": member.group_instance_id,
                    "host": member.host,
                    "partitions": len(member.assignment.topic_partitions)
                    if counts_only
                    else sorted(one.partition for one in member.assignment.topic_partitions),
                }
                for member in members
            ],
        }

    return outcome(admin(target).describe_consumer_groups([name], request_timeout=WAIT)[name], describe)


def static_members(target: Target) -> Any:
    topic = make(target, "static", 4)

    def member(name: str) -> Consumer:
        # A session long enough for slow machines: an absent static member keeps its partitions until it ends.
        asked = {"group_instance_id": name, "client_id": name, "session_timeout_ms": 30_000}
        client = consumer(target, "static", partition_assignment_strategy="range", **asked)
        _join(client, topic)
        return client

    first, second = member("one"), member("two")
    before = _settled([first, second], [2, 2])
    second.close()  # A static member does not leave.
    away = _described(target, "static")
    second = member("two")
    back = _settled([first, second], [2, 2])
    usurper = member("one")
    _settled([usurper], [2])
    fenced = eventually(
        lambda: first.poll(0.1), lambda seen: seen and seen.error() and seen.error().name() == "_FATAL", 10
    )
    told = {"before": before, "away": away, "back": back, "fenced": fenced and error(KafkaException(fenced.error()))}
    for client in (first, second, usurper):
        client.close()
    return told


def commit_and_resume(target: Target) -> Any:
    topic = make(target, "resume", 2)
    send(producer(target), topic, [b"%d" % n for n in range(6)])
    first = consumer(target, "resume")
    first.subscribe([topic])
    read_first = values(read(first, ends=2))
    done = TopicPartition(topic, 0, 4, metadata="so far", leader_epoch=0)
    committed = first.commit(offsets=[done], asynchronous=False)
    first.close()
    second = consumer(target, "resume")
    known = second.committed([TopicPartition(topic, 0), TopicPartition(topic, 1)], WAIT)
    second.subscribe([topic])
    rest = values(read(second, ends=2))
    low, high = second.get_watermark_offsets(TopicPartition(topic, 0), WAIT)
    second.commit(asynchronous=False)
    after = second.committed([TopicPartition(topic, 0), TopicPartition(topic, 1)], WAIT)
    second.close()
    stranger = consumer(target, "nobody")
    unknown = [one.offset for one in stranger.committed([TopicPartition(topic, 0)], WAIT)]
    stranger.close()
    return {
        "first": read_first,
        "committed": [[one.partition, one.offset] for one in committed],
        "known": [[one.partition, one.offset, one.metadata, one.leader_epoch] for one in known],
        "lag": high - known[0].offset,
        "rest": rest,
        "after": [[one.partition, one.offset] for one in after],
        "low": low,
        "group that is not there": unknown,
    }


def admin_of_groups(target: Target) -> Any:
    topic = make(target, "grouped", 2)
    send(producer(target), topic, [b"x"] * 5)
    client = admin(target)
    group = target.named("watched")
    member = consumer(target, "watched", client_id="m", partition_assignment_strategy="range")
    member.subscribe([topic])
    read(member, ends=2)
    member.commit(asynchronous=False)
    wanted = ConsumerGroupTopicPartitions(group)

    def offsets() -> Any:
        return outcome(
            client.list_consumer_group_offsets([wanted])[group],
            lambda found: sorted([one.partition, one.offset] for one in found.topic_partitions),
        )

    def alter(offset: int) -> Any:
        asked = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, offset)])
        return outcome(
            client.alter_consumer_group_offsets([asked])[group],
            lambda found: [
                [one.partition, one.offset, one.error and one.error.name()] for one in found.topic_partitions
            ],
        )

    def listed() -> Any:
        found = client.list_consumer_groups(request_timeout=WAIT).result(WAIT)
        return sorted(
            [one.group_id, one.state.name, one.type.name, one.is_simple_consumer_group]
            for one in found.valid
            if one.group_id == group
        )

    told: dict[str, Any] = {
        "listed": listed(),
        "described": _described(target, "watched"),
        "offsets": offsets(),
        "delete while in use": outcomes(client.delete_consumer_groups([group])),
        "alter while in use": alter(1),
    }
    member.close()
    told["empty"] = eventually(lambda: _described(target, "watched"), lambda seen: seen.get("state") == "EMPTY")
    told["altered"] = [alter(2), offsets()]
    told["delete"] = outcomes(client.delete_consumer_groups([group, target.named("no-such")]))
    told["gone"] = [_described(target, "watched"), offsets(), listed()]
    return told
