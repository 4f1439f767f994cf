"""Grouping of requests for states, requests that wait for a response, and the outcome of each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import pytest

from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.context import BrokerContext
from kmirror.kernel.failures import Failures, OnFailure
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.outbox import Outbox
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.coordinator import MirrorCoordinator
from kmirror.mirror.state_records import StateKey
from kmirror.mirror.state_requests import BYTES_MAX, ROWS_MAX, RowKey, StateRequests, split
from kmirror.protocol.gen.read_mirror_states_request import PartitionData, ReadMirrorStatesRequest, TopicData
from kmirror.protocol.gen.read_mirror_states_response import PartitionResult, ReadMirrorStatesResponse, TopicResult
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

pytestmark = pytest.mark.decision("D48")
NOT_AVAILABLE = ErrorCode.COORDINATOR_NOT_AVAILABLE


@dataclass(frozen=True)
class Row:
    topic: str
    partition: int = 0
    mirror: str = "m"
    size: int = 10
    wanted: bool = True

    @property
    def key(self) -> StateKey:
        return StateKey(self.mirror, Uuid(self.topic.encode().ljust(16)), self.partition)

    def is_wanted(self) -> bool:
        return self.wanted


class Nodes:
    """Broker 1, and its metadata: topic "near" is coordinated by itself, "far" by broker 2."""

    node_id = 1

    def __init__(self) -> None:
        self.image = self.topics = self
        self.leaders = {"near": 1, "far": 2}
        self.dead: list[int] = []
        self.failures = Failures(Outbox(), OnFailure.CONTINUE)
        self.sent: list[tuple[int, str, list[RowKey]]] = []
        self.replies: list[Callable[[int, Message | None], None]] = []
        self.at_the_end: dict[Callable[[int], None], None] = {}

    def defer(self, work: Callable[[int], None]) -> None:
        self.at_the_end[work] = None

    def end_event(self) -> None:
        while self.at_the_end:
            ordered, self.at_the_end = self.at_the_end, {}
            for work in ordered:
                work(0)

    def shard_of(self, key: StateKey) -> TopicPartition:
        return TopicPartition(key.topic_id.decode().strip(), 0)

    def partition(self, shard: TopicPartition) -> PartitionImage:
        return PartitionImage((), (), self.leaders[shard.topic], 0, 0)

    def ask_broker(self, now: int, leader: int, channel: str, request: ReadMirrorStatesRequest, on_reply: Any) -> bool:
        if leader in self.dead:
            return False
        places = [(topic.name, row.partition_index) for topic in request.topics for row in topic.partitions]
        self.sent.append((leader, request.mirror_name, places))
        self.replies.append(on_reply)
        return True

    def take_sent(self) -> list[tuple[int, str, list[RowKey]]]:
        sent, self.sent = self.sent, []
        return sent


class RecordingRequests(StateRequests[Row, int]):
    """Rows that are answered with a number; `ended` has the outcome of each."""

    def __init__(self, nodes: Nodes) -> None:
        super().__init__(cast("BrokerContext", nodes), cast("MirrorCoordinator", nodes))
        self.ended: list[tuple[Row, object]] = []

    def call_coordinator(self, now: int, row: Row) -> None:
        self.ended.append((row, "here"))

    def request(self, mirror: str, rows: Mapping[RowKey, Row]) -> Message:
        topics = [TopicData(name=name, partitions=[PartitionData(partition_index=index)]) for name, index in rows]
        return ReadMirrorStatesRequest(mirror_name=mirror, topics=topics)

    def results_in(self, reply: Message | None) -> tuple[Mapping[RowKey, int], ErrorCode]:
        topics = reply.topics if isinstance(reply, ReadMirrorStatesResponse) else []
        return {
            (topic.name, row.partition_index): row.state for topic in topics for row in topic.partitions
        }, NOT_AVAILABLE

    def complete(self, now: int, row: Row, answer: int) -> None:
        if answer == 0:
            raise ValueError("a bug")
        self.ended.append((row, answer))

    def fail(self, now: int, row: Row, error: ErrorCode) -> None:
        self.ended.append((row, error))

    def take_ended(self) -> list[tuple[Row, object]]:
        ended, self.ended = self.ended, []
        return ended


def answer(**states: int) -> Message:
    """Return a response with these numbers for partitions 0 of these topics."""
    topics = [TopicResult(name=name, partitions=[PartitionResult(state=state)]) for name, state in states.items()]
    return ReadMirrorStatesResponse(topics=topics)


@pytest.fixture
def nodes() -> Nodes:
    return Nodes()


@pytest.fixture
def requests(nodes: Nodes) -> RecordingRequests:
    return RecordingRequests(nodes)


def test_rows_of_one_event_share_requests_by_coordinator_and_mirror(nodes: Nodes, requests: RecordingRequests) -> None:
    rows = [Row("far", 0), Row("near", 0), Row("far", 1), Row("far", 0, "other"), Row("near", 1)]
    for row in rows:
        requests.add(row)
    nodes.end_event()
    assert not nodes.at_the_end
    assert nodes.take_sent() == [(2, "m", [("far", 0), ("far", 1)]), (2, "other", [("far", 0)])]
    assert requests.take_ended() == [(rows[1], "here"), (rows[4], "here")]


def test_rows_added_during_a_request_are_sent_after_it(nodes: Nodes, requests: RecordingRequests) -> None:
    first, second, gone = Row("far", 0), Row("far", 1), Row("far", 2, wanted=False)
    requests.add(first)
    nodes.end_event()
    requests.add(second)
    nodes.end_event()
    requests.add(gone)
    assert nodes.take_sent() == [(2, "m", [("far", 0)])]
    nodes.replies[0](0, answer(far=7))
    nodes.end_event()
    assert nodes.take_sent() == [(2, "m", [("far", 1)])]
    assert requests.take_ended() == [(first, 7), (gone, NOT_AVAILABLE)]


def test_no_row_waits_for_a_silent_former_coordinator(nodes: Nodes, requests: RecordingRequests) -> None:
    for number in range(2):
        requests.add(Row("far", number))
        nodes.end_event()
    nodes.leaders["far"] = 3
    requests.reroute()
    nodes.end_event()
    assert nodes.take_sent() == [(2, "m", [("far", 0)]), (3, "m", [("far", 1)])]
    requests.reroute()
    requests.add(Row("far", 2))
    nodes.end_event()
    assert nodes.take_sent() == [], "one request is under way there, too"


def test_an_obsolete_write_is_not_sent_after_its_wait(nodes: Nodes, requests: RecordingRequests) -> None:
    """The partition has another leader by then, which has read the state already."""
    requests.add(Row("far", 0))
    nodes.end_event()
    late = Row("far", 1)
    requests.add(late)
    nodes.end_event()
    object.__setattr__(late, "wanted", False)
    nodes.replies[0](0, None)
    nodes.end_event()
    assert len(nodes.sent) == 1 and requests.take_ended() == [(Row("far", 0), NOT_AVAILABLE), (late, NOT_AVAILABLE)]


def test_every_row_ends_once_for_any_result_of_the_request(nodes: Nodes, requests: RecordingRequests) -> None:
    nodes.leaders.update(good=2, bug=2, left_out=2, dead=4)
    nodes.dead.append(4)
    rows = [Row("bug"), Row("good"), Row("left_out"), Row("dead")]
    for row in rows:
        requests.add(row)
    nodes.end_event()
    assert requests.take_ended() == [(rows[3], NOT_AVAILABLE)]
    nodes.replies[0](0, answer(bug=0, good=5))
    assert requests.take_ended() == [(rows[1], 5), (rows[2], NOT_AVAILABLE)]
    assert nodes.failures.count == 1, "one row's bug is its own"


def test_each_row_is_routed_once_for_any_number_of_requests(
    nodes: Nodes, requests: RecordingRequests, monkeypatch: pytest.MonkeyPatch
) -> None:
    routed = 0
    shard_of = Nodes.shard_of

    def counting(self: Nodes, key: StateKey) -> TopicPartition:
        nonlocal routed
        routed += 1
        return shard_of(self, key)

    monkeypatch.setattr(Nodes, "shard_of", counting)
    for number in range(5 * ROWS_MAX):
        requests.add(Row("far", number))
    nodes.end_event()
    for reply in nodes.replies:  # The list grows meanwhile.
        reply(0, None)
        nodes.end_event()
    assert [len(places) for _, _, places in nodes.take_sent()] == [ROWS_MAX] * 5
    assert routed == len(requests.take_ended()) == 5 * ROWS_MAX


def test_a_request_has_bounds() -> None:
    many = [Row("t", number) for number in range(ROWS_MAX + 5)]
    asked, left = split(many)
    assert (len(asked), len(left)) == (ROWS_MAX, 5)
    large = [Row("t", number, size=BYTES_MAX // 3 + 1) for number in range(4)]
    assert [len(part) for part in split(large)] == [2, 2]
    assert [len(part) for part in split([Row("t", size=2 * BYTES_MAX)])] == [1, 0], "alone it has to go"


def test_a_partition_is_in_a_request_once_and_its_rows_stay_in_order() -> None:
    rows = [Row("t", 0, size=1), Row("t", 1, size=2), Row("t", 0, size=3), Row("t", 2, size=4)]
    asked, left = split(rows)
    assert list(asked.values()) == rows[:2] and left == rows[2:]
