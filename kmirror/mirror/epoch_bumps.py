"""BumpLeaderEpochs: requests a high enough leader epoch from the controller (D14, D36).

All bumps that one event needs are sent together, at most `PARTITIONS_MAX` partitions in a request.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.partition import MirrorPartition
from kmirror.protocol.gen.bump_leader_epochs_request import (
    BumpLeaderEpochsRequest,
    LeaderEpochState,
    TopicState,
)
from kmirror.protocol.gen.bump_leader_epochs_response import BumpLeaderEpochsResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

PARTITIONS_MAX = 1000
"""Bounds the records that the controller decides, and writes as one batch, at a time."""

RequiredEpoch = tuple[MirrorPartition, int]
"""A partition and the least leader epoch that it needs."""


class EpochBumps:
    """The leader epochs that one broker's partitions wait for."""

    def __init__(self, context: MirrorContext) -> None:
        self._context = context
        self._pending: dict[TopicPartition, RequiredEpoch] = {}

    def request(self, mp: MirrorPartition, epoch: int) -> None:
        """Request a leader epoch of at least `epoch` from the controller, unless a request is pending.

        The new epoch arrives with the metadata image; an error makes the partition retry.
        """
        if not mp.bump_requested:
            mp.bump_requested = True
            self._pending[mp.tp] = (mp, epoch)
            self._context.broker.defer(self._send_pending)

    def _send_pending(self, now: Instant) -> None:
        required, self._pending = list(self._pending.values()), {}
        for first in range(0, len(required), PARTITIONS_MAX):
            self._send(now, required[first : first + PARTITIONS_MAX])

    def _send(self, now: Instant, required: Sequence[RequiredEpoch]) -> None:
        topics: dict[Uuid, TopicState] = {}
        for mp, epoch in required:
            row = LeaderEpochState(partition_index=mp.tp.partition, min_leader_epoch=epoch)
            topics.setdefault(mp.topic_id, TopicState(topic_id=mp.topic_id)).partitions.append(row)

        def on_reply(later: Instant, reply: Message | None) -> None:
            done = _bumped_partitions(reply)
            for mp, _ in required:
                mp.bump_requested = False
                if (mp.topic_id, mp.tp.partition) not in done and self._context.is_present(mp):
                    self._context.retry_later(later, mp, "the controller did not bump the leader epoch")

        self._context.broker.ask_controller(now, BumpLeaderEpochsRequest(topics=list(topics.values())), on_reply)


def _bumped_partitions(reply: Message | None) -> set[tuple[Uuid, int]]:
    """Return the topic ids and partitions that a response reports as bumped; none without a response."""
    if not isinstance(reply, BumpLeaderEpochsResponse) or reply.error_code:
        return set()
    return {
        (topic.topic_id, row.partition_index)
        for topic in reply.topics
        for row in topic.partitions
        if row.error_code == ErrorCode.NONE
    }
