"""Clusters that are ordered to mirror one topic in a ring: none truncates for it, and each gives a reason to wait."""

from __future__ import annotations

import pytest

from kmirror.hooks.hooks import Hooks
from kmirror.mirror import source_lineage
from kmirror.mirror.preparing import Preparing
from kmirror.mirror.repeated_cuts import CUTS_MAX
from kmirror.protocol.gen.describe_mirrors_request import DescribeMirrorsRequest
from kmirror.sim.mirror import Mirror
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType
from tests.sim.stage import (
    ONE_BROKER,
    TOPIC,
    Pair,
    StagedCluster,
    WrittenLogs,
    assert_equal,
    pair,
    plain,
    values,
    wait_until_mirrored,
    wait_until_stopped,
)

LOGS = {TOPIC: [plain(0, 0, "r0", "r1")]}
KEPT = [(0, "r0"), (1, "r1")]


def of_three(logs: dict[str, list[bytes]] | None = None) -> tuple[Pair, StagedCluster]:
    """Return clusters a, b and c of one broker each; `logs` are those of all three, by default those of a alone."""
    written = WrittenLogs(LOGS if logs is None else logs)
    p = pair(logs=written, b_logs=None if logs is None else written, brokers=1)
    return p, p.third(brokers=1, logs=None if logs is None else written)


def link(source: StagedCluster, destination: StagedCluster) -> Mirror:
    """Create a mirror with a unique name, and add the topic to it."""
    mirror = Mirror(f"{source.name}-to-{destination.name}", source=source, destination=destination)
    mirror.create()
    mirror.add_topics([TOPIC])
    return mirror


def ring(*clusters: StagedCluster) -> str:
    return f"in a ring, {' from '.join(cluster.cluster_id for cluster in clusters)}:"


@pytest.mark.decision("D58")
def test_the_link_that_would_close_a_ring_waits_and_names_it() -> None:
    p, c = of_three()
    to_b = link(p.a, p.b)
    wait_until_mirrored(to_b)
    to_c = link(p.b, c)
    wait_until_mirrored(to_c)
    p.a.write("the last")
    back = link(c, p.a)
    p.run_until(lambda: ring(p.a, c, p.b, p.a) in p.a.reason(), "the reason")
    kept = [*KEPT, (2, "the last")]
    p.hold(30, lambda: p.a.state() == "PREPARING" and values(p.a.log()) == kept, "nothing is cut")
    assert_equal(to_b)
    assert_equal(to_c)
    p.b.kill(1)
    p.b.restart(1)
    p.hold(20, lambda: p.a.log().log_end_offset == 3, "a new leader between does not know at once what it mirrors")
    p.hold(5, lambda: "in a ring" not in p.b.reason() + c.reason(), "those between go on")
    assert p.b.state() == c.state() == "MIRRORING"
    to_b.remove_topics([TOPIC])
    wait_until_stopped(to_b)
    p.b.write("from b")
    assert_equal(to_c)
    assert_equal(back)
    assert [value for _, value in values(p.a.log())] == ["r0", "r1", "the last", "from b"]


@pytest.mark.decision("D58")
def test_two_clusters_under_two_names_close_a_ring_too() -> None:
    p, _ = of_three()
    there = link(p.a, p.b)
    wait_until_mirrored(there)
    link(p.b, p.a)
    p.run_until(lambda: ring(p.a, p.b, p.a) in p.a.reason(), "the reason")
    p.hold(20, lambda: values(p.a.log()) == KEPT, "nothing is cut")


@pytest.mark.decision("D58")
def test_a_link_that_is_paused_is_one_as_well() -> None:
    """It can continue, so its copied records are its source's."""
    p, c = of_three()
    to_b = link(p.a, p.b)
    wait_until_mirrored(to_b)
    wait_until_mirrored(link(p.b, c))
    to_b.pause([TOPIC])
    p.run_until(lambda: p.b.state() == "PAUSED", "PAUSED")
    link(c, p.a)
    p.run_until(lambda: ring(p.a, c, p.b, p.a) in p.a.reason(), "the reason")
    p.hold(20, lambda: values(p.a.log()) == KEPT, "nothing is cut")


