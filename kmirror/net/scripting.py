"""Client operations for scripts (produce, read, admin requests), through a client node on the same host.

All of it runs on the loop's thread; `TcpCluster` waits for it in the caller's thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from kmirror.client import consumer, producer
from kmirror.client.admin import Admin
from kmirror.client.consumer import ConsumerConfigs, ConsumerRecord, OnRound, Round
from kmirror.client.node import ClientNode
from kmirror.client.positions import Position
from kmirror.client.producer import Delivery, ProducerConfigs
from kmirror.errors import KafkaError
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.net.host import Host
from kmirror.protocol.message import Message
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import IsolationLevel, OffsetSpec

T = TypeVar("T")
PLAIN = ProducerConfigs(enable_idempotence=False)
PAUSE_S = 0.02
"""Seconds between two rounds of a reader that received nothing."""


class ScriptClient:
    """Client of the cluster at `servers`, placed on the host as `name`."""

    def __init__(self, host: Host, name: str, servers: tuple[Endpoint, ...]) -> None:
        self._host = host
        self._name = name
        self._servers = servers
        self._node = ClientNode(name)
        self._client_count = 0
        host.add(name, lambda: self._node)
        host.start(name)

    def _new_name(self, kind: str) -> str:
        self._client_count += 1
        return f"{kind}-{self._client_count}"

    async def _await_callback(self, begin: Callable[[Instant, Callable[[T], None]], None]) -> T:
        """Call `begin`, and return the outcome that it passes to its callback."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def on_done(outcome: T) -> None:
            if not future.done():
                future.set_result(outcome)

        begin(self._host.now(), on_done)
        self._host.perform(self._name, self._node.outbox.drain())
        return await future

    async def order(self, body: Message) -> Message:
        """Send a request to the cluster and return the response; KafkaError if there is none."""
        admin = Admin(self._new_name("admin"), self._node.requester, self._servers)
        self._node.timers[admin.name] = admin.on_timer
        answer: Message | ErrorCode = await self._await_callback(
            lambda now, done: admin.ask(now, body, lambda _, reply: done(reply))
        )
        del self._node.timers[admin.name]
        if isinstance(answer, ErrorCode):
            raise KafkaError(answer, f"{body.NAME} failed: {answer.name}: {answer.text}")
        return answer

    async def produce(self, tp: TopicPartition, records: Sequence[RecordData]) -> int:
        """Write one batch with acks=all and return its base offset; KafkaError if it is rejected."""
        name = self._new_name("producer")
        writer = producer.Producer(name, self._node.requester, self._servers, PLAIN)
        self._node.timers[name] = writer.on_timer
        delivery: Delivery = await self._await_callback(
            lambda now, done: writer.send(now, tp, records, lambda _, outcome: done(outcome))
        )
        del self._node.timers[name]
        error = delivery.error
        if error:
            raise KafkaError(error, f"cannot write to {tp}: {error.name}: {delivery.message or error.text}")
        return delivery.base_offset

    async def read(self, tp: TopicPartition, isolation: IsolationLevel) -> list[ConsumerRecord]:
        """Return all records of a partition up to its current end; KafkaError if the partition does not exist.

        A log that is truncated meanwhile is read again from its start.
        """
        configs = ConsumerConfigs(isolation_level=isolation, auto_offset_reset=OffsetSpec.EARLIEST)
        reader = consumer.Consumer(self._new_name("consumer"), self._node.requester, self._servers, configs)
        records: list[ConsumerRecord] | None = None
        while records is None:
            records = await self._read_uncut(reader, tp)
        return records

    async def _read_uncut(self, reader: consumer.Consumer, tp: TopicPartition) -> list[ConsumerRecord] | None:
        """Return the records from start to end; None if the log was truncated."""
        end = await self._offset(reader, tp, OffsetSpec.LATEST)
        position = reader.positions[tp] = Position(await self._offset(reader, tp, OffsetSpec.EARLIEST))
        records: list[ConsumerRecord] = []
        while position.offset < end:
            found = await self._round(lambda now, done: reader.poll(now, [tp], done, max_wait_ms=0))
            fetched = found.fetched.get(tp)
            if reader.positions.get(tp) is not position:
                return None  # The log diverged from the part already read, or now begins after it.
            if fetched is not None and fetched.after != position:
                records += fetched.records
                position = reader.positions[tp] = fetched.after
            elif await self._offset(reader, tp, OffsetSpec.LATEST) < end:
                return None
            else:
                await asyncio.sleep(PAUSE_S)
        return records

    async def _offset(self, reader: consumer.Consumer, tp: TopicPartition, spec: OffsetSpec) -> int:
        while True:
            found = await self._round(lambda now, done: reader.list_offsets(now, [tp], spec, done))
            if tp in found.offsets:
                return found.offsets[tp]
            await asyncio.sleep(PAUSE_S)

    async def _round(self, begin: Callable[[Instant, OnRound], None]) -> Round:
        found: Round = await self._await_callback(lambda now, done: begin(now, lambda _, answer: done(answer)))
        for refusal in found.errors:
            error = refusal.error
            raise KafkaError(error, f"cannot read {refusal.what}: {error.name}: {error.text}")
        return found
