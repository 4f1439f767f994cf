"""Reports to the controller of the log directory of each replica (Kafka's AssignmentsManager).

The controller needs them to move leaderships away from a log directory that fails (KIP-858). One request is in flight
at a time. Rejected assignments are sent again after a pause that doubles with each failure.
"""

from __future__ import annotations

from kmirror.client.backoff import Backoff
from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.lifecycle import Lifecycle
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.assign_replicas_to_dirs_request import (
    AssignReplicasToDirsRequest,
    DirectoryData,
    PartitionData,
    TopicData,
)
from kmirror.protocol.gen.assign_replicas_to_dirs_response import AssignReplicasToDirsResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

PARTITIONS_MAX = 2250
"""Maximum partitions per request (AssignReplicasToDirsRequest.MAX_ASSIGNMENTS_PER_REQUEST)."""
BACKOFF = Backoff(100, 10_000)

Assignments = dict[tuple[Uuid, int], tuple[TopicPartition, Uuid]]
"""(topic id, partition index) to (topic partition, id of its log directory)."""


class DirectoryAssignments(BrokerComponent):
    """Log directory assignments that one broker has not reported yet."""

    name = "assignments"

    def __init__(self, context: BrokerContext, lifecycle: Lifecycle) -> None:
        self._context = context
        self._lifecycle = lifecycle
        self._waiting: Assignments = {}
        self._is_busy = False
        """A request is in flight, or the pause after a failure is not over."""
        self._failures = 0

    def check(self, now: Instant, tp: TopicPartition, topic_id: Uuid, image: PartitionImage) -> None:
        """Report the log directory of `tp` to the controller, unless `image` has it already."""
        disk = self._context.log_dirs.find(tp)
        if disk is not None and image.directory_of(self._context.node_id) != disk.directory_id:
            self._waiting[topic_id, tp.partition] = (tp, disk.directory_id)
            self._context.defer(self._send)

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        """Retry after the pause."""
        self._is_busy = False
        self._send(now)

    def _send(self, now: Instant) -> None:
        if self._is_busy:
            return
        sent: Assignments = {}
        while self._waiting and len(sent) < PARTITIONS_MAX:
            key = next(iter(self._waiting))
            tp, directory_id = self._waiting.pop(key)
            image = self._context.image.topics.partition(tp)
            topic_name = self._context.image.topics.names.get(key[0])
            if image is None or topic_name != tp.topic or self._context.node_id not in image.replicas:
                continue
            if image.directory_of(self._context.node_id) != directory_id:
                sent[key] = (tp, directory_id)
        if not sent:
            return
        directories: dict[Uuid, dict[Uuid, TopicData]] = {}
        for (topic_id, index), (_, directory_id) in sent.items():
            topics = directories.setdefault(directory_id, {})
            topic = topics.setdefault(topic_id, TopicData(topic_id=topic_id, partitions=[]))
            topic.partitions.append(PartitionData(partition_index=index))
        request = AssignReplicasToDirsRequest(
            broker_id=self._context.node_id,
            broker_epoch=self._lifecycle.epoch,
            directories=[DirectoryData(id=id_, topics=list(topics.values())) for id_, topics in directories.items()],
        )
        self._is_busy = True
        self._context.ask_controller(now, request, lambda later, reply: self._on_reply(later, sent, reply))

    def _on_reply(self, now: Instant, sent: Assignments, reply: Message | None) -> None:
        accepted: set[tuple[Uuid, int]] = set()
        if isinstance(reply, AssignReplicasToDirsResponse) and reply.error_code == ErrorCode.NONE:
            accepted = {
                (topic.topic_id, row.partition_index)
                for directory in reply.directories
                for topic in directory.topics
                for row in topic.partitions
                if row.error_code == ErrorCode.NONE
            }
        rejected = {key: assignment for key, assignment in sent.items() if key not in accepted}
        self._waiting = {**rejected, **self._waiting}
        if rejected:
            self._context.outbox.set_timer((self.name,), now + BACKOFF.pause_ms(self._failures) * MILLISECOND)
            self._failures += 1
        else:
            self._failures, self._is_busy = 0, False
            self._send(now)
