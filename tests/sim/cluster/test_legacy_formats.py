"""Messages of formats 0 and 1 in every stage: copied unchanged, and convergence without epochs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmirror.cluster.broker.apis import fetch as fetch_api
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.fetch_read import Reader, check_fetch, error_row
from kmirror.experiments.demo import Demo
from kmirror.kernel.ids import TopicPartition
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from kmirror.log.store import PARTITION_METADATA
from kmirror.logdir.load import read_log_dirs
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.records.codecs import Compression
from kmirror.records.legacy import iter_any_batches
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import (
    ONE_BATCH,
    T0_MS,
    TOPIC,
    TP,
    Pair,
    StagedCluster,
    WrittenLogs,
    assert_equal,
    epochs,
    legacy,
    pair,
    plain,
    resets,
    transactional,
    values,
    wait_until_stopped,
)

REAL = Path(__file__).resolve().parents[2] / "data" / "log" / "legacy-2.1"  # By Kafka 2.1.1.
OLD = [
    legacy(0, 0, "m0", "m1"),
    legacy(2, 0, "m2", "m3", codec=Compression.GZIP),
    legacy(4, 1, "m4", "m5"),
    legacy(6, 1, "m6", "m7", codec=Compression.LZ4),
]
SLOWLY = {**ONE_BATCH, "replica.fetch.response.max.bytes": "1"}
"""One message or wrapper with each fetch."""


def written(count: int = 40) -> list[bytes]:
    return [legacy(n, 1, f"m{n}") for n in range(count)]


def contents(log: PartitionLog) -> list[bytes]:
    return [bytes(batch.view) for batch in log.any_batches()]


def magics(log: PartitionLog) -> list[int]:
    return [batch.magic for batch in log.any_batches()]


def part(p: Pair, end: int) -> None:
    """Start to mirror, and take the line down when B's replicas have `end` messages or a few more."""
    p.there.create()
    p.there.add_topics([TOPIC])
    p.run_until(lambda: (found := p.b.leader(TP)) is not None and found.log.high_watermark >= end, f"{end} messages")
    p.simulation.line(p.a, p.b).take_down()


# -- copied unchanged -------------------------------------------------------------------------


@pytest.mark.decision("D21")
def test_records_of_kafka_2_1_arrive_unchanged() -> None:
    logs = read_log_dirs(REAL)
    topics = sorted(logs.topics)
    assert topics == ["mixed-012", "v0", "v1"] and logs.skipped == []
    p = pair(logs=logs)
    p.begin(topics)
    assert_equal(p.there, topics)
    for tp, files in logs.partitions.items():
        log = p.b.log(tp)
        expected = [
            bytes(batch.view)
            for batch in iter_any_batches(files.segments[0])
            if batch.last_offset >= files.log_start_offset
        ]
        assert contents(log) == expected
        assert (log.log_start_offset, log.log_end_offset) == (files.log_start_offset, files.log_end_offset)
    assert set(magics(p.b.log(TopicPartition("mixed-012", 0)))) == {0, 1, 2}
    assert p.b.log(TopicPartition("v1", 1)).log_start_offset == 13


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.decision("D21")
def test_the_demo_works_with_old_messages(seed: int) -> None:
    logs = read_log_dirs(REAL)
    report = Demo(logs, seed=seed, faults=True).run()
    assert report.mirrored.partitions == report.final.partitions == len(logs.partitions) == 3
    assert report.mirrored.batches >= 60
    ends = {tp: files.log_end_offset for tp, files in logs.partitions.items()}
    for row in report.failback:
        assert ends[row.tp] <= row.cut_offset <= row.lost_first_offset <= row.lost_end_offset, "no old message was cut"


@pytest.mark.decision("D21")
def test_producers_append_batches_behind_old_messages() -> None:
    p = pair(logs=WrittenLogs({TOPIC: OLD}))
    assert p.a.write("new") == 8
    p.begin()
    assert magics(p.b.log()) == [0, 0, 0, 1, 1, 1, 2]
    assert epochs(p.a.log()) == [(0, 8)] == epochs(p.b.log())
    p.fail_over()
    assert p.b.write("newer") == 10
    assert values(p.b.log()) == [*[(n, f"m{n}") for n in range(8)], (8, "new"), (10, "newer")]


