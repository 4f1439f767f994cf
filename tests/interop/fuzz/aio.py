"""Program of aiokafka whose responses are broken: metadata, writing, reading as a group, admin requests.

Each call has its own timeout; a call that exceeds it blocks the event loop. It may raise errors of the library's own
family; any other error ends the program with exit code 1.
"""

from __future__ import annotations

import asyncio
import faulthandler
import signal
import sys
import time
from collections.abc import Awaitable
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError

TOPIC = "fuzz"
WAIT_S = 2.0
READ_S = 1.5


async def with_timeout(call: Awaitable[Any]) -> Any:
    return await asyncio.wait_for(call, WAIT_S)


async def write(bootstrap: str, session: str) -> None:
    client = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", request_timeout_ms=2_000)
    try:
        await with_timeout(client.start())
        await with_timeout(client.partitions_for(TOPIC))
        for number in range(4):
            await with_timeout(client.send_and_wait(TOPIC, b"from %d" % number, partition=number % 2))
    finally:
        await with_timeout(client.stop())


async def read(bootstrap: str, session: str) -> None:
    client = AIOKafkaConsumer(
        TOPIC, bootstrap_servers=bootstrap, group_id=f"read-{session}", auto_offset_reset="earliest",
        fetch_max_wait_ms=50, session_timeout_ms=6_000, heartbeat_interval_ms=500, request_timeout_ms=2_000,
        enable_auto_commit=False,
    )  # fmt: skip
    try:
        await with_timeout(client.start())
        until, seen = time.monotonic() + READ_S, 0
        while seen < 20 and time.monotonic() < until:
            batches = await with_timeout(client.getmany(timeout_ms=200))
            seen += sum(len(rows) for rows in batches.values())
        await with_timeout(client.commit())
        await with_timeout(client.end_offsets([TopicPartition(TOPIC, 0)]))
    finally:
        await with_timeout(client.stop())


async def order(bootstrap: str, session: str) -> None:
    client = AIOKafkaAdminClient(bootstrap_servers=bootstrap, request_timeout_ms=2_000)
    try:
        await with_timeout(client.start())
        await with_timeout(client.describe_cluster())
        await with_timeout(client.create_topics([NewTopic(f"made-{session}", 1, 1)]))
        await with_timeout(client.list_topics())
        await with_timeout(client.list_consumer_groups())
        await with_timeout(client.delete_topics([f"made-{session}"]))
    finally:
        await with_timeout(client.close())


STEPS = {step.__name__: step for step in (write, read, order)}
"""All of them are run, or those given as arguments."""


async def run_steps(bootstrap: str, session: str, *names: str) -> None:
    for step in [STEPS[name] for name in names or STEPS]:
        try:
            await step(bootstrap, session)
        except (KafkaError, TimeoutError) as error:
            print(f"{step.__name__}: {error!r}", file=sys.stderr)


def main() -> int:
    faulthandler.register(signal.SIGQUIT, all_threads=True)
    asyncio.run(run_steps(*sys.argv[1:]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
