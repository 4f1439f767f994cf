"""One request of a kind in flight to each broker of a source; others wait for the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest

from kmirror.client.remote_cluster import RemoteCluster, RemoteLeader
from kmirror.client.requester import OnReply
from kmirror.kernel.clock import Instant
from kmirror.kernel.failures import OnFailure
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror import source_requests
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.source_query import SourceQuery
from kmirror.mirror.source_requests import SharedRequest
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.list_mirrors_request import ListMirrorsRequest
from kmirror.protocol.gen.list_mirrors_response import ListMirrorsResponse
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from tests.sim.stage import ONE_BROKER, Pair, StagedCluster, WrittenLogs, pair, plain

NAMES = [f"t{number}" for number in range(6)]
HERE = Endpoint("source", 1)
ELSEWHERE = Endpoint("source", 2)


class RecordingSource(RemoteCluster):
    """A source that keeps its requests until the test responds to them."""

    def __init__(self, context: MirrorContext) -> None:
        super().__init__("mirror-m", context.broker.requester, (HERE,), timeout_ms=1000)
        self.sent: list[tuple[Endpoint, OnReply]] = []

    def send(  # type: ignore[override]
        self, now: Instant, endpoint: Endpoint, purpose: str, body: Message, on_reply: OnReply
    ) -> None:
        self.sent.append((endpoint, on_reply))


class Stage:
    """A broker with six partitions in MIRRORING, and requests of its partitions to the source."""

    def __init__(self, p: Pair) -> None:
        self.context = p.b.component(1).context
        self.source = self.context.sources["m"] = RecordingSource(self.context)
        self.rounds: list[list[str]] = []
        self.received: list[tuple[str, object]] = []
        self.looked: list[str] = []
        self.request = SharedRequest[str](self.context, self._look_at, self._compose, lambda reply, first: "response")

    def _look_at(self, now: Instant, mp: MirrorPartition) -> None:
        self.looked.append(mp.tp.topic)

    def _compose(self, queries: Sequence[SourceQuery]) -> Message:
        self.rounds.append([query.mp.tp.topic for query in queries])
        return ListMirrorsRequest()

    def mp(self, topic: str) -> MirrorPartition:
        return self.context.partitions[TopicPartition(topic, 0)]

    def ask(self, *topics: str, to: Endpoint = HERE) -> None:
        for topic in topics:
            leader = RemoteLeader(1, 0)
            query = SourceQuery(
                self.context, self.mp(topic), MirrorState.MIRRORING, self.source, leader, to, 0, Uuid.ZERO
            )
            self.request.add(query, self._on_response)
        self.context.broker.run_deferred(0)

    def _on_response(self, now: Instant, query: SourceQuery, response: str | None) -> None:
        self.received.append((query.mp.tp.topic, response))

    def respond(self, reply: Message | None, which: int = -1) -> None:
        self.source.sent[which][1](0, reply)
        self.context.broker.run_deferred(0)


@pytest.fixture
def stage() -> Stage:
    return staged(OnFailure.RAISE)


def staged(on_failure: OnFailure) -> Stage:
    p = pair(brokers=1, logs=WrittenLogs({name: [plain(0, 0, "r")] for name in NAMES}), start=False)
    p.b = StagedCluster(p.simulation, "d", brokers=1, replication_factor=1, configs=ONE_BROKER, on_failure=on_failure)
    p.a.start()
    p.b.start()
    p.begin(NAMES)
    return Stage(p)


REPLY = ListMirrorsResponse()


def test_questions_of_one_event_share_a_request(stage: Stage) -> None:
    stage.ask("t0", "t1", "t2")
    assert stage.rounds == [["t0", "t1", "t2"]]
    assert all(stage.mp(topic).is_busy for topic in ("t0", "t1", "t2"))
    stage.respond(REPLY)
    assert stage.received == [("t0", "response"), ("t1", "response"), ("t2", "response")]
    assert not stage.mp("t0").is_busy
    assert not stage.context.broker.run_deferred(0), "nothing is left"


@pytest.mark.decision("D32")
def test_questions_during_a_request_wait_for_the_next(stage: Stage) -> None:
    """The response may have been made before it mattered."""
    stage.ask("t0")
    stage.ask("t1")
    stage.ask("t2")
    assert stage.rounds == [["t0"]]
    stage.respond(REPLY)
    assert stage.received == [("t0", "response")]
    assert stage.rounds == [["t0"], ["t1", "t2"]]


def test_brokers_of_a_source_get_requests_in_parallel(stage: Stage) -> None:
    stage.ask("t0")
    stage.ask("t1", to=ELSEWHERE)
    assert [endpoint for endpoint, _ in stage.source.sent] == [HERE, ELSEWHERE]


def test_a_request_has_a_bounded_number_of_partitions(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_requests, "PARTITIONS_MAX", 4)
    stage.ask(*NAMES)
    assert stage.rounds == [NAMES[:4]]
    stage.respond(REPLY)
    assert stage.rounds == [NAMES[:4], NAMES[4:]]


def test_an_unresponsive_broker_is_not_waited_for_twice(stage: Stage) -> None:
    stage.ask("t0")
    stage.ask("t1", "t2")
    stage.respond(None)
    assert stage.received == [("t0", None), ("t1", None), ("t2", None)]
    assert stage.rounds == [["t0"]]


@pytest.mark.decision("D32")
def test_a_broker_without_the_api_answers_later_questions_separately(stage: Stage) -> None:
    stage.ask("t0")
    stage.ask("t1")
    stage.source.record_versions(HERE, {key_of(ListMirrorsRequest): (0, 0)})
    assert not stage.source.supports(HERE, DescribeMirrorsRequest)
    stage.respond(None)
    assert stage.received == [("t0", None)]
    assert stage.rounds == [["t0"], ["t1"]]


def test_a_response_of_former_servers_is_dropped(stage: Stage) -> None:
    stage.ask("t0", "t1")
    stage.context.sources["m"] = RecordingSource(stage.context)
    stage.respond(REPLY)
    assert stage.received == []
    assert stage.looked == ["t0", "t1"], "they may send requests to the new servers"
    assert not stage.mp("t0").is_busy


def test_a_response_for_an_earlier_leader_epoch_is_dropped(stage: Stage) -> None:
    stage.ask("t0", "t1")
    renewed = stage.context.partitions[TopicPartition("t0", 0)] = stage.mp("t0").for_new_leader()
    stage.respond(REPLY)
    assert stage.received == [("t1", "response")]
    assert not renewed.is_busy


def test_partitions_that_moved_before_the_request_are_omitted(stage: Stage) -> None:
    stage.ask("t0")
    stage.ask("t1", "t2")
    del stage.context.partitions[TopicPartition("t1", 0)]
    stage.respond(REPLY)
    assert stage.rounds == [["t0"], ["t2"]]


def test_a_partition_that_fails_on_a_response_does_not_affect_others() -> None:
    stage = staged(OnFailure.CONTINUE)
    failures = stage.context.broker.failures

    def fails(now: Instant, query: SourceQuery, response: str | None) -> None:
        raise RuntimeError("a bug")

    received: Callable[[Instant, SourceQuery, str | None], None] = stage._on_response
    for topic, on_response in (("t0", received), ("t1", fails), ("t2", received)):
        query = SourceQuery(
            stage.context, stage.mp(topic), MirrorState.MIRRORING, stage.source, RemoteLeader(1, 0), HERE, 0, Uuid.ZERO
        )
        stage.request.add(query, on_response)
    stage.context.broker.run_deferred(0)
    stage.respond(REPLY)
    assert stage.received == [("t0", "response"), ("t2", "response")]
    assert failures.count == 1
    assert "could not" in stage.mp("t1").reason and not stage.mp("t1").is_busy


@pytest.mark.decision("D32")
def test_every_question_is_answered_once_by_a_later_request(stage: Stage) -> None:
    """Partitions ask, brokers respond or do not, and leaders move, at random."""
    for seed in range(60):
        Walk(stage, Random(seed)).run()


class Walk:
    """A random order of events; the response to a request is the number of the request."""

    def __init__(self, stage: Stage, random: Random) -> None:
        self.stage, self.random = stage, random
        self.source = stage.source = stage.context.sources["m"] = RecordingSource(stage.context)
        self.request = SharedRequest[int](stage.context, stage._look_at, stage._compose, self._read)
        self.waits: dict[str, int] = {}
        """Topic to the number of requests that had been sent when it was added."""
        self.open: dict[int, Endpoint] = {}

    def _read(self, reply: Message, first: SourceQuery) -> int:
        assert isinstance(reply, ListMirrorsResponse)
        return reply.throttle_time_ms

    def run(self) -> None:
        for _ in range(40):
            self.random.choice((self.ask, self.ask, self.respond, self.move))()
            assert len(set(self.open.values())) == len(self.open), "one under way to each broker"
        while self.open:
            self.respond()
        assert not self.waits, "every query has ended"

    def ask(self) -> None:
        free = [name for name in NAMES if name not in self.waits]
        if free:
            name = self.random.choice(free)
            self.waits[name] = len(self.source.sent)
            to = self.random.choice((HERE, ELSEWHERE))
            mp, stage = self.stage.mp(name), self.stage
            query = SourceQuery(
                stage.context, mp, MirrorState.MIRRORING, self.source, RemoteLeader(1, 0), to, 0, Uuid.ZERO
            )
            self.request.add(query, self.receive)
        self.end_event()

    def receive(self, now: Instant, query: SourceQuery, response: int | None) -> None:
        before = self.waits.pop(query.mp.tp.topic)
        assert response is None or response >= before, "the request was sent after the query was added"

    def respond(self) -> None:
        if self.open:
            number = self.random.choice(list(self.open))
            del self.open[number]
            reply = ListMirrorsResponse(throttle_time_ms=number) if self.random.random() < 0.8 else None
            self.source.sent[number][1](0, reply)
        self.end_event()

    def move(self) -> None:
        """Begin another leader epoch for a partition: its old query gets no response, and it may send another."""
        name = self.random.choice(NAMES)
        mp = self.stage.mp(name).for_new_leader()
        mp.state = MirrorState.MIRRORING
        self.stage.context.add_partition(mp)
        self.waits.pop(name, None)
        self.end_event()

    def end_event(self) -> None:
        sent = len(self.source.sent)
        self.stage.context.broker.run_deferred(0)
        self.open.update(enumerate((to for to, _ in self.source.sent[sent:]), sent))
