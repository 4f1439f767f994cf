"""Mirror fetchers: leaders of the destination fetch from leaders of the source (D12).

A fetcher belongs to one mirror, one source broker and one number. It has one fetch in flight, in an incremental
session, as a read_committed consumer. Batches are appended unchanged on the destination's leader, with the bytes,
offsets and epochs of the source. A batch may not carry an epoch above the one in the request (KAFKA-18723), and never
one above the local leader epoch: if the source's is higher, the local one is bumped to it first (D14).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from kmirror.client.fetch_events import (
    Diverged,
    FetchEvent,
    FetchFailed,
    LeaderMoved,
    LogEndsEarlier,
    LogStartsLater,
    NoOffset,
    PartitionConfirmed,
    PartitionError,
    Records,
    ResponseMissed,
    UnknownEpoch,
)
from kmirror.client.fetch_loop import Fetcher, FetchLoop
from kmirror.client.fetch_session import FETCH_WITH_DIVERGENCE, PartitionFetch
from kmirror.client.remote_cluster import LeaderHint, RemoteCluster
from kmirror.client.requester import OnFrame, OnReply, Sent
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.truncation import last_epoch, loses_keys, truncation_point
from kmirror.errors import CorruptBatch
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.events import OutboundLink
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.java import partition_for
from kmirror.kernel.uuid import Uuid
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.context import FETCH_TIMER, NAME, MirrorContext
from kmirror.mirror.cut_rules import SOURCE_EPOCH_MAX
from kmirror.mirror.epoch_bumps import EpochBumps
from kmirror.mirror.epoch_check import EpochCheck, another_topic_reason, is_another_topic, source_epoch_is_behind
from kmirror.mirror.fetch_sizes import FetchSizes
from kmirror.mirror.leader_proofs import LeaderProofs
from kmirror.mirror.log_cuts import restart
from kmirror.mirror.missed_deletions import after_append, before_append, confirm_caught_up, may_have_missed
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.replication_quota import RATE, ReplicationQuota
from kmirror.mirror.source_lineage import LineageCheck
from kmirror.mirror.state_writer import StateWriter
from kmirror.mirror.states import MirrorState
from kmirror.mirror.topic_check import TopicCheck
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import PartitionData
from kmirror.protocol.gen.list_offsets_request import ListOffsetsRequest
from kmirror.protocol.gen.offset_for_leader_epoch_request import OffsetForLeaderEpochRequest
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import CONSUMER_REPLICA_ID, IsolationLevel

FETCH_VERSION_MIN = 10
"""The Fetch version of Kafka 2.1, the oldest release that is mirrored from."""
CREATED_AGAIN = "if this persists, its topic was created again: remove it from the mirror and add it again"
TRANSIENT_ERRORS = (
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.OFFSET_NOT_AVAILABLE,
)
"""Errors of a source while its leaders move; they do not count as failures."""

MirrorFetcher = Fetcher[MirrorPartition]


class MirrorFetchers:
    """All mirror fetchers of one broker; the key of each is (mirror, source broker, number)."""

    def __init__(
        self, context: MirrorContext, writer: StateWriter, lineage_check: LineageCheck, bumps: EpochBumps
    ) -> None:
        self._context = context
        self._broker = context.broker
        self._replicas = context.replicas
        self._writer = writer
        self._lineage_check = lineage_check
        self._bumps = bumps
        self._loop = FetchLoop(self, self._broker.outbox, lambda: self._broker.configs, (NAME, FETCH_TIMER))
        self._epoch_check = EpochCheck(context, writer, self._loop)
        self._topic_check = TopicCheck(context, self._loop)
        self._sizes = FetchSizes(lambda: self._broker.configs)
        self.proofs = LeaderProofs(context)
        self.quota = ReplicationQuota(self._broker)

    def assign(self, now: Instant, mp: MirrorPartition) -> None:
        """Fetch `mp` from its source's leader, or refresh the metadata if the leader is not known."""
        source = self._context.sources.get(mp.assignment.mirror)
        if source is None:
            return
        leader = source.leader(mp.tp)
        endpoint = source.leader_endpoint(mp.tp)
        if leader is None or endpoint is None:
            self.remove(mp)
            mp.reason = "the source's leader is not known"
            self._context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)
            return
        if leader.epoch > SOURCE_EPOCH_MAX:
            self._writer.fail(
                now, mp, f"the source's leader epoch {leader.epoch} leaves no room for higher epochs here"
            )
            return
        if not self._lineage_check.may_fetch(now, mp, leader):
            return
        if mp.source_epoch != leader.epoch:
            mp.paused_until = mp.fetch_bytes = 0  # The former leader's error and fetch size do not apply to this one.
        mp.source_epoch, mp.source_topic_id = leader.epoch, source.topics[mp.tp.topic].topic_id
        our_epoch = last_epoch(self._led_partition(mp).log)
        if source_epoch_is_behind(mp, our_epoch, leader.epoch):
            self.remove(mp)
            mp.reason = (
                f"our log has records of leader epoch {our_epoch}, the source is in {leader.epoch}: {CREATED_AGAIN}"
            )
            self._context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)
            return
        if mp.cuts.barred_epoch == leader.epoch:
            self.remove(mp)
            mp.reason = mp.cuts.reason()
            return
        self._record_source_version(mp, endpoint)
        number = partition_for(str(mp.tp), self._broker.configs.integer("mirror.num.replica.fetchers"))
        self._loop.assign(now, (mp.assignment.mirror, leader.broker_id, number), endpoint, mp)
        mp.fetcher = self.find(mp.tp)
        self.proofs.require(now, mp.assignment.mirror, endpoint)

    def remove(self, mp: MirrorPartition) -> None:
        """Stop fetching a partition; a response on its way will be dropped."""
        fetcher = self.find(mp.tp)
        if fetcher is not None:
            confirm_caught_up(mp, to_ms(fetcher.confirmed_at))
        self._loop.remove(mp.tp)
        mp.fetcher = None

    def on_timer(self, now: Instant, mirror: str, broker_id: int, number: int) -> None:
        """Fetch again after a pause."""
        self._loop.on_timer(now, (mirror, broker_id, number))

    # -- requests -----------------------------------------------------------------------------

    def _source(self, fetcher: MirrorFetcher) -> RemoteCluster | None:
        return self._context.sources.get(str(fetcher.key[0]))

    def identity(self, fetcher: MirrorFetcher) -> Hashable | None:
        """Return a constant, or None if the mirror was deleted."""
        return None if self._source(fetcher) is None else CONSUMER_REPLICA_ID

    def send(
        self,
        now: Instant,
        fetcher: MirrorFetcher,
        purpose: str,
        request: FetchRequest | ListOffsetsRequest,
        on_reply: OnReply,
        *,
        on_frame: OnFrame | None = None,
    ) -> Sent | None:
        """Send as a read_committed consumer; fetches use the client id that quotas at the source match (D19)."""
        source = self._source(fetcher)
        assert source is not None, "the mirror is there"
        if not isinstance(request, FetchRequest):
            request.replica_id = CONSUMER_REPLICA_ID
            source.send(now, fetcher.endpoint, purpose, request, on_reply)
            return None
        request.max_bytes = self._sizes.max_bytes_of(fetcher)
        request.isolation_level = IsolationLevel.READ_COMMITTED
        mirror, _, number = fetcher.key
        source.send(
            now,
            fetcher.endpoint,
            _purpose(fetcher),
            request,
            on_reply,
            client_id=f"broker-{self._broker.node_id}-fetcher-{number}-mirror-{mirror}",
            version_min=FETCH_VERSION_MIN,
            on_frame=on_frame,
            is_counted=True,
        )
        return None

    def next_fetch(self, now: Instant, mp: MirrorPartition) -> PartitionFetch | Instant | None:
        """Return the fetch position, or the time until which the destination's throttle holds `mp`.

        The position is the log end offset and the epoch of the last batch. None if the local leader epoch is below the
        source's: then a bump is requested, and the new epoch begins with a new `mp`. None as well if an older source
        does not compare the last epoch and the two logs have yet to be compared (D12).
        """
        held_until = self.quota.held_until(now, mp.tp)
        if held_until > now:
            mp.reason = f"throttled: {RATE} is {self._broker.configs.integer(RATE)} bytes a second"
            return held_until
        position = self._position(mp)
        partition = self._replicas.partitions.find_led(mp.tp)
        if position is None and partition is not None:
            epoch = _epoch_needed(mp)
            if epoch <= partition.leader_epoch:
                self._epoch_check.request(mp)
            else:
                source_text = f"the source's is {mp.source_epoch}"
                mp.reason = f"waiting for leader epoch {epoch}: {source_text}, here it is {partition.leader_epoch}"
                self._bumps.request(mp, epoch)
        return position

    def _position(self, mp: MirrorPartition) -> PartitionFetch | None:
        partition = self._replicas.partitions.find_led(mp.tp)
        if partition is None or _epoch_needed(mp) > partition.leader_epoch:
            return None
        if mp.source_is_old and not self._epoch_check.has_agreed(mp):
            return None
        return PartitionFetch(
            topic_id=mp.source_topic_id,
            current_leader_epoch=mp.source_epoch,
            fetch_offset=partition.log.log_end_offset,
            last_fetched_epoch=-1 if mp.source_is_old else _last_fetched_epoch(mp, partition),
            partition_max_bytes=self._sizes.partition_max_bytes_of(mp),
        )

    def _record_source_version(self, mp: MirrorPartition, endpoint: Endpoint) -> None:
        """Record whether the source's leader reports divergence in Fetch responses, if its versions are known."""
        source = self._context.sources.get(mp.assignment.mirror)
        version = None if source is None else source.version(endpoint, FetchRequest)
        if version is not None:
            mp.source_is_old = version < FETCH_WITH_DIVERGENCE

    def fetchers(self) -> Iterable[MirrorFetcher]:
        """Return all fetchers of this broker's mirrors."""
        return self._loop.fetchers()

    def link(self, fetcher: MirrorFetcher) -> OutboundLink | None:
        """Return the link over which a fetcher fetches; None if its mirror was deleted."""
        source = self._source(fetcher)
        return None if source is None else source.link(fetcher.endpoint, _purpose(fetcher))

    def find(self, tp: TopicPartition) -> MirrorFetcher | None:
        """Return the fetcher of a partition; None if it is not fetched."""
        found = self._loop.find(tp)
        return None if found is None else found[0]

    # -- responses ----------------------------------------------------------------------------

    def handle(self, now: Instant, fetcher: MirrorFetcher, event: FetchEvent[MirrorPartition]) -> None:
        """Follow the source's log; an error about leaders causes a metadata refresh."""
        match event:
            case Records(mp, fetch, data) if self._is_current(mp, fetch):
                self._on_records(now, fetcher, mp, fetch, data)
            case PartitionConfirmed(mp):
                confirm_caught_up(mp, to_ms(fetcher.confirmed_at))
            case Diverged(mp, fetch, data) if self._is_current(mp, fetch):
                self._on_diverged(now, fetcher, mp, data)
            case PartitionError(mp, error):
                self._on_error(now, mp, error)
            case LeaderMoved(mp, hint):
                self._on_moved(now, mp, hint)
            case ResponseMissed():
                fetcher.session.reset()  # Only a new session repeats a response that was dropped here.
            case FetchFailed():
                self._on_lost(now, fetcher)
            case NoOffset():
                self._refresh(now, fetcher)
            case LogEndsEarlier(mp, fetch, offset) if self._is_current(mp, fetch):
                self._confirm(now, mp, lambda later: self._cut_to_end(later, mp, offset))
            case LogStartsLater(mp, fetch, offset) if self._is_current(mp, fetch):
                self._confirm(now, mp, lambda later: self._restart_log(later, mp, offset))
            case UnknownEpoch(mp, fetch) if self._is_current(mp, fetch):
                self._drop_unknown_epoch(now, fetcher, mp)

    def _is_current(self, mp: MirrorPartition, fetch: PartitionFetch) -> bool:
        """Return whether the log is led here, and still ends at the offset of the request."""
        partition = self._replicas.partitions.find_led(mp.tp)
        return partition is not None and fetch.fetch_offset == partition.log.log_end_offset

    def _on_records(
        self, now: Instant, fetcher: MirrorFetcher, mp: MirrorPartition, fetch: PartitionFetch, data: PartitionData
    ) -> None:
        """Append the records, once the response is known to be about our topic (D65)."""
        begins_later = data.log_start_offset > self._led_partition(mp).log.log_start_offset
        if (data.records or begins_later) and self._topic_check.fetches_by_name(fetcher):
            self._confirm(now, mp, lambda later: self._append_records(later, fetcher, mp, fetch, data))
        else:
            self._append_records(now, fetcher, mp, fetch, data)

    def _confirm(self, now: Instant, mp: MirrorPartition, on_confirmed: Callable[[Instant], None]) -> None:
        """Call `on_confirmed` once the source's leader has confirmed the topic's id; at once if it has no id (D53)."""
        fetcher = self.find(mp.tp)
        if fetcher is None or mp.source_topic_id == Uuid.ZERO:
            on_confirmed(now)
        else:
            self._topic_check.confirm(fetcher, mp, self._led_partition(mp).log.log_end_offset, on_confirmed)

    def _append_records(
        self, now: Instant, fetcher: MirrorFetcher, mp: MirrorPartition, fetch: PartitionFetch, data: PartitionData
    ) -> None:
        """Append the source's batches unchanged; a damaged batch makes the partition FAILED (D21)."""
        partition = self._led_partition(mp)
        mp.reason = ""
        mp.is_failing = False
        _record_source(mp, data)
        if data.records:
            is_throttled = self.quota.is_throttled(mp.tp)
            if is_throttled and self.quota.record(now, len(data.records)):
                self._hold_throttled()
            before_append(mp, partition.log)
            if may_have_missed(mp, partition.log, data.records, to_ms(now)):
                if not mp.is_busy:  # Else the next fetch gets the same response.
                    self._writer.copy_again(now, mp, partition, "deletions may have been missed (D64)")
                return
            epoch_max = min(fetch.current_leader_epoch, partition.leader_epoch)
            try:
                info = partition.log.append_as_mirror(data.records, source_epoch=epoch_max)
            except CorruptBatch as error:
                self._writer.fail(now, mp, f"{mp.tp} at offset {partition.log.log_end_offset}: {error}")
                return
            except OSError as error:
                self._broker.fail_disk_of(mp.tp, "cannot write to", error)
                self._loop.pause(now, fetcher, mp)
                return
            if info.refused_epoch >= 0:
                self._context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)
                self._loop.pause(now, fetcher, mp)
            if info.batches:
                mp.cuts.on_appended(partition.log.log_end_offset)
                partition.log.record_copied_range(fetch.fetch_offset, data.high_watermark)
                self._replicas.changes.mark_appended(partition)
                if is_throttled:
                    mp.fetch_bytes = 0  # Small responses keep to the rate more evenly.
                elif (
                    len(data.records) >= fetch.partition_max_bytes // 2
                    and partition.log.log_end_offset < data.last_stable_offset
                ):
                    self._sizes.on_full(fetcher, mp)
        after_append(mp, partition.log, data.last_stable_offset, to_ms(now))
        self.raise_log_start(mp)

    def _hold_throttled(self) -> None:
        """Look at all throttled partitions before the next fetches, which may not include them."""
        for fetcher in self._loop.fetchers():
            for mp in fetcher.partitions.values():
                if self.quota.is_throttled(mp.tp):
                    fetcher.mark(mp)

    def _led_partition(self, mp: MirrorPartition) -> Partition:
        partition = self._replicas.partitions.find_led(mp.tp)
        assert partition is not None, f"{mp.tp} is led here"
        return partition

    def raise_log_start(self, mp: MirrorPartition) -> None:
        """Follow the source's log start, as far as the local high watermark allows."""
        partition = self._replicas.partitions.find_led(mp.tp)
        if partition is None or mp.source_log_start <= partition.log.log_start_offset:
            return
        log_start = min(mp.source_log_start, partition.log.high_watermark)
        if log_start > partition.log.log_start_offset:
            with self._replicas.appends.writing_to(mp.tp):
                partition.log.advance_log_start(log_start)
            self._replicas.changes.mark_changed(mp.tp)
            self._loop.mark_changed(mp.tp)

    def _on_diverged(self, now: Instant, fetcher: MirrorFetcher, mp: MirrorPartition, data: PartitionData) -> None:
        """Cut to where the two logs diverge: the source ends our last epoch at another offset (D11, D12)."""
        if self._topic_check.fetches_by_name(fetcher):
            self._confirm(now, mp, lambda later: self._cut_diverging(later, fetcher, mp, data))
        else:
            self._cut_diverging(now, fetcher, mp, data)

    def _cut_diverging(self, now: Instant, fetcher: MirrorFetcher, mp: MirrorPartition, data: PartitionData) -> None:
        partition = self._led_partition(mp)
        if data.diverging_epoch.end_offset < 0:
            self._loop.report_error(now, fetcher, mp, ErrorCode.UNKNOWN_SERVER_ERROR)
            return
        _record_source(mp, data)  # The source's session reports it again only when it changes.
        end = truncation_point(partition.log, data.diverging_epoch.epoch, data.diverging_epoch.end_offset)
        self._cut_at_divergence(now, mp, end.offset, "diverging epoch")
        self.raise_log_start(mp)

    def _cut_at_divergence(self, now: Instant, mp: MirrorPartition, offset: int, reason: str) -> None:
        """Cut where the two logs diverge, unless that needs a write of the state and another write is under way."""
        partition = self._led_partition(mp)
        if not mp.is_busy or not loses_keys(partition.log, offset):  # Else the next fetch gets the same response.
            self._cut_unless_repeated(
                mp, partition.log, lambda: self._writer.cut_at_divergence(now, mp, partition, offset, reason)
            )

    def _cut_unless_repeated(self, mp: MirrorPartition, log: PartitionLog, cut: Callable[[], None]) -> None:
        """Cut the log; after too many cuts without progress stop fetching instead (D59)."""
        if not mp.cuts.may_cut(mp.source_epoch):
            self.remove(mp)
            mp.reason = mp.cuts.reason()
            self._context.note_reason(mp)
            return
        before = log.log_end_offset
        cut()
        mp.cuts.on_cut(mp.source_epoch, before, log.log_end_offset)

    def _on_error(self, now: Instant, mp: MirrorPartition, error: ErrorCode) -> None:
        """Record the error as the reason, and refresh the source's metadata: the leader may have changed."""
        mp.reason = f"the source returned {error.name}"
        mp.is_failing = mp.is_failing or error not in TRANSIENT_ERRORS
        if error is ErrorCode.UNKNOWN_LEADER_EPOCH and not any(mp.source_topic_id):
            mp.reason = f"the source's leader does not know leader epoch {mp.source_epoch}: {CREATED_AGAIN}"
        self._context.note_reason(mp)
        self._broker.outbox.note(f"{mp.tp} source returned {error.name}")
        self._context.refresh_soon(now, mp.assignment.mirror, mp.tp.topic)

    def _on_moved(self, now: Instant, mp: MirrorPartition, hint: LeaderHint) -> None:
        """Fetch from the leader that the former one names, without waiting for metadata (KIP-951)."""
        source = self._context.sources.get(mp.assignment.mirror)
        follows = self._context.is_current(mp, MirrorState.MIRRORING) and not mp.is_busy
        if source is not None and follows and source.record_hint(mp.tp, hint):
            self.assign(now, mp)

    def _on_lost(self, now: Instant, fetcher: MirrorFetcher) -> None:
        """Refresh the metadata; if the source is too old, fail the partitions and end the fetcher."""
        source = self._source(fetcher)
        if source is not None and source.knows_versions(fetcher.endpoint):
            version = source.version(fetcher.endpoint, FetchRequest)
            asks_epochs = source.supports(fetcher.endpoint, OffsetForLeaderEpochRequest)
            if version is None or version < (FETCH_VERSION_MIN if asks_epochs else FETCH_WITH_DIVERGENCE):
                for mp in list(fetcher.partitions.values()):
                    self._writer.fail(now, mp, f"the source at {fetcher.endpoint} is older than Kafka 2.1")
                fetcher.is_dead = True
                return
            for mp in fetcher.partitions.values():
                self._record_source_version(mp, fetcher.endpoint)
                self._loop.mark_changed(mp.tp)
        error_suffix = "" if source is None else source.connection_error_suffix(fetcher.endpoint)
        self._sizes.on_lost(fetcher)
        self.proofs.renew(now, str(fetcher.key[0]), fetcher.endpoint)
        reason = f"the source's broker {fetcher.key[1]} at {fetcher.endpoint} does not respond{error_suffix}"
        for mp in fetcher.partitions.values():
            mp.is_failing = True
            if mp.reason != reason:  # A source may be down for hours.
                mp.reason = reason
                self._context.note_reason(mp)
        self._refresh(now, fetcher)

    def _refresh(self, now: Instant, fetcher: MirrorFetcher) -> None:
        topics = dict.fromkeys(tp.topic for tp in fetcher.partitions)
        if topics:
            self._context.refresh_soon(now, str(fetcher.key[0]), *topics)

    # -- out of range -------------------------------------------------------------------------

    def _cut_to_end(self, now: Instant, mp: MirrorPartition, offset: int) -> None:
        """Cut where the source's log ends, unless that log belongs to another topic."""
        log = self._led_partition(mp).log
        if is_another_topic(mp, last_epoch(log), offset, log.log_end_offset):
            self._writer.fail(now, mp, another_topic_reason(mp, offset, log.log_end_offset))
            return
        self._cut_at_divergence(now, mp, offset, "the source's log end")

    def _restart_log(self, now: Instant, mp: MirrorPartition, offset: int) -> None:
        """Restart the log where the source's log starts."""
        partition, reason = self._led_partition(mp), "the source's log start"
        self._cut_unless_repeated(mp, partition.log, lambda: restart(self._context, now, mp, partition, offset, reason))

    def _drop_unknown_epoch(self, now: Instant, fetcher: MirrorFetcher, mp: MirrorPartition) -> None:
        """Drop our last epoch if it has no batch; if nothing is dropped, pause the partition.

        A log without any epoch has none to drop: from then on fetches name no epoch (D28).
        """
        partition = self._led_partition(mp)
        before = partition.log.latest_epoch
        self._replicas.appends.truncate(now, partition, partition.log.log_end_offset)
        if partition.log.latest_epoch == before:
            mp.source_without_epochs = before < 0  # Before Kafka 3.0 a topic of an old format has no epochs.
            self._loop.pause(now, fetcher, mp)


def _purpose(fetcher: MirrorFetcher) -> str:
    _, broker_id, number = fetcher.key
    return f"fetch-{broker_id}-{number}"


def _epoch_needed(mp: MirrorPartition) -> int:
    """Return the local leader epoch that a fetch needs: the source's (D14), and that of the lineage (D45)."""
    return max(mp.source_epoch, mp.lineage.valid_from_epoch)


def _last_fetched_epoch(mp: MirrorPartition, partition: Partition) -> int:
    return partition.log.latest_epoch if mp.source_without_epochs else last_epoch(partition.log)


def _record_source(mp: MirrorPartition, data: PartitionData) -> None:
    mp.source_offset, mp.source_offset_epoch = data.high_watermark, mp.source_epoch
    mp.source_log_start = data.log_start_offset
