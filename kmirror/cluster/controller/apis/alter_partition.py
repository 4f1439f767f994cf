"""AlterPartition, versions 2-3: a leader proposes a new ISR to the controller.

A proposal based on an outdated image is rejected: another leader epoch, another partition epoch, or a member that is
fenced, is shutting down, or has restarted since (KIP-903).
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.cluster.controller.elections import with_isr
from kmirror.cluster.images import PartitionImage
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.alter_partition_request import AlterPartitionRequest
from kmirror.protocol.gen.alter_partition_request import PartitionData as Proposal
from kmirror.protocol.gen.alter_partition_response import AlterPartitionResponse, PartitionData, TopicData
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import LeaderRecoveryState


def decide(
    context: ControllerContext, now: Instant, request: AlterPartitionRequest, version: int, rights: Rights
) -> Decision:
    """Return the ISR changes, and for each partition its new ISR or an error.

    FENCED_LEADER_EPOCH, INVALID_UPDATE_VERSION or NOT_CONTROLLER if the epochs do not match, INELIGIBLE_REPLICA for a
    member that may not join, INVALID_REQUEST if the sender does not lead, or proposes other members while it recovers
    from an unclean election (D72); STALE_BROKER_EPOCH for the whole request.
    """
    broker = context.image.brokers.get(request.broker_id)
    if broker is None or broker.epoch != request.broker_epoch:
        return Decision((), AlterPartitionResponse(error_code=ErrorCode.STALE_BROKER_EPOCH, topics=[]))
    records: list[Message] = []
    response = AlterPartitionResponse(topics=[])
    for topic in request.topics:
        answers = TopicData(topic_id=topic.topic_id, partitions=[])
        response.topics.append(answers)
        name = context.image.topics.names.get(topic.topic_id)
        for proposal in topic.partitions:
            answer = PartitionData(partition_index=proposal.partition_index, isr=[])
            answers.partitions.append(answer)
            index = proposal.partition_index
            image = None if name is None else context.image.topics[name].partitions.get(index)
            if name is None or image is None:
                answer.error_code = ErrorCode.UNKNOWN_TOPIC_ID
                continue
            members = _members(proposal, version)
            answer.error_code = _check(context, request.broker_id, proposal, image, members)
            if answer.error_code:
                continue
            isr = [b for b, _ in members]
            state = answer.leader_recovery_state = proposal.leader_recovery_state
            recovered = state == LeaderRecoveryState.RECOVERED
            topic_image = context.image.topics[name]
            change = with_isr(context.image, context.configs, topic_image, index, isr, recovered=recovered)
            if change is not None:
                records.append(change)
            answer.leader_id, answer.leader_epoch, answer.isr = image.leader, image.leader_epoch, isr
            answer.partition_epoch = image.partition_epoch + (change is not None)
    return Decision(records, response, atomic=False)


def _members(proposal: Proposal, version: int) -> list[tuple[int, int]]:
    """Return the proposed ISR as (broker id, broker epoch or -1)."""
    if version >= 3:
        return [(member.broker_id, member.broker_epoch) for member in proposal.new_isr_with_epochs]
    return [(broker_id, -1) for broker_id in proposal.new_isr]


def _check(
    context: ControllerContext,
    broker_id: int,
    proposal: Proposal,
    image: PartitionImage,
    members: list[tuple[int, int]],
) -> ErrorCode:
    if proposal.leader_epoch < image.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if proposal.leader_epoch > image.leader_epoch or proposal.partition_epoch > image.partition_epoch:
        return ErrorCode.NOT_CONTROLLER
    if proposal.partition_epoch < image.partition_epoch:
        return ErrorCode.INVALID_UPDATE_VERSION
    ids = [b for b, _ in members]
    if image.leader != broker_id or broker_id not in ids or any(b not in image.replicas for b in ids):
        return ErrorCode.INVALID_REQUEST
    if proposal.leader_recovery_state != LeaderRecoveryState.RECOVERED and (len(ids) > 1 or not image.recovering):
        return ErrorCode.INVALID_REQUEST
    for member, epoch in members:
        broker = context.image.brokers.get(member)
        if broker is None or not context.image.brokers.is_active(member) or epoch not in (-1, broker.epoch):
            return ErrorCode.INELIGIBLE_REPLICA
    return ErrorCode.NONE
