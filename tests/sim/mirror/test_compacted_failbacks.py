"""Compacted topics after a failover with lag and a failback: every key keeps a value (D63)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kmirror.client.fetch_events import Diverged
from kmirror.client.fetch_session import PartitionFetch
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.cut_rules import FROM_SCRATCH
from kmirror.mirror.repeated_cuts import CUTS_MAX
from kmirror.protocol.gen.fetch_response import EpochEndOffset, PartitionData
from kmirror.records.record import RecordData
from kmirror.sim.producer import Producer
from kmirror.spec.error_codes import ErrorCode
from tests.sim.cluster.test_log_lifecycle import BY_KEY, keys_of, write_keys
from tests.sim.stage import ONE_BATCH, TOPIC, TP, Pair, StagedCluster, assert_equal, pair, wait_until_mirrored

pytestmark = pytest.mark.decision("D63")
NO_CLEANER = {"log.cleaner.enable": "false"}


def mirrored_keys(keys: str, *, brokers: int = 1, more: Mapping[str, str] | None = None) -> Pair:
    """Return two clusters whose cleaners run only on request, with a record of each key in both."""
    p = pair(brokers=brokers, a_configs=NO_CLEANER, b_configs=NO_CLEANER)
    p.a.place_topic(TOPIC, replicas=[[*p.a.broker_ids]])
    p.a.alter(TOPIC, {**BY_KEY, **(more or {})})
    write_keys(p.a, *keys)
    p.begin()
    return p


def failed_over(*, lag: str, brokers: int = 1, new_epoch: bool = False) -> Pair:
    """Fail over after b has mirrored a to d at 0 to 3; a has `lag` above, if wanted in another leader epoch."""
    p = mirrored_keys("abcd", brokers=brokers)
    p.simulation.line(p.a, p.b).take_down()
    if new_epoch:
        p.a.bump(p.a.await_leader().leader_epoch + 1)
    write_keys(p.a, *lag)
    p.fail_over()
    p.simulation.line(p.a, p.b).bring_up()
    return p


def clean(*logs: PartitionLog) -> None:
    """Compact some replicas of a log: each broker cleans its replica independently."""
    for log in logs:
        log.roll(log.log_end_offset)
        assert log.compact(log.now_ms) is not None


def logs_of(cluster: StagedCluster) -> list[PartitionLog]:
    return [replica.log for replica in cluster.replicas(TP).values()]


@pytest.mark.parametrize("new_epoch", [False, True], ids=["cut where the logs part", "cut to the epoch"])
def test_a_log_cleaned_above_the_truncation_is_copied_from_scratch(new_epoch: bool) -> None:
    p = failed_over(lag="abcd", new_epoch=new_epoch)
    clean(*logs_of(p.a))
    p.fail_back()
    assert p.cuts_of(p.a) == [(0, 8)]
    assert (
        keys_of(p.a.log()) == keys_of(p.b.log()) == {key.encode(): f"{key}{n}".encode() for n, key in enumerate("abcd")}
    )


@pytest.mark.parametrize("new_epoch", [False, True], ids=["cut where the logs part", "cut to the epoch"])
@pytest.mark.parametrize("cleans", [False, True])
def test_nothing_is_copied_again_where_nothing_can_be_missing(new_epoch: bool, cleans: bool) -> None:
    """New keys in the lag supersede nothing below the truncation."""
    p = failed_over(lag="efef", new_epoch=new_epoch)
    if cleans:
        clean(*logs_of(p.a))
    p.fail_back()
    assert p.cuts_of(p.a) == [(4, 8)]
    assert keys_of(p.a.log()) == keys_of(p.b.log())


@pytest.mark.decision("D59")
def test_a_truncation_that_waits_for_a_write_is_counted_once() -> None:
    """Each fetch returns the divergence again, while the state cannot be written."""
    p = failed_over(lag="abcd")
    clean(*logs_of(p.a))
    p.back.create()
    p.back.add_topics([TOPIC])
    p.run_until(lambda: (mp := p.a.mirror_partition()) is not None and mp.fetcher is not None, "the first fetch")
    fetchers = p.a.component(1)._driver.fetchers
    found = fetchers._loop.find(TP)
    assert found is not None
    fetcher, mp = found
    asked = PartitionFetch(mp.source_topic_id, mp.source_epoch, p.a.log().log_end_offset, 0, 1_000)
    answer = PartitionData(diverging_epoch=EpochEndOffset(epoch=0, end_offset=4))
    was_busy, mp.is_busy = mp.is_busy, True
    for _ in range(2 * CUTS_MAX):
        fetchers.handle(p.simulation.world.now, fetcher, Diverged(mp, asked, answer))
    assert mp.cuts.count == 0
    mp.is_busy = was_busy
    assert_equal(p.back)
    assert p.cuts_of(p.a) == [(0, 8)]


def test_without_lag_a_cleaned_log_is_not_truncated() -> None:
    p = mirrored_keys("abcdabcd")
    clean(*logs_of(p.a))
    p.fail_over()
    p.fail_back()
    assert p.cuts_of(p.a) == []


@pytest.mark.parametrize("new_epoch", [False, True], ids=["cut where the logs part", "cut to the epoch"])
def test_a_follower_that_cleaned_further_than_its_leader_copies_from_it(new_epoch: bool) -> None:
    p = failed_over(lag="abcd", brokers=3, new_epoch=new_epoch)
    clean(*(replica.log for replica in p.a.replicas(TP).values() if not replica.is_leader))
    p.fail_back()
    assert p.cuts_of(p.a) == [(4, 8)], "the leader's own log was not cleaned"
    p.a.settle()
    assert all(keys_of(log) == keys_of(p.b.log()) for log in logs_of(p.a))


def test_all_replicas_are_truncated_where_the_leader_cleaned_further() -> None:
    """A follower's log alone would be correct, but all replicas of a leader that copies from scratch must be equal."""
    p = failed_over(lag="abcd", brokers=3)
    clean(p.a.log())
    p.fail_back()
    assert p.cuts_of(p.a) == [(0, 8)]
    p.a.settle()
    assert all(keys_of(log) == keys_of(p.b.log()) for log in logs_of(p.a))


