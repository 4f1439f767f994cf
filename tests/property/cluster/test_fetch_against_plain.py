"""A fetch that checks only partitions with possible news is equivalent to one that checks all of them (KIP-227).

The plain rule checks every partition of the session at every fetch. It is implemented here, and runs in parallel with a
broker: after each step the responses must be equal, and the leader's state of its followers' progress too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.lone_broker import LoneBroker, frame_of, version
from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.images import Delta
from kmirror.cluster.node.partition import UNKNOWN_OFFSET, Follower, Partition
from kmirror.cluster.replication.fetch_read import Reader, check_fetch, end_for, error_row, read, replica_error
from kmirror.cluster.replication.fetch_sessions import UNKNOWN_HIGH_WATERMARK, knows_lower_watermark
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import Effect, LinkOpened, Reply, RequestReceived, SetTimer, TimerFired
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic, ReplicaState
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.headers import decode_response
from kmirror.protocol.registry import key_of
from kmirror.records.batch import iter_batches
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import CONSUMER_REPLICA_ID
from tests.builders import batch
from tests.client_links import link_opened

TOPIC = "t"
COUNT = 3
REPLICAS = (1, 2, 3)
LAG_MS = 300
WAIT_MS = 500
WAKING = ("isr", "leader")
"""After these a waiting fetch is answered immediately if possible; some others are seen only by the next fetch."""
INDEXES = st.integers(0, COUNT - 1)
FETCHERS = ("2", "2 again", "3", "consumer")
"""Broker 2 has two sessions, unlike any Kafka broker, and both count."""
IDS = {"2": 2, "2 again": 2, "3": 3, "consumer": CONSUMER_REPLICA_ID}
OFFSETS = st.sampled_from(["end", "same", "behind", "beyond"])
FETCH = st.tuples(
    st.sampled_from(FETCHERS),
    st.one_of(st.just({}), st.just({}), st.dictionaries(INDEXES, OFFSETS, max_size=COUNT)),
    st.booleans(),
)
"""A fetcher, its wrongly requested partitions, and whether it waits for news."""
CHANGES = st.one_of(
    st.tuples(st.just("append"), INDEXES, st.integers(1, 3)),
    st.tuples(st.just("append"), INDEXES, st.integers(1, 3)),
    st.tuples(st.just("wait"), st.integers(1, 400), st.none()),
    st.tuples(st.just("forget"), INDEXES, st.sampled_from(FETCHERS)),
    st.tuples(st.just("open anew"), st.integers(0, 1), st.sampled_from(FETCHERS)),
    st.tuples(st.just("cut"), INDEXES, st.integers(0, 4)),
    st.tuples(st.just("cut epochs"), INDEXES, st.none()),
    st.tuples(st.just("restart"), INDEXES, st.integers(0, 5)),
    st.tuples(st.just("was cut"), INDEXES, st.none()),
    st.tuples(st.just("admit"), INDEXES, st.sampled_from([(), (2,), (2, 3)])),
    st.tuples(st.just("demand cut"), INDEXES, st.sampled_from([2, 3])),
    st.tuples(st.just("isr"), INDEXES, st.sampled_from([(1, 2, 3), (1, 2), (1, 3), (1,)])),
    st.tuples(st.just("leader"), INDEXES, st.sampled_from([1, 2])),
    st.tuples(st.just("withhold"), INDEXES, st.booleans()),
    st.tuples(st.just("raise log start"), INDEXES, st.none()),
    st.tuples(st.just("foreign"), INDEXES, st.booleans()),
)
ROUNDS = st.lists(st.tuples(CHANGES, st.lists(FETCH, max_size=5)), max_size=12)


class Withholder(BrokerComponent):
    """Withholds logs, and reports foreign epochs, under control of the test."""

    name = "says"

    def __init__(self) -> None:
        self.withheld: set[int] = set()
        self.foreign: set[int] = set()

    def has_foreign_epochs(self, partition: Partition) -> bool:
        return partition.tp.partition in self.foreign

    def withholds_log(self, partition: Partition) -> bool:
        return partition.tp.partition in self.withheld


@dataclass
class PlainSessionPartition:
    """One partition of a plain session."""

    request: FetchPartition
    offsets: tuple[int, int, int] | None = None
    """High watermark, last stable offset and log start of the last response."""
    answer: PartitionData | None = None


@dataclass
class PlainSession:
    """A session in the plain rule: its partitions, in the order in which they are served."""

    name: str
    fetcher: int
    session_id: int = 0
    epoch: int = 0
    partitions: dict[int, PlainSessionPartition] = field(default_factory=dict)
    waiting: SetTimer | None = None
    """Timer of the waiting fetch."""
    is_full: bool = False
    """Whether the response to that fetch contains all partitions."""

    @property
    def link(self) -> LinkOpened:
        return link_opened(self.name)


class Stage:
    """A broker that leads the partitions, the sessions of its fetchers, and the plain rule."""

    def __init__(self) -> None:
        self.lone = LoneBroker({TOPIC: COUNT}, replicas=REPLICAS)
        self.says = Withholder()
        self.parts = self.lone.broker.parts
        self.parts.components.add(self.says)
        self.sessions = {name: PlainSession(name, replica) for name, replica in IDS.items()}
        for session in self.sessions.values():
            self.lone.broker.handle(self.now, session.link)
        self.followers: dict[tuple[int, int], tuple[Follower, Follower]] = {}
        """(partition, replica) to the progress in the leader and in the plain rule."""
        self.follow_leaderships()

    @property
    def now(self) -> Instant:
        return self.lone.now

    def partition(self, index: int) -> Partition:
        return self.lone.partition(TOPIC, index)

    def follow_leaderships(self) -> None:
        """Take over the initial followers of a new leader."""
        for index in range(COUNT):
            for replica in REPLICAS:
                real = self.partition(index).followers.get(replica)
                known = self.followers.get((index, replica))
                if real is None:
                    self.followers.pop((index, replica), None)
                elif known is None or known[0] is not real:
                    self.followers[index, replica] = real, replace(real)

    # -- steps --------------------------------------------------------------------------------

    def step(self, what: str, first: int, second: object) -> None:
        replicas = self.parts.replicas
        match what, second:
            case "append", int():
                if (partition := replicas.partitions.find_led(self.partition(first).tp)) is not None:
                    replicas.appends.append(self.now, partition, batch(second, timestamp=self.lone.now_ms))
            case "wait", None:
                self.lone.now += first * MILLISECOND
            case "forget", str():
                self.fetch(second, {}, forgotten=[first])
            case "open anew", str() if self.sessions[second].waiting is None:
                session = self.sessions[second]
                session.session_id *= first  # With 0 the former session stays open, and is not used again.
                session.epoch = 0
                self.fetch(second, {})
            case (("cut" | "cut epochs" | "restart" | "was cut" | "admit" | "demand cut" | "isr" | "leader"), _):
                self.change(what, self.partition(first), second)
            case "raise log start", None:
                partition = self.partition(first)
                partition.log.advance_log_start(partition.log.high_watermark)
                partition.notify_watchers()  # Like log_retention.py.
            case (("withhold" | "foreign"), bool()):
                chosen = self.says.withheld if what == "withhold" else self.says.foreign
                (chosen.add if second else chosen.discard)(first)
                # It comes with a topic config, or from BrokerComponent.withholds_log.
                self.partition(first).notify_watchers()
                if what == "withhold" and not second:
                    replicas.changes.mark_changed(self.partition(first).tp)

    def change(self, what: str, partition: Partition, second: object) -> None:
        """Make a change of the controller, of a mirror or of a truncation."""
        replicas, log, index = self.parts.replicas, partition.log, partition.tp.partition
        match what, second:
            case "isr", tuple():
                self.publish(PartitionChangeRecord(partition_id=index, isr=list(second)))
            case "leader", int():
                self.publish(PartitionChangeRecord(partition_id=index, leader=second, isr=list(REPLICAS)))
            case _ if not partition.is_leader:
                pass
            case "cut", int():
                end = log.log_end_offset
                replicas.appends.truncate(self.now, partition, max(end - second, log.log_start_offset))
                if log.log_end_offset < end:
                    self.on_log_cut(index)
            case "cut epochs", None:
                log.assign_epoch_start(partition.leader_epoch + 1)  # An epoch without a batch.
                self.parts.replicas.changes.mark_changed(partition.tp)
                for _ in range(3):
                    for fetcher in FETCHERS:
                        self.fetch(fetcher, {index: "end"})
                replicas.appends.truncate(self.now, partition, log.log_end_offset)
            case "restart", int():
                replicas.appends.truncate_fully(self.now, partition, second)
                self.on_log_cut(index)
            case "was cut", None:
                partition.on_log_cut(self.now)
                self.on_log_cut(index)
            case "admit", tuple():
                partition.barred_from_isr = frozenset(set(REPLICAS) - set(second))
            case "demand cut", int():
                partition.demand_cut(second, -1)

    def on_log_cut(self, index: int) -> None:
        for (where, _), (_, plain) in self.followers.items():
            if where == index:
                plain.log_end = UNKNOWN_OFFSET
                plain.own_caught_up_at = max(plain.own_caught_up_at, self.now)

    def publish(self, record: PartitionChangeRecord) -> None:
        record.topic_id = self.lone.topic_ids[TOPIC]
        delta = Delta()
        self.lone.broker.context.image.apply(record, delta)
        self.lone.broker.publish(self.now, delta)
        self.follow_leaderships()

    # -- fetching -----------------------------------------------------------------------------

    def fetch(self, fetcher: str, names: dict[int, str], *, forgotten: Sequence[int] = (), waits: bool = False) -> None:
        """Fetch in the session of `fetcher`, and compare the response with the plain rule's."""
        session = self.sessions[fetcher]
        if session.waiting is not None:
            return  # A link processes one request at a time.
        session.is_full = session.epoch == 0
        if session.is_full:
            session.partitions = {}
            forgotten = ()
        for index in forgotten:
            session.partitions.pop(index, None)
        wanted = [self.request(session, index, names.get(index, "as answered")) for index in range(COUNT)]
        known = session.partitions
        rows = [row for row in wanted if row.partition not in known or known[row.partition].request != row]
        rows = [row for row in rows if row.partition not in forgotten]
        for row in rows:
            known.setdefault(row.partition, PlainSessionPartition(row)).request = row
        topic_id = self.lone.topic_ids[TOPIC]
        request = FetchRequest(
            replica_state=ReplicaState(replica_id=session.fetcher, replica_epoch=session.fetcher),
            max_wait_ms=WAIT_MS * waits,
            min_bytes=1,
            max_bytes=1 << 20,
            session_id=session.session_id,
            session_epoch=session.epoch,
            topics=[FetchTopic(topic_id=topic_id, partitions=rows)] if rows else [],
        )
        if forgotten:
            request.forgotten_topics_data = [ForgottenTopic(topic_id=topic_id, partitions=list(forgotten))]
        self.learn(session)
        effects = self.lone.broker.handle(self.now, RequestReceived(session.link.link, frame_of(request)))
        timers = [effect for effect in effects if isinstance(effect, SetTimer) and effect.key[0] == "parked"]
        assert len(timers) == (waits and not self.is_ready(session))
        session.waiting = timers[0] if timers else None
        self.take(effects, [] if timers else [session])
        if session.fetcher != CONSUMER_REPLICA_ID:
            for index in set(session.partitions) - self.says.withheld:
                partition = self.partition(index)
                if partition.is_leader and self.refuse(session, index) is None:
                    assert not partition.may_join(session.fetcher), "it was proposed"

    def take(self, effects: Sequence[Effect], due: Sequence[PlainSession] = ()) -> None:
        """Compare the responses among `effects` with the plain rule's; those in `due` must be there."""
        replies = {effect.link: effect for effect in effects if isinstance(effect, Reply)}
        assert all(session.link.link in replies for session in due)
        for session in self.sessions.values():
            reply = replies.get(session.link.link)
            if reply is None:
                continue
            body = decode_response(b"".join(reply.chunks), key_of(FetchRequest), version(FetchRequest)).body
            assert isinstance(body, FetchResponse) and body.error_code == 0
            session.session_id, session.epoch, session.waiting = body.session_id, session.epoch + 1, None
            answered = [row for topic in body.responses for row in topic.partitions]
            assert answered == self.answer(session)

    def end_waits(self) -> None:
        """Let every waiting fetch time out."""
        for session in self.sessions.values():
            if session.waiting is not None:
                timer = session.waiting
                self.take(self.lone.broker.handle(self.now, TimerFired(timer.key)), [session])

    def request(self, session: PlainSession, index: int, offset: str) -> FetchPartition:
        log, told = self.partition(index).log, session.partitions.get(index)
        where, epoch = log.log_end_offset, None
        if told is not None and offset in ("same", "as answered"):
            where, epoch = told.request.fetch_offset, told.request.last_fetched_epoch
            answer = told.answer if offset == "as answered" else None
            if answer is not None and answer.records:
                last = list(iter_batches(answer.records))[-1]
                where, epoch = last.last_offset + 1, last.partition_leader_epoch
            elif answer is not None and answer.diverging_epoch.epoch != -1:
                where = min(where, answer.diverging_epoch.end_offset)
                epoch = min(epoch, answer.diverging_epoch.epoch) if where else -1
            elif answer is not None and answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                where, epoch = log.log_end_offset, None
        elif offset == "behind":
            where = max(log.log_start_offset, log.log_end_offset - 2)
        elif offset == "beyond":
            where = log.log_end_offset + 2
        if epoch is None:
            epoch = log.latest_epoch if where > log.log_start_offset else -1
        high = log.high_watermark if told is None or told.offsets is None else told.offsets[0]
        return FetchPartition(
            partition=index,
            current_leader_epoch=self.partition(index).leader_epoch,
            fetch_offset=where,
            last_fetched_epoch=epoch,
            partition_max_bytes=1 << 20,
            high_watermark=UNKNOWN_HIGH_WATERMARK if session.fetcher == CONSUMER_REPLICA_ID else high,
        )

    # -- the plain rule -----------------------------------------------------------------------

    def learn(self, session: PlainSession) -> None:
        """Update the follower's progress from every fetch offset of the session."""
        if session.fetcher == CONSUMER_REPLICA_ID:
            return
        for index, told in session.partitions.items():
            partition = self.partition(index)
            if not partition.is_leader or self.refuse(session, index) is not None:
                continue
            follower = self.followers[index, session.fetcher][1]
            offset, end = told.request.fetch_offset, partition.log.log_end_offset
            if offset >= end:
                follower.own_caught_up_at = max(follower.own_caught_up_at, self.now)
            elif offset >= follower.leader_end_at_fetch:
                follower.own_caught_up_at = max(follower.own_caught_up_at, follower.own_fetched_at)
            follower.log_end, follower.own_fetched_at, follower.leader_end_at_fetch = offset, self.now, end

    def reader(self, session: PlainSession) -> Reader:
        return Reader(session.fetcher, False, leader_only=session.fetcher != CONSUMER_REPLICA_ID)

    def refuse(self, session: PlainSession, index: int) -> PartitionData | None:
        foreign = index in self.says.foreign
        told = session.partitions[index]
        return check_fetch(self.partition(index), told.request, self.reader(session), foreign=foreign)

    def is_ready(self, session: PlainSession) -> bool:
        """Return whether the response cannot wait: there are records, or an urgent change."""
        for index, told in session.partitions.items():
            data = self.look(session, index)
            if data.error_code == ErrorCode.OFFSET_NOT_AVAILABLE:
                continue
            if data.records or data.error_code or data.diverging_epoch.epoch != -1:
                return True
            if session.fetcher != CONSUMER_REPLICA_ID:
                follower = self.partition(index).followers[session.fetcher]
                if knows_lower_watermark(told.request, data) or follower.log_end == UNKNOWN_OFFSET:
                    return True
        return False

    def answer(self, session: PlainSession) -> list[PartitionData]:
        """Return the plain rule's response, after the broker's response, on which it does not depend."""
        rows = []
        for index, told in list(session.partitions.items()):
            data = self.look(session, index)
            told.answer = data
            offsets = (data.high_watermark, data.last_stable_offset, data.log_start_offset)
            if data.error_code == ErrorCode.OFFSET_NOT_AVAILABLE and not session.is_full:
                continue
            diverges = data.diverging_epoch.epoch != -1
            news = bool(data.records or data.error_code or diverges or offsets != told.offsets)
            news = news or knows_lower_watermark(told.request, data)
            told.offsets = None if data.error_code else offsets
            if data.records:
                session.partitions[index] = session.partitions.pop(index)
            if news or session.is_full:
                rows.append(data)
        return rows

    def look(self, session: PlainSession, index: int) -> PartitionData:
        partition, told, reader = self.partition(index), session.partitions[index], self.reader(session)
        if not partition.is_leader and reader.leader_only:
            error = replica_error(partition, told.request.current_leader_epoch, leader_only=True)
            return self.elsewhere(partition, error_row(index, error))
        if not partition.is_leader or index in self.says.withheld:  # No leader ever responds to this broker (D57).
            return error_row(index, ErrorCode.OFFSET_NOT_AVAILABLE)
        refused = self.refuse(session, index)
        if refused is not None:
            return self.elsewhere(partition, refused)
        end = end_for(partition.log, reader)
        foreign = index in self.says.foreign
        return read(partition, told.request, reader, end_offset=end, max_bytes=1 << 20, min_one=True, foreign=foreign)

    def elsewhere(self, partition: Partition, data: PartitionData) -> PartitionData:
        if data.error_code in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH):
            data.current_leader.leader_id = partition.image.leader
            data.current_leader.leader_epoch = partition.leader_epoch
        return data

    def end_event(self) -> None:
        """Do the work at the end of an event, advance time, and compare."""
        self.parts.replicas.purgatory.wake_waiters(self.now)
        self.take(self.lone.broker.context.outbox.drain())
        self.compare()
        self.lone.now += 10 * MILLISECOND

    def compare(self) -> None:
        """Compare the leader's state of its followers with the plain rule's."""
        lag_max = LAG_MS * MILLISECOND
        for (index, replica), (real, plain) in self.followers.items():
            partition = self.partition(index)
            assert partition.followers[replica] is real
            assert (real.log_end, real.fetched_at) == (plain.log_end, plain.fetched_at), (index, replica)
            assert real.caught_up_at == plain.caught_up_at, (index, replica)
            lags = plain.log_end != partition.log.log_end_offset and self.now - plain.caught_up_at > lag_max
            asked = partition.pending_isr is None and replica in partition.isr
            assert (replica in partition.lagging_members(self.now, lag_max)) == (lags and asked)


@pytest.mark.kip("227", "incremental fetch")
@settings(max_examples=100)
@given(ROUNDS)
def test_an_incremental_fetch_is_answered_like_a_full_one(
    rounds: list[tuple[tuple[str, int, object], list[tuple[str, dict[int, str], bool]]]],
) -> None:
    stage = Stage()
    for index in range(COUNT):
        stage.step("append", index, 2)
    for _ in range(4):  # Then no partition needs to be checked any more.
        for fetcher in FETCHERS:
            stage.fetch(fetcher, {})
    for (what, first, second), fetches in rounds:
        stage.step(what, first, second)
        stage.end_event()
        if what in WAKING or (what == "append" and stage.partition(first).is_leader):
            waiting = [one for one in stage.sessions.values() if one.waiting is not None and first in one.partitions]
            assert not any(stage.is_ready(one) for one in waiting)
        for fetcher, names, waits in fetches:
            stage.fetch(fetcher, names, waits=waits)
            stage.end_event()
    stage.end_waits()
    for _ in range(2):
        for fetcher in FETCHERS:
            stage.fetch(fetcher, {})
            stage.end_event()