@pytest.mark.decision("D58")
def test_no_link_of_a_new_ring_truncates() -> None:
    p, c = of_three(LOGS)
    p.b.write("of b alone")
    c.write("of c alone")
    mirrors = [link(p.a, p.b), link(p.b, c), link(c, p.a)]
    p.run_until(lambda: all("in a ring" in x.reason() for x in (p.a, p.b, c)), "the reason in each of them")
    p.hold(20, lambda: p.cuts == [], "no cluster is cut")
    p.simulation.line(p.a, c).take_down()
    p.a.kill(1)
    p.a.restart(1)
    p.hold(20, lambda: p.cuts == [], "a new leader counts as mirrored before it hears from its source")
    p.simulation.line(p.a, c).bring_up()
    mirrors[0].remove_topics([TOPIC])
    wait_until_stopped(mirrors[0])
    assert_equal(mirrors[1])
    assert_equal(mirrors[2])
    assert [value for _, value in values(p.a.log())] == ["r0", "r1", "of b alone"]


@pytest.mark.decision("D58")
@pytest.mark.parametrize("closes", [True, False], ids=["ring", "chain"])
def test_earlier_responses_of_a_source_are_no_reason_to_truncate(closes: bool) -> None:
    """While c cannot reach b, b may have begun to mirror a."""
    p, c = of_three(LOGS)
    c_from_b = link(p.b, c)
    wait_until_mirrored(c_from_b)
    p.simulation.line(p.b, c).take_down()
    if closes:
        wait_until_mirrored(link(p.a, p.b))
    p.a.write("of a alone")
    back = link(c, p.a)
    p.run_until(lambda: f"has the topic from cluster {p.b.cluster_id}" in p.a.reason(), "the reason")
    p.hold(20, lambda: p.a.log().log_end_offset == 3, "nothing is cut for what may be a ring")
    p.simulation.line(p.b, c).bring_up()
    if closes:
        p.run_until(lambda: ring(p.a, c, p.b, p.a) in p.a.reason(), "the reason")
        p.hold(20, lambda: p.a.log().log_end_offset == 3, "nothing is cut")
    else:
        assert_equal(back)
        assert values(p.a.log()) == KEPT


@pytest.mark.decision("D58")
def test_a_ring_closed_during_a_repeated_request_is_no_reason_to_truncate() -> None:
    """In the first description nothing is mirrored there; only the second one contains the other mirror."""
    hooks = Hooks()
    simulation = Simulation(0)
    a = StagedCluster(
        simulation, "a", brokers=1, replication_factor=1, configs=ONE_BROKER, logs=WrittenLogs(LOGS), interpose=hooks
    )
    b = StagedCluster(simulation, "b", brokers=1, replication_factor=1, configs=ONE_BROKER)
    a.start()
    b.start()
    p = Pair(simulation, a, b)
    p.begin()
    p.fail_over()
    p.b.write("of b alone")
    held = hooks.on(DescribeMirrorsRequest, nth=2).hold()
    p.there.add_topics([TOPIC])
    p.run_until(lambda: bool(held.requests), "the source to be asked again")
    link(p.b, p.a)
    p.run_until(lambda: ring(p.a, p.b, p.a) in p.a.reason(), "the other mirror to see the ring")
    held.release()
    p.run_until(lambda: ring(p.b, p.a, p.b) in p.b.reason(), "this one to see it too")
    p.hold(10, lambda: values(p.b.log())[-1][1] == "of b alone", "nothing is cut")


@pytest.mark.decision("D58")
def test_a_mirror_that_never_reached_its_source_blocks_no_mirror_of_its_log() -> None:
    p, c = of_three(LOGS)
    p.simulation.line(p.a, p.b).take_down()
    link(p.a, p.b)
    p.run_until(lambda: "no response from the source" in p.b.reason(), "the reason")
    assert_equal(link(p.b, c))


@pytest.mark.decision("D58")
def test_a_mirror_that_finds_another_cluster_is_still_a_link() -> None:
    """It continues when its own source is back (D16)."""
    p, c = of_three()
    wait_until_mirrored(link(p.a, p.b))
    to_c = link(p.b, c)
    wait_until_mirrored(to_c)
    d = p.third("d", brokers=1, logs=WrittenLogs(LOGS))
    assert c.alter(to_c.name, {"bootstrap.servers": d.bootstrap_servers}, kind=ResourceType.MIRROR) is ErrorCode.NONE
    p.run_until(lambda: d.cluster_id in c.reason(), "another cluster")
    link(c, p.a)
    p.run_until(lambda: ring(p.a, c, p.b, p.a) in p.a.reason(), "the reason")
    p.hold(20, lambda: values(p.a.log()) == KEPT, "nothing is cut")


