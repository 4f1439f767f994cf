"""How does a consumer read on through it all? With a kept position, and Kafka's check whether the log was cut.

A position is an offset and the leader epoch of the last batch read. When the leader epoch changes, or the
application turns to another cluster, the leader is asked where that epoch ends (KIP-320): below the position means
that the log was cut, and the consumer goes back to there. Where nothing is known, `auto.offset.reset` is earliest.

With the option `group` it commits its positions for that group, of which it is no member.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.gen.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kmirror.protocol.gen.offset_commit_response import OffsetCommitResponse
from kmirror.protocol.gen.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kmirror.protocol.gen.offset_for_leader_epoch_response import OffsetForLeaderEpochResponse
from kmirror.records.batch import iter_batches
from kmirror.sim.history.account import Marks, Read
from kmirror.sim.history.directory import Leader
from kmirror.sim.history.producing import Desk
from kmirror.sim.history.scripts import Ask, Script
from kmirror.sim.history.values import ValueReader, ValueRow
from kmirror.spec.client_versions import NAMED_TOPICS_LAST
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import CoordinatorType, IsolationLevel, OffsetSpec

BYTES_MAX = 1 << 20


@dataclass(slots=True)
class Position:
    offset: int = 0
    epoch: int = -1
    """Of the last batch read; -1 before the first."""
    checked: tuple[str, int] = ("", -1)
    """Cluster and leader epoch for which the position is known to be in the log."""
    known: Marks | None = None
    """What the last answer said; only what changed is written down."""


class Consumer:
    """Reads every partition of its topics at the cluster where its application is."""

    def __init__(self, desk: Desk, *, committed_only: bool) -> None:
        self.desk = desk
        self.committed_only = committed_only
        self.positions: dict[TopicPartition, Position] = {}
        self._reader = ValueReader()
        self._group = str(desk.plan.options.get("group", ""))
        """For which it commits; empty if for none."""
        self._committed: dict[tuple[str, TopicPartition], tuple[int, int]] = {}
        """By cluster and partition the offset and leader epoch that were committed last."""

    def run(self) -> Script[None]:
        """Read until the history ends, turning to another cluster as the plan says; yields what it waits for."""
        scene = self.desk.scene
        while scene.reading:
            cluster = self.desk.cluster
            yield from self.read(cluster, self.desk.partitions())
            if self._group:
                yield from self._commit(cluster)
            yield self.desk.pause()

    def read(self, cluster: str, partitions: Iterable[TopicPartition]) -> Script[None]:
        """Fetch once from each leader of the partitions, and take what comes."""
        directory = self.desk.scene.directories[cluster]
        by_leader: dict[Endpoint, list[tuple[TopicPartition, Leader]]] = {}
        for tp in partitions:
            leader = directory.leader(tp)
            if leader is not None:
                by_leader.setdefault(leader.endpoint, []).append((tp, leader))
        for endpoint, led in by_leader.items():
            ready = []
            for tp, leader in led:
                valid = yield from self._validate(cluster, tp, leader)
                if valid:
                    ready.append((tp, leader))
            if ready:
                yield from self._fetch(cluster, endpoint, ready)

    def given(self, tp: TopicPartition, row: ValueRow) -> None:
        """Take a record that the application is given."""

    def _commit(self, cluster: str) -> Script[None]:
        """Commit the positions that have moved since they were committed in this cluster, as nobody's member."""
        moved = {
            tp: (position.offset, position.epoch)
            for tp, position in self.positions.items()
            if position.epoch >= 0 and self._committed.get((cluster, tp)) != (position.offset, position.epoch)
        }
        if not moved:
            return
        topics: dict[str, OffsetCommitRequestTopic] = {}
        for tp, (offset, epoch) in moved.items():
            row = OffsetCommitRequestPartition(
                partition_index=tp.partition,
                committed_offset=offset,
                committed_leader_epoch=epoch,
                committed_metadata=self.desk.plan.name,
            )
            topics.setdefault(tp.topic, OffsetCommitRequestTopic(name=tp.topic, partitions=[])).partitions.append(row)
        endpoint = yield from self.desk.find_coordinator(cluster, CoordinatorType.GROUP, self._group)
        if endpoint is None:
            return
        request = OffsetCommitRequest(group_id=self._group, topics=list(topics.values()))
        reply = yield from self.desk.ask(Ask(cluster, endpoint, request, NAMED_TOPICS_LAST[request.NAME]))
        if isinstance(reply, OffsetCommitResponse):
            for topic in reply.topics:
                for answer in topic.partitions:
                    tp = TopicPartition(topic.name, answer.partition_index)
                    if not answer.error_code:
                        self._committed[cluster, tp] = moved[tp]

    # -- positions ----------------------------------------------------------------------------

    def _validate(self, cluster: str, tp: TopicPartition, leader: Leader) -> Script[bool]:
        """Make sure that the position is one in this leader's log; False if that is not known yet."""
        position = self.positions.setdefault(tp, Position())
        if position.checked == (cluster, leader.epoch):
            return True
        if position.epoch >= 0:
            asked = OffsetForLeaderPartition(
                partition=tp.partition, current_leader_epoch=leader.epoch, leader_epoch=position.epoch
            )
            request = OffsetForLeaderEpochRequest(
                replica_id=-1, topics=[OffsetForLeaderTopic(topic=tp.topic, partitions=[asked])]
            )
            reply = yield Ask(cluster, leader.endpoint, request)
            row = None
            if isinstance(reply, OffsetForLeaderEpochResponse):
                row = reply.topics[0].partitions[0]
            if row is None or row.error_code:
                self.desk.scene.directories[cluster].refresh()
                return False
            if row.end_offset < 0:
                found = yield from self._reset(cluster, tp, leader)
                return found
            if row.end_offset < position.offset:
                position.offset, position.epoch = row.end_offset, row.leader_epoch
        position.checked = (cluster, leader.epoch)
        return True

    def _reset(self, cluster: str, tp: TopicPartition, leader: Leader) -> Script[bool]:
        """Go to the earliest offset; False if the leader did not answer with it."""
        asked = ListOffsetsPartition(
            partition_index=tp.partition, current_leader_epoch=leader.epoch, timestamp=OffsetSpec.EARLIEST
        )
        request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=tp.topic, partitions=[asked])])
        reply = yield Ask(cluster, leader.endpoint, request)
        if isinstance(reply, ListOffsetsResponse):
            row = reply.topics[0].partitions[0]
            if not row.error_code and row.offset >= 0:
                position = self.positions[tp]
                position.offset, position.epoch = row.offset, -1
                position.checked = (cluster, leader.epoch)
                return True
        self.desk.scene.directories[cluster].refresh()
        return False

    # -- records ------------------------------------------------------------------------------

    def _fetch(self, cluster: str, endpoint: Endpoint, ready: list[tuple[TopicPartition, Leader]]) -> Script[None]:
        request = self._request({tp: self._row(tp, leader) for tp, leader in ready})
        reply = yield Ask(cluster, endpoint, request, NAMED_TOPICS_LAST[request.NAME])
        if not isinstance(reply, FetchResponse) or reply.error_code:
            self.desk.scene.directories[cluster].refresh()
            return
        yield from self._take_all(cluster, dict(ready), reply)

    def _row(self, tp: TopicPartition, leader: Leader) -> FetchPartition:
        return FetchPartition(
            partition=tp.partition,
            current_leader_epoch=leader.epoch,
            fetch_offset=self.positions[tp].offset,
            partition_max_bytes=BYTES_MAX,
        )

    def _request(self, rows: Mapping[TopicPartition, FetchPartition]) -> FetchRequest:
        topics: dict[str, FetchTopic] = {}
        for tp, wanted in rows.items():
            topics.setdefault(tp.topic, FetchTopic(topic=tp.topic, partitions=[])).partitions.append(wanted)
        return FetchRequest(
            replica_id=-1,
            max_wait_ms=0,
            min_bytes=1,
            max_bytes=BYTES_MAX,
            isolation_level=IsolationLevel.READ_COMMITTED if self.committed_only else IsolationLevel.READ_UNCOMMITTED,
            session_id=0,
            session_epoch=-1,
            topics=list(topics.values()),
        )

    def _take_all(self, cluster: str, leaders: Mapping[TopicPartition, Leader], reply: FetchResponse) -> Script[None]:
        for topic in reply.responses:
            for data in topic.partitions:
                tp = TopicPartition(topic.topic, data.partition_index)
                yield from self._take(cluster, tp, leaders[tp], data)

    def _take(self, cluster: str, tp: TopicPartition, leader: Leader, data: PartitionData) -> Script[None]:
        scene = self.desk.scene
        position = self.positions[tp]
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            yield from self._reset(cluster, tp, leader)
            return
        if data.error_code:
            scene.directories[cluster].refresh()
            return
        self._mark(cluster, tp, leader, data)
        end, epoch = position.offset, position.epoch
        batches = list(iter_batches(bytes(data.records or b"")))
        aborted = [(row.producer_id, row.first_offset) for row in data.aborted_transactions or ()]
        for row in self._reader.rows(batches, aborted):
            if row.offset >= position.offset and not row.is_control and not row.is_aborted:
                name = self.desk.plan.name
                scene.account.reads.append(
                    Read(name, cluster, tp, self.committed_only, row.offset, row.value, row.epoch, scene.now)
                )
                self.given(tp, row)
        for batch in batches:
            end, epoch = max(end, batch.next_offset), batch.partition_leader_epoch
        position.offset, position.epoch = end, epoch

    def _mark(self, cluster: str, tp: TopicPartition, leader: Leader, data: PartitionData) -> None:
        said = Marks(
            self.desk.plan.name,
            cluster,
            tp,
            leader.broker_id,
            leader.epoch,
            data.high_watermark,
            data.last_stable_offset,
            data.log_start_offset,
            0,
        )
        position = self.positions[tp]
        if said == position.known:
            return
        position.known = said
        self.desk.scene.account.marks.append(replace(said, at=self.desk.scene.now))
