"""Steps of confluent-kafka (librdkafka) against a cluster."""

from __future__ import annotations

from typing import Any

from confluent_kafka import (
    OFFSET_END,
    TIMESTAMP_LOG_APPEND_TIME,
    IsolationLevel,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)

from tests.interop.clients import confluent_groups as groups
from tests.interop.clients.confluent_kit import (
    CODECS,
    WAIT,
    admin,
    consumer,
    error,
    make,
    outcome,
    outcomes,
    producer,
    read,
    read_all,
    reader,
    send,
    shown,
    values,
)
from tests.interop.clients.steps import Target, eventually, run

# -- the cluster and its topics -----------------------------------------------------------------


def cluster(target: Target) -> Any:
    client = admin(target)
    seen = client.describe_cluster(request_timeout=WAIT).result(WAIT)
    listed = client.list_topics(timeout=WAIT)
    return {
        "nodes": sorted(node.id for node in seen.nodes),
        "racks": [node.rack for node in seen.nodes],
        "controller is one of them": seen.controller.id in [node.id for node in seen.nodes],
        "operations": seen.authorized_operations,
        "same id": seen.cluster_id == listed.cluster_id and len(listed.cluster_id),
        "operations asked for": sorted(
            operation.name
            for operation in client.describe_cluster(include_authorized_operations=True)
            .result(WAIT)
            .authorized_operations
        ),
    }


def create_topics(target: Target) -> Any:
    client = admin(target)
    name = target.named("created")
    rows = {
        "first": NewTopic(name, 3, target.factor, config={"retention.ms": "1000000"}),
        "again": NewTopic(name, 3, target.factor),
        "defaults": NewTopic(target.named("defaults")),
        "only tried": NewTopic(target.named("tried"), 2, target.factor),
        "no partitions": NewTopic(target.named("none"), 0, 1),
        "too many replicas": NewTopic(target.named("replicas"), 1, target.brokers + 1),
        "no replicas": NewTopic(target.named("no-replicas"), 1, 0),
        "bad character": NewTopic("bad name/", 1, 1),
        "dots": NewTopic("..", 1, 1),
        "long": NewTopic("x" * 250, 1, 1),
        "unknown config": NewTopic(target.named("unknown"), 1, 1, config={"retention.sm": "1"}),
        "bad value": NewTopic(target.named("value"), 1, 1, config={"cleanup.policy": "shred"}),
        "not a number": NewTopic(target.named("number"), 1, 1, config={"retention.ms": "soon"}),
        "out of range": NewTopic(target.named("range"), 1, 1, config={"segment.bytes": "1"}),
        "placed": NewTopic(target.named("placed"), 2, replica_assignment=[[1], [1]]),
        "placed nowhere": NewTopic(target.named("nowhere"), 1, replica_assignment=[[77]]),
        "placed twice": NewTopic(target.named("twice"), 1, replica_assignment=[[1, 1]]),
    }
    asked = {"operation_timeout": 10, "request_timeout": WAIT}
    told = {
        title: outcome(client.create_topics([row], validate_only=title == "only tried", **asked)[row.topic])
        for title, row in rows.items()
    }
    return told | {"partly": outcomes(client.create_topics([rows["again"], NewTopic("a b", 1, 1)], **asked))}


def describe_topics(target: Target) -> Any:
    client = admin(target)
    created = [target.named("created"), target.named("defaults")]
    names = TopicCollection([*created, target.named("tried"), target.named("nowhere")])

    def describe(seen: Any) -> Any:
        return {
            "partitions": [
                {
                    "id": p.id,
                    "replicas": len(p.replicas),
                    "isr": len(p.isr),
                    "leads": p.leader.id in [n.id for n in p.isr],
                }
                for p in seen.partitions
            ],
            "internal": seen.is_internal,
            "id": len(str(seen.topic_id)),
            "operations": sorted(one.name for one in seen.authorized_operations),
        }

    return eventually(  # A broker may learn of a topic after the controller's response.
        lambda: outcomes(client.describe_topics(names, include_authorized_operations=True), describe),
        lambda seen: all("partitions" in seen[name] for name in created),
    )