def test_a_follower_that_copied_a_cleaned_log_knows_that_it_may_miss_records() -> None:
    p = failed_over(lag="abcd", brokers=3)
    clean(*logs_of(p.a))
    victim = next(replica for replica in p.a.replicas(TP).values() if not replica.is_leader)
    victim.log.truncate_fully_and_start_at(0)
    p.a.kill(victim.broker_id)
    p.a.restart(victim.broker_id)
    p.run_until(lambda: victim.broker_id not in p.a.replicas(TP), "it is gone")
    p.run_until(lambda: victim.broker_id in p.a.replicas(TP), "it is back")
    log = p.a.replicas(TP)[victim.broker_id].log
    p.run_until(lambda: log.log_end_offset == 8, "the copy")
    assert (log.cleaner_offset, log.cleaned_offset) == (0, 8)
    p.fail_back()
    p.a.settle()
    assert all(keys_of(log) == keys_of(p.b.log()) for log in logs_of(p.a))


@pytest.mark.parametrize("step", ["listed", "cut", "mirrored"])
def test_a_leader_that_dies_in_between_leaves_the_copy_to_the_next(step: str) -> None:
    p = failed_over(lag="abcd", brokers=3)
    clean(*logs_of(p.a))
    p.back.create()
    p.back.add_topics([TOPIC])
    reached = {
        "listed": lambda: FROM_SCRATCH in p.a.persisted().uncut.values(),
        "cut": lambda: bool(p.cuts_of(p.a)),
        "mirrored": lambda: bool(p.cuts_of(p.a)) and p.a.log().log_end_offset > 0,
    }[step]
    p.run_until(reached, step)
    p.a.restart(p.a.elect())
    wait_until_mirrored(p.back)
    p.a.settle()
    assert all(keys_of(log) == keys_of(p.b.log()) for log in logs_of(p.a))


def test_an_unclean_leader_that_missed_the_truncation_copies_from_scratch() -> None:
    """It still has to truncate below its cleaner's offset; the others have done it, and follow again (D30)."""
    p = failed_over(lag="abcd", brokers=3, new_epoch=True)
    victim = next(replica for replica in p.a.replicas(TP).values() if not replica.is_leader)
    clean(victim.log)
    p.a.kill(victim.broker_id)
    p.run_until(lambda: victim.broker_id not in p.a.await_leader().isr, "the ISR to shrink")
    p.fail_back()
    assert p.cuts_of(p.a) == [(4, 8)]
    p.a.alter(TOPIC, {**BY_KEY, "unclean.leader.election.enable": "true"})
    for other in p.a.broker_ids:
        if other != victim.broker_id:
            p.a.kill(other)
    p.a.restart(victim.broker_id)
    p.run_until(lambda: (found := p.a.leader(TP)) is not None and found.broker_id == victim.broker_id, "it leads")
    for other in p.a.broker_ids:
        if other != victim.broker_id:
            p.a.restart(other)
    wait_until_mirrored(p.back)
    p.a.settle()
    assert p.cuts_of(p.a)[1:] == [(0, 8)]
    assert all(keys_of(log) == keys_of(p.b.log()) for log in logs_of(p.a))


