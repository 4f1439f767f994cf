"""Periodic work of brokers on their logs: deletion, compaction, flush, producer expiry; and its state after a kill."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.errors import KafkaError
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.log.cleaner import Compaction
from kmirror.log.flushing import Flush
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.states import MirrorState
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.sim.disk_work import DiskOptions
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import (
    ONE_BROKER,
    SMALL,
    T0_MS,
    TOPIC,
    TP,
    Pair,
    StagedCluster,
    WrittenLogs,
    pair,
    values,
    wait_until_mirrored,
)

SOON: Mapping[str, str] = {
    "log.initial.task.delay.ms": "1000",
    "log.retention.check.interval.ms": "1000",
    "log.cleaner.backoff.ms": "1000",
    "log.segment.delete.delay.ms": "3000",
}
SEGMENT = len(build_batch([RecordData(value=b"r0")])) * 2
TINY = {"internal.segment.bytes": str(SEGMENT)}
"""Two records in a segment, if each has its own batch."""
BY_KEY = {"internal.segment.bytes": "150", "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.1"}


def cluster_of(
    brokers: int = 3, topic: Mapping[str, str] | None = None, *, job_ms: int = 0, **configs: str
) -> StagedCluster:
    """Return a running cluster with the topic; a disk job takes between half of `job_ms` and `job_ms`."""
    base = SMALL if brokers > 1 else ONE_BROKER
    set_here = {name.replace("_", "."): value for name, value in configs.items()}
    simulation = Simulation(3, disk=DiskOptions(job_ms * MILLISECOND // 2, job_ms * MILLISECOND))
    cluster = StagedCluster(
        simulation, "a", brokers=brokers, replication_factor=brokers, configs={**base, **SOON, **set_here}
    )
    remember_all(cluster)
    cluster.start()
    cluster.place_topic(replicas=[list(cluster.broker_ids)])
    assert cluster.alter(TOPIC, topic or TINY) is ErrorCode.NONE
    cluster.simulation.run_until(
        lambda: all(cluster.broker(b).context.image.offset == cluster.image.offset for b in cluster.broker_ids),
        what="the configs to be known",
    )
    return cluster


def remember_all(cluster: StagedCluster) -> None:
    """Let the run's trace keep every line."""
    cluster.simulation.world.trace.lines = deque()


def logs_of(cluster: StagedCluster, tp: TopicPartition = TP) -> list[PartitionLog]:
    return [replica.log for replica in cluster.replicas(tp).values()]


def write_keys(cluster: StagedCluster, *keys: str, tp: TopicPartition = TP) -> None:
    for number, key in enumerate(keys):
        Producer(cluster).send({tp: [RecordData(key=key.encode(), value=f"{key}{number}".encode())]})


def keys_of(log: PartitionLog) -> dict[bytes, bytes]:
    """Return the latest value of each key in the whole log."""
    return {
        record.key: record.value
        for batch in log.batches()
        if not batch.is_control
        for record in batch.records()
        if record.key is not None and record.value is not None
    }


def count_in_trace(cluster: StagedCluster, text: str) -> int:
    return sum(text in line for line in cluster.simulation.world.trace.lines)


# -- retention --------------------------------------------------------------------------------


def test_every_replica_deletes_by_size_and_removes_the_bytes_later() -> None:
    cluster = cluster_of(topic={**TINY, "retention.bytes": str(2 * SEGMENT)})
    for number in range(9):
        cluster.write(f"r{number}")
    cluster.simulation.run_for(span_s=2)
    for log in logs_of(cluster):
        assert (log.log_start_offset, log.log_end_offset) == (4, 9)
        assert log.store.segments() == log.segment_base_offsets == [4, 6, 8]
    cluster.simulation.run_for(span_s=4)
    assert cluster.read(TP)[0].offset == 4


def test_old_segments_are_deleted_by_the_age_of_their_youngest_record() -> None:
    cluster = cluster_of(topic={**TINY, "retention.ms": "20000"})
    for number in range(4):
        cluster.write(f"r{number}")
    cluster.simulation.run_for(span_s=12)
    cluster.write("r4")
    cluster.simulation.run_for(span_s=12)
    assert {log.log_start_offset for log in logs_of(cluster)} == {4}
    assert cluster.write("r5") == 5
    cluster.simulation.run_for(span_s=30)
    assert {(log.log_start_offset, log.log_end_offset) for log in logs_of(cluster)} == {(6, 6)}, "the active one too"
    assert cluster.write("r6") == 6


