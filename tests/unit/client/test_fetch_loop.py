"""The fetch loop: sessions, pauses, leaders that change, and truncated logs."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from kmirror.client.fetch_events import (
    Diverged,
    FetchEvent,
    FetchFailed,
    LeaderMoved,
    LogEndsEarlier,
    LogStartsLater,
    NoOffset,
    PartitionConfirmed,
    PartitionError,
    Records,
    ResponseMissed,
    UnknownEpoch,
)
from kmirror.client.fetch_loop import FETCH, Fetcher, FetchLoop
from kmirror.client.fetch_session import PartitionFetch
from kmirror.client.remote_cluster import LeaderHint
from kmirror.client.requester import OnFrame, OnReply, Sent
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import LogConfig, PartitionLog
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from kmirror.protocol.gen.list_offsets_request import ListOffsetsRequest
from kmirror.protocol.gen.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.spec.configs import broker_configs
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import OffsetSpec
from tests.call_counts import count_calls
from tests.unit.client.script import ONE, OTHER, TOPIC_ID, TP, TWO, Script

BACKOFF = 1_000 * MILLISECOND
"""Kafka's default of replica.fetch.backoff.ms."""


@dataclass
class State:
    tp: TopicPartition
    source_epoch: int = 4
    source_topic_id: Uuid = TOPIC_ID
    may_be_fetched: bool = True
    paused_until: Instant = 0
    resolving: bool = False
    rank: int = 0


@dataclass
class Log:
    """An owner that records its calls, and truncates only a number."""

    script: Script = field(default_factory=Script)
    heard: list[tuple[object, ...]] = field(default_factory=list)
    names: list[tuple[TopicPartition, Instant]] = field(default_factory=list)
    identity_now: int | None = 7
    goes_on: bool = True
    drops: bool = False
    raises_for: TopicPartition | None = None
    holds: dict[TopicPartition, Instant] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.log = PartitionLog.open(TP, MemoryStore(), LogConfig(), now_ms=0)
        self.log.append_as_leader(build_batch([RecordData(value=b"x")] * 10), leader_epoch=3, now_ms=0)
        self.configs = broker_configs({}, {})
        self.loop: FetchLoop[State] = FetchLoop(self, self.script.outbox, lambda: self.configs, ("loop",))

    def identity(self, fetcher: Fetcher[State]) -> int | None:
        return self.identity_now

    def send(
        self,
        now: Instant,
        fetcher: Fetcher[State],
        purpose: str,
        request: FetchRequest | ListOffsetsRequest,
        on_reply: OnReply,
        *,
        on_frame: OnFrame | None = None,
    ) -> Sent:
        return self.script.requester.send(
            now,
            fetcher.endpoint,
            purpose,
            request,
            17 if purpose == FETCH else 9,
            on_reply,
            timeout_ms=1_000,
            on_frame=on_frame,
        )

    def next_fetch(self, now: Instant, state: State) -> PartitionFetch | Instant | None:
        if (held := self.holds.get(state.tp, 0)) > now:
            return held
        self.heard.append(("next_fetch", state.tp))
        if state.tp == self.raises_for:
            raise ZeroDivisionError
        if not state.may_be_fetched:
            return None
        return PartitionFetch(state.source_topic_id, state.source_epoch, self.log.log_end_offset, -1, 1_000)

    def handle(self, now: Instant, fetcher: Fetcher[State], event: FetchEvent[State]) -> None:
        match event:
            case PartitionConfirmed(state):
                self.names.append((state.tp, fetcher.confirmed_at))
                return
            case Records(state, _, data):
                self.heard.append(("records", state.tp, data.high_watermark))
            case Diverged(_, _, data):
                self.heard.append(("diverged", data.diverging_epoch.end_offset))
            case PartitionError(_, error):
                self.heard.append(("error", error))
            case LeaderMoved(state, hint):
                self.heard.append(("moved", state.tp, hint))
            case ResponseMissed():
                self.heard.append(("unheard",))
            case FetchFailed():
                self.heard.append(("lost",))
                fetcher.is_dead = not self.goes_on
            case NoOffset():
                self.heard.append(("no offset",))
            case LogEndsEarlier(_, _, offset):
                self.heard.append(("shorter", offset))
            case LogStartsLater(_, _, offset):
                self.heard.append(("later start", offset))
            case UnknownEpoch(state):
                self.heard.append(("unknown epoch",))
                if not self.drops:
                    self.loop.pause(now, fetcher, state)

    # -- steps of a test ----------------------------------------------------------------------

    def assign(self, state: State, *, key: int = 1, endpoint: Endpoint = ONE, now: Instant = 0) -> None:
        self.loop.assign(now, (key,), endpoint, state)

    def calls_since_last(self) -> list[tuple[object, ...]]:
        """Return the calls since the last check, without those to build a fetch."""
        heard = [one for one in self.heard if one[0] != "next_fetch"]
        self.heard.clear()
        return heard

    def checked_partitions(self) -> list[int]:
        """Return the partitions whose wanted fetch was requested since the last check."""
        looked = [one[1] for one in self.heard if one[0] == "next_fetch"]
        self.heard = [one for one in self.heard if one[0] != "next_fetch"]
        return [tp.partition for tp in looked if isinstance(tp, TopicPartition)]

    def forgets(self) -> list[int]:
        """Return the partitions that the pending fetch forgets."""
        body = self.script.next(FetchRequest)
        return [partition for topic in body.forgotten_topics_data for partition in topic.partitions]

    def named(self) -> list[tuple[int, int, list[int]]]:
        """Return session id, session epoch and named partitions of the pending fetches."""
        fetches = [one.body for one in self.script.pending_requests() if isinstance(one.body, FetchRequest)]
        return [(f.session_id, f.session_epoch, [p.partition for t in f.topics for p in t.partitions]) for f in fetches]


