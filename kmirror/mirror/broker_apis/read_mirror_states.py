"""ReadMirrorStates: the persisted states of partitions whose shard this broker leads.

A partition without a persisted state is UNKNOWN, without an error. The response is sent once everything in it is
committed (D48).
"""

from __future__ import annotations

from kmirror.cluster.server import Inbound, PendingResponse
from kmirror.kernel.clock import Instant
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.state_records import PartitionState, StateKey, set_plan
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.read_mirror_states_request import ReadMirrorStatesRequest
from kmirror.protocol.gen.read_mirror_states_response import (
    PartitionResult,
    ReadMirrorStatesResponse,
    Stretch,
    TopicResult,
    UncutReplica,
)
from kmirror.spec.error_codes import ErrorCode


def handle(context: MirrorContext, now: Instant, inbound: Inbound[ReadMirrorStatesRequest]) -> None:
    """Respond for each partition with its persisted state, UNKNOWN_TOPIC_OR_PARTITION, or NOT_COORDINATOR."""
    request = inbound.body
    response = ReadMirrorStatesResponse()
    pending = PendingResponse(inbound, response)

    for topic in request.topics:
        result = TopicResult(name=topic.name)
        response.topics.append(result)
        topic_id = context.coordinator.topic_id(topic.name)
        for requested in topic.partitions:
            row = PartitionResult(partition_index=requested.partition_index, state=MirrorState.UNKNOWN)
            result.partitions.append(row)
            if topic_id is None:
                row.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                continue

            @pending.row
            def on_read(_: Instant, found: PartitionState | None, error: ErrorCode, row: PartitionResult = row) -> None:
                row.error_code = error
                if found is not None:
                    _fill(row, found)

            context.coordinator.read(now, StateKey(request.mirror_name, topic_id, requested.partition_index), on_read)
    pending.end()


def _fill(row: PartitionResult, found: PartitionState) -> None:
    row.state = found.state
    row.last_mirror_epoch = found.last_mirrored_epoch
    row.leader_epoch = found.leader_epoch
    row.uncut_replicas = [UncutReplica(replica_id=replica, cut_epoch=epoch) for replica, epoch in found.uncut.items()]
    set_plan(row, found.stop)
    row.lineage = [Stretch(first_epoch=epoch, cluster_id=cluster) for epoch, cluster in found.lineage.stretches]
    row.lineage_epoch = found.lineage.valid_from_epoch
