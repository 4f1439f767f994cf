"""AddTopicsToMirror, version 0, on a broker: checks the states and passes the request on to the controller.

A topic that was removed before must be STOPPED in every partition, else INVALID_REQUEST (D6).
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.broker.forwarding import forward
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.state_records import PartitionState, StateKey
from kmirror.mirror.states import MirrorState, Wish
from kmirror.protocol.gen.add_topics_to_mirror_request import AddTopicsToMirrorRequest
from kmirror.protocol.gen.add_topics_to_mirror_response import AddTopicsToMirrorResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation

ADDABLE = (MirrorState.UNKNOWN, MirrorState.STOPPED)


def handle(context: MirrorContext, now: Instant, inbound: Inbound) -> None:
    """Read the states of topics that were removed before; then forward the request, or answer INVALID_REQUEST."""
    request = inbound.body
    assert isinstance(request, AddTopicsToMirrorRequest)
    denied = inbound.rights.error(AclOperation.ALTER, Resource.mirror(request.mirror_name))
    if denied:  # The controller checks it too; but the answer below would disclose states.
        inbound.reply(
            AddTopicsToMirrorResponse(error_code=denied, error_message=denied.text, mirror_name=request.mirror_name)
        )
        return
    image = context.broker.image
    keys: list[tuple[StateKey, str]] = []
    for topic in request.topics:
        assignment = context.assignments.get(topic.topic_name)
        known = image.topics.get(topic.topic_name)
        if assignment is None or known is None or assignment.wish is not Wish.REMOVE:
            continue  # No state is persisted, or the controller refuses the topic anyway.
        keys += [(StateKey(assignment.mirror, known.topic_id, index), topic.topic_name) for index in known.partitions]
    left = len(keys)
    if not left:
        forward(context.broker, now, inbound)
        return
    refused: list[str] = []

    @inbound.guard
    def on_read(later: Instant, found: PartitionState | None, key: StateKey, topic: str) -> None:
        nonlocal left
        state = None if found is None else found.state
        if state not in ADDABLE:
            refused.append(f"{topic}-{key.partition} is {'unreadable' if state is None else state.name}")
        left -= 1
        if left:
            return
        if not refused:
            forward(context.broker, later, inbound)
            return
        message = "Every partition must be UNKNOWN or STOPPED: " + ", ".join(sorted(refused))
        inbound.reply(
            AddTopicsToMirrorResponse(
                error_code=ErrorCode.INVALID_REQUEST, error_message=message, mirror_name=request.mirror_name
            )
        )

    for key, topic_name in keys:
        context.states.read(
            key,
            topic_name,
            lambda later, found, key=key, topic=topic_name: on_read(later, found, key, topic),  # type: ignore[misc]
        )
