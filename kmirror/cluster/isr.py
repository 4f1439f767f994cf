"""ISR changes: asked of the controller, one at a time for each partition, believed when confirmed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmirror.cluster.images import PartitionImage
from kmirror.cluster.partition import Partition
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import SetTimer
from kmirror.protocol.gen.alter_partition_request import AlterPartitionRequest, BrokerState
from kmirror.protocol.gen.alter_partition_request import PartitionData as AskedPartition
from kmirror.protocol.gen.alter_partition_request import TopicData as AskedTopic
from kmirror.protocol.gen.alter_partition_response import AlterPartitionResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

if TYPE_CHECKING:
    from kmirror.cluster.broker import Broker

TIMER = "isr"
VERSION = 3


class IsrManager:
    """Watches the followers of led partitions and proposes ISR changes."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def start(self, now: Instant) -> None:
        interval = self._broker.configs.integer("replica.lag.time.max.ms") * MILLISECOND // 2
        self._broker.effects.append(SetTimer((TIMER,), now + max(interval, 1)))

    def on_timer(self, now: Instant) -> None:
        """Propose to drop the followers that lag."""
        lag_max = self._broker.configs.integer("replica.lag.time.max.ms") * MILLISECOND
        for partition in self._broker.replicas.partitions.values():
            if not partition.is_leader:
                continue
            gone = partition.lagging(now, lag_max)
            if gone:
                self._propose(now, partition, tuple(b for b in partition.isr if b not in gone))
        self.start(now)

    def maybe_expand(self, now: Instant, partition: Partition, replica: int) -> None:
        """Propose to add `replica` if it caught up and the controller holds it for alive."""
        if partition.may_join(replica) and self._broker.image.is_alive(replica):
            self._propose(now, partition, (*partition.isr, replica))

    def _propose(self, now: Instant, partition: Partition, isr: tuple[int, ...]) -> None:
        # Additions count for the high watermark from now on, removals only once confirmed.
        partition.pending_isr = isr
        image = self._broker.image
        members = []
        for member in isr:
            broker = image.brokers.get(member)
            members.append(BrokerState(broker_id=member, broker_epoch=-1 if broker is None else broker.epoch))
        request = AlterPartitionRequest(
            broker_id=self._broker.node_id,
            broker_epoch=self._broker.lifecycle.epoch,
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

        self._broker.ask_controller(now, request, VERSION, on_reply)

    def _on_reply(
        self, now: Instant, partition: Partition, asked_in: PartitionImage, reply: Message | None
    ) -> None:
        if partition.image.partition_epoch != asked_in.partition_epoch:
            return  # The metadata log was faster; it has already settled the proposal.
        partition.pending_isr = None
        if not isinstance(reply, AlterPartitionResponse) or reply.error_code or not reply.topics:
            return
        answer = reply.topics[0].partitions[0]
        if answer.error_code == ErrorCode.NONE:
            confirmed = PartitionImage(
                partition.image.replicas, tuple(answer.isr), answer.leader_id, answer.leader_epoch,
                answer.partition_epoch,
            )
            if confirmed.leader_epoch == partition.leader_epoch:
                partition.apply(now, confirmed)
                partition.advance_high_watermark()
        self._broker.replicas.touch(partition.tp)