def create_partitions(target: Target) -> Any:
    client = admin(target)
    topic = make(target, "partitions")
    rows = {
        "up": NewPartitions(topic, 3),
        "same": NewPartitions(topic, 3),
        "down": NewPartitions(topic, 1),
        "unknown": NewPartitions(target.named("no-such"), 2),
        "placed": NewPartitions(
            topic, 4, replica_assignment=[[1] * target.factor if target.factor == 1 else [1, 2, 3]]
        ),
        "placed badly": NewPartitions(topic, 6, replica_assignment=[[1], [99]]),
        "placed too few": NewPartitions(topic, 7, replica_assignment=[[1]]),
    }
    told = {
        title: outcome(client.create_partitions([row], operation_timeout=10)[row.topic]) for title, row in rows.items()
    }
    count = eventually(lambda: len(client.list_topics(topic, timeout=WAIT).topics[topic].partitions), lambda n: n == 4)
    return told | {"count": count}


TOPIC_KEYS = ("retention.ms", "cleanup.policy", "max.message.bytes", "segment.bytes", "min.insync.replicas")
BROKER_KEYS = ("log.retention.ms", "log.retention.hours", "num.partitions", "node.id", "message.max.bytes")


def _entries(found: dict[str, ConfigEntry], keys: tuple[str, ...]) -> Any:
    return {
        key: {
            "value": found[key].value,
            "source": found[key].source,
            "read only": found[key].is_read_only,
            "default": found[key].is_default,
            "sensitive": found[key].is_sensitive,
            "synonyms": [[name, one.value, one.source] for name, one in found[key].synonyms.items()],
        }
        for key in keys
    }


def configs(target: Target) -> Any:
    client = admin(target)
    topic = make(target, "configs", retention_ms="1234567")
    here = ConfigResource(ConfigResource.Type.TOPIC, topic)
    broker = ConfigResource(ConfigResource.Type.BROKER, "1")

    def ask(resource: ConfigResource, keys: tuple[str, ...]) -> Any:
        return outcome(client.describe_configs([resource])[resource], lambda found: _entries(found, keys))

    def change(name: str, value: Any, what: AlterConfigOpType = AlterConfigOpType.SET, where: str = topic) -> Any:
        entry = ConfigEntry(name, value, incremental_operation=what)
        one = ConfigResource(ConfigResource.Type.TOPIC, where, incremental_configs=[entry])
        return outcome(client.incremental_alter_configs([one])[one])

    told: dict[str, Any] = {"topic": ask(here, TOPIC_KEYS), "broker": ask(broker, BROKER_KEYS)}
    names = outcome(client.describe_configs([here])[here], lambda found: sorted(found))
    told["names"] = names
    told["no such topic"] = ask(ConfigResource(ConfigResource.Type.TOPIC, target.named("no-such")), ())
    told["changes"] = {
        "set": change("max.message.bytes", "2000"),
        "append": change("cleanup.policy", "compact", AlterConfigOpType.APPEND),
        "append to no list": change("retention.ms", "5", AlterConfigOpType.APPEND),
        "remove": change("retention.ms", None, AlterConfigOpType.DELETE),
        "bad value": change("retention.ms", "never"),
        "unknown": change("retention.sm", "1"),
        "no such topic": change("retention.ms", "1", where=target.named("no-such")),
    }
    told["after"] = eventually(
        lambda: ask(here, ("retention.ms", "cleanup.policy", "max.message.bytes")),
        lambda seen: seen["max.message.bytes"]["value"] == "2000" and seen["retention.ms"]["value"] != "1234567",
    )
    return told


# -- producing and consuming --------------------------------------------------------------------


def codecs(target: Target) -> Any:
    told = {}
    for codec in CODECS:
        topic = make(target, f"codec-{codec}")
        client = producer(target, compression_type=codec, linger_ms=20, batch_num_messages=100)
        offsets = send(client, topic, [b"v%d" % n * 50 for n in range(5)], key=b"k", headers=[("h", b"1"), ("n", None)])
        told[codec] = {"offsets": offsets, "read": [shown(message) for message in read_all(target, topic)]}
    return told


def nulls_and_times(target: Target) -> Any:
    topic = make(target, "nulls")
    client = producer(target)
    rows = [(None, None), (b"", b""), (b"key", None), (None, b"value")]
    for key, value in rows:
        client.produce(topic, value, key, timestamp=1_700_000_000_000, headers=[("same", b"1"), ("same", b"2")])
    client.flush(WAIT)
    stamped = make(target, "stamped", message_timestamp_type="LogAppendTime")
    send(client, stamped, [b"x"], timestamp=1)
    late = read_all(target, stamped)[0].timestamp()
    return {
        "rows": [shown(message, times=True) for message in read_all(target, topic)],
        "stamped by the broker": late[0] == TIMESTAMP_LOG_APPEND_TIME and late[1] > 1_700_000_000_000,
    }