def fetch(cluster: StagedCluster, offset: int) -> bytes:
    """Fetch like a consumer."""
    wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    topic = FetchTopic(topic_id=cluster.image.topics[TOPIC].topic_id, partitions=[wanted])
    request = FetchRequest(max_bytes=1 << 20, session_epoch=-1, topics=[topic])
    reply = cluster.client.call(cluster.endpoint(cluster.await_leader().broker_id), request, 17)
    assert isinstance(reply, FetchResponse) and not reply.responses[0].partitions[0].error_code
    return bytes(reply.responses[0].partitions[0].records or b"")


@pytest.mark.decision("D21")
def test_consumers_of_both_clusters_get_the_bytes_as_they_are() -> None:
    p = pair(logs=WrittenLogs({TOPIC: [*OLD, plain(8, 0, "new")]}))
    p.begin()
    for cluster in (p.a, p.b):
        assert fetch(cluster, 0) == b"".join([*OLD, plain(8, 0, "new")])
        assert fetch(cluster, 3) == b"".join([*OLD[1:], plain(8, 0, "new")]), "from the wrapper that holds it"


def offset_at(cluster: StagedCluster, timestamp: int, *, isolation_level: int = 0) -> tuple[int, int]:
    asked = ListOffsetsPartition(partition_index=0, current_leader_epoch=-1, timestamp=timestamp)
    topics = [ListOffsetsTopic(name=TOPIC, partitions=[asked])]
    request = ListOffsetsRequest(replica_id=-1, isolation_level=isolation_level, topics=topics)
    reply = cluster.client.call(cluster.endpoint(cluster.await_leader().broker_id), request, 9)
    assert isinstance(reply, ListOffsetsResponse)
    row = reply.topics[0].partitions[0]
    assert not row.error_code
    return row.timestamp, row.offset


@pytest.mark.decision("D21")
def test_offsets_are_found_by_the_timestamps_of_format_1() -> None:
    p = pair(logs=WrittenLogs({TOPIC: OLD}))
    p.begin()
    for cluster in (p.a, p.b):
        assert offset_at(cluster, T0_MS) == (T0_MS + 4, 4), "format 0 has no timestamps"
        assert offset_at(cluster, T0_MS + 7) == (T0_MS + 7, 7), "inside a wrapper"
        assert offset_at(cluster, T0_MS + 8) == (-1, -1)
        assert offset_at(cluster, -3) == (T0_MS + 7, 7)
    assert offset_at(pair(logs=WrittenLogs({TOPIC: OLD[:2]})).a, -3) == (-1, -1)


def test_timestamps_above_the_readers_bound_are_not_found() -> None:
    p = pair(logs=WrittenLogs({TOPIC: [*OLD, transactional(8, 0, 9, "open"), plain(9, 0, "above")]}))
    assert offset_at(p.a, T0_MS + 9) == (T0_MS + 9, 9)
    assert offset_at(p.a, T0_MS + 9, isolation_level=1) == (-1, -1)
    assert offset_at(p.a, T0_MS + 7, isolation_level=1) == (T0_MS + 7, 7)
    assert offset_at(p.a, -3) == (T0_MS + 9, 9)
    assert offset_at(p.a, -3, isolation_level=1) == (-1, -1), "Kafka looks for no other (ReplicaManager.fetchOffset)"


# -- there and back ---------------------------------------------------------------------------