def many(count: int) -> tuple[Log, list[State]]:
    """Return an owner whose session has `count` partitions with a response for each; its next fetch is in flight."""
    log, states = Log(), [State(TopicPartition("t", number)) for number in range(count)]
    for state in states:
        log.assign(state)
    for _ in range(2):
        log.script.answer(answer())
    log.checked_partitions()
    return log, states


def answer(
    *rows: PartitionData, session: int = 9, error: ErrorCode = ErrorCode.NONE, topic_id: Uuid = TOPIC_ID
) -> FetchResponse:
    topics = [FetchableTopicResponse(topic_id=topic_id, partitions=list(rows))] if rows else []
    return FetchResponse(session_id=session, error_code=error, responses=topics)


def throttled(span_ms: int) -> FetchResponse:
    """Return Kafka's response to a fetch above its quota: nothing, in the same session."""
    return FetchResponse(session_id=9, throttle_time_ms=span_ms)


def row(partition: int = 0, *, error: ErrorCode = ErrorCode.NONE, diverging: int = -1, mark: int = 5) -> PartitionData:
    return PartitionData(
        partition_index=partition,
        error_code=error,
        high_watermark=mark,
        diverging_epoch=EpochEndOffset(epoch=-1 if diverging < 0 else 2, end_offset=diverging),
    )


def offsets(offset: int, error: ErrorCode = ErrorCode.NONE) -> ListOffsetsResponse:
    found = ListOffsetsPartitionResponse(partition_index=0, offset=offset, error_code=error)
    return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=[found])])


def test_one_fetch_is_in_flight_and_a_session_names_only_changes() -> None:
    log = Log()
    log.assign(State(TP))
    log.assign(State(OTHER))
    assert log.named() == [(0, 0, [0])]
    log.script.answer(answer(row()))
    assert log.calls_since_last() == [("records", TP, 5)] and log.named() == [(9, 1, [1])]
    log.script.answer(answer())
    assert log.named() == [(9, 2, [])]


