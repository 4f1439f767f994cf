"""Raw requests about committed offsets, in any version, to the coordinator of a group; responses as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.coordinators.groups.offsets import Offsets
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.java import partition_for
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kmirror.protocol.gen.add_offsets_to_txn_response import AddOffsetsToTxnResponse
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.end_txn_response import EndTxnResponse
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.find_coordinator_response import FindCoordinatorResponse
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
from kmirror.protocol.gen.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kmirror.protocol.gen.offset_fetch_response import OffsetFetchResponse
from kmirror.protocol.gen.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kmirror.protocol.gen.txn_offset_commit_response import TxnOffsetCommitResponse
from kmirror.protocol.message import Message
from kmirror.sim.client import Client
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import GROUP_TOPIC, TRANSACTION_TOPIC
from kmirror.spec.wire_values import CoordinatorType
from tests.sim.stage import ONE_BROKER, SMALL, TOPIC, TP, StagedCluster

GROUP = "g"
SECOND = TopicPartition(TOPIC, 1)
OTHER = TopicPartition("payments", 0)


class Found(NamedTuple):
    """Row of an OffsetFetch response for one partition."""

    offset: int
    leader_epoch: int = -1
    metadata: str | None = ""
    error: ErrorCode = ErrorCode.NONE


NOTHING = Found(-1)


class Unanswered(Exception):
    """A request was lost, or its response."""


class OffsetRequests:
    """Sends requests of one group to a cluster; about the offset of TP by default."""

    def __init__(self, cluster: StagedCluster, group: str = GROUP) -> None:
        self.cluster = cluster
        self.group = group

    # -- the group's coordinator --------------------------------------------------------------

    def create(self) -> None:
        """Create `__consumer_offsets` by the first search for a coordinator."""
        self.cluster.simulation.run_until(lambda: not self.find(), what="a coordinator of groups")
        self.cluster.simulation.run_until(self.cluster.is_settled, what="replicas of the offsets")

    def find(self) -> ErrorCode:
        """Find the coordinator; return the error."""
        request = FindCoordinatorRequest(key_type=CoordinatorType.GROUP, coordinator_keys=[self.group])
        reply = self.cluster.client.call(self.cluster.endpoints()[0], request, 6)
        assert isinstance(reply, FindCoordinatorResponse)
        self.cluster.simulation.run_for(span_s=0.1)
        return ErrorCode(reply.coordinators[0].error_code)

    @property
    def shard(self) -> TopicPartition:
        count = len(self.cluster.image.topics[GROUP_TOPIC].partitions)
        return TopicPartition(GROUP_TOPIC, partition_for(self.group, count))

    @property
    def offsets(self) -> Offsets:
        """The coordinator's state."""
        leader = self.cluster.await_leader(self.shard).broker_id
        return (
            self.cluster.broker(leader)
            .parts.components.get(GroupCoordinator)
            .runtime.led_states()[self.shard.partition]
            .offsets
        )

    def call(self, request: Message, version: int, broker_id: int | None = None) -> Message:
        """Send a request to the coordinator, or to a certain broker."""
        broker_id = self.cluster.await_leader(self.shard).broker_id if broker_id is None else broker_id
        reply = self.cluster.client.call(self.cluster.endpoint(broker_id), request, version)
        if reply is None:
            raise Unanswered
        return reply

    def topic_id(self, topic: str) -> Uuid:
        known = self.cluster.image.topics.get(topic)
        return Uuid.from_ints(8, 8) if known is None else known.topic_id

    def move(self) -> None:
        """Kill the coordinator, and wait until another broker has taken over."""
        self.cluster.elect(self.shard)
        self.cluster.simulation.run_until(lambda: not self.get().error, what="a loaded shard")

    # -- requests -----------------------------------------------------------------------------

    def commit(
        self,
        offset: int,
        *,
        version: int = 9,
        tp: TopicPartition = TP,
        epoch: int = -1,
        metadata: str | None = "",
        member: str = "",
        instance: str | None = None,
        generation: int = -1,
        retention_ms: int = -1,
        broker_id: int | None = None,
    ) -> ErrorCode:
        row = OffsetCommitRequestPartition(tp.partition, offset, epoch, metadata)
        reply = self.call(self._commit(tp, row, member, instance, generation, retention_ms), version, broker_id)
        assert isinstance(reply, OffsetCommitResponse)
        ((row,),) = [answer.partitions for answer in reply.topics]
        return ErrorCode(row.error_code)

    def begin_commit(self, offset: int, answers: list[object]) -> None:
        """Commit without waiting; `answers` receives the response."""
        request = self._commit(TP, OffsetCommitRequestPartition(TP.partition, offset, -1, ""), "", None, -1, -1)
        self.begin(request, 9, answers)

    def begin(self, request: Message, version: int, answers: list[object]) -> None:
        """Send a request to the coordinator on a separate link, without waiting; `answers` receives the response."""
        world = self.cluster.simulation.world
        client = Client(world, f"{self.cluster.name}-aside-{len(world.processes)}", self.cluster.name)
        leader = self.cluster.await_leader(self.shard).broker_id
        client.send(self.cluster.endpoint(leader), request, answers.append, version=version)

    def _commit(
        self,
        tp: TopicPartition,
        row: OffsetCommitRequestPartition,
        member: str,
        instance: str | None,
        generation: int,
        retention_ms: int,
    ) -> OffsetCommitRequest:
        topic = OffsetCommitRequestTopic(name=tp.topic, topic_id=self.topic_id(tp.topic), partitions=[row])
        return OffsetCommitRequest(self.group, generation, member, instance, retention_ms, [topic])

    def fetch(
        self, *tps: TopicPartition, version: int = 9, stable: bool = False, broker_id: int | None = None
    ) -> dict[TopicPartition, Found]:
        """Fetch the offsets of these partitions, or of all."""
        topics: dict[str, list[int]] = {}
        for tp in tps:
            topics.setdefault(tp.topic, []).append(tp.partition)
        request = OffsetFetchRequest(require_stable=stable)
        if version < 8:
            request.group_id = self.group
            request.topics = [OffsetFetchRequestTopic(name, rows) for name, rows in topics.items()] or None
        else:
            asked = [OffsetFetchRequestTopics(name, self.topic_id(name), rows) for name, rows in topics.items()]
            request.groups = [OffsetFetchRequestGroup(group_id=self.group, topics=asked or None)]
        reply = self.call(request, version, broker_id)
        assert isinstance(reply, OffsetFetchResponse)
        return self._found(reply, version)

    def _found(self, reply: OffsetFetchResponse, version: int) -> dict[TopicPartition, Found]:
        error = reply.error_code if version < 8 else reply.groups[0].error_code
        if error:
            return {TP: Found(-1, error=ErrorCode(error))}
        names = self.cluster.image.topics.names
        found = {}
        for topic in reply.topics if version < 8 else reply.groups[0].topics:
            name = names.get(topic.topic_id, "?") if version >= 10 else topic.name  # type: ignore[union-attr]
            for row in topic.partitions:
                told = Found(row.committed_offset, row.committed_leader_epoch, row.metadata, ErrorCode(row.error_code))
                found[TopicPartition(name, row.partition_index)] = told
        return found

    def get(self, *, stable: bool = False) -> Found:
        """Return the committed offset of TP."""
        return self.fetch(TP, stable=stable)[TP]

    def delete(self, *tps: TopicPartition) -> dict[TopicPartition, ErrorCode] | ErrorCode:
        topics = [OffsetDeleteRequestTopic(tp.topic, [OffsetDeleteRequestPartition(tp.partition)]) for tp in tps]
        reply = self.call(OffsetDeleteRequest(self.group, topics), 0)
        assert isinstance(reply, OffsetDeleteResponse)
        if reply.error_code:
            return ErrorCode(reply.error_code)
        return {
            TopicPartition(topic.name, row.partition_index): ErrorCode(row.error_code)
            for topic in reply.topics
            for row in topic.partitions
        }

    # -- in a transaction ---------------------------------------------------------------------

    def add_to(self, producer: Producer, name: str = "t", *, version: int = 3) -> ErrorCode:
        request = AddOffsetsToTxnRequest(name, producer.producer_id, producer.producer_epoch, self.group)
        reply = self.call(request, version, self._transactions(name))
        assert isinstance(reply, AddOffsetsToTxnResponse)
        return ErrorCode(reply.error_code)

    def commit_in(
        self,
        producer: Producer,
        offset: int,
        name: str = "t",
        *,
        version: int = 3,
        tps: Sequence[TopicPartition] = (TP,),
        member: str = "",
        generation: int = -1,
        metadata: str | None = "",
        epoch: int | None = None,
        broker_id: int | None = None,
    ) -> ErrorCode:
        """Commit in a transaction; return the error, which is the same for each partition."""
        topics: dict[str, TxnOffsetCommitRequestTopic] = {}
        for tp in tps:
            topic = topics.setdefault(tp.topic, TxnOffsetCommitRequestTopic(tp.topic, []))
            topic.partitions.append(TxnOffsetCommitRequestPartition(tp.partition, offset, -1, metadata))
        request = TxnOffsetCommitRequest(
            transactional_id=name,
            group_id=self.group,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch if epoch is None else epoch,
            generation_id=generation,
            member_id=member,
            topics=list(topics.values()),
        )
        reply = self.call(request, version, broker_id)
        assert isinstance(reply, TxnOffsetCommitResponse)
        (error,) = {row.error_code for answer in reply.topics for row in answer.partitions}
        return ErrorCode(error)

    def end(self, producer: Producer, name: str = "t", *, commit: bool) -> None:
        """End the transaction; its markers follow."""
        request = EndTxnRequest(name, producer.producer_id, producer.producer_epoch, commit)
        reply = self.call(request, 3, self._transactions(name))
        assert isinstance(reply, EndTxnResponse) and not reply.error_code, reply

    def settled(self) -> None:
        """Wait until nothing is pending for the group."""
        self.cluster.simulation.run_until(lambda: not self.offsets.has_pending(self.group), what="the markers")
        self.cluster.simulation.run_until(
            lambda: (log := self.cluster.log(self.shard)).high_watermark == log.log_end_offset, what="replication"
        )

    def _transactions(self, name: str) -> int:
        count = len(self.cluster.image.topics[TRANSACTION_TOPIC].partitions)
        return self.cluster.await_leader(TopicPartition(TRANSACTION_TOPIC, partition_for(name, count))).broker_id


def running(brokers: int = 3, **configs: str) -> OffsetRequests:
    """Return the requests of a group to a cluster with TP, SECOND and OTHER, whose topic of offsets exists."""
    base = ONE_BROKER if brokers == 1 else SMALL
    cluster = StagedCluster(Simulation(5), "a", brokers=brokers, configs={**base, **configs})
    cluster.start()
    replicas = tuple(range(1, brokers + 1))
    cluster.place_topic(replicas=[replicas] * 2)
    cluster.place_topic(OTHER.topic, replicas=[replicas])
    requests = OffsetRequests(cluster)
    requests.create()
    return requests


def offsets_of(found: Mapping[TopicPartition, Found]) -> dict[TopicPartition, int]:
    return {tp: row.offset for tp, row in found.items()}