def idempotent(target: Target) -> Any:
    topic = make(target, "idempotent", 2)
    client = producer(target, enable_idempotence=True)
    told = [send(client, topic, [b"%d" % n for n in range(10)], partition) for partition in (0, 1, 0)]
    return {"offsets": told, "read": values(read_all(target, topic))}


def acks(target: Target) -> Any:
    topic = make(target, "acks")
    told = {str(level): send(producer(target, acks=level), topic, [b"x"]) for level in (1, -1)}
    none = producer(target, acks=0)
    none.produce(topic, b"x", partition=0)
    none.flush(WAIT)
    client = reader(target, "read_committed")
    end = eventually(lambda: client.get_watermark_offsets(TopicPartition(topic, 0), WAIT), lambda marks: marks[1] == 3)
    return told | {"watermarks": end}


def refused_to_produce(target: Target) -> Any:
    small = make(target, "small", max_message_bytes="300")
    future = make(target, "future", message_timestamp_after_max_ms="1000")
    compacted = make(target, "compacted", cleanup_policy="compact")
    lonely = make(target, "lonely", min_insync_replicas="3")
    client = producer(target, message_timeout_ms=3000, enable_idempotence=True)
    plain = producer(target, message_timeout_ms=1500, retries=0)
    return {
        "too large": send(plain, small, [b"x" * 1000]),
        "too large, idempotent": send(client, small, [b"x" * 1000]),
        "from the future": send(plain, future, [b"x"], timestamp=4_000_000_000_000),
        "without a key": send(plain, compacted, [b"x"]),
        "no such partition": _no_such_partition(plain, small),
        "too few replicas": send(plain, lonely, [b"x"]) if target.brokers == 1 else None,
    }


def _no_such_partition(client: Producer, topic: str) -> Any:
    try:
        return send(client, topic, [b"x"], partition=7)
    except KafkaException as raised:
        return error(raised)


def auto_created(target: Target) -> Any:
    topic = target.named("by-itself")
    wary = consumer(target, "wary", allow_auto_create_topics=False)
    wary.subscribe([target.named("not-made")])
    first = wary.poll(WAIT)
    wary.close()
    offsets = send(producer(target, topic_metadata_refresh_interval_ms=200), topic, [b"x"])
    seen = admin(target).list_topics(topic, timeout=WAIT).topics[topic]
    return {
        "offsets": offsets,
        "partitions": len(seen.partitions),
        "replicas": len(seen.partitions[0].replicas),
        "not made": first and first.error() and error(KafkaException(first.error())),
    }


def consume_by_assignment(target: Target) -> Any:
    topic = make(target, "assigned", 2)
    client = producer(target)
    for n in range(10):
        client.produce(topic, b"%d" % n, partition=n % 2, timestamp=1_700_000_000_000 + 1000 * n)
    client.flush(WAIT)
    client = reader(target, "read_committed")
    asked = [
        TopicPartition(topic, partition, 1_700_000_000_000 + ms) for partition, ms in ((0, 0), (1, 3500), (0, 99_000))
    ]
    told: dict[str, Any] = {
        "by time": [[found.offset for found in client.offsets_for_times([one], WAIT)] for one in asked],
        "watermarks": client.get_watermark_offsets(TopicPartition(topic, 1), WAIT),
        "beginning": values(read_all(target, topic)),
        "from 3": values(read_all(target, topic, 3)),
        "end": values(read_all(target, topic, OFFSET_END)),
        "tail": values(read_all(target, topic, -2002)),
        "past the end": values(read_all(target, topic, 99)),
    }
    client.assign([TopicPartition(topic, 0, 0), TopicPartition(topic, 1, 0)])
    told["both"] = sorted(values(read(client, ends=2)))
    client.seek(TopicPartition(topic, 1, 4))
    told["after seek"] = values(read(client))
    client.unassign()
    strict = consumer(target, auto_offset_reset="error")
    strict.assign([TopicPartition(topic, 0, 99)])
    try:
        told["out of range"] = values(read(strict))
    except KafkaException as raised:
        told["out of range"] = error(raised)["code"]
    strict.close()
    return told


# -- transactions -------------------------------------------------------------------------------


