"""A fetch in a single broker: partitions checked, log reads and waits, counted in calls and reads."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.lone_broker import LoneBroker, frame_of, version
from kmirror.cluster.authorizer import Resource, Rights
from kmirror.cluster.broker.apis import fast_fetch
from kmirror.cluster.broker.apis import fetch as fetch_api
from kmirror.cluster.images import Delta
from kmirror.cluster.node.partition import Partition
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.events import Effect, Reply, RequestReceived, SetTimer, TimerFired
from kmirror.kernel.uuid import Uuid
from kmirror.log.partition_log import PartitionLog
from kmirror.protocol.gen.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation
from tests.builders import batch
from tests.call_counts import count_calls
from tests.client_links import link_opened

TOPIC = "t"
CONSUMER_REPLICA_ID, FOLLOWER = -1, 2
BATCH = len(batch())
UNBOUND = 1 << 20


class Fetcher:
    """One session with a lone broker, over its own link."""

    def __init__(self, broker: LoneBroker, replica_id: int = CONSUMER_REPLICA_ID, *, name: str = "fetcher") -> None:
        self.broker = broker
        self.replica_id = replica_id
        self.link = link_opened(name)
        broker.broker.handle(broker.now, self.link)
        self.offsets: dict[int, int] = {}
        self.forgotten: list[int] = []
        self.session_id = self.epoch = 0

    def frame(self, named: Sequence[int], *, max_wait_ms: int, min_bytes: int, max_bytes: int, most: int) -> bytes:
        rows = [
            FetchPartition(
                partition=index,
                current_leader_epoch=self.broker.partition(TOPIC, index).leader_epoch,
                fetch_offset=self.offsets.setdefault(index, 0),
                partition_max_bytes=most,
            )
            for index in named
        ]
        return frame_of(
            FetchRequest(
                replica_state=ReplicaState(replica_id=self.replica_id, replica_epoch=max(self.replica_id, -1)),
                max_wait_ms=max_wait_ms,
                min_bytes=min_bytes,
                max_bytes=max_bytes,
                session_id=self.session_id,
                session_epoch=self.epoch,
                topics=[FetchTopic(topic_id=self.broker.topic_ids[TOPIC], partitions=rows)] if rows else [],
                forgotten_topics_data=[
                    ForgottenTopic(topic_id=self.broker.topic_ids[TOPIC], partitions=[index])
                    for index in self.forgotten
                ],
            )
        )

    def ask(
        self,
        named: Sequence[int] = (),
        *,
        max_wait_ms: int = 0,
        min_bytes: int = 1,
        max_bytes: int = UNBOUND,
        most: int = UNBOUND,
    ) -> list[Effect]:
        """Send a fetch; return all effects."""
        frame = self.frame(named, max_wait_ms=max_wait_ms, min_bytes=min_bytes, max_bytes=max_bytes, most=most)
        return self.broker.broker.handle(self.broker.now, RequestReceived(self.link.link, frame))

    def fetch(self, named: Sequence[int] = (), **how: int) -> list[PartitionData]:
        """Fetch, and process the response."""
        return self.process_response(self.ask(named, **how))

    def process_response(self, effects: Sequence[Effect]) -> list[PartitionData]:
        """Process the response among `effects`; return its rows."""
        (reply,) = [effect for effect in effects if isinstance(effect, Reply) and effect.link == self.link.link]
        body = decode_response(b"".join(reply.chunks), key_of(FetchRequest), version(FetchRequest)).body
        assert isinstance(body, FetchResponse) and body.error_code == 0
        self.session_id = body.session_id
        self.epoch = self.epoch + 1 if self.epoch >= 0 else self.epoch
        return [row for topic in body.responses for row in topic.partitions]

    def settle(self, partitions: int) -> None:
        """Fetch until no partition needs to be checked."""
        self.fetch(range(partitions))
        self.fetch()


def partitions_with_records(rows: Sequence[PartitionData]) -> list[int]:
    """Return the partitions with records."""
    return [row.partition_index for row in rows if row.records]


def errors(rows: Sequence[PartitionData]) -> dict[int, int]:
    return {row.partition_index: row.error_code for row in rows if row.error_code}


def append(broker: LoneBroker, index: int, count: int = 1) -> list[Effect]:
    """Append batches of one record to a partition; return the effects."""
    for _ in range(count):
        broker.broker.parts.replicas.appends.append(
            broker.now, broker.partition(TOPIC, index), batch(timestamp=broker.now_ms)
        )
    return end_event(broker)


def end_event(broker: LoneBroker) -> list[Effect]:
    """End the event in which the test acted; return its effects."""
    broker.broker.parts.replicas.purgatory.wake_waiters(broker.now)
    return broker.broker.context.outbox.drain()


def publish(broker: LoneBroker, *records: Message) -> list[Effect]:
    delta = Delta()
    for record in records:
        broker.broker.context.image.apply(record, delta)
    broker.broker.publish(broker.now, delta)
    return end_event(broker)


def time_out(broker: LoneBroker, effects: Sequence[Effect]) -> list[Effect]:
    (timer,) = [effect for effect in effects if isinstance(effect, SetTimer)]
    return broker.broker.handle(timer.at, TimerFired(timer.key))


class Counted:
    """Counts the partitions that are checked, and the reads of their logs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.looks: list[int] = []
        self.reads: list[int] = []
        check_fetch, read = fetch_api.check_fetch, PartitionLog.read

        def looking(partition: Partition, *args: object, **named: object) -> PartitionData | None:
            self.looks.append(partition.tp.partition)
            return check_fetch(partition, *args, **named)  # type: ignore[arg-type]

        def reading(log: PartitionLog, *args: object, **named: object) -> object:
            self.reads.append(log.tp.partition)
            return read(log, *args, **named)  # type: ignore[arg-type]

        for way in (fetch_api, fast_fetch):
            monkeypatch.setattr(way, "check_fetch", looking)
        monkeypatch.setattr(PartitionLog, "read", reading)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


