"""Leaders of partitions with Kafka's rules for producer ids, epochs and sequence numbers; a test decides the events."""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.client.producer import Delivery, Producer, ProducerConfigs
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.gen.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kmirror.records.batch import Batch
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from tests.unit.client.script import BOOTSTRAP, BROKERS, OTHER, TP, PendingRequest, Script, metadata

NONE = ErrorCode.NONE
BATCHES_KNOWN = 5
"""Number of a producer's last batches that a leader recognises as duplicates."""


@dataclass(frozen=True)
class Written:
    """A batch in the log; numbers are those of its first and last record."""

    name: str
    identity: tuple[int, int]
    first: int
    last: int


@dataclass
class Leader:
    """One partition: its log, and its leader's state of the producer."""

    broker_id: int
    epoch: int = 0
    log: list[Written] = field(default_factory=list)
    forgotten: int = 0
    """Start of the part of the log from which producer state is derived."""
    committed: int = 0
    """Length of the part of the log that no change of leader removes."""

    def known(self) -> list[Written]:
        """Return the last batches in the producer's last epoch; none if the producer is unknown."""
        rows = self.log[self.forgotten :]
        return [row for row in rows if row.identity == rows[-1].identity][-BATCHES_KNOWN:]

    def append(self, name: str, batch: Batch) -> tuple[ErrorCode, int]:
        """Append a batch or reject it; return the error and the offset."""
        identity = batch.producer_id, batch.producer_epoch
        new = Written(name, identity, batch.base_sequence, batch.base_sequence + batch.record_count - 1)
        known = self.known()
        for row in known:
            if (row.identity, row.first, row.last) == (new.identity, new.first, new.last):
                return NONE, self.log.index(row)
        if known and known[-1].identity[0] == identity[0]:
            if identity[1] < known[-1].identity[1]:
                return ErrorCode.INVALID_PRODUCER_EPOCH, -1
            expected = known[-1].last + 1 if known[-1].identity == identity else 0
            if new.first != expected:
                return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1
        self.log.append(new)
        return NONE, len(self.log) - 1


