"""A report has its plots, tables and seeds in one file, and a browser reports no errors."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import fields, replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from kmirror.cli.demo import command as demo
from kmirror.cli.report import command as report
from kmirror.errors import UsageError
from kmirror.experiments.failover_figures import Figures
from kmirror.experiments.failover_options import OPTION_NAMES, ExperimentOptions
from kmirror.experiments.results import Results
from kmirror.experiments.sweep_file import Run, parse_sweep
from kmirror.experiments.sweep_run import run_to_row
from kmirror.report.notebook import ShownResults, load
from kmirror.report.results import AXES, FIGURES, Group, SweepResults

pytest.importorskip("matplotlib", reason="plots need matplotlib: pip install 'kmirror[report]'")

QUICK = {"failure_ms": 300, "detect_ms": 100, "after_ms": 100, "partitions": 1, "refresh_ms": 100}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("results")
    sweep = parse_sweep({"seeds": 3, "fixed": QUICK, "grid": {"latency_ms": [5, 80], "loss_ppm": [0, 50_000]}}, "s<>")
    results = Results(str(path))
    results.prepare()
    for run in sweep.runs:
        results.write([run_to_row("s<>", run)], run.run_id)
    failed_or_broken = replace(sweep.runs[0].options, seed=99, brokers=1, fault="both")
    results.write([run_to_row("s<>", Run("f" * 16, failed_or_broken))], "f" * 16)
    return path


def test_axes_groups_and_intervals(folder: Path) -> None:
    results = load(folder)
    assert results.axes[:2] == ("latency_ms", "loss_ppm")
    assert len(results.rows) == 13 and len(results.completed) == 12
    groups = results.groups(("latency_ms",))
    assert [(group.point, len(group.rows)) for group in groups] == [((5,), 6), ((80,), 6)]


def test_runs_of_one_seed_at_several_points_are_one_observation() -> None:
    rows = [{"seed": seed, "rto_ms": 10 * seed} for seed in (1, 2, 3)]
    alone, thrice = Group((), rows).estimate("rto_ms"), Group((), rows * 3).estimate("rto_ms")
    assert (thrice.mean, thrice.half) == (alone.mean, alone.half), "nothing was learnt by saying it three times"
    assert thrice.count == 9
    assert Group((), rows[:1] * 3).estimate("rto_ms").half is None


def test_every_option_and_figure_has_a_name() -> None:
    assert set(AXES) == set(OPTION_NAMES)
    assert FIGURES.keys() <= {field.name for field in fields(Figures)}


def test_names_and_many_points_are_drawn_too(folder: Path) -> None:
    from kmirror.report.plots import plots

    rows = load(folder).completed
    by_codec = [{**row, "codec": codec} for row in rows for codec in ("none", "lz4")]
    drawn = plots(SweepResults([row for row in by_codec if row["loss_ppm"] == 0], "x"))
    assert {"by-codec-and-latency_ms", "by-latency_ms-and-codec"} <= drawn.keys()
    scattered = [{**row, "latency_ms": number, "loss_ppm": 0} for number, row in enumerate(rows * 3)]
    assert "by-latency_ms" in plots(SweepResults(scattered, "x"))


def test_a_sweep_with_transactions_draws_their_outcomes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kmirror.report import plots

    drawn: list[str] = []
    monkeypatch.setattr(plots, "_label_axes", lambda _panel, label, _axis: drawn.append(label.short))
    rows = load(folder).completed
    plots.plots(SweepResults(rows, "x"))
    assert FIGURES["torn_transactions"].short not in drawn
    plots.plots(SweepResults([{**row, "transaction_ms": 100 * row["loss_ppm"]} for row in rows], "x"))
    assert FIGURES["torn_transactions"].short in drawn


def test_the_page_holds_everything(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = CliRunner().invoke(report, [str(folder), "-o", str(page)], catch_exceptions=False)
    assert done.exit_code == 0
    text = page.read_text("utf-8")
    assert not re.search(r"""(src|href)=["'](?!data:)""", text), "nothing is fetched from elsewhere"
    pngs = sorted(path.name for path in (tmp_path / "report.plots").iterdir())
    assert text.count("data:image/png;base64,") == len(pngs) >= 5
    assert "1 of 13 runs failed or broke a rule" in text
    assert "s&lt;&gt;" in text and "s<>" not in text
    assert "Traceback" in text and "f" * 16 in text
    for row in load(folder).largest("rpo_records", 1):
        assert row["run_id"] in text and row["digest"][:16] in text