def test_a_log_of_years_ago_is_deleted_at_the_first_check_as_by_kafka() -> None:
    batches = [build_batch([RecordData(value=b"old")], base_offset=n, timestamp_ms=T0_MS) for n in range(3)]
    kept = pair(logs=WrittenLogs({TOPIC: batches}), brokers=1)
    gone = pair(logs=WrittenLogs({TOPIC: batches}), brokers=1, a_configs={"log.retention.ms": "604800000"})
    for each, start in ((kept, 0), (gone, 3)):
        each.simulation.run_for(span_s=29)
        assert each.a.log().log_start_offset == 0, "not before the first look, 30 seconds after the start"
        each.simulation.run_for(span_s=2)
        assert each.a.log().log_start_offset == start


def test_a_kill_before_the_bytes_are_removed_restores_nothing() -> None:
    cluster = cluster_of(1, topic={**TINY, "retention.bytes": str(SEGMENT)}, job_ms=500)
    for number in range(9):
        cluster.write(f"r{number}")
    cluster.simulation.run_until(lambda: cluster.log().log_start_offset > 0, what="the deletion")
    start = cluster.log().log_start_offset
    for power_cut in (False, True):
        cluster.kill(1, power_cut=power_cut)
        cluster.restart(1)
        cluster.settle()
        cluster.simulation.run_for(span_s=10)
        assert cluster.log().log_start_offset >= start


# -- compaction -------------------------------------------------------------------------------


def test_every_replica_compacts_and_a_reader_misses_no_key() -> None:
    cluster = cluster_of(topic=BY_KEY)
    write_keys(cluster, *"abcabcabcab")
    before = keys_of(cluster.log())
    cluster.simulation.run_for(span_s=3)
    for log in logs_of(cluster):
        assert keys_of(log) == before
        assert sum(batch.record_count for batch in log.batches()) < 8
    write_keys(cluster, *"dd")
    assert keys_of(cluster.log()) == {**before, b"d": b"d1"}


def test_the_dirtiest_log_is_compacted_first() -> None:
    cluster = cluster_of(1, topic=BY_KEY, job_ms=300)
    other = TopicPartition("cleaner", 0)
    cluster.place_topic("cleaner", replicas=[[1]])
    cluster.alter("cleaner", BY_KEY)
    write_keys(cluster, *"abababab", tp=other)
    cluster.simulation.run_until(lambda: count_in_trace(cluster, "cleaner-0 compacted") == 1, what="one run")
    for _ in range(6):
        Producer(cluster).send({other: [RecordData(key=b"k", value=b"v" * 20)], TP: [RecordData(key=b"k", value=b"v")]})
    cluster.simulation.run_until(lambda: count_in_trace(cluster, "cleaner-0 compacted") == 2, what="the other's turn")
    lines = [line for line in cluster.simulation.world.trace.lines if " compacted to" in line]
    assert [TOPIC in line for line in lines] == [False, True, False], "a log that was never cleaned is all dirty"


def test_a_log_that_is_not_dirty_enough_waits() -> None:
    cluster = cluster_of(1, topic={**BY_KEY, "min.cleanable.dirty.ratio": "1"})
    write_keys(cluster, *"abababab")
    cluster.simulation.run_for(span_s=5)
    assert count_in_trace(cluster, "compacted") == 0
    cluster.alter(TOPIC, {**BY_KEY, "min.cleanable.dirty.ratio": "1", "max.compaction.lag.ms": "7000"})
    cluster.simulation.run_for(span_s=5)
    assert count_in_trace(cluster, "compacted") > 0, "its oldest dirty record is older than that"


def test_the_cleaner_can_be_turned_off() -> None:
    cluster = cluster_of(1, topic=BY_KEY, log_cleaner_enable="false")
    write_keys(cluster, *"abababab")
    cluster.simulation.run_for(span_s=5)
    assert count_in_trace(cluster, "compacted") == 0


@pytest.mark.parametrize("power_cut", [False, True])
def test_a_kill_during_a_compaction_leaves_a_log_that_recovers(power_cut: bool) -> None:
    cluster = cluster_of(1, topic=BY_KEY, job_ms=800)
    write_keys(cluster, *"abcabcabcabc")
    before = keys_of(cluster.log())
    cluster.simulation.run_until(lambda: cluster.log().compaction is not None, what="a run of the cleaner")
    cluster.kill(1, power_cut=power_cut)
    cluster.restart(1)
    cluster.settle()
    if not power_cut:
        assert keys_of(cluster.log()) == before
    write_keys(cluster, *"abcabc")  # The power cut may have left nothing to compact.
    cluster.simulation.run_until(lambda: count_in_trace(cluster, "compacted to") > 0, what="another run of the cleaner")
    end = cluster.log().log_end_offset
    write_keys(cluster, "next")
    assert cluster.log().log_end_offset == end + 1


