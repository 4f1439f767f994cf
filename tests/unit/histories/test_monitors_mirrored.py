"""The rules of truncations, stops and lineages of mirrored partitions, each with a kept and a broken case."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kmirror.histories.account import TopicChange
from kmirror.histories.group_account import LostCoordinatorLog
from kmirror.histories.monitors.copies import CopyRules
from kmirror.histories.monitors.cuts import CutRules
from kmirror.histories.monitors.lineages import LineageRules
from kmirror.histories.monitors.sources import Sources
from kmirror.histories.monitors.stops import StopRules
from kmirror.histories.plan import Step
from kmirror.kernel.clock import MILLISECOND, SECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.facts import LogCut
from kmirror.mirror.lineage import OWN_LINEAGE, Lineage, Stretch, single_stretch
from kmirror.mirror.missed_deletions import COPY_UNDER_WAY
from kmirror.mirror.reopened_transactions import StopPlan
from kmirror.mirror.states import MirrorState
from kmirror.records.control import end_txn_marker, mirror_pid_reset
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from tests.unit.histories.mirrored import TOPIC_ID, MirroredStage, batch
from tests.unit.histories.monitors import TP, broken_rules

PREPARING, MIRRORING = MirrorState.PREPARING, MirrorState.MIRRORING
STOPPING, STOPPED = MirrorState.STOPPING, MirrorState.STOPPED


class Stage(MirroredStage):
    """A stage with all judges of a partition's log."""

    def __init__(self) -> None:
        super().__init__()
        sources = Sources(self.scene)  # type: ignore[arg-type]
        self.cuts = CutRules(self.scene, self.rules, sources)  # type: ignore[arg-type]
        self.copies = CopyRules(self.scene, self.rules, sources)  # type: ignore[arg-type]
        self.stops = StopRules(self.scene, self.rules)  # type: ignore[arg-type]
        self.lineages = LineageRules(self.scene, self.rules, sources)  # type: ignore[arg-type]
        self.mp.source_lineage, self.mp.source_lineage_epoch = single_stretch("id-b"), 0

    def marker(self, producer_id: int, *, commit: bool, epoch: int = 0) -> bytes:
        """Return a marker for the end of the leader's log."""
        return end_txn_marker(
            base_offset=self.leader.log.log_end_offset, leader_epoch=epoch, timestamp_ms=0, producer_id=producer_id,
            producer_epoch=0, commit=commit, coordinator_epoch=0,
        )  # fmt: skip

    def stop(self, offset: int, *ends: bytes, commit: bool | None = None, epoch: int = 9) -> list[str]:
        """Stop the log at `offset`, and end it with `ends`, by default a reset in epoch 9."""
        self.judge(self.stops.judge, STOPPING)
        self.lead_in(9)
        plan = StopPlan(offset, 9, ())
        self.judge(self.stops.judge, STOPPING, stop=plan)
        self.leader.log.truncate_to(offset)
        if commit is not None:
            self.fill(self.leader.log, self.marker(1, commit=commit, epoch=9))
        end = self.leader.log.log_end_offset
        reset = mirror_pid_reset(base_offset=end, leader_epoch=epoch, timestamp_ms=0, source_cluster_id="id-b")
        self.fill(self.leader.log, *(ends or (reset,)))
        return self.judge(self.stops.judge, STOPPED)


@pytest.fixture
def stage() -> Stage:
    return Stage()


# -- cuts -----------------------------------------------------------------------------------------


def prepare(stage: Stage, cut_at: int, settled: int = 5) -> list[str]:
    """Give both logs epochs 4 and 5, and truncate the mirror's at an offset."""
    for log in (stage.leader.log, stage.leaders["b"].log):
        stage.fill(log, batch(0, 4), batch(2, 5))
    stage.fill(stage.leader.log, batch(4, 7, b"ours"))
    stage.mp.last_mirrored_epoch = settled
    stage.judge(stage.cuts.judge, PREPARING)
    stage.leader.log.truncate_to(cut_at)
    return stage.judge(stage.cuts.judge, PREPARING, cut_at=cut_at)