def test_a_fetch_checks_answered_partitions_and_those_marked_changed() -> None:
    log, states = many(3)
    log.script.answer(answer(row(1)))
    assert log.checked_partitions() == [1]
    log.script.answer(answer())
    assert log.checked_partitions() == []
    log.loop.mark_changed(states[2].tp)
    log.loop.mark_changed(TopicPartition("unknown", 0))
    log.script.answer(answer())
    assert log.checked_partitions() == [2]


def test_a_partition_that_is_removed_is_forgotten_at_the_leader() -> None:
    log, states = many(3)
    log.loop.remove(states[1].tp)
    assert log.loop.find(states[1].tp) is None
    log.script.answer(answer())
    assert log.forgets() == [1] and log.checked_partitions() == []


def test_a_withheld_partition_is_checked_when_its_hold_may_be_over() -> None:
    log, states = many(3)
    log.calls_since_last()
    states[1].may_be_fetched = False
    log.loop.mark_changed(states[1].tp)
    log.script.answer(answer())
    assert log.checked_partitions() == [1] and log.calls_since_last() == []
    assert log.forgets() == [1]
    log.script.answer(answer())
    assert log.checked_partitions() == []
    states[1].may_be_fetched = True
    log.loop.mark_changed(states[1].tp)
    log.script.answer(answer())
    assert log.checked_partitions() == [1] and log.named() == [(9, 5, [1])]


def test_a_partition_whose_position_raises_does_not_block_others() -> None:
    log, states = many(3)
    for state in states:
        state.source_epoch += 1
        log.loop.mark_changed(state.tp)
    log.raises_for = states[1].tp
    with pytest.raises(ZeroDivisionError):
        log.script.answer(answer())
    assert log.checked_partitions() == [0, 1]
    log.loop.on_timer(BACKOFF, (1,))
    assert log.named() == [(9, 3, [0, 2])]


def test_a_new_session_names_all_partitions_and_checks_none_again() -> None:
    log, _ = many(3)
    log.script.answer(answer(session=0, error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND))
    assert log.named() == [(9, 0, [0, 1, 2])] and log.checked_partitions() == []


def test_new_configs_cause_a_check_of_all_partitions() -> None:
    log, _ = many(3)
    log.configs = broker_configs({}, {})
    log.script.answer(answer())
    assert log.checked_partitions() == [0, 1, 2] and log.named() == [(9, 3, [])]


@pytest.mark.parametrize("news", [0, 3])
def test_the_cost_of_a_poll_grows_with_changes_only(news: int) -> None:
    """Independent of the other partitions in the session."""

    def cost(partitions: int) -> int:
        log, states = many(partitions)
        for state in states[:news]:
            log.loop.mark_changed(state.tp)
        told = answer(*(row(state.tp.partition) for state in states[-news:] if news))
        return count_calls(lambda: log.script.answer(told))

    assert cost(10) == cost(500)


def test_a_partition_returns_after_its_own_pause() -> None:
    log, _ = many(2)
    log.script.answer(answer(row(0, error=ErrorCode.NOT_LEADER_OR_FOLLOWER)), 0)
    log.script.answer(answer(row(1, error=ErrorCode.NOT_LEADER_OR_FOLLOWER)), 300 * MILLISECOND)
    log.script.answer(answer(session=0), 300 * MILLISECOND)
    assert log.named() == [] and log.script.timers == {("loop", 1): BACKOFF}, "both pause"
    log.loop.on_timer(BACKOFF, (1,))
    assert log.named() == [(0, 0, [0])]
    assert log.script.timers == {("loop", 1): BACKOFF + 300 * MILLISECOND}
    log.loop.on_timer(BACKOFF + 300 * MILLISECOND, (1,))
    log.script.answer(answer(), BACKOFF + 300 * MILLISECOND)
    assert log.named() == [(9, 1, [1])]