def test_a_follower_truncated_during_a_compaction_equals_its_leader() -> None:
    cluster = cluster_of(topic=BY_KEY, job_ms=2_000)
    write_keys(cluster, *"abcabcabcabc")
    follower = next(r for r in cluster.replicas(TP).values() if not r.is_leader)
    cluster.simulation.run_until(lambda: follower.log.compaction is not None, what="a run of the cleaner")
    follower.log.truncate_to(3)
    cluster.simulation.run_for(span_s=20)
    assert count_in_trace(cluster, "was cut while it was compacted") > 0
    assert {tuple(sorted(keys_of(log).items())) for log in logs_of(cluster)} == {
        tuple(sorted(keys_of(cluster.log()).items()))
    }


def test_a_disk_failure_of_the_cleaner_ends_the_broker_and_harms_no_log() -> None:
    cluster = cluster_of(1, topic=BY_KEY)
    workers = cluster.simulation.world.disk_workers
    workers.fail_next("a-1", OSError("no space"), lambda work: isinstance(work.job, Compaction))
    write_keys(cluster, *"abcabcabcabc")
    before = len(list(cluster.log().batches()))
    cluster.simulation.run_for(span_s=6)
    assert count_in_trace(cluster, "cannot be compacted: no space") == 1 and not cluster.runs(1)
    cluster.restart(1)
    cluster.settle()
    assert len(list(cluster.log().batches())) <= before
    write_keys(cluster, "next")
    assert cluster.log().log_end_offset == 13


# -- flush ------------------------------------------------------------------------------------


def test_with_flush_messages_a_power_cut_loses_nothing() -> None:
    for seed_offset in range(4):
        cluster = cluster_of(1, topic={"flush.messages": "1"})
        written = [f"r{number}" for number in range(5 + seed_offset)]
        for value in written:
            cluster.write(value)
        cluster.simulation.run_for(span_s=0.1)
        cluster.kill(1, power_cut=True)
        cluster.restart(1)
        cluster.settle()
        assert [value for _, value in values(cluster.log())] == written


def test_nothing_is_acknowledged_before_every_member_of_the_isr_has_flushed_it() -> None:
    cluster = cluster_of(topic={"flush.messages": "1"}, job_ms=80)
    for number in range(12):
        offset = cluster.write(f"r{number}")
        partition = cluster.await_leader()
        held = {broker_id: replica.log.recovery_point for broker_id, replica in cluster.replicas(TP).items()}
        assert all(held[member] > offset for member in partition.isr), "acks=all, flush.messages=1"
    for broker_id in cluster.broker_ids:
        cluster.kill(broker_id, power_cut=True)
    for broker_id in cluster.broker_ids:
        cluster.restart(broker_id)
    cluster.simulation.run_for(span_s=5)
    cluster.settle()
    assert [value for _, value in values(cluster.log())] == [f"r{number}" for number in range(12)]


def test_unflushed_records_are_flushed_when_the_config_requires_it() -> None:
    cluster = cluster_of()
    cluster.write("r0")
    assert {log.recovery_point for log in logs_of(cluster)} == {0}
    cluster.alter(TOPIC, {"flush.messages": "1"})
    cluster.simulation.run_for(span_s=1)
    assert {log.recovery_point for log in logs_of(cluster)} == {1}
    assert cluster.write("r1") == 1


def test_a_segment_that_was_rolled_is_flushed_beside_the_broker() -> None:
    cluster = cluster_of(1, job_ms=50)
    for number in range(3):
        cluster.write(f"r{number}")
    assert cluster.log().segment_base_offsets == [0, 2] and cluster.log().recovery_point == 0
    cluster.simulation.run_for(span_s=1)
    assert cluster.log().recovery_point == 2
    cluster.kill(1, power_cut=True)
    cluster.restart(1)
    cluster.settle()
    assert [value for _, value in values(cluster.log())][:2] == ["r0", "r1"]


def test_flush_ms_is_checked_at_the_interval_of_the_scheduler() -> None:
    cluster = cluster_of(1, topic={"flush.ms": "1500"}, log_flush_scheduler_interval_ms="500")
    cluster.write("r0")
    assert cluster.log().recovery_point == 0
    cluster.simulation.run_for(span_s=3)
    assert cluster.log().recovery_point == 1


