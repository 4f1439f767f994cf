"""Mirror fetchers: what destination leaders fetch from source leaders (D12).

A fetcher belongs to one mirror, one source broker and one number; it has one fetch in flight, in an
incremental session, as a consumer that reads committed records. Batches are appended as they are on
the destination's leader: bytes, offsets and epochs of the source. A batch may not carry an epoch
above the one that the request named (KAFKA-18723), and never one above the local leader epoch: when
the source's is higher, the local one is bumped to it first (D14).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.client.fetch_session import FetchSession
from kmirror.client.remote_cluster import RemoteCluster, code_of
from kmirror.cluster.replication.partition import Partition
from kmirror.cluster.replication.truncation import cut_for_divergence, last_epoch
from kmirror.errors import CorruptBatch
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.java import partition_for
from kmirror.mirror.context import FETCH_TIMER, NAME, MirrorContext
from kmirror.mirror.epoch_bumps import bump
from kmirror.mirror.kinship import Kinship
from kmirror.mirror.log_cuts import cut, restart
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.state_writer import StateWriter
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, ReplicaState
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.protocol.gen.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import IsolationLevel, OffsetSpec

FETCH_WITH_DIVERGENCE = 12
"""First version in which a fetch tells the divergence (KIP-595)."""
SOURCE_EPOCH_MAX = 0x7FFFFFFF - 1_000_000
"""Above it there is no room for local epochs on top; no cluster gets there by elections."""

SESSION_ERRORS = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
)
"""The session is gone, not the leader: ask anew at once."""

FetcherKey = tuple[str, int, int]
"""(mirror, source broker, number)"""


@dataclass(slots=True)
class MirrorFetcher:
    key: FetcherKey
    endpoint: Endpoint
    partitions: dict[TopicPartition, MirrorPartition] = field(default_factory=dict)
    session: FetchSession = field(default_factory=FetchSession)
    in_flight: bool = False

    def client_id(self, node_id: int) -> str:
        """Return the client id that quotas at the source go by (D19)."""
        mirror, _, number = self.key
        return f"broker-{node_id}-fetcher-{number}-mirror-{mirror}"

    @property
    def purpose(self) -> str:
        return f"fetch-{self.key[1]}-{self.key[2]}"


class MirrorFetchers:
    """All mirror fetchers of one broker."""

    def __init__(self, context: MirrorContext, writer: StateWriter, kinship: Kinship) -> None:
        self._context = context
        self._broker = context.broker
        self._replicas = context.replicas
        self._writer = writer
        self._kinship = kinship
        self._fetchers: dict[FetcherKey, MirrorFetcher] = {}

    def assign(self, now: Instant, mp: MirrorPartition) -> None:
        """Fetch `mp` from its source leader; again after anything changed. Without a leader: ask who leads."""
        source = self._context.sources.get(mp.assignment.mirror)
        if source is None:
            return
        leader = source.leaders.get(mp.tp)
        endpoint = source.leader_endpoint(mp.tp)
        if leader is None or endpoint is None:
            self.remove(mp)
            mp.reason = "the source's leader is not known"
            self._context.refresh_soon(now, mp.assignment.mirror)
            return
        if leader.epoch > SOURCE_EPOCH_MAX:
            self._writer.fail(now, mp, f"the source's leader epoch {leader.epoch} leaves no room above it")
            return
        if not self._kinship.is_settled(now, mp, leader):
            return
        mp.source_epoch = leader.epoch
        number = partition_for(str(mp.tp), self._broker.configs.integer("mirror.num.replica.fetchers"))
        key = (mp.assignment.mirror, leader.broker_id, number)
        fetcher = self._fetchers.get(key)
        if fetcher is None or fetcher.endpoint != endpoint:
            fetcher = self._fetchers[key] = MirrorFetcher(key, endpoint)
        if fetcher.partitions.get(mp.tp) is not mp:
            self.remove(mp)
            mp.paused_until = 0  # That was for the former leader; its timer would wake the former fetcher.
            fetcher.partitions[mp.tp] = mp
        self._fetch(now, fetcher)

    def remove(self, mp: MirrorPartition) -> None:
        """Stop fetching a partition; an answer on its way is dropped when it comes."""
        for fetcher in self._fetchers.values():
            if mp.tp in fetcher.partitions:
                del fetcher.partitions[mp.tp]

    def on_timer(self, now: Instant, key: FetcherKey) -> None:
        fetcher = self._fetchers.get(key)
        if fetcher is not None:
            self._fetch(now, fetcher)

    # -- asking -------------------------------------------------------------------------------

    def _fetch(self, now: Instant, fetcher: MirrorFetcher) -> None:
        source = self._context.sources.get(fetcher.key[0])
        if fetcher.in_flight or source is None:
            return
        wanted: dict[TopicPartition, FetchPartition] = {}
        topic_ids = {}
        for tp, mp in fetcher.partitions.items():
            partition = self._replicas.led(tp)
            if partition is None or mp.resolving or mp.paused_until > now or not self._reaches_epochs(now, mp):
                continue
            topic_ids[tp.topic] = source.topics[tp.topic].topic_id
            wanted[tp] = FetchPartition(
                partition=tp.partition,
                current_leader_epoch=mp.source_epoch,
                fetch_offset=partition.log.log_end_offset,
                last_fetched_epoch=_last_fetched_epoch(mp, partition),
                log_start_offset=-1,
                partition_max_bytes=self._broker.configs.integer("replica.fetch.max.bytes"),
            )
        if not wanted and fetcher.session.is_empty:
            return
        configs = self._broker.configs
        request = FetchRequest(
            replica_state=ReplicaState(),
            max_wait_ms=configs.integer("replica.fetch.wait.max.ms"),
            min_bytes=configs.integer("replica.fetch.min.bytes"),
            max_bytes=configs.integer("replica.fetch.response.max.bytes"),
            isolation_level=IsolationLevel.READ_COMMITTED,
        )
        fetcher.session.fill(request, wanted, topic_ids)
        fetcher.in_flight = True

        def on_reply(later: Instant, reply: Message | None) -> None:
            fetcher.in_flight = False
            if self._fetchers.get(fetcher.key) is fetcher:
                self._on_reply(later, fetcher, source, wanted, reply)

        source.send(
            now,
            fetcher.endpoint,
            fetcher.purpose,
            request,
            on_reply,
            client_id=fetcher.client_id(self._broker.node_id),
            version_min=FETCH_WITH_DIVERGENCE,
        )

    def _reaches_epochs(self, now: Instant, mp: MirrorPartition) -> bool:
        """Is the local leader epoch at the source's, and at that of our lineage? If not, have it bumped (D14, D45)."""
        partition = self._replicas.led(mp.tp)
        assert partition is not None, f"{mp.tp} is led here"
        wanted = max(mp.source_epoch, mp.lineage.since)
        if wanted <= partition.leader_epoch:
            return True
        theirs = f"the source's is {mp.source_epoch}"
        mp.reason = f"waiting for leader epoch {wanted}: {theirs}, here it is {partition.leader_epoch}"
        if not mp.bumping:
            bump(self._context, now, mp, wanted)
        return False

    # -- answers ------------------------------------------------------------------------------

    def _on_reply(
        self,
        now: Instant,
        fetcher: MirrorFetcher,
        source: RemoteCluster,
        wanted: dict[TopicPartition, FetchPartition],
        reply: Message | None,
    ) -> None:
        if not isinstance(reply, FetchResponse) or reply.error_code:
            fetcher.session.reset()
            if isinstance(reply, FetchResponse) and reply.error_code in SESSION_ERRORS:
                self._fetch(now, fetcher)
            else:
                self._on_lost(now, fetcher, source)
            return
        fetcher.session.accept(reply)
        names = {source.topics[tp.topic].topic_id: tp.topic for tp in wanted}
        for topic in reply.responses:
            name = topic.topic or names.get(topic.topic_id, "")
            for data in topic.partitions:
                tp = TopicPartition(name, data.partition_index)
                mp, asked = fetcher.partitions.get(tp), wanted.get(tp)
                if mp is not None and asked is not None:
                    self._on_partition(now, fetcher, mp, asked, data)
                else:  # The source believes that this was heard; a new session makes it say everything again.
                    fetcher.session.reset()
        self._fetch(now, fetcher)

    def _on_lost(self, now: Instant, fetcher: MirrorFetcher, source: RemoteCluster) -> None:
        """No answer: the broker may be gone, its partitions led elsewhere by now."""
        version = source.version(fetcher.endpoint, FetchRequest)
        if source.knows_versions(fetcher.endpoint) and (version is None or version < FETCH_WITH_DIVERGENCE):
            for mp in list(fetcher.partitions.values()):
                self._writer.fail(now, mp, f"the source at {fetcher.endpoint} serves no Fetch v12 or later")
            return
        for mp in fetcher.partitions.values():
            mp.reason = f"the source's broker {fetcher.key[1]} at {fetcher.endpoint} does not answer"
        self._context.refresh_soon(now, fetcher.key[0])
        at = now + self._broker.configs.integer("replica.fetch.backoff.ms") * MILLISECOND
        self._broker.outbox.set_timer((NAME, FETCH_TIMER, *fetcher.key), at)

    def _on_partition(
        self, now: Instant, fetcher: MirrorFetcher, mp: MirrorPartition, asked: FetchPartition, data: PartitionData
    ) -> None:
        partition = self._replicas.led(mp.tp)
        if partition is None:
            return
        log = partition.log
        if data.error_code:
            self._on_error(now, fetcher, mp, code_of(data.error_code))
            return
        if asked.fetch_offset != log.log_end_offset or asked.current_leader_epoch != mp.source_epoch:
            return  # The log was cut since, or the source has another leader; the next fetch asks anew.
        if data.diverging_epoch.epoch != -1:
            if data.diverging_epoch.end_offset < 0:
                self._on_error(now, fetcher, mp, ErrorCode.UNKNOWN_SERVER_ERROR)
            else:
                self._diverged(now, mp, data)
            return
        mp.reason = ""
        mp.source_offset = data.high_watermark
        mp.source_log_start = data.log_start_offset
        if data.records:
            ceiling = min(asked.current_leader_epoch, partition.leader_epoch)
            try:
                info = log.append_as_mirror(data.records, source_epoch=ceiling)
            except CorruptBatch as error:
                self._writer.fail(now, mp, f"{mp.tp} at offset {log.log_end_offset}: {error}")
                return
            if info.refused_epoch >= 0:
                self._context.refresh_soon(now, fetcher.key[0])
                self._pause(now, fetcher, mp)
            if info.batches:
                self._replicas.appended(now, partition)
        self.raise_log_start(mp)

    def raise_log_start(self, mp: MirrorPartition) -> None:
        """Follow the source's log start, as far as the local high watermark allows."""
        partition = self._replicas.led(mp.tp)
        if partition is None or mp.source_log_start <= partition.log.log_start_offset:
            return
        wanted = min(mp.source_log_start, partition.log.high_watermark)
        if wanted > partition.log.log_start_offset:
            partition.log.advance_log_start(wanted)
            self._replicas.touch(mp.tp)

    def _diverged(self, now: Instant, mp: MirrorPartition, data: PartitionData) -> None:
        """The source ends our last epoch elsewhere: cut to where the two histories meet (second phase of D11)."""
        partition = self._replicas.led(mp.tp)
        assert partition is not None, f"{mp.tp} is led here"
        end = cut_for_divergence(partition.log, data.diverging_epoch.epoch, data.diverging_epoch.end_offset)
        cut(self._context, now, mp, partition, end.offset, "diverging epoch")

    def _on_error(self, now: Instant, fetcher: MirrorFetcher, mp: MirrorPartition, error: ErrorCode) -> None:
        if error is ErrorCode.OFFSET_OUT_OF_RANGE:
            self._resolve_range(now, fetcher, mp, OffsetSpec.LATEST)
            return
        mp.reason = f"the source answers {error.name}"
        self._broker.outbox.note(f"{mp.tp} source says {error.name}")
        self._context.refresh_soon(now, fetcher.key[0])
        self._pause(now, fetcher, mp)

    def _pause(self, now: Instant, fetcher: MirrorFetcher, mp: MirrorPartition) -> None:
        mp.paused_until = now + self._broker.configs.integer("replica.fetch.backoff.ms") * MILLISECOND
        self._broker.outbox.set_timer((NAME, FETCH_TIMER, *fetcher.key), mp.paused_until)

    # -- out of range -------------------------------------------------------------------------

    def _resolve_range(self, now: Instant, fetcher: MirrorFetcher, mp: MirrorPartition, which: int) -> None:
        """Ask the source leader where its log ends (or begins), and go there."""
        source = self._context.sources.get(fetcher.key[0])
        if source is None:
            return
        mp.resolving = True
        asked = ListOffsetsPartition(
            partition_index=mp.tp.partition, current_leader_epoch=mp.source_epoch, timestamp=which
        )
        request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=mp.tp.topic, partitions=[asked])])

        def on_reply(later: Instant, reply: Message | None) -> None:
            mp.resolving = False
            if fetcher.partitions.get(mp.tp) is not mp:
                return
            offset = _offset_in(reply)
            if offset < 0:
                self._context.refresh_soon(later, fetcher.key[0])
                self._pause(later, fetcher, mp)
                return
            self._on_range(later, fetcher, mp, which, offset)
            self._fetch(later, fetcher)

        source.send(now, fetcher.endpoint, "offsets", request, on_reply)

    def _on_range(self, now: Instant, fetcher: MirrorFetcher, mp: MirrorPartition, which: int, offset: int) -> None:
        partition = self._replicas.led(mp.tp)
        if partition is None:
            return
        end = partition.log.log_end_offset
        if which == OffsetSpec.LATEST and offset < end:
            cut(self._context, now, mp, partition, offset, "the source's log end")
        elif which == OffsetSpec.LATEST:
            self._resolve_range(now, fetcher, mp, OffsetSpec.EARLIEST)
        elif offset > end:
            restart(self._context, now, mp, partition, offset, "the source's log start")
        else:
            self._unknown_epoch(now, fetcher, mp, partition)

    def _unknown_epoch(self, now: Instant, fetcher: MirrorFetcher, mp: MirrorPartition, partition: Partition) -> None:
        """The offset is in the source's range, so what it does not know is the epoch that we named."""
        before = partition.log.latest_epoch
        self._replicas.cut(now, partition, partition.log.log_end_offset)  # Drops epochs without a batch.
        if partition.log.latest_epoch == before:
            # Before 3.0 a topic of an old format has no epochs at all; then there is nothing to compare by.
            mp.source_without_epochs = before < 0
            self._pause(now, fetcher, mp)


def _last_fetched_epoch(mp: MirrorPartition, partition: Partition) -> int:
    return partition.log.latest_epoch if mp.source_without_epochs else last_epoch(partition.log)


def _offset_in(reply: Message | None) -> int:
    """Return the one offset that was asked for, or -1 if it was not told."""
    if not isinstance(reply, ListOffsetsResponse):
        return -1
    rows = [row for topic in reply.topics for row in topic.partitions]
    return -1 if len(rows) != 1 or rows[0].error_code else rows[0].offset
