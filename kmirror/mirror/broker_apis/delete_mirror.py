"""DeleteMirror, version 0, on a broker: checks that every partition is STOPPED and forwards the request (D51).

A partition with a replica that has not confirmed a cut counts as not stopped: once its state is deleted, that replica
would rejoin with another cluster's records (D30). The forwarded request lists the STOPPED partitions and their
lineages.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.broker.forwarding import forward_in_place
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import few
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.cut_rules import SESSION, without_replicas
from kmirror.mirror.state_records import PartitionState, StateKey
from kmirror.mirror.states import MirrorState, Wish
from kmirror.protocol.gen.delete_mirror_request import DeleteMirrorRequest, StoppedPartition, StoppedTopic, Stretch
from kmirror.protocol.gen.delete_mirror_response import DeleteMirrorResponse
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation


def handle(context: MirrorContext, now: Instant, inbound: Inbound[DeleteMirrorRequest]) -> None:
    """Read the states of the mirror's topics; then forward the request, or respond with MIRROR_NOT_EMPTY.

    COORDINATOR_NOT_AVAILABLE if a state cannot be read now: the client retries.
    """
    request = inbound.body
    denied = inbound.rights.error(AclOperation.ALTER, Resource.mirror(request.mirror_name))
    if denied:  # The controller checks it too, but the response below would disclose states.
        inbound.reply(DeleteMirrorResponse(error_code=denied, error_message=denied.text))
        return
    keys = _keys_of(context, request.mirror_name)
    states: dict[TopicPartition, PartitionState | None] = {}

    def forward_to_controller(later: Instant) -> None:
        forwarded = DeleteMirrorRequest(mirror_name=request.mirror_name, stopped_topics=_stopped_topics(states))
        forward_in_place(context.broker, later, inbound, forwarded, inbound.reply)

    @inbound.guard
    def on_read(later: Instant, state: PartitionState | None, tp: TopicPartition) -> None:
        states[tp] = state
        if len(states) < len(keys):
            return
        rejection = _error_response(states)
        if rejection is not None:
            inbound.reply(rejection)
        else:
            forward_to_controller(later)

    for tp, key in keys.items():
        context.states.read(key, tp.topic, lambda later, state, tp=tp: on_read(later, state, tp))  # type: ignore[misc]
    if not keys:  # The mirror has no topics, or one that is not removed, or there is no such mirror.
        forward_to_controller(now)


def _keys_of(context: MirrorContext, mirror: str) -> dict[TopicPartition, StateKey]:
    """Return the keys of the states of the mirror's topics; none if one of the topics is not removed."""
    keys: dict[TopicPartition, StateKey] = {}
    for topic in context.topics_of(mirror):
        known = context.broker.image.topics.get(topic)
        if context.assignments[topic].wish is not Wish.REMOVE:
            return {}
        if known is not None:
            keys |= {
                TopicPartition(topic, index): StateKey(mirror, known.topic_id, index) for index in known.partitions
            }
    return keys


def _error_response(states: dict[TopicPartition, PartitionState | None]) -> DeleteMirrorResponse | None:
    unread = [str(tp) for tp, state in states.items() if state is None]
    if unread:
        text = f"The states of {few(unread, 'partitions')} cannot be read now."
        return DeleteMirrorResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE, error_message=text)
    unstopped = [
        f"{tp} {reason}"
        for tp, state in sorted(states.items())
        if state is not None and (reason := _unstopped_reason(state))
    ]
    if unstopped:
        text = f"Every partition must be STOPPED: {few(unstopped, 'partitions')}."
        return DeleteMirrorResponse(error_code=ErrorCode.MIRROR_NOT_EMPTY, error_message=text)
    return None


def _unstopped_reason(state: PartitionState) -> str:
    """Return why a partition counts as not stopped; empty if it does."""
    uncut = sorted(without_replicas(state.uncut, [SESSION]))
    if state.state is not MirrorState.STOPPED:
        return f"is {state.state.name}"
    if not uncut:
        return ""
    brokers = ", ".join(map(str, uncut))
    return f"has replicas that have not cut their logs yet (brokers {brokers}: start them, or ones with empty disks)"


def _stopped_topics(states: dict[TopicPartition, PartitionState | None]) -> list[StoppedTopic]:
    topics: dict[str, StoppedTopic] = {}
    for tp, state in states.items():
        assert state is not None, "checked"
        row = StoppedPartition(partition_index=tp.partition)
        row.lineage = [Stretch(first_epoch=epoch, cluster_id=cluster) for epoch, cluster in state.lineage.stretches]
        topics.setdefault(tp.topic, StoppedTopic(topic_name=tp.topic)).partitions.append(row)
    return list(topics.values())