def test_a_failed_flush_takes_its_log_directory_offline() -> None:
    cluster = cluster_of(1, topic={"flush.messages": "1"})
    workers = cluster.simulation.world.disk_workers
    workers.fail_next("a-1", OSError("disk away"), lambda work: isinstance(work.job, Flush))
    with pytest.raises(KafkaError):
        cluster.write("r0")
    assert count_in_trace(cluster, f"cannot flush {TP}: disk away") == 1 and not cluster.runs(1)
    cluster.restart(1)
    cluster.settle()
    assert cluster.write("r1") == cluster.log().log_end_offset - 1


# -- recovery ---------------------------------------------------------------------------------


def test_a_broker_stays_fenced_until_its_logs_are_recovered_and_loses_nothing() -> None:
    cluster = cluster_of(job_ms=2_000)
    for number in range(5):
        cluster.write(f"r{number}")
    cluster.kill(2)
    cluster.restart(2)
    cluster.simulation.run_until(lambda: cluster.broker(2).parts.lifecycle.caught_up, what="the metadata")
    assert not cluster.broker(2).parts.replicas.partitions and cluster.broker(2).parts.lifecycle.fenced
    cluster.simulation.run_until(lambda: cluster.broker(2).parts.lifecycle.recovered, what="the logs")
    cluster.write("r5")
    cluster.settle()
    assert {log.log_end_offset for log in logs_of(cluster)} == {6}


def test_a_kill_during_a_recovery_is_followed_by_another_one() -> None:
    cluster = cluster_of(1, job_ms=2_000)
    for number in range(5):
        cluster.write(f"r{number}")
    for power_cut in (False, True, False):
        cluster.kill(1)
        cluster.restart(1)
        cluster.simulation.run_until(lambda: not cluster.broker(1).context.disk_jobs.idle, what="the recovery")
        cluster.kill(1, power_cut=power_cut)
        cluster.restart(1)
    cluster.settle()
    kept = [value for _, value in values(cluster.log())]
    assert kept == [f"r{number}" for number in range(len(kept))]
    assert cluster.write("next") == len(kept)


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_stop_marks_logs_as_clean_if_their_recovery_has_ended(has_begun: bool) -> None:
    """A running recovery is waited for; if none has started, the logs stay torn."""
    cluster = cluster_of(1, job_ms=2_000)
    for number in range(5):
        cluster.write(f"r{number}")
    cluster.kill(1, power_cut=True)
    cluster.restart(1)
    node = cluster.broker(1)
    cluster.simulation.run_until(
        lambda: not node.context.disk_jobs.idle if has_begun else node.parts.lifecycle.epoch >= 0,
        what="the recovery" if has_begun else "the registration",
    )
    assert not node.parts.lifecycle.recovered
    cluster.stop(1)
    assert node.parts.lifecycle.recovered is has_begun
    cluster.restart(1)
    assert (cluster.broker(1).context.previous_epoch is not None) is has_begun
    cluster.settle()
    kept = [value for _, value in values(cluster.log())]
    assert kept == [f"r{number}" for number in range(len(kept))]
    assert cluster.write("next") == len(kept)


def test_a_broker_ends_when_its_disk_has_closed_the_logs() -> None:
    cluster = cluster_of(1, job_ms=2_000)
    cluster.write("r0")
    cluster.simulation.world.stop(cluster.process(1))
    cluster.simulation.run_for(span_s=1)
    assert cluster.runs(1), "the disk is still at work"
    cluster.kill(1)
    cluster.restart(1)
    assert cluster.broker(1).context.previous_epoch is None
    cluster.settle()
    cluster.stop(1)
    cluster.restart(1)
    assert cluster.broker(1).context.previous_epoch is not None
    cluster.settle()
    assert cluster.write("r1") == 1


def test_after_a_clean_stop_no_segment_is_read() -> None:
    cluster = cluster_of(1)
    for number in range(5):
        cluster.write(f"r{number}")
    cluster.stop(1)
    cluster.restart(1)
    cluster.settle()
    assert cluster.broker(1).context.previous_epoch is not None
    assert cluster.log().recovery_point == 5 and cluster.log().repair is None


# -- producer expiry --------------------------------------------------------------------------


def test_producers_that_are_silent_are_forgotten() -> None:
    cluster = cluster_of(1, producer_id_expiration_ms="5000", producer_id_expiration_check_interval_ms="1000")
    producer = Producer(cluster, idempotent=True)
    producer.send({TP: [RecordData(value=b"once")]})
    assert list(cluster.log().producers.entries) == [producer.producer_id]
    cluster.simulation.run_for(span_s=7)
    assert not cluster.log().producers.entries


# -- dropped partitions and mirrors -----------------------------------------------------------


