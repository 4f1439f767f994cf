"""Sources whose `mirror.version` changes while their links stay open: their versions are requested again (D76)."""

from __future__ import annotations

import pytest

from kmirror.hooks.hooks import Hooks
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kmirror.protocol.gen.update_features_response import UpdateFeaturesResponse
from kmirror.sim.consumer import Consumer
from kmirror.sim.mirror import Mirror
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from tests.sim.stage import (
    ONE_BROKER,
    TOPIC,
    TP,
    Pair,
    StagedCluster,
    WrittenLogs,
    assert_equal,
    check_epochs,
    plain,
    records,
    values,
    wait_until_mirrored,
    wait_until_stopped,
)

pytestmark = pytest.mark.decision("D76")

REFRESH_S = 5
"""`mirror.metadata.refresh.interval.ms` of these clusters."""
UPGRADE, UNSAFE_DOWNGRADE = 1, 3


def set_level(cluster: StagedCluster, level: int) -> None:
    """Change the level of `mirror.version`, and wait until the brokers know."""
    kind = UPGRADE if level else UNSAFE_DOWNGRADE
    update = FeatureUpdateKey(feature="mirror.version", max_version_level=level, upgrade_type=kind)
    reply = cluster.order(UpdateFeaturesRequest(timeout_ms=30_000, feature_updates=[update]))
    assert isinstance(reply, UpdateFeaturesResponse) and not reply.error_code, reply
    cluster.simulation.run_for(span_s=1)


def two(level: int, *batches: bytes) -> tuple[Pair, Hooks]:
    """Return clusters a and b of one broker each, a with this level and log, and hooks at a."""
    simulation, hooks = Simulation(0), Hooks()
    a = StagedCluster(
        simulation,
        "a",
        brokers=1,
        replication_factor=1,
        logs=WrittenLogs({TOPIC: batches}),
        configs=ONE_BROKER,
        mirror_version=level,
        interpose=hooks,
    )
    b = StagedCluster(simulation, "b", brokers=1, replication_factor=1, configs=ONE_BROKER)
    simulation.world.after_event.append(lambda now: check_epochs(a, b))
    a.start()
    b.start()
    return Pair(simulation, a, b), hooks


def link(source: StagedCluster, destination: StagedCluster) -> Mirror:
    mirror = Mirror(f"{source.name}-to-{destination.name}", source=source, destination=destination)
    mirror.create()
    mirror.add_topics([TOPIC])
    return mirror


def failed_over(source: StagedCluster, destination: StagedCluster) -> None:
    """Give the destination a copy that is no longer mirrored."""
    mirror = link(source, destination)
    wait_until_mirrored(mirror)
    mirror.remove_topics([TOPIC])
    wait_until_stopped(mirror)


def begin_epoch(cluster: StagedCluster) -> None:
    """Raise the leader epoch by a restart: at level 0 nothing else does, with one broker."""
    before = cluster.await_leader().leader_epoch
    cluster.kill(1)
    cluster.simulation.run_for(span_s=5)
    cluster.restart(1)
    cluster.simulation.run_until(
        lambda: (led := cluster.leader(TP)) is not None and led.leader_epoch > before, what="a leader epoch"
    )


def ring(*clusters: StagedCluster) -> str:
    return f"in a ring, {' from '.join(cluster.cluster_id for cluster in clusters)}:"


# -- from 0 to 1 ------------------------------------------------------------------------------


def test_a_source_that_begins_to_mirror_is_followed_by_its_lineage() -> None:
    """Clusters a and c have written the same epochs; a, which b mirrors, is upgraded and mirrors c."""
    p, _ = two(0, plain(0, 0, "r0"))
    c = p.third(brokers=1)
    failed_over(p.a, c)
    while p.a.await_leader().leader_epoch < 4:
        begin_epoch(p.a)
    c.bump(p.a.await_leader().leader_epoch)
    for number in range(6):
        c.write(f"c{number}")
    p.a.write("a0")
    to_b = link(p.a, p.b)
    wait_until_mirrored(to_b)
    set_level(p.a, 1)
    to_b.pause([TOPIC])
    p.run_until(lambda: p.b.state() == "PAUSED", "PAUSED")
    back = link(c, p.a)
    wait_until_mirrored(back)
    to_b.resume([TOPIC])
    assert_equal(to_b)
    assert_equal(back)
    assert [value for _, value in values(p.b.log())] == ["r0", *(f"c{number}" for number in range(6))]


def test_a_ring_over_a_source_that_begins_to_mirror_is_seen() -> None:
    p, _ = two(0)
    c = p.third(brokers=1)
    to_b = link(p.a, p.b)
    wait_until_mirrored(to_b)
    failed_over(p.a, c)
    c.write("c0")
    set_level(p.a, 1)
    wait_until_mirrored(link(c, p.a))
    wait_until_mirrored(to_b)
    to_b.pause([TOPIC])
    c.write("c1")
    link(p.b, c)
    p.run_until(lambda: ring(c, p.b, p.a, c) in c.reason(), "the reason")
    p.hold(2 * REFRESH_S, lambda: [value for _, value in values(c.log())] == ["c0", "c1"], "nothing is cut")