@pytest.mark.kip("219", "throttled clients")
def test_a_throttling_leader_gets_no_fetch_before_its_time_is_over() -> None:
    log, state, other = Log(), State(TP), State(OTHER)
    log.assign(state)
    log.script.answer(throttled(700))
    assert log.named() == [] and log.script.timers == {("loop", 1): 700 * MILLISECOND}
    log.assign(other, now=300 * MILLISECOND)
    log.loop.on_timer(600 * MILLISECOND, (1,))
    assert log.named() == [] and log.script.timers == {("loop", 1): 700 * MILLISECOND}, "whoever wakes it"
    log.loop.on_timer(700 * MILLISECOND, (1,))
    assert log.named() == [(9, 1, [1])]


@pytest.mark.kip("219", "throttled clients")
def test_a_throttled_response_is_not_one_without_news() -> None:
    """The same bytes arrive again: each throttle time is waited for."""
    log = Log()
    log.assign(State(TP))
    now = 0
    for _ in range(4):
        log.script.answer(throttled(700), now)
        now += 700 * MILLISECOND
        assert log.named() == []
        log.loop.on_timer(now, (1,))
    assert [fetcher.throttled_ms for fetcher in log.loop.fetchers()] == [2_800]


@pytest.mark.kip("219", "throttled clients")
@pytest.mark.parametrize("throttled_ms", [300, 2_000])
def test_a_pause_during_a_throttle_still_ends(throttled_ms: int) -> None:
    log = Log()
    log.assign(State(TP))
    log.script.answer(answer(row(error=ErrorCode.NOT_LEADER_OR_FOLLOWER), session=9))
    log.script.answer(throttled(throttled_ms))
    fired: list[Instant] = []
    while not log.named():
        fired.append(log.script.timers.pop(("loop", 1)))
        log.loop.on_timer(fired[-1], (1,))
        log.script.pending_requests()
    assert fired[-1] == max(BACKOFF, throttled_ms * MILLISECOND)


def test_a_partition_held_by_a_quota_leaves_the_fetch() -> None:
    log, states = many(2)
    log.holds[states[0].tp] = 5 * BACKOFF
    log.loop.mark_changed(states[0].tp)
    log.script.answer(answer(), 1)
    assert log.forgets() == [0] and log.script.timers == {("loop", 1): 5 * BACKOFF}
    log.script.answer(answer(row(1)), 2)
    assert log.calls_since_last()[-1] == ("records", states[1].tp, 5)
    log.script.break_link(3)
    assert log.script.timers == {("loop", 1): 3 + BACKOFF}
    log.loop.on_timer(3 + BACKOFF, (1,))
    assert log.named() == [(9, 0, [1])], "the timer of another wait was needed meanwhile"
    assert log.script.timers == {("loop", 1): 5 * BACKOFF}
    log.loop.on_timer(5 * BACKOFF, (1,))
    log.script.answer(answer(row(1)), 5 * BACKOFF)
    assert log.named() == [(9, 1, [0])]


def test_a_hold_that_ends_early_is_over_when_the_owner_reports_it() -> None:
    log, states = many(1)
    log.holds[states[0].tp] = 5 * BACKOFF
    log.loop.mark_changed(states[0].tp)
    log.script.answer(answer(), 1)
    assert log.forgets() == [0]
    log.script.answer(answer(), 2)
    del log.holds[states[0].tp]
    log.assign(states[0], now=3)
    assert log.named() == [(9, 4, [0])]


def test_fetches_and_the_bytes_of_their_records_are_counted() -> None:
    log = Log()
    log.assign(State(TP))
    full = row()
    full.records = build_batch([RecordData(value=b"x")], base_offset=10)
    log.script.answer(answer(full))
    for _ in range(3):  # One response is decoded, two are the same without news.
        log.script.answer(answer())
    log.script.break_link()
    (fetcher,) = log.loop.fetchers()
    assert (fetcher.requests.count, fetcher.record_bytes.count) == (4, len(full.records)), (
        "one without an answer is none"
    )


