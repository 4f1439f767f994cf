"""Components are called and notified in the order in which they were plugged in."""

from __future__ import annotations

from typing import cast

import pytest

from kmirror.cluster.component import BrokerComponent, Components
from kmirror.cluster.images import Delta
from kmirror.cluster.node.partition import Partition
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import TimerKey
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.error_codes import ErrorCode

ONE, TWO = TopicPartition("one", 0), TopicPartition("two", 0)


class Listener(BrokerComponent):
    """Records every call, and returns the given answers."""

    def __init__(self, name: str, told: list[tuple[object, ...]]) -> None:
        self.name = name
        self._told = told
        self.error: ErrorCode | None = None
        self.says = False
        self.shard: TopicPartition | None = None

    def before_metadata(self, now: Instant, delta: Delta) -> None:
        self._told.append((self.name, "before"))

    def on_metadata(self, now: Instant, delta: Delta) -> None:
        self._told.append((self.name, "metadata"))

    def on_leadership(self, now: Instant, tp: TopicPartition, *, leads: bool) -> None:
        self._told.append((self.name, tp.topic, leads))

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        self._told.append((self.name, key))

    def produce_error(self, tp: TopicPartition) -> ErrorCode | None:
        return self.error

    def has_foreign_epochs(self, partition: Partition) -> bool:
        return self.says

    def may_compact(self, partition: Partition) -> bool:
        return not self.says

    def withholds_log(self, partition: Partition) -> bool:
        return self.says

    def coordinator_for(self, key_type: int, key: str) -> TopicPartition | None:
        return self.shard


class Stage:
    def __init__(self) -> None:
        self.told: list[tuple[object, ...]] = []
        self.first, self.second = Listener("first", self.told), Listener("second", self.told)
        self.components = Components()
        self.components.add(self.first)
        self.components.add(self.second)


def test_each_component_learns_of_leaderships_before_the_rest() -> None:
    stage = Stage()
    stage.components.before_metadata(0, Delta())
    stage.components.on_metadata(0, Delta(), {TWO: True, ONE: False})
    assert stage.told == [
        *(("first", "before"), ("second", "before")),
        *(("first", "two", True), ("first", "one", False), ("first", "metadata")),
        *(("second", "two", True), ("second", "one", False), ("second", "metadata")),
    ]


def test_a_timer_goes_to_the_component_that_is_the_prefix_of_its_key() -> None:
    stage = Stage()
    stage.components.on_timer(0, ("second", "again", 7))
    assert stage.told == [("second", ("second", "again", 7))]
    with pytest.raises(AssertionError, match="unknown timer"):
        stage.components.on_timer(0, ("third",))


def test_the_first_reason_to_refuse_counts() -> None:
    stage = Stage()
    assert (stage.components.produce_error(ONE), stage.components.marker_error(ONE)) == (None, None)
    stage.second.error = ErrorCode.READ_ONLY_TOPIC
    assert stage.components.produce_error(ONE) is ErrorCode.READ_ONLY_TOPIC
    stage.first.error = ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert stage.components.produce_error(ONE) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert stage.components.marker_error(ONE) is ErrorCode.NOT_LEADER_OR_FOLLOWER, "as for produce, if nothing else"


def test_one_positive_component_is_enough() -> None:
    stage, partition = Stage(), cast(Partition, None)
    assert not stage.components.withholds_log(partition) and not stage.components.has_foreign_epochs(partition)
    assert stage.components.may_compact(partition)
    stage.second.says = True
    assert stage.components.withholds_log(partition) and stage.components.has_foreign_epochs(partition)
    assert not stage.components.may_compact(partition)


def test_a_component_guards_all_topics_unless_it_names_some_at_the_time() -> None:
    components, told = Components(), list[tuple[object, ...]]()
    components.add(BrokerComponent())
    assert not components.may_be_guarded("one"), "it has nothing to say about logs"
    named, topics = Listener("some", told), set[str]()
    named.guarded_topics = topics
    components.add(named)
    assert not components.may_be_guarded("one")
    topics.add("one")
    assert components.may_be_guarded("one") and not components.may_be_guarded("two")
    components.add(Listener("all", told))
    assert components.may_be_guarded("two")


def test_the_first_component_that_coordinates_a_key_is_used() -> None:
    stage = Stage()
    assert stage.components.coordinator_for(1, "key") is None
    stage.second.shard = TWO
    assert stage.components.coordinator_for(1, "key") == TWO
    stage.first.shard = ONE
    assert stage.components.coordinator_for(1, "key") == ONE
