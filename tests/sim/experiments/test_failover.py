"""One run of a sweep: equal seeds give equal runs, worse networks lose more, and broken rules are reported."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import pytest

from kmirror.errors import UsageError
from kmirror.experiments import failover
from kmirror.experiments.estimates import Estimate, estimate
from kmirror.experiments.failover import run
from kmirror.experiments.failover_figures import Outcome
from kmirror.experiments.failover_options import ExperimentOptions
from kmirror.experiments.failover_rules import Content, content
from kmirror.kernel import outbox
from kmirror.kernel.clock import MILLISECOND, SECOND
from kmirror.kernel.events import Note
from kmirror.kernel.rng import Rng
from kmirror.log.partition_log import PartitionLog
from kmirror.sim.facts import LineDown, NodeStarted
from kmirror.sim.network import Network, NetworkOptions

QUICK = {"failure_ms": 1500, "detect_ms": 300, "after_ms": 300, "refresh_ms": 100}


def outcome(**options: object) -> Outcome:
    return run(ExperimentOptions(**{**QUICK, **options}))  # type: ignore[arg-type]


def test_the_same_options_are_the_same_run_and_another_seed_is_not() -> None:
    first = outcome(seed=3, loss_ppm=5000, reorder_ppm=50_000)
    again = outcome(seed=3, loss_ppm=5000, reorder_ppm=50_000)
    assert first == again
    assert outcome(seed=4).digest != outcome(seed=3).digest


def test_no_broker_starts_at_a_site_that_is_down() -> None:
    options = ExperimentOptions(
        **{**QUICK, "failure": "site", "fault": "source_broker", "brokers": 2, "after_ms": 16_000}
    )
    experiment = failover.Experiment(options)
    assert experiment.run().broken == []
    [down] = experiment.simulation.facts(LineDown)
    started = [
        seen for seen in experiment.simulation.facts(NodeStarted) if seen.cluster == "a" and seen.at_ms > down.at_ms
    ]
    assert len(started) == 2 and len({seen.at_ms for seen in started}) == 1, "both with the failback"


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


def means_within_a_cycle(failure_spread_ms: int) -> tuple[list[Estimate], float]:
    """Return the RPO of six seeds at each of ten times within one cycle of fetches, and the mean of all."""
    options = {
        "brokers": 1, "partitions": 1, "producers": 1, "latency_ms": 100, "jitter_ms": 1, "refresh_ms": 100,
        "detect_ms": 1, "after_ms": 1, "failure_spread_ms": failure_spread_ms,
    }  # fmt: skip
    found = [
        [outcome(seed=seed, failure_ms=ms, **options).figures.rpo_records for seed in range(6)]
        for ms in range(600, 800, 20)
    ]
    return [estimate(values) for values in found], fmean(value for values in found for value in values)


def test_an_interval_covers_every_instant_of_the_fetch_cycle() -> None:
    """If all seeds had the same time of failure, no interval would contain the mean over the cycle."""
    told, mean = means_within_a_cycle(failure_spread_ms=400)
    assert all(e.half is not None and abs(e.mean - mean) <= e.half for e in told)
    fixed, mean = means_within_a_cycle(failure_spread_ms=0)
    assert sum(e.half is not None and abs(e.mean - mean) <= e.half for e in fixed) <= 2


def test_no_figure_has_the_resolution_of_the_script() -> None:
    """RTO once had steps of the load's pause, the failback steps of the half second between two checks."""
    found = [outcome(seed=seed, latency_ms=40).figures for seed in range(6)]
    assert len({figures.rto_ms for figures in found}) > 3
    steps = sorted(figures.failback_ms for figures in found)
    assert len(set(steps)) > 3 and steps[-1] - steps[0] < 450


# -- transactions -----------------------------------------------------------------------------

TRANSACTIONS = {**QUICK, "failure_ms": 2500, "transaction_ms": 800}