def test_a_truncation_to_the_settled_epoch_breaks_no_rule(stage: Stage) -> None:
    assert prepare(stage, 4) == []
    assert stage.judge(stage.cuts.judge, MIRRORING) == []


def test_a_truncation_keeps_common_records_settled_by_a_stop(stage: Stage) -> None:
    assert prepare(stage, 2) == ["cut-too-deep"]


def test_records_not_settled_by_a_stop_may_go(stage: Stage) -> None:
    assert prepare(stage, 2, settled=4) == []


def test_records_not_truncated_by_the_first_responses_must_not_be_left(stage: Stage) -> None:
    stage.fill(stage.leaders["b"].log, batch(0, 4), batch(2, 5))
    stage.fill(stage.leader.log, batch(0, 4), batch(2, 5, b"ours"))
    stage.judge(stage.cuts.judge, PREPARING, cut_at=4)
    assert stage.judge(stage.cuts.judge, MIRRORING) == ["mirrors-foreign"]


def test_records_truncated_by_the_first_responses_may_be_left(stage: Stage) -> None:
    stage.fill(stage.leaders["b"].log, batch(0, 4), batch(2, 5))
    stage.fill(stage.leader.log, batch(0, 4), batch(2, 4, b"ours"))
    stage.judge(stage.cuts.judge, PREPARING, cut_at=4)
    assert stage.judge(stage.cuts.judge, MIRRORING) == []


@pytest.mark.parametrize("start", [0, 2])
def test_an_empty_log_begins_at_0(stage: Stage, start: int) -> None:
    stage.fill(stage.leader.log, batch(0, 4))
    stage.judge(stage.cuts.judge, PREPARING)
    stage.leader.log.truncate_fully_and_start_at(start)
    found = stage.judge(stage.cuts.judge, PREPARING, cut_at=start)
    assert found == (["empty-above-0"] if start else [])


@pytest.mark.parametrize(("value", "rules"), [(b"v", []), (b"other", ["unlike-source"])])
def test_fetched_records_equal_the_sources(stage: Stage, value: bytes, rules: list[str]) -> None:
    stage.fill(stage.leaders["b"].log, batch(0, 4), batch(2, 4))
    stage.judge(stage.cuts.judge, MIRRORING)
    stage.fill(stage.leader.log, batch(0, 4, value), batch(2, 4))
    assert stage.judge(stage.cuts.judge, MIRRORING) == rules


def test_a_source_batch_may_start_below_the_first_fetched_offset(stage: Stage) -> None:
    stage.fill(stage.leaders["b"].log, batch(0, 4))
    stage.leaders["b"].log.advance_log_start(1)
    stage.judge(stage.cuts.judge, MIRRORING)
    stage.leader.log.truncate_fully_and_start_at(1)
    assert stage.judge(stage.cuts.judge, MIRRORING) == []


def test_nothing_is_mirrored_that_the_source_has_not_committed(stage: Stage) -> None:
    stage.judge(stage.cuts.judge, MIRRORING)
    stage.fill(stage.leader.log, batch(0, 4))
    assert stage.judge(stage.cuts.judge, MIRRORING) == ["beyond-source"]


def test_a_recently_truncated_source_is_not_compared(stage: Stage) -> None:
    stage.scene.account.cuts.append(SimpleNamespace(cluster="b", tp=TP, at=0))
    stage.judge(stage.cuts.judge, MIRRORING)
    stage.fill(stage.leader.log, batch(0, 4))
    assert stage.judge(stage.cuts.judge, MIRRORING) == []


# -- stops ----------------------------------------------------------------------------------------


def test_a_stop_that_ends_with_its_reset_breaks_no_rule(stage: Stage) -> None:
    stage.fill(stage.leader.log, batch(0, 4), batch(2, 5))
    stage.judge(stage.stops.judge, MIRRORING)
    stage.mp.last_mirrored_epoch = 4
    assert stage.stop(2) == []