@pytest.mark.decision("D28")
@pytest.mark.decision("D10")
def test_a_log_of_old_messages_fails_back_without_another_copy() -> None:
    p = pair(logs=WrittenLogs({TOPIC: OLD}))
    p.begin()
    assert epochs(p.b.log()) == []
    p.simulation.line(p.a, p.b).take_down()
    p.a.write("only on a")
    rows = p.fail_over()
    assert [row.last_mirrored_epoch for row in rows] == [0] and p.b.persisted().last_mirrored_epoch == 0
    (reset,) = resets(p.b.log())
    assert reset.partition_leader_epoch > 0, "above what old messages count as"
    p.b.write("kept")
    p.simulation.line(p.a, p.b).bring_up()
    p.fail_back()
    assert p.cuts_of(p.a) == [(8, 9)], "the record that B never had, and no old message"
    assert values(p.a.log()) == [*[(n, f"m{n}") for n in range(8)], (9, "kept")]
    assert_equal(p.back)


@pytest.mark.decision("D28")
@pytest.mark.parametrize("elections", [0, 2])
def test_a_failover_amid_old_messages_truncates_the_source_to_mirrored_ones(elections: int) -> None:
    p = pair(logs=WrittenLogs({TOPIC: written()}), b_configs=SLOWLY)
    part(p, 12)
    for _ in range(elections):
        p.a.restart(p.a.elect())
        p.a.settle()
        p.a.write("only on a")
    p.fail_over()
    end = resets(p.b.log())[0].base_offset
    assert 12 <= end < 40
    for n in range(40):  # Beyond the end of A's log, so that its offset is in B's range.
        p.b.write(f"b{n}")
    p.simulation.line(p.a, p.b).bring_up()
    p.fail_back()
    assert min(cut for cut, _ in p.cuts_of(p.a)) == end
    assert values(p.a.log())[: end + 1] == [*[(n, f"m{n}") for n in range(end)], (end + 1, "b0")]
    assert_equal(p.back)


@pytest.mark.decision("D28")
def test_there_and_back_again_and_again() -> None:
    p = pair(5, logs=WrittenLogs({TOPIC: OLD}))
    p.begin()
    sides = [(p.there, p.b), (p.back, p.a)]
    for turn in range(4):
        mirror, destination = sides[turn % 2]
        p.simulation.line(p.a, p.b).take_down()
        mirror.source.write(f"lost {turn}")
        p.fail_over(mirror)
        destination.write(f"after {turn}")
        p.simulation.line(p.a, p.b).bring_up()
        reverse = sides[(turn + 1) % 2][0]
        if turn == 0:
            reverse.create()
        reverse.add_topics([TOPIC])
        assert_equal(reverse)
    expected = [*(f"m{n}" for n in range(8)), *(f"after {turn}" for turn in range(4))]
    for cluster in (p.a, p.b):
        assert [value for _, value in values(cluster.log())] == expected
        assert contents(cluster.log())[:6] == [bytes(one.view) for one in iter_any_batches(b"".join(OLD))]


@pytest.mark.decision("D11")
def test_an_empty_log_fails_back_despite_later_leader_epochs() -> None:
    p = pair(logs=WrittenLogs({TOPIC: []}))
    p.begin()
    p.simulation.line(p.a, p.b).take_down()
    p.fail_over()
    p.a.bump(p.b.await_leader().leader_epoch + 20)
    p.simulation.line(p.a, p.b).bring_up()
    p.fail_back()
    assert_equal(p.back)
    assert len(resets(p.a.log())) == 1


@pytest.mark.decision("D11")
def test_followers_of_an_empty_mirrored_log_forget_epochs_without_a_batch() -> None:
    """A replica that led and wrote nothing has an epoch that the leader of the mirrored log does not have."""
    p = pair(logs=WrittenLogs({TOPIC: []}), b_logs=WrittenLogs({TOPIC: []}))
    p.fail_back()
    p.a.bump(7)
    for replica in p.a.replicas(TP).values():
        replica.log.assign_epoch_start(p.a.await_leader().leader_epoch)
    p.a.restart(p.a.elect())
    p.run_until(lambda: all(not r.log.epochs.entries for r in p.a.replicas(TP).values()), "epochs to be forgotten")
    p.b.write("first")
    assert_equal(p.back)


# -- crashes and their losses ------------------------------------------------------------------


