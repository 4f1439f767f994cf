"""ISR changes: proposed to the controller, one at a time per partition, in effect when confirmed.

A proposal with an unknown outcome may have been carried out. Until the outcome is known, its added members hold back
the high watermark, and the same proposal is sent again.

Proposals of one event are sent together. One request is in flight at a time; later proposals wait for its response
(DefaultAlterPartitionManager).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.lifecycle import Lifecycle
from kmirror.cluster.node.partition import UNKNOWN_EPOCH, Partition
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.alter_partition_request import AlterPartitionRequest, BrokerState
from kmirror.protocol.gen.alter_partition_request import PartitionData as RequestPartition
from kmirror.protocol.gen.alter_partition_request import TopicData as RequestTopic
from kmirror.protocol.gen.alter_partition_response import AlterPartitionResponse, PartitionData
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

TIMER = "isr"
RETRY_TIMER = (TIMER, "again")
RETRY_MS = 100
PARTITIONS_MAX = 1000
"""Maximum partitions per request, to bound the controller's work."""
REJECTED_ERRORS = (ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED)
"""Errors of a proposal that was based on the current image and was rejected."""
OUTDATED_ERRORS = (
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.INVALID_UPDATE_VERSION,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.NEW_LEADER_ELECTED,
)
"""Errors of a proposal that was based on an outdated image; wait for the metadata log."""


class Proposal(NamedTuple):
    """A partition in a request, and the image on which its proposal was based."""

    partition: Partition
    image: PartitionImage


