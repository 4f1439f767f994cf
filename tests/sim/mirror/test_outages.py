"""Clients of `kmirror.client` that lose the connection to a broker for moments."""

from __future__ import annotations

import pytest

from kmirror.histories.outages import OPTION
from kmirror.histories.plan import ClientPlan, ClusterPlan, Plan
from kmirror.histories.run import run_history

CONFIGS = {"min.insync.replicas": "1", "broker.heartbeat.interval.ms": "300", "broker.session.timeout.ms": "1500"}


def plan(kind: str, *, outages: bool) -> Plan:
    """Two brokers, a client that writes, and one that reads."""
    options = {OPTION: True} if outages else {}
    return Plan(
        seed=3,
        profile="by hand",
        clusters=(ClusterPlan("a", 2, 2, CONFIGS),),
        network={},
        clients=(
            ClientPlan("p0", kind, "a", ("t0",), 150, options),
            ClientPlan("c0", "library_read", "a", ("t0",), 150, options),
        ),
        steps=(),
        faults_end_ms=15_000,
        converge_ms=20_000,
        topics={"t0": "2@a"},
    )


@pytest.mark.parametrize("kind", ["library", "library_transactions"])
def test_clients_get_over_their_outages(kind: str) -> None:
    outcome = run_history(plan(kind, outages=True), coverage=True)
    assert not outcome.account.crash
    assert outcome.anomalies == []
    assert len(outcome.account.acks) > 20 and len(outcome.account.reads) > 20
    assert outcome.coverage["link.answer-lost"]


def test_without_outages_every_response_arrives() -> None:
    outcome = run_history(plan("library", outages=False), coverage=True)
    assert outcome.anomalies == []
    assert "link.answer-lost" not in outcome.coverage
