"""WriteMirrorStates: partition leaders persist their states; the response is sent once they are committed.

Each partition has its own error: fenced (D9), unknown topic id, not coordinated here, or outside the table of
transitions (INVALID_REQUEST). `RemovedTopics` is ignored, as in the KIP's prototype (D9).
"""

from __future__ import annotations

from kmirror.cluster.server import Inbound, PendingResponse
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.coordinator import StateWrite
from kmirror.mirror.state_records import StateKey, persisted_fields
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.write_mirror_states_request import WriteMirrorStatesRequest
from kmirror.protocol.gen.write_mirror_states_response import (
    PartitionResult,
    TopicResult,
    WriteMirrorStatesResponse,
)
from kmirror.spec.error_codes import ErrorCode


def handle(context: MirrorContext, now: Instant, inbound: Inbound[WriteMirrorStatesRequest]) -> None:
    """Write every partition's state, and respond when the last write is committed or rejected."""
    request = inbound.body
    response = WriteMirrorStatesResponse()
    pending = PendingResponse(inbound, response)

    for topic in request.topics:
        result = TopicResult(name=topic.name)
        response.topics.append(result)
        topic_id = topic.topic_id
        if topic_id == Uuid.ZERO:  # A writer without topic ids (D9).
            topic_id = context.coordinator.topic_id(topic.name) or Uuid.ZERO
        for requested in topic.partitions:
            row = PartitionResult(partition_index=requested.partition_index)
            result.partitions.append(row)
            if requested.state not in MirrorState.__members__.values():
                row.error_code = ErrorCode.INVALID_REQUEST
                continue

            @pending.row
            def on_done(_: Instant, error: ErrorCode, row: PartitionResult = row) -> None:
                row.error_code = error

            key = StateKey(request.mirror_name, topic_id, requested.partition_index)
            write = StateWrite(
                key,
                topic.name,
                MirrorState(requested.state),
                requested.last_mirror_epoch,
                requested.leader_epoch,
                *persisted_fields(requested),
            )
            context.coordinator.write(now, write, on_done)
    pending.end()
