"""Power losses of sites: unflushed records of their topics may be lost, and no others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kmirror.histories.account import Account, PowerLoss
from kmirror.histories.checkers import judge
from kmirror.histories.draw import draw
from kmirror.histories.plan import Plan, Step
from kmirror.histories.run import run_history
from kmirror.histories.verdict import Outcome
from kmirror.kernel.rng import Rng
from kmirror.log.disk import MemoryDisk
from kmirror.mirror.fetchers import MirrorFetchers
from tests.sim.histories.test_history_disks import TP, site_without_power

UNFLUSHED = {"cluster": "a", "topic": "t", "name": "flush.messages", "value": "1000000"}


def plan_without_flushes() -> Plan:
    """Cluster a, which b mirrors, loses power three times, and topic t does not flush before a segment is rolled."""
    plan = site_without_power("1")
    return replace(plan, steps=(Step(0, "alter_topic", UNFLUSHED), *plan.steps))


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return run_history(plan_without_flushes())


def test_unflushed_records_of_a_site_may_be_lost_with_its_power(outcome: Outcome) -> None:
    assert outcome.anomalies == [] and not outcome.account.crash
    lost = {row.decision for row in outcome.accepted if row.cluster == "a"}
    assert lost == {"site power lost"}
    cuts = [loss for loss in outcome.account.power_losses if loss.has_cut]
    assert {loss.cluster for loss in cuts} == {"a"} and len({loss.at for loss in cuts}) > 1
    a, b = (outcome.account.final_logs[name, TP] for name in "ab")
    assert a.rows == b.rows and len(a.rows) > 10


def checkers_with(outcome: Outcome, change: Callable[[PowerLoss], PowerLoss]) -> set[str]:
    """Return the checkers with findings if the power losses had been different."""
    account: Account = replace(outcome.account, power_losses=[change(loss) for loss in outcome.account.power_losses])
    return {anomaly.checker for anomaly in judge(account, outcome.plan)[0]}


def test_flushed_records_must_not_be_lost(outcome: Outcome) -> None:
    assert checkers_with(outcome, lambda loss: loss) == set()
    assert "acked-lost" in checkers_with(outcome, lambda loss: replace(loss, flushed_ends=loss.log_ends))


def test_a_power_loss_excuses_only_records_missing_in_the_next_leader(outcome: Outcome) -> None:
    assert "acked-lost" in checkers_with(outcome, lambda loss: replace(loss, successor_log=None))

    def all_there(loss: PowerLoss) -> PowerLoss:
        assert loss.successor_log is not None
        return replace(
            loss, successor_log=replace(loss.successor_log, log_end_offset=loss.log_ends[loss.successor_log.broker])
        )

    assert "acked-lost" in checkers_with(outcome, all_there)
    assert "acked-lost" in checkers_with(outcome, lambda loss: replace(loss, at=loss.at + 10**9))


def test_a_disk_that_loses_flushed_records_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_power(self: MemoryDisk, rng: Rng) -> int:
        for tp in [tp for tp in self.partitions() if tp.topic == TP.topic]:
            for base_offset in self.open(tp).segments():
                self.open(tp)._segment(base_offset).flushed //= 2
        return original(self, rng)

    original = MemoryDisk.cut_power
    monkeypatch.setattr(MemoryDisk, "cut_power", cut_power)
    plan = plan_without_flushes()
    plan = replace(plan, steps=(replace(plan.steps[0], args={**UNFLUSHED, "value": "4"}), *plan.steps[1:]))
    outcome = run_history(plan)
    assert not outcome.account.crash and "acked-lost" in {anomaly.checker for anomaly in outcome.anomalies}


def test_a_mirror_that_keeps_records_lost_by_its_source_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def waits(self: MirrorFetchers, now: Any, fetcher: Any, mp: Any, data: Any) -> None:
        self._loop.pause(now, fetcher, mp)

    monkeypatch.setattr(MirrorFetchers, "_on_diverged", waits)
    outcome = run_history(plan_without_flushes())
    assert not outcome.account.crash and {anomaly.checker for anomaly in outcome.anomalies} == {"stuck-state"}


def test_most_topics_of_the_profile_flush_later_and_internal_ones_at_once() -> None:
    plans = [draw(seed, "site_power_unflushed") for seed in range(20)]
    values = [step.args["value"] for plan in plans for step in plan.steps if step.args.get("name") == "flush.messages"]
    assert len(values) > 15 and len(set(values)) == 4
    assert all(row.configs["log.flush.interval.messages"] == "1" for plan in plans for row in plan.clusters)
    steps = [step for step in draw(0, "site_power").steps if step.action == "alter_topic"]
    assert not [step for step in steps if step.args["name"] == "flush.messages"]
