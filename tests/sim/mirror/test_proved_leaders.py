"""A lag is known only while the source's broker proves that it is up to date (D77)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.client.remote_cluster import RemoteCluster
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint
from kmirror.protocol.gen.describe_quorum_request import DescribeQuorumRequest
from kmirror.protocol.message import Message
from tests.sim.mirror.test_describe_truth import row
from tests.sim.mirror.test_old_sources import old_pair
from tests.sim.mirror.test_source_refresh import mirroring
from tests.sim.mirror.test_stale_brokers import INTERVAL_S
from tests.sim.stage import SMALL, TP, Pair, pair, wait_until_mirrored

pytestmark = pytest.mark.decision("D77")
BOUND_S = INTERVAL_S + 10
"""Time for which `LAG` must be 0 before a failover (docs/first-mirror.md)."""
FENCED_S = int(SMALL["broker.session.timeout.ms"]) / 1000 + 1


def start_mirror() -> Pair:
    p = pair()
    p.a.place_topic()
    p.begin()
    p.a.write("one")
    wait_until_mirrored(p.there)
    p.run_until(lambda: row(p).lag == 0, "the first proof", within_s=2)
    return p


def depose(p: Pair, *, is_alone: bool) -> int:
    """Disconnect the source's leader from its cluster, and let its successor acknowledge a record.

    Return the former leader. With `is_alone` the mirror reaches no other broker.
    """
    deposed = p.a.await_leader(TP).broker_id
    others = [number for number in p.a.broker_ids if number != deposed]
    for other in (*map(p.a.process, others), "a-controller"):
        p.simulation.line(p.a.process(deposed), other).take_down()
    for number in others if is_alone else ():
        p.simulation.line(p.a.process(number), p.b).take_down()
    p.simulation.run_for(span_s=FENCED_S)
    p.a.write("acknowledged by another leader")
    assert p.a.await_leader(TP).broker_id != deposed
    return deposed


def lags(p: Pair, span_s: float) -> Iterator[int]:
    """Yield the lag four times a second."""
    for _ in range(int(span_s * 4)):
        p.simulation.run_for(span_s=0.25)
        yield row(p).lag


def test_a_lag_of_0_from_a_deposed_leader_ends_within_the_bound() -> None:
    p = start_mirror()
    deposed = depose(p, is_alone=True)
    p.run_until(lambda: row(p).lag != 0, "the lag to be unknown", within_s=BOUND_S)
    assert set(lags(p, 2 * BOUND_S)) == {-1}
    assert row(p).source_offset == 1
    named = f"the source's broker {deposed} at a-{deposed}:9092"
    assert row(p).reason.startswith(f"the lag is unknown: {named} has not proved that it still leads: ")


def test_a_deposed_leader_is_dropped_within_the_bound_if_another_broker_is_reached() -> None:
    p = start_mirror()
    depose(p, is_alone=False)
    p.run_until(lambda: p.b.log().high_watermark == p.a.log().high_watermark, "the record", within_s=BOUND_S)


def test_the_lag_stays_known_while_proofs_are_renewed() -> None:
    p = start_mirror()
    assert set(lags(p, 4 * BOUND_S)) == {0}


def test_the_lag_is_known_again_soon_after_the_source_has_a_controller_again() -> None:
    p = start_mirror()
    p.a.kill(CONTROLLER_ID)
    p.simulation.run_for(span_s=60)
    assert row(p).lag == -1
    p.a.write("mirrored without a controller")
    p.run_until(lambda: p.b.log().high_watermark == 2, "mirroring goes on")
    p.a.restart(CONTROLLER_ID)
    p.run_until(lambda: (row(p).lag, row(p).reason) == (0, ""), "the lag", within_s=20)


def test_leaders_of_an_old_source_are_proved_if_all_of_its_brokers_name_them() -> None:
    p = old_pair()
    p.begin()
    p.run_until(lambda: row(p).lag == 0, "the lag", within_s=5)
    p.simulation.run_for(span_s=3 * BOUND_S)
    assert row(p).lag == 0
    silent = next(number for number in p.a.broker_ids if number != p.a.await_leader(TP).broker_id)
    p.simulation.line(p.a.process(silent), p.b).take_down()
    p.run_until(lambda: row(p).lag == -1, "the lag to be unknown", within_s=BOUND_S)
    p.run_until(lambda: "not all brokers of the source respond" in row(p).reason, "the reason")


def test_an_interval_costs_one_proof_per_broker_for_any_number_of_partitions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    p = mirroring()
    asked: Counter[Endpoint] = Counter()
    send = RemoteCluster.send

    def counting(
        cluster: RemoteCluster, now: Instant, endpoint: Endpoint, purpose: str, body: Message, *rest: Any, **more: Any
    ) -> None:
        asked[endpoint] += isinstance(body, DescribeQuorumRequest)
        send(cluster, now, endpoint, purpose, body, *rest, **more)

    monkeypatch.setattr(RemoteCluster, "send", counting)
    p.simulation.run_for(span_s=10 * INTERVAL_S)
    assert (
        5 < sum(asked.values()) <= 10 * (len(p.b.broker_ids) * len(p.a.broker_ids) + 1)
    )  # One is for the sync of configs.