def test_an_open_transaction_holds_back_records_of_others() -> None:
    """One of four producers has transactions, and records of the others above them are lost."""
    for seed in range(4):
        found = outcome(**{**TRANSACTIONS, "seed": seed, "transactional_percent": 25})
        figures = found.figures
        assert found.broken == []
        assert figures.undecided_at_failure > 0 < figures.open_transaction_ms <= 1_000
        # A transaction reaches a partition with its producer's next batch for it, up to two turns later.
        assert figures.rpo_ms > figures.open_transaction_ms - 200
        assert figures.rpo_records > figures.rpo_transactional_records
        assert figures.lag_at_failure >= figures.undecided_at_failure


def test_transactions_that_overlap_cost_up_to_two_of_them() -> None:
    found = [outcome(**{**TRANSACTIONS, "seed": seed, "producers": 10}) for seed in range(4)]
    assert [row.broken for row in found] == [[]] * 4
    figures = [row.figures for row in found]
    assert all(row.rpo_records == row.rpo_transactional_records > 0 for row in figures)
    assert all(row.lost_transactions > row.torn_transactions for row in figures)
    assert sum(row.torn_transactions for row in figures) > 0
    assert max(row.failover_cut_records for row in figures) > 0


def test_without_transactions_nothing_is_undecided() -> None:
    figures = outcome(seed=1).figures
    shown = (figures.open_transaction_ms, figures.undecided_at_failure, figures.rpo_transactional_records)
    assert shown == (0, 0, 0) == (figures.lost_transactions, figures.torn_transactions, figures.failover_cut_records)


@pytest.mark.parametrize("options", [{"failure": "site"}, {"brokers": 3, "fault": "source_broker", "seed": 7}])
def test_open_transactions_break_no_rule_where_nodes_die(options: dict[str, object]) -> None:
    found = outcome(**{**TRANSACTIONS, "seed": 6, **options})
    assert found.broken == [] and found.figures.mirrored_records > 0


def test_without_mirrored_records_the_failback_removes_nothing() -> None:
    """The source's broker dies before anything is decided: a has the only copy (D25)."""
    found = outcome(**{**TRANSACTIONS, "seed": 6, "brokers": 3, "fault": "source_broker"})
    assert found.broken == []
    assert (found.figures.mirrored_records, found.figures.failback_cut_records) == (0, 0)


def test_a_dead_site_loses_only_unmirrored_records() -> None:
    found = outcome(seed=2, failure="site", latency_ms=60)
    assert found.broken == []
    assert found.figures.failback_lost_records == found.figures.rpo_records


@pytest.mark.parametrize("fault", ["source_broker", "destination_broker"])
def test_a_broker_that_dies_in_between_breaks_no_rule(fault: str) -> None:
    assert outcome(seed=5, brokers=3, fault=fault).broken == []


def test_a_broken_rule_is_reported_and_the_run_ends_normally(monkeypatch: pytest.MonkeyPatch) -> None:
    def blind(log: PartitionLog) -> Content:
        held = content(log)
        return replace(held, offsets={key: offset for key, offset in held.offsets.items() if offset != 20})

    monkeypatch.setattr(failover, "content", blind)
    found = outcome(seed=1)
    assert any(text.startswith("failover keeps a prefix: orders-") for text in found.broken)
    assert found.figures.virtual_ms > 0


def test_options_are_checked() -> None:
    with pytest.raises(UsageError, match="failure must be one of network, site"):
        outcome(failure="meteor")


def test_the_line_between_sites() -> None:
    def arrivals(sizes: list[int], **options: int) -> list[int]:
        network = Network(Rng(1), NetworkOptions(remote_min_us=0, remote_max_us=0, **options))
        network.add("x", "one")
        network.add("y", "two")
        return [network.arrival(0, "x", "y", 0, size) for size in sizes]

    assert arrivals([1000, 1000]) == [0, 0]
    assert arrivals([1000, 1000, 500], bytes_per_second=1_000_000) == [1000, 2000, 2500]
    late = arrivals([100] * 1000, loss_ppm=100_000)
    held = sum(at > 0 for at in late)
    assert 60 < held < 140, "one packet in ten is sent again"
    assert min(at for at in late if at) == 200 * MILLISECOND
    assert max(arrivals([100] * 500, reorder_ppm=200_000)) <= 50 * MILLISECOND
    assert max(late) < 60 * SECOND
