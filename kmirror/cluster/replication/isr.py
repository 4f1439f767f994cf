"""ISR changes: proposed to the controller, one at a time for each partition, and in effect when confirmed.

A proposal whose outcome is not known may have been carried out. Until it is known, the members that it adds hold the
high watermark back, and the same proposal is sent again.
"""

from __future__ import annotations

from kmirror.cluster.broker.context import BrokerContext
from kmirror.cluster.broker.lifecycle import Lifecycle
from kmirror.cluster.images import PartitionImage
from kmirror.cluster.replication.partition import UNKNOWN_EPOCH, Partition
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.alter_partition_request import AlterPartitionRequest, BrokerState
from kmirror.protocol.gen.alter_partition_request import PartitionData as AskedPartition
from kmirror.protocol.gen.alter_partition_request import TopicData as AskedTopic
from kmirror.protocol.gen.alter_partition_response import AlterPartitionResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

TIMER = "isr"
RETRY_MS = 100
NOT_CARRIED_OUT = (ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED)
"""The proposal was based on the present image, and was refused."""
OVERTAKEN = (
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.INVALID_UPDATE_VERSION,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.NEW_LEADER_ELECTED,
)
"""The proposal was based on an outdated image; wait for the metadata log."""


class IsrManager:
    """Watches the followers of led partitions and proposes ISR changes."""

    def __init__(self, context: BrokerContext, lifecycle: Lifecycle, replicas: ReplicaManager) -> None:
        self._context = context
        self._lifecycle = lifecycle
        self._replicas = replicas

    def start(self, now: Instant) -> None:
        """Set the timer of the next check for lagging followers: every half of `replica.lag.time.max.ms`."""
        interval = self._context.configs.integer("replica.lag.time.max.ms") * MILLISECOND // 2
        self._context.outbox.set_timer((TIMER,), now + max(interval, 1))

    def on_timer(self, now: Instant) -> None:
        """Propose to remove lagging followers from the ISR."""
        lag_max = self._context.configs.integer("replica.lag.time.max.ms") * MILLISECOND
        for partition in self._replicas.partitions.values():
            if not partition.is_leader:
                continue
            gone = partition.lagging(now, lag_max)
            if gone:
                self._propose(now, partition, tuple(b for b in partition.isr if b not in gone))
        self.start(now)

    def maybe_expand(self, now: Instant, partition: Partition, replica: int) -> None:
        """Propose to add `replica` if it has caught up, in the broker epoch that the image has (KIP-903)."""
        broker = self._context.image.brokers.get(replica)
        if broker is None or not self._context.image.is_active(replica) or not partition.may_join(replica):
            return
        if partition.followers[replica].broker_epoch in (UNKNOWN_EPOCH, broker.epoch):
            self._propose(now, partition, (*partition.isr, replica))

    def retry(self, now: Instant, tp: TopicPartition) -> None:
        """Send the proposal again, if its outcome is still not known."""
        partition = self._replicas.led(tp)
        if partition is not None and partition.pending_isr is not None:
            self._propose(now, partition, partition.pending_isr)

    def _propose(self, now: Instant, partition: Partition, isr: tuple[int, ...]) -> None:
        # Additions count for the high watermark from now on, removals only once confirmed.
        partition.pending_isr = isr
        members = [BrokerState(broker_id=b, broker_epoch=self._broker_epoch(partition, b)) for b in isr]
        request = AlterPartitionRequest(
            broker_id=self._context.node_id,
            broker_epoch=self._lifecycle.epoch,
            topics=[
                AskedTopic(
                    topic_id=partition.topic_id,
                    partitions=[
                        AskedPartition(
                            partition_index=partition.tp.partition,
                            leader_epoch=partition.leader_epoch,
                            new_isr_with_epochs=members,
                            partition_epoch=partition.image.partition_epoch,
                        )
                    ],
                )
            ],
        )
        asked_in = partition.image

        def on_reply(later: Instant, reply: Message | None) -> None:
            self._on_reply(later, partition, asked_in, reply)

        self._context.ask_controller(now, request, on_reply)

    def _broker_epoch(self, partition: Partition, member: int) -> int:
        if member == self._context.node_id:
            return self._lifecycle.epoch
        follower = partition.followers.get(member)
        return UNKNOWN_EPOCH if follower is None else follower.broker_epoch

    def _on_reply(self, now: Instant, partition: Partition, asked_in: PartitionImage, reply: Message | None) -> None:
        if self._replicas.led(partition.tp) is not partition or partition.pending_isr is None:
            return
        if partition.image.partition_epoch != asked_in.partition_epoch:
            return  # The metadata log was faster; it has decided the proposal already.
        if not isinstance(reply, AlterPartitionResponse) or reply.error_code or not reply.topics:
            self._context.outbox.set_timer((TIMER, partition.tp), now + RETRY_MS * MILLISECOND)
            return
        answer = reply.topics[0].partitions[0]
        if answer.error_code in OVERTAKEN:
            return
        if answer.error_code not in (ErrorCode.NONE, *NOT_CARRIED_OUT):
            self._context.outbox.set_timer((TIMER, partition.tp), now + RETRY_MS * MILLISECOND)
            return
        partition.pending_isr = None
        if answer.error_code == ErrorCode.NONE:
            confirmed = PartitionImage(
                partition.image.replicas,
                tuple(answer.isr),
                answer.leader_id,
                answer.leader_epoch,
                answer.partition_epoch,
            )
            if confirmed.leader_epoch == partition.leader_epoch:
                partition.apply(now, confirmed)
                partition.advance_high_watermark()
        self._replicas.touch(partition.tp)
