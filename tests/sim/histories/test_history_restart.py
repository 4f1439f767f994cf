"""After the end of a history every node restarts, and its state is compared with that before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kmirror.errors import UsageError
from kmirror.histories import run
from kmirror.histories.account import Account, Snapshot
from kmirror.histories.checkers import judge
from kmirror.histories.draw import draw
from kmirror.histories.plan import Plan
from kmirror.histories.restarting import Restart
from kmirror.histories.run import run_history
from kmirror.histories.verdict import Outcome
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.state_loader import StateLoader
from tests.sim.histories.test_planted_faults import killed_in_the_end

T0 = TopicPartition("t0", 0)


@pytest.fixture(scope="module")
def killed() -> Outcome:
    return run_history(killed_in_the_end())


def test_every_node_is_killed_and_all_is_as_before(killed: Outcome) -> None:
    before, after = killed.account.before_restart, killed.account.after_restart
    assert killed.account.crash == "" and killed.anomalies == []
    assert before.logs["a", T0].rows == after.logs["a", T0].rows and len(before.logs["a", T0].rows) > 10
    assert before.states["b", T0] == after.states["b", T0] == ("STOPPED", 0)
    assert before.offsets and before.offsets == after.offsets
    assert [text for _, text in killed.story if "every node" in text][-2:] == [
        "every node is stopped or killed",
        "every node starts again",
    ]


def test_every_node_ends_in_order_and_all_is_as_before() -> None:
    outcome = run_history(killed_in_the_end("stop"))
    assert outcome.account.crash == "" and outcome.anomalies == []
    assert not any("does not stop in time" in text for _, text in outcome.story)


def test_effects_of_the_last_writes_are_judged_separately(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other checkers would compare it with logs from before the restart (full 10253)."""
    write, numbers = Restart._write, list[int]()

    def writes(self: Restart) -> None:
        numbers.append(len(self.scene.account.states))
        write(self)
        self.scene.account.states.append(self.scene.account.states[-1])
        self.scene.account.errors_after_restart.append(("a", "kept"))

    monkeypatch.setattr(Restart, "_write", writes)
    account = run_history(killed_in_the_end()).account
    assert numbers and len(account.states) <= numbers[0] and account.errors_after_restart == [("a", "kept")]


def test_a_state_that_is_not_read_again_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A topic whose mirror is ambiguous has no expected state; its state is read nevertheless (full 700503)."""
    end = Restart._stop_nodes

    def ends(self: Restart, is_meant: Callable[[int], bool]) -> None:
        monkeypatch.setattr(StateLoader, "load", lambda *_: None)
        end(self, is_meant)

    monkeypatch.setattr(Restart, "_stop_nodes", ends)
    monkeypatch.setattr(run, "expected_states", lambda *_: [])
    outcome = run_history(killed_in_the_end())
    (found,) = outcome.anomalies
    assert (found.cluster, found.tp) == ("b", T0)
    assert found.text.startswith("after a restart: its state has not been read")


def test_nothing_is_written_to_a_topic_that_a_mirror_has_just_created(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its state may not be written yet (full 800573)."""
    snapshot = Restart._snapshot

    def without_states(self: Restart) -> Snapshot:
        return replace(snapshot(self), states={})

    monkeypatch.setattr(Restart, "_snapshot", without_states)
    plan = killed_in_the_end()
    steps = tuple(step for step in plan.steps if step.action != "remove")
    account = run_history(replace(plan, steps=steps, clients=plan.clients[:2])).account
    assert account.unsettled_after_restart == [] and account.errors_after_restart == []


def without_the_last_row(account: Account) -> Account:
    log = account.after_restart.logs["a", T0]
    logs = {**account.after_restart.logs, ("a", T0): replace(log, rows=log.rows[:-1])}
    return replace(account, after_restart=replace(account.after_restart, logs=logs))


def with_a_lower_high_watermark(account: Account) -> Account:
    log = account.after_restart.logs["a", T0]
    logs = {**account.after_restart.logs, ("a", T0): replace(log, high_watermark=log.high_watermark - 1)}
    return replace(account, after_restart=replace(account.after_restart, logs=logs))


def with_another_last_mirrored_epoch(account: Account) -> Account:
    states = {("b", T0): ("STOPPED", 7)}
    return replace(account, after_restart=replace(account.after_restart, states=states))


def with_a_record_that_was_gone(account: Account) -> Account:
    """Another replica leads, which excuses nothing: the topic is not compacted."""
    log = account.before_restart.logs["a", T0]
    logs = {**account.before_restart.logs, ("a", T0): replace(log, rows=log.rows[1:], broker=log.broker + 1)}
    return replace(account, before_restart=replace(account.before_restart, logs=logs))


def with_a_later_log_start(account: Account) -> Account:
    """Another replica leads, which excuses nothing: no record had to be deleted."""
    log = account.after_restart.logs["a", T0]
    later = replace(log, log_start_offset=log.log_start_offset + 1, broker=log.broker + 1)
    logs = {**account.after_restart.logs, ("a", T0): later}
    return replace(account, after_restart=replace(account.after_restart, logs=logs))


def without_configs(account: Account) -> Account:
    return replace(account, after_restart=replace(account.after_restart, configs={}))


def with_other_ids(account: Account) -> Account:
    ids = dict.fromkeys(account.after_restart.ids, "another")
    return replace(account, after_restart=replace(account.after_restart, ids=ids))


def without_a_leader(account: Account) -> Account:
    return replace(account, after_restart=replace(account.after_restart, logs={}))


def with_a_producer_refused(account: Account) -> Account:
    return replace(account, errors_after_restart=[("a", "NOT_ENOUGH_REPLICAS")])


def with_something_that_waits(account: Account) -> Account:
    return replace(account, unsettled_after_restart=[("a", T0, "no leader serves it")])


CHANGES: tuple[Callable[[Account], Account], ...] = (
    without_the_last_row,
    with_a_lower_high_watermark,
    with_a_record_that_was_gone,
    with_a_later_log_start,
    with_another_last_mirrored_epoch,
    without_configs,
    with_other_ids,
    without_a_leader,
    with_a_producer_refused,
    with_something_that_waits,
)


@pytest.mark.parametrize("change", CHANGES)
def test_changes_by_a_restart_are_found(killed: Outcome, change: Callable[[Account], Account]) -> None:
    anomalies, _ = judge(change(killed.account), killed.plan)
    assert {anomaly.checker for anomaly in anomalies} == {"changed-by-restart"}


def test_a_plan_without_a_restart_has_none() -> None:
    outcome = run_history(replace(killed_in_the_end(), restart={}))
    assert outcome.anomalies == [] and outcome.account.after_restart.logs == {}


def test_how_nodes_end_is_drawn_and_kept() -> None:
    plans = [draw(seed) for seed in range(12)]
    assert {way for plan in plans for way in plan.restart.values()} == {"stop", "kill"}
    assert all(Plan.from_json(plan.to_json()) == plan for plan in plans)


@pytest.mark.parametrize("restart", [{"z-1": "kill"}, {"a-1": "unplug"}])
def test_an_invalid_restart_is_refused(restart: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="restart"):
        run_history(replace(killed_in_the_end(), restart=restart))