class Site:
    """A producer, the leaders it writes to, and the outcome of each batch."""

    def __init__(self, configs: ProducerConfigs | None = None, *, epoch: int = 0) -> None:
        self.script = Script()
        self.leaders = {TP: Leader(1), OTHER: Leader(2)}
        self.sent: dict[TopicPartition, list[str]] = {TP: [], OTHER: []}
        self.told: dict[str, ErrorCode] = {}
        self.unclear: set[str] = set()
        """Batches whose response was lost, or that were written and answered with an error."""
        self.seen: set[str] = set()
        """Batches that a leader has processed."""
        self.held: list[tuple[PendingRequest, ProduceResponse]] = []
        """Responses in flight, the oldest first."""
        self.now: Instant = 0
        self.ids = 7
        self.producer = Producer("producer", self.script.requester, (BOOTSTRAP,), configs)
        self.producer.init(0, lambda _now, _error: None)
        self.answer_others()
        self.producer.transactions.epoch = epoch

    def send(self, tp: TopicPartition = TP, *, records: int = 1) -> str:
        """Send a batch, and return the name that it has in the log."""
        name = f"{tp.partition}-{len(self.sent[tp])}"
        self.sent[tp].append(name)

        def on_delivery(_: Instant, delivery: Delivery) -> None:
            assert name not in self.told, f"{name} has two outcomes"
            self.told[name] = delivery.error

        self.producer.send(self.now, tp, [RecordData(value=name.encode())] * records, on_delivery)
        self.answer_others()
        return name

    def answer_others(self) -> None:
        """Answer every request except Produce: versions, leaders, producer ids."""
        while (
            one := next(
                (row for row in self.script.pending_requests() if not isinstance(row.body, ProduceRequest)), None
            )
        ) is not None:
            self.script.asked.remove(one)
            self.script.asked.insert(0, one)
            if isinstance(one.body, ApiVersionsRequest):
                self.script.answer_versions(self.now)
            elif isinstance(one.body, MetadataRequest):
                rows = {tp: (leader.broker_id, leader.epoch) for tp, leader in self.leaders.items()}
                self.script.answer(metadata(rows), self.now)
            else:
                assert isinstance(one.body, InitProducerIdRequest)
                self.script.answer(InitProducerIdResponse(producer_id=self.ids, producer_epoch=0), self.now)
                self.ids += 1

    # -- events at a broker ---------------------------------------------------------------------

    def unserved(self, broker_id: int) -> list[PendingRequest]:
        """Return the Produce requests that a broker has not processed."""
        self.answer_others()
        served = [asked for asked, _ in self.held]
        return [one for one in self.script.pending_requests() if one.peer == BROKERS[broker_id] and one not in served]

    def serve(self, broker_id: int, error: ErrorCode = NONE, *, written: bool = False) -> bool:
        """Let a broker process its oldest request; with `error` it refuses, with `written` it does so after the append.

        Returns whether there was a request.
        """
        waiting = self.unserved(broker_id)
        if not waiting:
            return False
        body = waiting[0].body
        assert isinstance(body, ProduceRequest)
        topics = []
        for topic in body.topic_data:
            rows = []
            for data in topic.partition_data:
                tp = TopicPartition("t", data.index)
                code, offset = self._carry_out(broker_id, tp, Batch(bytes(data.records or b"")), error, written=written)
                rows.append(PartitionProduceResponse(index=data.index, error_code=code, base_offset=offset))
            topics.append(TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=rows))
        self.held.append((waiting[0], ProduceResponse(responses=topics)))
        return True

    def _carry_out(
        self, broker_id: int, tp: TopicPartition, batch: Batch, error: ErrorCode, *, written: bool
    ) -> tuple[ErrorCode, int]:
        leader = self.leaders[tp]
        name = (next(batch.records()).value or b"").decode()
        if leader.broker_id != broker_id:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER, -1
        self.seen.add(name)
        if error and not written:
            return error, -1
        code, offset = leader.append(name, batch)
        if code:
            return code, offset
        if error:
            self.unclear.add(name)
            return error, -1
        leader.committed = max(leader.committed, offset + 1)
        return code, offset

    def answer(self, broker_id: int) -> bool:
        """Deliver the oldest response of a broker; return whether there was one."""
        found = next((row for row in self.held if row[0].peer == BROKERS[broker_id]), None)
        if found is None:
            return False
        self.held.remove(found)
        self.script.asked.remove(found[0])
        self.script.asked.insert(0, found[0])
        self.script.answer(found[1], self.now)
        self.answer_others()
        return True

    def break_link(self, broker_id: int) -> bool:
        """Close the link to a broker, with the requests and the responses on it."""
        self.answer_others()
        peer: Endpoint = BROKERS[broker_id]
        mine = [one for one in self.script.pending_requests() if one.peer == peer]
        if not mine:
            return False
        for asked, _ in self.held:
            if asked.peer == peer:
                self.unclear |= names(asked)
        self.held = [row for row in self.held if row[0].peer != peer]
        self.script.asked.remove(mine[0])
        self.script.asked.insert(0, mine[0])
        self.script.break_link(self.now)
        self.answer_others()
        return True

    def wait(self) -> None:
        """Let time pass until the producer's next timer, if it has one, and fire it."""
        self.script.pending_requests()
        if self.script.timers:
            key, at = min(self.script.timers.items(), key=lambda row: row[1])
            del self.script.timers[key]
            self.now = max(self.now, at)
            self.producer.on_timer(self.now, key)
            self.answer_others()

    # -- events at a partition ----------------------------------------------------------------------

    def move(self, tp: TopicPartition, *, lose: bool) -> None:
        """Move a partition to the other broker; with `lose` uncommitted records are lost."""
        leader = self.leaders[tp]
        leader.broker_id, leader.epoch = 3 - leader.broker_id, leader.epoch + 1
        if lose:
            del leader.log[leader.committed :]

    def forget(self, tp: TopicPartition) -> bool:
        """Let the leader lose its producer state, as after `producer.id.expiration.ms`.

        Does nothing and returns False where no client could then recover: a batch is in the log and its producer has no
        response, or a batch was acknowledged before an earlier one.
        """
        leader = self.leaders[tp]
        if any(row.name not in self.told for row in leader.log):
            return False
        open_ones = [name for name in self.sent[tp] if name not in self.told]
        taken = [name for name in self.sent[tp] if self.told.get(name) is NONE]
        if open_ones and taken and self.sent[tp].index(open_ones[0]) < self.sent[tp].index(taken[-1]):
            return False
        leader.forgotten = len(leader.log)
        return True

    # -- the end --------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Let every request be processed and answered until each batch has an outcome."""
        for _ in range(2_000):
            if len(self.told) == sum(map(len, self.sent.values())):
                return
            moved = [self.serve(broker_id) | self.answer(broker_id) for broker_id in BROKERS]
            if not any(moved):
                self.wait()
        raise AssertionError(f"no end: {self.told}, {self.sent}")

    def check(self) -> None:
        """Acknowledged batches are in the log once, in order; failed ones only if their outcome was unclear."""
        for tp, leader in self.leaders.items():
            logged = [row.name for row in leader.log]
            assert len(set(logged)) == len(logged), f"written twice: {logged}"
            acked = [name for name in self.sent[tp] if self.told[name] is NONE]
            assert [name for name in logged if self.told[name] is NONE] == acked, (logged, acked, self.told)
            failed = {name for name in logged if self.told[name]}
            assert failed <= self.unclear, f"failed, and in the log: {failed - self.unclear}"


def names(asked: PendingRequest) -> set[str]:
    """Return the names of the batches in a Produce request."""
    assert isinstance(asked.body, ProduceRequest)
    batches = [Batch(bytes(d.records or b"")) for topic in asked.body.topic_data for d in topic.partition_data]
    return {(next(batch.records()).value or b"").decode() for batch in batches}
