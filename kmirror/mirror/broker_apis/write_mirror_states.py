"""WriteMirrorStates: partition leaders persist their states; answered when committed.

Partitions are judged one by one: fenced (D9), unknown topic id, not coordinated here, or outside the
table of transitions (INVALID_REQUEST). `RemovedTopics` is read by nobody, as in the KIP's prototype.
Left out: authorisation (D18).
"""

from __future__ import annotations

from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.coordinator import StateWrite
from kmirror.mirror.state_records import StateKey, kept_from
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.write_mirror_states_request import WriteMirrorStatesRequest
from kmirror.protocol.gen.write_mirror_states_response import (
    PartitionResult,
    TopicResult,
    WriteMirrorStatesResponse,
)
from kmirror.spec.error_codes import ErrorCode


def handle(context: MirrorContext, now: Instant, inbound: Inbound) -> None:
    request = inbound.body
    assert isinstance(request, WriteMirrorStatesRequest)
    response = WriteMirrorStatesResponse()
    left = 1  # Ourselves, until every write has been started.

    def settled() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            inbound.reply(response)

    for topic in request.topics:
        result = TopicResult(name=topic.name)
        response.topics.append(result)
        topic_id = topic.topic_id
        if topic_id == Uuid.ZERO:  # A writer that knows no ids (D9).
            topic_id = context.coordinator.topic_id(topic.name) or Uuid.ZERO
        for asked in topic.partitions:
            row = PartitionResult(partition_index=asked.partition_index)
            result.partitions.append(row)
            if asked.state not in MirrorState.__members__.values():
                row.error_code = ErrorCode.INVALID_REQUEST
                continue
            left += 1

            def on_done(_: Instant, error: ErrorCode, row: PartitionResult = row) -> None:
                row.error_code = error
                settled()

            key = StateKey(request.mirror_name, topic_id, asked.partition_index)
            write = StateWrite(
                key,
                topic.name,
                MirrorState(asked.state),
                asked.last_mirror_epoch,
                asked.leader_epoch,
                *kept_from(asked),
            )
            context.coordinator.write(now, write, on_done)
    settled()
