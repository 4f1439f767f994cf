"""Steps of kafka-python against a cluster."""

from __future__ import annotations

import functools
import threading
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions, NewTopic, OffsetSpec
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.structs import OffsetAndMetadata

from tests.interop.clients.steps import Target, eventually, run, without_ids

WAIT = 20
POLL_MS = 500  # A much shorter poll gives up joining a group each time.
# Unacknowledged records come last, as the time of their append is unknown.
ACKS = {"1": {"acks": 1}, "all": {"acks": "all"}, "id": {"enable_idempotence": True}, "0": {"acks": 0}}
START = 1_700_000_000_000


def error(raised: BaseException) -> Any:
    return {"type": type(raised).__name__, "text": without_ids(raised)}


def attempt(call: Any, *args: Any, **more: Any) -> Any:
    """Return the result of the call, or a description of its exception."""
    try:
        return call(*args, **more)
    except Exception as raised:
        return error(raised)


@functools.cache
def admin(target: Target) -> KafkaAdminClient:
    return KafkaAdminClient(bootstrap_servers=target.bootstrap.split(","))


def make(target: Target, name: str, partitions: int = 1, **configs: str) -> str:
    topic = target.named(name)
    given = {key.replace("_", "."): value for key, value in configs.items()}
    new = NewTopic(topic, partitions, target.factor, topic_configs=given)
    admin(target).create_topics([new])
    for _ in range(target.looks):
        eventually(
            lambda: admin(target).describe_topics([topic])[0]["partitions"],
            lambda seen: len(seen) == partitions and all(one["leader_id"] >= 0 for one in seen),
        )
    return topic


def producer(target: Target, **configs: Any) -> KafkaProducer:
    return KafkaProducer(bootstrap_servers=target.bootstrap.split(","), **{"enable_idempotence": False, **configs})


def send(client: KafkaProducer, topic: str, values: list[bytes | None], partition: int = 0, **more: Any) -> list[Any]:
    sent = [client.send(topic, value, partition=partition, **more) for value in values]
    return [attempt(lambda one=one: one.get(WAIT).offset) for one in sent]


def consumer(target: Target, **configs: Any) -> KafkaConsumer:
    defaults = {
        "bootstrap_servers": target.bootstrap.split(","),
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
        "fetch_max_wait_ms": 50,
        "heartbeat_interval_ms": 100,
        "session_timeout_ms": 6000,
    }
    return KafkaConsumer(**{**defaults, **configs})


def read(client: KafkaConsumer) -> list[Any]:
    """Read all assigned partitions to their ends."""
    ends = client.end_offsets(list(client.assignment()))
    rows: list[Any] = []

    def more() -> bool:
        rows.extend(row for found in client.poll(timeout_ms=50).values() for row in found)
        return all(client.position(where) >= end for where, end in ends.items())

    eventually(more, bool)
    return sorted(rows, key=lambda row: (row.partition, row.offset))


def read_all(target: Target, topic: str, start: int | None = None, **configs: Any) -> list[Any]:
    client = consumer(target, **configs)
    where = TopicPartition(topic, 0)
    client.assign([where])
    client.seek_to_beginning(where) if start is None else client.seek(where, start)
    try:
        return read(client)
    finally:
        client.close()


def text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def shown(row: Any, times: bool = False) -> Any:
    told = {"offset": row.offset, "key": text(row.key), "value": text(row.value), "kind": row.timestamp_type}
    told["headers"] = [[key, text(value)] for key, value in row.headers]
    told["sizes"] = [row.serialized_key_size, row.serialized_value_size]
    return told | ({"timestamp": row.timestamp} if times else {})


def values(rows: list[Any]) -> list[str]:
    return [row.value.decode() for row in rows]


# -- the cluster and its topics -----------------------------------------------------------------


