"""Follower fetches: a broker fetches from the leaders of the partitions that it does not lead.

There is one fetcher per leader broker, with one fetch in flight, in an incremental session. A fetch names the epoch of
the last batch in the log, so the leader can return a divergence; then the log is truncated and fetched again. Batches
are validated against the leader epoch in the *request*, so that a response from an earlier leader epoch is not appended
(KAFKA-18723); for a log with a source cluster's epochs, MirrorLeaderEpoch is used instead (D13).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from kmirror.client.fetch_events import Diverged, FetchEvent, LogEndsEarlier, LogStartsLater, Records, UnknownEpoch
from kmirror.client.fetch_loop import FETCH, Fetcher, FetchLoop
from kmirror.client.fetch_session import PartitionFetch
from kmirror.client.requester import OnFrame, OnReply, Sent
from kmirror.cluster.component import Components
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.lifecycle import Lifecycle
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.facts import FollowerCut
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.cluster.replication.truncation import is_half_truncated, last_epoch, must_truncate_fully, truncation_point
from kmirror.errors import CorruptBatch
from kmirror.kernel.clock import Instant
from kmirror.kernel.failures import DiskFailed
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.partition_log import PartitionLog
from kmirror.protocol.gen.fetch_request import FetchRequest, ReplicaState
from kmirror.protocol.gen.fetch_response import PartitionData
from kmirror.protocol.gen.list_offsets_request import ListOffsetsRequest

TIMER = "follow"


@dataclass(slots=True)
class FollowedPartition:
    """A partition fetched from its leader."""

    tp: TopicPartition
    source_topic_id: Uuid
    source_epoch: int
    """Leader epoch in which the partition is followed."""
    mirror_epoch: int = -1
    has_response: bool = False
    """True once the leader has returned `mirror_epoch`."""
    paused_until: Instant = 0
    resolving: bool = False
    rank: int = 0


class ReplicaFetchers:
    """The fetchers of one broker."""

    def __init__(self, context: BrokerContext, lifecycle: Lifecycle, replicas: ReplicaManager) -> None:
        self._context = context
        self._lifecycle = lifecycle
        self._replicas = replicas
        self._loop = FetchLoop(self, context.outbox, lambda: context.configs, (TIMER,))
        self._abandoned: dict[TopicPartition, None] = {}
        """Partitions no longer fetched because this broker is stopping and has left their ISR."""
        self._endpoints: dict[int, Endpoint] = {}
        """Last known endpoints of the other brokers."""

    def on_changed(self, now: Instant, tp: TopicPartition) -> None:
        """Start, change or stop the fetches of a partition after an image change.

        In a controlled shutdown a replica outside the ISR is no longer fetched, because no request waits for it
        (ReplicaManager.applyLocalFollowersDelta).
        """
        partition = self._replicas.partitions.get(tp)
        self._abandoned.pop(tp, None)
        if self._lifecycle.is_stopping and partition is not None and self._context.node_id not in partition.image.isr:
            self._abandoned[tp] = None
            self._loop.remove(tp)
        else:
            self._assign(now, tp)

    def _assign(self, now: Instant, tp: TopicPartition) -> None:
        """Fetch `tp` from the leader in the image; stop fetching if there is none or it is this broker."""
        partition = self._replicas.partitions.get(tp)
        known = self._loop.find(tp)
        if known is not None and (
            partition is None
            or known[0].key != (partition.image.leader,)
            or (known[1].source_topic_id, known[1].source_epoch) != (partition.topic_id, partition.leader_epoch)
        ):
            self._loop.remove(tp)
            known = None
        if partition is None or partition.is_leader or partition.image.leader < 0:
            return
        endpoint = self._context.peer(partition.image.leader)
        if endpoint is None:
            return
        if known is not None and known[0].endpoint == endpoint:
            followed = known[1]
        else:
            followed = FollowedPartition(tp, partition.topic_id, partition.leader_epoch)
            if is_half_truncated(partition.log):
                self._truncate(followed, 0, ", half cut before")
        self._loop.assign(now, (partition.image.leader,), endpoint, followed)

    def fetchers(self) -> Iterable[Fetcher[FollowedPartition]]:
        """Return the fetchers, one per leader ever followed."""
        return self._loop.fetchers()

    def knows_local_epochs(self, tp: TopicPartition) -> bool:
        """Return whether the leader of `tp` has reported that its log continues with this cluster's epochs (D13)."""
        known = self._loop.find(tp)
        return known is not None and known[1].has_response and known[1].mirror_epoch < 0

    def has_foreign_epochs(self, partition: Partition, components: Components) -> bool:
        """Return whether the log may have another cluster's leader epochs, as far as this replica knows."""
        if partition.is_leader:
            return components.has_foreign_epochs(partition)
        return components.may_be_guarded(partition.tp.topic) and not self.knows_local_epochs(partition.tp)

    def withholds_log(self, partition: Partition, components: Components) -> bool:
        """Return whether it is still unknown if this replica may serve its log (D30).

        A follower of a mirrored partition knows once its leader has responded in this leader epoch (D57).
        """
        if partition.is_leader:
            return components.withholds_log(partition)
        known = self._loop.find(partition.tp)
        return components.may_be_guarded(partition.tp.topic) and (known is None or not known[1].has_response)

    def on_log_changed(self, tp: TopicPartition) -> None:
        """Send the current log start and end of `tp` with the next fetch, after another part has changed them."""
        self._loop.mark_changed(tp)

    def on_topic_config(self, topic: str) -> None:
        """Check for due flushes in a topic's logs after a config change."""
        image = self._context.image.topics.get(topic)
        for number in () if image is None else image.partitions:
            self._loop.mark_changed(TopicPartition(topic, number))

    def resume(self, now: Instant, tp: TopicPartition) -> None:
        """Resume fetching a partition that was held back by a due flush."""
        known = self._loop.find(tp)
        if known is not None:
            self._loop.mark_changed(tp)
            self._loop.on_timer(now, known[0].key)

    def on_brokers(self, now: Instant, brokers: Iterable[int]) -> None:
        """Reassign the partitions led by those of `brokers` that returned or changed their endpoint.

        Pauses after unanswered fetches from other leaders end too, so that these are retried at once.
        """
        changed: dict[int, None] = {}
        for number in brokers:
            endpoint = self._context.peer(number)
            if endpoint is None:
                self._endpoints.pop(number, None)
            elif self._endpoints.get(number) != endpoint:
                self._endpoints[number] = endpoint
                changed[number] = None
        for partition in self._replicas.partitions.values() if changed else ():
            if partition.image.leader in changed and not partition.is_leader and partition.tp not in self._abandoned:
                self._assign(now, partition.tp)
        for number in self._endpoints:
            self._loop.on_timer(now, (number,))

    def on_timer(self, now: Instant, broker_id: int) -> None:
        """Fetch again from a leader after a pause."""
        self._loop.on_timer(now, (broker_id,))

    # -- requests -----------------------------------------------------------------------------

    def identity(self, fetcher: Fetcher[FollowedPartition]) -> Hashable:
        """Return the broker epoch in fetches, and the flag that their version depends on."""
        return self._lifecycle.epoch, self._context.mirror_enabled

    def send(
        self,
        now: Instant,
        fetcher: Fetcher[FollowedPartition],
        purpose: str,
        request: FetchRequest | ListOffsetsRequest,
        on_reply: OnReply,
        *,
        on_frame: OnFrame | None = None,
    ) -> Sent:
        """Send a request as a replica, with this broker's current epoch, on a separate link per purpose."""
        node_id, channel = self._context.node_id, f"follow-{fetcher.key[0]}"
        if isinstance(request, FetchRequest):
            request.replica_state = ReplicaState(replica_id=node_id, replica_epoch=self._lifecycle.epoch)
        else:
            request.replica_id = node_id
        return self._context.requester.send(
            now,
            fetcher.endpoint,
            channel if purpose == FETCH else f"{channel}-{purpose}",
            request,
            self._context.version_of(request),
            on_reply,
            timeout_ms=self._context.configs.integer("request.timeout.ms"),
            on_frame=on_frame,
        )

    def next_fetch(self, now: Instant, followed: FollowedPartition) -> PartitionFetch | None:
        """Return the log end and the last batch's epoch; None while the range that a fetch would confirm is unflushed.

        The end of the flush triggers another call.
        """
        log = self._log_of(followed)
        if log.is_flush_due:
            return None
        if log.store.has_unsafe_cut:
            self._replicas.changes.mark_grown(followed.tp)  # Triggers the flush that makes it safe, then another call.
            return None
        return PartitionFetch(
            topic_id=followed.source_topic_id,
            current_leader_epoch=followed.source_epoch,
            fetch_offset=log.log_end_offset,
            last_fetched_epoch=last_epoch(log),
            log_start_offset=log.log_start_offset,
            partition_max_bytes=self._context.configs.integer("replica.fetch.max.bytes"),
            high_watermark=log.high_watermark,
            mirror_leader_epoch=followed.mirror_epoch,
        )

    def _log_of(self, followed: FollowedPartition) -> PartitionLog:
        return self._replicas.partitions[followed.tp].log

    @contextmanager
    def _writing_to(self, tp: TopicPartition) -> Iterator[None]:
        """Take the log directory of `tp` offline on an OSError inside; `tp` is then no longer followed."""
        with suppress(DiskFailed), self._replicas.appends.writing_to(tp):
            yield

    # -- responses ----------------------------------------------------------------------------

    def handle(self, now: Instant, fetcher: Fetcher[FollowedPartition], event: FetchEvent[FollowedPartition]) -> None:
        """Handle an event of the fetch loop; leader changes in it are ignored: they come from the metadata log.

        A follower that is out of step leaves the ISR. A partition that is followed again has a new leader epoch, which
        renews it in the session.
        """
        match event:
            case Records(followed, request, data) if self._is_current(followed, request):
                self._append(now, fetcher, followed, request, data)
            case Diverged(followed, request, data) if self._is_current(followed, request):
                end = data.diverging_epoch
                cut = truncation_point(self._log_of(followed), end.epoch, end.end_offset)
                self._truncate(followed, cut.offset, "", data.log_start_offset)
                self._follow_log_start(followed, data)  # The session sends it again only after a change.
            case LogEndsEarlier(followed, request, offset) if self._is_current(followed, request):
                self._truncate(followed, offset, ", out of range")
            case LogStartsLater(followed, request, offset) if self._is_current(followed, request):
                self._restart_at(followed, offset)
            case UnknownEpoch(followed, request) if self._is_current(followed, request):
                if not self._drop_empty_epoch(followed):
                    self._loop.pause(now, fetcher, followed)

    def _is_current(self, followed: FollowedPartition, request: PartitionFetch) -> bool:
        """Return whether the log end has not changed since the request; else the next fetch uses the new log end."""
        return request.fetch_offset == self._log_of(followed).log_end_offset

    def _append(
        self,
        now: Instant,
        fetcher: Fetcher[FollowedPartition],
        followed: FollowedPartition,
        request: PartitionFetch,
        data: PartitionData,
    ) -> None:
        """Append the records, and apply the leader's high watermark and log start."""
        log = self._log_of(followed)
        if data.records:
            try:
                log.append_as_follower(data.records, max_epoch=request.max_epoch)
                log.record_copied_range(request.fetch_offset, data.high_watermark)
                self._replicas.changes.mark_grown(followed.tp)
            except CorruptBatch as error:
                self._context.outbox.note(f"{followed.tp} unreadable batch from broker {fetcher.key[0]}: {error}")
                self._loop.pause(now, fetcher, followed)
                return
            except OSError as error:
                self._context.fail_disk_of(followed.tp, "cannot write to", error)
                self._loop.pause(now, fetcher, followed)
                return
        log.update_high_watermark(min(data.high_watermark, log.log_end_offset))
        self._follow_log_start(followed, data)
        followed.mirror_epoch, followed.has_response = data.mirror_leader_epoch, True
        self._notify_watchers(followed.tp)

    def _notify_watchers(self, tp: TopicPartition) -> None:
        """Make consumers that fetch from this follower examine the partition again (KIP-392)."""
        partition = self._replicas.partitions.get(tp)
        if partition is not None and partition.watchers:
            self._replicas.changes.mark_changed(tp)

    def _follow_log_start(self, followed: FollowedPartition, data: PartitionData) -> None:
        log = self._log_of(followed)
        start = min(data.log_start_offset, log.log_end_offset)
        if start > log.log_start_offset:
            log.update_high_watermark(max(start, log.high_watermark))  # Deleted records were committed.
            with self._writing_to(followed.tp):
                log.advance_log_start(start)

    def _truncate(self, followed: FollowedPartition, offset: int, suffix: str, leader_start: int = 0) -> None:
        """Truncate the log to `offset`.

        If no record remains that the leader has, or keys may be lost, the log restarts from scratch, and finally begins
        at the leader's log start (D56, D63).
        """
        log = self._log_of(followed)
        before, segments = log.log_end_offset, log.segments_from(offset)
        with self._writing_to(followed.tp):
            if must_truncate_fully(log, offset, leader_start):
                log.truncate_fully_and_start_at(0)
            else:
                log.truncate_to(offset)
        self._notify_watchers(followed.tp)
        end = log.log_end_offset
        cut = FollowerCut(followed.tp, end, before, segments)
        self._context.outbox.note(f"{followed.tp} follower cut at {end} (was {before}){suffix}", cut)

    def _restart_at(self, followed: FollowedPartition, offset: int) -> None:
        """Remove all records, and restart at `offset`, the leader's log start."""
        log = self._log_of(followed)
        self._context.outbox.note(f"{followed.tp} follower restarts at {offset} (was {log.log_end_offset})")
        with self._writing_to(followed.tp):
            log.truncate_fully_and_start_at(offset)
        self._notify_watchers(followed.tp)

    def _drop_empty_epoch(self, followed: FollowedPartition) -> bool:
        """Remove the log's last epoch if it has no batch; return whether it was removed."""
        log = self._log_of(followed)
        before = log.latest_epoch
        with self._writing_to(followed.tp):
            log.truncate_to(log.log_end_offset)
        return log.latest_epoch != before
