"""A produce request on the fast path has the same effects and response as on the general path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.lone_broker import LINK, LoneBroker, frame_of, response_in
from kmirror.cluster.broker.apis import produce
from kmirror.cluster.broker.apis.fast_produce import IDS_FROM, FastProduce
from kmirror.cluster.component import BrokerComponent
from kmirror.cluster.images import Delta
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.events import Effect, Event, InboundLink, Reply, RequestReceived, TimerFired
from kmirror.kernel.failures import OnFailure
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kmirror.protocol.gen.partition_change_record import PartitionChangeRecord
from kmirror.protocol.gen.partition_record import PartitionRecord
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.gen.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kmirror.protocol.gen.remove_topic_record import RemoveTopicRecord
from kmirror.protocol.gen.topic_record import TopicRecord
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.legacy import build_message_set
from kmirror.records.record import RecordData
from kmirror.spec.apis import versions_served
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import GROUP_TOPIC
from kmirror.spec.wire_values import AclOperation as Op
from kmirror.spec.wire_values import AclPermission, ResourceType
from tests.acls import ACL_CONFIGS, acl
from tests.builders import batch, idempotent
from tests.client_links import handle_with_disk, link_opened
from tests.property.log.test_fast_append import state

TOPIC, GUARDED = "t", "guarded"
OTHER = InboundLink(("other",))
FOLLOWER = InboundLink(("follower",))
CONSUMER = InboundLink(("consumer",))
VERSIONS = st.integers(ProduceRequest.MIN_VERSION, ProduceRequest.MAX_VERSION)
CHANGED = {
    "min.insync.replicas": ("1", "2"),
    "flush.messages": ("1", "100", str((1 << 63) - 1)),
    "message.timestamp.type": ("CreateTime", "LogAppendTime"),
    "compression.type": ("producer", "gzip"),
    "max.message.bytes": ("1048588", "100"),
    "cleanup.policy": ("delete", "compact"),
}


class Guard(BrokerComponent):
    """Refuses writes to a topic, like mirroring, while `error` is set."""

    name = "guard"

    def __init__(self) -> None:
        self.error: ErrorCode | None = None

    def produce_error(self, tp: TopicPartition) -> ErrorCode | None:
        return self.error if tp.topic == GUARDED else None


@dataclass(slots=True)
class Stage:
    """A broker; with `is_plain` it may use the fast path."""

    is_plain: bool
    has_acls: bool = False
    lone: LoneBroker = field(init=False)
    guard: Guard = field(default_factory=Guard)
    epochs: int = 0
    """Number of partition epochs used."""

    first_ids: dict[str, Uuid] = field(init=False)
    """The ids of the topics before any was deleted."""

    def __post_init__(self) -> None:
        self.lone = LoneBroker({TOPIC: 2, GUARDED: 1, GROUP_TOPIC: 1}, configs=ACL_CONFIGS if self.has_acls else {})
        self.first_ids = dict(self.lone.topic_ids)
        replicas = self.lone.broker.parts.replicas
        for partition in replicas.partitions.values():
            replicas.appends.append(self.lone.now, partition, idempotent(0, timestamp=self.lone.now_ms))
        self.lone.broker.add(self.guard)
        for link in (OTHER, FOLLOWER, CONSUMER):
            self.handle(link_opened(*link.name))

    def handle(self, event: Event) -> list[object]:
        """Return the effects of an event, including disk work, as values."""
        self.lone.now += MILLISECOND
        with nullcontext() if self.is_plain else only_in_general():
            return [comparable(effect) for effect in handle_with_disk(self.lone.broker, self.lone.now, event)]

    def publish(self, *records: Message) -> list[object]:
        broker, delta = self.lone.broker, Delta()
        for record in records:
            broker.context.image.apply(record, delta)
        broker.publish(self.lone.now, delta)
        return self.handle(TimerFired(("isr",)))  # An event without its own effects, which runs the pending work.

    def led(self, topic: str, index: int, **change: Any) -> list[object]:
        self.epochs += 1
        topic_id = self.lone.topic_ids[topic]
        return self.publish(PartitionChangeRecord(partition_id=index, topic_id=topic_id, **change))

    def logs(self) -> object:
        partitions = self.lone.broker.parts.replicas.partitions
        return {tp: (state(one.log), one.log.high_watermark, one.log.now_ms) for tp, one in partitions.items()}


@contextmanager
def nullcontext() -> Iterator[None]:
    yield


@contextmanager
def only_in_general() -> Iterator[None]:
    with patch.object(FastProduce, "respond", lambda *_: None):
        yield


def comparable(effect: Effect) -> object:
    """Return an effect as a value, ignoring the chunks of a response."""
    return (effect.link, b"".join(effect.chunks)) if isinstance(effect, Reply) else repr(effect)


@dataclass(frozen=True, slots=True)
class Shape:
    """The common part of similar requests."""

    version: int
    topic: str = TOPIC
    index: int = 0
    acks: int = -1
    transactional_id: str | None = None
    count: int = 1

    def frame(self, records: bytes | None, topic_id: Uuid, correlation_id: int) -> bytes:
        """Return a request with these records for each of its partitions."""
        named = TopicProduceData(
            partition_data=[PartitionProduceData(self.index + n, records) for n in range(self.count)]
        )
        if self.version >= IDS_FROM:
            named.topic_id = topic_id
        else:
            named.name = self.topic
        request = ProduceRequest(self.transactional_id, self.acks, 1_000, [named])
        return encode_request(request, self.version, correlation_id=correlation_id, client_id="p")


def records_of(kind: str, number: int, now_ms: int) -> bytes | None:
    """Return records that a producer might send, valid or not."""
    plain = batch(1 + number % 3, timestamp=now_ms)
    made: dict[str, Callable[[], bytes | None]] = {
        "none": lambda: None,
        "empty": lambda: b"",
        "torn": lambda: plain[:-3],
        "short": lambda: plain[: number % 61],
        "flipped": lambda: plain[:-1] + bytes([plain[-1] ^ 1]),
        "two": lambda: plain + plain,
        "legacy": lambda: build_message_set([RecordData(None, b"v", (), now_ms)], magic=1),
        "future": lambda: batch(timestamp=now_ms + 90_000_000),
        "offset": lambda: batch(offset=5, timestamp=now_ms),
        "no key": lambda: build_batch([RecordData(None, b"v", (), now_ms)]),
        "large": lambda: batch(size=20_000, timestamp=now_ms),
        "lz4": lambda: batch(3, timestamp=now_ms, compression=Compression.LZ4),
        "gzip": lambda: batch(3, timestamp=now_ms, compression=Compression.GZIP),
        "txn": lambda: idempotent(number, txn=True, timestamp=now_ms),
        "idempotent": lambda: idempotent(number % 3, timestamp=now_ms),
        "new epoch": lambda: idempotent(0, producer_epoch=1, timestamp=now_ms),
    }
    return plain if kind not in made else made[kind]()


KINDS = st.sampled_from(
    ["plain"] * 20
    + ["idempotent"] * 4
    + ["none", "empty", "torn", "short", "flipped", "two", "legacy", "future", "offset", "no key", "large"]
    + ["lz4", "gzip", "txn", "new epoch"]
)
PLAIN_SHAPES = st.builds(Shape, VERSIONS, st.sampled_from([TOPIC, TOPIC, GUARDED]), acks=st.sampled_from([-1, -1, 1]))
DEVIATIONS: list[dict[str, Any]] = [
    *({"topic": GROUP_TOPIC}, {"topic": "unknown"}, {"index": 1}, {"index": 7}, {"count": 2}),
    *({"acks": 0}, {"acks": 2}, {"transactional_id": ""}, {"transactional_id": "x"}),
]
SHAPES = st.builds(
    lambda plain, deviation: replace(plain, **deviation), PLAIN_SHAPES, st.sampled_from([{}, {}, {}, *DEVIATIONS])
)
PERMISSIONS = st.sampled_from([AclPermission.ALLOW, AclPermission.DENY, None])
CHANGES = st.one_of(
    st.tuples(st.just("leader"), st.sampled_from([1, 1, 2])),
    st.tuples(st.just("isr"), st.sampled_from([[1], [1, 2]])),
    st.tuples(st.just("config"), st.just("min.insync.replicas"), st.just("2")),
    st.tuples(st.just("config"), st.just("flush.messages"), st.just("3")),
    st.sampled_from(sorted(CHANGED)).flatmap(
        lambda key: st.tuples(st.just("config"), st.just(key), st.sampled_from(CHANGED[key]))
    ),
    st.tuples(st.just("guard"), st.sampled_from([None, ErrorCode.READ_ONLY_TOPIC])),
    st.tuples(st.just("acl"), st.sampled_from([(Op.WRITE, TOPIC), (Op.READ, TOPIC), (Op.WRITE, GUARDED)]), PERMISSIONS),
    st.tuples(st.just("anew")),
    st.tuples(st.just("fault"), st.booleans()),
    st.tuples(st.just("follow")),
    st.tuples(st.just("consume")),
)


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    """Draw steps for a broker, with few shapes of requests, so that most repeat an earlier one."""
    shapes = draw(st.lists(SHAPES, min_size=1, max_size=2))
    runs = st.tuples(
        st.just("produce"),
        st.sampled_from(shapes),
        st.sampled_from([LINK, LINK, LINK, OTHER]),
        st.lists(st.tuples(KINDS, st.integers(0, 70), st.booleans()), min_size=1, max_size=3),
        st.booleans(),
    )
    return draw(st.lists(st.one_of(runs, CHANGES), min_size=2, max_size=16))


def run_step(stage: Stage, step: tuple[Any, ...]) -> list[object]:
    """Return the effects of a step."""
    lone, ids = stage.lone, stage.lone.topic_ids
    match step:
        case ("produce", Shape() as shape, link, run, is_stale):
            found: list[object] = []
            for number, (kind, sequence, is_view) in enumerate(run):
                topic_id = (stage.first_ids if is_stale else ids).get(shape.topic, Uuid.from_ints(9, 9))
                frame = shape.frame(records_of(kind, sequence, lone.now_ms), topic_id, number)
                found += stage.handle(RequestReceived(link, memoryview(frame) if is_view else frame))
            return found
        case ("leader", leader):
            return stage.led(TOPIC, 0, leader=leader)
        case ("isr", isr):
            return stage.led(TOPIC, 0, isr=isr, replicas=[1, 2])
        case ("config", key, value):
            row = ConfigRecord(resource_type=ResourceType.TOPIC, resource_name=TOPIC, name=key, value=value)
            return stage.publish(row)
        case ("acl", (operation, topic), permission):
            number = 1 + (topic == GUARDED)
            if permission is None:
                return stage.publish(RemoveAccessControlEntryRecord(id=acl(number, operation, topic).id))
            return stage.publish(acl(number, operation, topic, permission))
        case ("guard", error):
            stage.guard.error = error
        case ("anew",):
            stage.epochs += 1
            removed, ids[TOPIC] = ids[TOPIC], Uuid.from_ints(7, stage.epochs)
            topic = TopicRecord(name=TOPIC, topic_id=ids[TOPIC])
            partition = PartitionRecord(
                partition_id=0, topic_id=ids[TOPIC], replicas=[1], isr=[1], leader=1, leader_epoch=0
            )
            return stage.publish(RemoveTopicRecord(topic_id=removed), topic, partition)
        case ("fault", is_set):
            store: Any = lone.partition(GUARDED, 0).log.store
            store.fault = OSError(28, "No space left on device") if is_set else None
        case ("follow",):
            rows = [FetchPartition(partition=0, fetch_offset=lone.partition(TOPIC, 0).log.log_end_offset)]
            fetch = FetchRequest(
                replica_state=ReplicaState(2, 2), topics=[FetchTopic(topic_id=ids[TOPIC], partitions=rows)]
            )
            fetch.session_epoch = -1
            return stage.handle(RequestReceived(FOLLOWER, frame_of(fetch)))
        case ("consume",):
            rows = [
                FetchPartition(
                    partition=0, fetch_offset=lone.partition(TOPIC, 0).log.log_end_offset, partition_max_bytes=99
                )
            ]
            fetch = FetchRequest(
                max_wait_ms=9_000, min_bytes=1, topics=[FetchTopic(topic_id=ids[TOPIC], partitions=rows)]
            )
            fetch.session_epoch = -1
            return stage.handle(RequestReceived(CONSUMER, frame_of(fetch)))
    return []


@settings(max_examples=400)
@given(steps(), st.booleans())
def test_a_plain_produce_is_done_and_answered_as_any_other(steps: list[tuple[Any, ...]], has_acls: bool) -> None:
    quick, slow = Stage(True, has_acls), Stage(False, has_acls)
    for step in steps:
        assert run_step(quick, step) == run_step(slow, step)
    assert quick.logs() == slow.logs()


def run(shape: Shape, count: int = 3, *, kind: str = "plain", is_stale: bool = False) -> tuple[Any, ...]:
    return "produce", shape, LINK, [(kind, number, False) for number in range(count)], is_stale


ALL, ONE, BY_ID = Shape(9), Shape(9, acks=1), Shape(13)
MIRRORED = Shape(9, GUARDED)
HISTORIES: dict[str, list[tuple[Any, ...]]] = {
    "the topic was deleted, and there is another of its name": [run(BY_ID), ("anew",), run(BY_ID, is_stale=True)],
    "another broker leads": [run(ONE), ("leader", 2), run(ONE), ("leader", 1), run(ONE)],
    "a follower is to have it first": [run(ALL), ("isr", [1, 2]), run(ALL, 1), ("follow",), run(ALL, 1)],
    "a follower is about to be one of the ISR": [run(ALL), ("isr", [1]), ("follow",), run(ALL, 1), ("follow",)],
    "the ISR is too small": [run(ALL), ("isr", [1]), ("config", "min.insync.replicas", "2"), run(ALL)],
    "the disk is to have it first": [run(ALL), ("config", "flush.messages", "3"), run(ALL)],
    "others wait behind it": [run(ALL), ("isr", [1, 2]), run(ALL), ("isr", [1]), run(ALL)],
    "the topic is mirrored": [run(MIRRORED), ("guard", ErrorCode.READ_ONLY_TOPIC), run(MIRRORED)],
    "an ACL denies it": [run(ALL), ("acl", (Op.WRITE, TOPIC), AclPermission.DENY), run(ALL)],
    "an ACL allows something else": [run(ALL), ("acl", (Op.READ, TOPIC), AclPermission.ALLOW), run(ALL)],
    "an ACL comes and goes": [
        run(ALL),
        ("acl", (Op.WRITE, TOPIC), AclPermission.DENY),
        run(ALL),
        ("acl", (Op.WRITE, TOPIC), None),
        run(ALL),
    ],
    "the disk is full": [run(MIRRORED), ("fault", True), run(MIRRORED, 1), ("fault", False), run(MIRRORED)],
    "nobody wants an answer": [run(Shape(9, acks=0))],
    "no such acknowledgement": [run(Shape(9, acks=2))],
    "the topic is the cluster's": [run(Shape(9, GROUP_TOPIC))],
    "a batch is of a transaction": [run(ALL), run(ALL, kind="txn")],
    "a batch is too short to say so": [run(ALL), run(ALL, 61, kind="short"), run(ALL)],
    "a batch is too large": [run(ALL), ("config", "max.message.bytes", "80"), run(ALL)],
    "somebody waits for what comes": [run(ALL), ("consume",), run(ALL, 1), ("consume",), run(ONE, 2)],
    "a batch came twice": [run(ALL, 3, kind="idempotent"), run(ALL, 3, kind="idempotent")],
}


@pytest.mark.parametrize("why", HISTORIES)
def test_other_requests_have_the_same_effects_on_both_paths(why: str) -> None:
    """Each of these differences alone: the property above finds most of them only occasionally."""
    has_acls = "ACL" in why
    quick, slow = Stage(True, has_acls), Stage(False, has_acls)
    for step in HISTORIES[why]:
        assert run_step(quick, step) == run_step(slow, step)
    assert quick.logs() == slow.logs()


class NoRights:
    """An authorizer that denies every operation."""

    def authorize(self, *_: object) -> bool:
        return False

    authorize_by_resource_type = authorize


@pytest.mark.parametrize("has_acls", [False, True])
@pytest.mark.parametrize("version", range(ProduceRequest.MIN_VERSION, ProduceRequest.MAX_VERSION + 1))
@pytest.mark.parametrize("acks", [1, -1])
def test_plain_requests_take_the_fast_path(version: int, acks: int, has_acls: bool) -> None:
    """Otherwise the property above would compare the general path with itself."""
    stage, asked = Stage(True, has_acls), list[object]()
    shapes = Shape(version, acks=acks), Shape(version, acks=acks, index=1)

    general = produce._append_all

    def record_call(*arguments: Any) -> None:
        asked.append(arguments)
        general(*arguments)

    with patch.object(produce, "_append_all", record_call):
        for shape in (*shapes, *shapes):
            before = len(asked)
            found = run_step(stage, run(shape, 3))
            assert len(found) == 3 and len(asked) == before + 1, "the first of them is not like the one before it"


def test_rights_are_checked_each_time() -> None:
    lone = LoneBroker({TOPIC: 1}, authorizer=NoRights())
    errors = []
    for number in range(3):
        frame = ALL.frame(batch(timestamp=lone.now_ms), Uuid.ZERO, number)
        body = decode_response(response_in(lone.request(frame)), key_of(ProduceRequest), 9).body
        assert isinstance(body, ProduceResponse)
        errors.append(body.responses[0].partition_responses[0].error_code)
    assert errors == [ErrorCode.TOPIC_AUTHORIZATION_FAILED] * 3


def test_a_bug_on_the_fast_path_is_answered_and_counted() -> None:
    """Like a failure in a handler."""
    stage = Stage(True)
    run_step(stage, run(ALL))
    stage.lone.broker.context.failures._policy = OnFailure.CONTINUE
    with patch.object(Guard, "produce_error", side_effect=KeyError("a bug")):
        found = run_step(stage, run(ALL, 1))
    assert "KeyError" in repr(found) and stage.lone.broker.context.failures.count == 1
    (_, frame) = found[-1]  # type: ignore[misc]
    body = decode_response(frame, key_of(ProduceRequest), 9).body
    assert isinstance(body, ProduceResponse)
    assert body.responses[0].partition_responses[0].error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert len(run_step(stage, run(ALL, 1))) == 1


def test_the_served_versions_of_produce_are_fixed_for_a_link() -> None:
    """The fast path ignores the served versions: they are the same with any feature."""
    key = key_of(ProduceRequest)
    assert versions_served("broker", mirror=True)[key] == versions_served("broker", mirror=False)[key]


def test_a_stored_request_does_not_keep_its_buffer() -> None:
    """Otherwise each link would keep the buffer of a large frame, which others could reuse."""
    stage = Stage(True)
    received = [bytearray(ALL.frame(batch(size=5_000, timestamp=stage.lone.now_ms), Uuid.ZERO, 1)) for _ in range(2)]
    for buffer in received:
        stage.handle(RequestReceived(LINK, memoryview(buffer).toreadonly()))
        buffer.append(0)  # A BufferError shows that a view of it still exists.