def cluster(target: Target) -> Any:
    seen = admin(target).describe_cluster()
    brokers = sorted(seen.pop("brokers"), key=lambda row: row["broker_id"])
    for row in brokers:
        row.pop("port")
    known = {seen.pop("controller_id")} <= {row["broker_id"] for row in brokers}
    return {"brokers": brokers, "controller": known, "id": len(seen.pop("cluster_id")), "rest": seen}


def topics(target: Target) -> Any:
    client = admin(target)
    name = target.named("made")

    def create(title: str, *args: Any, **more: Any) -> Any:
        given = client.create_topics([NewTopic(title, *args, **more)], raise_errors=False)["topics"][0]
        given.pop("topic_id", None)
        configs = given.pop("configs", None)
        return given | {
            "configs": configs and {key: configs[key]["value"] for key in ("retention.ms", "segment.bytes")}
        }

    told: dict[str, Any] = {
        "made": create(name, 3, target.factor, topic_configs={"retention.ms": "5"}),
        "again": create(name, 3, target.factor),
        "defaults": create(target.named("made-by-default"), -1, -1),
        "collides": create(name.replace("-", "."), 1, 1),
        "collides 2": create(name.replace("-", "_"), 1, 1),
        "no partitions": create(target.named("none"), 0, 1),
        "replicas": create(target.named("replicas"), 1, 9),
        "odd": create("odd/name", 1, 1),
        "empty": create("", 1, 1),
        "config": create(target.named("config"), 1, 1, topic_configs={"min.insync.replicas": "0"}),
        "null config": create(target.named("config"), 1, 1, topic_configs={"retention.ms": None}),
    }
    eventually(lambda: client.describe_topics([name])[0]["partitions"], lambda seen: len(seen) == 3)
    described = client.describe_topics([name, target.named("no-such")])
    for row in described:
        row.pop("topic_id", None)
        for one in row["partitions"]:
            for key in ("leader_id", "replica_nodes", "isr_nodes"):
                one[key] = len(one[key]) if isinstance(one[key], list) else one[key] > 0
        row["partitions"].sort(key=lambda one: one["partition_index"])
    told["described"] = described

    def grow(topic: str, *args: Any) -> Any:
        given = client.create_partitions({topic: NewPartitions(*args)}, raise_errors=False)
        return [[row.error_code, row.error_message] for row in given.results]

    told["grown"] = [
        grow(name, 4),
        grow(name, 4),
        grow(name, 2),
        grow(target.named("no-such"), 2),
        grow(name, 5, [[7]]),
    ]

    def delete(topic: str) -> Any:
        given = client.delete_topics([topic], raise_errors=False)
        return without_ids({**given, "topics": [{**row, "topic_id": None} for row in given["topics"]]})

    told["deleted"] = [delete(name), delete(target.named("no-such"))]
    return told


def configs(target: Target) -> Any:
    client = admin(target)
    topic = make(target, "configured", retention_ms="777777")

    def describe(kind: ConfigResourceType, name: str, keys: list[str] | None) -> Any:
        asked = ConfigResource(kind, name, configs=keys)
        return attempt(client.describe_configs, [asked], include_synonyms=True, config_filter="all")

    def alter(name: str, what: dict[str, Any], **more: Any) -> Any:
        return attempt(
            client.alter_configs, [ConfigResource(ConfigResourceType.TOPIC, name, what)], raise_on_unknown=False, **more
        )

    # A broker's documentation of configs is not compared: it is Kafka's text.
    def bare(seen: Any) -> Any:
        if isinstance(seen, dict):
            return {key: bare(value) for key, value in seen.items() if key != "documentation"}
        return seen

    kinds = ConfigResourceType
    broker_keys = ["num.partitions", "log.retention.hours", "node.id", "message.max.bytes", "log.segment.bytes"]
    return {
        "topic": bare(describe(kinds.TOPIC, topic, None)),
        "some": bare(describe(kinds.TOPIC, topic, ["retention.ms", "no.such.key"])),
        "broker": bare(describe(kinds.BROKER, "1", broker_keys)),
        "no such topic": describe(kinds.TOPIC, target.named("no-such"), None),
        "set": alter(topic, {"retention.ms": "888888"}),
        "tried": alter(topic, {"retention.ms": "999999"}, validate_only=True),
        "bad": alter(topic, {"retention.ms": "-7"}),
        "unknown": alter(topic, {"x.y": "1"}),
        "nobody's": alter(target.named("no-such"), {"retention.ms": "1"}),
        "whole": alter(topic, {"segment.bytes": "2097152"}, incremental=False),
        "after": eventually(
            lambda: bare(describe(kinds.TOPIC, topic, ["retention.ms", "segment.bytes"])),
            lambda seen: "2097152" in str(seen),
        ),
    }