def test_a_stop_settles_the_last_remaining_epoch(stage: Stage) -> None:
    stage.fill(stage.leader.log, batch(0, 4), batch(2, 5))
    stage.judge(stage.stops.judge, MIRRORING)
    stage.mp.last_mirrored_epoch = 5
    assert stage.stop(2) == ["stop-settled"]


def test_the_reset_of_an_earlier_stop_does_not_count(stage: Stage) -> None:
    stage.fill(stage.leader.log, batch(0, 4))
    assert stage.stop(2, epoch=8) == ["stop-reset", "stop-tail"]


def test_no_record_is_left_above_the_truncation_of_a_stop(stage: Stage) -> None:
    stage.fill(stage.leader.log, batch(0, 4))
    assert stage.stop(2, batch(2, 4)) == ["stop-reset", "stop-tail"]


def test_no_transaction_is_left_open(stage: Stage) -> None:
    stage.fill(stage.leader.log, batch(0, 4, producer_id=1))
    assert stage.stop(2, batch(2, 9)) == ["stop-reset", "stop-producers", "stop-tail"]


@pytest.mark.parametrize(("same_event", "expected"), [(True, []), (False, ["stop-reset", "stop-producers"])])
def test_a_write_that_waits_for_a_stop_may_come_in_its_last_event(
    stage: Stage, same_event: bool, expected: list[str]
) -> None:
    log = stage.leader.log
    stage.fill(log, batch(0, 4))
    stage.judge(stage.stops.judge, STOPPING)
    stage.lead_in(9)
    plan = StopPlan(2, 9, ())
    stage.fill(log, mirror_pid_reset(base_offset=2, leader_epoch=9, timestamp_ms=0, source_cluster_id="id-b"))
    if same_event:
        stage.judge(stage.stops.judge, STOPPING, stop=plan)
    stage.fill(log, stage.marker(1, commit=False, epoch=9))
    if not same_event:
        stage.judge(stage.stops.judge, STOPPING, stop=plan)
    assert stage.judge(stage.stops.judge, STOPPED) == expected


@pytest.mark.parametrize("commit", [True, False])
def test_a_transaction_whose_marker_was_truncated_ends_with_the_same_outcome(stage: Stage, commit: bool) -> None:
    stage.fill(stage.leader.log, batch(0, 4, producer_id=1))
    stage.fill(stage.leader.log, stage.marker(1, commit=commit, epoch=4))
    assert stage.stop(2, commit=True) == ([] if commit else ["stop-commits-aborted"])


def test_a_partly_truncated_transaction_is_not_committed(stage: Stage) -> None:
    stage.fill(stage.leader.log, batch(0, 4, producer_id=1), batch(2, 4, producer_id=1))
    stage.fill(stage.leader.log, stage.marker(1, commit=True, epoch=4))
    assert stage.stop(2, commit=True) == ["stop-commits-half"]


# -- lineages -------------------------------------------------------------------------------------


def test_a_lineage_is_not_lost(stage: Stage) -> None:
    lineage = Lineage(single_stretch("id-b"), 3)
    assert stage.judge(stage.lineages.judge, MIRRORING, lineage=lineage) == []
    assert stage.judge(stage.lineages.judge, MIRRORING, lineage=OWN_LINEAGE) == ["lineage-lost"]


@pytest.mark.decision("D68")
@pytest.mark.parametrize(
    ("cluster", "epoch", "expected"), [("a", 1, []), ("a", 0, ["lineage-lost"]), ("b", 1, ["lineage-lost"])]
)
def test_a_lineage_may_be_lost_with_the_states_of_its_cluster_in_a_new_leader_epoch(
    stage: Stage, cluster: str, epoch: int, expected: list[str]
) -> None:
    stage.judge(stage.lineages.judge, MIRRORING, lineage=Lineage(single_stretch("id-b"), 3))
    row = LostCoordinatorLog(cluster, TopicPartition(MIRROR_STATE_TOPIC, 0), 0)
    stage.scene.account.groups.lost_logs.append(row)
    if epoch:
        stage.lead_in(epoch)
    assert stage.judge(stage.lineages.judge, MIRRORING, lineage=OWN_LINEAGE) == expected


