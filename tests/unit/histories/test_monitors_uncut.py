"""The rules of lists of replicas that must truncate, each with a kept and a broken case."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from kmirror.histories.monitors.uncut import ALL_REPLICAS, UncutRules
from kmirror.mirror.cut_rules import SESSION
from kmirror.mirror.states import MirrorState
from tests.unit.histories.mirrored import TOPIC_ID, MirroredStage, batch

PREPARING, MIRRORING, PAUSED = MirrorState.PREPARING, MirrorState.MIRRORING, MirrorState.PAUSED


class Stage(MirroredStage):
    """A stage whose lists are judged."""

    def __init__(self) -> None:
        super().__init__()
        self.uncut_rules = UncutRules(self.scene, self.rules)  # type: ignore[arg-type]

    def list_(self, rows: dict[int, int], *, demands: dict[int, int] | None = None) -> list[str]:
        """Write a list, let the leader demand its rows, or `demands`, and observe."""
        for replica, epoch in (rows if demands is None else demands).items():
            self.leader.demand_cut(replica, epoch)
        self.leader.barred_from_isr = frozenset(rows)
        return self.judge(self.uncut_rules.judge, MIRRORING, uncut={SESSION: 0, **rows})


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_a_list_that_is_demanded_breaks_no_rule(stage: Stage) -> None:
    assert stage.list_({2: 5, 3: 5}) == []
    assert stage.list_({2: 4, 3: 5}) == []
    stage.leader.confirm_cut(2)
    stage.leader.barred_from_isr = frozenset({3})
    assert stage.judge(stage.uncut_rules.judge, MIRRORING, uncut={3: 5}) == []


def test_a_pending_truncation_epoch_never_rises(stage: Stage) -> None:
    stage.list_({2: 4})
    assert stage.list_({2: 5}) == ["list-rises"]


def test_a_pending_truncation_epoch_may_rise_after_its_removal_from_the_list(stage: Stage) -> None:
    stage.list_({2: 4})
    stage.leader.confirm_cut(2)
    stage.judge(stage.uncut_rules.judge, MIRRORING, uncut={})
    assert stage.list_({2: 5}) == []


@pytest.mark.parametrize("confirms", [True, False])
def test_a_confirmed_truncation_epoch_may_rise_in_mirroring(stage: Stage, confirms: bool) -> None:
    for replica in (2, 3):
        stage.leader.demand_cut(replica, -1)
    stage.leader.barred_from_isr = frozenset({2, 3})
    assert stage.judge(stage.uncut_rules.judge, PREPARING, uncut={2: -1, 3: -1}) == []
    if confirms:
        stage.leader.confirm_cut(2)
        assert stage.judge(stage.uncut_rules.judge, PREPARING) == []
    assert ("list-rises" in stage.list_({2: 0, 3: -1})) is not confirms


@pytest.mark.parametrize("confirms", [True, False])
def test_a_confirmed_truncation_epoch_may_rise_with_a_truncation_in_mirroring(stage: Stage, confirms: bool) -> None:
    stage.leader.demand_cut(2, 3)
    assert stage.list_({2: 3}) == []
    if confirms:
        stage.leader.confirm_cut(2)
        assert stage.judge(stage.uncut_rules.judge, MIRRORING) == []
    assert ("list-rises" in stage.list_({2: 5})) is not confirms


def test_a_confirmed_truncation_epoch_must_not_rise_in_preparing(stage: Stage) -> None:
    stage.leader.demand_cut(2, -1)
    stage.leader.barred_from_isr = frozenset({2})
    stage.judge(stage.uncut_rules.judge, PREPARING, uncut={2: -1})
    stage.leader.confirm_cut(2)
    stage.judge(stage.uncut_rules.judge, PREPARING)
    stage.leader.demand_cut(2, 0)
    assert stage.judge(stage.uncut_rules.judge, PREPARING, uncut={2: 0}) == ["list-rises"]


@pytest.mark.decision("D63")
@pytest.mark.parametrize("held", [True, False])
def test_a_leader_that_withholds_its_log_may_not_have_written_its_list(stage: Stage, held: bool) -> None:
    """It is killed after its own truncation; the next leader reads the old list."""
    stage.list_({2: 4, 3: 4})
    stage.mp.is_withheld = held
    assert stage.list_({2: -1, 3: -1}) == []
    stage.mp.is_withheld = False
    stage.lead_in(1)
    assert (stage.list_({2: 4, 3: 4}) == []) is held
    assert stage.list_({2: 5, 3: 4}) == ["list-rises"], "that one was written"


def test_a_topic_that_was_deleted_has_a_list_of_its_own(stage: Stage) -> None:
    stage.list_({2: 4})
    stage.uncut_rules.forget("a", TOPIC_ID)
    assert stage.list_({2: 5}) == []


def test_a_leader_demands_the_listed_truncations(stage: Stage) -> None:
    assert stage.list_({2: 4}, demands={}) == ["not-demanded"]


def test_a_leader_demands_no_less_than_the_list(stage: Stage) -> None:
    stage.list_({2: 5})
    assert stage.list_({2: 4}, demands={}) == ["demanded-less"]


def test_unconfirmed_replicas_are_not_removed_from_the_list(stage: Stage) -> None:
    stage.list_({2: 5})
    assert stage.judge(stage.uncut_rules.judge, MIRRORING, uncut={}) == ["struck-off"]


def test_listed_replicas_must_not_join_the_isr(stage: Stage) -> None:
    stage.leader.demand_cut(2, 5)
    assert stage.judge(stage.uncut_rules.judge, MIRRORING, uncut={2: 5}) == ["admitted"]


def test_a_confirmed_replica_must_have_no_later_epoch(stage: Stage) -> None:
    stage.fill(stage.log("a", 2), batch(0, 5))
    stage.fill(stage.log("a", 3), batch(0, 5), batch(2, 6))
    stage.list_({2: 5, 3: 5})
    stage.leader.confirm_cut(2)
    assert stage.judge(stage.uncut_rules.judge, MIRRORING) == []
    stage.leader.confirm_cut(3)
    assert stage.judge(stage.uncut_rules.judge, MIRRORING) == ["confirmed-early"]


def test_records_below_the_log_start_need_no_truncation(stage: Stage) -> None:
    stage.fill(stage.leader.log, batch(0, 5), batch(2, 5))
    stage.leader.log.advance_log_start(4)
    stage.fill(stage.log("a", 3), batch(0, 5), batch(2, 6))
    stage.list_({3: 5})
    stage.leader.confirm_cut(3)
    assert stage.judge(stage.uncut_rules.judge, MIRRORING) == []


def test_a_fetch_from_before_the_truncation_confirms_nothing(stage: Stage) -> None:
    stage.judge(stage.uncut_rules.judge, PREPARING)
    stage.leader.on_log_cut(0)
    assert stage.judge(stage.uncut_rules.judge, PREPARING, cut_at=0) == []
    stage.leader.on_follower_fetch(0, 2, 0)
    assert stage.judge(stage.uncut_rules.judge, PREPARING, cut_at=0) == []


def test_a_leader_that_accepts_such_a_fetch_breaks_a_rule(stage: Stage) -> None:
    stage.leader.on_follower_fetch(0, 2, 0)
    stage.judge(stage.uncut_rules.judge, PREPARING)
    assert stage.judge(stage.uncut_rules.judge, PREPARING, cut_at=0) == ["believed"]


@pytest.mark.parametrize("listed", [True, False])
def test_replicas_that_differ_when_mirroring_begins_are_listed(stage: Stage, listed: bool) -> None:
    stage.fill(stage.leader.log, batch(0, 5))
    for node in (2, 3):
        stage.fill(stage.log("a", node), batch(0, 5))
    stage.fill(stage.log("a", 3), batch(2, 5))
    for node in (2, 3):
        stage.leader.on_follower_fetch(0, node, 2)
    stage.judge(stage.uncut_rules.judge, PREPARING, cut_at=2)
    assert stage.list_({3: 5} if listed else {}) == ([] if listed else ["not-listed"])
    assert stage.judge(stage.uncut_rules.judge, PAUSED) == ([] if listed else ["not-listed"])


@pytest.mark.parametrize("listed", [True, False])
def test_unconfirmed_replicas_are_listed_when_mirroring_begins(stage: Stage, listed: bool) -> None:
    stage.judge(stage.uncut_rules.judge, PREPARING, cut_at=0)
    stage.leader.on_follower_fetch(0, 2, 0)
    assert stage.list_({3: 5} if listed else {}) == ([] if listed else ["late-not-listed"])


def test_a_returning_replica_must_truncate_records_that_its_leader_lacks(stage: Stage) -> None:
    stage.fill(stage.leader.log, batch(0, 5))
    stage.fill(stage.log("a", 3), batch(0, 5, b"other"))
    stage.lead_in(1)
    assert stage.list_({}) == []
    image = stage.leader.image
    stage.leader.apply(0, replace(image, isr=(1, 2), partition_epoch=image.partition_epoch + 1))
    assert stage.list_({3: 4}) == []
    stage.leader.confirm_cut(3)
    assert "demands-too-little" in stage.list_({2: 9}, demands={2: 9})


@pytest.mark.parametrize(("row", "rules"), [(4, []), (5, ["cut-unlisted"])])
def test_a_truncation_must_be_listed_for_all_replicas(stage: Stage, row: int, rules: list[str]) -> None:
    stage.fill(stage.leader.log, batch(0, 4), batch(2, 5))
    stage.mp.cut_epoch = 4
    stage.leader.barred_from_isr = frozenset({2, 3})
    for replica in (2, 3):
        stage.leader.demand_cut(replica, row)
    stage.judge(stage.uncut_rules.judge, PREPARING)
    stage.leader.log.truncate_to(2)
    stage.leader.on_log_cut(0)
    found = stage.judge(stage.uncut_rules.judge, PREPARING, cut_at=2, uncut={SESSION: 4, 1: 4, 2: 4, 3: row})
    assert [rule for rule in found if rule == "cut-unlisted"] == rules


def image_with(configs: dict[str, str]) -> SimpleNamespace:
    return SimpleNamespace(configs=SimpleNamespace(topic=lambda name: configs))


@pytest.mark.parametrize("short", ["at the write", "since the write", "not supported"])
def test_all_replicas_are_in_the_isr_where_unclean_elections_are_supported(stage: Stage, short: str) -> None:
    config = {} if short == "not supported" else {ALL_REPLICAS: "true"}
    stage.context.broker = SimpleNamespace(image=image_with(config))
    image = stage.leader.image
    left = replace(image, isr=(1, 2), partition_epoch=1)
    stage.judge(stage.uncut_rules.judge, PREPARING, cut_at=0)
    if short != "since the write":
        stage.leader.apply(0, left)
    stage.judge(stage.uncut_rules.judge, PREPARING, cut_at=0, busy=True)
    stage.leader.apply(0, left)
    found = stage.judge(stage.uncut_rules.judge, MIRRORING, uncut={2: 5, 3: 5})
    assert ("all-replicas" in found) == (short == "at the write")


@pytest.mark.parametrize("comes_back", [True, False])
def test_replicas_outside_the_isr_at_a_stop_do_not_count_in_the_next_session(stage: Stage, comes_back: bool) -> None:
    """The leader persists the state within the event in which it truncates, so no pending write is seen."""
    stage.context.broker = SimpleNamespace(image=image_with({ALL_REPLICAS: "true"}))
    image = stage.leader.image
    stage.judge(stage.uncut_rules.judge, PREPARING, cut_at=0)
    stage.leader.apply(0, replace(image, isr=(1, 2), partition_epoch=1))
    stage.judge(stage.uncut_rules.judge, PREPARING, cut_at=0, busy=True)
    stage.judge(stage.uncut_rules.judge, MirrorState.STOPPING)
    if comes_back:
        stage.leader.apply(0, replace(image, partition_epoch=2))
    stage.judge(stage.uncut_rules.judge, PREPARING)
    found = stage.judge(stage.uncut_rules.judge, MIRRORING, uncut={2: 5, 3: 5})
    assert ("all-replicas" in found) is not comes_back