# -- cost of a fetch ------------------------------------------------------------------------------


@pytest.mark.parametrize("replica_id", [CONSUMER_REPLICA_ID, FOLLOWER])
@pytest.mark.parametrize("news", [False, True])
def test_the_cost_of_a_fetch_in_a_session_grows_with_changes_only(replica_id: int, news: bool) -> None:
    spent = []
    for partitions in (10, 10, 300):  # Objects that are made on first use are made before the second size.
        broker = LoneBroker(
            {TOPIC: partitions}, replicas=(1,) if replica_id == CONSUMER_REPLICA_ID else (1, replica_id)
        )
        fetcher = Fetcher(broker, replica_id)
        fetcher.settle(partitions)

        def poll(broker: LoneBroker = broker, fetcher: Fetcher = fetcher) -> None:
            if news:
                append(broker, 3)
            effects = fetcher.ask(max_wait_ms=500)
            rows = fetcher.process_response(effects if news else time_out(broker, effects))
            assert partitions_with_records(rows) == [3] * news

        spent.append(count_calls(poll))
    assert spent[1] == spent[2], "calls for 10 partitions and for 300"


def test_a_fetch_without_a_session_reads_each_partition_once(counted: Counted) -> None:
    broker = LoneBroker({TOPIC: 3})
    for index in range(3):
        append(broker, index)
    fetcher = Fetcher(broker)
    fetcher.epoch = -1
    assert partitions_with_records(fetcher.fetch(range(3))) == [0, 1, 2]
    assert counted.looks == counted.reads == [0, 1, 2]
    assert not any(broker.partition(TOPIC, index).watchers for index in range(3))


def test_a_waiting_fetch_checks_only_changed_partitions(counted: Counted) -> None:
    broker = LoneBroker({TOPIC: 5})
    fetcher = Fetcher(broker)
    fetcher.settle(5)
    append(broker, 0)
    counted.looks.clear()
    waiting = fetcher.ask(max_wait_ms=500, min_bytes=2 * BATCH + 1)
    assert counted.looks == [0] and [type(effect) for effect in waiting] == [SetTimer]
    assert append(broker, 2) == [] and counted.looks == [0, 2]
    assert partitions_with_records(fetcher.process_response(append(broker, 2))) == [0, 2]
    assert counted.looks == [0, 2, 2]