def test_a_lineage_is_removed_with_its_topic_and_its_mirror(stage: Stage) -> None:
    lineage = Lineage(single_stretch("id-b"), 3)
    stage.judge(stage.lineages.judge, MIRRORING, lineage=lineage)
    stage.lineages.forget("a", TOPIC_ID)
    assert stage.judge(stage.lineages.judge, MIRRORING, lineage=OWN_LINEAGE) == []
    stage.judge(stage.lineages.judge, MIRRORING, lineage=lineage)
    stage.lineages.on_mirrors_deleted("a", ["m"])
    assert stage.judge(stage.lineages.judge, MIRRORING, lineage=OWN_LINEAGE) == []


@pytest.mark.parametrize(("epoch", "rules"), [(3, []), (2, ["below-lineage"])])
def test_nothing_is_mirrored_below_the_lineage(stage: Stage, epoch: int, rules: list[str]) -> None:
    stage.lead_in(epoch)
    lineage = Lineage(single_stretch("id-b"), 3)
    stage.judge(stage.lineages.judge, MIRRORING, lineage=lineage)
    stage.fill(stage.leader.log, batch(0, 1))
    assert stage.judge(stage.lineages.judge, MIRRORING, lineage=lineage) == rules


@pytest.mark.parametrize(
    ("known", "deleted_at", "rules"),
    [(2, None, []), (3, None, ["source-offset"]), (3, 0, []), (3, -11 * SECOND, ["source-offset"])],
    ids=["right", "too high", "of a topic deleted since", "deleted long ago"],
)
def test_no_more_is_known_of_the_source_than_it_has(
    stage: Stage, known: int, deleted_at: int | None, rules: list[str]
) -> None:
    if deleted_at is not None:
        stage.scene.account.topics.append(TopicChange("b", TP.topic, str(TOPIC_ID), False, deleted_at))
    stage.fill(stage.leaders["b"].log, batch(0, 1))
    stage.judge(stage.lineages.judge, MIRRORING)
    stage.fill(stage.leader.log, batch(0, 1))
    stage.mp.source_epoch, stage.mp.source_offset = 0, known
    assert stage.judge(stage.lineages.judge, MIRRORING) == rules


def test_a_log_restarted_at_the_sources_start_had_an_empty_response(stage: Stage) -> None:
    """The source has another leader, with a lower high watermark, which has returned only its log start."""
    stage.leaders["b"].log.truncate_fully_and_start_at(5)
    stage.judge(stage.lineages.judge, MIRRORING)
    stage.leader.log.truncate_fully_and_start_at(5)
    stage.mp.source_epoch, stage.mp.source_offset = 0, 9
    assert stage.judge(stage.lineages.judge, MIRRORING) == []
    stage.fill(stage.leader.log, batch(5, 1))
    assert stage.judge(stage.lineages.judge, MIRRORING) == ["source-offset"]


@pytest.mark.parametrize(
    ("known", "cut", "rules"),
    [(2, False, []), (0, False, ["source-start"]), (0, True, [])],
    ids=["right", "too low", "the source has begun again"],
)
def test_a_divergence_contains_the_sources_log_start(stage: Stage, known: int, cut: bool, rules: list[str]) -> None:
    source = stage.leaders["b"]
    stage.fill(source.log, batch(0, 1), batch(2, 1))
    source.log.advance_log_start(2)
    stage.lineages.record_starts("b", [source])
    stage.context.partitions = {TP: stage.mp}
    stage.scene.mirror_context = lambda *_: stage.context
    if cut:
        stage.lineages.on_log_cut("b", source, LogCut(TP, 2, 4, "no LME"))
    stage.mp.source_epoch, stage.mp.source_log_start = 0, known
    stage.lineages.on_log_cut("a", stage.leader, LogCut(TP, 2, 4, "diverging epoch"))
    assert broken_rules(stage.scene) == rules


