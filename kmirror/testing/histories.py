"""Assertion that a simulated history is clean, for pytest or any other runner.

    from kmirror.testing.histories import assert_history_clean

    @pytest.mark.parametrize("seed", range(20))
    def test_nothing_is_lost(seed):
        assert_history_clean(seed=seed, profile="transactions")

    def test_the_history_that_once_lost_a_record():
        assert_history_clean(plan=Path("tests/plans/overlapping.json"))

A failure shows the output of `kmirror sim`: the anomaly, the events, both logs, and the command to run it again.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from kmirror.experiments.plan_file import read_plan
from kmirror.histories.plan import Plan
from kmirror.histories.run import run_history
from kmirror.histories.shrink import shrink
from kmirror.histories.story import tell
from kmirror.histories.verdict import Exit, Outcome
from kmirror.kernel.arguments import instance, whole_number


def assert_history_clean(
    *,
    seed: int = 0,
    profile: str = "full",
    plan: Plan | Path | None = None,
    shrink_runs: int = 0,
    coverage: bool = False,
) -> Outcome:
    """Run the history of a seed, of a plan, or of a file with a plan; return its outcome if it is clean.

    Otherwise raises AssertionError with the full report. The reported history is the smallest that `shrink_runs`
    further runs find (0: the original, so that a failing test ends soon). `outcome.digest` identifies the run,
    `outcome.accepted` has the losses that the KIP accepts, and with `coverage`, `outcome.coverage` has the events
    reached. Raises UsageError for a plan that cannot be run, a file without a plan, and an unknown seed or profile.
    """
    whole_number("shrink_runs", shrink_runs, 0)
    command = f"kmirror sim --seed {seed} --profile {profile}"
    if isinstance(plan, Path):
        command, plan = f"kmirror sim --plan {plan}", read_plan(plan)
    elif plan is not None:
        instance("plan", plan, Plan, "pass Path(...) for a file that contains one")
        command = "run_history(plan); plan.to_json() is a file for `kmirror sim --plan`"
    run = partial(run_history, coverage=True) if coverage else run_history
    outcome = run(plan) if plan is not None else run(seed=seed, profile=profile)
    if outcome.exit is Exit.CLEAN:
        return outcome
    if shrink_runs:
        outcome = shrink(outcome, run_history, runs_max=shrink_runs)
    raise AssertionError(f"{outcome.exit.name.lower()} in a history\n\n{tell(outcome, command)}")