# -- deletions ----------------------------------------------------------------------------------


STAY_MS = 20_000
"""`delete.retention.ms` of the mirrored topic."""


def deleted_at_b(*, stays: bool, others: str = "efef") -> Pair:
    """Fail over without lag, delete a at b, let b's cleaner remove the tombstone if it may, and fail back."""
    p = mirrored_keys("abcd", more={"delete.retention.ms": str(STAY_MS)})
    p.fail_over()
    for key, value in ((b"a", None), *((key.encode(), b"new") for key in others)):
        Producer(p.b).send({TP: [RecordData(key=key, value=value)]})
    p.simulation.run_for(span_s=1)
    clean(p.b.log())
    p.simulation.run_for(span_s=2 if stays else 30)
    Producer(p.b).send({TP: [RecordData(key=b"z", value=b"z")]})
    clean(p.b.log())
    p.fail_back()
    return p


@pytest.mark.decision("D64")
def test_a_key_deleted_while_the_mirror_was_offline_does_not_return() -> None:
    p = deleted_at_b(stays=False)
    assert b"a" not in keys_of(p.b.log())
    assert keys_of(p.a.log()) == keys_of(p.b.log())
    assert len(p.cuts_of(p.a)) == 1


@pytest.mark.decision("D64")
def test_nothing_is_copied_again_while_tombstones_are_still_there() -> None:
    p = deleted_at_b(stays=True)
    assert b"a" not in read(p.a.log())
    assert p.cuts_of(p.a) == []


@pytest.mark.decision("D64")
def test_a_key_deleted_during_a_pause_does_not_return() -> None:
    p = mirrored_keys("abcd", more={"delete.retention.ms": str(STAY_MS)})
    p.there.pause([TOPIC])
    p.run_until(lambda: p.b.state() == "PAUSED", "the pause")
    Producer(p.a).send({TP: [RecordData(key=b"a", value=None)]})
    write_keys(p.a, "e")
    clean(p.a.log())
    p.simulation.run_for(span_s=30)
    write_keys(p.a, "f")
    clean(p.a.log())
    p.there.resume([TOPIC])
    p.run_until(lambda: p.b.log().log_end_offset == p.a.log().log_end_offset, "the copy")
    assert keys_of(p.a.log()) == keys_of(p.b.log())
    assert b"a" not in read(p.b.log())


@pytest.mark.decision("D64")
def test_nothing_is_copied_again_where_no_offset_is_missing() -> None:
    p = mirrored_keys("abcd", more={"delete.retention.ms": str(STAY_MS)})
    p.there.pause([TOPIC])
    p.run_until(lambda: p.b.state() == "PAUSED", "the pause")
    write_keys(p.a, *"ea")
    p.simulation.run_for(span_s=60)
    p.there.resume([TOPIC])
    p.run_until(lambda: p.b.log().log_end_offset == 6, "the rest")
    assert p.cuts_of(p.b) == []


@pytest.mark.decision("D64")
def test_a_mirror_that_was_in_step_until_just_now_has_missed_nothing() -> None:
    """No record was written for a minute, so the last one proves nothing; a fetch lost by the line takes 30 s."""
    p = mirrored_keys("abcd", more={"delete.retention.ms": "45000"})
    p.simulation.run_for(span_s=60)
    write_keys(p.a, "e")
    p.run_until(lambda: p.b.log().log_end_offset == 5, "the record")
    p.simulation.run_for(span_s=60)
    write_keys(p.a, "e")
    p.run_until(lambda: p.b.log().log_end_offset == 6, "the next record")
    p.simulation.line(p.a, p.b).take_down()
    write_keys(p.a, *"ghghgh")
    clean(p.a.log())
    p.simulation.line(p.a, p.b).bring_up()
    p.run_until(lambda: p.b.log().log_end_offset == 12, "the rest")
    assert keys_of(p.a.log()) == keys_of(p.b.log())
    assert p.cuts_of(p.b) == []


def delete_unseen(p: Pair, *, span_s: float = 30) -> None:
    """Delete a at the source and remove the tombstone, while the mirror is disconnected."""
    Producer(p.a).send({TP: [RecordData(key=b"a", value=None)]})
    write_keys(p.a, "e")
    p.simulation.run_for(span_s=1)
    clean(p.a.log())
    p.simulation.run_for(span_s=span_s)
    write_keys(p.a, "f")
    clean(p.a.log())


def has_caught_up(p: Pair) -> bool:
    return p.b.leader(TP) is not None and p.b.log().log_end_offset == p.a.log().log_end_offset