@pytest.mark.decision("D69")
@pytest.mark.parametrize(
    ("followed", "epoch", "state", "rules"),
    [(-3, 2, MIRRORING, []), (-2, 2, MIRRORING, ["copy-not-followed"]), (-2, 1, MIRRORING, []), (-2, 2, None, [])],
    ids=["the present copy", "the copy before", "the next one is about to begin", "the source reads its state"],
)
def test_a_mirror_follows_the_copy_that_its_source_has_begun(
    stage: Stage, followed: int, epoch: int, state: MirrorState | None, rules: list[str]
) -> None:
    ours = Lineage((Stretch(followed, "id-b"), Stretch(0, "id-c")), 0)
    theirs = Lineage((Stretch(-3, "id-b"), Stretch(0, "id-c")), 2)
    there = {TP: SimpleNamespace(lineage=theirs, state=state)}
    known = SimpleNamespace(partitions=there, writers_of=lambda tp: theirs.stretches)
    stage.scene.mirror_context = lambda name, _: known if name == "b" else None
    stage.context.writers_of = lambda tp: ours.stretches
    stage.lead_in(epoch, "b")
    stage.mp.source_epoch = stage.mp.source_lineage_epoch = epoch
    stage.judge(stage.lineages.judge, MIRRORING, lineage=ours)
    stage.fill(stage.leader.log, batch(0, 0))
    assert stage.judge(stage.lineages.judge, MIRRORING, lineage=ours) == rules


# -- copies from scratch ------------------------------------------------------------------------

FOLLOWS = Lineage((Stretch(-3, "id-b"), Stretch(0, "id-b")), 1)
COPIES = Lineage((Stretch(-3, "id-b"), Stretch(-2, "id-a"), Stretch(0, "id-b")), 1)
COPIES_WITH_ITS_SOURCE = Lineage((Stretch(-4, "id-b"), *COPIES.stretches[1:]), 1)
DAY = 86_400 * SECOND
"""Tombstones stay for a day."""


def copied_again(
    stage: Stage, *above: bytes, behind: int = DAY, lineage: Lineage = COPIES, broker: int | None = None
) -> list[str]:
    """Let a mirror in step copy its source's log again, when that has `above` and time has passed.

    It has a response of `broker`, by default of the source's leader.
    """
    source = stage.leaders["b"].log
    answering = stage.leaders["b"].broker_id if broker is None else broker
    fetcher: Any = SimpleNamespace(key=("m", answering, 0), answered_at=stage.scene.now)
    stage.mp.fetcher = fetcher
    stage.judge(stage.copies.judge, MIRRORING, lineage=FOLLOWS)
    for log in (source, stage.leader.log):
        stage.fill(log, batch(0, 0))
    stage.judge(stage.copies.judge, MIRRORING, lineage=FOLLOWS)
    stage.fill(source, *above)
    stage.scene.now += behind
    stage.mp.source_epoch = stage.mp.source_lineage_epoch = stage.leaders["b"].leader_epoch
    stage.judge(stage.copies.judge, MIRRORING, lineage=FOLLOWS, busy=True)
    stage.leader.log.truncate_fully_and_start_at(0)
    return stage.judge(stage.copies.judge, MIRRORING, lineage=lineage)


@pytest.mark.decision("D64")
@pytest.mark.parametrize(
    ("above", "behind", "rules"),
    [
        (4, DAY, []),
        (4, DAY - SECOND, ["copied-needlessly"]),
        (2, DAY, ["copied-needlessly"]),
    ],
    ids=["tombstones may be gone", "they are not due", "no offset is missing"],
)
def test_a_log_is_copied_again_if_tombstones_may_have_expired_unseen(
    stage: Stage, above: int, behind: int, rules: list[str]
) -> None:
    assert copied_again(stage, batch(above, 0), behind=behind) == rules


