"""A sweep file gives exactly the runs it describes, and a mistake in it is named."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kmirror.errors import UsageError
from kmirror.experiments.sweep_file import parse_sweep, read_sweep
from kmirror.spark.sweep import assign, tasks_for


def test_a_grid_is_every_combination_with_every_seed() -> None:
    sweep = parse_sweep({"seeds": [4, 9], "fixed": {"brokers": 3}, "grid": {"latency_ms": [5, 50], "codec": ["lz4"]}})
    points = [(r.options.latency_ms, r.options.codec, r.options.seed, r.options.brokers) for r in sweep.runs]
    assert points == [(5, "lz4", 4, 3), (5, "lz4", 9, 3), (50, "lz4", 4, 3), (50, "lz4", 9, 3)]
    assert sweep.axes == ("latency_ms", "codec")
    assert len({run.run_id for run in sweep.runs}) == 4


def test_random_points_stay_in_range_and_are_the_same_every_time() -> None:
    table = {
        "draws": 200,
        "random": {"latency_ms": {"min": 1, "max": 9}, "loss_ppm": {"min": 10, "max": 10_000, "scale": "log"},
                   "codec": ["none", "zstd"]},
    }  # fmt: skip
    runs = parse_sweep(table).runs
    assert runs == parse_sweep(table).runs
    assert {run.options.latency_ms for run in runs} == set(range(1, 10))
    assert {run.options.codec for run in runs} == {"none", "zstd"}
    low = sum(run.options.loss_ppm < 316 for run in runs)
    assert 60 < low < 140, "half of the draws lie in the lower half of a logarithmic scale"
    fewer = parse_sweep({**table, "draws": 50}).runs
    assert set(fewer) < set(runs), "a longer sweep repeats none of a shorter one"


def test_a_run_is_named_only_by_its_options() -> None:
    one = parse_sweep({"fixed": {"latency_ms": 30}}, "a").runs[0]
    other = parse_sweep({"grid": {"latency_ms": [30]}}, "b").runs[0]
    assert one == other


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"grid": {"latency": [1]}}, "no option 'latency': did you mean 'latency_ms'?"),
        ({"gird": {}}, "unknown key 'gird': did you mean 'grid'?"),
        ({"grid": {"latency_ms": 5}}, "must be a list of values"),
        ({"grid": {"latency_ms": ["5"]}}, "latency_ms must be an integer from 0 to 10000, not '5'"),
        ({"fixed": {"codec": "brotli"}}, "codec must be one of none, gzip, snappy, lz4, zstd, not 'brotli'"),
        ({"fixed": {"codec": "lz4"}, "grid": {"codec": ["none"]}}, "codec is given twice"),
        ({"fixed": {"seed": 1}}, "seeds must be at the top level"),
        ({"seeds": 0}, "seeds must be a number"),
        ({"random": {"latency_ms": {"min": 9, "max": 1}}}, r"\[random\] latency_ms is a list, or"),
        ({"fixed": {"fault": "both"}}, "brokers must be 2 or more"),
        ({"seeds": 1_000_000, "grid": {"latency_ms": [1, 2]}}, "2000000 runs"),
    ],
)
def test_mistakes_are_named(table: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        parse_sweep(table)


def test_a_file_that_is_not_toml_is_named(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("seeds = [", "utf-8")
    with pytest.raises(UsageError, match=r"s\.toml: is not TOML"):
        read_sweep(file)
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_sweep(tmp_path / "none.toml")


def test_documented_sweeps_have_the_documented_runs(root: Path) -> None:
    for name, page, runs in (
        ("wan", "failover-over-a-wan", 720),
        ("phase", "failover-over-a-wan", 1000),
        ("transactions", "transactions-and-rpo", 600),
    ):
        sweep = read_sweep(root / f"docs/sweeps/{name}.toml")
        text = (root / f"docs/{page}.md").read_text("utf-8")
        assert len(sweep.runs) == runs and f"{runs:,} runs" in text
        named = re.findall(rf"{name}\.toml --only ([0-9a-f]{{16}})", text)
        assert set(named) <= {run.run_id for run in sweep.runs}


@pytest.mark.parametrize(("runs", "tasks"), [(1, 1), (1, 9), (80, 24), (200, 32), (7, 7), (1000, 3), (5000, 1600)])
def test_runs_are_dealt_out_to_tasks_that_get_smaller(runs: int, tasks: int) -> None:
    sizes = assign(runs, tasks)
    assert sum(sizes) == runs and len(sizes) == min(runs, tasks)
    assert min(sizes) >= 1
    assert max(sizes) <= -(-2 * runs // tasks)
    assert sizes[-1] <= max(1, runs // tasks)


@pytest.mark.parametrize(
    ("runs", "cores", "tasks"),
    [(1, 2, 1), (5, 2, 5), (20, 2, 12), (80, 2, 13), (200, 2, 32), (10_000, 2, 32), (80, 100, 80), (10_000, 100, 1600)],
)
def test_there_are_tasks_for_every_core_and_none_without_a_run(runs: int, cores: int, tasks: int) -> None:
    assert tasks_for(runs, cores) == tasks
