"""Rules of idempotent producers of `kmirror.client`: sequence numbers, order, and retries of their batches (KIP-98).

Requests are checked where they arrive. Lost requests are not seen, so no rule requires a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kmirror.histories.compaction import clocks_differ_by
from kmirror.histories.monitors.frames import FrameMonitor, PendingRequest, topic_by_id, topic_name
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.records import layout
from kmirror.records.batch import Batch, iter_batches
from kmirror.sim.network import Link
from kmirror.spec.error_codes import ErrorCode

KINDS = ("library", "library_transactions")
IN_FLIGHT_MAX = 5
"""`max.in.flight.requests.per.connection`: a leader stores this number of a producer's batches to detect duplicates."""
WRITTEN_CODES = (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER)
Subject = tuple[str, str, int, int]
"""Client, topic as in the request, partition, producer id."""


@dataclass(slots=True)
class _Stream:
    """Batches of one producer for one partition in its newest epoch."""

    epoch: int
    counts: dict[int, int] = field(default_factory=dict)
    """First sequence number to the number of records."""
    records: dict[int, bytes] = field(default_factory=dict)
    """First sequence number to the records as encoded in the batch."""
    sequences: dict[bytes, int] = field(default_factory=dict)
    """Encoded records to first sequence number."""
    written: dict[int, None] = field(default_factory=dict)
    """First sequence numbers of batches that the client knows to be written."""
    in_flight: list[tuple[PendingRequest, int]] = field(default_factory=list)
    """Requests that may still be answered, with the first sequence number of the batch."""


class ProducerMonitor(FrameMonitor):
    """Judges the batches sent by producers of `kmirror.client`."""

    APIS = ("Produce", "InitProducerId")

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._clients = library_clients(scene, KINDS)
        self._streams: dict[Subject, _Stream] = {}
        self._epochs_received: dict[tuple[str, int], Instant] = {}
        """(client, producer id) to the time when the client last got an epoch of it."""

    def judges(self, link: Link) -> bool:
        return link.client in self._clients

    def on_request(self, pending: PendingRequest) -> None:
        """Check the batches of a request, one for each partition."""
        if not isinstance(pending.body, ProduceRequest):
            return
        for topic, index, batch, data in _batches(pending):
            stream = self._stream((pending.link.client, topic, index, batch.producer_id), batch.producer_epoch)
            if stream is None:
                tp = self._partition(pending, topic, index)
                text = f"epoch {batch.producer_epoch} comes after a later one"
                self._report(pending, tp, "producer-epoch", text)
                continue
            stream.in_flight = [row for row in stream.in_flight if row[0].link.open]
            for rule, text in _violations(pending, stream, batch, data):
                text = f"producer {batch.producer_id}, epoch {stream.epoch}: {text}"
                self._report(pending, self._partition(pending, topic, index), rule, text)
            stream.counts[batch.base_sequence] = batch.last_offset - batch.base_offset + 1
            stream.records[batch.base_sequence] = data
            stream.sequences[data] = batch.base_sequence
            stream.in_flight.append((pending, batch.base_sequence))

    def _stream(self, subject: Subject, epoch: int) -> _Stream | None:
        """Return the batches of an epoch; None if a later one has begun."""
        stream = self._streams.get(subject)
        if stream is None or stream.epoch < epoch:
            stream = self._streams[subject] = _Stream(epoch)
        return stream if stream.epoch == epoch else None

    def on_response_received(self, pending: PendingRequest) -> None:
        """Record the batches that the client now knows to be written, and the end of the request."""
        if isinstance(pending.answer, InitProducerIdResponse):
            if pending.answer.error_code == ErrorCode.NONE:
                self._record_epoch(pending.cluster, pending.link.client, pending.answer.producer_id)
            return
        codes: dict[tuple[str, int], int] = {}
        if isinstance(pending.answer, ProduceResponse):
            for topic in pending.answer.responses:
                name = topic_name(topic.name, topic.topic_id)
                codes.update({(name, row.index): row.error_code for row in topic.partition_responses})
        for name, index, batch, _ in _batches(pending):
            stream = self._streams.get((pending.link.client, name, index, batch.producer_id))
            if stream is None or stream.epoch != batch.producer_epoch:
                continue
            stream.in_flight = [row for row in stream.in_flight if row[0] is not pending]
            if codes.get((name, index)) in WRITTEN_CODES:
                stream.written[batch.base_sequence] = None

    def _record_epoch(self, cluster: str, client: str, producer_id: int) -> None:
        """Forget the batches if the coordinator lost its records of the producer, and may assign an epoch again."""
        now, subject = self._scene.now, (client, producer_id)
        since, until = self._epochs_received.get(subject, now), now + clocks_differ_by(self._scene.plan)
        if self._scene.account.groups.may_have_lost_transactions(cluster, (producer_id,), since, until):
            self._streams = {key: row for key, row in self._streams.items() if (key[0], key[3]) != subject}
        self._epochs_received[subject] = now

    def _partition(self, pending: PendingRequest, topic: str, index: int) -> TopicPartition:
        return TopicPartition(topic_by_id(self._scene.image(pending.cluster), topic) or topic, index)

    def _report(self, pending: PendingRequest, tp: TopicPartition, rule: str, text: str) -> None:
        self._rules.report(pending.cluster, pending.node_id, tp, rule, f"{pending.link.client}, {text}")


def library_clients(scene: Scene, kinds: Iterable[str]) -> dict[str, None]:
    """Return the process names of a plan's clients of these kinds, one in each cluster."""
    names = [client.name for client in scene.plan.clients if client.kind in kinds]
    return {f"{name}@{cluster.name}": None for name in names for cluster in scene.plan.clusters}


def _violations(pending: PendingRequest, stream: _Stream, batch: Batch, data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the rules that a batch breaks."""
    first, count = batch.base_sequence, batch.last_offset - batch.base_offset + 1
    known = stream.records.get(first)
    if known is None:
        if data in stream.sequences:
            yield "producer-renumbered", f"the batch of sequence {stream.sequences[data]} is sent again with {first}"
        for other, length in stream.counts.items():
            if other < first + count and first < other + length:
                yield "producer-overlap", f"sequences {first} to {first + count - 1}, and {length} from {other} on"
                break
    elif known != data:
        yield "producer-reused", f"sequence {first} is used for another batch"
    if first in stream.written:
        yield "producer-acked", f"sequence {first} is sent again after it was acknowledged"
    if len(stream.in_flight) >= IN_FLIGHT_MAX:
        yield "producer-in-flight", f"{len(stream.in_flight) + 1} batches are in flight"
    elsewhere = [other for request, other in stream.in_flight if request.node_id != pending.node_id]
    if elsewhere:
        yield "producer-leaders", f"sequence {first} goes to another broker while {elsewhere[0]} is in flight"


def _batches(pending: PendingRequest) -> Iterator[tuple[str, int, Batch, bytes]]:
    """Yield topic, partition, batch and its records from a request of an idempotent producer."""
    request = pending.body
    assert isinstance(request, ProduceRequest), "only requests with batches are passed"
    for topic in request.topic_data:
        for row in topic.partition_data:
            data = bytes(row.records or b"")
            for batch in iter_batches(data):
                if batch.producer_id >= 0:
                    yield topic_name(topic.name, topic.topic_id), row.index, batch, data[layout.HEADER_SIZE :]
