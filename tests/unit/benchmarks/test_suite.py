"""The benchmark suite: rows and verdicts, and all sides of a case do the same work."""

from __future__ import annotations

import json

import pytest

from benchmarks import __main__ as suite
from benchmarks import builders, harness, shapes
from benchmarks.harness import Case, Effort, no_runs, paired_ratios, run

KEYS = ["id", "case", "peer", "peer_version", "ratio", "low", "high", "floor", "reach", "commit", "machine"]


def case(ratios: list[float], floor: float | None, reach: float | None = None) -> Case:
    return Case("X1", "case", "kmirror", no_runs, floor, reach, lambda _: ratios)


def test_a_row_has_the_median_and_the_quarters() -> None:
    (row,) = run([case([1.0, 2.0, 3.0, 4.0, 5.0], 2.5, 4)], Effort(5, 1))
    assert list(json.loads(row.to_json())) == KEYS
    assert (row.ratio, row.low, row.high) == (3.0, 1.5, 4.5)
    assert not row.is_below_floor


def test_a_ratio_below_its_floor_sets_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad, open_end = case([3.0] * 3, 3), case([2.9] * 3, 3), case([0.1] * 3, None)
    monkeypatch.setattr(suite, "GROUPS", {"good": lambda: [good, open_end], "bad": lambda: [bad]})
    assert suite.main(["good"]) == 0
    assert suite.main(["good", "bad"]) == 1
    assert "BELOW THE FLOOR" in capsys.readouterr().out
    assert suite.main(["-o", "json", "good"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["floor"] for row in rows] == [3, None]
    with pytest.raises(SystemExit):
        suite.main(["nothing"])
    assert suite.main(["good", "--only", "mistyped"]) == 2, "no case is below its floor where none was measured"
    assert "nothing was measured: no case that can run here has 'mistyped' in its line" in capsys.readouterr().err


def test_a_peer_that_is_not_installed_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = Case("X1", "case", "no-such-package", no_runs)
    monkeypatch.setattr(suite, "GROUPS", {"group": lambda: [missing]})
    assert suite.main([]) == 0
    assert "no-such-package" in capsys.readouterr().err


def test_ratios_are_the_peers_time_over_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0

    def pass_time(nanoseconds: int) -> None:
        nonlocal now
        now += nanoseconds

    monkeypatch.setattr(harness.time, "perf_counter_ns", lambda: now)
    ratios = paired_ratios(lambda: pass_time(10), lambda: pass_time(40), Effort(5, 4_000))
    assert ratios == [4.0] * 5


@pytest.mark.parametrize("shape", shapes.SHAPES, ids=[shape.name for shape in shapes.SHAPES])
def test_every_library_builds_the_same_bytes(shape: shapes.Shape) -> None:
    raw = shape.build().encode(shape.version)
    assert builders.our_builder(shape)().encode(shape.version) == raw
    pytest.importorskip("kafka")
    assert builders.kafka_python_builder(shape)() == raw
    pytest.importorskip("kio")
    assert builders.kio_builder(shape)() == raw
