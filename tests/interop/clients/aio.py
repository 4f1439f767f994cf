"""Steps of aiokafka against a cluster."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.structs import OffsetAndMetadata

from tests.interop.clients.steps import Step, Target, run, without_ids

START = 1_700_000_000_000


def error(raised: BaseException) -> Any:
    return {"type": type(raised).__name__, "text": without_ids(raised)}


async def attempt(coming: Awaitable[Any]) -> Any:
    """Return the result, or a description of the exception."""
    try:
        return await coming
    except Exception as raised:
        return error(raised)


async def eventually(ask: Callable[[], Awaitable[Any]], holds: Callable[[Any], bool], seconds: float = 15) -> Any:
    end = time.monotonic() + seconds
    while True:
        answer = await ask()
        if holds(answer) or time.monotonic() > end:
            return answer
        await asyncio.sleep(0.02)


@asynccontextmanager
async def admin(target: Target) -> AsyncIterator[AIOKafkaAdminClient]:
    client = AIOKafkaAdminClient(bootstrap_servers=target.bootstrap)
    await client.start()
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def producer(target: Target, **configs: Any) -> AsyncIterator[AIOKafkaProducer]:
    # aiokafka's default is acks=1, for which a reader does not know when it may see the records.
    acks: dict[str, Any] = {} if "transactional_id" in configs else {"acks": "all"}
    async with AIOKafkaProducer(bootstrap_servers=target.bootstrap, **{**acks, **configs}) as client:
        yield client


def consumer(target: Target, *topics: str, **configs: Any) -> AIOKafkaConsumer:
    defaults = {
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
        "fetch_max_wait_ms": 50,
        "heartbeat_interval_ms": 100,
        "session_timeout_ms": 6000,
        "metadata_max_age_ms": 1000,
    }
    return AIOKafkaConsumer(*topics, bootstrap_servers=target.bootstrap, **{**defaults, **configs})


async def make(target: Target, name: str, partitions: int = 1, **configs: str) -> str:
    topic = target.named(name)
    given = {key.replace("_", "."): value for key, value in configs.items()}
    async with admin(target) as client:
        await client.create_topics([NewTopic(topic, partitions, target.factor, topic_configs=given)])
        for _ in range(target.looks):
            await eventually(
                lambda: client.describe_topics([topic]),
                lambda seen: [p["leader"] >= 0 for p in seen[0]["partitions"]] == [True] * partitions,
            )
    return topic


async def send(
    client: AIOKafkaProducer, topic: str, values: list[bytes | None], partition: int = 0, **more: Any
) -> Any:
    told = []
    for value in values:
        kept = await attempt(client.send_and_wait(topic, value, partition=partition, **more))
        told.append(kept if isinstance(kept, dict) or kept is None else kept.offset)
    return told


async def read_all(target: Target, topic: str, start: int = 0, partitions: int = 1, **configs: Any) -> list[Any]:
    where = [TopicPartition(topic, partition) for partition in range(partitions)]
    rows: list[Any] = []
    async with consumer(target, **configs) as client:
        client.assign(where)
        for one in where:
            client.seek(one, start)
        ends = await client.end_offsets(where)

        async def more() -> bool:
            rows.extend(row for found in (await client.getmany(timeout_ms=50)).values() for row in found)
            return all([await client.position(one) >= ends[one] for one in where])

        await eventually(more, bool)
    return sorted(rows, key=lambda row: (row.partition, row.offset))


def text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def shown(row: Any) -> Any:
    headers = [[key, text(value)] for key, value in row.headers]
    return [row.offset, text(row.key), text(row.value), headers, row.timestamp, row.timestamp_type]


def values(rows: list[Any]) -> list[str]:
    return [row.value.decode() for row in rows]


# -- topics -------------------------------------------------------------------------------------


async def cluster(target: Target) -> Any:
    async with admin(target) as client:
        seen = await client.describe_cluster()
    return {
        "brokers": sorted([row["node_id"], row["host"], row["rack"]] for row in seen["brokers"]),
        "id": len(seen["cluster_id"]),
        "controller": seen["controller_id"] in [row["node_id"] for row in seen["brokers"]],
    }


async def topics(target: Target) -> Any:
    name = target.named("made")
    async with admin(target) as client:

        async def create(topic: str, *args: Any, **more: Any) -> Any:
            given = await attempt(client.create_topics([NewTopic(topic, *args, **more)]))
            return given if isinstance(given, dict) else [list(row) for row in given.topic_errors]

        async def grow(topic: str, count: int) -> Any:
            given = await attempt(client.create_partitions({topic: NewPartitions(count)}))
            return given if isinstance(given, dict) else [list(row) for row in given.topic_errors]

        async def delete(topic: str) -> Any:
            return [list(row) for row in (await client.delete_topics([topic])).topic_error_codes]

        told: dict[str, Any] = {
            "made": await create(name, 2, target.factor),
            "again": await create(name, 2, target.factor),
            "odd": await create("odd name", 1, 1),
            "zero": await create(target.named("zero"), 0, 1),
            "replicas": await create(target.named("many"), 1, 9),
            "config": await create(target.named("config"), 1, 1, topic_configs={"no.such": "1"}),
            "grown": [await grow(name, 3), await grow(name, 1), await grow(target.named("no-such"), 2)],
        }
        described = await eventually(
            lambda: client.describe_topics([name]), lambda seen: len(seen[0]["partitions"]) == 3
        )
        for row in described:
            row["partitions"] = sorted(
                [one["partition"], one["error_code"], len(one["replicas"]), len(one["isr"])]
                for one in row["partitions"]
            )
        told["described"] = described
        told["unknown"] = await client.describe_topics([target.named("no-such-either")])
        told["deleted"] = [await delete(name), await delete(target.named("gone"))]
    return told


async def configs(target: Target) -> Any:
    topic = await make(target, "configured", retention_ms="777777")
    async with admin(target) as client:

        async def describe(kind: ConfigResourceType, name: str, *keys: str) -> Any:
            asked = ConfigResource(kind, name, configs=dict.fromkeys(keys))
            found = await client.describe_configs([asked], include_synonyms=True)
            return [without_ids((*row[:4], sorted(row[4]))) for row in found[0].resources]

        async def alter(name: str, **what: str) -> Any:
            given = {key.replace("_", "."): value for key, value in what.items()}
            found = await client.alter_configs([ConfigResource(ConfigResourceType.TOPIC, name, configs=given)])
            return [list(row) for row in found[0].resources]

        return {
            "before": await describe(ConfigResourceType.TOPIC, topic, "retention.ms", "cleanup.policy"),
            "broker": await describe(ConfigResourceType.BROKER, "1", "num.partitions", "log.retention.hours"),
            "altered": await alter(topic, segment_bytes="2097152"),
            "refused": [await alter(topic, retention_ms="x"), await alter(target.named("no-such"), retention_ms="1")],
            "after": await eventually(
                lambda: describe(ConfigResourceType.TOPIC, topic, "retention.ms", "segment.bytes"),
                lambda seen: "2097152" in str(seen),
            ),
        }


# -- records ------------------------------------------------------------------------------------


async def codecs(target: Target) -> Any:
    told = {}
    for codec in (None, "gzip", "snappy", "lz4", "zstd"):
        topic = await make(target, f"codec-{codec}")
        async with producer(target, compression_type=codec) as client:
            batch = client.create_batch()
            for n in range(3):
                batch.append(key=b"k", value=b"batched %d" % n, timestamp=START + n)
            sent = (await (await client.send_batch(batch, topic, partition=0))).offset
            offsets = await send(
                client, topic, [b"a", None, b""], headers=[("h", b"1"), ("h", b"2")], timestamp_ms=START
            )
        told[str(codec)] = [sent, offsets, [shown(row) for row in await read_all(target, topic)]]
    return told


async def acks_and_refusals(target: Target) -> Any:
    topic, small = await make(target, "acks"), await make(target, "small", max_message_bytes="200")
    keyed = await make(target, "keyed", cleanup_policy="compact")
    told: dict[str, Any] = {}
    for title, asked in (("1", {"acks": 1}), ("id", {"enable_idempotence": True}), ("0", {"acks": 0})):
        async with producer(target, **asked) as client:
            told[title] = await send(client, topic, [b"a", b"b"])
            if title == "1":
                told["large"] = await send(client, small, [b"x" * 500])
                told["no key"] = await send(client, keyed, [b"x"])
    # The last ones were not acknowledged: they appear after a while.
    rows = await eventually(lambda: read_all(target, topic), lambda seen: len(seen) == 6)
    return told | {"read": values(rows)}


async def by_assignment(target: Target) -> Any:
    topic = await make(target, "assigned", 2)
    async with producer(target) as client:
        for n in range(8):
            await send(client, topic, [b"%d" % n], partition=n % 2, timestamp_ms=START + n)
    where = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    told: dict[str, Any] = {"all": values(await read_all(target, topic, partitions=2))}
    told["from 2"] = values(await read_all(target, topic, 2))
    async with consumer(target, auto_offset_reset="none") as reader:
        reader.assign(where)
        found = await reader.offsets_for_times({where[0]: START + 3, where[1]: START + 100})
        told["by time"] = [found[one] and list(found[one]) for one in where]
        told["ends"] = [sorted((await ask(where)).values()) for ask in (reader.beginning_offsets, reader.end_offsets)]
        reader.seek(where[1], 0)
        reader.seek(where[0], 99)
        told["strict"] = await attempt(eventually(lambda: reader.getmany(where[0], timeout_ms=100), bool, 5))
    async with admin(target) as client:
        for before in (2, 99):
            given = await attempt(client.delete_records({where[0]: RecordsToDelete(before)}))
            told[f"deleted to {before}"] = without_ids(given)
    told["left"] = values(await read_all(target, topic, 2))
    return told


async def transactions(target: Target) -> Any:
    topic, source = await make(target, "transactions"), await make(target, "tx-source")
    where, group = TopicPartition(source, 0), target.named("tx-group")
    told: dict[str, Any] = {}
    async with producer(target, transactional_id=target.named("tx")) as client:
        for name in ("a", "b", "c"):
            await client.begin_transaction()
            await send(client, topic, [f"{name}{n}".encode() for n in range(2)])
            await client.send_offsets_to_transaction({where: OffsetAndMetadata(ord(name), name)}, group)
            await (client.abort_transaction() if name == "b" else client.commit_transaction())
            kept = "a" if name == "b" else name
            async with admin(target) as asking:
                # Markers of offsets are written after the response that the transaction is over.
                found = await eventually(
                    lambda: asking.list_consumer_group_offsets(group),
                    lambda seen, kept=kept: [row.metadata for row in seen.values()] == [kept],
                )
                told[f"offsets after {name}"] = [[one.topic, *row] for one, row in found.items()]
        for level in ("read_committed", "read_uncommitted"):
            told[level] = [
                [row.offset, text(row.value)] for row in await read_all(target, topic, isolation_level=level)
            ]
        async with producer(target, transactional_id=target.named("tx")):
            await client.begin_transaction()
            told["fenced"] = await send(client, topic, [b"late"])
            told["end of the fenced"] = await attempt(client.commit_transaction())
    return told


# -- groups -------------------------------------------------------------------------------------


async def _settled(members: list[AIOKafkaConsumer], sizes: list[int]) -> Any:
    async def look() -> Any:
        for member in members:
            await member.getmany(timeout_ms=1)
        return [sorted(one.partition for one in member.assignment()) for member in members]

    return await eventually(look, lambda seen: [len(one) for one in seen] == sizes)


async def _described(target: Target, group: str) -> Any:
    async with admin(target) as client:
        (answer,) = await client.describe_consumer_groups([target.named(group)])
    return [without_ids(row) for row in answer.groups]


async def rebalance(target: Target) -> Any:
    topic = await make(target, "shared", 4)
    told = {}
    assignors = {
        "range": RangePartitionAssignor,
        "roundrobin": RoundRobinPartitionAssignor,
        "sticky": StickyPartitionAssignor,
    }
    for title, assignor in assignors.items():
        asked = {"group_id": target.named(title), "partition_assignment_strategy": [assignor]}
        async with consumer(target, topic, client_id="a", **asked) as first:
            alone = await _settled([first], [4])
            async with consumer(target, topic, client_id="b", **asked) as second:
                both = [len(one) for one in await _settled([first, second], [2, 2])]
                described = [row.split("[")[0] for row in await _described(target, title)]
            told[title] = [alone, both, described, await _settled([first], [4])]
    return told


async def static_members(target: Target) -> Any:
    topic, group = await make(target, "static", 2), target.named("static")

    def member(name: str) -> AIOKafkaConsumer:
        # A session long enough for slow machines: an absent static member keeps its partitions until it ends.
        asked = {"group_instance_id": name, "client_id": name, "session_timeout_ms": 30_000}
        return consumer(target, topic, group_id=group, **asked)

    async with member("one") as first:
        async with member("two") as second:
            before = [len(one) for one in await _settled([first, second], [1, 1])]
        away = [row.split("[")[0] for row in await _described(target, "static")]
        async with member("two") as second:
            back = [len(one) for one in await _settled([first, second], [1, 1])]
    return [before, away, back]


async def commit_and_resume(target: Target) -> Any:
    topic, group = await make(target, "resumed"), target.named("resume")
    async with producer(target) as client:
        await send(client, topic, [b"%d" % n for n in range(5)])
    where = TopicPartition(topic, 0)
    async with consumer(target, topic, group_id=group) as first:
        await _settled([first], [1])
        await first.commit({where: (3, "note")})
    async with consumer(target, topic, group_id=group) as second:
        rows: list[Any] = []

        async def look() -> Any:
            rows.extend(row for found in (await second.getmany(timeout_ms=50)).values() for row in found)
            return rows

        told = {
            "kept": await second.committed(where),
            "rest": values(await eventually(look, lambda seen: len(seen) >= 2)),
        }
        await second.commit()
        told["after"] = await second.committed(where)
    async with admin(target) as asking:
        told["listed"] = [row for row in await asking.list_consumer_groups() if row[0] == group]
        told["offsets"] = [[one.topic, *row] for one, row in (await asking.list_consumer_group_offsets(group)).items()]
    told["described"] = await _described(target, "resume")
    told["unknown"] = await _described(target, "no-such")
    return told


def in_a_loop(step: Callable[[Target], Awaitable[Any]]) -> Step:
    def one(target: Target) -> Any:
        return asyncio.run(step(target))  # type: ignore[arg-type]

    one.__name__ = step.__name__
    return one


STEPS = [
    cluster,
    topics,
    configs,
    codecs,
    acks_and_refusals,
    by_assignment,
    transactions,
    rebalance,
    static_members,
    commit_and_resume,
]

if __name__ == "__main__":
    run("aiokafka", [in_a_loop(step) for step in STEPS], error)
