"""Reader of a partition's log through its leader, in any cluster: offsets, leader epochs, batches.

A leader that moves meanwhile is looked up again; nothing is written.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from typing import TypeVar

from kmirror.admin.client import AsyncAdmin, TopicInfo
from kmirror.client.list_offsets import list_offsets
from kmirror.client.remote_cluster import code_of
from kmirror.cluster.images import NO_LEADER
from kmirror.errors import CorruptBatch, KafkaError
from kmirror.kernel.ids import TopicPartition
from kmirror.log.epochs import EpochEntry
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.protocol.gen.list_offsets_response import ListOffsetsPartitionResponse, ListOffsetsResponse
from kmirror.protocol.gen.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kmirror.protocol.gen.offset_for_leader_epoch_response import EpochEndOffset, OffsetForLeaderEpochResponse
from kmirror.protocol.message import Message
from kmirror.records.batch import TornBatch
from kmirror.records.legacy import AnyBatch, iter_any_batches
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import CONSUMER_REPLICA_ID, IsolationLevel, OffsetSpec

Row = TypeVar("Row", EpochEndOffset, ListOffsetsPartitionResponse, PartitionData)
EPOCH_UNKNOWN = -1
FETCH_BYTES = 4 << 20
ATTEMPTS_MAX = 20
PAUSE_S = 0.25
TRANSIENT_ERRORS = (
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.BROKER_NOT_AVAILABLE,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.OFFSET_NOT_AVAILABLE,
    ErrorCode.REPLICA_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT,
)
"""Transient errors: another leader, or the same one a moment later, may respond without one."""


async def latest_offsets(
    admin: AsyncAdmin,
    partitions: Collection[TopicPartition],
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> dict[TopicPartition, int]:
    """Return the high watermarks of partitions, or their LSOs for READ_COMMITTED, with one request to each leader.

    Partitions without a leader, or whose leader moves, are left out. Raises KafkaError for any other error of a
    partition, and like `AsyncAdmin.topics`.
    """
    topics = await admin.topics(sorted({tp.topic for tp in partitions}))
    by_leader: dict[int, dict[TopicPartition, int]] = {}
    for tp in sorted(partitions):
        leader = topics[tp.topic].leaders.get(tp.partition, NO_LEADER) if tp.topic in topics else NO_LEADER
        if leader != NO_LEADER:
            by_leader.setdefault(leader, {})[tp] = EPOCH_UNKNOWN
    found: dict[TopicPartition, int] = {}
    for leader, epochs in sorted(by_leader.items()):
        try:
            reply = await admin.ask(list_offsets(epochs, isolation=isolation), broker_id=leader)
        except KafkaError as error:
            if error.code not in TRANSIENT_ERRORS:
                raise
            continue
        assert isinstance(reply, ListOffsetsResponse), "the answer to its request"
        for topic in reply.topics:
            for row in topic.partitions:
                tp, code = TopicPartition(topic.name, row.partition_index), code_of(row.error_code)
                if tp not in epochs:
                    continue
                if not code:
                    found[tp] = row.offset
                elif code not in TRANSIENT_ERRORS:
                    raise _read_error(admin, tp, code)
    return found


def _read_error(admin: AsyncAdmin, tp: TopicPartition, code: ErrorCode) -> KafkaError:
    return KafkaError(code, f"{tp} of {admin.servers} cannot be read: {code.name}: {code.text}")


def _is_known(row: EpochEndOffset) -> bool:
    """Return whether the log has this epoch or one before it."""
    return row.leader_epoch >= 0 and row.end_offset >= 0


class LeaderReader:
    """Reads one partition through its leader; methods raise KafkaError if the leader cannot be read.

    `topic` is known metadata of the topic; it is requested if it is missing or outdated.
    """

    def __init__(self, admin: AsyncAdmin, tp: TopicPartition, topic: TopicInfo | None = None) -> None:
        self.tp = tp
        self._admin = admin
        self._topic = topic if topic is not None and tp.partition in topic.leaders else None

    async def offset(self, spec: OffsetSpec, isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED) -> int:
        """Return the log start for EARLIEST; for LATEST the high watermark, or the LSO for READ_COMMITTED."""
        request = list_offsets({self.tp: EPOCH_UNKNOWN}, spec, isolation)

        def row(reply: Message) -> ListOffsetsPartitionResponse:
            assert isinstance(reply, ListOffsetsResponse), "the answer to its request"
            return self._own_row((row.partition_index, row) for topic in reply.topics for row in topic.partitions)

        return (await self._from_leader(lambda _: request, row)).offset

    async def epochs(self) -> tuple[list[EpochEntry], int]:
        """Return the start of each leader epoch of the log, ascending, and the log end offset.

        No epochs, and the high watermark as the end, for a log or a broker that knows none (before Kafka 2.0).
        """
        start = await self.offset(OffsetSpec.EARLIEST)
        leader_epoch = (await self._leader()).leader_epochs[self.tp.partition]
        ends: list[tuple[int, int]] = []  # Each epoch with its end offset, the latest first.
        row = await self._last_epoch(leader_epoch)
        while row is not None and _is_known(row):
            ends.append((row.leader_epoch, row.end_offset))
            if row.end_offset <= start or not row.leader_epoch:
                break
            row = await self._end_of_epoch(row.leader_epoch - 1)
        if not ends:
            return [], await self.offset(OffsetSpec.LATEST)
        starts = [max(end, start) for _, end in ends[1:]] + [start]
        entries = [
            EpochEntry(epoch, begin)
            for (epoch, end), begin in zip(ends, starts, strict=True)
            if begin < end or epoch == ends[0][0]
        ]
        return entries[::-1], ends[0][1]

    async def batches(self, start: int, until: int) -> AsyncIterator[AnyBatch]:
        """Yield the batches from the one that contains offset `start` to the last that begins below `until`.

        Stops at the high watermark. Raises CorruptBatch for bytes that are not a batch.
        """
        position = start
        while position < until:
            data = await self._fetch(position)
            if position >= data.high_watermark:
                return
            after = position
            try:
                for batch in iter_any_batches(bytes(data.records or b""), check_crc=True):
                    if batch.base_offset >= until:
                        return
                    yield batch
                    after = batch.next_offset
            except TornBatch:
                pass  # The response was full.
            if after == position:
                raise CorruptBatch(f"{self.tp}: the leader sends no whole batch", offset=position)
            position = after

    async def _fetch(self, offset: int) -> PartitionData:
        tp = self.tp

        def request(topic: TopicInfo) -> FetchRequest:
            requested = FetchPartition(
                partition=tp.partition,
                current_leader_epoch=-1,
                fetch_offset=offset,
                log_start_offset=-1,
                partition_max_bytes=FETCH_BYTES,
            )
            return FetchRequest(
                replica_id=CONSUMER_REPLICA_ID,
                max_wait_ms=0,
                min_bytes=1,
                max_bytes=FETCH_BYTES,
                isolation_level=IsolationLevel.READ_UNCOMMITTED,
                session_id=0,
                session_epoch=-1,
                topics=[FetchTopic(topic=tp.topic, topic_id=topic.topic_id, partitions=[requested])],
            )

        def row(reply: Message) -> PartitionData:
            assert isinstance(reply, FetchResponse), "the answer to its request"
            if reply.error_code:
                raise _read_error(self._admin, tp, code_of(reply.error_code))
            return self._own_row((row.partition_index, row) for topic in reply.responses for row in topic.partitions)

        return await self._from_leader(request, row)

    async def _last_epoch(self, epoch_max: int) -> EpochEndOffset | None:
        """Return the end of the last epoch that the log has, of those up to `epoch_max`; None if it has none.

        A mirrored log does not have the leader's own epoch, which may be any number of epochs later.
        """
        if epoch_max < 0:
            return None
        row = await self._end_of_epoch(epoch_max)
        if _is_known(row):
            return row
        last: EpochEndOffset | None = None
        known, unknown = -1, epoch_max
        while unknown - known > 1:
            middle = (known + unknown) // 2
            row = await self._end_of_epoch(middle)
            if _is_known(row):
                known, last = middle, row
            else:
                unknown = middle
        return last

    async def _end_of_epoch(self, epoch: int) -> EpochEndOffset:
        tp = self.tp
        requested = OffsetForLeaderPartition(partition=tp.partition, current_leader_epoch=-1, leader_epoch=epoch)
        request = OffsetForLeaderEpochRequest(
            replica_id=CONSUMER_REPLICA_ID, topics=[OffsetForLeaderTopic(tp.topic, [requested])]
        )

        def row(reply: Message) -> EpochEndOffset:
            assert isinstance(reply, OffsetForLeaderEpochResponse), "the answer to its request"
            return self._own_row((row.partition, row) for topic in reply.topics for row in topic.partitions)

        found = await self._from_leader(lambda _: request, row)
        if found.leader_epoch > epoch:
            raise self._unusable(f"has epoch {found.leader_epoch}, requested was the last one up to {epoch}")
        return found

    def _own_row(self, rows: Iterable[tuple[int, Row]]) -> Row:
        """Return the row of this partition; raises KafkaError if the response has none."""
        for index, row in rows:
            if index == self.tp.partition:
                return row
        raise self._unusable("has no row for it")

    def _unusable(self, problem: str) -> KafkaError:
        text = f"{self.tp} of {self._admin.servers} cannot be read: the leader's answer {problem}"
        return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, text)

    async def _leader(self) -> TopicInfo:
        if self._topic is None:
            tp = self.tp
            topic = (await self._admin.topics([tp.topic])).get(tp.topic)
            if topic is None or tp.partition not in topic.leaders:
                error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                raise KafkaError(error, f"the cluster at {self._admin.servers} has no partition {tp}")
            self._topic = topic
        return self._topic

    async def _from_leader(self, request: Callable[[TopicInfo], Message], row: Callable[[Message], Row]) -> Row:
        """Return the leader's response; transient errors are retried."""
        error = ErrorCode.LEADER_NOT_AVAILABLE
        for _ in range(ATTEMPTS_MAX):
            topic = await self._leader()
            leader = topic.leaders[self.tp.partition]
            if leader != NO_LEADER:
                try:
                    found = row(await self._admin.ask(request(topic), broker_id=leader))
                except KafkaError as failure:
                    if failure.code not in TRANSIENT_ERRORS:
                        raise
                    error = failure.code
                else:
                    if not found.error_code:
                        return found
                    error = code_of(found.error_code)
                    if error not in TRANSIENT_ERRORS:
                        break
            self._topic = None
            await asyncio.sleep(PAUSE_S)
        raise _read_error(self._admin, self.tp, error)
