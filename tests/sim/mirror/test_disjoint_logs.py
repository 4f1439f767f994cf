"""Logs that diverge below the destination's log start: nothing is common, so it begins where the source does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.failback import FailbackFacts, LogOutline, failback_cut
from kmirror.sim.simulation import Simulation
from tests.builders import marker
from tests.sim.mirror.test_exactly_once import stop_after
from tests.sim.mirror.test_known_losses import ONE
from tests.sim.mirror.test_lineage import mirrored_by_a_third, values_of
from tests.sim.mirror.test_old_sources import old_pair
from tests.sim.mirror.test_unclean_election import make, only
from tests.sim.stage import (
    TOPIC,
    TP,
    Pair,
    StagedCluster,
    WrittenLogs,
    assert_equal,
    pair,
    plain,
    settle,
    transactional,
    values,
)

UNCLEAN = {"unclean.leader.election.enable": "true", "min.insync.replicas": "1"}


def delete_everything(p: Pair, cluster: StagedCluster) -> None:
    """Let the cluster's own retention delete all records of every replica."""
    logs = logs_of(cluster)
    p.run_until(lambda: all(log.high_watermark == log.log_end_offset for log in logs), "all of them to know all of it")
    for log in logs:
        log.advance_log_start(log.log_end_offset)
    assert not any(values(log) for log in logs)


def logs_of(cluster: StagedCluster) -> list[PartitionLog]:
    return [found.log for found in cluster.replicas(TP).values()]


def start_of(log: PartitionLog) -> tuple[int, list[tuple[int, str]]]:
    return log.log_start_offset, values(log)


def failed_over(seed: int, *, a_writes: int) -> Pair:
    """Return B with two records of A's, a producer reset and three own records; A wrote in the meantime."""
    p = pair(seed)
    p.a.place_topic()
    for text in ("r0", "r1"):
        p.a.write(text)
    p.begin()
    p.fail_over()
    for number in range(3):
        p.b.write(f"b{number}")
    for number in range(a_writes):
        p.a.write(f"a{number}")
    return p


@pytest.mark.decision("D56")
@pytest.mark.parametrize("a_writes", [1, 9], ids=["the source ends above our start", "the source ends below it"])
def test_a_log_emptied_by_retention_starts_where_the_source_starts(a_writes: int) -> None:
    """The common records were deleted by A's own retention, and B's new records are below A's log start."""
    p = failed_over(4, a_writes=a_writes)
    delete_everything(p, p.a)
    p.fail_back()
    assert_equal(p.back)
    for log in logs_of(p.a):
        assert start_of(log) == start_of(p.b.log())


@pytest.mark.decision("D56")
def test_a_returning_replica_has_the_same_start() -> None:
    p = failed_over(5, a_writes=9)
    settle(p.a)
    away = next(broker_id for broker_id in p.a.broker_ids if broker_id != p.a.await_leader().broker_id)
    p.a.kill(away)
    delete_everything(p, p.a)
    p.back.create()
    p.back.add_topics([TOPIC])
    p.run_until(lambda: values(p.a.log()) == values(p.b.log()), "A to have what B has")
    p.a.restart(away)
    assert_equal(p.back)
    for log in logs_of(p.a):
        assert start_of(log) == start_of(p.b.log())


@pytest.mark.decision("D56")
@pytest.mark.parametrize("a_writes", [1, 9])
def test_a_log_emptied_by_both_retentions_continues_at_its_sources_end(a_writes: int) -> None:
    p = failed_over(6, a_writes=a_writes)
    delete_everything(p, p.a)
    delete_everything(p, p.b)
    end = p.b.log().log_end_offset
    p.fail_back()
    p.b.write("next")
    assert_equal(p.back)
    assert [start_of(log) for log in logs_of(p.a)] == [(end, [(end, "next")])] * 3


