"""The reader of a leader's log, given responses that no correct broker sends: it raises KafkaError, and ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from kmirror.admin import leader_reader
from kmirror.admin.client import AsyncAdmin, TopicInfo
from kmirror.admin.leader_reader import LeaderReader, latest_offsets
from kmirror.errors import KafkaError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.epochs import EpochEntry
from kmirror.protocol.gen.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kmirror.protocol.gen.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kmirror.protocol.gen.offset_for_leader_epoch_request import OffsetForLeaderEpochRequest
from kmirror.protocol.gen.offset_for_leader_epoch_response import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import OffsetSpec

TP = TopicPartition("t", 0)
TOPIC = TopicInfo(Uuid(bytes(16)), {0: 1}, {0: 5}, False)


def offsets(*rows: tuple[int, int]) -> ListOffsetsResponse:
    partitions = [ListOffsetsPartitionResponse(partition_index=index, offset=offset) for index, offset in rows]
    return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=partitions)])


def epochs(*rows: tuple[int, int, int]) -> OffsetForLeaderEpochResponse:
    partitions = [EpochEndOffset(partition=index, leader_epoch=epoch, end_offset=end) for index, epoch, end in rows]
    return OffsetForLeaderEpochResponse(topics=[OffsetForLeaderTopicResult(topic="t", partitions=partitions)])


def fetched(*indexes: int) -> FetchResponse:
    rows = [PartitionData(partition_index=index, high_watermark=9) for index in indexes]
    return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=rows)])


class Leader:
    """Gives each response to any number of requests of its kind; errors are raised."""

    servers = "b:9"

    def __init__(self, *answers: Message | KafkaError) -> None:
        self.answers = list(answers)
        self.looked_up = 0
        self.asked = 0

    async def topics(self, names: list[str]) -> dict[str, TopicInfo]:
        self.looked_up += 1
        return {"t": TOPIC}

    async def ask(self, body: Message, *, broker_id: int) -> Message:
        assert broker_id == 1
        self.asked += 1
        assert self.asked < 100, "it asks for ever"
        name = body.NAME.replace("Request", "Response")
        for answer in self.answers:
            if isinstance(answer, KafkaError):
                self.answers.remove(answer)
                raise answer
            if name == answer.NAME:
                return answer
        raise AssertionError(name)


def refused(leader: Leader, call: Callable[[LeaderReader], Awaitable[Any]]) -> str:
    with pytest.raises(KafkaError) as caught:
        asyncio.run(asyncio.wait_for(call(LeaderReader(cast(AsyncAdmin, leader), TP)), 20))
    assert caught.value.code is ErrorCode.UNKNOWN_SERVER_ERROR
    return str(caught.value)


async def batches(reader: LeaderReader) -> None:
    async for _ in reader.batches(0, 5):
        pass


@pytest.mark.parametrize("rows", [[], [(1, 7)]])
def test_a_response_has_a_row_of_the_partition(rows: list[tuple[int, int]]) -> None:
    told = "t-0 of b:9 cannot be read: the leader's answer has no row for it"
    assert refused(Leader(offsets(*rows)), LeaderReader.epochs) == told
    wrong = epochs(*((index, 5, 0) for index, _ in rows))
    assert refused(Leader(offsets((0, 0)), wrong), LeaderReader.epochs) == told
    assert refused(Leader(fetched(*(index for index, _ in rows))), batches) == told


def test_the_row_of_the_partition_is_found_at_any_position() -> None:
    leader = Leader(offsets((1, 4), (0, 7)), epochs((2, 9, 9), (0, 5, 7)))
    reader = LeaderReader(cast(AsyncAdmin, leader), TP)
    assert asyncio.run(reader.epochs())[1] == 7


def test_epochs_that_do_not_descend_are_refused_and_not_followed_for_ever() -> None:
    told = refused(Leader(offsets((0, 0)), epochs((0, 6, 9))), LeaderReader.epochs)
    assert told.endswith("the leader's answer has epoch 6, requested was the last one up to 5")


class Epochs(Leader):
    """Has epochs 3 and 5, which begin at 0 and at 4, up to offset 9; its leader has a later epoch."""

    async def topics(self, names: list[str]) -> dict[str, TopicInfo]:
        return {"t": TopicInfo(Uuid(bytes(16)), {0: 1}, {0: 2**31 - 1}, False)}

    async def ask(self, body: Message, *, broker_id: int) -> Message:
        if not isinstance(body, OffsetForLeaderEpochRequest):
            return offsets((0, 0))
        self.asked += 1
        assert self.asked < 50, "it asks for every epoch that there may be"
        asked = body.topics[0].partitions[0].leader_epoch
        if asked > 5:
            return epochs((0, -1, -1))
        return epochs((0, 5, 9) if asked == 5 else (0, 3, 4) if asked >= 3 else (0, asked, 0))


def test_epochs_are_found_for_any_higher_epoch_of_the_leader() -> None:
    reader = LeaderReader(cast(AsyncAdmin, Epochs()), TP)
    assert asyncio.run(reader.epochs()) == ([EpochEntry(3, 0), EpochEntry(5, 4)], 9)


def test_offsets_that_were_not_requested_are_ignored() -> None:
    leader = Leader(offsets((0, 3), (8, 4)))
    assert asyncio.run(latest_offsets(cast(AsyncAdmin, leader), [TP])) == {TP: 3}


def test_a_leader_that_is_an_unknown_broker_is_looked_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leader_reader, "PAUSE_S", 0)
    leader = Leader(KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, "no broker 1"), offsets((0, 3)))
    reader = LeaderReader(cast(AsyncAdmin, leader), TP)
    assert asyncio.run(reader.offset(OffsetSpec.LATEST)) == 3
    assert leader.looked_up == 2
