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
from kmirror.mirror import source_questions
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.inquiry import Inquiry
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.source_questions import SharedQuestion
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


class Told(RemoteCluster):
    """A source that keeps its requests until the test answers them."""

    def __init__(self, context: MirrorContext) -> None:
        super().__init__("mirror-m", context.broker.requester, (HERE,), timeout_ms=1000)
        self.asked: list[tuple[Endpoint, OnReply]] = []

    def send(  # type: ignore[override]
        self, now: Instant, endpoint: Endpoint, purpose: str, body: Message, on_reply: OnReply
    ) -> None:
        self.asked.append((endpoint, on_reply))


class Stage:
    """A broker with six partitions in MIRRORING, and a question that its partitions ask the source."""

    def __init__(self, p: Pair) -> None:
        self.context = p.b.component(1).context
        self.source = self.context.sources["m"] = Told(self.context)
        self.rounds: list[list[str]] = []
        self.results: list[tuple[str, object]] = []
        self.looked: list[str] = []
        self.question = SharedQuestion[str](self.context, self._look_at, self._compose, lambda reply, first: "answer")

    def _look_at(self, now: Instant, mp: MirrorPartition) -> None:
        self.looked.append(mp.tp.topic)

    def _compose(self, inquiries: Sequence[Inquiry]) -> Message:
        self.rounds.append([inquiry.mp.tp.topic for inquiry in inquiries])
        return ListMirrorsRequest()

    def mp(self, topic: str) -> MirrorPartition:
        return self.context.partitions[TopicPartition(topic, 0)]

    def ask(self, *topics: str, to: Endpoint = HERE) -> None:
        for topic in topics:
            leader = RemoteLeader(1, 0)
            inquiry = Inquiry(
                self.context, self.mp(topic), MirrorState.MIRRORING, self.source, leader, to, 0, Uuid.ZERO
            )
            self.question.ask(inquiry, self._answered)
        self.context.broker.do_at_end(0)

    def _answered(self, now: Instant, inquiry: Inquiry, answer: str | None) -> None:
        self.results.append((inquiry.mp.tp.topic, answer))

    def answer(self, reply: Message | None, which: int = -1) -> None:
        self.source.asked[which][1](0, reply)
        self.context.broker.do_at_end(0)


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
    assert all(stage.mp(topic).busy for topic in ("t0", "t1", "t2"))
    stage.answer(REPLY)
    assert stage.results == [("t0", "answer"), ("t1", "answer"), ("t2", "answer")]
    assert not stage.mp("t0").busy
    assert not stage.context.broker.do_at_end(0), "nothing is left"


@pytest.mark.decision("D32")
def test_questions_during_a_request_wait_for_the_next(stage: Stage) -> None:
    """The response may have been made before it mattered."""
    stage.ask("t0")
    stage.ask("t1")
    stage.ask("t2")
    assert stage.rounds == [["t0"]]
    stage.answer(REPLY)
    assert stage.results == [("t0", "answer")]
    assert stage.rounds == [["t0"], ["t1", "t2"]]


def test_brokers_of_a_source_get_requests_in_parallel(stage: Stage) -> None:
    stage.ask("t0")
    stage.ask("t1", to=ELSEWHERE)
    assert [endpoint for endpoint, _ in stage.source.asked] == [HERE, ELSEWHERE]


def test_a_request_has_a_bounded_number_of_partitions(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_questions, "PARTITIONS_MAX", 4)
    stage.ask(*NAMES)
    assert stage.rounds == [NAMES[:4]]
    stage.answer(REPLY)
    assert stage.rounds == [NAMES[:4], NAMES[4:]]


def test_an_unresponsive_broker_is_not_waited_for_twice(stage: Stage) -> None:
    stage.ask("t0")
    stage.ask("t1", "t2")
    stage.answer(None)
    assert stage.results == [("t0", None), ("t1", None), ("t2", None)]
    assert stage.rounds == [["t0"]]


@pytest.mark.decision("D32")
def test_a_broker_without_the_api_answers_later_questions_separately(stage: Stage) -> None:
    stage.ask("t0")
    stage.ask("t1")
    stage.source.record_versions(HERE, {key_of(ListMirrorsRequest): (0, 0)})
    assert not stage.source.supports(HERE, DescribeMirrorsRequest)
    stage.answer(None)
    assert stage.results == [("t0", None)]
    assert stage.rounds == [["t0"], ["t1"]]


def test_a_response_of_former_servers_is_dropped(stage: Stage) -> None:
    stage.ask("t0", "t1")
    stage.context.sources["m"] = Told(stage.context)
    stage.answer(REPLY)
    assert stage.results == []
    assert stage.looked == ["t0", "t1"], "they may ask the new servers"
    assert not stage.mp("t0").busy


