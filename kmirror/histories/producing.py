"""Producer of a history: delivery of batches and transactions with Kafka's retries, usually with acks=all.

With acks=1 or 0 nothing is promised, so such a batch is not recorded as acknowledged.

A batch is sent until it is acknowledged, refused permanently, given up after the delivery timeout, or until its
application moves to another cluster. The result is recorded.

Several batches of a partition may be in flight. Each gets its sequence number when it is handed over, and keeps it.
They go to one leader at a time, in order; a batch that must be sent again waits for those before it. So
OUT_OF_ORDER_SEQUENCE_NUMBER is final only for the first of them: the others follow one that was lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kmirror.histories.account import Ack, Refusal, Transaction, Write
from kmirror.histories.plan import ClientPlan
from kmirror.histories.scene import Scene
from kmirror.histories.scripts import OneWayRequest, Request, Script, Sleep
from kmirror.histories.values import NAME
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.protocol.gen.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kmirror.protocol.gen.add_partitions_to_txn_response import AddPartitionsToTxnResponse
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.end_txn_response import EndTxnResponse
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.find_coordinator_response import FindCoordinatorResponse
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.message import Message
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.version_limits import NAMED_TOPICS_LAST, TRANSACTIONS_V1_LAST
from kmirror.spec.wire_values import Acks, CoordinatorType

COORDINATOR_KEYS_MIN_VERSION = 4
"""First version of FindCoordinator with a list of keys."""
PRODUCE_TIMEOUT_MS = 1_500
DELIVERY_TIMEOUT_MS = 8_000
"""Time after which a batch, or a request to a coordinator, is given up."""
RETRY_MS = 120
WAITING = (ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.OPERATION_NOT_ATTEMPTED)
COORDINATOR_MOVED = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE)
WRITTEN_CODES = (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER)
MILLION = 1_000_000
PADDING = "padding"
POLL_MS = 40
"""Interval of the checks whether batches in flight are done."""


class Application:
    """State of a simulated application: the cluster that it uses, and the next unique value that it writes."""

    def __init__(self, scene: Scene, plan: ClientPlan) -> None:
        self.scene = scene
        self.plan = plan
        self.cluster = plan.cluster
        self.moves = 0
        """Number of times the application has moved to another cluster."""
        self.rng: Rng = scene.rng(f"client {plan.name}")
        self._values = 0
        self._answers_lost_ppm = int(plan.options.get("answers_lost_ppm", 0))
        self._losses = self.rng.split("answers")
        self._keys = self.rng.split("keys")

    def send(self, request: Request) -> Script[Message | None]:
        """Send a request, and sometimes lose the response: the client waits until the timeout and does not know the
        result.
        """
        sent_at = self.scene.now
        reply: Message | None = yield request
        if reply is None or not self._answers_lost_ppm or not self._losses.chance(self._answers_lost_ppm, MILLION):
            return reply
        yield Sleep(max(0, request.timeout_ms - (self.scene.now - sent_at) // MILLISECOND))
        return None

    def move_to(self, cluster: str) -> None:
        """Move the application to `cluster`."""
        if cluster != self.cluster:
            self.cluster = cluster
            self.moves += 1

    def is_writing(self) -> bool:
        """Return whether the application continues to write; otherwise it finishes its current work."""
        return self.scene.writing

    def values(self, count: int) -> list[str]:
        """Return values that no other producer writes in this history."""
        first = self._values
        self._values += count
        return [f"{self.plan.name}.{n}" for n in range(first, first + count)]

    def record(self, value: str) -> RecordData:
        """Return a record for a value, with one of `keys`, sometimes as a tombstone; without `keys` each has its own
        key.

        A compacted topic takes no record without a key, and compaction removes nothing if every key is unique. With
        `nulls` some records have neither key nor value; with `padding` each is larger by that number of bytes.
        """
        options, octets = self.plan.options, value.encode()
        if "nulls" in options and self._keys.chance(int(options["nulls"]), 100):
            return RecordData(None, None, [(NAME, octets)])
        if "padding" in options:
            return RecordData(octets, octets, [(PADDING, bytes(int(options["padding"])))])
        if "keys" not in options:
            return RecordData(octets, octets)
        key = f"k{self._keys.below(int(options['keys']))}".encode()
        if self._keys.chance(int(options.get("tombstones", 0)), 100):
            return RecordData(key, None, [(NAME, octets)])
        return RecordData(key, octets)

    def partitions(self) -> list[TopicPartition]:
        """Return the partitions of the application's topics in its current cluster."""
        metadata_cache = self.scene.metadata_caches[self.cluster]
        return [tp for topic in self.plan.topics for tp in metadata_cache.partitions(topic)]

    def find_coordinator(self, cluster: str, kind: CoordinatorType, key: str) -> Script[Endpoint | None]:
        """Return the endpoint of the coordinator of `key`, or None if the broker does not return one."""
        endpoint = self.scene.metadata_caches[cluster].any_broker()
        if self.scene.last_version(cluster, "FindCoordinator") < COORDINATOR_KEYS_MIN_VERSION:
            request, last = FindCoordinatorRequest(key_type=kind, key=key), COORDINATOR_KEYS_MIN_VERSION - 1
            reply = yield Request(cluster, endpoint, request, last)
            found = [(reply.error_code, reply.host, reply.port)] if isinstance(reply, FindCoordinatorResponse) else []
        else:
            request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
            reply = yield Request(cluster, endpoint, request)
            rows = reply.coordinators[:1] if isinstance(reply, FindCoordinatorResponse) else []
            found = [(row.error_code, row.host, row.port) for row in rows]
        return next((Endpoint(host, port) for error, host, port in found if not error), None)

    def pause(self) -> Sleep:
        """Return a pause of about `pause_ms`, at least until all clients stop resting."""
        half, resting_ms = self.plan.pause_ms // 2, (self.scene.clients_paused_until - self.scene.now) // MILLISECOND
        return Sleep(max(half + self.rng.between(0, 2 * half), resting_ms))