# -- records ------------------------------------------------------------------------------------


def codecs(target: Target) -> Any:
    told = {}
    for codec in (None, "gzip", "snappy", "lz4", "zstd"):
        topic = make(target, f"codec-{codec}")
        client = producer(target, compression_type=codec, linger_ms=5)
        headers = [("h", b"1"), ("h", b"2")]
        offsets = send(
            client, topic, [b"value %d" % n for n in range(4)], key=b"k", headers=headers, timestamp_ms=START
        )
        client.close()
        told[str(codec)] = {"offsets": offsets, "read": [shown(row, times=True) for row in read_all(target, topic)]}
    return told


def nulls(target: Target) -> Any:
    topic = make(target, "nulls")
    client = producer(target)
    told = [send(client, topic, [value], key=key) for key, value in ((None, b""), (b"", None), (b"k", None))]
    client.close()
    return {"offsets": told, "read": [shown(row) for row in read_all(target, topic)]}


def acks_and_idempotence(target: Target) -> Any:
    topic = make(target, "acks")
    told = {}
    for title, asked in ACKS.items():
        client = producer(target, **asked)
        offsets = send(client, topic, [b"a", b"b"])
        told[title] = offsets if title != "0" else len(offsets)  # kafka-python invents these.
        client.flush()
        client.close()
    return {"told": told, "read": values(eventually(lambda: read_all(target, topic), lambda seen: len(seen) == 8))}


def refused(target: Target) -> Any:
    small, keyed = make(target, "small", max_message_bytes="200"), make(target, "keyed", cleanup_policy="compact")
    future = make(target, "future", message_timestamp_after_max_ms="1000")
    client = producer(target, retries=0)
    return {
        "large": send(client, small, [b"x" * 500]),
        "no key": send(client, keyed, [b"x"]),
        "future": send(client, future, [b"x"], timestamp_ms=4_000_000_000_000),
    }


def by_assignment(target: Target) -> Any:
    topic = make(target, "assigned", 2)
    client = producer(target)
    for n in range(8):
        send(client, topic, [b"%d" % n], partition=n % 2, timestamp_ms=START + n)
    where = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    told: dict[str, Any] = {"from 2": values(read_all(target, topic, 2)), "past": values(read_all(target, topic, 50))}
    strict = consumer(target, auto_offset_reset="none")
    strict.assign(where[:1])
    strict.seek(where[0], 50)
    told["strict"] = attempt(lambda: eventually(lambda: strict.poll(timeout_ms=100), bool, 5))
    reader = consumer(target)
    reader.assign(where)
    told["both"] = values(read(reader))
    found = reader.offsets_for_times({where[0]: START + 3, where[1]: START + 100})
    told["by time"] = [found[one] and [found[one].offset, found[one].timestamp - START] for one in where]
    told["ends"] = [list(reader.beginning_offsets(where).values()), list(reader.end_offsets(where).values())]
    told["specs"] = [
        attempt(lambda spec=spec: admin(target).list_partition_offsets({where[1]: spec})[where[1]].offset)
        for spec in (OffsetSpec.EARLIEST, OffsetSpec.LATEST, OffsetSpec.MAX_TIMESTAMP)
    ]
    told["no such"] = attempt(reader.partitions_for_topic, target.named("never"))
    return told


