"""A refresh of a source's metadata requests only wanted topics, and checks only changed ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Chunk
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.driver import PartitionDriver
from kmirror.mirror.partition import MirrorPartition
from kmirror.protocol.gen.create_topics_request import CreateTopicsRequest
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType
from tests.sim.stage import Pair, WrittenLogs, assert_equal, pair, plain, values

COUNT = 12
NAMES = [f"t{number}" for number in range(COUNT)]


def tp(number: int) -> TopicPartition:
    return TopicPartition(NAMES[number], 0)


def mirroring() -> Pair:
    p = pair(brokers=1, logs=WrittenLogs({name: [plain(0, 0, "r0")] for name in NAMES}))
    p.begin(NAMES)
    p.simulation.run_for(span_s=20)
    return p


@pytest.fixture
def checked_partitions(monkeypatch: pytest.MonkeyPatch) -> list[TopicPartition]:
    """The partitions that took a step."""
    found: list[TopicPartition] = []
    take_step = PartitionDriver.take_step

    def count(driver: PartitionDriver, now: Instant, mp: MirrorPartition) -> None:
        found.append(mp.tp)
        take_step(driver, now, mp)

    monkeypatch.setattr(PartitionDriver, "take_step", count)
    return found


@pytest.fixture
def refresh_requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Message]]:
    """The answered requests of mirrors' refreshes and of controllers' clients."""
    found: list[Message] = []
    answer = Inbound._respond

    def answering(inbound: Inbound, chunks: tuple[Chunk, ...], body: Message | None) -> None:
        _, channel, _ = inbound.client.link.name
        if channel in ("mirror-m-metadata", "controller"):
            found.append(inbound.body)
        answer(inbound, chunks, body)

    monkeypatch.setattr(Inbound, "_respond", answering)
    yield found


def refreshes(refresh_requests: list[Message]) -> list[list[str]]:
    """Return the topics of each refresh."""
    return [
        [topic.name or "" for topic in request.topics or []]
        for request in refresh_requests
        if isinstance(request, MetadataRequest)
    ]


def test_a_refresh_without_changes_checks_no_partition(
    checked_partitions: list[TopicPartition], refresh_requests: list[Message]
) -> None:
    p = mirroring()
    checked_partitions.clear()
    refresh_requests.clear()
    p.simulation.run_for(span_s=30)
    assert [sorted(topics) for topics in refreshes(refresh_requests)].count(sorted(NAMES)) >= 3, "the regular ones"
    assert checked_partitions == []


def test_a_refresh_checks_the_partition_with_another_leader_epoch(
    checked_partitions: list[TopicPartition], refresh_requests: list[Message]
) -> None:
    p = mirroring()
    checked_partitions.clear()
    refresh_requests.clear()
    p.a.bump(7, tp(3))
    p.run_until(lambda: tp(3) in checked_partitions, "a look")
    p.a.write("in epoch 7", tp=tp(3))
    p.run_until(lambda: values(p.b.log(tp(3)))[-1][1] == "in epoch 7", "b to follow")
    assert set(checked_partitions) == {tp(3)}
    assert [NAMES[3]] in refreshes(refresh_requests), "the fenced fetch asks for its own topic"
    assert all(topics == [NAMES[3]] or len(topics) == COUNT for topics in refreshes(refresh_requests))


def test_a_failover_sends_no_request_to_the_source(refresh_requests: list[Message]) -> None:
    p = mirroring()
    refresh_requests.clear()
    p.fail_over(topics=NAMES)
    p.simulation.run_for(span_s=30)
    assert refreshes(refresh_requests) == [], "nor later, while the mirror has only topics that were removed"
    p.b.write("on b", tp=tp(0))
    p.fail_back(NAMES)
    assert_equal(p.back, NAMES)


def test_source_leaders_are_forgotten_when_a_topic_is_removed() -> None:
    """Its leader would get a request for a lineage when the topic is added again, and may be gone by then."""
    p = mirroring()
    source = p.b.component(1).context.sources["m"]
    assert source.leader(tp(5)) is not None
    p.there.remove_topics([NAMES[5]])
    p.run_until(lambda: p.b.state(tp(5)) == "STOPPED", "the stop")
    assert source.leader(tp(5)) is None
    p.there.add_topics([NAMES[5]])
    p.run_until(lambda: p.b.state(tp(5)) == "MIRRORING", "to be mirrored again")


def test_a_response_after_the_removal_is_ignored_too() -> None:
    """No request is sent for a topic that seems known: once it is added again, nothing would follow the source."""
    p = mirroring()
    source = p.b.component(1).context.sources["m"]
    p.run_until(lambda: not source.refreshing, "no refresh")
    slow = p.simulation.line(p.a, p.b)
    slow.set(latency_ms=600)
    p.run_until(lambda: source.refreshing, "a refresh")
    p.there.remove_topics(NAMES)
    p.run_until(lambda: not source.refreshing, "its answer")
    assert all(source.leader(tp(number)) is None for number in range(COUNT))
    slow.reset()
    p.there.add_topics(NAMES)
    assert_equal(p.there, NAMES)
    assert p.a.alter(NAMES[2], {"retention.ms": "7200000"}) is ErrorCode.NONE
    p.run_until(lambda: p.b.image.configs.topic(NAMES[2]).get("retention.ms") == "7200000", "the syncs to go on")


def test_missing_topics_are_created_by_one_request(refresh_requests: list[Message]) -> None:
    p = pair(brokers=1, logs=WrittenLogs({name: [plain(0, 0, "r0")] for name in NAMES}))
    p.simulation.run_for(span_s=2)  # Until the source's broker is in session and up to date (D32, D60).
    p.begin(NAMES)
    created = [
        [topic.name for topic in request.topics]
        for request in refresh_requests
        if isinstance(request, CreateTopicsRequest)
    ]
    assert created == [NAMES]
    assert refreshes(refresh_requests) == [sorted(NAMES)], (
        "what the source said before the creation is not asked for again"
    )


def test_missing_topics_are_created_in_requests_of_bounded_size(
    refresh_requests: list[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kmirror.mirror.syncs.topic_scripts.PARTITIONS_MAX", 5)
    p = pair(brokers=1, logs=WrittenLogs({name: [plain(0, 0, "r0")] for name in NAMES}))
    p.begin(NAMES)
    created = [len(request.topics) for request in refresh_requests if isinstance(request, CreateTopicsRequest)]
    assert created == [5, 5, 2]


def test_a_creation_without_a_response_is_requested_again(refresh_requests: list[Message]) -> None:
    p = pair(brokers=1, logs=WrittenLogs({name: [plain(0, 0, "r0")] for name in NAMES}))
    p.there.create()
    p.run_until(lambda: bool(p.b.component(1).context.sources), "the mirror")
    lose_answers = p.simulation.line("b-controller", "b-1", one_way=True)
    p.there.begin_add_topics(NAMES)
    p.run_until(lambda: any(isinstance(r, CreateTopicsRequest) for r in refresh_requests), "the order")
    lose_answers.take_down()
    p.simulation.run_for(span_s=5)
    lose_answers.bring_up()
    assert_equal(p.there, NAMES)


def test_a_changed_broker_default_ends_the_wait_for_it() -> None:
    """PREPARING waits for min.insync.replicas; nothing of the source changes when that is lowered."""
    logs = WrittenLogs({NAMES[0]: [plain(0, 0, "r0")]})
    ours = WrittenLogs({NAMES[0]: [plain(0, 0, "b0")]})
    p = pair(logs=logs, b_logs=ours, b_configs={"mirror.metadata.refresh.interval.ms": "600000"})
    p.there.create()
    p.b.settle()
    assert p.b.alter("__mirror_state", {"min.insync.replicas": "1"}) is ErrorCode.NONE
    assert p.b.alter("", {"min.insync.replicas": "3"}, kind=ResourceType.BROKER) is ErrorCode.NONE
    p.b.kill(next(b for b in p.b.broker_ids if b != p.b.await_leader(tp(0)).broker_id))
    p.run_until(lambda: len(p.b.await_leader(tp(0)).isr) == 2, "the ISR to shrink")
    p.there.add_topics([NAMES[0]])
    p.run_until(lambda: "min.insync.replicas" in p.b.reason(tp(0)), "PREPARING to wait")
    p.simulation.run_for(span_s=5)
    assert p.b.alter("", {"min.insync.replicas": "2"}, kind=ResourceType.BROKER) is ErrorCode.NONE
    p.run_until(lambda: p.b.state(tp(0)) == "MIRRORING", "the default to count")


def test_an_unreachable_source_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    p = mirroring()
    p.a.kill(1)
    p.run_until(lambda: all("does not respond" in p.b.reason(tp(n)) for n in range(COUNT)), "the loss to be noticed")
    noted: list[TopicPartition] = []
    monkeypatch.setattr(MirrorContext, "note_reason", lambda context, mp: noted.append(mp.tp))
    p.simulation.run_for(span_s=20)
    assert noted == []
