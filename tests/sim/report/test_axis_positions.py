"""No two labels of an axis overlap, for any values."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import Any

import pytest

from kmirror.experiments.failover_options import ExperimentOptions
from kmirror.experiments.sweep_file import Run
from kmirror.experiments.sweep_run import run_to_row
from kmirror.report.axis_positions import Value, axis_positions

pytest.importorskip("matplotlib", reason="plots need matplotlib: pip install 'kmirror[report]'")

EVEN = list(range(0, 100, 10))
WIDE = [0, 100, 500, 2_000, 10_000]
MANY = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000]
NAMES = ["both", "destination_broker", "none", "source_broker"]


def test_evenly_spaced_numbers_are_at_their_values() -> None:
    places = axis_positions(EVEN, 42)
    assert not places.is_log and places.labelled == tuple(EVEN)
    assert places.positions[0] == 0 and places.positions[90] == 1 and places.positions[30] == pytest.approx(1 / 3)


def test_numbers_of_several_magnitudes_are_placed_by_logarithm() -> None:
    places = axis_positions(WIDE, 42)
    assert places.is_log and places.labelled == tuple(WIDE)
    steps = [after - before for before, after in pairwise(places.positions.values())]
    assert min(steps) > 0.1, "0 has no logarithm, and stands apart from 100 all the same"


def test_labels_without_room_are_left_out_but_for_the_ends() -> None:
    places = axis_positions(MANY, 42)
    assert places.is_log and len(places.positions) == len(MANY)
    assert places.labelled[0] == 0 and places.labelled[-1] == 50_000 and len(places.labelled) < len(MANY)


def test_names_are_placed_side_by_side() -> None:
    assert axis_positions(NAMES, 60).labelled == tuple(NAMES) and not axis_positions(NAMES, 60).is_rotated
    assert axis_positions(NAMES, 20).labelled == tuple(NAMES) and axis_positions(NAMES, 20).is_rotated


@pytest.mark.parametrize("values", [[7], [0], ["none"], [0, 5], [3, 3_000_000]])
def test_few_values_are_all_labelled(values: list[Value]) -> None:
    assert axis_positions(values, 42).labelled == tuple(values)


@pytest.fixture(scope="module")
def finished() -> dict[str, Any]:
    options = ExperimentOptions(failure_ms=300, detect_ms=100, after_ms=100, partitions=1)
    row = run_to_row("one", Run("0" * 16, options))
    return row | {"lag": list(row["lag"]), "state_ms": list(row["state_ms"])}


def check_labels(figure: Any) -> bytes:
    figure.savefig(io.BytesIO(), format="png")
    for panel in figure.axes:
        labels = [label for label in panel.get_xticklabels() if label.get_text() and not label.get_rotation()]
        low, high = panel.get_xlim()
        boxes = [label.get_window_extent() for label in labels if low <= label.get_position()[0] <= high]
        for one, other in pairwise(sorted(boxes, key=lambda box: box.x0)):
            assert one.x1 < other.x0, [label.get_text() for label in labels]
    return b""


@pytest.mark.parametrize("values", [EVEN, WIDE, MANY, NAMES, [1_000_000, 1_000_001, 2_000_000, 9_999_999], [5]])
def test_no_label_of_a_drawn_axis_covers_another(
    values: list[Value], finished: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kmirror.report import plots
    from kmirror.report.results import SweepResults

    axis = "fault" if values is NAMES else "latency_ms"
    rows = [finished | {axis: value, "seed": seed, "rto_ms": 999_000 + seed} for value in values for seed in (1, 2)]
    monkeypatch.setattr(plots, "_png", check_labels)
    drawn = plots.plots(SweepResults(rows, "x"))
    assert drawn and (len(values) == 1 or f"by-{axis}" in drawn)