class IsrManager(BrokerComponent):
    """Tracks the followers of led partitions and proposes ISR changes."""

    name = TIMER

    def __init__(self, context: BrokerContext, lifecycle: Lifecycle, replicas: ReplicaManager) -> None:
        self._context = context
        self._lifecycle = lifecycle
        self._replicas = replicas
        self._changed: dict[TopicPartition, None] = {}
        """Partitions that may have lagging followers: changed since the last check, or behind at that check."""
        self._unsent: dict[TopicPartition, Partition] = {}
        """Partitions whose `pending_isr` has not been sent."""
        self._is_waiting = False
        """A request is in flight, or the pause after a failed one is not over."""

    def start(self, now: Instant) -> None:
        """Set the timer for the next check for lagging followers, half of `replica.lag.time.max.ms`."""
        interval = self._context.configs.integer("replica.lag.time.max.ms") * MILLISECOND // 2
        self._context.outbox.set_timer((TIMER,), now + max(interval, 1))

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        """Propose to remove lagging followers from the ISR, or retry after a failed request."""
        if key == RETRY_TIMER:
            self._is_waiting = False
            self._context.defer(self._send_proposed)
        else:
            self._shrink(now)
            self.start(now)

    def on_progress(self, now: Instant, tp: TopicPartition) -> None:
        self._changed[tp] = None

    def _shrink(self, now: Instant) -> None:
        lag_max = self._context.configs.integer("replica.lag.time.max.ms") * MILLISECOND
        changed, self._changed = self._changed, {}
        for tp in changed:
            partition = self._replicas.partitions.find_led(tp)
            if partition is None or not partition.has_followers_behind():
                continue
            self._changed[tp] = None
            lagging = partition.lagging_members(now, lag_max)
            if lagging:
                self._propose(partition, tuple(b for b in partition.isr if b not in lagging))

    def maybe_expand(self, now: Instant, partition: Partition, replica: int) -> None:
        """Propose to add `replica` if it has caught up, unless it last fetched in an old broker epoch (KIP-903)."""
        broker = self._context.image.brokers.get(replica)
        if broker is None or not self._context.image.brokers.is_active(replica) or not partition.may_join(replica):
            return
        if partition.followers[replica].broker_epoch in (UNKNOWN_EPOCH, broker.epoch):
            self._propose(partition, (*partition.isr, replica))

    def _propose(self, partition: Partition, isr: tuple[int, ...]) -> None:
        # Additions count for the high watermark from now on, removals only once confirmed.
        partition.pending_isr = isr
        self._unsent[partition.tp] = partition
        self._context.defer(self._send_proposed)

    # -- requests -----------------------------------------------------------------------------

    def _send_proposed(self, now: Instant) -> None:
        """Send the pending proposals, unless a request is in flight."""
        if self._is_waiting:
            return
        proposals: dict[TopicPartition, Proposal] = {}
        while self._unsent and len(proposals) < PARTITIONS_MAX:
            tp = next(iter(self._unsent))
            partition = self._unsent.pop(tp)
            if self._replicas.partitions.find_led(tp) is partition and partition.pending_isr is not None:
                proposals[tp] = Proposal(partition, partition.image)
        if proposals:
            self._send(now, proposals)

    def _send(self, now: Instant, proposals: Mapping[TopicPartition, Proposal]) -> None:
        topics: dict[Uuid, RequestTopic] = {}
        for partition, image in proposals.values():
            topic = topics.setdefault(partition.topic_id, RequestTopic(topic_id=partition.topic_id, partitions=[]))
            members = partition.pending_isr or ()
            topic.partitions.append(
                RequestPartition(
                    partition_index=partition.tp.partition,
                    leader_epoch=partition.leader_epoch,
                    new_isr_with_epochs=[
                        BrokerState(broker_id=b, broker_epoch=self._broker_epoch(partition, b)) for b in members
                    ],
                    partition_epoch=image.partition_epoch,
                )
            )
        request = AlterPartitionRequest(
            broker_id=self._context.node_id, broker_epoch=self._lifecycle.epoch, topics=list(topics.values())
        )
        self._is_waiting = True

        def on_reply(later: Instant, reply: Message | None) -> None:
            self._on_reply(later, proposals, reply)

        self._context.ask_controller(now, request, on_reply)

    def _broker_epoch(self, partition: Partition, member: int) -> int:
        if member == self._context.node_id:
            return self._lifecycle.epoch
        follower = partition.followers.get(member)
        return UNKNOWN_EPOCH if follower is None else follower.broker_epoch

    # -- responses ----------------------------------------------------------------------------

    def _on_reply(self, now: Instant, proposals: Mapping[TopicPartition, Proposal], reply: Message | None) -> None:
        self._is_waiting = False
        self._context.defer(self._send_proposed)
        results: dict[tuple[Uuid, int], PartitionData] = {}
        if isinstance(reply, AlterPartitionResponse) and not reply.error_code:
            results = {(topic.topic_id, row.partition_index): row for topic in reply.topics for row in topic.partitions}
        has_failed = False
        for partition, image in proposals.values():
            if self._replicas.partitions.find_led(partition.tp) is not partition or partition.pending_isr is None:
                continue
            if partition.image.partition_epoch != image.partition_epoch:
                continue  # The metadata log has already decided the proposal.
            result = results.get((partition.topic_id, partition.tp.partition))
            if result is not None and result.error_code in OUTDATED_ERRORS:
                continue
            if result is not None and result.error_code in (ErrorCode.NONE, *REJECTED_ERRORS):
                self._complete(now, partition, result)
            else:
                self._unsent[partition.tp] = partition
                has_failed = True
        if has_failed:
            self._is_waiting = True
            self._context.outbox.set_timer(RETRY_TIMER, now + RETRY_MS * MILLISECOND)

    def _complete(self, now: Instant, partition: Partition, result: PartitionData) -> None:
        """End a proposal that was carried out, or rejected for the current image."""
        partition.pending_isr = None
        if result.error_code == ErrorCode.NONE:
            confirmed = PartitionImage(
                partition.image.replicas,
                tuple(result.isr),
                result.leader_id,
                result.leader_epoch,
                result.partition_epoch,
            )
            if confirmed.leader_epoch == partition.leader_epoch:
                partition.apply(now, confirmed)
                partition.advance_high_watermark()
        self._replicas.changes.mark_changed(partition.tp)
