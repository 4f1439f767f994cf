"""Rule of refused batches: a leader that has a batch does not refuse it as out of order (KIP-98).

A client that receives OUT_OF_ORDER_SEQUENCE_NUMBER fails the batch, or sends it again with another number.
"""

from __future__ import annotations

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.monitors.frames import FrameMonitor, PendingRequest, topic_by_id, topic_name
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.log.producer_entry import ProducerEntry
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.records import layout
from kmirror.records.batch import Batch, iter_batches
from kmirror.spec.error_codes import ErrorCode


class RefusalMonitor(FrameMonitor):
    """Judges leaders that refuse batches as out of order."""

    APIS = ("Produce",)

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules

    def on_response_sent(self, pending: PendingRequest) -> None:
        """Check whether the leader has a batch that it refuses."""
        request, answer = pending.body, pending.answer
        if not isinstance(request, ProduceRequest) or not isinstance(answer, ProduceResponse):
            return
        refused = {
            (topic_name(topic.name, topic.topic_id), row.index)
            for topic in answer.responses
            for row in topic.partition_responses
            if row.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        }
        for topic in request.topic_data if refused else ():
            name = topic_name(topic.name, topic.topic_id)
            for row in topic.partition_data:
                if (name, row.index) in refused and row.records:
                    self._check(pending, name, row.index, next(iter_batches(row.records)))

    def _check(self, pending: PendingRequest, name: str, index: int, batch: Batch) -> None:
        cluster, broker_id = pending.cluster, pending.node_id
        found = self._scene.clusters[cluster]
        if broker_id == CONTROLLER_ID or not found.runs(broker_id):
            return
        topic = name if name in self._scene.image(cluster).topics else topic_by_id(self._scene.image(cluster), name)
        tp = TopicPartition(topic or name, index)
        leader = found.broker(broker_id).parts.replicas.partitions.find_led(tp)
        entry = None if leader is None else leader.log.producers.entries.get(batch.producer_id)
        if entry is not None and _has_batch(entry, batch):
            producer = f"producer {batch.producer_id}, epoch {batch.producer_epoch}"
            text = f"batch {batch.base_sequence} of {producer}, is rejected as out of order, but is in the log"
            self._rules.report(cluster, broker_id, tp, "refused-written", text)


def _has_batch(entry: ProducerEntry, batch: Batch) -> bool:
    """Return whether the batch is one of those that a leader stores of its producer."""
    if entry.producer_epoch != batch.producer_epoch or batch.base_sequence < 0:
        return False
    last = layout.add_to_sequence(batch.base_sequence, batch.last_offset - batch.base_offset)
    count = batch.last_offset - batch.base_offset
    return any((known.last_sequence, known.offset_delta) == (last, count) for known in entry.batches)
