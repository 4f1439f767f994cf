"""Applications that use `kmirror.client`: its producer, transactions and consumer, judged like all other clients.

The client decides when it sends which requests; this module has the applications. Batches are recorded when they are
sent, with the producer ids and sequence numbers that leaders receive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kmirror.client import consumer, producer
from kmirror.client.consumer import ConsumerConfigs, Round
from kmirror.client.positions import Position
from kmirror.client.producer import Delivery, ProducerConfigs
from kmirror.client.transactions import State
from kmirror.histories.account import Ack, ReceivedRecord, Refusal, Transaction, Write
from kmirror.histories.consuming import PREFERRED_MS
from kmirror.histories.monitors.applications import DeliveryMonitor, ReadingMonitor
from kmirror.histories.producing import DELIVERY_TIMEOUT_MS, Application
from kmirror.histories.scripts import Script, Sleep
from kmirror.histories.values import name_of
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.records.record import RecordData
from kmirror.sim.client import Client
from kmirror.sim.pending import Wait
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import IsolationLevel

REQUEST_TIMEOUT_MS = 2_500
REFUSED_PAUSE_MS = 600
POLL_MS = 100
FETCH_WAIT_MS = 100
IN_FLIGHT_MAX = 5
"""Most batches in flight of one application."""
OPEN = (State.IN_TRANSACTION, State.ABORTABLE_ERROR)


@dataclass(frozen=True, slots=True)
class Sent:
    """Last attempt to send a batch."""

    at: Instant
    sequence: int
    broker: int


class ReportingProducer(producer.Producer):
    """Producer of `kmirror.client` that calls `on_sent` for each batch, so that checkers know the sent records."""

    on_sent: Callable[[TopicPartition, Sequence[RecordData], int, int, int], None]
    """Called with the partition, the records, producer id, epoch, and the first sequence number."""

    def _encode(self, batch: producer._Batch) -> bytes:
        self.on_sent(batch.tp, batch.records, *batch.identity, batch.sequence)
        return super()._encode(batch)


class LibraryProducer:
    """A producer of `kmirror.client`, bound to a cluster, whose batches are recorded."""

    def __init__(self, application: Application, name: str, *, transactional_id: str | None) -> None:
        self.application = application
        self.cluster = application.cluster
        self.in_flight = 0
        """Number of batches that are not delivered yet."""
        self.failed = False
        """A batch was not written, or its result is unknown."""
        self.transaction: Transaction | None = None
        self._moves = application.moves
        self._sent: dict[str, Sent] = {}
        self._next: dict[tuple[TopicPartition, int, int], int] = {}
        """Next sequence number by partition, producer id and epoch."""
        # A batch in flight at the delivery timeout still waits for its response.
        self._deliveries = DeliveryMonitor(
            application.scene, self.cluster, name, within_ms=DELIVERY_TIMEOUT_MS + REQUEST_TIMEOUT_MS
        )
        self._client = application.scene.scripts.client(name, self.cluster)
        configs = ProducerConfigs(
            transactional_id=transactional_id,
            transaction_timeout_ms=int(application.plan.options.get("timeout_ms", 4_000)),
            delivery_timeout_ms=DELIVERY_TIMEOUT_MS,
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            max_block_ms=DELIVERY_TIMEOUT_MS,
        )
        timer = self._client.new_name("producer")
        self._machine = ReportingProducer(timer, self._client.requester, servers(application, self.cluster), configs)
        self._machine.on_sent = self._on_sent
        self._client.on_timer(timer, self._machine.on_timer)

    @property
    def has_moved(self) -> bool:
        return self.application.moves != self._moves

    @property
    def state(self) -> State:
        return self._machine.transactions.state

    def init(self) -> Script[bool]:
        """Get a producer id; return False if that failed."""
        error = yield self._wait_for(lambda on_done: self._machine.init(self._now, lambda _, error: on_done(error)))
        return error is ErrorCode.NONE

    def begin(self, key: str) -> None:
        self._machine.begin()
        self.failed = False
        self.transaction = self.application.scene.account.transactions[key] = Transaction(key, self.cluster)

    def send(self, tp: TopicPartition, values: Sequence[str]) -> None:
        """Send a batch; its result is recorded when it is known."""
        scene, transactions = self.application.scene, self._machine.transactions
        key = "" if self.transaction is None else self.transaction.key
        ids = transactions.producer_id, transactions.epoch
        records = [self.application.record(value) for value in values]
        for value, row in zip(values, records, strict=True):
            scene.account.writes[value] = Write(
                value,
                self.application.plan.name,
                self.cluster,
                tp,
                *ids,
                -1,
                key,
                scene.now,
                (row.key or b"").decode(),
                row.value is None,
            )
        if self.transaction is not None:
            self.transaction.values.extend(values)
        self.in_flight += 1
        number = self._deliveries.on_sent(tp)

        def on_delivery(_: Instant, delivery: Delivery) -> None:
            self._deliveries.on_delivered(number, tp)
            self._on_delivery(tp, values, delivery)

        self._machine.send(self._now, tp, records, on_delivery)
        self._client.perform()

    def end(self, *, commit: bool) -> Script[ErrorCode]:
        """Commit or abort once everything is delivered; return NONE or the error."""
        transaction = self.transaction
        assert transaction is not None, "begun"
        if not (commit and self.failed):  # Otherwise the producer itself refuses.
            transaction.requested_end = "commit" if commit else "abort"
        error: ErrorCode = yield self._wait_for(
            lambda on_done: self._machine.end(self._now, lambda _, error: on_done(error), commit=commit)
        )
        if error is ErrorCode.NONE:
            transaction.is_end_acknowledged = True
            self.transaction = None
        return error

    def wait_for_delivery(self) -> Script[None]:
        """Wait until every batch was written, refused or given up."""
        while self.in_flight:
            self._deliveries.check_overdue()
            yield Sleep(POLL_MS)

    @property
    def _now(self) -> Instant:
        return self.application.scene.simulation.world.now

    def _wait_for(self, start: Callable[[Callable[[ErrorCode], None]], None]) -> Wait[ErrorCode]:
        def begin(on_done: Callable[[ErrorCode], None]) -> None:
            start(on_done)
            self._client.perform()

        return Wait(begin)

    def _on_sent(
        self, tp: TopicPartition, records: Sequence[RecordData], producer_id: int, epoch: int, sequence: int
    ) -> None:
        scene, leader = self.application.scene, self._machine.cluster.leader(tp)
        self._deliveries.on_batch_sent(tp, producer_id, epoch, sequence, len(records))
        stream = tp, producer_id, epoch
        self._next[stream] = max(self._next.get(stream, 0), sequence + len(records))
        for n, record in enumerate(records):
            value = name_of(record.value, record.headers)
            number = sequence + n if sequence >= 0 else -1
            self._sent[value] = Sent(scene.now, sequence, -1 if leader is None else leader.broker_id)
            scene.account.writes[value] = replace(
                scene.account.writes[value], producer_id=producer_id, producer_epoch=epoch, sequence=number
            )

    def _on_delivery(self, tp: TopicPartition, values: Sequence[str], delivery: Delivery) -> None:
        self.in_flight -= 1
        scene, error = self.application.scene, delivery.error
        self.failed = self.failed or error is not ErrorCode.NONE
        for n, value in enumerate(values):
            sent = self._sent.pop(value, None)
            if error is ErrorCode.NONE and sent is not None:
                offset = delivery.base_offset + n if delivery.base_offset >= 0 else -1
                scene.account.acks.append(Ack(value, self.cluster, tp, offset, scene.now, sent.at, sent.broker))
            elif sent is not None and not error.retriable:
                # If a later batch was sent, a restarted leader may know only that one, and refuse this one.
                write = scene.account.writes[value]
                alone = self._next[tp, write.producer_id, write.producer_epoch] == len(values)
                first = sent.sequence == 0 and n == 0 and alone
                scene.account.refusals.append(
                    Refusal(value, self.application.plan.name, self.cluster, tp, error.name, first, scene.now)
                )


def servers(application: Application, cluster: str) -> tuple[Endpoint, ...]:
    """Return the bootstrap servers of a cluster."""
    found = application.scene.clusters[cluster]
    return tuple(found.endpoint(broker_id) for broker_id in found.broker_ids)


# -- applications ----------------------------------------------------------------------------


def library_stream(application: Application) -> Script[None]:
    """Send idempotent batches, some at a time."""
    writer: LibraryProducer | None = None
    while application.is_writing():
        if writer is None or writer.has_moved or writer.state is State.FATAL_ERROR:
            if writer is not None:
                yield from writer.wait_for_delivery()
            writer = LibraryProducer(application, application.plan.name, transactional_id=None)
            if not (yield from writer.init()):
                writer = None
        partitions = application.partitions()
        if writer is None or not partitions:
            yield Sleep(REFUSED_PAUSE_MS)
            continue
        for _ in range(application.rng.between(1, 3)):
            if writer.in_flight < IN_FLIGHT_MAX and writer.state is not State.FATAL_ERROR:
                writer.send(application.rng.choice(partitions), application.values(application.rng.between(1, 3)))
        yield application.pause()
    if writer is not None:
        yield from writer.wait_for_delivery()


def library_transactions(application: Application) -> Script[None]:
    """Write one transaction after the other, each with some batches to some partitions."""
    writer: LibraryProducer | None = None
    number = 0
    while application.is_writing():
        if writer is None or writer.has_moved or writer.state is not State.READY:
            writer = LibraryProducer(application, application.plan.name, transactional_id=application.plan.name)
            if not (yield from writer.init()):
                writer = None
        partitions = application.partitions()
        if writer is None or not partitions:
            yield Sleep(REFUSED_PAUSE_MS)
            continue
        number += 1
        writer.begin(f"{application.plan.name}/{number}")
        for _ in range(application.rng.between(1, 4)):
            if writer.state is State.IN_TRANSACTION:
                writer.send(application.rng.choice(partitions), application.values(application.rng.between(1, 2)))
        yield application.pause()
        yield from _close(writer)
        yield application.pause()


def _close(writer: LibraryProducer) -> Script[None]:
    """Commit, or sometimes abort; abort a transaction that cannot be committed."""
    if writer.state not in OPEN:
        yield from writer.wait_for_delivery()
        return
    commit = writer.state is State.IN_TRANSACTION and not writer.application.rng.chance(1, 5)
    if commit:
        yield from writer.wait_for_delivery()
    error = yield from writer.end(commit=commit)
    if error is not ErrorCode.NONE and writer.state in OPEN:
        yield from writer.end(commit=False)
    yield from writer.wait_for_delivery()


class LibraryReader:
    """Reads with a consumer of `kmirror.client`, which has a fetch session with each broker."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self._positions: dict[TopicPartition, Position] = {}
        self._monitor = ReadingMonitor(application.scene, application.plan.name)

    def run(self) -> Script[None]:
        """Read until the history ends, and move to other clusters as planned."""
        scene = self.application.scene
        while scene.reading:
            yield from self._read_from(self.application.cluster)

    def _read_from(self, cluster: str) -> Script[None]:
        application, scene = self.application, self.application.scene
        client: Client = scene.scripts.client(application.plan.name, cluster)
        configs = ConsumerConfigs(
            isolation_level=IsolationLevel.READ_COMMITTED,
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            client_rack=str(application.plan.options.get("rack", "")),
            metadata_max_age_ms=PREFERRED_MS,
        )
        name = client.new_name("consumer")
        machine = consumer.Consumer(name, client.requester, servers(application, cluster), configs)
        machine.positions.update(self._positions)
        while scene.reading and application.cluster == cluster:
            partitions = application.partitions()

            def poll(on_done: Callable[[Round], None], partitions: list[TopicPartition] = partitions) -> None:
                now = scene.simulation.world.now
                machine.poll(now, partitions, lambda _, answer: on_done(answer), max_wait_ms=FETCH_WAIT_MS)
                client.perform()

            if partitions:
                found: Round = yield Wait(poll)
                self._record_fetched(cluster, machine, found)
                self._monitor.on_round_ended(cluster, partitions, machine.positions, found.errors)
            yield application.pause()
        self._positions = dict(machine.positions)

    def _record_fetched(self, cluster: str, machine: consumer.Consumer, found: Round) -> None:
        account, now = self.application.scene.account, self.application.scene.now
        for tp, part in found.fetched.items():
            self._monitor.on_fetched(cluster, tp, part)
            machine.positions[tp] = part.after
            for record in part.records:
                value = name_of(record.value, record.headers)
                account.reads.append(
                    ReceivedRecord(
                        self.application.plan.name, cluster, tp, True, record.offset, value, record.leader_epoch, now
                    )
                )