def test_a_ring_with_two_newly_mirroring_clusters_is_detected() -> None:
    """Earlier data, from a cluster that could not return more, is requested again."""
    p, _ = two(0)
    c, d = p.third(brokers=1), p.third("d", brokers=1)
    to_b = link(p.a, p.b)
    wait_until_mirrored(to_b)
    failed_over(p.a, c)
    to_b.remove_topics([TOPIC])
    wait_until_stopped(to_b)
    to_b.delete()
    set_level(p.b, 0)
    to_d = link(p.b, d)
    wait_until_mirrored(to_d)
    set_level(p.b, 1)
    to_b.create()
    to_b.add_topics([TOPIC])
    wait_until_mirrored(to_b)
    set_level(p.a, 1)
    c.write("c0", "c1")
    wait_until_mirrored(link(c, p.a))
    for mirror in (to_b, to_d):
        wait_until_mirrored(mirror)
    p.simulation.line(d, c).set(latency_ms=1_000)
    link(d, c)
    p.run_until(lambda: ring(c, d, p.b, p.a, c) in c.reason(), "the reason")
    p.hold(2 * REFRESH_S, lambda: len(values(c.log())) == 2, "nothing is cut")


def test_leaders_without_describe_mirrors_are_asked_again_at_each_refresh() -> None:
    p, hooks = two(0, plain(0, 0, "r0"))
    p.begin()
    asked: list[int] = []
    described: list[int] = []
    # Clients that need the levels of features use a newer version.
    hooks.on(ApiVersionsRequest, versions=(0, 0)).watch(lambda seen: asked.append(seen.at_ms))
    hooks.on(DescribeMirrorsRequest).watch(lambda seen: described.append(seen.at_ms))
    p.simulation.run_for(span_s=4 * REFRESH_S)
    assert 3 <= len(asked) <= 4 and not described
    set_level(p.a, 1)
    mp = p.b.mirror_partition()
    assert mp is not None and mp.lineage_is_assumed
    p.simulation.run_for(span_s=REFRESH_S + 1)
    assert len(described) == 1 and not mp.lineage_is_assumed, "in the same leader epoch"
    p.a.write("r1")
    assert_equal(p.there)
    asked.clear()
    p.simulation.run_for(span_s=4 * REFRESH_S)
    assert (len(asked), len(described)) == (0, 1)


def test_nothing_is_fetched_before_an_upgraded_source_returns_its_lineage() -> None:
    p, hooks = two(0, plain(0, 0, "r0"))
    p.begin()
    hooks.on(DescribeMirrorsRequest).drop()
    set_level(p.a, 1)
    p.simulation.run_for(span_s=2 * REFRESH_S)
    fetched: list[object] = []
    hooks.on(FetchRequest).watch(lambda seen: fetched.append(seen.body))
    p.a.write("r1")
    p.hold(REFRESH_S, lambda: p.b.log().log_end_offset == 1 and not fetched, "it waits for the lineage")
    hooks.clear()
    assert_equal(p.there)


# -- from 1 to 0 ------------------------------------------------------------------------------


@pytest.mark.parametrize("ends_at", [0, 1])
def test_a_source_whose_level_falls_is_still_mirrored(ends_at: int) -> None:
    p, _ = two(1, plain(0, 0, "r0"))
    p.begin()
    set_level(p.a, 0)
    p.a.write("r1")
    p.run_until(lambda: p.b.log().log_end_offset == 2, "what was written at level 0", within_s=5)
    set_level(p.a, ends_at)
    p.a.write("r2")
    begin_epoch(p.a)
    p.a.write("r3")
    assert_equal(p.there)


def test_a_paused_mirror_is_resumed_from_a_source_whose_level_fell() -> None:
    p, _ = two(1, plain(0, 0, "r0"))
    p.begin()
    p.there.pause([TOPIC])
    p.run_until(lambda: p.b.state() == "PAUSED", "PAUSED")
    set_level(p.a, 0)
    p.a.write("r1")
    p.there.resume([TOPIC])
    assert_equal(p.there)


def test_clients_continue_at_a_cluster_whose_level_falls() -> None:
    p, _ = two(1, plain(0, 0, "r0"))
    consumer, producer = Consumer(p.a, TOPIC), Producer(p.a, transactional_id="q")

    def commit(value: str) -> None:
        producer.begin_transaction()
        producer.send(records(value))
        producer.commit_transaction()

    commit("r1")
    assert [record.value for record in consumer] == [b"r0", b"r1"]
    set_level(p.a, 0)
    commit("r2")
    assert [record.value for record in consumer] == [b"r2"]
    assert consumer.end_offsets([TP])[TP] == p.a.log().last_stable_offset