def delete_records(target: Target) -> Any:
    topic = make(target, "cut")
    send(producer(target), topic, [b"%d" % n for n in range(5)])

    def delete(offset: int) -> Any:
        rows = attempt(admin(target).delete_records, {TopicPartition(topic, 0): offset}, timeout_ms=5000)
        return {str(where): row for where, row in rows.items()}

    return [
        delete(2),
        delete(1),
        delete(9),
        values(read_all(target, topic)),
        delete(-1),
        values(read_all(target, topic)),
    ]


# -- transactions -------------------------------------------------------------------------------


def transactions(target: Target) -> Any:
    topic, source = make(target, "transactions"), make(target, "tx-source")
    send(producer(target), source, [b"1", b"2"])
    client = producer(target, transactional_id=target.named("tx"), enable_idempotence=True)
    client.init_transactions()
    told: dict[str, Any] = {}
    for name, ends in (("a", True), ("b", False), ("c", True)):
        client.begin_transaction()
        send(client, topic, [f"{name}{n}".encode() for n in range(2)])
        client.commit_transaction() if ends else client.abort_transaction()
    for level in ("read_committed", "read_uncommitted"):
        told[level] = [[row.offset, text(row.value)] for row in read_all(target, topic, isolation_level=level)]
    joining = Member(target, source, group_id=target.named("tx-group"), isolation_level="read_committed")
    eventually(lambda: len(joining.rows), lambda seen: seen == 2)
    member = joining.stop()
    where = TopicPartition(source, 0)
    for ends in (False, True):
        client.begin_transaction()
        send(client, topic, [b"moved"])
        client.send_offsets_to_transaction({where: OffsetAndMetadata(2, "", 0)}, member.group_metadata())
        client.commit_transaction() if ends else client.abort_transaction()
        told[f"offset, {ends}"] = member.committed(where)
    member.close()
    rival = producer(target, transactional_id=target.named("tx"), enable_idempotence=True)
    rival.init_transactions()
    client.begin_transaction()
    told["fenced"] = send(client, topic, [b"late"])
    told["end of the fenced"] = attempt(client.commit_transaction)
    told["after"] = values(read_all(target, topic, isolation_level="read_committed"))
    return told


# -- groups -------------------------------------------------------------------------------------


class Member:
    """A consumer that polls on its own thread: a rebalance waits for all members at once."""

    def __init__(self, target: Target, topic: str, **configs: Any) -> None:
        self.client = consumer(target, **configs)
        self.client.subscribe([topic])
        self.rows: list[Any] = []
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)
        self._thread.start()

    def _poll(self) -> None:
        while not self._ending.is_set():
            for found in self.client.poll(timeout_ms=POLL_MS).values():
                self.rows.extend(found)

    def stop(self) -> KafkaConsumer:
        """End the thread, and return the client, which is still a member."""
        self._ending.set()
        self._thread.join()
        return self.client

    def close(self) -> None:
        self.stop().close()


def _settled(members: list[Member], sizes: list[int]) -> Any:
    """Return the partitions of each member, once their numbers are `sizes`."""

    def look() -> Any:
        return [sorted(one.partition for one in member.client.assignment()) for member in members]

    return eventually(look, lambda seen: [len(one) for one in seen] == sizes)


def _described(target: Target, group: str) -> Any:
    seen = attempt(admin(target).describe_groups, [target.named(group)])
    members = seen.get(target.named(group), {}).get("members", [])
    members.sort(key=lambda row: row["client_id"])
    for row in members:
        row["member_id"] = without_ids(row["member_id"])
        for key in ("member_metadata", "member_assignment"):
            row[key] = without_ids(row[key])
    return seen


