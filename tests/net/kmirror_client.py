"""Program of kmirror's own clients whose responses are broken: requests, writing, reading, over TCP.

They may raise errors of the library's own family; any other error ends the program with exit code 1.
"""

from __future__ import annotations

import asyncio
import faulthandler
import signal
import sys
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

from kmirror.admin.client import AsyncAdmin
from kmirror.admin.leader_reader import LeaderReader, latest_offsets
from kmirror.client.admin import AdminConfigs
from kmirror.client.consumer import Consumer, ConsumerConfigs
from kmirror.client.node import ClientNode
from kmirror.client.producer import Producer, ProducerConfigs
from kmirror.client.remote_cluster import parse_servers
from kmirror.errors import KafkaError, KmirrorError, UsageError
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.net.host import Host
from kmirror.protocol.gen.create_topics_request import CreatableTopic, CreateTopicsRequest
from kmirror.protocol.gen.list_groups_request import ListGroupsRequest
from kmirror.records.record import RecordData

TOPIC = "fuzz"
TIMEOUT_MS = 400
CALL_MS = 1_200
READ_S = 1.2
ROUND_S = 6.0
"""Time for a round of a consumer: versions, metadata, offsets, records, each with its own timeout."""
PAUSE_S = 0.02
"""Pause after a round without records, as a consumer waits only while a broker holds the response back."""
BOTH = [TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)]
QUICK = AdminConfigs(request_timeout_ms=TIMEOUT_MS, default_api_timeout_ms=CALL_MS)


async def order(bootstrap: str, session: str) -> None:
    async with AsyncAdmin(bootstrap, QUICK) as admin:
        await admin.cluster_id()
        topic = CreatableTopic(name=f"made-{session}", num_partitions=1, replication_factor=1)
        await admin.order(CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS))
        await admin.ask_each(ListGroupsRequest())


async def read_topic(bootstrap: str, session: str) -> None:
    async with AsyncAdmin(bootstrap, QUICK) as admin:
        partitions = await admin.partitions([TOPIC])
        for end in (await latest_offsets(admin, partitions)).values():
            reader = LeaderReader(admin, partitions[0])
            await reader.epochs()
            async with aclosing(reader.batches(0, min(end, 20))) as batches:
                async for _ in batches:
                    pass


class HostedNode:
    """A node of clients on its own host."""

    def __init__(self) -> None:
        self.node = ClientNode("ours")
        self.host = Host(asyncio.get_running_loop())
        self.host.add("ours", lambda: self.node)
        self.host.start("ours")

    async def call(self, begin: Callable[[Instant, Callable[..., None]], None]) -> Any:
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def on_outcome(_: Instant, outcome: Any) -> None:
            if not done.done():
                done.set_result(outcome)

        begin(self.host.now(), on_outcome)
        self.host.perform("ours", self.node.outbox.drain())
        while True:
            finished, _ = await asyncio.wait([done], timeout=0.02)
            if self.host.crashes:
                raise self.host.crashes[0][1]
            if finished:
                return done.result()


async def write(bootstrap: str, session: str) -> None:
    hosted = HostedNode()
    configs = ProducerConfigs(delivery_timeout_ms=CALL_MS, request_timeout_ms=TIMEOUT_MS, max_block_ms=CALL_MS)
    writer = Producer("producer", hosted.node.requester, parse_servers(bootstrap), configs)
    hosted.node.timers["producer"] = writer.on_timer
    try:
        error = await hosted.call(writer.init)
        for number in range(4):
            if error:
                raise KafkaError(error, error.text)
            tp, record = BOTH[number % 2], RecordData(value=b"from %d" % number)
            delivery = await hosted.call(lambda now, done, tp=tp, record=record: writer.send(now, tp, [record], done))
            error = delivery.error
    finally:
        hosted.host.close()


async def read(bootstrap: str, session: str) -> None:
    hosted = HostedNode()
    configs = ConsumerConfigs(request_timeout_ms=TIMEOUT_MS, fetch_max_wait_ms=50)
    reader = Consumer("consumer", hosted.node.requester, parse_servers(bootstrap), configs)
    try:
        record_count, until = 0, time.monotonic() + READ_S
        while record_count < 40 and time.monotonic() < until:
            begin = hosted.call(lambda now, done: reader.poll(now, BOTH, done))
            found = await asyncio.wait_for(begin, ROUND_S)
            for tp, fetched in found.fetched.items():
                reader.positions[tp] = fetched.after
                record_count += len(fetched.records)
            if not found.fetched:
                await asyncio.sleep(PAUSE_S)
    finally:
        hosted.host.close()


STEPS = {step.__name__: step for step in (order, read_topic, write, read)}
"""All of them are run, or those that are given as arguments."""


async def steps(bootstrap: str, session: str, *names: str) -> None:
    for step in [STEPS[name] for name in names or STEPS]:
        try:
            await step(bootstrap, session)
        except UsageError:
            raise  # No broker can cause this.
        except KmirrorError as error:
            print(f"{step.__name__}: {error!r}", file=sys.stderr)


def main() -> int:
    faulthandler.register(signal.SIGQUIT, all_threads=True)
    asyncio.run(steps(*sys.argv[1:]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
