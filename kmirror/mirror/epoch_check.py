"""Log comparison for sources whose fetches report no divergence (before Kafka 2.7, D12).

Before a fetch in a new leader epoch of the source, OffsetsForLeaderEpoch is sent to its leader for the end of our last
epoch. If our log goes further, it is cut, and the request is repeated until the source has our whole log. Within one
leader epoch the source's log only grows, so one agreement holds as long as the epoch lasts.

The requested epoch is not above the source's own, which its leader always knows. So a response without an epoch comes
from a log without epochs: its messages are all of formats 0 and 1, and only the offset range is compared (D28).

Such a source has no topic ids either. A topic that was deleted and created again is recognised by its leader epoch: no
log has records of a later epoch than its leader's, and a leader never loses records of its own epoch (D53).
"""

from __future__ import annotations

from typing import NamedTuple

from kmirror.client.fetch_loop import OFFSETS, Fetcher, FetcherKey, FetchLoop
from kmirror.client.remote_cluster import RemoteCluster, code_of
from kmirror.cluster.replication.truncation import last_epoch, truncation_point
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.state_writer import StateWriter
from kmirror.protocol.gen.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kmirror.protocol.gen.offset_for_leader_epoch_response import EpochEndOffset, OffsetForLeaderEpochResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import CONSUMER_REPLICA_ID


class _EpochRequest(NamedTuple):
    """A request for one partition."""

    mp: MirrorPartition
    source_epoch: int
    epoch: int
    """The last leader epoch of our log, whose end is requested."""