def test_json_csv_and_jupyter(folder: Path) -> None:
    told = json.loads(CliRunner().invoke(report, [str(folder), "-o", "json"]).stdout)
    assert told["runs"] == 13 and len(told["aggregates"]) == 4
    assert told["failed_or_broken"][0]["seed"] == 99
    lines = CliRunner().invoke(report, [str(folder), "-o", "csv"]).stdout.splitlines()
    assert len(lines) == 14 and lines[0].startswith("run_id,status,seed,")
    assert "<img" in load(folder)._repr_html_()


def test_no_results_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="contains no results of a sweep"):
        load(tmp_path)


def test_a_single_run_makes_a_report() -> None:
    row = run_to_row("one", Run("0" * 16, ExperimentOptions(**QUICK)))  # type: ignore[arg-type]
    row["lag"], row["state_ms"] = list(row["lag"]), list(row["state_ms"])
    assert "no rule was broken in 1 run" in ShownResults([row], "x")._repr_html_()


# -- in a browser -----------------------------------------------------------------------------


def browse(page: Path, tmp_path: Path) -> tuple[str, list[str]]:
    """Return the page after its scripts ran in the browser, and its console output."""
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        assert os.environ.get("KMIRROR_REQUIRE_BROWSER") != "1", f"none of {', '.join(BROWSERS)} is here"
        pytest.skip("no Chromium here: apt install chromium")
    done = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
            f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=3000", "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


PROBE = """<script>
addEventListener('load', () => {
  const images = [...document.images];
  document.querySelector('th')?.click();
  document.body.dataset.probe = images.length + ' ' + images.filter(i => i.naturalWidth > 200).length;
});</script>"""


def test_a_browser_shows_the_plots_and_has_no_complaint(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    CliRunner().invoke(report, [str(folder), "-o", str(page)], catch_exceptions=False)
    page.write_text(page.read_text("utf-8").replace("</body>", PROBE + "</body>"), "utf-8")
    shown, complaints = browse(page, tmp_path)
    assert complaints == []
    count = len(list((tmp_path / "report.plots").iterdir()))
    assert f'data-probe="{count} {count}"' in shown


def test_the_demo_draws_a_lane_for_each_partition(tmp_path: Path) -> None:
    page = tmp_path / "demo.html"
    done = CliRunner().invoke(
        demo, ["--seed", "3", "--topic", "txn", "-o", "json", "--html", str(page)], catch_exceptions=False
    )
    told = json.loads(done.stdout)
    text = page.read_text("utf-8")
    assert text.count("data-partition=") == told["mirrored"]["partitions"] == 3
    assert told["digest"] in text
    assert "<ol><li>0.0 s: Starting clusters a and b" in text and text.count("<li>") == 5, "each stage with its time"
    for row in told["failback"]:
        assert f"a lost offsets {row['lost_first_offset']}-{row['lost_end_offset'] - 1}" in text
    for row in told["failover"]:
        assert f"MIRROR_PID_RESET at offset {row['cut_offset']}, leader epoch {row['leader_epoch']}" in text
    assert "in mirror demo: MIRRORING" in text
    shown, complaints = browse(page, tmp_path)
    assert complaints == [] and shown.count("<svg") == text.count('class="lane') > 1 + 3


def test_a_page_does_not_change_the_run(tmp_path: Path) -> None:
    arguments = ["--seed", "3", "--topic", "txn", "-o", "json"]
    plain = CliRunner().invoke(demo, arguments)
    drawn = CliRunner().invoke(demo, [*arguments, "--html", str(tmp_path / "d.html")])
    assert plain.stdout == drawn.stdout
