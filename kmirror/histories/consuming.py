"""Consumer that reads during the whole history, keeps its position, and checks whether the log was truncated.

A position is an offset and the leader epoch of the last batch read. When the leader epoch changes, or the application
moves to another cluster, the consumer asks the leader for the end of that epoch (KIP-320). An end below the position
means that the log was truncated, and the consumer resets to it. `auto.offset.reset` is earliest.

With the option `group` it commits its positions for that group, without being a member. With `rests` it commits each of
them once in each cluster to which it has moved, so that a late commit of a mirror's sync would stay visible. With the
option `rack` it fetches from the replica that the leader names (KIP-392). With `names_epochs` false its fetches have no
leader epoch, as in librdkafka before 2.1, and it stays with that replica while the same broker leads. `bytes_max`
limits the bytes per partition of a fetch; with 1 it gets one batch and falls behind. It catches up when the producers
have stopped, so that its last commits are complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kmirror.histories.account import FetchedOffsets, ReceivedRecord
from kmirror.histories.group_requests import GroupClient
from kmirror.histories.metadata_cache import Leader
from kmirror.histories.positions import Position, Preferred
from kmirror.histories.producing import Application
from kmirror.histories.scripts import Request, Script
from kmirror.histories.values import ValueReader, ValueRow
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.gen.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kmirror.protocol.gen.offset_for_leader_epoch_response import OffsetForLeaderEpochResponse
from kmirror.records.batch import iter_batches
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.version_limits import NAMED_TOPICS_LAST
from kmirror.spec.wire_values import IsolationLevel, OffsetSpec

BYTES_MAX = 1 << 20
PREFERRED_MS = 8_000
"""Time for which a consumer fetches from a follower before it asks the leader again."""


class Consumer:
    """Reads every partition of its topics at the cluster where its application is."""

    def __init__(self, application: Application, *, committed_only: bool) -> None:
        self.application = application
        self.committed_only = committed_only
        self.positions: dict[TopicPartition, Position] = {}
        self._reader = ValueReader()
        self._rack = str(application.plan.options.get("rack", ""))
        self._bytes_max = int(application.plan.options.get("bytes_max", BYTES_MAX))
        self._names_epochs = bool(application.plan.options.get("names_epochs", True))
        group = str(application.plan.options.get("group", ""))
        self._group = GroupClient(application, group, application.plan.name) if group else None
        """Group for which it commits, or None."""
        self._rests = bool(application.plan.options.get("rests", False))
        self._committed: dict[tuple[str, TopicPartition], tuple[int, int]] = {}
        """Last committed offset and leader epoch by cluster and partition."""

    def run(self) -> Script[None]:
        """Read until the history ends, and move to other clusters as planned; yield each request and pause."""
        scene = self.application.scene
        while scene.reading:
            cluster = self.application.cluster
            yield from self.read(cluster, self.application.partitions())
            if self._group is not None:
                yield from self._commit(self._group, cluster)
            yield self.application.pause()

    def read(self, cluster: str, partitions: Iterable[TopicPartition]) -> Script[None]:
        """Send one fetch to each broker that has some of the partitions, and process the records."""
        metadata_cache = self.application.scene.metadata_caches[cluster]
        partitions_by_broker: dict[Endpoint, list[tuple[TopicPartition, Leader]]] = {}
        for tp in partitions:
            leader = metadata_cache.leader(tp)
            if leader is not None:
                partitions_by_broker.setdefault(self._replica(cluster, tp, leader), []).append((tp, leader))
        for endpoint, placed in partitions_by_broker.items():
            ready = []
            for tp, leader in placed:
                valid = yield from self._validate(cluster, tp, leader)
                if valid:
                    ready.append((tp, leader))
            if ready:
                yield from self._fetch(cluster, endpoint, ready)

    def _replica(self, cluster: str, tp: TopicPartition, leader: Leader) -> Endpoint:
        """Return the endpoint of the preferred replica while the preference is valid, else that of the leader."""
        position = self.positions.setdefault(tp, Position())
        preferred = position.preferred
        if preferred is not None:
            endpoint = self.application.scene.metadata_caches[cluster].endpoint(preferred.broker_id)
            known = leader if self._names_epochs else replace(leader, epoch=preferred.leader.epoch)
            is_same = (preferred.cluster, preferred.leader) == (cluster, known)
            if endpoint is not None and is_same and self.application.scene.now <= preferred.until:
                return endpoint
            position.preferred = None
        return leader.endpoint

    def on_record(self, tp: TopicPartition, row: ValueRow) -> None:
        """Process a record that the application receives."""

    def _commit(self, group: GroupClient, cluster: str) -> Script[None]:
        """Commit the positions that changed since the last commit in this cluster, without a member id."""
        changed = {
            tp: replace(position)
            for tp, position in self.positions.items()
            if position.epoch >= 0 and self._committed.get((cluster, tp)) != (position.offset, position.epoch)
        }
        if self._rests and cluster != self.application.plan.cluster:
            changed = {tp: position for tp, position in changed.items() if (cluster, tp) not in self._committed}
        if changed:
            _, rows = yield from group.commit(cluster, changed)
            for row in rows:
                if row.error == ErrorCode.NONE.name:
                    self._committed[cluster, row.tp] = changed[row.tp].offset, changed[row.tp].epoch

    # -- positions ----------------------------------------------------------------------------

    def _validate(self, cluster: str, tp: TopicPartition, leader: Leader) -> Script[bool]:
        """Check that the position is in this leader's log; return False if that is not known yet."""
        position = self.positions.setdefault(tp, Position())
        if position.checked == (cluster, leader.epoch):
            return True
        if position.epoch >= 0:
            partition_request = OffsetForLeaderPartition(
                partition=tp.partition, current_leader_epoch=leader.epoch, leader_epoch=position.epoch
            )
            request = OffsetForLeaderEpochRequest(
                replica_id=-1, topics=[OffsetForLeaderTopic(topic=tp.topic, partitions=[partition_request])]
            )
            reply = yield Request(cluster, leader.endpoint, request)
            row = None
            if isinstance(reply, OffsetForLeaderEpochResponse):
                row = reply.topics[0].partitions[0]
            if row is None or row.error_code:
                self.application.scene.metadata_caches[cluster].refresh()
                return False
            if row.end_offset < 0:
                found = yield from self._reset(cluster, tp, leader)
                return found
            if row.end_offset < position.offset:
                position.offset, position.epoch = row.end_offset, row.leader_epoch
        position.checked = (cluster, leader.epoch)
        return True

    def _reset(self, cluster: str, tp: TopicPartition, leader: Leader) -> Script[bool]:
        """Reset to the earliest offset; return False if the leader did not return it."""
        partition_request = ListOffsetsPartition(
            partition_index=tp.partition, current_leader_epoch=leader.epoch, timestamp=OffsetSpec.EARLIEST
        )
        request = ListOffsetsRequest(
            replica_id=-1, topics=[ListOffsetsTopic(name=tp.topic, partitions=[partition_request])]
        )
        reply = yield Request(cluster, leader.endpoint, request)
        if isinstance(reply, ListOffsetsResponse):
            row = reply.topics[0].partitions[0]
            if not row.error_code and row.offset >= 0:
                position = self.positions[tp]
                position.offset, position.epoch = row.offset, -1
                position.checked = (cluster, leader.epoch)
                return True
        self.application.scene.metadata_caches[cluster].refresh()
        return False

    # -- records ------------------------------------------------------------------------------

    def _fetch(self, cluster: str, endpoint: Endpoint, ready: list[tuple[TopicPartition, Leader]]) -> Script[None]:
        request = self._request({tp: self._row(tp, leader) for tp, leader in ready})
        reply = yield Request(cluster, endpoint, request, NAMED_TOPICS_LAST[request.NAME])
        if not isinstance(reply, FetchResponse) or reply.error_code:
            self._on_error(cluster, ready)
            return
        yield from self._process_response(cluster, dict(ready), reply)

    def _on_error(self, cluster: str, ready: Iterable[tuple[TopicPartition, Leader]]) -> None:
        """Refresh the metadata, and fetch from the leaders again."""
        self.application.scene.metadata_caches[cluster].refresh()
        for tp, _ in ready:
            self.positions[tp].preferred = None

    def _row(self, tp: TopicPartition, leader: Leader) -> FetchPartition:
        return FetchPartition(
            partition=tp.partition,
            current_leader_epoch=leader.epoch if self._names_epochs else -1,
            fetch_offset=self.positions[tp].offset,
            partition_max_bytes=self._bytes_max if self.application.is_writing() else BYTES_MAX,
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
            rack_id=self._rack,
        )

    def _process_response(
        self, cluster: str, leaders: Mapping[TopicPartition, Leader], reply: FetchResponse
    ) -> Script[None]:
        for topic in reply.responses:
            for data in topic.partitions:
                tp = TopicPartition(topic.topic, data.partition_index)
                yield from self._process_partition(cluster, tp, leaders[tp], data)

    def _process_partition(self, cluster: str, tp: TopicPartition, leader: Leader, data: PartitionData) -> Script[None]:
        scene = self.application.scene
        position = self.positions[tp]
        preferred = position.preferred
        if data.error_code:
            if data.error_code != ErrorCode.UNKNOWN_LEADER_EPOCH:
                position.preferred = None
            if data.error_code != ErrorCode.OFFSET_OUT_OF_RANGE:
                scene.metadata_caches[cluster].refresh()
            elif preferred is None:
                yield from self._reset(cluster, tp, leader)
            return
        self._record_offsets(cluster, tp, leader, data)
        if data.preferred_read_replica >= 0:
            until = scene.now + PREFERRED_MS * MILLISECOND
            position.preferred = Preferred(data.preferred_read_replica, cluster, leader, until)
        end, epoch = position.offset, position.epoch
        batches = list(iter_batches(bytes(data.records or b"")))
        aborted = [(row.producer_id, row.first_offset) for row in data.aborted_transactions or ()]
        for row in self._reader.rows(batches, aborted):
            if row.offset >= position.offset and not row.is_control and not row.is_aborted:
                name = self.application.plan.name
                scene.account.reads.append(
                    ReceivedRecord(name, cluster, tp, self.committed_only, row.offset, row.value, row.epoch, scene.now)
                )
                self.on_record(tp, row)
        for batch in batches:
            end, epoch = max(end, batch.next_offset), batch.partition_leader_epoch
        position.offset, position.epoch = end, epoch

    def _record_offsets(self, cluster: str, tp: TopicPartition, leader: Leader, data: PartitionData) -> None:
        position = self.positions[tp]
        preferred = position.preferred
        offsets = FetchedOffsets(
            self.application.plan.name,
            cluster,
            tp,
            leader.broker_id if preferred is None else preferred.broker_id,
            leader.epoch,
            data.high_watermark,
            data.last_stable_offset,
            data.log_start_offset,
            0,
            preferred is None,
        )
        if offsets == position.known:
            return
        position.known = offsets
        self.application.scene.account.fetched_offsets.append(replace(offsets, at=self.application.scene.now))
