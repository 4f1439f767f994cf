"""A mirror copies a compacted log from scratch: its own mirrors follow the new copy (D69)."""

from __future__ import annotations

import pytest

from kmirror.records.record import RecordData
from kmirror.sim.mirror import Mirror
from kmirror.sim.producer import Producer
from kmirror.spec.error_codes import ErrorCode
from tests.sim.cluster.test_log_lifecycle import BY_KEY, keys_of, write_keys
from tests.sim.mirror.test_compacted_failbacks import NO_CLEANER, STAY_MS, clean, logs_of
from tests.sim.stage import ONE_BATCH, TOPIC, TP, Pair, StagedCluster, pair, wait_until_mirrored

pytestmark = pytest.mark.decision("D69")


def mirror_of(source: StagedCluster, destination: StagedCluster, name: str) -> Mirror:
    mirror = Mirror(name, source=source, destination=destination)
    mirror.create()
    mirror.add_topics([TOPIC])
    wait_until_mirrored(mirror)
    return mirror


def chain(brokers: int = 1) -> tuple[Pair, StagedCluster]:
    """Return a, mirrored by b, mirrored by c; a key was deleted at a while b was paused, and its tombstone is gone."""
    p = pair(brokers=brokers, a_configs=NO_CLEANER, b_configs={**NO_CLEANER, **ONE_BATCH})
    p.a.place_topic(TOPIC, replicas=[[*p.a.broker_ids]])
    p.a.alter(TOPIC, {**BY_KEY, "delete.retention.ms": str(STAY_MS)})
    write_keys(p.a, *"abcd")
    p.begin()
    c = p.third(brokers=brokers)
    mirror_of(p.b, c, "m2")
    p.there.pause([TOPIC])
    p.run_until(lambda: p.b.state() == "PAUSED", "the pause")
    Producer(p.a).send({TP: [RecordData(key=b"a", value=None)]})
    write_keys(p.a, "e")
    clean(*logs_of(p.a))
    p.simulation.run_for(span_s=30)
    write_keys(p.a, *"fgh")
    clean(*logs_of(p.a))
    return p, c


def copied_in_part(p: Pair, c: StagedCluster) -> None:
    """Let b copy a part of a's log again, and c all of that part."""
    p.simulation.line(p.b, c).take_down()
    p.there.resume([TOPIC])
    p.run_until(lambda: p.b.log().log_end_offset == 2, "a part")
    p.simulation.line(p.a, p.b).take_down()
    p.simulation.line(p.b, c).bring_up()


def assert_followed(p: Pair, *clusters: StagedCluster) -> None:
    end = p.a.log().log_end_offset
    p.run_until(lambda: all(each.log().high_watermark == end for each in (p.b, *clusters)), "the copies")
    for cluster in (p.b, *clusters):
        cluster.settle()
        assert all(keys_of(log) == keys_of(p.a.log()) for log in logs_of(cluster))
    assert b"a" not in keys_of(p.a.log())


def test_a_mirror_in_step_with_every_part_of_the_new_copy() -> None:
    p, c = chain()
    d = p.third("d", brokers=1)
    mirror_of(c, d, "m3")
    copied_in_part(p, c)
    p.run_until(lambda: c.log().log_end_offset == d.log().log_end_offset == 2, "the part")
    p.simulation.line(p.a, p.b).bring_up()
    assert_followed(p, c, d)
    assert p.cuts_of(p.b) == p.cuts_of(c) == p.cuts_of(d) == [(0, 4)]


def test_a_mirror_that_was_offline_until_the_new_copy_was_longer() -> None:
    p, c = chain()
    p.simulation.line(p.b, c).take_down()
    p.there.resume([TOPIC])
    p.run_until(lambda: p.b.log().log_end_offset == p.a.log().log_end_offset, "the copy")
    p.simulation.line(p.b, c).bring_up()
    assert_followed(p, c)
    assert p.cuts_of(c) == [(0, 4)]
    assert {cut.why for _, cut in p.cuts} == {"a cut to epoch -1 of every replica"}, "it has missed none"


@pytest.mark.parametrize("dies", ["b", "c"])
def test_leaders_that_die_between_truncation_and_copy(dies: str) -> None:
    p, c = chain(brokers=3)
    cluster = p.b if dies == "b" else c
    first = cluster.await_leader().broker_id
    p.there.resume([TOPIC])
    p.run_until(lambda: bool(p.cuts_of(cluster)), "the cut")
    cluster.kill(first)
    p.run_until(lambda: (found := cluster.leader(TP)) is not None and found.broker_id != first, "another leader")
    cluster.restart(first)
    assert_followed(p, c)


def test_a_failback_from_a_mirror_that_had_copied_again_is_incremental() -> None:
    p, _ = chain()
    p.there.resume([TOPIC])
    p.run_until(lambda: p.b.log().log_end_offset == p.a.log().log_end_offset, "the copy")
    p.fail_over()
    write_keys(p.b, "b")
    p.fail_back()
    assert p.cuts_of(p.a) == []
    assert keys_of(p.a.log()) == keys_of(p.b.log())


@pytest.mark.parametrize("compacted", [True, False])
def test_a_copy_that_another_mirror_begins_with_counts_for_a_compacted_log(compacted: bool) -> None:
    """Without compaction every copy is the same."""
    p = pair(brokers=1)
    p.a.place_topic(TOPIC, replicas=[[*p.a.broker_ids]])
    p.a.alter(TOPIC, BY_KEY if compacted else {})
    write_keys(p.a, *"ab")
    p.begin()
    c = p.third(brokers=1)
    mirror_of(p.b, c, "m2")
    p.simulation.line(p.b, c).take_down()
    p.fail_over()
    p.there.delete()
    mirror_of(p.a, p.b, "m3")
    p.simulation.line(p.b, c).bring_up()
    write_keys(p.a, "c")
    p.run_until(lambda: c.log().log_end_offset == 3, "the rest")
    assert p.cuts_of(p.b) == [(0, 3)]
    assert p.cuts_of(c) == ([(0, 2)] if compacted else [])


@pytest.mark.parametrize("away", [False, True])
def test_a_mirror_whose_topic_was_deleted_and_created_again_with_its_id(away: bool) -> None:
    p, c = chain()
    p.fail_over()
    p.run_until(lambda: c.log().log_end_offset == p.b.log().log_end_offset, "all of b")
    if away:
        p.simulation.line(p.b, c).take_down()
    assert p.b.delete(TOPIC) == [ErrorCode.NONE]
    p.there.add_topics([TOPIC])
    wait_until_mirrored(p.there)
    p.simulation.line(p.b, c).bring_up()
    assert_followed(p, c)