def start_mirror(topic: Mapping[str, str], **pair_configs: str) -> Pair:
    configs = {**SOON, **{name.replace("_", "."): value for name, value in pair_configs.items()}}
    p = pair(a_configs={**SMALL}, b_configs=configs)
    p.a.place_topic()
    p.a.alter(TOPIC, TINY)
    for number in range(9):
        p.a.write(f"r{number}")
    remember_all(p.b)
    p.there.create({"mirror.topic.properties.exclude": ".*"})  # The destination has its own configs of the topic.
    p.there.add_topics([TOPIC])
    wait_until_mirrored(p.there)
    p.b.alter(TOPIC, topic)
    return p


@pytest.mark.decision("D46")
def test_a_mirrored_log_ignores_its_own_retention_until_the_stop() -> None:
    p = start_mirror({**TINY, "retention.bytes": "0", "retention.ms": "1"})
    p.simulation.run_for(span_s=10)
    assert {log.log_start_offset for log in logs_of(p.b)} == {0}, "neither size nor age count while it is mirrored"
    p.fail_over()
    p.simulation.run_for(span_s=10)
    starts = {log.log_start_offset for log in logs_of(p.b)}
    assert starts == {p.b.log().log_end_offset}, "followers too"


@pytest.mark.decision("D46")
def test_a_mirrored_log_begins_where_its_source_begins() -> None:
    p = start_mirror(TINY)
    for replica in p.a.replicas(TP).values():
        replica.log.advance_log_start(5)
    p.a.write("r9")
    p.simulation.run_for(span_s=5)
    for log in logs_of(p.b):
        assert log.log_start_offset == 5
    assert p.b.log().segment_base_offsets[0] <= 5 < p.b.log().log_end_offset


@pytest.mark.decision("D46")
def test_a_mirrored_log_is_compacted_by_each_of_its_replicas() -> None:
    p = start_mirror({})
    p.b.alter(TOPIC, BY_KEY)
    write_keys(p.a, *"abababababababab")
    p.simulation.run_for(span_s=10)
    assert p.a.log().log_start_offset == 0 and sum(b.record_count for b in p.a.log().batches()) == 9 + 16
    for log in logs_of(p.b):
        assert keys_of(log) == {b"a": b"a14", b"b": b"b15"}
        assert sum(b.record_count for b in log.batches() if b.base_offset >= 9) < 6
        assert (log.log_start_offset, log.log_end_offset) == (0, p.a.log().log_end_offset)
    p.fail_over()
    write_keys(p.b, *"ababab")
    p.simulation.run_for(span_s=10)
    assert keys_of(p.b.log()) == {b"a": b"a4", b"b": b"b5"}


@pytest.mark.decision("D46")
def test_a_paused_log_is_compacted_and_continues_when_resumed() -> None:
    p = start_mirror(TINY)
    write_keys(p.a, *"abababab")
    wait_until_mirrored(p.there)
    p.there.pause([TOPIC])
    p.there.wait_for_state(MirrorState.PAUSED, [TP])
    p.b.alter(TOPIC, BY_KEY)
    write_keys(p.a, *"cc")
    p.simulation.run_for(span_s=10)
    for log in logs_of(p.b):
        assert keys_of(log) == {b"a": b"a6", b"b": b"b7"}
        assert sum(b.record_count for b in log.batches() if b.base_offset >= 9) < 8
    p.there.resume([TOPIC])
    wait_until_mirrored(p.there)
    assert keys_of(p.b.log()) == {b"a": b"a6", b"b": b"b7", b"c": b"c1"}


def test_the_first_check_comes_after_the_initial_delay() -> None:
    cluster = cluster_of(1, topic={**TINY, "retention.bytes": "0"}, log_initial_task_delay_ms="20000")
    cluster.write("r0")
    cluster.simulation.run_for(span_s=10)
    assert cluster.log().log_start_offset == 0
    cluster.simulation.run_for(span_s=15)
    assert cluster.log().log_start_offset == 1


def test_a_controller_that_dies_while_it_reads_its_log_forgets_nothing() -> None:
    cluster = cluster_of(1, job_ms=2_000)
    for power_cut in (False, True):
        cluster.kill(CONTROLLER_ID, power_cut=power_cut)
        cluster.restart(CONTROLLER_ID)
        assert not cluster.controller.is_open and cluster.topics() == [TP.topic], "known from the one before it"
    cluster.simulation.run_until(lambda: cluster.controller.is_open, what="the metadata log to be open")
    assert cluster.topics() == [TP.topic]
    cluster.create_topic("later")
    assert cluster.write("r0") == 0
