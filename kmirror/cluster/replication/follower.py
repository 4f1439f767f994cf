"""Following: what a broker fetches from the leaders of the partitions that it does not lead.

One fetcher for each leader broker, one fetch in flight in each, in an incremental session. A fetch
names the epoch of the last batch held, so the leader can answer with a divergence; the log is cut
and the next fetch asks again. Batches are validated against the leader epoch that the *request*
named, so that an answer from an earlier reign cannot slip in (KAFKA-18723); for a log that carries
a source cluster's epochs, MirrorLeaderEpoch takes that part (D13).
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.client.fetch_loop import FETCH, Fetcher, FetchLoop
from kmirror.client.requester import OnReply
from kmirror.cluster.broker.context import BrokerContext
from kmirror.cluster.broker.lifecycle import Lifecycle
from kmirror.cluster.replication.replicas import ReplicaManager
from kmirror.cluster.replication.truncation import cut_for_divergence, last_epoch
from kmirror.errors import CorruptBatch
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.partition_log import PartitionLog
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, ReplicaState
from kmirror.protocol.gen.fetch_response import PartitionData
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

TIMER = "follow"


@dataclass(slots=True)
class Following:
    """How far one followed partition is with its leader."""

    tp: TopicPartition
    topic_id: Uuid
    leader_epoch: int
    mirror_epoch: int = -1
    answered: bool = False
    """Has the leader said what `mirror_epoch` is?"""
    paused_until: Instant = 0
    resolving: bool = False


class ReplicaFetchers:
    """All fetchers of one broker."""

    def __init__(self, context: BrokerContext, lifecycle: Lifecycle, replicas: ReplicaManager) -> None:
        self._context = context
        self._lifecycle = lifecycle
        self._replicas = replicas
        self._loop = FetchLoop(self, context.outbox, lambda: context.configs, (TIMER,))
        self.replica_id = context.node_id

    def assign(self, now: Instant, tp: TopicPartition) -> None:
        """Follow the leader that the image names for `tp`, or nobody."""
        partition = self._replicas.partitions.get(tp)
        known = self._loop.find(tp)
        if known is not None and (
            partition is None
            or known[0].key != (partition.image.leader,)
            or (known[1].topic_id, known[1].leader_epoch) != (partition.topic_id, partition.leader_epoch)
        ):
            self._loop.remove(tp)
            known = None
        if partition is None or partition.is_leader or partition.image.leader < 0:
            return
        endpoint = self._context.image.endpoint(partition.image.leader)
        if endpoint is None:
            return
        if known is not None and known[0].endpoint == endpoint:
            following = known[1]
        else:
            following = Following(tp, partition.topic_id, partition.leader_epoch)
        self._loop.assign(now, (partition.image.leader,), endpoint, following)

    def knows_local_epochs(self, tp: TopicPartition) -> bool:
        """Return whether the leader of `tp` has said that this cluster's epochs go on in its log (D13)."""
        known = self._loop.find(tp)
        return known is not None and known[1].answered and known[1].mirror_epoch < 0

    def go_on(self, now: Instant, tp: TopicPartition) -> None:
        """Fetch again what was not fetched because a flush was due."""
        known = self._loop.find(tp)
        if known is not None:
            self._loop.on_timer(now, known[0].key)

    def on_brokers(self, now: Instant) -> None:
        """Brokers came or went: follow them under their present endpoints."""
        for partition in self._replicas.partitions.values():
            if not partition.is_leader and partition.image.leader >= 0:
                self.assign(now, partition.tp)

    def on_timer(self, now: Instant, broker_id: int) -> None:
        self._loop.on_timer(now, (broker_id,))

    # -- asking -------------------------------------------------------------------------------

    def may_ask(self, fetcher: Fetcher[Following]) -> bool:
        """Return True: a broker of our cluster may always be asked."""
        return True

    def send(
        self, now: Instant, fetcher: Fetcher[Following], purpose: str, request: Message, on_reply: OnReply
    ) -> None:
        """Send to the leader, on a link of its own for each purpose."""
        channel = f"follow-{fetcher.key[0]}"
        self._context.requester.send(
            now,
            fetcher.endpoint,
            channel if purpose == FETCH else f"{channel}-{purpose}",
            request,
            self._context.version_of(request),
            on_reply,
            timeout_ms=self._context.configs.integer("request.timeout.ms"),
        )

    def prepare(self, request: FetchRequest) -> None:
        """Fetch as a replica, in the present incarnation of this broker."""
        request.replica_state = ReplicaState(replica_id=self._context.node_id, replica_epoch=self._lifecycle.epoch)

    def position(self, now: Instant, following: Following) -> FetchPartition | None:
        """Return the log end and the epoch of the last batch; None while what a fetch would confirm is not flushed."""
        log = self.log_of(following)
        if log.is_flush_due:
            return None
        return FetchPartition(
            partition=following.tp.partition,
            current_leader_epoch=following.leader_epoch,
            fetch_offset=log.log_end_offset,
            last_fetched_epoch=last_epoch(log),
            log_start_offset=log.log_start_offset,
            partition_max_bytes=self._context.configs.integer("replica.fetch.max.bytes"),
            high_watermark=log.high_watermark,
            mirror_leader_epoch=following.mirror_epoch,
        )

    def topic_id(self, following: Following) -> Uuid:
        """Return the id of the topic."""
        return following.topic_id

    def leader_epoch(self, following: Following) -> int:
        """Return the epoch that is followed."""
        return following.leader_epoch

    def log_of(self, following: Following) -> PartitionLog:
        """Return the log that follows; a partition that is followed has one."""
        return self._replicas.partitions[following.tp].log

    # -- answers ------------------------------------------------------------------------------

    def on_records(
        self,
        now: Instant,
        fetcher: Fetcher[Following],
        following: Following,
        asked: FetchPartition,
        data: PartitionData,
    ) -> None:
        """Append, and take over the leader's high watermark and log start."""
        log = self.log_of(following)
        if data.records:
            max_epoch = asked.mirror_leader_epoch if asked.mirror_leader_epoch >= 0 else asked.current_leader_epoch
            try:
                log.append_as_follower(data.records, max_epoch=max_epoch)
                self._replicas.grew(following.tp)
            except CorruptBatch as error:
                self._context.outbox.note(f"{following.tp} unreadable batch from broker {fetcher.key[0]}: {error}")
                self._loop.pause(now, fetcher, following)
                return
        log.update_high_watermark(min(data.high_watermark, log.log_end_offset))
        if data.log_start_offset > log.log_start_offset:
            log.advance_log_start(min(data.log_start_offset, log.log_end_offset))
        following.mirror_epoch, following.answered = data.mirror_leader_epoch, True

    def on_diverged(
        self,
        now: Instant,
        fetcher: Fetcher[Following],
        following: Following,
        asked: FetchPartition,
        data: PartitionData,
    ) -> None:
        """Cut to where the two histories meet; the next fetch asks again."""
        log = self.log_of(following)
        end = cut_for_divergence(log, data.diverging_epoch.epoch, data.diverging_epoch.end_offset)
        self._context.outbox.note(f"{following.tp} follower cut at {end.offset} (was {log.log_end_offset})")
        log.truncate_to(end.offset)

    def on_error(self, now: Instant, fetcher: Fetcher[Following], following: Following, error: ErrorCode) -> None:
        """Do nothing: every error ends when the metadata log tells one of the two sides something new."""

    def on_unheard(self, fetcher: Fetcher[Following]) -> None:
        """Do nothing: whoever follows again has another epoch, which the leader is told as a change."""

    def on_lost(self, now: Instant, fetcher: Fetcher[Following]) -> bool:
        """Return True: ask again, the metadata log tells when the leader is another one."""
        return True

    def on_no_offset(self, now: Instant, fetcher: Fetcher[Following]) -> None:
        """Do nothing, for the same reason."""

    # -- out of range -------------------------------------------------------------------------

    def on_shorter(self, now: Instant, following: Following, offset: int) -> None:
        """Cut where the leader's log ends."""
        log = self.log_of(following)
        self._context.outbox.note(f"{following.tp} follower cut at {offset} (was {log.log_end_offset}), out of range")
        log.truncate_to(offset)

    def on_later_start(self, now: Instant, following: Following, offset: int) -> None:
        """Begin anew where the leader's log begins."""
        log = self.log_of(following)
        self._context.outbox.note(f"{following.tp} follower restarts at {offset} (was {log.log_end_offset})")
        log.truncate_fully_and_start_at(offset)

    def drop_unknown_epoch(self, now: Instant, following: Following) -> bool:
        """Drop our last epoch if it has no batch; return whether it had none."""
        log = self.log_of(following)
        before = log.latest_epoch
        log.truncate_to(log.log_end_offset)
        return log.latest_epoch != before
