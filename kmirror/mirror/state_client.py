"""Client with which the leader of a mirrored partition reads and writes its persisted state.

The coordinator may be this broker or another one; in both cases there is exactly one response. After None or an error
the outcome is unknown, and the caller retries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kmirror.cluster.node.context import BrokerContext
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.coordinator import MirrorCoordinator, StateWrite
from kmirror.mirror.state_records import PartitionState, StateKey, persisted_fields, set_plan
from kmirror.mirror.state_requests import RowKey, StateRequests
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen import read_mirror_states_request as read_request
from kmirror.protocol.gen import read_mirror_states_response as read_response
from kmirror.protocol.gen import write_mirror_states_request as write_request
from kmirror.protocol.gen.write_mirror_states_response import WriteMirrorStatesResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

OnRead = Callable[[Instant, PartitionState | None], None]
OnWritten = Callable[[Instant, ErrorCode], None]
ROW_SIZE = 64
"""Approximate size of a row without its lists, in bytes."""


@dataclass(frozen=True, slots=True)
class _ReadRow:
    key: StateKey
    topic: str
    on_read: OnRead

    @property
    def size(self) -> int:
        return ROW_SIZE

    def is_wanted(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class _WriteRow:
    write: StateWrite
    is_wanted: Callable[[], bool]
    on_written: OnWritten

    @property
    def key(self) -> StateKey:
        return self.write.key

    @property
    def topic(self) -> str:
        return self.write.topic

    @property
    def size(self) -> int:
        plan = () if self.write.stop is None else self.write.stop.commits
        return ROW_SIZE + 8 * (len(self.write.uncut) + len(plan)) + 32 * len(self.write.lineage.stretches)


class _Reads(StateRequests[_ReadRow, read_response.PartitionResult]):
    """ReadMirrorStates."""

    def call_coordinator(self, now: Instant, row: _ReadRow) -> None:
        self.coordinator.read(now, row.key, lambda later, state, _: row.on_read(later, state))

    def request(self, mirror: str, rows: Mapping[RowKey, _ReadRow]) -> Message:
        topics: dict[str, read_request.TopicData] = {}
        for topic, index in rows:
            entry = topics.setdefault(topic, read_request.TopicData(name=topic))
            entry.partitions.append(read_request.PartitionData(partition_index=index))
        return read_request.ReadMirrorStatesRequest(mirror_name=mirror, topics=list(topics.values()))

    def results_in(self, reply: Message | None) -> tuple[Mapping[RowKey, read_response.PartitionResult], ErrorCode]:
        if not isinstance(reply, read_response.ReadMirrorStatesResponse) or reply.error_code:
            return {}, ErrorCode.COORDINATOR_NOT_AVAILABLE
        found = {(topic.name, row.partition_index): row for topic in reply.topics for row in topic.partitions}
        return found, ErrorCode.COORDINATOR_NOT_AVAILABLE

    def complete(self, now: Instant, row: _ReadRow, result: read_response.PartitionResult) -> None:
        if result.error_code:
            row.on_read(now, None)
            return
        state, fields = MirrorState(result.state), persisted_fields(result)
        row.on_read(now, PartitionState(row.topic, state, result.leader_epoch, result.last_mirror_epoch, *fields))

    def fail(self, now: Instant, row: _ReadRow, error: ErrorCode) -> None:
        row.on_read(now, None)


class _Writes(StateRequests[_WriteRow, ErrorCode]):
    """WriteMirrorStates."""

    def call_coordinator(self, now: Instant, row: _WriteRow) -> None:
        self.coordinator.write(now, row.write, row.on_written)

    def request(self, mirror: str, rows: Mapping[RowKey, _WriteRow]) -> Message:
        topics: dict[tuple[str, Uuid], write_request.TopicData] = {}
        for row in rows.values():
            topic_id = row.key.topic_id
            entry = topics.setdefault((row.topic, topic_id), write_request.TopicData(name=row.topic, topic_id=topic_id))
            entry.partitions.append(_data_of(row.write))
        return write_request.WriteMirrorStatesRequest(mirror_name=mirror, topics=list(topics.values()))

    def results_in(self, reply: Message | None) -> tuple[Mapping[RowKey, ErrorCode], ErrorCode]:
        if not isinstance(reply, WriteMirrorStatesResponse):
            return {}, ErrorCode.COORDINATOR_NOT_AVAILABLE
        found = {
            (topic.name, row.partition_index): ErrorCode(row.error_code)
            for topic in reply.topics
            for row in topic.partitions
        }
        if reply.error_code:
            return {}, ErrorCode(reply.error_code)
        return found, ErrorCode.COORDINATOR_NOT_AVAILABLE

    def complete(self, now: Instant, row: _WriteRow, result: ErrorCode) -> None:
        row.on_written(now, result)

    def fail(self, now: Instant, row: _WriteRow, error: ErrorCode) -> None:
        row.on_written(now, error)


class StateClient:
    """Reads and writes states at the mirror coordinator: directly if it is this broker, else with requests.

    All requests of one event are sent when it ends, as one ReadMirrorStates or WriteMirrorStates request to each
    coordinator (D48).
    """

    def __init__(self, broker: BrokerContext, coordinator: MirrorCoordinator) -> None:
        self._reads = _Reads(broker, coordinator)
        self._writes = _Writes(broker, coordinator)

    def read(self, key: StateKey, topic: str, on_read: OnRead) -> None:
        """Call `on_read` with the state persisted for `key`, or with None if the coordinator did not respond."""
        self._reads.add(_ReadRow(key, topic, on_read))

    def write(self, write: StateWrite, on_written: OnWritten, *, is_wanted: Callable[[], bool]) -> None:
        """Request that the coordinator persists `write`; call `on_written` with the error.

        COORDINATOR_NOT_AVAILABLE if it cannot be reached or does not respond, or if `is_wanted` is False when the write
        could be sent: a broker that has lost the leadership meanwhile must not overwrite the state of the next leader.
        """
        self._writes.add(_WriteRow(write, is_wanted, on_written))

    def reroute(self) -> None:
        """Follow a change of the coordinators: requests that wait for a former one are sent to the new one."""
        self._reads.reroute()
        self._writes.reroute()


def _data_of(write: StateWrite) -> write_request.PartitionData:
    row = write_request.PartitionData(
        partition_index=write.key.partition,
        last_mirror_epoch=write.last_mirrored_epoch,
        state=write.state,
        leader_epoch=write.leader_epoch,
        uncut_replicas=[
            write_request.UncutReplica(replica_id=replica, cut_epoch=epoch) for replica, epoch in write.uncut.items()
        ],
        lineage=[
            write_request.Stretch(first_epoch=epoch, cluster_id=cluster) for epoch, cluster in write.lineage.stretches
        ],
        lineage_epoch=write.lineage.valid_from_epoch,
    )
    set_plan(row, write.stop)
    return row