def test_a_response_about_an_earlier_topic_of_the_name_does_not_count() -> None:
    log, state = Log(), State(TP)
    log.assign(state)
    state.source_topic_id = Uuid.from_ints(3, 4)
    log.script.answer(answer(row()))
    assert log.calls_since_last() == [("unheard",)]


def test_a_partition_assigned_again_between_two_fetches_has_no_response_yet() -> None:
    """The leader sent its offsets to the former state, and repeats them only in a new session."""
    log, states = many(2)
    log.calls_since_last()
    log.loop.remove(states[0].tp)
    log.assign(State(states[0].tp))
    log.assign(states[1])
    assert log.calls_since_last() == [], "while a fetch is under way its answer would end the new session"
    log.script.answer(answer())
    assert log.calls_since_last() == [("unheard",)]
    log.script.answer(answer())
    assert log.calls_since_last() == [], "once"


def test_a_partition_that_no_fetch_has_named_may_be_assigned_again_within_the_session() -> None:
    log, _ = many(1)
    log.calls_since_last()
    other = State(TopicPartition(TP.topic, 1))
    log.assign(other)
    log.loop.remove(other.tp)
    log.assign(State(other.tp))
    log.script.answer(answer())
    assert log.calls_since_last() == []
    assert log.named() == [(9, 3, [1])], "the session goes on, and what it has is not named again"


def test_a_response_from_before_a_new_assignment_does_not_count() -> None:
    log, (state,) = many(1)
    log.calls_since_last()
    log.loop.remove(state.tp)
    log.assign(state)
    log.script.answer(answer(row()))
    assert set(log.calls_since_last()) == {("unheard",)}
    log.script.answer(answer(row()))
    assert log.calls_since_last() == [("records", state.tp, 5)]


def test_a_lost_session_is_reopened_immediately() -> None:
    log = Log()
    log.assign(State(TP))
    log.script.answer(answer(row()))
    log.script.answer(answer(session=0, error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND))
    assert log.named() == [(9, 0, [0])]
    assert log.calls_since_last() == [("records", TP, 5)]


@pytest.mark.parametrize("silent", [True, False])
def test_a_lost_leader_gets_a_fetch_again_after_a_pause(silent: bool) -> None:
    log = Log()
    log.assign(State(TP))
    if silent:
        log.script.break_link(5)
    else:
        log.script.answer(answer(error=ErrorCode.UNKNOWN_SERVER_ERROR), 5)
    assert log.calls_since_last() == [("lost",)] and log.named() == []
    assert log.script.timers == {("loop", 1): 5 + BACKOFF}
    log.loop.on_timer(5 + BACKOFF, (1,))
    assert log.named() == [(0, 0, [0])]


def test_an_owner_that_gives_up_is_not_woken() -> None:
    log = Log(goes_on=False)
    log.assign(State(TP))
    log.script.break_link()
    assert log.script.timers == {}


def test_a_partition_with_an_error_pauses_while_others_continue() -> None:
    log, first, second = Log(), State(TP), State(OTHER)
    log.assign(first)
    log.script.answer(answer(row(error=ErrorCode.NOT_LEADER_OR_FOLLOWER)))
    assert log.calls_since_last() == [("error", ErrorCode.NOT_LEADER_OR_FOLLOWER)]
    assert first.paused_until == BACKOFF == log.script.timers["loop", 1]
    log.script.answer(answer())
    log.assign(second)
    forgets, asked = log.script.pending_requests()[0].body, log.named()
    assert isinstance(forgets, FetchRequest) and asked == [(9, 2, [1])]
    log.script.answer(answer())
    log.script.answer(answer(), BACKOFF)
    assert log.named() == [(9, 4, [0])]


