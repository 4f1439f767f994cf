"""Histories on Spark: each seed once, stored with its plan if it failed, and the same as without Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kmirror.errors import UsageError
from kmirror.experiments.history_run import history_to_row
from kmirror.experiments.results import Results
from kmirror.histories.plan import Plan
from kmirror.report.notebook import load
from kmirror.spark.histories import SCHEMA, read_histories, run_histories
from tests.spark.consumed import ROOT
from tests.unit.histories.fake import draw, run_history

FAKE = "tests.unit.histories.fake:run_history"


def test_every_seed_is_run_only_once(spark: Any, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    report = run_histories(
        spark, range(6), "mixed", str(tmp_path), runner=FAKE, progress=lambda done, total: told.append((done, total))
    )
    assert (report.total, report.skipped, report.statuses) == (6, 0, {"clean": 4, "safety": 2})
    assert len(report.failed_or_broken) == 2 and told[-1] == (6, 6)
    assert len(list((tmp_path / "runs").glob("*.parquet"))) == 1, "gathered into one file"
    report = run_histories(spark, range(3, 8), "mixed", str(tmp_path), runner=FAKE)
    assert (report.total, report.skipped, report.statuses) == (5, 3, {"clean": 1, "safety": 1})
    report = run_histories(spark, range(8), "mixed", str(tmp_path), runner=FAKE)
    assert (report.skipped, report.statuses) == (8, {})
    report = run_histories(spark, [0], "clean", str(tmp_path), runner=FAKE)
    assert report.skipped == 0, "another profile is another history"


def test_rows_equal_those_of_one_process_in_the_order_of_seeds(spark: Any, tmp_path: Path) -> None:
    run_histories(spark, range(4), "mixed", str(tmp_path), runner=FAKE)
    rows = read_histories(str(tmp_path), range(4), "mixed")
    alone = [history_to_row(run_history, seed, "mixed") for seed in range(4)]
    assert [{**row, "cpu_seconds": 0} for row in rows] == [{**row, "cpu_seconds": 0} for row in alone]
    assert Plan.from_json(json.dumps(rows[0]["plan"])) == draw(0, "mixed") and rows[1]["plan"] is None
    kept = {row["seed"]: row for row in Results(str(tmp_path), SCHEMA).read().to_pylist()}
    assert kept[0]["findings"] == ["stuck-state", "acked-lost"]
    assert Plan.from_json(kept[0]["plan_json"]) == draw(0, "mixed") and kept[1]["plan_json"] == ""
    assert kept[0]["kmirror_version"] and kept[0]["wall_ms"] >= 0


def test_an_error_of_the_runner_is_stored_as_a_crash(spark: Any, tmp_path: Path) -> None:
    report = run_histories(spark, range(2), "full", str(tmp_path), runner="tests.unit.histories.fake:raise_odd")
    assert report.statuses == {"crash": 1, "safety": 1}
    rows = read_histories(str(tmp_path), range(2), "full")
    assert [row["verdict"] for row in rows] == ["safety", "crash"]
    assert "ValueError: planted" in rows[1]["crash"]


def test_the_largest_seed_has_a_row(spark: Any, tmp_path: Path) -> None:
    seed = (1 << 64) - 1
    run_histories(spark, [seed], "clean", str(tmp_path), runner=FAKE)
    assert [row["seed"] for row in read_histories(str(tmp_path), [seed], "clean")] == [seed]


def test_the_report_of_sweeps_says_that_these_are_histories(spark: Any, tmp_path: Path) -> None:
    run_histories(spark, [0], "clean", str(tmp_path), runner=FAKE)
    with pytest.raises(UsageError, match="contains histories"):
        load(tmp_path)


def sim(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kmirror", "sim", "--profile", "smoke", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


def test_the_command_line_prints_the_same_with_spark_and_without(tmp_path: Path) -> None:
    confs = ["--conf", "spark.ui.enabled=false", "--conf", "spark.driver.memory=512m"]
    where = ["--spark", "--master", "local[2]", "--results", str(tmp_path / "out"), *confs]
    seeds = ["--seeds", "3", "-o", "json"]
    alone, spread = sim(tmp_path, *seeds), sim(tmp_path, *seeds, *where)
    assert spread.returncode == alone.returncode, spread.stderr

    def digests(text: str) -> list[tuple[int, str, str]]:
        rows = [json.loads(line) for line in text.splitlines()]
        return [(row["seed"], row["digest"], row["verdict"]) for row in rows]

    assert digests(spread.stdout) == digests(alone.stdout) and len(digests(alone.stdout)) == 3
    again = sim(tmp_path, "--seeds", "3", "--no-shrink", *where)
    assert again.returncode == alone.returncode
    assert "3 histories of profile smoke, seeds 0 to 2" in again.stdout
    assert "3 from earlier runs, the rest 0.00 a second" in again.stdout
    assert f"results in {tmp_path / 'out'}; runs with results are not repeated" in again.stdout