@pytest.mark.decision("D56")
def test_records_below_the_source_start_leave_no_transaction_open() -> None:
    """The logs diverge at B's start: of A's transaction the truncation removes the marker, the log start the rest.

    A replica that was down truncates only when its leader has records again.
    """
    log = [
        plain(0, 0, "both"),
        transactional(1, 0, ONE, "a alone"),
        *(plain(offset, 0, f"a{offset}") for offset in range(2, 5)),
        marker(offset=5, epoch=0, pid=ONE, commit=True, timestamp=Simulation().now_ms),  # Otherwise it would expire.
    ]
    p = stop_after(1, log)
    p.b.write("b0")
    p.b.write("b1")
    settle(p.b)
    delete_everything(p, p.b)
    assert p.b.log().log_start_offset == 4
    p.b.write("b2")
    away = next(broker_id for broker_id in p.a.broker_ids if broker_id != p.a.await_leader().broker_id)
    p.a.kill(away)
    p.simulation.line(p.a, p.b).bring_up()
    p.fail_back()
    p.run_until(lambda: values(p.a.log()) == [(4, "b2")], "A to have what B has")
    p.a.restart(away)
    assert_equal(p.back)
    for found in logs_of(p.a):
        assert start_of(found) == (4, [(4, "b2")])
        assert dict(found.producers.ongoing) == {} and found.last_stable_offset == found.high_watermark


@pytest.mark.decision("D45")
@pytest.mark.decision("D56")
@pytest.mark.parametrize("b_writes", [1, 9], ids=["the source ends below our start", "the source ends above it"])
def test_a_mirror_follows_a_source_overwritten_below_its_log_start(b_writes: int) -> None:
    """C has A's records of an epoch that B used as well, and then, like A, nothing; A mirrors B in the meantime."""
    p, c, other = mirrored_by_a_third()
    delete_everything(p, p.a)
    p.a.write("last")
    assert_equal(other)
    p.simulation.line(p.a, c).take_down()
    for number in range(b_writes):
        p.b.write(f"b{number}")
    p.fail_back()
    p.simulation.line(p.a, c).bring_up()
    p.run_until(lambda: f"b{b_writes - 1}" in values_of(c), "C to follow A")
    assert_equal(other)
    for log in logs_of(c):
        assert start_of(log) == start_of(p.a.log())


@pytest.mark.decision("D30")
@pytest.mark.decision("D56")
def test_a_leader_that_missed_the_truncation_and_has_nothing_below_it() -> None:
    """Its own retention was ahead of the others', so nothing is left when it leads uncleanly and truncates."""
    p = make(8)
    for text in ("r0", "r1"):
        p.a.write(text)
    p.begin()
    p.fail_over()
    p.a.bump(p.b.await_leader().leader_epoch + 1)
    for number in range(3):
        p.a.write(f"a{number}")
    settle(p.a)
    stale = next(broker_id for broker_id in (1, 2, 3) if broker_id != p.a.await_leader().broker_id)
    log = p.a.replicas(TP)[stale].log
    p.run_until(lambda: log.high_watermark == log.log_end_offset, "it to know that all is committed")
    log.advance_log_start(3)
    p.a.stop(stale)
    p.run_until(lambda: stale not in p.a.await_leader().isr, "the ISR without it")
    p.fail_back(create=False)
    others = [broker_id for broker_id in (1, 2, 3) if broker_id != stale]
    only(p, stale, kill=others)
    for broker_id in others:
        p.a.restart(broker_id)
    p.b.write("b0")
    p.run_until(lambda: "b0" in values_of(p.a), "A to follow B")
    assert_equal(p.back)
    for found in logs_of(p.a):
        assert start_of(found) == start_of(p.b.log())


def pair_with_shortened_log() -> Pair:
    """Return B failed over with records 0 to 3, and A without the first two: its own retention deletes earlier."""
    often = {"log.retention.check.interval.ms": "5000"}
    p = pair(9, a_configs=often, b_configs=often)
    p.a.create_topic(TOPIC, configs={"retention.ms": "300000", "internal.segment.bytes": "150"})
    for half in range(2):
        p.a.write(f"r{2 * half}")
        p.a.write(f"r{2 * half + 1}")
        p.simulation.run_for(span_s=150 * (1 - half))
    p.begin()
    p.fail_over()
    p.b.alter(TOPIC, {"retention.ms": "86400000"})
    p.run_until(lambda: starts(p.a) == [2, 2, 2], "A to delete what is old", within_s=200)
    assert starts(p.b) == [0, 0, 0]
    return p