def test_an_unknown_error_code_is_treated_like_others() -> None:
    log = Log()
    log.assign(State(TP))
    data = row()
    data.error_code = 9_999
    log.script.answer(answer(data))
    assert log.calls_since_last() == [("error", ErrorCode.UNKNOWN_SERVER_ERROR)]


def test_a_response_of_another_leader_epoch_does_not_count() -> None:
    log, state = Log(), State(TP)
    log.assign(state)
    state.source_epoch = 5
    log.script.answer(answer(row()))
    assert log.calls_since_last() == [("unheard",)]
    log.loop.remove(TP)
    log.script.answer(answer(row()))
    assert log.calls_since_last() == [("unheard",)]


def test_a_moved_leader_gets_fetches_only_at_its_new_place() -> None:
    log, state = Log(), State(TP)
    log.assign(state)
    log.assign(state, endpoint=TWO)
    old, new = log.script.pending_requests()
    assert (old.peer, new.peer) == (ONE, TWO)
    log.script.answer(answer(row()))
    assert log.calls_since_last() == []
    log.assign(state, key=2, endpoint=ONE)
    found = log.loop.find(TP)
    assert found is not None and found[0].key == (2,)


@pytest.mark.parametrize(
    ("latest", "earliest", "told"),
    [
        (6, None, ("shorter", 6)),
        (10, 12, ("later start", 12)),
        (14, 11, ("later start", 11)),
        (10, 10, ("unknown epoch",)),
        (14, 0, ("unknown epoch",)),
    ],
)
def test_out_of_range_is_resolved_by_where_the_leader_ends_and_begins(
    latest: int, earliest: int | None, told: tuple[object, ...]
) -> None:
    log, state = Log(), State(TP)
    log.assign(state)
    log.script.answer(answer(row(error=ErrorCode.OFFSET_OUT_OF_RANGE)))
    assert state.resolving
    specs = []
    for offset in (latest, earliest):
        if offset is not None:
            # The fetch that forgets the partition continues beside ListOffsets.
            log.script.asked.sort(key=lambda one: isinstance(one.body, FetchRequest))
            asked = log.script.next(ListOffsetsRequest).topics[0].partitions[0]
            specs.append((asked.timestamp, asked.current_leader_epoch))
            log.script.answer(offsets(offset), 3)
    assert specs == [(OffsetSpec.LATEST, 4), (OffsetSpec.EARLIEST, 4)][: len(specs)]
    assert log.calls_since_last() == [told] and not state.resolving
    if told != ("unknown epoch",):  # Then it is paused.
        log.script.answer(answer(), 3)
        assert [partitions for _, _, partitions in log.named()] == [[0]], "it is fetched again"
    assert state.paused_until == (3 + BACKOFF if told == ("unknown epoch",) else 0)


def test_an_offset_that_the_leader_did_not_return_is_requested_later() -> None:
    log, state = Log(), State(TP)
    log.assign(state)
    log.script.answer(answer(row(error=ErrorCode.OFFSET_OUT_OF_RANGE)))
    log.script.answer(offsets(-1, ErrorCode.NOT_LEADER_OR_FOLLOWER), 3)
    assert log.calls_since_last() == [("no offset",)] and state.paused_until == 3 + BACKOFF


def test_without_an_identity_no_request_is_sent() -> None:
    log = Log(identity_now=None)
    log.assign(State(TP))
    assert log.script.pending_requests() == []


def test_a_leader_named_with_an_error_is_passed_on_with_its_endpoint() -> None:
    log = Log()
    log.assign(State(TP))
    data = row(error=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    data.current_leader = LeaderIdAndEpoch(leader_id=2, leader_epoch=7)
    reply = answer(data)
    reply.node_endpoints = [NodeEndpoint(node_id=2, host=TWO.host, port=TWO.port)]
    log.script.answer(reply)
    told = [("error", ErrorCode.NOT_LEADER_OR_FOLLOWER), ("moved", TP, LeaderHint(2, 7, TWO))]
    assert log.calls_since_last() == told
