"""Cost of a fetch within a session by the number of partitions in the session (E3).

Leader: a broker leads 10 or 10,000 partitions, all in one session. Before each fetch one record is appended to another
partition; the fetch names the partition of the previous response, and gets the new record. Only the fetch is timed,
from frame to response. A fetch without new records waits until its timeout and is then answered: both halves are timed.

Fetcher: a broker follows 10 or 10,000 partitions of one leader. A response with one record is timed, from its frame to
the frame of the next fetch.

With a ratio of 1, a session of 10,000 partitions costs no more than one of 10.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from benchmarks.harness import Case, no_runs
from benchmarks.lone_broker import LEADER_EPOCH, LoneBroker, frame_of, response_in, version
from kmirror.kernel.events import Effect, OutboundLink, ResponseReceived, Send, SetTimer, TimerFired
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kmirror.protocol.gen.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kmirror.protocol.headers import decode_request, decode_response, encode_response, peek_request
from kmirror.protocol.registry import key_of
from kmirror.records import RecordData, build_batch, set_base_offset_and_epoch

SMALL, LARGE = 10, 10_000
TOPIC = "orders"
CONSUMER, FOLLOWER = -1, 2
SESSION_ID = 77
Step = Callable[[], int]
"""Runs one round of fetches, and returns the nanoseconds to count."""


def record(now_ms: int) -> bytes:
    return build_batch([RecordData(None, b"v" * 100, (), now_ms)])


class Session:
    """Requests and responses of one session with a lone broker, which leads all of its partitions."""

    def __init__(self, partitions: int, replica_id: int) -> None:
        self.replica_id = replica_id
        self.partitions = partitions
        self.broker = LoneBroker({TOPIC: partitions}, replicas=(1,) if replica_id == CONSUMER else (1, replica_id))
        self.batch = record(self.broker.now_ms)
        self.offsets = [0] * partitions
        self.turn = 0
        self.changed: list[int] = []
        """Partitions whose offset the next request contains: those of the last response."""
        self.session_id = 0
        self.epoch = 0
        # The first fetch opens the session; a record is there already, so that the fetch need not wait.
        self._append(0)
        self._process_response(self._fetch(list(range(partitions))))
        assert self.session_id, "the broker keeps the session"

    def _append(self, index: int) -> None:
        parts = self.broker.broker.parts
        parts.replicas.appends.append(self.broker.now, self.broker.partition(TOPIC, index), self.batch)
        parts.replicas.purgatory.wake_waiters(self.broker.now)

    def _frame(self, indexes: list[int]) -> bytes:
        follower = self.replica_id != CONSUMER
        rows = [
            FetchPartition(
                partition=index,
                current_leader_epoch=LEADER_EPOCH,
                fetch_offset=self.offsets[index],
                last_fetched_epoch=LEADER_EPOCH if follower and self.offsets[index] else -1,
                log_start_offset=0 if follower else -1,
                partition_max_bytes=1 << 20,
            )
            for index in indexes
        ]
        request = FetchRequest(
            replica_state=ReplicaState(replica_id=self.replica_id),
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=50 << 20,
            session_id=self.session_id,
            session_epoch=self.epoch,
            topics=[FetchTopic(topic_id=self.broker.topic_ids[TOPIC], partitions=rows)] if rows else [],
        )
        return frame_of(request)

    def _fetch(self, indexes: list[int]) -> bytes:
        return response_in(self.broker.request(self._frame(indexes)))

    def _process_response(self, answer: bytes) -> int:
        """Process a response; return the number of partitions with records in it."""
        body = decode_response(answer, key_of(FetchRequest), version(FetchRequest)).body
        assert isinstance(body, FetchResponse) and body.error_code == 0
        self.session_id, self.epoch = body.session_id, self.epoch + 1
        self.changed = []
        for topic in body.responses:
            for row in topic.partitions:
                assert row.error_code == 0
                if row.records:
                    self.offsets[row.partition_index] += 1
                    self.changed.append(row.partition_index)
        return len(self.changed)

    def fetch_new_record(self) -> int:
        """Append a record to one partition, and fetch it."""
        # A prime step, so that consecutive turns use distant partitions.
        self.turn = (self.turn + 7_919) % self.partitions
        self._append(self.turn)
        frame = self._frame(self.changed)
        start = time.perf_counter_ns()
        effects = self.broker.request(frame)
        spent = time.perf_counter_ns() - start
        assert self._process_response(response_in(effects)) == 1
        return spent

    def fetch_nothing_new(self) -> int:
        """Fetch without new records, until the timeout."""
        frame = self._frame(self.changed)
        start = time.perf_counter_ns()
        effects = self.broker.request(frame)
        spent = time.perf_counter_ns() - start
        (timer,) = [effect for effect in effects if isinstance(effect, SetTimer)]
        start = time.perf_counter_ns()
        effects = self.broker.broker.handle(timer.at, TimerFired(timer.key))
        spent += time.perf_counter_ns() - start
        assert self._process_response(response_in(effects)) == 0
        return spent


class FollowedLeader:
    """Broker 2, which follows all partitions of broker 1, whose responses are made here."""

    def __init__(self, partitions: int) -> None:
        self.partitions = partitions
        self.broker = LoneBroker({TOPIC: partitions}, node_id=FOLLOWER, replicas=(1, FOLLOWER))
        self.batch = bytearray(record(self.broker.now_ms))
        self.offsets = [0] * partitions
        self.turn = 0
        (self.fetch,) = self._fetches(self.broker.first_effects)
        fetched = self.fetch_offsets()
        while len(fetched) < partitions:  # The session holds every partition before the measurement starts.
            (self.fetch,) = self._fetches(self.broker.broker.handle(self.broker.now, self._answer([])))
            fetched += self.fetch_offsets()

    def _fetches(self, effects: list[Effect]) -> list[Send]:
        return [effect for effect in effects if isinstance(effect, Send)]

    def _answer(self, rows: list[PartitionData]) -> ResponseReceived:
        """Return the leader's response to the fetch in flight."""
        head = peek_request(b"".join(self.fetch.chunks))
        topics = [FetchableTopicResponse(topic_id=self.broker.topic_ids[TOPIC], partitions=rows)] if rows else []
        body = FetchResponse(session_id=SESSION_ID, responses=topics)
        frame = encode_response(body, head.api_version, correlation_id=head.correlation_id)
        assert isinstance(self.fetch.link, OutboundLink)
        return ResponseReceived(self.fetch.link, frame)

    def fetch_new_record(self) -> int:
        """Deliver one partition's record, and time it until the next fetch is sent."""
        self.turn = index = (self.turn + 7_919) % self.partitions
        offset = self.offsets[index]
        set_base_offset_and_epoch(self.batch, offset, LEADER_EPOCH)
        row = PartitionData(index, 0, offset, offset, 0, records=bytes(self.batch))
        answer = self._answer([row])
        start = time.perf_counter_ns()
        effects = self.broker.broker.handle(self.broker.now, answer)
        spent = time.perf_counter_ns() - start
        (self.fetch,) = self._fetches(effects)
        self.offsets[index] += 1
        assert self.fetch_offsets() == [(index, offset + 1)]
        return spent

    def fetch_offsets(self) -> list[tuple[int, int]]:
        """Return the partitions of the fetch in flight, with their offsets."""
        request = decode_request(b"".join(self.fetch.chunks)).body
        assert isinstance(request, FetchRequest)
        return [(row.partition, row.fetch_offset) for topic in request.topics for row in topic.partitions]


