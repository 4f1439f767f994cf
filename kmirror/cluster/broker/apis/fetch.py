"""Fetch, versions 4-19.

Serves followers (replica id >= 0) and consumers (-1), with sessions from v7 on, topic ids from v13
on, divergence on fetch from v12 on (KIP-595), the follower's high watermark in v18 (KIP-1166) and
MirrorLeaderEpoch in v19 (D13).

A fetch waits until min_bytes are there, max_wait_ms is over, or there is something that cannot wait:
an error, a divergence, or a high watermark that the follower does not know yet.
A follower must be allowed CLUSTER_ACTION on the cluster, anybody else READ on each topic.
Left out: preferred read replicas (KIP-392), quotas, tiered storage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kmirror.cluster.authorizer import CLUSTER
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.replication.fetch_read import CONSUMER, Reader, failed, read_partition
from kmirror.cluster.replication.fetch_sessions import NO_SESSION, Key, Session, knows_too_low
from kmirror.cluster.replication.partition import UNKNOWN_EPOCH, UNKNOWN_OFFSET, Partition
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest
from kmirror.protocol.gen.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation, IsolationLevel

TOPIC_IDS_FROM = 13
CURRENT_LEADER_FROM = 16
"""First version in which an error names the present leader (KIP-951)."""


def handle(parts: BrokerParts, now: Instant, inbound: Inbound) -> None:
    """Answer at once or park the fetch; session errors stand at the top of the answer, others at the partition."""
    request = inbound.body
    assert isinstance(request, FetchRequest)
    error, session, asked = parts.sessions.resolve(request, topic_ids=inbound.version >= TOPIC_IDS_FROM)
    if error:
        inbound.reply(FetchResponse(error_code=error, session_id=NO_SESSION))
        return
    _Fetch(parts, inbound, request, session, asked).start(now)


class _Fetch:
    """One fetch from arrival to answer; its partitions may be read several times before it is answered."""

    def __init__(
        self,
        parts: BrokerParts,
        inbound: Inbound,
        request: FetchRequest,
        session: Session | None,
        asked: dict[Key, FetchPartition],
    ) -> None:
        replica = request.replica_state.replica_id if inbound.version >= 15 else request.replica_id
        self.parts = parts
        self.inbound = inbound
        self.request = request
        self.session = session
        self.asked = asked
        self.names: dict[Key, TopicPartition | None] = {}
        self.denied: dict[Key, ErrorCode] = {}
        """What may not be fetched by whoever asks, and why."""
        self.waiting: dict[TopicPartition, Key] = {}
        self.sizes: dict[Key, int] = {}
        self.reader = Reader(replica, request.isolation_level == IsolationLevel.READ_COMMITTED and replica == CONSUMER)

    def start(self, now: Instant) -> None:
        """Take over what a follower's fetch offsets say, then answer or park the fetch."""
        self.names = {key: self._name(key) for key in self.asked}
        self.denied = self._denied()
        if self.reader.is_follower and not self.denied:
            self._learn_follower(now)
        at_once = self.request.max_wait_ms <= 0 or not self.asked
        if self._is_ready(self.asked) or at_once:
            self._answer()
            return
        self.waiting = {tp: key for key, tp in self.names.items() if tp is not None}
        self.parts.replicas.park(now, self.waiting, self.request.max_wait_ms, self._attempt)

    def _attempt(self, now: Instant, moved: Collection[TopicPartition] | None) -> bool:
        """Answer if the time is up, or there is enough after these partitions moved; return whether it was answered."""
        try:
            if moved is not None and not self._is_ready([self.waiting[tp] for tp in moved]):
                return False
            self._answer()
        except Exception as error:
            self.inbound.failed(error)
        return True

    def _name(self, key: Key) -> TopicPartition | None:
        topic, topic_id, index = key
        if self.inbound.version >= TOPIC_IDS_FROM:
            found = self.parts.context.image.topic_names.get(topic_id)
            return None if found is None else TopicPartition(found, index)
        return TopicPartition(topic, index)

    def _denied(self) -> dict[Key, ErrorCode]:
        rights = self.inbound.rights
        if self.reader.is_follower:
            allowed = rights.allow(AclOperation.CLUSTER_ACTION, CLUSTER)
            return {} if allowed else dict.fromkeys(self.asked, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        named = {key: tp.topic for key, tp in self.names.items() if tp is not None}
        denied = rights.denied_topics(AclOperation.READ, named.values())
        return {key: denied[topic] for key, topic in named.items() if topic in denied}

    def _led(self, key: Key) -> Partition | None:
        tp = self.names[key]
        return None if tp is None else self.parts.replicas.led(tp)

    def _learn_follower(self, now: Instant) -> None:
        """Take over a follower's fetch offsets as its log ends; a fetch that gets an error or a divergence is none."""
        epoch = self.request.replica_state.replica_epoch if self.inbound.version >= 15 else UNKNOWN_EPOCH
        for key, wanted in self.asked.items():
            tp = self.names[key]
            partition = None if tp is None else self.parts.replicas.led(tp)
            if partition is None or tp is None or self.reader.replica_id not in partition.followers:
                continue
            foreign = self.parts.components.foreign_epochs(partition)
            seen = read_partition(partition, wanted, self.reader, max_bytes=0, min_one=False, foreign=foreign)
            if seen.error_code or seen.diverging_epoch.epoch != -1:
                continue
            partition.on_follower_fetch(now, self.reader.replica_id, wanted.fetch_offset, broker_epoch=epoch)
            if partition.must_cut.pop(self.reader.replica_id, None) is not None:
                self.parts.components.on_cut_confirmed(now, tp)
            if not self.parts.components.withholds(partition):
                self.parts.isr.maybe_expand(now, partition, self.reader.replica_id)
            partition.advance_high_watermark()
            self.parts.replicas.touch(tp)

    def _is_ready(self, keys: Iterable[Key]) -> bool:
        """Read some partitions again; return whether there are enough bytes now, or something that cannot wait."""
        ready = False
        for key in keys:
            wanted = self.asked[key]
            data = self._read(key, wanted, wanted.partition_max_bytes, min_one=True)
            self.sizes[key] = len(data.records or b"")
            ready = ready or self._is_urgent(key, wanted, data)
        return ready or sum(self.sizes.values()) >= self.request.min_bytes

    def _is_urgent(self, key: Key, wanted: FetchPartition, data: PartitionData) -> bool:
        if data.error_code == ErrorCode.OFFSET_NOT_AVAILABLE:
            return False  # The fetch waits until the records may be served.
        if data.error_code or data.diverging_epoch.epoch != -1:
            return True
        return self.reader.is_follower and (knows_too_low(wanted, data) or self._is_overtaken_by_cut(key))

    def _is_overtaken_by_cut(self, key: Key) -> bool:
        """Return whether the leader's log was cut after this fetch arrived, so that the follower must fetch again."""
        partition = self._led(key)
        follower = None if partition is None else partition.followers.get(self.reader.replica_id)
        return follower is not None and follower.log_end == UNKNOWN_OFFSET

    def _read(self, key: Key, wanted: FetchPartition, max_bytes: int, *, min_one: bool) -> PartitionData:
        data = self._read_led(key, wanted, max_bytes, min_one=min_one)
        tp = self.names[key]
        partition = None if tp is None else self.parts.replicas.partitions.get(tp)
        elsewhere = data.error_code in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
        if elsewhere and partition is not None and self.inbound.version >= CURRENT_LEADER_FROM:
            data.current_leader = LeaderIdAndEpoch(
                leader_id=partition.image.leader, leader_epoch=partition.leader_epoch
            )
        return data

    def _read_led(self, key: Key, wanted: FetchPartition, max_bytes: int, *, min_one: bool) -> PartitionData:
        if key in self.denied:
            return failed(wanted.partition, self.denied[key])
        tp = self.names[key]
        if tp is None:
            return failed(wanted.partition, ErrorCode.UNKNOWN_TOPIC_ID)
        partition = self.parts.replicas.partitions.get(tp)
        if partition is None:
            known = self.parts.context.image.partition(tp) is not None
            missing = ErrorCode.NOT_LEADER_OR_FOLLOWER if known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            return failed(wanted.partition, missing)
        if not partition.is_leader:
            return failed(wanted.partition, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if self.reader.is_follower and self.reader.replica_id not in partition.followers:
            return failed(wanted.partition, ErrorCode.UNKNOWN_LEADER_EPOCH)
        if self.parts.components.withholds(partition):
            return failed(wanted.partition, ErrorCode.OFFSET_NOT_AVAILABLE)
        foreign = self.parts.components.foreign_epochs(partition)
        return read_partition(partition, wanted, self.reader, max_bytes=max_bytes, min_one=min_one, foreign=foreign)

    def _answer(self) -> None:
        answers: dict[Key, PartitionData] = {}
        left = self.request.max_bytes
        for key, wanted in self.asked.items():
            # The first partition with records may exceed the limit by one batch, so that every fetch makes progress.
            first = left == self.request.max_bytes
            answers[key] = self._read(key, wanted, min(left, wanted.partition_max_bytes), min_one=first)
            left = max(0, left - len(answers[key].records or b""))
        if self.session is not None:
            first = self.request.session_epoch == 0
            for key in list(answers):
                cached = self.session.partitions.get(key)
                if cached is None:
                    continue
                if answers[key].error_code == ErrorCode.OFFSET_NOT_AVAILABLE and not first:
                    del answers[key]  # There is no answer yet; an error would make the fetcher pause.
                    continue
                news = first or cached.has_news(answers[key])
                cached.remember(answers[key])
                if answers[key].records:  # The other partitions are served first next time (KIP-227).
                    self.session.partitions[key] = self.session.partitions.pop(key)
                if not news:
                    del answers[key]
        topics: dict[tuple[str, Uuid], list[PartitionData]] = {}
        for (topic, topic_id, _), data in answers.items():
            topics.setdefault((topic, topic_id), []).append(data)
        self.inbound.reply(
            FetchResponse(
                session_id=NO_SESSION if self.session is None else self.session.session_id,
                responses=[
                    FetchableTopicResponse(topic=topic, topic_id=topic_id, partitions=partitions)
                    for (topic, topic_id), partitions in topics.items()
                ],
            )
        )
