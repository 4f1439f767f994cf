"""Logs with the same epoch numbers for records of different clusters (D45)."""

from __future__ import annotations

import pytest

from kmirror.mirror.source_query import SourceQuery
from kmirror.sim.mirror import Mirror
from tests.sim.stage import (
    TOPIC,
    TP,
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

LOGS = {TOPIC: [plain(0, 0, "r0"), plain(1, 0, "r1")]}

pytestmark = pytest.mark.decision("D45")


def both_in_one_epoch() -> Pair:
    """Cluster b has failed over; a continues in an epoch of the same number."""
    p = pair(logs=WrittenLogs(LOGS))
    p.begin()
    p.fail_over()
    p.a.bump(p.b.await_leader().leader_epoch)
    for number in range(3):
        p.a.write(f"a{number}")
    assert p.b.await_leader().leader_epoch == p.a.await_leader().leader_epoch
    return p


def mirror_of(source: StagedCluster, destination: StagedCluster, name: str = "m") -> Mirror:
    mirror = Mirror(name, source=source, destination=destination)
    mirror.create()
    mirror.add_topics([TOPIC])
    return mirror


def mirrored_by_a_third() -> tuple[Pair, StagedCluster, Mirror]:
    """Return both clusters, a third one that has mirrored all of a's log, and that mirror."""
    p = both_in_one_epoch()
    c = p.third()
    other = mirror_of(p.a, c)
    assert_equal(other)
    return p, c, other


def values_of(cluster: StagedCluster) -> list[str]:
    return [value for _, value in values(cluster.log())]


def test_a_mirror_follows_a_source_that_was_overwritten_in_the_meantime() -> None:
    p, c, other = mirrored_by_a_third()
    p.simulation.line(p.a, c).take_down()
    for number in range(6):
        p.b.write(f"b{number}")
    p.fail_back()
    assert p.a.log().log_end_offset > c.log().log_end_offset, "c's last epoch and offset are a's as well"
    p.simulation.line(p.a, c).bring_up()
    p.run_until(lambda: values_of(c)[-1:] == ["b5"], "c to follow a")
    assert_equal(other)


def test_a_replica_of_the_mirror_that_was_away() -> None:
    p, c, other = mirrored_by_a_third()
    follower = next(b for b in c.broker_ids if b != c.await_leader().broker_id)
    c.kill(follower)
    p.run_until(lambda: follower not in c.await_leader().isr, "the follower out of the ISR")
    p.fail_back()
    for number in range(6):
        p.b.write(f"b{number}")
    p.run_until(lambda: values_of(c)[-1:] == ["b5"], "c to follow a")
    c.restart(follower)
    assert_equal(other)


def test_a_mirror_that_was_stopped_and_is_added_again() -> None:
    """The epoch that it settled is of records that the source does not have any more."""
    p = both_in_one_epoch()
    c = p.third()
    other = mirror_of(p.a, c)
    wait_until_mirrored(other)
    other.remove_topics([TOPIC])
    wait_until_stopped(other)
    for number in range(6):
        p.b.write(f"b{number}")
    p.fail_back()
    other.add_topics([TOPIC])
    assert_equal(other)
    assert "a0" not in values_of(c)


def test_a_failback_from_a_mirror_of_deleted_records() -> None:
    """Cluster c settled an epoch of a's; since then a was overwritten by b, and moves to another mirror."""
    p = both_in_one_epoch()
    c = p.third()
    other = mirror_of(p.a, c, "m2")
    wait_until_mirrored(other)
    other.remove_topics([TOPIC])
    wait_until_stopped(other)
    c.write("c0")
    p.fail_back()
    p.back.remove_topics([TOPIC])
    wait_until_stopped(p.back)
    back = mirror_of(c, p.a, "m2")
    assert_equal(back)


def test_a_chain_follows_its_source_down() -> None:
    p = both_in_one_epoch()
    c, d = p.third(), p.third("d")
    other, last = mirror_of(p.a, c), mirror_of(c, d)
    assert_equal(other)
    assert_equal(last)
    p.simulation.line(c, d).take_down()
    for number in range(6):
        p.b.write(f"b{number}")
    p.fail_back()
    p.run_until(lambda: values_of(c)[-1:] == ["b5"], "c to follow a")
    p.simulation.line(c, d).bring_up()
    p.run_until(lambda: values_of(d)[-1:] == ["b5"], "d to follow c")
    assert_equal(other)
    assert_equal(last)


def test_a_leader_that_dies_while_it_adopts_the_lineage() -> None:
    """The list of uncut replicas is persisted before the truncation, so the next leader continues with it."""
    p, c, other = mirrored_by_a_third()
    first = c.await_leader().broker_id
    p.back.create()
    p.back.add_topics([TOPIC])
    p.run_until(lambda: first in c.persisted().uncut, "c to know that its log is to be cut")
    c.kill(first)
    for number in range(6):
        p.b.write(f"b{number}")
    p.run_until(lambda: c.leader(TP) is not None and values_of(c)[-1:] == ["b5"], "another leader of c to follow")
    c.restart(first)
    assert_equal(other)


def test_a_mirror_waits_for_a_source_that_cannot_return_its_lineage_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    p = pair(logs=WrittenLogs(LOGS))
    asked: list[str] = []
    learn = SourceQuery.record_lineage
    monkeypatch.setattr(SourceQuery, "record_lineage", lambda self, reply: asked.append("") or "the source says: later")
    p.there.create()
    p.there.add_topics([TOPIC])
    p.run_until(lambda: p.b.state() == "PREPARING" and "later" in p.b.reason(), "B to wait and say why")
    p.hold(10, lambda: p.b.state() == "PREPARING", "B waits")
    monkeypatch.setattr(SourceQuery, "record_lineage", learn)
    assert_equal(p.there)
    assert len(asked) > 3