@pytest.mark.decision("D28")
def test_no_follower_drops_old_messages_when_the_leader_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """In Kafka a follower without epochs truncates to its high watermark; the next leader's death loses messages."""
    cuts: list[tuple[int, int]] = []
    truncate = PartitionLog.truncate_to

    def noting(log: PartitionLog, offset: int) -> bool:
        if log.tp == TP and offset < log.log_end_offset:
            cuts.append((offset, log.log_end_offset))
        return truncate(log, offset)

    monkeypatch.setattr(PartitionLog, "truncate_to", noting)
    p = pair(3, logs=WrittenLogs({TOPIC: written()}), b_configs=SLOWLY)
    part(p, 12)
    for _ in range(2):
        p.b.restart(p.b.elect())
        p.b.settle()
    assert cuts == []
    p.simulation.line(p.a, p.b).bring_up()
    assert_equal(p.there)
    p.a.restart(p.a.elect())
    p.a.write("new")
    assert_equal(p.there)
    assert cuts == []


def lose(cluster: StagedCluster, end: int) -> None:
    """Let every replica of `cluster` lose its messages from `end` on, as in an unclean election."""
    for broker_id in cluster.broker_ids:
        cluster.kill(broker_id)
        store = cluster.log_dirs[broker_id][0].open(TP)
        kept = b"".join(bytes(one.view) for one in iter_any_batches(store.view(0)) if one.last_offset < end)
        metadata = store.read_file(PARTITION_METADATA)
        assert metadata is not None
        cluster.log_dirs[broker_id][0].put(TP, MemoryStore.from_files({0: kept}, {PARTITION_METADATA: metadata}))
    for broker_id in cluster.broker_ids:
        cluster.restart(broker_id)
    cluster.settle()


@pytest.mark.decision("D28")
@pytest.mark.parametrize("away", [False, True], ids=["all there", "a replica away"])
def test_messages_lost_by_the_source_are_truncated_and_replaced(away: bool) -> None:
    """B ends between new records of A: without an epoch to name, the two would never be compared."""
    p = pair(logs=WrittenLogs({TOPIC: written()}), b_configs=SLOWLY)
    part(p, 20)
    end = p.b.log().log_end_offset
    absent = next(b for b in p.b.await_leader().image.replicas if b != p.b.await_leader().broker_id)
    if away:
        p.b.kill(absent)
    lose(p.a, 12)
    for n in range(20):
        p.a.write(f"instead {n}")
    p.simulation.line(p.a, p.b).bring_up()
    p.run_until(lambda: p.b.log().log_end_offset == 32, "what A wrote")
    if away:
        p.b.restart(absent)
    assert_equal(p.there)
    assert p.cuts_of(p.b) == [(12, end)]
    assert values(p.b.log()) == [(n, f"m{n}" if n < 12 else f"instead {n - 12}") for n in range(32)]


@pytest.mark.decision("D28")
def test_a_source_without_epochs_is_still_mirrored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before 3.0 a topic of an old format has no epochs, and a fetch with an epoch is out of range."""
    p = pair(logs=WrittenLogs({TOPIC: written()}), b_configs=SLOWLY)
    refused: list[int] = []

    def refuse_epochs(
        partition: Partition, request: FetchPartition, reader: Reader, *, foreign: bool
    ) -> PartitionData | None:
        if not reader.is_follower and request.last_fetched_epoch >= 0:
            refused.append(request.last_fetched_epoch)
            return error_row(request.partition, ErrorCode.OFFSET_OUT_OF_RANGE)
        return check_fetch(partition, request, reader, foreign=foreign)

    p.there.create()
    p.there.add_topics([TOPIC])
    monkeypatch.setattr(fetch_api, "check_fetch", refuse_epochs)
    assert_equal(p.there)
    assert refused and set(refused) == {0}
    assert len(refused) < 12, "and it is not asked for ever"
    monkeypatch.undo()
    p.a.write("with an epoch")
    assert_equal(p.there)
    p.fail_over()
    assert wait_until_stopped(p.there)[0].last_mirrored_epoch == 0
