"""The next step in PREPARING and in STOPPING follows from the facts alone."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import product

import pytest

from kmirror.mirror import preparing, stopping
from kmirror.mirror.preparing import PrepareFacts, PrepareStep
from kmirror.mirror.stopping import StopFacts, StopStep

MIRRORED = StopFacts(is_touched=True, isr_caught_up=True)
PREPARE_NOTHING = PrepareFacts(is_decided=False, is_listed=False, is_cut=False, is_confirmed=False)


def all_stops() -> list[StopFacts]:
    return [StopFacts(*values) for values in product((False, True), repeat=len(fields(StopFacts)))]


def all_preparations() -> list[PrepareFacts]:
    return [PrepareFacts(*values) for values in product((False, True), repeat=len(fields(PrepareFacts)))]


def test_a_stop_runs_its_steps_in_order() -> None:
    facts, steps = MIRRORED, []
    brings_about = {
        StopStep.DECIDE: {"is_decided": True},
        StopStep.CUT: {"is_cut": True, "isr_caught_up": False},  # Followers have not truncated yet.
        StopStep.WAIT: {"isr_caught_up": True},
        StopStep.BUMP: {"is_bumped": True},
        StopStep.RESET: {"is_reset": True},
    }
    while (step := stopping.next_step(facts)) is not StopStep.FINISH:
        steps.append(step)
        facts = replace(facts, **brings_about[step])
    assert steps == [StopStep.DECIDE, StopStep.CUT, StopStep.WAIT, StopStep.BUMP, StopStep.RESET]


@pytest.mark.decision("D33")
def test_a_stop_of_a_session_that_touched_nothing_finishes_at_once() -> None:
    assert {stopping.next_step(facts) for facts in all_stops() if not facts.is_touched} == {StopStep.FINISH}


@pytest.mark.decision("D37")
def test_a_stop_decides_and_finishes_only_when_the_whole_isr_is_level() -> None:
    steps = {stopping.next_step(facts) for facts in all_stops() if facts.is_touched and not facts.isr_caught_up}
    assert steps == {StopStep.CUT, StopStep.WAIT}


@pytest.mark.decision("D43")
def test_a_stop_does_nothing_before_its_plan_is_persisted() -> None:
    undecided = [facts for facts in all_stops() if facts.is_touched and not facts.is_decided]
    assert {stopping.next_step(facts) for facts in undecided} == {StopStep.DECIDE, StopStep.WAIT}


def test_a_new_leader_whose_log_has_the_reset_writes_no_second_one() -> None:
    facts = replace(MIRRORED, is_decided=True, is_cut=True, is_reset=True)
    assert stopping.next_step(facts) is StopStep.FINISH
    assert stopping.next_step(replace(facts, is_bumped=True)) is StopStep.FINISH


@pytest.mark.decision("D36")
def test_a_reset_is_written_only_in_an_epoch_begun_for_the_stop() -> None:
    writes = [facts for facts in all_stops() if stopping.next_step(facts) is StopStep.RESET]
    assert writes
    assert all(facts.is_bumped and facts.is_cut and facts.isr_caught_up for facts in writes)


def test_a_preparation_runs_its_steps_in_order() -> None:
    facts, steps = PREPARE_NOTHING, []
    brings_about = {
        PrepareStep.ASK: {"is_decided": True},
        PrepareStep.LIST: {"is_listed": True},
        PrepareStep.CUT: {"is_cut": True},
        PrepareStep.WAIT: {"is_confirmed": True},
    }
    while (step := preparing.next_step(facts)) is not PrepareStep.FINISH:
        steps.append(step)
        facts = replace(facts, **brings_about[step])
    assert steps == [PrepareStep.ASK, PrepareStep.LIST, PrepareStep.CUT, PrepareStep.WAIT]


@pytest.mark.decision("D30")
def test_nothing_is_truncated_before_the_list_of_replicas_is_persisted() -> None:
    cuts = [facts for facts in all_preparations() if preparing.next_step(facts) is PrepareStep.CUT]
    assert cuts
    assert all(facts.is_listed for facts in cuts)


@pytest.mark.decision("D11")
def test_mirroring_starts_only_when_every_truncation_is_confirmed() -> None:
    ends = [facts for facts in all_preparations() if preparing.next_step(facts) is PrepareStep.FINISH]
    assert ends
    assert all(facts.is_decided and facts.is_cut and facts.is_confirmed for facts in ends)
