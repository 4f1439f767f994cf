"""The gates before a handler are those before its shortcuts too: both give the same answers, and ask the same once.

A request on a link of its own is read and handled in general, for nothing is known of requests before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import pytest

from benchmarks.lone_broker import LoneBroker
from kmirror.cluster.authorizer import Resource, kafka_error_response
from kmirror.cluster.broker.apis import fast_fetch
from kmirror.cluster.broker.apis.fast_produce import FastProduce
from kmirror.cluster.server import Handler, Inbound
from kmirror.cluster.server.links import Links, ServedLink
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Chunk, CloseLink, Effect, Reply, RequestReceived, RequestTiming, StopReading
from kmirror.kernel.ids import Principal
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.headers import RequestHead, decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.protocol.repeated_fetch import LastFetch
from kmirror.protocol.repeated_produce import LastProduce
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation, AclResourceType
from tests.builders import batch, idempotent
from tests.client_links import handle_with_disk, link_opened

TOPIC = "t"
AUTHORIZATION_ERRORS, THROTTLED = ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.THROTTLING_QUOTA_EXCEEDED
PRODUCE, FETCH = 9, 12
SIZE = len(batch())


class Fickle:
    """An authorizer that allows everything, but nothing on topics while `denies` is set."""

    denies = False

    def authorize(self, principal: Principal, host: str, operation: AclOperation, resource: Resource) -> bool:
        return not (self.denies and resource.type == AclResourceType.TOPIC)

    def authorize_by_resource_type(self, *_: object) -> bool:
        return True


@dataclass(slots=True)
class Throttle:
    """A gate that counts the bytes of each client, and refuses its requests while `stops` is set."""

    stops: bool = False
    seen: list[tuple[int, int, str | None, int]] = field(default_factory=list)

    def __call__(self, now: Instant, link: ServedLink, head: RequestHead, size: int) -> Handler | None:
        self.seen.append((head.api_key, head.api_version, head.client_id, size))
        return refuse if self.stops else None


def refuse(now: Instant, inbound: Inbound[Message]) -> None:
    inbound.reply(kafka_error_response(inbound.body, inbound.version, THROTTLED))


class Stage:
    """A broker whose requests come in on one link, or, in general, each on a link of its own."""

    def __init__(self, *, in_general: bool) -> None:
        self.authorizer, self.throttle = Fickle(), Throttle()
        self.lone = LoneBroker({TOPIC: 1}, authorizer=self.authorizer)
        self.log = self.lone.partition(TOPIC, 0).log
        self.lone.broker.parts.server.gates += (self.throttle,)
        self._in_general = in_general
        self._count = 0
        self._is_open = False
        self.session = 0
        self.quick: list[str] = []
        """The shorter ways that were taken."""

    def ask(self, body: Message, version: int) -> list[object]:
        """Return the effects of a request, as values in which the link has no name."""
        self._count += 1
        if self._in_general or not self._is_open:
            self._link = link_opened("c", self._count)
            self.lone.broker.handle(self.lone.now, self._link)
            self._is_open = True
        frame = encode_request(body, version, correlation_id=self._count, client_id="me")
        with in_general() if self._in_general else record_fast_paths(self.quick):
            effects = handle_with_disk(self.lone.broker, self.lone.now, RequestReceived(self._link.link, frame))
        self._is_open = not any(isinstance(effect, CloseLink) for effect in effects)
        for effect in effects:
            if isinstance(effect, Reply):
                answer = decode_response(b"".join(effect.chunks), key_of(type(body)), version).body
                self.session = answer.session_id if isinstance(answer, FetchResponse) else self.session
        return [comparable(effect) for effect in effects]


@contextmanager
def in_general() -> Iterator[None]:
    with patch.object(fast_fetch, "respond", return_value=None):
        yield


@contextmanager
def record_fast_paths(taken: list[str]) -> Iterator[None]:
    """Note each shorter way that is taken."""
    ways: dict[str, tuple[Any, str]] = {
        "fast produce": (FastProduce, "respond"),
        "repeated produce": (LastProduce, "request"),
        "repeated fetch": (LastFetch, "match"),
        "fast fetch": (fast_fetch, "respond"),
    }
    with ExitStack() as stack:
        for name, (owner, attribute) in ways.items():
            stack.enter_context(patch.object(owner, attribute, noting(taken, name, getattr(owner, attribute))))
        yield


def noting(taken: list[str], name: str, way: Callable[..., Any]) -> Callable[..., Any]:
    def record_call(*arguments: Any) -> Any:
        found = way(*arguments)
        if found is not None:
            taken.append(name)
        return found

    return record_call


def comparable(effect: Effect) -> object:
    return b"".join(effect.chunks) if isinstance(effect, Reply) else type(effect)


def produce(stage: Stage, *, acks: int, records: bytes | None = None) -> list[object]:
    records = records or batch(timestamp=stage.lone.now_ms)
    data = TopicProduceData(TOPIC, partition_data=[PartitionProduceData(0, records)])
    return stage.ask(ProduceRequest(None, acks, 1_000, [data]), PRODUCE)


def plain_produce(stage: Stage, number: int) -> list[object]:
    return produce(stage, acks=1)


def repeated_produce(stage: Stage, number: int) -> list[object]:
    """Produce batches that the shortcut leaves to the handler: each second one is of a transaction without an id."""
    records = idempotent(0, txn=True, timestamp=stage.lone.now_ms) if number % 2 else None
    return produce(stage, acks=1, records=records)


def unanswered_produce(stage: Stage, number: int) -> list[object]:
    return produce(stage, acks=0)


def fetch(stage: Stage, session_id: int, epoch: int, *topics: FetchTopic) -> list[object]:
    asked = FetchRequest(max_wait_ms=0, min_bytes=1, max_bytes=1 << 20, topics=list(topics))
    asked.session_id, asked.session_epoch = session_id, epoch
    return stage.ask(asked, FETCH)


def plain_fetches(stage: Stage, number: int) -> list[object]:
    return fetch(stage, 0, -1, FetchTopic(TOPIC, partitions=[FetchPartition(0, fetch_offset=0)]))


def quiet_fetch(stage: Stage, number: int) -> list[object]:
    if number:
        return fetch(stage, stage.session, number)
    return fetch(stage, 0, 0, FetchTopic(TOPIC, partitions=[FetchPartition(0, fetch_offset=stage.log.high_watermark)]))


Step = Callable[[Stage, int], list[object]]
STEPS: dict[Step, str] = {
    plain_produce: "fast produce",
    repeated_produce: "repeated produce",
    unanswered_produce: "repeated produce",
    plain_fetches: "fast fetch",
    quiet_fetch: "repeated fetch",
}
"""Requests that repeat, and the shortcut for each."""
each_step = pytest.mark.parametrize("step", STEPS)


def filled(*, in_general: bool) -> Stage:
    stage = Stage(in_general=in_general)
    for _ in range(3):
        stage.lone.broker.parts.replicas.appends.append(
            stage.lone.now, stage.lone.partition(TOPIC, 0), batch(timestamp=stage.lone.now_ms)
        )
    return stage


def run(stage: Stage, step: Step, change: Callable[[Stage, int], None] | None = None) -> list[list[object]]:
    found = []
    for number in range(8):
        if change is not None:
            change(stage, number)
        found.append(step(stage, number))
    return found


@each_step
def test_a_fast_path_is_taken(step: Step) -> None:
    """Else the tests below would compare the general way with itself."""
    stage = filled(in_general=False)
    run(stage, step)
    assert stage.quick.count(STEPS[step]) >= 3


@each_step
def test_a_denied_request_is_denied_on_each_path(step: Step) -> None:
    def change(stage: Stage, number: int) -> None:
        stage.authorizer.denies = number in (3, 4, 6)

    quick, slow = filled(in_general=False), filled(in_general=True)
    assert run(quick, step, change) == run(slow, step, change)
    assert quick.log.log_end_offset == slow.log.log_end_offset


@each_step
def test_a_gate_applies_on_each_path(step: Step) -> None:
    def change(stage: Stage, number: int) -> None:
        stage.throttle.stops = number in (3, 5, 6)

    quick, slow = filled(in_general=False), filled(in_general=True)
    assert run(quick, step, change) == run(slow, step, change)
    assert quick.log.log_end_offset == slow.log.log_end_offset
    assert quick.throttle.seen == slow.throttle.seen and len(slow.throttle.seen) == 8


@each_step
def test_each_response_leaves_through_the_same_function(step: Step) -> None:
    """So a change to all responses, such as to stop reading a link whose client sends too much, has one place."""
    answer = Links.respond

    def slowed(links: Links, link: ServedLink, chunks: tuple[Chunk, ...], timed: RequestTiming | None = None) -> None:
        links.outbox.add(StopReading(link.client.link))
        answer(links, link, chunks, timed)

    with patch.object(Links, "respond", slowed):
        quick, slow = (run(filled(in_general=general), step) for general in (False, True))
    assert quick == slow
    answered = [effects for effects in quick if any(isinstance(effect, bytes) for effect in effects)]
    assert all(StopReading in effects for effects in answered) and len(answered) in (0, 8)


def test_an_error_of_a_gate_names_its_requirement() -> None:
    stage = filled(in_general=False)
    stage.throttle.stops = True
    for _ in range(2):
        (frame,) = produce(stage, acks=1)
        assert isinstance(frame, bytes)
        body = decode_response(frame, key_of(ProduceRequest), PRODUCE).body
        assert isinstance(body, ProduceResponse)
        assert body.responses[0].partition_responses[0].error_code == THROTTLED
