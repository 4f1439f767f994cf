"""Consumers of histories, of every kind, read from followers (KIP-392), and get the leaders' records."""

from __future__ import annotations

from collections import Counter

import pytest

from kmirror.histories.draw import draw
from kmirror.histories.profiles import PROFILES
from kmirror.histories.run import run_history
from kmirror.kernel.clock import MILLISECOND
from tests.sim.histories.follower_plans import client, plan_with_racks, readers

KINDS = ("read_committed", "library_read", "session_read", "read_uncommitted")
SEEDS = range(30)


@pytest.mark.parametrize("kind", KINDS)
def test_consumers_in_every_rack_get_the_same_records(kind: str) -> None:
    outcome = run_history(plan_with_racks((), [client("p0", "plain"), *readers(kind)]), coverage=True)
    assert outcome.anomalies == []
    assert outcome.coverage["fetch.client-rack"] > 0
    assert outcome.coverage["fetch.preferred-replica"] >= 2, "the leader names a replica to consumers in other racks"
    assert outcome.coverage["fetch.client-follower"] >= 2
    (final,) = (seen for (cluster, _), seen in outcome.account.final_logs.items() if cluster == "a")
    expected = [row.value for row in final.rows]
    assert len(expected) > 20
    for name in ("c1", "c2", "c3"):
        assert [read.value for read in outcome.account.reads if read.client == name] == expected


def test_marks_name_the_replica_that_answered() -> None:
    outcome = run_history(plan_with_racks((), [client("p0", "plain"), *readers("read_committed")]))
    told = {(marks.client, marks.broker): marks.is_leader for marks in outcome.account.fetched_offsets}
    in_own_rack = [told[f"c{number}", number] for number in (1, 2, 3)]
    assert sorted(in_own_rack) == [False, False, True]


def test_a_slow_consumer_catches_up_once_writing_stops() -> None:
    slow = client("c1", "read_committed", pause_ms=1_000, bytes_max=1, names_epochs=False, rack="r1")
    plan = plan_with_racks((), [client("p0", "idempotent", pause_ms=150), slow])
    outcome = run_history(plan)
    sizes = Counter(read.at for read in outcome.account.reads)
    ended_at = plan.faults_end_ms * MILLISECOND
    before = [count for at, count in sizes.items() if at < ended_at]
    assert before and max(before) <= 3, "a batch of that producer has three records at most"
    assert max(count for at, count in sizes.items() if at > ended_at) > 3
    assert outcome.anomalies == []


def test_the_profile_of_followers_draws_racks_and_no_other_does() -> None:
    for name in PROFILES:
        for seed in range(5):
            plan = draw(seed, name)
            in_rack = any(cluster.racks for cluster in plan.clusters)
            assert in_rack is (name == "followers")
            assert in_rack or not any("rack" in one.options for one in plan.clients)
    clients = [one for seed in SEEDS for one in draw(seed, "followers").clients if "rack" in one.options]
    assert {one.kind for one in clients} >= set(KINDS)
    assert any(not one.options.get("names_epochs", True) for one in clients)
    assert any("bytes_max" in one.options for one in clients)
