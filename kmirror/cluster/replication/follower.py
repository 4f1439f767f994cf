"""Following: what a broker fetches from the leaders of the partitions that it does not lead.

One fetcher for each leader broker, one fetch in flight in each, in an incremental session. A fetch
names the epoch of the last batch held, so the leader can answer with a divergence; the log is cut
and the next fetch asks again. Batches are validated against the leader epoch that the *request*
named, so that an answer from an earlier reign cannot slip in (KAFKA-18723); for a log that carries
a source cluster's epochs, MirrorLeaderEpoch takes that part (D13).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.client.fetch_session import FetchSession
from kmirror.cluster.broker.context import BrokerContext
from kmirror.cluster.broker.lifecycle import Lifecycle
from kmirror.cluster.replication.partition import Partition
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.cluster.replication.truncation import cut_for_divergence, last_epoch
from kmirror.errors import CorruptBatch
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_request import (
    FetchPartition,
    FetchRequest,
    ReplicaState,
)
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.protocol.gen.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import OffsetSpec

TIMER = "follow"


@dataclass(slots=True)
class Following:
    """How far one followed partition is with its leader."""

    topic_id: Uuid
    leader_epoch: int
    mirror_epoch: int = -1
    paused_until: Instant = 0
    resolving: bool = False
    """The leader is being asked for its offsets; nothing is fetched meanwhile."""


@dataclass(slots=True)
class Fetcher:
    """One leader broker and the partitions followed there."""

    broker_id: int
    endpoint: Endpoint
    partitions: dict[TopicPartition, Following] = field(default_factory=dict)
    in_flight: bool = False
    session: FetchSession = field(default_factory=FetchSession)

    @property
    def channel(self) -> str:
        return f"follow-{self.broker_id}"


class ReplicaFetchers:
    """All fetchers of one broker."""

    def __init__(self, context: BrokerContext, lifecycle: Lifecycle, replicas: ReplicaManager) -> None:
        self._context = context
        self._lifecycle = lifecycle
        self._replicas = replicas
        self._fetchers: dict[int, Fetcher] = {}

    def assign(self, now: Instant, tp: TopicPartition) -> None:
        """Follow the leader that the image names for `tp`, or nobody."""
        partition = self._replicas.partitions.get(tp)
        for fetcher in self._fetchers.values():
            known = fetcher.partitions.get(tp)
            stays = (
                known is not None
                and partition is not None
                and partition.image.leader == fetcher.broker_id
                and (known.topic_id, known.leader_epoch) == (partition.topic_id, partition.leader_epoch)
            )
            if known is not None and not stays:
                del fetcher.partitions[tp]
        if partition is None or partition.is_leader or partition.image.leader < 0:
            return
        endpoint = self._context.image.endpoint(partition.image.leader)
        if endpoint is None:
            return
        leader = self._fetchers.get(partition.image.leader)
        if leader is None or leader.endpoint != endpoint:
            leader = self._fetchers[partition.image.leader] = Fetcher(partition.image.leader, endpoint)
        if tp not in leader.partitions:
            leader.partitions[tp] = Following(partition.topic_id, partition.leader_epoch)
        self._fetch(now, leader)

    def on_brokers(self, now: Instant) -> None:
        """Brokers came or went: follow them under their present endpoints."""
        for partition in self._replicas.partitions.values():
            if not partition.is_leader and partition.image.leader >= 0:
                self.assign(now, partition.tp)

    def on_timer(self, now: Instant, broker_id: int) -> None:
        fetcher = self._fetchers.get(broker_id)
        if fetcher is not None:
            self._fetch(now, fetcher)

    # -- asking -------------------------------------------------------------------------------

    def _fetch(self, now: Instant, fetcher: Fetcher) -> None:
        if fetcher.in_flight:
            return
        wanted: dict[TopicPartition, FetchPartition] = {}
        epochs: dict[TopicPartition, int] = {}
        for tp, following in fetcher.partitions.items():
            if following.resolving or following.paused_until > now:
                continue
            partition = self._replicas.partitions[tp]
            wanted[tp] = self._position(partition, following)
            epochs[tp] = following.mirror_epoch if following.mirror_epoch >= 0 else following.leader_epoch
        if not wanted and fetcher.session.is_empty:
            return
        request = self._request(fetcher, wanted)
        fetcher.in_flight = True

        def on_reply(later: Instant, reply: Message | None) -> None:
            fetcher.in_flight = False
            self._on_reply(later, fetcher, wanted, epochs, reply)

        self._context.requester.send(
            now,
            fetcher.endpoint,
            fetcher.channel,
            request,
            self._context.version_of(request),
            on_reply,
            timeout_ms=self._context.configs.integer("request.timeout.ms"),
        )

    def _position(self, partition: Partition, following: Following) -> FetchPartition:
        log = partition.log
        return FetchPartition(
            partition=partition.tp.partition,
            current_leader_epoch=following.leader_epoch,
            fetch_offset=log.log_end_offset,
            last_fetched_epoch=last_epoch(log),
            log_start_offset=log.log_start_offset,
            partition_max_bytes=self._context.configs.integer("replica.fetch.max.bytes"),
            high_watermark=log.high_watermark,
            mirror_leader_epoch=following.mirror_epoch,
        )

    def _request(self, fetcher: Fetcher, wanted: dict[TopicPartition, FetchPartition]) -> FetchRequest:
        configs = self._context.configs
        request = FetchRequest(
            replica_state=ReplicaState(replica_id=self._context.node_id, replica_epoch=self._lifecycle.epoch),
            max_wait_ms=configs.integer("replica.fetch.wait.max.ms"),
            min_bytes=configs.integer("replica.fetch.min.bytes"),
            max_bytes=configs.integer("replica.fetch.response.max.bytes"),
        )
        topic_ids = {tp.topic: fetcher.partitions[tp].topic_id for tp in wanted}
        fetcher.session.fill(request, wanted, topic_ids)
        return request

    # -- answers ------------------------------------------------------------------------------

    def _on_reply(
        self,
        now: Instant,
        fetcher: Fetcher,
        wanted: dict[TopicPartition, FetchPartition],
        epochs: dict[TopicPartition, int],
        reply: Message | None,
    ) -> None:
        if self._fetchers.get(fetcher.broker_id) is not fetcher:
            return
        if not isinstance(reply, FetchResponse) or reply.error_code:
            fetcher.session.reset()
            if isinstance(reply, FetchResponse):  # The session is gone, not the leader: ask anew at once.
                self._fetch(now, fetcher)
            else:
                self._later(now, fetcher)
            return
        fetcher.session.accept(reply)
        for topic in reply.responses:
            name = self._context.image.topic_names.get(topic.topic_id)
            for data in topic.partitions:
                tp = TopicPartition(name or "", data.partition_index)
                following = fetcher.partitions.get(tp)
                asked = wanted.get(tp)
                if following is None or asked is None or asked.current_leader_epoch != following.leader_epoch:
                    continue
                self._on_partition(now, fetcher, tp, following, asked, epochs.get(tp, following.leader_epoch), data)
        self._fetch(now, fetcher)

    def _on_partition(
        self,
        now: Instant,
        fetcher: Fetcher,
        tp: TopicPartition,
        following: Following,
        asked: FetchPartition,
        max_epoch: int,
        data: PartitionData,
    ) -> None:
        partition = self._replicas.partitions[tp]
        log = partition.log
        if data.error_code:
            self._on_error(now, fetcher, tp, following, ErrorCode(data.error_code))
            return
        if asked.fetch_offset != log.log_end_offset:
            return  # The log moved since the question; the next fetch asks from where it is now.
        if data.diverging_epoch.epoch != -1:
            cut = cut_for_divergence(log, data.diverging_epoch.epoch, data.diverging_epoch.end_offset)
            self._context.outbox.note(f"{tp} follower cut at {cut.offset} (was {log.log_end_offset})")
            log.truncate_to(cut.offset)
            return
        if data.records:
            try:
                log.append_as_follower(data.records, max_epoch=max_epoch)
            except CorruptBatch as error:
                self._context.outbox.note(f"{tp} unreadable batch from broker {fetcher.broker_id}: {error}")
                self._pause(now, fetcher, following)
                return
        log.update_high_watermark(min(data.high_watermark, log.log_end_offset))
        if data.log_start_offset > log.log_start_offset:
            log.advance_log_start(min(data.log_start_offset, log.log_end_offset))
        following.mirror_epoch = data.mirror_leader_epoch

    def _on_error(
        self, now: Instant, fetcher: Fetcher, tp: TopicPartition, following: Following, error: ErrorCode
    ) -> None:
        if error is ErrorCode.OFFSET_OUT_OF_RANGE:
            self._resolve_range(now, fetcher, tp, following, OffsetSpec.LATEST)
            return
        # Everything else ends when the metadata log tells one of the two sides something new.
        self._pause(now, fetcher, following)

    def _pause(self, now: Instant, fetcher: Fetcher, following: Following) -> None:
        following.paused_until = now + self._context.configs.integer("replica.fetch.backoff.ms") * MILLISECOND
        self._context.outbox.set_timer((TIMER, fetcher.broker_id), following.paused_until)

    def _later(self, now: Instant, fetcher: Fetcher) -> None:
        backoff = self._context.configs.integer("replica.fetch.backoff.ms") * MILLISECOND
        self._context.outbox.set_timer((TIMER, fetcher.broker_id), now + backoff)

    # -- out of range -------------------------------------------------------------------------

    def _resolve_range(
        self, now: Instant, fetcher: Fetcher, tp: TopicPartition, following: Following, which: int
    ) -> None:
        """Ask the leader where its log ends (or begins), and go there."""
        following.resolving = True
        request = ListOffsetsRequest(
            replica_id=self._context.node_id,
            topics=[
                ListOffsetsTopic(
                    name=tp.topic,
                    partitions=[
                        ListOffsetsPartition(
                            partition_index=tp.partition, current_leader_epoch=following.leader_epoch, timestamp=which
                        )
                    ],
                )
            ],
        )

        def on_reply(later: Instant, reply: Message | None) -> None:
            if fetcher.partitions.get(tp) is not following:
                return
            following.resolving = False
            if not isinstance(reply, ListOffsetsResponse) or reply.topics[0].partitions[0].error_code:
                self._pause(later, fetcher, following)
                return
            self._on_range(later, fetcher, tp, following, which, reply.topics[0].partitions[0].offset)
            self._fetch(later, fetcher)

        self._context.requester.send(
            now,
            fetcher.endpoint,
            f"{fetcher.channel}-offsets",
            request,
            self._context.version_of(request),
            on_reply,
            timeout_ms=self._context.configs.integer("request.timeout.ms"),
        )

    def _on_range(
        self, now: Instant, fetcher: Fetcher, tp: TopicPartition, following: Following, which: int, offset: int
    ) -> None:
        log = self._replicas.partitions[tp].log
        if which == OffsetSpec.LATEST and offset < log.log_end_offset:
            self._context.outbox.note(f"{tp} follower cut at {offset} (was {log.log_end_offset}), out of range")
            log.truncate_to(offset)
        elif which == OffsetSpec.LATEST:
            self._resolve_range(now, fetcher, tp, following, OffsetSpec.EARLIEST)
        elif offset > log.log_end_offset:
            self._context.outbox.note(f"{tp} follower restarts at {offset} (was {log.log_end_offset})")
            log.truncate_fully_and_start_at(offset)
        else:  # In range, so what the leader does not know is our last epoch. It goes if it has no batch.
            before = log.latest_epoch
            log.truncate_to(log.log_end_offset)
            if log.latest_epoch == before:
                self._pause(now, fetcher, following)
