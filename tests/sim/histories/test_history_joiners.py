"""A replica that joins the ISR is checked at that moment: it has all committed records, and no others."""

from __future__ import annotations

from kmirror.histories.run import run_history
from tests.sim.histories.planted import planted
from tests.sim.histories.test_planted_faults import late_joiner


def test_a_replica_that_joins_the_isr_too_early_is_found() -> None:
    with planted("isr_joined_too_early"):
        outcome = run_history(late_joiner())
    texts = [anomaly.text for anomaly in outcome.anomalies if anomaly.checker == "divergence"]
    assert any("broker 2 of a joins the ISR" in text for text in texts)


def test_a_replica_that_joins_in_time_is_like_its_leader() -> None:
    outcome = run_history(late_joiner())
    assert outcome.account.differing_joiners == [] and outcome.anomalies == []