@pytest.mark.decision("D64")
def test_a_mirror_with_empty_fetch_responses_is_not_offline() -> None:
    p = mirrored_keys("abcd", more={"delete.retention.ms": str(3 * STAY_MS)})
    p.simulation.run_for(span_s=120)
    p.simulation.line(p.a, p.b).take_down()
    write_keys(p.a, *"ee")
    clean(p.a.log())
    p.simulation.line(p.a, p.b).bring_up()
    p.run_until(lambda: has_caught_up(p), "the record")
    assert keys_of(p.a.log()) == keys_of(p.b.log())
    assert p.cuts_of(p.b) == []


@pytest.mark.decision("D64")
@pytest.mark.parametrize("quiet_s", [0, 60])
def test_a_mirror_without_fetch_responses_is_offline(quiet_s: float) -> None:
    p = mirrored_keys("abcd", more={"delete.retention.ms": str(STAY_MS)})
    p.simulation.run_for(span_s=quiet_s)
    p.simulation.line(p.a, p.b).take_down()
    delete_unseen(p)
    p.simulation.line(p.a, p.b).bring_up()
    p.run_until(lambda: bool(p.cuts_of(p.b)) and has_caught_up(p), "the second copy")
    assert keys_of(p.a.log()) == keys_of(p.b.log())


@pytest.mark.decision("D64")
def test_a_mirror_that_was_quiet_before_an_election_is_not_away() -> None:
    p = mirrored_keys("abcd", brokers=3, more={"delete.retention.ms": str(3 * STAY_MS)})
    p.simulation.run_for(span_s=120)
    p.simulation.line(p.a, p.b).take_down()
    p.b.bump(p.b.await_leader().leader_epoch + 1)
    write_keys(p.a, *"ee")
    clean(*logs_of(p.a))
    p.simulation.line(p.a, p.b).bring_up()
    p.run_until(lambda: has_caught_up(p), "the record")
    assert p.cuts_of(p.b) == []


@pytest.mark.decision("D64")
@pytest.mark.parametrize("span_s", [2, 30])
def test_a_mirror_was_offline_since_the_last_write_of_its_files(span_s: float) -> None:
    p = mirrored_keys("abcd", more={"delete.retention.ms": str(STAY_MS)})
    p.b.kill(1)
    delete_unseen(p, span_s=span_s)
    p.b.restart(1)
    p.run_until(lambda: has_caught_up(p), "the copy")
    assert b"a" not in read(p.b.log())
    assert len(p.cuts_of(p.b)) == (1 if span_s > STAY_MS / 1_000 else 0)


@pytest.mark.decision("D64")
def test_a_topic_that_is_no_longer_compacted_may_have_missed_deletions() -> None:
    p = mirrored_keys("abcd", more={"delete.retention.ms": str(STAY_MS)})
    p.there.pause([TOPIC])
    p.run_until(lambda: p.b.state() == "PAUSED", "the pause")
    delete_unseen(p)
    assert p.b.alter(TOPIC, {"cleanup.policy": "delete"}) is ErrorCode.NONE
    p.there.resume([TOPIC])
    p.run_until(lambda: has_caught_up(p), "the copy")
    assert keys_of(p.a.log()) == keys_of(p.b.log())
    assert len(p.cuts_of(p.b)) == 1


@pytest.mark.decision("D64")
@pytest.mark.parametrize("elects", [False, True])
def test_a_first_copy_of_an_old_log_is_made_once(elects: bool) -> None:
    p = pair(brokers=3, a_configs=NO_CLEANER, b_configs={**NO_CLEANER, **ONE_BATCH})
    p.a.place_topic(TOPIC, replicas=[[*p.a.broker_ids]])
    p.a.alter(TOPIC, {**BY_KEY, "delete.retention.ms": str(STAY_MS)})
    write_keys(p.a, *"abcdefghabcdefghnonop")
    p.simulation.run_for(span_s=60)
    clean(*logs_of(p.a))
    p.there.create()
    p.there.add_topics([TOPIC])
    if elects:
        p.run_until(lambda: p.b.leader(TP) is not None and 8 < p.b.log().high_watermark < 15, "a part")
        p.b.restart(p.b.elect())
    wait_until_mirrored(p.there)
    assert keys_of(p.a.log()) == keys_of(p.b.log())
    assert p.cuts_of(p.b) == []


def read(log: PartitionLog) -> dict[bytes, bytes | None]:
    """Return the latest value of each key that is not deleted."""
    found = {
        record.key: record.value
        for batch in log.batches()
        if not batch.is_control
        for record in batch.records()
        if record.key is not None
    }
    return {key: value for key, value in found.items() if value is not None}