@dataclass(slots=True, eq=False)
class Batch:
    """A batch in delivery, with its permanent sequence number."""

    tp: TopicPartition
    values: Sequence[str]
    records: bytes
    sequence: int
    number: int
    """Number of the batch in its partition."""
    until: Instant
    is_sent: bool = False
    sent_to: Endpoint | None = None
    """Leader that it was sent to and that has not responded; None while it waits to be sent."""


@dataclass(slots=True)
class Producer:
    """A producer instance, bound to a cluster, with or without a producer id."""

    application: Application
    name: str
    """Name of the process; a pair of producers has two."""
    cluster: str
    transactional_id: str = ""
    timeout_ms: int = 4_000
    """Time after which the coordinator aborts its transaction."""
    bumps_epoch: bool = False
    """Whether it uses transaction.version 2: leaders add partitions, and the end of a transaction raises the epoch."""
    producer_id: int = -1
    epoch: int = -1
    sequences: dict[TopicPartition, int] = field(default_factory=dict)
    transaction: Transaction | None = None
    coordinator: Endpoint | None = None
    queues: dict[TopicPartition, list[Batch]] = field(default_factory=dict)
    """Batches in delivery, in order."""
    is_broken: bool = False
    """A batch was refused or given up since the last flush."""
    _in_flight: int = field(init=False)
    _numbers: dict[TopicPartition, int] = field(default_factory=dict)
    _moves: int = field(init=False)

    def __post_init__(self) -> None:
        self._moves = self.application.moves
        self._in_flight = int(self.application.plan.options.get("in_flight", 1))

    @property
    def has_moved(self) -> bool:
        """Return whether the application has moved to another cluster since this producer began."""
        return self.application.moves != self._moves

    # -- batches ------------------------------------------------------------------------------

    def send(self, tp: TopicPartition, values: Sequence[str]) -> Script[ErrorCode | None]:
        """Write one batch; return NONE if it was acknowledged, None if it was given up, else the error."""
        batch = self._register_batch(tp, values)
        return (yield from self._deliver_and_record(batch))

    def write(self, tp: TopicPartition, make: Callable[[], Sequence[str]]) -> Script[None]:
        """Send up to as many batches as may be in flight, each with the result of `make`; wait only for room.

        `flush` returns the result.
        """
        for _ in range(self.application.rng.between(1, self._in_flight)):
            # The leader remembers the last five batches, so the window counts from the first one that is not done.
            while (queue := self.queues.get(tp)) and self._numbers[tp] - queue[0].number >= self._in_flight:
                yield Sleep(POLL_MS)
            if self.is_broken or self.has_moved:
                return
            self.application.scene.scripts.start(self.name, self._deliver_and_record(self._register_batch(tp, make())))

    def flush(self) -> Script[bool]:
        """Wait until no batch is in flight; return False if one was not acknowledged."""
        while any(self.queues.values()):
            yield Sleep(POLL_MS)
        succeeded, self.is_broken = not self.is_broken, False
        return succeeded

    def _register_batch(self, tp: TopicPartition, values: Sequence[str]) -> Batch:
        """Assign a number to a batch, and record that it is sent."""
        scene = self.application.scene
        sequence = self.sequences.get(tp, 0) if self.producer_id >= 0 else -1
        rows = [self.application.record(value) for value in values]
        records = build_batch(
            rows,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=sequence,
            is_transactional=bool(self.transactional_id),
            compression=Compression[str(self.application.plan.options.get("compression", "none")).upper()],
            timestamp_ms=scene.simulation.now_ms,
        )
        key = "" if self.transaction is None else self.transaction.key
        for n, (value, row) in enumerate(zip(values, rows, strict=True)):
            scene.account.writes[value] = Write(
                value,
                self.application.plan.name,
                self.cluster,
                tp,
                self.producer_id,
                self.epoch,
                sequence + n if sequence >= 0 else -1,
                key,
                scene.now,
                (row.key or b"").decode(),
                row.value is None,
            )
        if self.transaction is not None:
            self.transaction.values.extend(values)
        self.sequences[tp] = sequence + len(values)
        number = self._numbers[tp] = self._numbers.get(tp, 0) + 1
        batch = Batch(tp, values, records, sequence, number, scene.now + DELIVERY_TIMEOUT_MS * MILLISECOND)
        self.queues.setdefault(tp, []).append(batch)
        return batch

    def _deliver_and_record(self, batch: Batch) -> Script[ErrorCode | None]:
        error = yield from self._deliver(batch)
        self.queues[batch.tp].remove(batch)
        self.is_broken |= error is not ErrorCode.NONE
        if error not in (ErrorCode.NONE, None):
            # If a later batch was sent, a leader without state of the producer may have accepted that one first.
            alone = self.sequences.get(batch.tp) == len(batch.values)
            self._record_refusals(batch.tp, batch.values, error, first=batch.sequence == 0 and alone)
        return error

    def _is_first_in_order(self, batch: Batch, leader: Endpoint) -> bool:
        """Return whether no earlier batch must be sent first."""
        queue = self.queues[batch.tp]
        return not any(batch.is_sent or other.sent_to != leader for other in queue[: queue.index(batch)])

    def _deliver(self, batch: Batch) -> Script[ErrorCode | None]:
        scene, tp = self.application.scene, batch.tp
        metadata_cache = scene.metadata_caches[self.cluster]
        row = PartitionProduceData(index=tp.partition, records=batch.records)
        acks = int(self.application.plan.options.get("acks", Acks.ALL))
        request = ProduceRequest(
            transactional_id=self.transactional_id or None,
            acks=acks,
            timeout_ms=PRODUCE_TIMEOUT_MS,
            topic_data=[TopicProduceData(name=tp.topic, partition_data=[row])],
        )
        version_max = (NAMED_TOPICS_LAST if self.bumps_epoch else TRANSACTIONS_V1_LAST)[request.NAME]
        version_max = min(version_max, int(self.application.plan.options.get("produce_version", version_max)))
        while not self.has_moved and scene.now < batch.until:
            leader = metadata_cache.leader(tp)
            if leader is None or not self._is_first_in_order(batch, leader.endpoint):
                yield Sleep(RETRY_MS)
                continue
            sent_at, batch.is_sent, batch.sent_to = scene.now, True, leader.endpoint
            if acks == Acks.NONE:
                yield OneWayRequest(self.cluster, leader.endpoint, request, version_max)
                return ErrorCode.NONE
            reply = yield from self.application.send(Request(self.cluster, leader.endpoint, request, version_max))
            batch.sent_to = None
            if isinstance(reply, ProduceResponse):
                answer = reply.responses[0].partition_responses[0]
                error = ErrorCode(answer.error_code)
                if error in WRITTEN_CODES:
                    for n, value in enumerate(batch.values if acks == Acks.ALL else ()):
                        offset = answer.base_offset + n if answer.base_offset >= 0 else -1
                        scene.account.acks.append(
                            Ack(value, self.cluster, tp, offset, scene.now, sent_at, leader.broker_id)
                        )
                    return ErrorCode.NONE
                is_ahead = error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and self.queues[tp][0] is not batch
                if not (error.retriable or is_ahead):
                    return error
            metadata_cache.refresh()
            yield Sleep(RETRY_MS)
        return None

    def _record_refusals(self, tp: TopicPartition, values: Sequence[str], error: ErrorCode, *, first: bool) -> None:
        scene = self.application.scene
        scene.account.refusals.extend(
            Refusal(value, self.application.plan.name, self.cluster, tp, error.name, first and n == 0, scene.now)
            for n, value in enumerate(values)
        )

    # -- ids and transactions -----------------------------------------------------------------

    def init(self) -> Script[bool]:
        """Get a producer id, or with a transactional id the next epoch; return False if that failed."""
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id or None, transaction_timeout_ms=self.timeout_ms
        )

        def error_of(reply: Message) -> int:
            return reply.error_code if isinstance(reply, InitProducerIdResponse) else -1

        reply = yield from self._send_to_coordinator(request, error_of)
        if not isinstance(reply, InitProducerIdResponse) or reply.error_code:
            return False
        self.producer_id, self.epoch = reply.producer_id, reply.producer_epoch
        self.sequences.clear()
        return True

    def begin(self, key: str) -> Transaction:
        """Open a transaction; the coordinator learns of it with its first partition."""
        self.transaction = Transaction(key, self.cluster)
        self.application.scene.account.transactions[key] = self.transaction
        return self.transaction

    def add_partitions(self, partitions: Sequence[TopicPartition]) -> Script[bool]:
        """Add the partitions to the transaction at its coordinator; return False if that failed.

        Send nothing if the leaders add them.
        """
        if self.bumps_epoch:
            return True
        topics: dict[str, AddPartitionsToTxnTopic] = {}
        for tp in partitions:
            topics.setdefault(tp.topic, AddPartitionsToTxnTopic(name=tp.topic)).partitions.append(tp.partition)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=list(topics.values()),
        )
        reply = yield from self._send_to_coordinator(request, _added_error)
        return reply is not None and not _added_error(reply)

    def end(self, *, commit: bool) -> Script[bool]:
        """Commit or abort; return False if the coordinator refused, or the result is unknown without a response."""
        transaction = self.transaction
        assert transaction is not None, "begun"
        transaction.requested_end = "commit" if commit else "abort"
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=commit,
        )

        def error_of(reply: Message) -> int:
            return reply.error_code if isinstance(reply, EndTxnResponse) else -1

        reply = yield from self._send_to_coordinator(request, error_of)
        transaction.is_end_acknowledged = reply is not None and not error_of(reply)
        if transaction.is_end_acknowledged and isinstance(reply, EndTxnResponse) and reply.producer_id >= 0:
            self.producer_id, self.epoch = reply.producer_id, reply.producer_epoch
            self.sequences.clear()
        self.transaction = None
        return transaction.is_end_acknowledged

    def _send_to_coordinator(self, request: Message, error_of: Callable[[Message], int]) -> Script[Message | None]:
        """Send a request until a response comes that a retry would not change; return None if none came in time."""
        scene = self.application.scene
        until = scene.now + DELIVERY_TIMEOUT_MS * MILLISECOND
        version_max = None if self.bumps_epoch else TRANSACTIONS_V1_LAST.get(request.NAME)
        while not self.has_moved and scene.now < until:
            endpoint = yield from self._find_coordinator()
            reply = None
            if endpoint is not None:
                reply = yield from self.application.send(Request(self.cluster, endpoint, request, version_max))
            code = -1 if reply is None else error_of(reply)
            error = ErrorCode(code) if code >= 0 else ErrorCode.NETWORK_EXCEPTION
            if reply is not None and not error.retriable and error not in WAITING:
                return reply
            if reply is None or error in COORDINATOR_MOVED:
                self.coordinator = None
            yield Sleep(RETRY_MS)
        return None

    def _find_coordinator(self) -> Script[Endpoint | None]:
        if not self.transactional_id:
            return self.application.scene.metadata_caches[self.cluster].any_broker()
        if self.coordinator is None:
            kind = CoordinatorType.TRANSACTION
            self.coordinator = yield from self.application.find_coordinator(self.cluster, kind, self.transactional_id)
        return self.coordinator


def _added_error(reply: Message) -> int:
    """Return the worst error of AddPartitionsToTxn; errors that waiting does not resolve come first."""
    if not isinstance(reply, AddPartitionsToTxnResponse):
        return -1
    codes = [row.partition_error_code for t in reply.results_by_topic_v3_and_below for row in t.results_by_partition]
    errors = [ErrorCode(code) for code in codes if code]
    fatal = [error for error in errors if not error.retriable and error not in WAITING]
    return int((fatal or errors or [ErrorCode.NONE])[0])