@pytest.mark.decision("D58")
def test_a_closed_ring_stops_until_it_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    p, c = of_three()
    to_b = link(p.a, p.b)
    wait_until_mirrored(to_b)
    to_c = link(p.b, c)
    wait_until_mirrored(to_c)
    with monkeypatch.context() as patch:
        patch.setattr(Preparing, "_ring_reason", lambda self, now, mp: "")
        link(c, p.a)
        p.run_until(lambda: p.a.state() == "MIRRORING", "the ring")
    for cluster in (p.b, c):
        cluster.kill(1)
        cluster.restart(1)
    p.run_until(lambda: all("in a ring" in x.reason() for x in (p.a, p.b, c)), "the reason in each of them")
    to_b.remove_topics([TOPIC])
    wait_until_stopped(to_b)
    p.b.write("from b")
    assert_equal(to_c)
    p.run_until(lambda: values(p.a.log()) == values(p.b.log()), "the records of b")


@pytest.mark.decision("D58")
def test_a_closed_ring_is_noticed_by_requests_between_its_mirrors(monkeypatch: pytest.MonkeyPatch) -> None:
    p, c = of_three()
    wait_until_mirrored(link(p.a, p.b))
    wait_until_mirrored(link(p.b, c))
    with monkeypatch.context() as patch:
        patch.setattr(Preparing, "_ring_reason", lambda self, now, mp: "")
        wait_until_mirrored(link(c, p.a))
    p.run_until(lambda: all("in a ring" in x.reason() for x in (p.a, p.b, c)), "the reason in each of them")
    fetched_by = [mp.fetcher for x in (p.a, p.b, c) if (mp := x.mirror_partition()) is not None]
    assert fetched_by == [None, None, None], "nothing is fetched"


@pytest.mark.decision("D58")
def test_an_empty_log_does_not_wait_for_a_dead_cluster() -> None:
    p, c = of_three()
    wait_until_mirrored(link(p.a, p.b))
    to_c = link(p.b, c)
    wait_until_mirrored(to_c)
    p.b.kill(1)
    c.kill(1)
    c.restart(1)
    d = p.third("d", brokers=1)
    to_d = link(c, d)
    p.run_until(lambda: f"has the topic from cluster {p.b.cluster_id}" in d.reason(), "the reason")
    p.hold(5, lambda: d.state() == "PREPARING", "it waits a while")
    wait_until_mirrored(to_d)
    assert values(d.log()) == KEPT


def spinning(monkeypatch: pytest.MonkeyPatch) -> tuple[Pair, StagedCluster, Mirror]:
    """Return three clusters in a ring that was closed after a failover, and not prevented; and the mirror of b."""
    monkeypatch.setattr(Preparing, "_ring_reason", lambda self, now, mp: "")
    monkeypatch.setattr(source_lineage, "ring_of", lambda context, mp: ())
    p, c = of_three()
    there = link(p.a, p.b)
    wait_until_mirrored(there)
    to_c = link(p.b, c)
    wait_until_mirrored(to_c)
    there.remove_topics([TOPIC])
    wait_until_stopped(there)
    p.b.write("from b")
    assert_equal(to_c)
    assert_equal(link(c, p.a))
    there.add_topics([TOPIC])
    return p, c, there


@pytest.mark.decision("D59")
def test_a_repeatedly_truncated_log_is_not_truncated_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    p, c, there = spinning(monkeypatch)
    p.run_until(lambda: any("never passed offset" in x.reason() for x in (p.a, p.b, c)), "the reason")
    p.simulation.run_for(span_s=10)
    cuts = len(p.cuts)
    assert CUTS_MAX <= cuts <= 3 * CUTS_MAX + 5
    barred = next(x for x in (p.a, p.b, c) if "never passed offset" in x.reason())
    barred.alter(TOPIC, {"flush.messages": "9999"})
    p.hold(10, lambda: "never passed offset" in barred.reason(), "whatever has it looked at")
    p.hold(60, lambda: len(p.cuts) == cuts, "nothing is cut any more")
    there.remove_topics([TOPIC])
    wait_until_stopped(there)
    p.b.write("from b again")
    p.run_until(lambda: values(p.a.log()) == values(c.log()) == values(p.b.log()), "the ring is open, all go on")
