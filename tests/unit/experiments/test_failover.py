"""One run of a sweep: the same seed is the same run, worse networks lose more, and broken rules are reported."""

from __future__ import annotations

import pytest

from kmirror.errors import UsageError
from kmirror.experiments.failover import run
from kmirror.experiments.failover_figures import Outcome
from kmirror.experiments.failover_options import ExperimentOptions
from kmirror.kernel import outbox
from kmirror.kernel.clock import MILLISECOND, SECOND
from kmirror.kernel.events import Note
from kmirror.kernel.rng import Rng
from kmirror.sim.network import Network, NetworkOptions

QUICK = {"failure_ms": 1500, "detect_ms": 300, "after_ms": 300}


def outcome(**options: object) -> Outcome:
    return run(ExperimentOptions(**{**QUICK, **options}))  # type: ignore[arg-type]


def test_the_same_options_are_the_same_run_and_another_seed_is_not() -> None:
    first = outcome(seed=3, loss_ppm=5000, reorder_ppm=50_000)
    again = outcome(seed=3, loss_ppm=5000, reorder_ppm=50_000)
    assert first == again
    assert outcome(seed=4).digest != outcome(seed=3).digest


def test_no_rule_is_broken_and_the_figures_add_up() -> None:
    found = outcome(seed=1, latency_ms=80)
    figures = found.figures
    assert found.broken == []
    assert 0 < figures.rpo_records <= figures.failback_lost_records == figures.failback_cut_records
    assert 0 < figures.stop_ms < figures.rto_ms - QUICK["detect_ms"]
    assert figures.mirrored_bytes < figures.wire_bytes
    assert figures.lag[0][0] == 0 and figures.lag_max >= figures.lag_at_failure
    assert {"PREPARING", "MIRRORING", "STOPPED"} <= figures.state_ms.keys()


def test_no_figure_hangs_on_the_wording_of_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = outcome(seed=1).figures
    monkeypatch.setattr(outbox, "Note", lambda text, fact=None: Note("said otherwise", fact))
    assert outcome(seed=1).figures == figures


def test_latency_loss_and_a_narrow_line_each_cost_records() -> None:
    def lost(**options: object) -> int:
        return sum(outcome(seed=seed, **options).figures.rpo_records for seed in range(4))

    plain = lost(latency_ms=10)
    assert lost(latency_ms=150) > plain
    assert lost(latency_ms=10, loss_ppm=100_000) > plain
    assert lost(latency_ms=10, bandwidth_kbps=300) > plain


def test_a_dead_site_loses_what_was_not_mirrored_and_nothing_else() -> None:
    found = outcome(seed=2, failure="site", latency_ms=60)
    assert found.broken == []
    assert found.figures.failback_lost_records == found.figures.rpo_records


@pytest.mark.parametrize("fault", ["source_broker", "destination_broker"])
def test_a_broker_that_dies_on_the_way_breaks_no_rule(fault: str) -> None:
    assert outcome(seed=5, brokers=3, fault=fault).broken == []


def test_options_are_checked() -> None:
    with pytest.raises(UsageError, match="failure is one of network, site"):
        outcome(failure="meteor")


def test_the_line_between_sites() -> None:
    def arrivals(sizes: list[int], **options: int) -> list[int]:
        network = Network(Rng(1), NetworkOptions(remote_min_us=0, remote_max_us=0, **options))
        network.add("x", "one", None)
        network.add("y", "two", None)
        return [network.arrival(0, "x", "y", 0, size) for size in sizes]

    assert arrivals([1000, 1000]) == [0, 0]
    assert arrivals([1000, 1000, 500], bytes_per_second=1_000_000) == [1000, 2000, 2500]
    late = arrivals([100] * 1000, loss_ppm=100_000)
    held = sum(at > 0 for at in late)
    assert 60 < held < 140, "one packet in ten is sent again"
    assert min(at for at in late if at) == 200 * MILLISECOND
    assert max(arrivals([100] * 500, reorder_ppm=200_000)) <= 50 * MILLISECOND
    assert max(late) < 60 * SECOND
