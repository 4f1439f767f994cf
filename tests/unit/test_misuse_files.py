"""Invalid folders, plans, seeds, profiles and sweeps raise errors with a clear text; no file causes a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kmirror import UsageError, read_log_dirs, read_sample
from kmirror.experiments.failover import run
from kmirror.experiments.failover_options import ExperimentOptions
from kmirror.experiments.sweep_file import parse_sweep
from kmirror.histories import run_history
from kmirror.histories.plan import Plan
from kmirror.testing.histories import assert_history_clean

ANY: Any = None
SAMPLE = Path(__file__).parents[2] / "kmirror" / "logdir" / "sample"

ROWS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a folder that is not there": (lambda at: read_log_dirs(at / "nope"), "nope: does not exist; give the folder"),
    "a file for a folder": (lambda at: read_log_dirs(at / "text"), "text: is not a folder; give the folder"),
    "no path": (lambda at: read_log_dirs(ANY), "must be a str or a path, not None; give the folder"),
    "an empty path": (lambda at: read_log_dirs(""), "must be a str or a path, not ''"),
    "a number for a path": (lambda at: read_log_dirs(ANY or 5), "must be a str or a path, not 5"),
    "bytes for a path": (lambda at: read_log_dirs(ANY or b"/"), "must be a str or a path, not b'/'"),
    "a list of paths": (lambda at: read_log_dirs(ANY or ["/"]), r"must be a str or a path, not \['/'\]"),
    "a topic that is not there": (lambda at: read_sample(["nope"]), "no topic 'nope' to mirror: it has clients"),
    "memory in quotes": (lambda at: read_log_dirs(SAMPLE, memory_limit=ANY or "5"), "memory_limit must be an integer"),
    "memory below 0": (lambda at: read_log_dirs(SAMPLE, memory_limit=-1), "memory_limit must be an integer from 0 on"),
    "progress that is none": (lambda at: read_log_dirs(SAMPLE, progress=ANY or 5), "progress must be callable"),
    # histories
    "a seed in quotes": (lambda at: run_history(seed=ANY or "7"), "seed must be an integer from 0 to .*, not '7'"),
    "a seed below 0": (lambda at: run_history(seed=-7), "seed must be an integer"),
    "a mistyped profile": (
        lambda at: run_history(profile="smok"),
        "unknown profile 'smok': did you mean smoke",
    ),
    "a profile that is none": (lambda at: run_history(profile="nope"), "unknown profile 'nope': known: full"),
    "a number for a profile": (lambda at: run_history(profile=ANY or 4), "profile must be a string, not 4"),
    "text for a plan": (lambda at: run_history(ANY or "{}"), r"a plan must be a Plan, not '\{\}'; Plan\.from_json"),
    "a plan without a seed": (lambda at: Plan.from_json("{}"), "this is not a plan: it has no 'seed'"),
    "a plan that is a list": (lambda at: Plan.from_json("[]"), "this is not a plan: list indices"),
    "a plan that is no JSON": (lambda at: Plan.from_json("nope"), "this is not a plan: Expecting value"),
    "a plan of brackets": (lambda at: Plan.from_json("[" * 200_000), "this is not a plan: lists or objects are"),
    "no plan": (lambda at: Plan.from_json(ANY), "this is not a plan: the JSON object must be str"),
    "a clean history of a mistyped profile": (lambda at: assert_history_clean(profile="ful"), "did you mean full"),
    "a plan that is not there": (lambda at: assert_history_clean(plan=at / "nope"), "nope: cannot be read: No such"),
    "a folder for a plan": (lambda at: assert_history_clean(plan=at), "cannot be read: Is a directory"),
    "a file without a plan": (lambda at: assert_history_clean(plan=at / "text"), "text: this is not a plan: Expecting"),
    "a file of other bytes": (lambda at: assert_history_clean(plan=at / "bytes"), "bytes: this is not a plan: 'utf-8'"),
    "a path as text": (
        lambda at: assert_history_clean(plan=ANY or "plan.json"),
        r"plan must be a Plan, .*; pass Path\(\.\.\.\)",
    ),
    "fewer than no runs": (lambda at: assert_history_clean(shrink_runs=-1), "shrink_runs must be an integer from 0 on"),
    # sweeps
    "a sweep as a list": (
        lambda at: parse_sweep(ANY or []),
        r"a sweep must be a table of keys, such as \[grid\], not \[\]",
    ),
    "a sweep's mistyped option": (lambda at: parse_sweep({"grid": {"broker": [1]}}), "did you mean 'brokers"),
    "a run without brokers": (lambda at: run(ExperimentOptions(brokers=0)), "brokers must be an integer from 1 to 9"),
    "a run of no codec": (lambda at: run(ExperimentOptions(codec="zip")), "codec must be one of none, gzip.*not 'zip'"),
}


@pytest.mark.parametrize("row", ROWS)
def test_misuse_raises_an_error(row: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("x", "utf-8")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    misuse, told = ROWS[row]
    with pytest.raises(UsageError, match=told):
        misuse(tmp_path)