class EpochCheck:
    """Requests the ends of epochs, for all partitions of a fetcher at once."""

    def __init__(self, context: MirrorContext, writer: StateWriter, loop: FetchLoop[MirrorPartition]) -> None:
        self._context = context
        self._writer = writer
        self._loop = loop
        self._due: dict[TopicPartition, None] = {}
        """Partitions to request when the present event ends."""

    def has_agreed(self, mp: MirrorPartition) -> bool:
        """Return whether the source's leader, in its present epoch, is known to have all records of our log."""
        partition = self._context.replicas.partitions.find_led(mp.tp)
        return mp.agreed_epoch == mp.source_epoch or partition is None or last_epoch(partition.log) < 0

    def request(self, mp: MirrorPartition) -> None:
        """Request the end of a partition's last epoch; the partition is not fetched until the response."""
        mp.resolving = True
        self._due[mp.tp] = None
        self._context.broker.defer(self._send_due)

    def _send_due(self, now: Instant) -> None:
        due, self._due = self._due, {}
        requests_by_fetcher: dict[FetcherKey, tuple[Fetcher[MirrorPartition], list[_EpochRequest]]] = {}
        for tp in due:
            found, partition = self._loop.find(tp), self._context.replicas.partitions.find_led(tp)
            if found is None:
                continue
            fetcher, mp = found
            if partition is None:
                mp.resolving = False
                continue
            row = _EpochRequest(mp, mp.source_epoch, last_epoch(partition.log))
            requests_by_fetcher.setdefault(fetcher.key, (fetcher, []))[1].append(row)
        for fetcher, rows in requests_by_fetcher.values():
            self._send(now, fetcher, rows)

    def _send(self, now: Instant, fetcher: Fetcher[MirrorPartition], requests: list[_EpochRequest]) -> None:
        source: RemoteCluster | None = self._context.sources.get(str(fetcher.key[0]))
        topics: dict[str, OffsetForLeaderTopic] = {}
        for mp, source_epoch, epoch in requests:
            row = OffsetForLeaderPartition(
                partition=mp.tp.partition, current_leader_epoch=source_epoch, leader_epoch=epoch
            )
            topics.setdefault(mp.tp.topic, OffsetForLeaderTopic(topic=mp.tp.topic)).partitions.append(row)

        def on_reply(later: Instant, reply: Message | None) -> None:
            self._on_reply(later, fetcher, requests, reply)

        if source is None:  # The mirror was deleted, and its partitions are forgotten.
            on_reply(now, None)
            return
        request = OffsetForLeaderEpochRequest(replica_id=CONSUMER_REPLICA_ID, topics=list(topics.values()))
        source.send(now, fetcher.endpoint, OFFSETS, request, on_reply)

    def _on_reply(
        self, now: Instant, fetcher: Fetcher[MirrorPartition], requests: list[_EpochRequest], reply: Message | None
    ) -> None:
        topics = reply.topics if isinstance(reply, OffsetForLeaderEpochResponse) else []
        rows = {(topic.topic, row.partition): row for topic in topics for row in topic.partitions}
        for each in requests:
            mp = each.mp
            found = self._loop.find(mp.tp)
            if found is None or found[0] is not fetcher or found[1] is not mp:
                continue  # It is fetched from another leader by now, or not at all.
            mp.resolving = False
            self._loop.mark_changed(mp.tp)
            if mp.source_epoch != each.source_epoch:
                continue
            row = rows.get((mp.tp.topic, mp.tp.partition))
            if row is None:
                mp.reason = f"the source's broker {fetcher.key[1]} returned no end offset of leader epoch {each.epoch}"
                self._context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)
                self._loop.pause(now, fetcher, mp)
            elif row.error_code:
                self._loop.report_error(now, fetcher, mp, code_of(row.error_code))
            else:
                self._compare(now, fetcher, each, row)
        self._loop.on_timer(now, fetcher.key)

    def _compare(
        self, now: Instant, fetcher: Fetcher[MirrorPartition], request: _EpochRequest, row: EpochEndOffset
    ) -> None:
        """Record the agreement, or cut our log where the response shows that the two logs diverge."""
        mp = request.mp
        partition = self._context.replicas.partitions.find_led(mp.tp)
        if partition is None:
            return
        log = partition.log
        our_epoch, end = request.epoch, log.log_end_offset
        if our_epoch != last_epoch(log):
            return  # The log was cut since; the next fetch repeats the request.
        if row.leader_epoch < 0 or row.end_offset < 0:
            mp.agreed_epoch = request.source_epoch
        elif row.leader_epoch > our_epoch:
            self._loop.report_error(now, fetcher, mp, ErrorCode.UNKNOWN_SERVER_ERROR)
        elif our_epoch == row.leader_epoch and row.end_offset >= end:
            mp.agreed_epoch = request.source_epoch
        elif is_another_topic(mp, our_epoch, row.end_offset, end):
            self._writer.fail(now, mp, another_topic_reason(mp, row.end_offset, end))
        else:
            point = truncation_point(log, row.leader_epoch, row.end_offset)
            reason = f"the end of epoch {row.leader_epoch} at the source"
            self._writer.cut_at_divergence(now, mp, partition, point.offset, reason)
            is_same = (log.log_end_offset, last_epoch(log)) == (end, our_epoch)
            if is_same and not mp.is_busy:  # Repeating the request would change nothing.
                self._loop.report_error(now, fetcher, mp, ErrorCode.UNKNOWN_SERVER_ERROR)


def is_another_topic(mp: MirrorPartition, our_last_epoch: int, source_end: int, our_end: int) -> bool:
    """Return whether the name belongs to another topic than the mirrored one, at a source without topic ids (D53).

    The leader that wrote our last record leads in the same leader epoch, and its log ends below that record. The log of
    a leader does not shrink, so it is another log.
    """
    return not any(mp.source_topic_id) and our_last_epoch == mp.source_epoch and source_end < our_end


def another_topic_reason(mp: MirrorPartition, source_end: int, our_end: int) -> str:
    """Return the reason with which a partition fails if `is_another_topic`."""
    return (
        f"the source's log ends at offset {source_end} in leader epoch {mp.source_epoch}, ours has records of that "
        f"epoch up to offset {our_end}: the source's topic was deleted and created again"
    )


def source_epoch_is_behind(mp: MirrorPartition, our_last_epoch: int, source_epoch: int) -> bool:
    """Return whether a source without topic ids reports an earlier leader epoch than that of our last records.

    Either the broker does not know the present leader yet, or its topic is another one (D53): neither is a reason to
    cut anything.
    """
    return not any(mp.source_topic_id) and 0 <= source_epoch < our_last_epoch