def rebalance(target: Target) -> Any:
    topic = make(target, "shared", 4)
    told = {}
    for title, assignor in (("range", RangePartitionAssignor), ("cooperative", CooperativeStickyAssignor)):
        asked = {"group_id": target.named(title), "partition_assignment_strategy": [assignor]}
        first = Member(target, topic, client_id="a", **asked)
        alone = _settled([first], [4])
        second = Member(target, topic, client_id="b", **asked)
        both = _settled([first, second], [2, 2])
        described = _described(target, title) if title == "range" else None
        second.close()
        told[title] = {"alone": alone, "both": [len(one) for one in both], "again": _settled([first], [4])}
        told[title]["described"] = described
        first.close()
    return told


def static_members(target: Target) -> Any:
    topic = make(target, "static", 2)

    def member(name: str) -> Member:
        # A session long enough for slow machines: an absent static member keeps its partitions until it ends.
        asked = {"group_instance_id": name, "client_id": name, "session_timeout_ms": 30_000}
        return Member(target, topic, group_id=target.named("static"), **asked)

    first, second = member("one"), member("two")
    before = _settled([first, second], [1, 1])
    second.close()
    away = _described(target, "static")
    stale = first.stop()
    rival = member("one")
    taken = _settled([rival], [1])
    fenced = attempt(stale.commit, {TopicPartition(topic, 0): OffsetAndMetadata(0, "", -1)}, timeout_ms=5000)
    rival.close()
    return {"before": before, "away": away, "taken": taken, "fenced": fenced}


def commit_and_resume(target: Target) -> Any:
    topic = make(target, "resumed")
    send(producer(target), topic, [b"%d" % n for n in range(5)])
    group, where = target.named("resume"), TopicPartition(topic, 0)
    member = Member(target, topic, group_id=group)
    _settled([member], [1])
    first = member.stop()
    first.commit({where: OffsetAndMetadata(3, "note", 0)})
    first.close()
    member = Member(target, topic, group_id=group)
    told: dict[str, Any] = {"rest": values(eventually(lambda: member.rows, lambda seen: len(seen) == 2))}
    second = member.stop()
    told["kept"] = list(second.committed(where, metadata=True))
    second.commit()
    told["after"] = second.committed(where)
    told["in use"] = {
        "delete": _deleted(target, group),
        "alter": _altered(target, group, {where: OffsetAndMetadata(1, "", -1)}),
        "forget": _forgotten(target, group, [where]),
    }
    second.close()
    offsets = eventually(
        lambda: _altered(target, group, {where: OffsetAndMetadata(1, "by hand", -1)}),
        lambda seen: "NoError" in str(seen),
    )
    found = admin(target).list_group_offsets([group])[group]
    told["altered"] = [offsets, [[str(one.topic), list(row)] for one, row in found.items()]]
    told["listed"] = [row for row in admin(target).list_groups() if row["group_id"] == group]
    told["empty"] = _described(target, "resume")
    told["forgotten"] = [
        _forgotten(target, group, [where]),
        _deleted(target, group),
        _deleted(target, target.named("none")),
    ]
    told["gone"] = [_described(target, "resume"), attempt(lambda: str(admin(target).list_group_offsets([group])))]
    return told


def _named(results: Any) -> Any:
    if isinstance(results, dict):
        return {str(where): getattr(row, "__name__", without_ids(row)) for where, row in results.items()}
    return without_ids(results)


def _deleted(target: Target, group: str) -> Any:
    return _named(attempt(admin(target).delete_groups, [group]))


def _altered(target: Target, group: str, offsets: Any) -> Any:
    return _named(attempt(admin(target).alter_group_offsets, group, offsets))


def _forgotten(target: Target, group: str, where: Any) -> Any:
    return _named(attempt(admin(target).delete_group_offsets, group, where))


STEPS = [
    cluster,
    topics,
    configs,
    codecs,
    nulls,
    acks_and_idempotence,
    refused,
    by_assignment,
    delete_records,
    transactions,
    rebalance,
    static_members,
    commit_and_resume,
]

if __name__ == "__main__":
    run("kafka-python", STEPS, error)