def test_a_fetch_without_a_session_that_waits_watches_until_it_is_answered() -> None:
    broker = LoneBroker({TOPIC: 2})
    fetcher = Fetcher(broker)
    fetcher.epoch = -1
    fetcher.ask(range(2), max_wait_ms=500)
    assert all(broker.partition(TOPIC, index).watchers for index in range(2))
    assert partitions_with_records(fetcher.process_response(append(broker, 1))) == [1]
    assert not any(broker.partition(TOPIC, index).watchers for index in range(2))


# -- limits --------------------------------------------------------------------------------------


def test_nothing_is_read_beyond_the_limit(counted: Counted) -> None:
    broker = LoneBroker({TOPIC: 20})
    for index in range(20):
        append(broker, index, 3)
    fetcher = Fetcher(broker)
    fetcher.epoch = -1
    rows = fetcher.fetch(range(20), max_bytes=2 * BATCH)
    assert [len(row.records or b"") for row in rows] == [2 * BATCH] + [0] * 19
    assert counted.reads == [0]


@pytest.mark.parametrize("epoch", [0, -1], ids=["session", "no-session"])
def test_a_broker_limits_the_size_of_a_request(epoch: int) -> None:
    broker = LoneBroker({TOPIC: 3}, configs={"fetch.max.bytes": "1024"})
    for index in range(3):
        append(broker, index, 50)
    fetcher = Fetcher(broker)
    fetcher.epoch = epoch
    rows = fetcher.fetch(range(3), max_bytes=0x7FFFFFFF)
    assert [len(row.records or b"") for row in rows] == [1024 // BATCH * BATCH, 0, 0]


def test_partitions_with_records_take_turns_under_a_limit() -> None:
    broker = LoneBroker({TOPIC: 3})
    for index in range(3):
        append(broker, index, 5)
    fetcher = Fetcher(broker)
    given = partitions_with_records(fetcher.fetch(range(3), max_bytes=BATCH))
    for _ in range(5):  # The offsets do not advance, so all partitions have more records.
        given += partitions_with_records(fetcher.fetch(max_bytes=BATCH))
    assert given == [0, 1, 2, 0, 1, 2]


def test_a_batch_larger_than_the_limits_is_returned_for_the_first_partition_only() -> None:
    broker = LoneBroker({TOPIC: 2})
    append(broker, 0)
    append(broker, 1)
    fetcher = Fetcher(broker)
    fetcher.epoch = -1
    assert partitions_with_records(fetcher.fetch(range(2), max_bytes=10, most=10)) == [0]
    assert partitions_with_records(fetcher.fetch(range(2), most=BATCH - 1)) == [0]


@pytest.mark.parametrize(
    ("min_bytes", "max_bytes", "waits"),
    [
        (2 * BATCH, UNBOUND, False),
        (2 * BATCH + 1, UNBOUND, True),
        (2 * BATCH, 2 * BATCH - 1, False),  # Both count, though only one batch has room.
        (100 * BATCH, BATCH, False),  # More than max_bytes is not waited for.
        (0, UNBOUND, False),
    ],
)
def test_a_fetch_waits_for_min_bytes(min_bytes: int, max_bytes: int, waits: bool) -> None:
    broker = LoneBroker({TOPIC: 3})
    append(broker, 0)
    append(broker, 1)
    fetcher = Fetcher(broker)
    effects = fetcher.ask(range(3), max_wait_ms=500, min_bytes=min_bytes, max_bytes=max_bytes)
    assert any(isinstance(effect, Reply) for effect in effects) != waits


# -- changes that must be noticed ------------------------------------------------------------------


def test_a_follower_out_of_the_isr_is_checked_until_it_may_join() -> None:
    broker = LoneBroker({TOPIC: 2}, replicas=(1, FOLLOWER))
    fetcher = Fetcher(broker, FOLLOWER)
    fetcher.settle(2)
    partition = broker.partition(TOPIC, 1)
    publish(broker, PartitionChangeRecord(topic_id=broker.topic_ids[TOPIC], partition_id=1, isr=[1]))
    partition.barred_from_isr = frozenset({FOLLOWER})
    for _ in range(3):
        fetcher.fetch()
    assert partition.pending_isr is None
    partition.barred_from_isr = frozenset()  # The session is not notified.
    fetcher.fetch()
    assert partition.pending_isr == (1, FOLLOWER)


def test_a_session_gets_a_log_start_raised_by_retention() -> None:
    broker = LoneBroker({TOPIC: 2})
    fetcher = Fetcher(broker)
    fetcher.settle(2)
    partition = broker.partition(TOPIC, 1)
    append(broker, 1, 2)
    partition.log.roll(partition.log.log_end_offset)
    fetcher.offsets[1] = 2
    fetcher.fetch([1])
    fetcher.fetch()
    partition.log.config = partition.log.config.__class__(retention_bytes=0)
    broker.broker.parts.logs._retain(broker.now)
    (row,) = fetcher.fetch()
    assert (row.partition_index, row.log_start_offset) == (1, 2)


def test_a_fetch_of_a_recreated_topic_fails() -> None:
    broker = LoneBroker({TOPIC: 1})
    settled, waiting = Fetcher(broker, name="settled"), Fetcher(broker, name="waiting")
    settled.settle(1)
    waiting.settle(1)
    waiting.ask(max_wait_ms=500)
    old, new = broker.topic_ids[TOPIC], Uuid.from_ints(1, 99)
    partition = PartitionRecord(partition_id=0, topic_id=new, replicas=[1], isr=[1], leader=1, leader_epoch=0)
    effects = publish(broker, RemoveTopicRecord(topic_id=old), TopicRecord(name=TOPIC, topic_id=new), partition)
    for _ in range(2):
        assert errors(waiting.process_response(effects)) == {0: ErrorCode.UNKNOWN_TOPIC_ID}
        assert errors(settled.fetch()) == {0: ErrorCode.UNKNOWN_TOPIC_ID}
        effects = waiting.ask()


def test_a_fetch_waiting_in_an_evicted_session_is_still_answered() -> None:
    broker = LoneBroker({TOPIC: 2})
    broker.broker.parts.sessions._slots = 1
    first, second = Fetcher(broker, name="first"), Fetcher(broker, name="second")
    first.settle(2)
    first.ask(max_wait_ms=500)
    second.fetch([0])
    assert len(broker.partition(TOPIC, 1).watchers) == 1, "the fetch that waits"
    assert partitions_with_records(first.process_response(append(broker, 1))) == [1]
    assert not broker.partition(TOPIC, 1).watchers
    assert len(broker.partition(TOPIC, 0).watchers) == 1, "the second session"


def test_the_clock_of_an_evicted_session_stops() -> None:
    broker = LoneBroker({TOPIC: 1}, replicas=(1, FOLLOWER))
    broker.broker.parts.sessions._slots = 1
    fetcher = Fetcher(broker, FOLLOWER)
    fetcher.settle(1)
    follower = broker.partition(TOPIC, 0).followers[FOLLOWER]
    broker.now += MILLISECOND
    last = broker.now
    fetcher.fetch()
    assert (follower.fetched_at, follower.caught_up_at) == (last, last)
    broker.now += MILLISECOND
    Fetcher(broker, name="other").fetch([0])
    assert follower.clock is None
    assert (follower.fetched_at, follower.caught_up_at) == (last, last)


def test_a_right_withdrawn_within_a_session_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = LoneBroker({TOPIC: 2})
    fetcher = Fetcher(broker)
    fetcher.settle(2)
    asked: list[Resource] = []

    def deny(rights: Rights, operation: AclOperation, resource: Resource) -> ErrorCode:
        asked.append(resource)
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED

    monkeypatch.setattr(Rights, "error", deny)
    assert fetcher.fetch() == [] and not asked, "nothing is given, so nobody is asked"
    append(broker, 1)
    for _ in range(2):
        assert errors(fetcher.fetch()) == {1: ErrorCode.TOPIC_AUTHORIZATION_FAILED}
    assert asked == [Resource.topic(TOPIC)] * 2


# -- sessions ------------------------------------------------------------------------------------


def test_a_partition_both_named_and_forgotten_is_forgotten() -> None:
    broker = LoneBroker({TOPIC: 2})
    fetcher = Fetcher(broker)
    fetcher.settle(2)
    fetcher.forgotten = [0]
    assert fetcher.fetch([0]) == []
    fetcher.forgotten = []
    append(broker, 0)
    append(broker, 1)
    assert partitions_with_records(fetcher.fetch()) == [1]


def test_a_session_that_forgets_its_last_partition_ends_with_a_response_about_it() -> None:
    broker = LoneBroker({TOPIC: 1})
    append(broker, 0)
    fetcher = Fetcher(broker)
    fetcher.fetch([0])
    fetcher.forgotten = [0]
    assert partitions_with_records(fetcher.fetch([0])) == [0]
    assert fetcher.session_id == 0
    assert not broker.partition(TOPIC, 0).watchers


def test_a_fetch_that_waits_is_overtaken_by_the_next_of_its_session() -> None:
    broker = LoneBroker({TOPIC: 1})
    fetcher = Fetcher(broker)
    fetcher.settle(1)
    slow = fetcher.link
    assert not [effect for effect in fetcher.ask(max_wait_ms=500) if isinstance(effect, Reply)]
    fetcher.link = link_opened("another link")
    broker.broker.handle(broker.now, fetcher.link)
    fetcher.epoch += 1
    effects = fetcher.ask(max_wait_ms=500)
    (overtaken,) = [effect for effect in effects if isinstance(effect, Reply)]
    assert overtaken.link == slow.link
    body = decode_response(b"".join(overtaken.chunks), key_of(FetchRequest), version(FetchRequest)).body
    assert isinstance(body, FetchResponse)
    assert (body.error_code, body.session_id) == (ErrorCode.INVALID_FETCH_SESSION_EPOCH, fetcher.session_id)
    assert partitions_with_records(fetcher.process_response(append(broker, 0))) == [0], (
        "only the waiting fetch gets them"
    )


def test_the_first_partition_returns_a_batch_even_with_a_limit_of_0() -> None:
    broker = LoneBroker({TOPIC: 2})
    append(broker, 0, 2)
    append(broker, 1)
    fetcher = Fetcher(broker)
    fetcher.epoch = -1
    assert [len(row.records or b"") for row in fetcher.fetch(range(2), most=0)] == [BATCH, 0]
    assert [len(row.records or b"") for row in fetcher.fetch(range(2), max_bytes=0)] == [BATCH, 0]


def test_a_divergence_that_the_version_lacks_fails_the_response() -> None:
    broker = LoneBroker({TOPIC: 2})
    append(broker, 0)
    link = link_opened("by name")
    broker.broker.handle(broker.now, link)

    def ask(session_id: int, epoch: int, of: int, rows: Sequence[FetchPartition] = ()) -> FetchResponse:
        topics = [FetchTopic(topic=TOPIC, partitions=list(rows))] if rows else []
        body = FetchRequest(max_bytes=UNBOUND, session_id=session_id, session_epoch=epoch, topics=topics)
        frame = encode_request(body, of, correlation_id=1, client_id="test")
        (reply,) = broker.broker.handle(broker.now, RequestReceived(link.link, frame))
        assert isinstance(reply, Reply)
        answer = decode_response(b"".join(reply.chunks), key_of(FetchRequest), of).body
        assert isinstance(answer, FetchResponse)
        return answer

    ahead = FetchPartition(partition=0, fetch_offset=9, last_fetched_epoch=0, partition_max_bytes=UNBOUND)
    known = ask(0, 0, 12, [ahead, FetchPartition(partition=1, partition_max_bytes=UNBOUND)])
    assert known.responses[0].partitions[0].diverging_epoch.end_offset == 1
    for epoch in (1, 2):
        untold = ask(known.session_id, epoch, 9)
        assert (untold.error_code, untold.session_id) == (ErrorCode.UNSUPPORTED_VERSION, known.session_id)
        assert not untold.responses
    told = ask(known.session_id, 3, 12)
    assert [row.partition_index for row in told.responses[0].partitions] == [0]
