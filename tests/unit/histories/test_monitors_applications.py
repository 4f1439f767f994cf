"""Guarantees of applications, and the rows of responses, each with a kept and a broken case."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kmirror.client.consumer import ConsumerRecord, FetchedRecords
from kmirror.client.positions import Position
from kmirror.histories.monitors.applications import ROUNDS, SLACK_MS, DeliveryMonitor, ReadingMonitor
from kmirror.kernel.clock import MILLISECOND
from tests.unit.histories.monitors import TP, FakeScene, broken_rules


@pytest.fixture
def scene() -> FakeScene:
    return FakeScene()


@pytest.mark.parametrize(("after_ms", "rules"), [(100 + SLACK_MS, []), (101 + SLACK_MS, ["delivery-late"])])
def test_a_delivery_is_reported_in_time(scene: FakeScene, after_ms: int, rules: list[str]) -> None:
    monitor = DeliveryMonitor(scene, "a", "p0", within_ms=100)  # type: ignore[arg-type]
    number = monitor.on_sent(TP)
    scene.now = after_ms * MILLISECOND
    monitor.check_overdue()
    assert broken_rules(scene) == rules
    monitor.on_delivered(number, TP)
    assert broken_rules(scene) == rules


def test_a_delivery_is_reported_once(scene: FakeScene) -> None:
    monitor = DeliveryMonitor(scene, "a", "p0", within_ms=100)  # type: ignore[arg-type]
    number = monitor.on_sent(TP)
    monitor.on_delivered(number, TP)
    assert broken_rules(scene) == []
    monitor.on_delivered(number, TP)
    assert broken_rules(scene) == ["delivery-twice"]


@pytest.mark.parametrize(
    ("sent", "rules"),
    [
        (((0, 0), (0, 2), (0, 0), (0, 2), (0, 4), (1, 0), (0, 6)), []),
        (((0, 0), (0, 3)), ["producer-gap"]),
        (((0, 0), (1, 2)), ["producer-gap"]),
    ],
)
def test_the_numbers_of_new_batches_follow_each_other(
    scene: FakeScene, sent: tuple[tuple[int, int], ...], rules: list[str]
) -> None:
    monitor = DeliveryMonitor(scene, "a", "p0", within_ms=100)  # type: ignore[arg-type]
    for epoch, sequence in sent:
        monitor.on_batch_sent(TP, 7, epoch, sequence, 2)
    assert broken_rules(scene) == rules


class Reading:
    """A consumer whose partition has stable records up to offset 9."""

    def __init__(self, scene: FakeScene) -> None:
        log = SimpleNamespace(log_start_offset=0, last_stable_offset=9)
        self.scene = scene
        scene.open_spans = {}
        scene.leader = lambda cluster, tp: SimpleNamespace(log=log, broker_id=1)
        self.monitor = ReadingMonitor(scene, "c0")  # type: ignore[arg-type]

    def rounds(self, count: int, offset: int, *, refused: tuple[object, ...] = ()) -> None:
        """End some rounds at an offset."""
        for _ in range(count):
            self.monitor.on_round_ended("a", [TP], {TP: Position(offset)}, refused)


def test_a_stalled_consumer_is_reported(scene: FakeScene) -> None:
    reading = Reading(scene)
    reading.rounds(ROUNDS - 1, 3)
    assert broken_rules(scene) == []
    reading.rounds(1, 3)
    assert broken_rules(scene) == ["reader-stands"]


def test_a_consumer_may_stall_at_the_end_or_during_faults(scene: FakeScene) -> None:
    reading = Reading(scene)
    reading.rounds(ROUNDS, 9)
    reading.rounds(ROUNDS - 1, 3)
    reading.rounds(ROUNDS - 1, 4)
    reading.rounds(ROUNDS, 4, refused=(TP,))
    scene.open_spans["broker", "a-1"] = 0
    reading.rounds(ROUNDS, 4)
    assert broken_rules(scene) == []


@pytest.mark.parametrize(
    ("before", "offsets", "after", "rules"),
    [
        (4, (4, 7, 8), 10, []),
        (4, (), 6, []),
        (4, (3, 4), 5, ["reader-order"]),
        (4, (5, 5), 6, ["reader-order"]),
        (4, (4, 5), 5, ["reader-order"]),
        (4, (), 3, ["reader-order"]),
    ],
)
def test_a_consumer_returns_records_from_its_position_on_in_their_order(
    scene: FakeScene, before: int, offsets: tuple[int, ...], after: int, rules: list[str]
) -> None:
    records = [ConsumerRecord(TP.topic, TP.partition, offset, 0, None, b"", (), 0) for offset in offsets]
    found = FetchedRecords(Position(before), records, Position(after))
    ReadingMonitor(scene, "c0").on_fetched("a", TP, found)  # type: ignore[arg-type]
    assert broken_rules(scene) == rules