def transactions(target: Target) -> Any:
    topic = make(target, "transactions")
    client = producer(target, transactional_id=target.named("tx"))
    client.init_transactions(WAIT)
    for name, ends in (("a", True), ("b", False), ("c", True)):
        client.begin_transaction()
        for n in range(3):
            client.produce(topic, f"{name}{n}".encode(), partition=0)
        client.flush(WAIT)
        client.commit_transaction(WAIT) if ends else client.abort_transaction(WAIT)
    told: dict[str, Any] = {
        "committed": [shown(message) for message in read_all(target, topic, isolation="read_committed")],
        "uncommitted": values(read_all(target, topic, isolation="read_uncommitted")),
    }
    client.begin_transaction()
    told["open"] = send(client, topic, [b"open"])
    told["while open"] = values(read_all(target, topic, isolation="read_committed"))
    told["latest"] = {
        level.name: outcome(
            admin(target).list_offsets({TopicPartition(topic, 0): OffsetSpec.latest()}, isolation_level=level)[
                TopicPartition(topic, 0)
            ],
            lambda found: [found.offset, found.leader_epoch],
        )
        for level in (IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED)
    }
    second = producer(target, transactional_id=target.named("tx"))
    second.init_transactions(WAIT)
    try:
        client.produce(topic, b"fenced", partition=0)
        client.commit_transaction(WAIT)
    except KafkaException as raised:
        told["fenced"] = error(raised)
    told["after the fence"] = values(read_all(target, topic, isolation="read_committed"))
    return told


def offsets_in_transactions(target: Target) -> Any:
    source, sink = make(target, "tx-source"), make(target, "tx-sink")
    send(producer(target), source, [b"1", b"2", b"3"])
    client = producer(target, transactional_id=target.named("copier"))
    client.init_transactions(WAIT)
    told: dict[str, Any] = {}
    for title, ends in (("aborted", False), ("committed", True)):
        member = consumer(target, "copiers")
        member.subscribe([source])
        messages = read(member)
        client.begin_transaction()
        for message in messages:
            client.produce(sink, message.value() + b"!", partition=0)
        positions = member.position(member.assignment())
        client.send_offsets_to_transaction(positions, member.consumer_group_metadata(), WAIT)
        client.commit_transaction(WAIT) if ends else client.abort_transaction(WAIT)
        told[title] = {
            "read": values(messages),
            "sink": values(read_all(target, sink, isolation="read_committed")),
            "offsets": [one.offset for one in member.committed([TopicPartition(source, 0)], WAIT)],
        }
        member.close()
    return told


# -- records and the end of topics --------------------------------------------------------------


def delete_records(target: Target) -> Any:
    topic = make(target, "shortened")
    for n in range(6):
        send(producer(target), topic, [b"%d" % n], timestamp=1_700_000_000_000 + n % 4)
    client = admin(target)

    def delete(offset: int, partition: int = 0, name: str = topic) -> Any:
        (future,) = client.delete_records([TopicPartition(name, partition, offset)]).values()
        return outcome(future, lambda found: found.low_watermark)

    here = TopicPartition(topic, 0)

    def ask(spec: OffsetSpec) -> Any:
        return outcome(client.list_offsets({here: spec})[here], lambda found: [found.offset, found.leader_epoch])

    told: dict[str, Any] = {"to 2": delete(2), "to 1": delete(1), "past the end": delete(99)}
    told["no such topic"] = delete(1, name=target.named("no-such"))
    told["left"] = values(read_all(target, topic))
    told["offsets"] = {
        "earliest": ask(OffsetSpec.earliest()),
        "latest": ask(OffsetSpec.latest()),
        "max timestamp": ask(OffsetSpec.max_timestamp()),
        "by time": ask(OffsetSpec.for_timestamp(1)),
        "after all": ask(OffsetSpec.for_timestamp(4_000_000_000_000)),
    }
    told["to the end"] = [delete(OFFSET_END), ask(OffsetSpec.earliest())]
    return told


def delete_topics(target: Target) -> Any:
    topic = make(target, "doomed")
    client = admin(target)
    send(producer(target), topic, [b"x"])
    told = outcomes(client.delete_topics([topic, target.named("no-such")], operation_timeout=10))
    gone = eventually(
        lambda: outcomes(client.describe_topics(TopicCollection([topic]))), lambda seen: seen[topic] != "ok"
    )
    make(target, "doomed")
    return {"told": told, "gone": gone, "new one": values(read_all(target, topic))}


STEPS = [
    cluster,
    create_topics,
    describe_topics,
    create_partitions,
    configs,
    codecs,
    nulls_and_times,
    idempotent,
    acks,
    refused_to_produce,
    auto_created,
    consume_by_assignment,
    transactions,
    offsets_in_transactions,
    groups.rebalance,
    groups.static_members,
    groups.commit_and_resume,
    groups.admin_of_groups,
    delete_records,
    delete_topics,
]

if __name__ == "__main__":
    run("confluent", STEPS, error)
