"""Requests of a group's members and operators to its coordinator, recorded in the account."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from kmirror.histories.group_account import GroupOffsets, OffsetDeletion, SentOffset
from kmirror.histories.positions import Position
from kmirror.histories.producing import Application, Producer
from kmirror.histories.scripts import Request, Script
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.java import partition_for
from kmirror.protocol.gen.delete_groups_request import DeleteGroupsRequest
from kmirror.protocol.gen.delete_groups_response import DeleteGroupsResponse
from kmirror.protocol.gen.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kmirror.protocol.gen.offset_commit_response import OffsetCommitResponse
from kmirror.protocol.gen.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kmirror.protocol.gen.offset_delete_response import OffsetDeleteResponse
from kmirror.protocol.gen.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestTopic
from kmirror.protocol.gen.offset_fetch_response import OffsetFetchResponse
from kmirror.protocol.gen.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kmirror.protocol.gen.txn_offset_commit_response import TxnOffsetCommitResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import GROUP_TOPIC
from kmirror.spec.version_limits import NAMED_TOPICS_LAST, ONE_GROUP_LAST, TRANSACTIONS_V1_LAST
from kmirror.spec.wire_values import CoordinatorType

STATIC_MEMBERS_MIN_VERSIONS = {"OffsetCommit": 7, "TxnOffsetCommit": 3}
"""First versions with static members; earlier versions of TxnOffsetCommit have no generation either."""
REQUIRE_STABLE_MIN_VERSION = 7
"""First version of OffsetFetch with `require_stable`."""
COORDINATOR_MOVED = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE)


@dataclass(frozen=True, slots=True)
class Sender:
    """Identity that a member puts into its requests."""

    member_id: str = ""
    instance: str = ""
    generation: int = -1


NO_MEMBER = Sender()


class GroupClient:
    """A process that sends requests to the coordinator of a group, in the cluster given with each request."""

    def __init__(self, application: Application, group: str, name: str) -> None:
        self.application = application
        self.group = group
        self.name = name
        """Name of the process; the prefix of its tokens."""
        self._coordinators: dict[str, Endpoint | None] = {}
        self._tokens = count()

    def serves(self, cluster: str, api: str, version: int) -> bool:
        """Return whether the cluster's brokers serve an API in this version."""
        return self.application.scene.last_version(cluster, api) >= version

    def send(
        self, cluster: str, request: Message, version_max: int | None = None, timeout_ms: int = 2_500
    ) -> Script[Message | None]:
        """Send a request to the coordinator once; return None if it is not known, or does not respond."""
        endpoint = self._coordinators.get(cluster)
        if endpoint is None:
            kind = CoordinatorType.GROUP
            endpoint = yield from self.application.find_coordinator(cluster, kind, self.group)
            self._coordinators[cluster] = endpoint
        if endpoint is None:
            return None
        reply = yield from self.application.send(Request(cluster, endpoint, request, version_max, timeout_ms))
        if reply is None:
            self.forget_coordinator(cluster)
        return reply

    def forget_coordinator(self, cluster: str, error: ErrorCode = ErrorCode.NOT_COORDINATOR) -> None:
        """Find the coordinator again before the next request, if the error says that it moved."""
        if error in COORDINATOR_MOVED:
            self._coordinators[cluster] = None

    def _leader(self, cluster: str) -> Endpoint | None:
        """Return the endpoint of the leader of the group's shard, according to the controller."""
        found = self.application.scene.clusters[cluster]
        topic = self.application.scene.image(cluster).topics.get(GROUP_TOPIC)
        if topic is None:
            return None
        leader = topic.partitions[partition_for(self.group, len(topic.partitions))].leader
        return found.endpoint(leader) if leader in found.broker_ids else None

    # -- reading ------------------------------------------------------------------------------

    def offsets(
        self, cluster: str, partitions: Sequence[TopicPartition] | None = None, *, stable: bool
    ) -> Script[dict[TopicPartition, Position] | None]:
        """Return the offsets that the group has committed for some partitions, or for all with an offset.

        Return None if they are not known now, or required but not stable. The account separates responses of the
        shard's leader from those of other brokers, as a deposed leader may have outdated offsets.
        """
        scene = self.application.scene
        stable = stable and self.serves(cluster, "OffsetFetch", REQUIRE_STABLE_MIN_VERSION)
        sent_at, leader = scene.now, self._leader(cluster)
        names = None if partitions is None else list(dict.fromkeys(tp.topic for tp in partitions))
        topics = None if names is None else [
            OffsetFetchRequestTopic(name, [tp.partition for tp in partitions or () if tp.topic == name])
            for name in names
        ]  # fmt: skip
        request = OffsetFetchRequest(group_id=self.group, topics=topics, require_stable=stable)
        reply = yield from self.send(cluster, request, ONE_GROUP_LAST[request.NAME])
        if not isinstance(reply, OffsetFetchResponse):
            return None
        if reply.error_code:
            self.forget_coordinator(cluster, ErrorCode(reply.error_code))
            return None
        found: dict[TopicPartition, Position] = {}
        offsets_by_partition: dict[TopicPartition, tuple[int, str]] = {}
        unstable = []
        for topic in reply.topics:
            for row in topic.partitions:
                tp = TopicPartition(topic.name, row.partition_index)
                if row.error_code:
                    unstable.append(tp)
                elif row.committed_offset >= 0:
                    found[tp] = Position(row.committed_offset, row.committed_leader_epoch)
                    offsets_by_partition[tp] = row.committed_offset, row.metadata or ""
        requested = None if partitions is None else tuple(partitions)
        response = GroupOffsets(
            self.group, cluster, requested, offsets_by_partition, tuple(unstable), stable, sent_at, scene.now
        )
        leads = leader is not None and leader == self._leader(cluster) == self._coordinators.get(cluster)
        (scene.account.groups.offsets if leads else scene.account.groups.deposed_responses).append(response)
        return None if unstable else found

    # -- committing ---------------------------------------------------------------------------

    def commit(
        self, cluster: str, positions: Mapping[TopicPartition, Position], sender: Sender = NO_MEMBER
    ) -> Script[tuple[ErrorCode | None, list[SentOffset]]]:
        """Send OffsetCommit once; return the worst error, or None without a response, and the recorded rows."""
        topics: dict[str, OffsetCommitRequestTopic] = {}
        rows = self._register_offsets(cluster, positions, sender, "")
        for row in rows:
            topics.setdefault(
                row.tp.topic, OffsetCommitRequestTopic(name=row.tp.topic, partitions=[])
            ).partitions.append(
                OffsetCommitRequestPartition(
                    partition_index=row.tp.partition,
                    committed_offset=row.offset,
                    committed_leader_epoch=positions[row.tp].epoch,
                    committed_metadata=row.token,
                )
            )
        request = OffsetCommitRequest(
            group_id=self.group,
            generation_id_or_member_epoch=sender.generation,
            member_id=sender.member_id,
            topics=list(topics.values()),
        )
        if sender.instance:
            request.group_instance_id = sender.instance
        reply = yield from self.send(cluster, request, NAMED_TOPICS_LAST[request.NAME])
        answer = reply if isinstance(reply, OffsetCommitResponse) else None
        return self._record_results(cluster, rows, answer), rows

    def commit_in_transaction(
        self, producer: Producer, positions: Mapping[TopicPartition, Position], sender: Sender
    ) -> Script[tuple[ErrorCode | None, list[SentOffset]]]:
        """Send TxnOffsetCommit once in the producer's transaction; return the same as `commit`."""
        cluster = producer.cluster
        if not self.serves(cluster, "TxnOffsetCommit", STATIC_MEMBERS_MIN_VERSIONS["TxnOffsetCommit"]):
            sender = NO_MEMBER
        assert producer.transaction is not None, "begun"
        rows = self._register_offsets(cluster, positions, sender, producer.transaction.key)
        topics: dict[str, TxnOffsetCommitRequestTopic] = {}
        for row in rows:
            topics.setdefault(
                row.tp.topic, TxnOffsetCommitRequestTopic(name=row.tp.topic, partitions=[])
            ).partitions.append(
                TxnOffsetCommitRequestPartition(
                    partition_index=row.tp.partition,
                    committed_offset=row.offset,
                    committed_leader_epoch=positions[row.tp].epoch,
                    committed_metadata=row.token,
                )
            )
        request = TxnOffsetCommitRequest(
            transactional_id=producer.transactional_id,
            group_id=self.group,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            generation_id=sender.generation,
            member_id=sender.member_id,
            group_instance_id=sender.instance or None,
            topics=list(topics.values()),
        )
        version_max = None if producer.bumps_epoch else TRANSACTIONS_V1_LAST[request.NAME]
        reply = yield from self.send(cluster, request, version_max)
        answer = reply if isinstance(reply, TxnOffsetCommitResponse) else None
        return self._record_results(cluster, rows, answer), rows

    def _register_offsets(
        self, cluster: str, positions: Mapping[TopicPartition, Position], sender: Sender, transaction: str
    ) -> list[SentOffset]:
        scene = self.application.scene
        rows = []
        for tp, position in positions.items():
            token = f"{self.name}#{next(self._tokens)}"
            row = SentOffset(
                token,
                self.group,
                cluster,
                tp,
                position.offset,
                sender.member_id,
                sender.instance,
                sender.generation,
                transaction,
                scene.now,
            )
            scene.account.groups.sent_offsets[token] = row
            rows.append(row)
        return rows

    def _record_results(
        self, cluster: str, rows: Iterable[SentOffset], reply: OffsetCommitResponse | TxnOffsetCommitResponse | None
    ) -> ErrorCode | None:
        if reply is None:
            return None
        errors = {
            TopicPartition(topic.name, row.partition_index): ErrorCode(row.error_code)
            for topic in reply.topics
            for row in topic.partitions
        }
        for row in rows:
            row.answered_at, row.error = self.application.scene.now, errors[row.tp].name
        worst = max(errors.values(), default=ErrorCode.NONE)
        self.forget_coordinator(cluster, worst)
        return worst

    # -- deleting -----------------------------------------------------------------------------

    def delete(self, cluster: str, tp: TopicPartition | None) -> Script[None]:
        """Delete the group's offset of one partition, or the whole group; the broker refuses while it is in use."""
        scene = self.application.scene
        sent_at = scene.now
        request: Message = DeleteGroupsRequest(groups_names=[self.group])
        if tp is not None:
            topic = OffsetDeleteRequestTopic(tp.topic, [OffsetDeleteRequestPartition(tp.partition)])
            request = OffsetDeleteRequest(self.group, [topic])
        reply = yield from self.send(cluster, request)
        codes = [0]
        if isinstance(reply, DeleteGroupsResponse):
            codes = [row.error_code for row in reply.results]
        elif isinstance(reply, OffsetDeleteResponse):
            codes = [reply.error_code, *(row.error_code for topic in reply.topics for row in topic.partitions)]
        error = ErrorCode(max(codes))
        self.forget_coordinator(cluster, error)
        if not error or error.retriable:
            answered_at = scene.now if reply is not None and not error else -1
            scene.account.groups.deletions.append(OffsetDeletion(self.group, cluster, tp, sent_at, answered_at))