@pytest.mark.decision("D64")
@pytest.mark.parametrize(
    ("above", "behind", "caught_up_ms", "rules"),
    [
        (4, DAY, 0, ["deletions-missed"]),
        (4, DAY - SECOND, 0, []),
        (2, DAY, 0, []),
        (4, DAY, COPY_UNDER_WAY, []),
        (4, DAY, -1, []),
    ],
    ids=["tombstones may be gone", "they are not due", "no offset is missing", "all is copied", "not known yet"],
)
def test_a_log_does_not_continue_where_tombstones_may_have_expired(
    stage: Stage, above: int, behind: int, caught_up_ms: int, rules: list[str]
) -> None:
    stage.fill(stage.leader.log, batch(0, 0))
    stage.mp.caught_up_ms = caught_up_ms
    stage.judge(stage.copies.judge, MIRRORING, lineage=FOLLOWS)
    stage.scene.now += behind
    stage.mp.caught_up_ms = behind // MILLISECOND
    stage.fill(stage.leader.log, batch(above, 0))
    assert stage.judge(stage.copies.judge, MIRRORING, lineage=FOLLOWS) == rules


@pytest.mark.decision("D64")
def test_a_log_is_in_step_once_the_source_leader_has_responded(stage: Stage) -> None:
    """A leader that was just elected may have no more records, and the mirror has no response of it yet."""
    assert copied_again(stage, batch(4, 0), behind=DAY - SECOND, broker=9) == []


@pytest.mark.decision("D64")
def test_a_leader_that_has_not_seen_the_log_in_step_may_copy_it_again(stage: Stage) -> None:
    stage.judge(stage.copies.judge, PREPARING, lineage=FOLLOWS)
    stage.fill(stage.leaders["b"].log, batch(0, 0), batch(4, 0))
    stage.fill(stage.leader.log, batch(0, 0))
    for busy in (False, True):
        stage.judge(stage.copies.judge, MIRRORING, lineage=FOLLOWS, busy=busy)
    assert stage.judge(stage.copies.judge, MIRRORING, lineage=COPIES) == []


@pytest.mark.decision("D63")
def test_a_log_that_has_parted_from_its_source_may_be_copied_again(stage: Stage) -> None:
    stage.judge(stage.copies.judge, MIRRORING, lineage=FOLLOWS)
    stage.fill(stage.leader.log, batch(0, 0), batch(2, 0, b"ours"))
    stage.lead_in(1, "b")
    stage.fill(stage.leaders["b"].log, batch(0, 0), batch(2, 1))
    stage.mp.source_epoch = stage.mp.source_lineage_epoch = 1
    stage.judge(stage.copies.judge, MIRRORING, lineage=FOLLOWS, busy=True)
    assert stage.judge(stage.copies.judge, MIRRORING, lineage=COPIES) == []


@pytest.mark.decision("D69")
@pytest.mark.parametrize("lineage", [COPIES_WITH_ITS_SOURCE, FOLLOWS], ids=["a copy like its source", "no copy at all"])
def test_a_mirror_follows_when_its_source_copies_again(stage: Stage, lineage: Lineage) -> None:
    assert copied_again(stage, batch(2, 0), lineage=lineage) == []


def test_responses_of_earlier_releases_are_not_judged(stage: Stage) -> None:
    stage.scene.release = lambda name: "3.6" if name == "b" else ""
    assert copied_again(stage, batch(2, 0)) == []


def test_leaders_whose_clocks_may_be_wrong_are_not_judged(stage: Stage) -> None:
    ahead = Step(0, "set_clock", {"cluster": "a", "broker": 1, "ahead_ms": 2_000})
    stage.scene.plan = replace(stage.scene.plan, steps=(ahead,))
    assert copied_again(stage, batch(4, 0), behind=DAY - SECOND) == []
