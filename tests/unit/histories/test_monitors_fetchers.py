"""The rules of fetch sessions, positions and responses, each with a kept and a broken case."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace

import pytest

from kmirror.histories.monitors.fetchers import FetchMonitor
from kmirror.histories.monitors.frames import PendingRequest
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from kmirror.protocol.gen.fetch_response import EpochEndOffset, FetchableTopicResponse, FetchResponse, PartitionData
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from tests.unit.histories.monitors import FakeScene, Link, answer, ask, broken_rules, rules_of

SESSION = 5


class Stage:
    """One consumer of `kmirror.client` and one mirror, which fetch from a broker of cluster a."""

    def __init__(self) -> None:
        self.scene = FakeScene({"c0": "library_read", "c1": "read_committed"})
        self.monitor = FetchMonitor(self.scene, rules_of(self.scene))  # type: ignore[arg-type]
        self.link = Link("c0@a")

    def fetch(
        self,
        epoch: int,
        offsets: Mapping[int, int] | None = None,
        forgotten: list[int] | None = None,
        *,
        id_: int = SESSION,
        topic_id: Uuid = Uuid.ZERO,
    ) -> PendingRequest:
        """Deliver a fetch of partitions of t0, by name or by its id, with their offsets."""
        rows = [FetchPartition(partition=index, fetch_offset=offset) for index, offset in (offsets or {}).items()]
        request = FetchRequest(
            session_id=id_ if epoch else 0,
            session_epoch=epoch,
            isolation_level=1,
            topics=[FetchTopic(topic="t0" if topic_id == Uuid.ZERO else "", topic_id=topic_id, partitions=rows)],
            forgotten_topics_data=[ForgottenTopic(topic="t0", partitions=forgotten)] if forgotten else [],
        )
        return ask(self.monitor, self.link, request, version=11 if topic_id == Uuid.ZERO else 13)

    def answer(
        self, pending: PendingRequest, *rows: PartitionData, error: ErrorCode = ErrorCode.NONE, arrives: bool = True
    ) -> None:
        """Answer a fetch."""
        asked = pending.body.topics[0]  # type: ignore[attr-defined]
        topics = [FetchableTopicResponse(topic=asked.topic, topic_id=asked.topic_id, partitions=list(rows))]
        body = FetchResponse(error_code=error, session_id=SESSION, responses=topics)
        answer(self.monitor, pending, body, arrives=arrives)

    @property
    def broken(self) -> list[str]:
        """The broken rules."""
        return broken_rules(self.scene)


def records(base_offset: int, count: int, *, partition: int = 0, stable: int = 100) -> PartitionData:
    """Return a partition's row with one batch."""
    batch = build_batch([RecordData(key=None, value=b"v")] * count, base_offset=base_offset)
    return PartitionData(partition_index=partition, high_watermark=100, last_stable_offset=stable, records=batch)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_mirrors_and_library_consumers_are_checked(stage: Stage) -> None:
    for link in (Link("c0@a"), Link("b-1", "a-1")):
        assert stage.monitor.judges(link)  # type: ignore[arg-type]
    stage.scene.simulation.world.processes["c1@a"] = stage.scene.simulation.world.processes["a-2"]
    assert not stage.monitor.judges(Link("a-2", "a-1"))  # type: ignore[arg-type]


def test_a_continuing_session_breaks_no_rule(stage: Stage) -> None:
    stage.answer(stage.fetch(0, {0: 0, 1: 0}), records(0, 3))
    stage.answer(stage.fetch(1, {0: 3}), records(2, 3))
    stage.answer(stage.fetch(2, {0: 5}, [1]), error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    stage.answer(stage.fetch(0, {0: 5}))
    assert stage.broken == []


@pytest.mark.parametrize("error", [ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ErrorCode.INVALID_FETCH_SESSION_EPOCH])
def test_a_session_is_reopened_after_an_error(stage: Stage, error: ErrorCode) -> None:
    stage.answer(stage.fetch(0, {0: 0}))
    stage.answer(stage.fetch(1), error=error)
    stage.fetch(2)
    assert stage.broken == ["session-left"]


def test_a_session_is_reopened_after_a_lost_response(stage: Stage) -> None:
    stage.answer(stage.fetch(0, {0: 0}))
    stage.answer(stage.fetch(1), arrives=False)
    stage.fetch(2)
    assert stage.broken == ["session-left"]


def test_epochs_follow_each_other(stage: Stage) -> None:
    stage.answer(stage.fetch(0, {0: 0}))
    stage.fetch(2)
    assert stage.broken == ["session-epoch"]


def test_a_session_has_begun(stage: Stage) -> None:
    stage.fetch(1)
    assert stage.broken == ["session-unknown"]


def test_nothing_is_requested_and_forgotten_at_once(stage: Stage) -> None:
    stage.answer(stage.fetch(0, {0: 0}))
    stage.fetch(1, {0: 3}, [0])
    assert stage.broken == ["session-both"]


def test_a_consumer_continues_where_the_response_ended(stage: Stage) -> None:
    stage.answer(stage.fetch(0, {0: 0}))
    stage.answer(stage.fetch(1), records(0, 3))
    stage.fetch(2, {0: 2})
    assert stage.broken == ["fetch-offset"]


def test_after_a_divergence_it_reads_from_elsewhere(stage: Stage) -> None:
    stage.answer(stage.fetch(0, {0: 0}))
    row = PartitionData(partition_index=0, high_watermark=9, diverging_epoch=EpochEndOffset(epoch=1, end_offset=2))
    stage.answer(stage.fetch(1), records(0, 3))
    stage.answer(stage.fetch(2, {0: 3}), row)
    stage.fetch(3, {0: 2})
    assert stage.broken == []


def test_a_topic_that_was_created_again_is_read_from_elsewhere(stage: Stage) -> None:
    """The last response about the first topic comes when no topic has its id any more."""
    first, second = Uuid(b"1" * 16), Uuid(b"2" * 16)
    stage.scene.topics["t0"] = SimpleNamespace(name="t0", topic_id=first)
    stage.answer(stage.fetch(0, {0: 0}, topic_id=first), records(0, 3))
    stage.scene.topics.clear()
    stage.answer(stage.fetch(1, {0: 3}, topic_id=first), records(3, 1))
    stage.scene.topics["t0"] = SimpleNamespace(name="t0", topic_id=second)
    stage.answer(stage.fetch(0, {0: 4}, topic_id=second), records(4, 3))
    assert stage.broken == []
    stage.fetch(1, {0: 6}, topic_id=second)
    assert stage.broken == ["fetch-offset"]


def test_in_another_cluster_it_reads_from_elsewhere(stage: Stage) -> None:
    stage.answer(stage.fetch(0, {0: 0}), records(0, 3))
    pending = stage.fetch(1)
    pending.cluster = "b"
    stage.monitor.on_request(pending)
    stage.answer(stage.fetch(0, {0: 9}))
    assert "fetch-offset" not in stage.broken


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        (records(0, 3, partition=1), "answer-unasked"),
        (records(0, 3), "answer-below"),
        (records(4, 3, stable=6), "answer-above"),
    ],
)
def test_a_response_has_the_requested_partitions(stage: Stage, row: PartitionData, rule: str) -> None:
    stage.answer(stage.fetch(0, {0: 4}))
    stage.answer(stage.fetch(1), row)
    assert stage.broken == [rule]
