"""BumpLeaderEpochs: how a leader asks the controller for a leader epoch that is high enough (D14, D36)."""

from __future__ import annotations

from kmirror.kernel.clock import Instant
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.partition import MirrorPartition
from kmirror.protocol.gen.bump_leader_epochs_request import (
    BumpLeaderEpochsRequest,
    LeaderEpochState,
    TopicState,
)
from kmirror.protocol.gen.bump_leader_epochs_response import BumpLeaderEpochsResponse
from kmirror.protocol.message import Message


def bump(context: MirrorContext, now: Instant, mp: MirrorPartition, epoch: int) -> None:
    """Ask the controller for a leader epoch of at least `epoch`.

    The new epoch arrives with the metadata image; an error makes the partition retry.
    """
    mp.bumping = True
    row = LeaderEpochState(partition_index=mp.tp.partition, min_leader_epoch=epoch)
    request = BumpLeaderEpochsRequest(topics=[TopicState(topic_id=mp.topic_id, partitions=[row])])

    def on_reply(later: Instant, reply: Message | None) -> None:
        mp.bumping = False
        done = isinstance(reply, BumpLeaderEpochsResponse) and not _first_error(reply)
        if not done and context.is_present(mp):
            context.retry_later(later, mp, "the controller did not bump the leader epoch")

    context.broker.ask_controller(now, request, on_reply)


def _first_error(reply: BumpLeaderEpochsResponse) -> int:
    """Return the first error of an answer, or 0."""
    rows = (row.error_code for topic in reply.topics for row in topic.partitions)
    return reply.error_code or next((error for error in rows if error), 0)
