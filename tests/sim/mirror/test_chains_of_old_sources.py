"""Mirrors of a mirror of a source without topic ids: the topic that they have copied (D53)."""

from __future__ import annotations

import pytest

from kmirror.records.record import RecordData
from kmirror.sim.mirror import Mirror
from kmirror.sim.producer import Producer
from kmirror.spec.error_codes import ErrorCode
from tests.sim.cluster.test_log_lifecycle import BY_KEY
from tests.sim.mirror.test_old_sources import OldMirror, OldPair, old_pair, recreate
from tests.sim.stage import (
    TOPIC,
    TP,
    StagedCluster,
    WrittenLogs,
    assert_equal,
    plain,
    settle,
    wait_until_mirrored,
    wait_until_stopped,
)

pytestmark = pytest.mark.decision("D53")

FORMER = WrittenLogs({TOPIC: [plain(0, 0, "r0", "r1", "r2")]})
LATER = ("o0", "o1", "o2", "o3", "o4", "o5", "o6", "o7")
"""Another topic of this name: its log is longer than the former one's, in the same leader epoch."""


def mirror_of(source: StagedCluster, destination: StagedCluster, name: str) -> Mirror:
    mirror = Mirror(name, source=source, destination=destination)
    mirror.create()
    mirror.add_topics([TOPIC])
    wait_until_mirrored(mirror)
    return mirror


def chain() -> tuple[OldPair, StagedCluster, Mirror]:
    """Return a, an old source, which b mirrors, which c mirrors."""
    p = old_pair(logs=FORMER)
    p.begin()
    c = p.third()
    return p, c, mirror_of(p.b, c, "m2")


def delete_at_b(p: OldPair) -> None:
    assert p.b.delete(TOPIC) == [ErrorCode.NONE]


def copy_the_later_one(p: OldPair, *, deleted: bool, compacted: bool = False, upgraded: bool = False) -> None:
    """Let b copy another topic of the name; before that its former one is deleted here too, or stays.

    If the source is upgraded, this is after b's topic has been created, without an id of the source's.
    """
    p.fail_over()
    if deleted:
        delete_at_b(p)
    recreate(p)
    p.hooks.clear()
    if compacted:
        p.a.alter(TOPIC, BY_KEY)
    p.hooks.play("2.1")
    for value in LATER:
        Producer(p.a).send({TP: [RecordData(key=value.encode(), value=value.encode())]})
    p.there.add_topics([TOPIC])
    if upgraded:
        p.run_until(lambda: TOPIC in p.b.image.topics, "a topic at b")
        p.hooks.clear()
    wait_until_mirrored(p.there)


def assert_copied(*mirrors: Mirror) -> None:
    """Every replica of the chain has the source's records, and none of the former topic."""
    for mirror in mirrors:
        assert_equal(mirror)


@pytest.mark.parametrize("deleted", [False, True])
@pytest.mark.parametrize("how", ["", "compacted", "upgraded"])
def test_a_mirror_that_was_removed_in_between_copies_the_later_topic(deleted: bool, how: str) -> None:
    p, _, onward = chain()
    onward.remove_topics([TOPIC])
    wait_until_stopped(onward)
    copy_the_later_one(p, deleted=deleted, compacted=how == "compacted", upgraded=how == "upgraded")
    onward.add_topics([TOPIC])
    assert_copied(p.there, onward)


@pytest.mark.parametrize("away", [False, True])
@pytest.mark.parametrize("deleted", [False, True])
def test_a_chain_of_four_copies_the_later_topic(away: bool, deleted: bool) -> None:
    p, c, onward = chain()
    d = p.third("d")
    last = mirror_of(c, d, "m3")
    if away:
        p.simulation.line(p.b, c).take_down()
    copy_the_later_one(p, deleted=deleted)
    if away:
        p.simulation.line(p.b, c).bring_up()
    assert_copied(p.there, onward, last)


def test_leaders_that_change_do_not_forget_which_copy_it_is() -> None:
    p, c, onward = chain()
    p.fail_over()
    delete_at_b(p)
    recreate(p, *LATER)
    p.simulation.line(p.b, c).take_down()
    p.there.add_topics([TOPIC])
    wait_until_mirrored(p.there)
    for cluster in (p.b, c):
        cluster.restart(cluster.elect())
        settle(cluster)
    p.simulation.line(p.b, c).bring_up()
    assert_copied(p.there, onward)
    before = p.cuts_of(p.b), p.cuts_of(c)
    for cluster in (p.b, c):
        cluster.restart(cluster.elect())
        settle(cluster)
    p.a.write("more")
    assert_copied(p.there, onward)
    assert (p.cuts_of(p.b), p.cuts_of(c)) == before, "it is one copy"


def test_two_mirrors_of_the_source_may_have_copies_of_two_topics() -> None:
    p = old_pair(logs=FORMER)
    p.begin()
    c = p.third()
    other = OldMirror("o", source=p.a, destination=c)
    other.create()
    other.add_topics([TOPIC])
    wait_until_mirrored(other)
    other.remove_topics([TOPIC])
    wait_until_stopped(other)
    copy_the_later_one(p, deleted=True)
    again = mirror_of(p.b, c, "p")
    assert_copied(p.there, again)


def test_a_failback_within_the_chain_copies_new_records() -> None:
    p, c, onward = chain()
    p.fail_over()
    onward.remove_topics([TOPIC])
    wait_until_stopped(onward)
    p.b.write("never mirrored")
    c.write("at the new place")
    back = Mirror("m2", source=c, destination=p.b)
    back.create()
    back.add_topics([TOPIC])
    assert_equal(back)
    assert p.cuts_of(p.b)[0][0] > 0
    back.remove_topics([TOPIC])
    wait_until_stopped(back)
    p.b.write("and back")
    before = len(p.cuts_of(c))
    onward.add_topics([TOPIC])
    assert_equal(onward)
    assert all(offset > 0 for offset, _ in p.cuts_of(c)[before:])


@pytest.mark.parametrize("release", ["3.9", ""])
def test_nothing_is_copied_again_when_the_source_is_upgraded(release: str) -> None:
    p, c, onward = chain()
    p.hooks.clear()
    if release:
        p.hooks.play(release)
    for broker_id in p.a.broker_ids:
        p.a.kill(broker_id)
        p.a.restart(broker_id)
        p.a.settle()
    for cluster in (p.b, c):
        cluster.restart(cluster.elect())
        settle(cluster)
    p.a.write("after the upgrade")
    assert_copied(p.there, onward)
    assert p.cuts_of(p.b) == p.cuts_of(c) == []


def test_a_mirror_that_follows_a_failback_to_the_upgraded_source() -> None:
    p, _, onward = chain()
    p.fail_over()
    p.b.write("at the new place")
    p.hooks.clear()
    p.fail_back()
    wait_until_mirrored(onward)
    p.fail_over(p.back)
    p.a.write("at the old one")
    before = len(p.cuts_of(p.b))
    p.there.add_topics([TOPIC])
    assert_copied(p.there, onward)
    assert all(offset > 0 for offset, _ in p.cuts_of(p.b)[before:]), "it was mirrored from here"
