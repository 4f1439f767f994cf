"""AddTopicsToMirror, version 0, on a broker: checks the states and forwards the request to the controller.

Every partition of a topic that was removed before must be STOPPED (D6).
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.broker.forwarding import forward
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import few
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.state_records import PartitionState, StateKey
from kmirror.mirror.states import MirrorState, Wish
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest
from kmirror.protocol.gen.add_topics_to_mirror_response import AddTopicsToMirrorResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation

ADDABLE = (MirrorState.UNKNOWN, MirrorState.STOPPED)


def handle(context: MirrorContext, now: Instant, inbound: Inbound[AddTopicsToMirrorRequest]) -> None:
    """Read the states of topics that were removed before; then forward the request, or reject it.

    INVALID_REQUEST if a partition is in another state, else COORDINATOR_NOT_AVAILABLE if a state cannot be read now:
    the client retries.
    """
    request = inbound.body
    denied = inbound.rights.error(AclOperation.ALTER, Resource.mirror(request.mirror_name))
    if denied:  # The controller checks it too, but the response below would disclose states.
        inbound.reply(
            AddTopicsToMirrorResponse(error_code=denied, error_message=denied.text, mirror_name=request.mirror_name)
        )
        return
    image = context.broker.image
    keys: dict[TopicPartition, StateKey] = {}
    for topic in request.topics:
        assignment = context.assignments.get(topic.topic_name)
        known = image.topics.get(topic.topic_name)
        if assignment is None or known is None or assignment.wish is not Wish.REMOVE:
            continue  # No state is persisted, or the controller rejects the topic anyway.
        for index in known.partitions:
            keys[TopicPartition(topic.topic_name, index)] = StateKey(assignment.mirror, known.topic_id, index)
    states: dict[TopicPartition, PartitionState | None] = {}

    @inbound.guard
    def on_read(later: Instant, state: PartitionState | None, tp: TopicPartition) -> None:
        states[tp] = state
        if len(states) < len(keys):
            return
        error, message = _state_error(states)
        if error:
            inbound.reply(
                AddTopicsToMirrorResponse(error_code=error, error_message=message, mirror_name=request.mirror_name)
            )
        else:
            forward(context.broker, later, inbound)

    for tp, key in keys.items():
        context.states.read(key, tp.topic, lambda later, state, tp=tp: on_read(later, state, tp))  # type: ignore[misc]
    if not keys:
        forward(context.broker, now, inbound)


def _state_error(states: dict[TopicPartition, PartitionState | None]) -> tuple[ErrorCode, str]:
    """Return the error for topics whose partitions are in these states; NONE if they can be added."""
    not_addable = [
        f"{tp} is {state.state.name}" for tp, state in sorted(states.items()) if state and state.state not in ADDABLE
    ]
    if not_addable:
        return (
            ErrorCode.INVALID_REQUEST,
            f"Every partition must be UNKNOWN or STOPPED: {few(not_addable, 'partitions')}.",
        )
    unread = sorted(tp for tp, state in states.items() if state is None)
    if unread:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE, f"The states of {few(unread, 'partitions')} cannot be read now."
    return ErrorCode.NONE, ""