# -- Measuring ----------------------------------------------------------------------------------

ROUND_NS = 50_000_000  # A round ends after this time or STEPS_MAX steps, but not before STEPS_MIN.
STEPS_MIN, STEPS_MAX = 3, 400


def cost(step: Step) -> float:
    """Return the nanoseconds of one step: the median, so that interruptions by other processes count little."""
    spent: list[int] = []
    while len(spent) < STEPS_MIN or (len(spent) < STEPS_MAX and sum(spent) < ROUND_NS):
        spent.append(step())
    spent.sort()
    return spent[len(spent) // 2]


def small_over_large(make: Callable[[int], Step], large: int = LARGE) -> Callable[[int], list[float]]:
    def measure(pairs: int) -> list[float]:
        small_step, large_step = make(SMALL), make(large)
        cost(small_step), cost(large_step)
        ratios = []
        for turn in range(pairs):
            if turn % 2:
                large_cost = cost(large_step)
                ratios.append(cost(small_step) / large_cost)
            else:
                ratios.append(cost(small_step) / cost(large_step))
        return ratios

    return measure


def cases() -> list[Case]:
    sizes = f"session of {SMALL} / {LARGE:,}"
    rows: list[tuple[str, Callable[[int], Step], bool]] = [
        ("follower's fetch, one partition new", lambda count: Session(count, FOLLOWER).fetch_new_record, True),
        ("consumer's fetch, one partition new", lambda count: Session(count, CONSUMER).fetch_new_record, True),
        ("follower's poll without news", lambda count: Session(count, FOLLOWER).fetch_nothing_new, False),
        ("consumer's poll without news", lambda count: Session(count, CONSUMER).fetch_nothing_new, False),
        ("fetcher's end, one partition new", lambda count: FollowedLeader(count).fetch_new_record, True),
    ]
    return [
        Case(
            "E3",
            f"{name}, {sizes}",
            "kmirror",
            no_runs,
            0.7 if is_gated else None,
            0.9 if is_gated else None,
            small_over_large(make),
        )
        for name, make, is_gated in rows
    ]