def test_a_response_for_an_earlier_leader_epoch_is_dropped(stage: Stage) -> None:
    stage.ask("t0", "t1")
    anew = stage.context.partitions[TopicPartition("t0", 0)] = stage.mp("t0").for_new_leader()
    stage.answer(REPLY)
    assert stage.results == [("t1", "answer")]
    assert not anew.busy


def test_partitions_that_moved_before_the_request_are_omitted(stage: Stage) -> None:
    stage.ask("t0")
    stage.ask("t1", "t2")
    del stage.context.partitions[TopicPartition("t1", 0)]
    stage.answer(REPLY)
    assert stage.rounds == [["t0"], ["t2"]]


def test_a_partition_that_fails_on_a_response_does_not_affect_others() -> None:
    stage = staged(OnFailure.GO_ON)
    failures = stage.context.broker.failures

    def fails(now: Instant, inquiry: Inquiry, answer: str | None) -> None:
        raise RuntimeError("a bug")

    heard: Callable[[Instant, Inquiry, str | None], None] = stage._answered
    for topic, on_answer in (("t0", heard), ("t1", fails), ("t2", heard)):
        inquiry = Inquiry(
            stage.context, stage.mp(topic), MirrorState.MIRRORING, stage.source, RemoteLeader(1, 0), HERE, 0, Uuid.ZERO
        )
        stage.question.ask(inquiry, on_answer)
    stage.context.broker.do_at_end(0)
    stage.answer(REPLY)
    assert stage.results == [("t0", "answer"), ("t2", "answer")]
    assert failures.count == 1
    assert "could not" in stage.mp("t1").reason and not stage.mp("t1").busy


@pytest.mark.decision("D32")
def test_every_question_is_answered_once_by_a_later_request(stage: Stage) -> None:
    """Partitions ask, brokers respond or do not, and leaders move, at random."""
    for seed in range(60):
        Walk(stage, Random(seed)).run()


class Walk:
    """A random order of events; the response to a request is the number of the request."""

    def __init__(self, stage: Stage, random: Random) -> None:
        self.stage, self.random = stage, random
        self.source = stage.source = stage.context.sources["m"] = Told(stage.context)
        self.question = SharedQuestion[int](stage.context, stage._look_at, stage._compose, self._read)
        self.waits: dict[str, int] = {}
        """Topic to the number of requests that had been sent when it asked."""
        self.open: dict[int, Endpoint] = {}

    def _read(self, reply: Message, first: Inquiry) -> int:
        assert isinstance(reply, ListMirrorsResponse)
        return reply.throttle_time_ms

    def run(self) -> None:
        for _ in range(40):
            self.random.choice((self.ask, self.ask, self.answer, self.move))()
            assert len(set(self.open.values())) == len(self.open), "one under way to each broker"
        while self.open:
            self.answer()
        assert not self.waits, "everybody was told"

    def ask(self) -> None:
        free = [name for name in NAMES if name not in self.waits]
        if free:
            name = self.random.choice(free)
            self.waits[name] = len(self.source.asked)
            to = self.random.choice((HERE, ELSEWHERE))
            mp, stage = self.stage.mp(name), self.stage
            inquiry = Inquiry(
                stage.context, mp, MirrorState.MIRRORING, self.source, RemoteLeader(1, 0), to, 0, Uuid.ZERO
            )
            self.question.ask(inquiry, self.on_answer)
        self.end_event()

    def on_answer(self, now: Instant, inquiry: Inquiry, answer: int | None) -> None:
        before = self.waits.pop(inquiry.mp.tp.topic)
        assert answer is None or answer >= before, "the request was sent after it had asked"

    def answer(self) -> None:
        if self.open:
            number = self.random.choice(list(self.open))
            del self.open[number]
            reply = ListMirrorsResponse(throttle_time_ms=number) if self.random.random() < 0.8 else None
            self.source.asked[number][1](0, reply)
        self.end_event()

    def move(self) -> None:
        """Begin another leader epoch for a partition: its old question gets no answer, and it may ask again."""
        name = self.random.choice(NAMES)
        mp = self.stage.mp(name).for_new_leader()
        mp.state = MirrorState.MIRRORING
        self.stage.context.take_up(mp)
        self.waits.pop(name, None)
        self.end_event()

    def end_event(self) -> None:
        sent = len(self.source.asked)
        self.stage.context.broker.do_at_end(0)
        self.open.update(enumerate((to for to, _ in self.source.asked[sent:]), sent))
