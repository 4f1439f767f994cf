"""How the leader of a mirrored partition reads and writes its persisted state.

The coordinator may be this broker or another one; in both cases there is exactly one answer. After None or an error
the outcome is unknown, and the caller tries again.
"""

from __future__ import annotations

from collections.abc import Callable

from kmirror.cluster.broker.context import BrokerContext
from kmirror.kernel.clock import Instant
from kmirror.mirror.coordinator import MirrorCoordinator, StateWrite
from kmirror.mirror.state_records import PartitionState, StateKey, kept_from, put_plan
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen import read_mirror_states_request as read_request
from kmirror.protocol.gen import write_mirror_states_request as write_request
from kmirror.protocol.gen.read_mirror_states_response import ReadMirrorStatesResponse
from kmirror.protocol.gen.write_mirror_states_response import WriteMirrorStatesResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

CHANNEL = "mirror-states"

OnRead = Callable[[Instant, PartitionState | None], None]
OnWritten = Callable[[Instant, ErrorCode], None]


class StateClient:
    """Asks the mirror coordinator, directly if it is this broker, else with ReadMirrorStates and WriteMirrorStates."""

    def __init__(self, broker: BrokerContext, coordinator: MirrorCoordinator) -> None:
        self._broker = broker
        self._coordinator = coordinator

    def read(self, now: Instant, key: StateKey, topic: str, on_read: OnRead) -> None:
        """Call `on_read` with the state that is persisted for `key`, or with None if the coordinator gave no answer."""
        shard = self._coordinator.shard_of(key)
        image = None if shard is None else self._broker.image.partition(shard)
        if image is None:
            on_read(now, None)
            return
        if image.leader == self._broker.node_id:
            on_read(now, self._coordinator.read(key))
            return
        request = read_request.ReadMirrorStatesRequest(
            mirror_name=key.mirror,
            topics=[
                read_request.TopicData(
                    name=topic, partitions=[read_request.PartitionData(partition_index=key.partition)]
                )
            ],
        )

        def on_reply(later: Instant, reply: Message | None) -> None:
            if not isinstance(reply, ReadMirrorStatesResponse) or reply.error_code or not reply.topics:
                on_read(later, None)
                return
            row = reply.topics[0].partitions[0]
            if row.error_code:
                on_read(later, None)
                return
            state = MirrorState(row.state)
            on_read(later, PartitionState(topic, state, row.leader_epoch, row.last_mirror_epoch, *kept_from(row)))

        if not self._broker.ask_broker(now, image.leader, CHANNEL, request, on_reply):
            on_read(now, None)

    def write(self, now: Instant, write: StateWrite, on_written: OnWritten) -> None:
        """Ask the coordinator to persist `write`; call `on_written` with its error.

        COORDINATOR_NOT_AVAILABLE if it cannot be reached or does not answer.
        """
        shard = self._coordinator.shard_of(write.key)
        image = None if shard is None else self._broker.image.partition(shard)
        if image is None:
            on_written(now, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return
        if image.leader == self._broker.node_id:
            self._coordinator.write(now, write, on_written)
            return
        row = write_request.PartitionData(
            partition_index=write.key.partition,
            last_mirror_epoch=write.last_mirrored_epoch,
            state=write.state,
            leader_epoch=write.leader_epoch,
            uncut_replicas=[
                write_request.UncutReplica(replica_id=replica, cut_epoch=epoch)
                for replica, epoch in write.uncut.items()
            ],
            lineage=[
                write_request.Stretch(first_epoch=epoch, cluster_id=cluster)
                for epoch, cluster in write.lineage.stretches
            ],
            lineage_epoch=write.lineage.since,
        )
        put_plan(row, write.stop)
        request = write_request.WriteMirrorStatesRequest(
            mirror_name=write.key.mirror,
            topics=[write_request.TopicData(name=write.topic, topic_id=write.key.topic_id, partitions=[row])],
        )

        def on_reply(later: Instant, reply: Message | None) -> None:
            if not isinstance(reply, WriteMirrorStatesResponse):
                on_written(later, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            elif reply.error_code or not reply.topics:
                on_written(later, ErrorCode(reply.error_code or ErrorCode.COORDINATOR_NOT_AVAILABLE))
            else:
                on_written(later, ErrorCode(reply.topics[0].partitions[0].error_code))

        if not self._broker.ask_broker(now, image.leader, CHANNEL, request, on_reply):
            on_written(now, ErrorCode.COORDINATOR_NOT_AVAILABLE)