def starts(cluster: StagedCluster) -> list[int]:
    return [log.log_start_offset for log in logs_of(cluster)]


@pytest.mark.decision("D46")
@pytest.mark.decision("D56")
def test_a_log_shortened_by_retention_keeps_its_start_in_the_failback() -> None:
    """Records deleted at the old source are not copied again, and the serving cluster determines the log start."""
    p = pair_with_shortened_log()
    p.back.create()
    p.back.add_topics([TOPIC])
    p.back.catch_up()
    assert (starts(p.a), starts(p.b)) == ([2, 2, 2], [0, 0, 0])
    assert values(p.a.log()) == values(p.b.log())[2:]
    difference = p.back.difference()
    assert difference is not None
    assert (difference.field, difference.expected, difference.found) == ("log start offset", 0, 2)
    p.fail_over(p.back)
    ours, theirs = (
        LogOutline(log.epochs.entries, log.log_start_offset, log.log_end_offset) for log in (p.b.log(), p.a.log())
    )
    (row,) = p.back.describe()
    assert failback_cut(FailbackFacts(ours, theirs, row.last_mirrored_epoch)).start == 2, "the preview tells it"
    p.there.add_topics([TOPIC])
    assert_equal(p.there)
    assert starts(p.b) == [2, 2, 2]


@pytest.mark.decision("D46")
def test_a_topic_deleted_before_the_failback_gets_all_records_of_the_source() -> None:
    p = pair_with_shortened_log()
    p.a.delete(TOPIC)
    p.back.create()
    p.back.add_topics([TOPIC])
    p.back.catch_up()
    assert_equal(p.back)
    assert starts(p.a) == [0, 0, 0]


def unclean_below_the_start(p: Pair) -> None:
    """Let A begin at offset 3 and B with it; then a replica that has offset 0 alone leads A uncleanly."""
    p.a.place_topic()
    p.a.write("r0")
    p.a.settle()
    p.begin()
    only(p, 1, kill=(2, 3))
    for number in range(1, 4):
        p.a.write(f"lost {number}")
    p.a.log().advance_log_start(3)
    assert_equal_starts(p, 3)
    only(p, 2, kill=(1,))
    p.a.write("r1")
    for broker_id in (1, 3):
        p.a.restart(broker_id)


def assert_equal_starts(p: Pair, start: int) -> None:
    p.run_until(lambda: all(log.log_start_offset == start for log in logs_of(p.b)), f"B to begin at {start}")
    p.run_until(lambda: all(log.log_end_offset == p.a.log().log_end_offset for log in logs_of(p.b)), "B to have all")


def ends_above(p: Pair) -> None:
    for number in range(2, 9):
        p.a.write(f"r{number}")


def ends_below(p: Pair) -> None:
    """Write no more: the source's log ends below the start of the destination's."""


@pytest.mark.decision("D56")
@pytest.mark.parametrize("is_old", [False, True], ids=["told with the answer", "OffsetsForLeaderEpoch"])
@pytest.mark.parametrize("writes", [ends_below, ends_above])
def test_an_unclean_election_below_our_log_start_is_followed_to_the_new_start(
    writes: Callable[[Pair], None], is_old: bool
) -> None:
    """Its other replicas, too: they began at 3, and lack the new leader's records below that."""
    p = old_pair(logs=WrittenLogs({}), a_configs=UNCLEAN) if is_old else pair(7, a_configs=UNCLEAN)
    unclean_below_the_start(p)
    writes(p)
    assert_equal(p.there)
    for log in (*logs_of(p.a), *logs_of(p.b)):
        assert start_of(log) == start_of(p.a.log())
    assert p.a.log().log_start_offset == 0
