"""KIP-1279, Exactly-Once Semantics: transactions that a stop keeps, for every offset where replication may end."""

from __future__ import annotations

import pytest

from kmirror.cluster.producer_id_range import first_producer_id
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.records.batch import iter_batches
from kmirror.sim.producer import Producer
from tests.builders import marker
from tests.sim.stage import (
    ONE_BATCH,
    TOPIC,
    TP,
    Pair,
    StagedCluster,
    WrittenLogs,
    assert_equal,
    pair,
    plain,
    records,
    resets,
    transactional,
    values,
)

COMMITTED_AND_ABORTED = [
    transactional(0, 0, 4001, "A=1"),
    transactional(1, 0, 4001, "B=2", sequence=1),
    transactional(2, 0, 4002, "X=9"),
    marker(offset=3, epoch=0, pid=4001, commit=True),
    marker(offset=4, epoch=0, pid=4002, commit=False),
    plain(5, 0, "Z=10"),
]
"""The table of the KIP."""
ABORTED_AND_COMMITTED = [
    *COMMITTED_AND_ABORTED[:3],
    marker(offset=3, epoch=0, pid=4001, commit=False),
    marker(offset=4, epoch=0, pid=4002, commit=True),
    COMMITTED_AND_ABORTED[5],
]
"""The same with swapped outcomes: now the first transaction must not become visible."""

# Offsets 0 to n-1 have arrived: the offset kept by the truncation to the last stable offset. At 4 the marker of 4001
# has arrived, at offset 3, above the first record of 4002, which is open: it is truncated, and written again in the
# destination's epoch (D29).
KEPT = {0: 0, 1: 0, 2: 0, 3: 0, 4: 2, 5: 5, 6: 6}
RESET_AT = {1: 0, 2: 0, 3: 0, 4: 3, 5: 5, 6: 6}
"""Nothing was mirrored, so no producer reset is written (D33)."""


def commit(producer: Producer, *values: str) -> None:
    """Write these values in a transaction."""
    producer.begin_transaction()
    producer.send(records(*values))
    producer.commit_transaction()


def read_committed(cluster: StagedCluster, tp: TopicPartition = TP) -> list[tuple[int, str]]:
    """Return the records of a read_committed consumer, by Fetch, filtered as in a client."""
    partition = FetchPartition(partition=tp.partition, fetch_offset=0, partition_max_bytes=1 << 20)
    topic_id = cluster.image.topics[tp.topic].topic_id
    request = FetchRequest(
        max_bytes=1 << 20,
        isolation_level=1,
        session_epoch=-1,
        topics=[FetchTopic(topic_id=topic_id, partitions=[partition])],
    )
    reply = cluster.client.call(cluster.endpoint(cluster.await_leader(tp).broker_id), request, 17)
    assert isinstance(reply, FetchResponse)
    data = reply.responses[0].partitions[0]
    assert data.error_code == 0
    starts = sorted((row.first_offset, row.producer_id) for row in data.aborted_transactions or ())
    aborting: set[int] = set()
    found: list[tuple[int, str]] = []
    for batch in iter_batches(data.records or b""):
        while starts and starts[0][0] <= batch.base_offset:
            aborting.add(starts.pop(0)[1])
        if batch.is_control:
            if batch.is_transactional:
                aborting.discard(batch.producer_id)
        elif not (batch.is_transactional and batch.producer_id in aborting):
            found += [(record.offset, (record.value or b"").decode()) for record in batch.records()]
    return found


def stop_after(count: int, table: list[bytes], seed: int = 0) -> Pair:
    """Take the line down when `count` batches of the table have arrived, and fail over."""
    # One batch in each fetch: the source serves all of it, as every transaction is decided there.
    p = pair(seed, logs=WrittenLogs({TOPIC: table}), b_configs=ONE_BATCH)
    p.there.create()
    p.there.add_topics([TOPIC])
    p.run_until(lambda: (found := p.b.leader(TP)) is not None and found.log.log_end_offset == count, f"{count} batches")
    if count:
        p.simulation.line(p.a, p.b).take_down()
    else:
        p.run_until(lambda: p.b.state() == "PREPARING", "PREPARING")  # Too short to be seen by requests.
        p.simulation.line(p.a, p.b).take_down()
    p.run_until(lambda: p.b.log().high_watermark == count, "the followers")
    assert p.b.log().log_end_offset == count
    p.fail_over()
    return p


@pytest.mark.kip("1279", "Exactly-Once Semantics")
@pytest.mark.decision("D15")
@pytest.mark.decision("D29")
@pytest.mark.parametrize("count", range(7))
def test_stop_keeps_only_decided_transactions(count: int) -> None:
    p = stop_after(count, COMMITTED_AND_ABORTED)
    log = p.b.log()
    assert [reset.base_offset for reset in resets(log)] == ([RESET_AT[count]] if count else [])
    kept = [(offset, value) for offset, value in [(0, "A=1"), (1, "B=2"), (5, "Z=10")] if offset < KEPT[count]]
    assert read_committed(p.b) == kept
    assert log.last_stable_offset == log.log_end_offset == (RESET_AT[count] + 1 if count else 0)


@pytest.mark.kip("1279", "Exactly-Once Semantics")
@pytest.mark.decision("D15")
@pytest.mark.decision("D29")
@pytest.mark.parametrize("count", range(7))
def test_stop_never_shows_an_aborted_record(count: int) -> None:
    """A truncation that removes an abort marker and keeps its records would make them visible: nothing is open then."""
    p = stop_after(count, ABORTED_AND_COMMITTED)
    kept = [(offset, value) for offset, value in [(2, "X=9"), (5, "Z=10")] if offset < KEPT[count]]
    assert read_committed(p.b) == kept
    assert [reset.base_offset for reset in resets(p.b.log())] == ([RESET_AT[count]] if count else [])


@pytest.mark.kip("1279", "Exactly-Once Semantics")
@pytest.mark.decision("D12")
def test_a_transaction_decided_above_an_open_one_is_not_mirrored_whole() -> None:
    """The source serves up to its LSO, the first record of 4002: 4001's marker is not mirrored, so 4001 is lost too."""
    p = pair(logs=WrittenLogs({TOPIC: COMMITTED_AND_ABORTED[:4]}))
    p.there.create()
    p.there.add_topics([TOPIC])
    p.run_until(lambda: (found := p.b.leader(TP)) is not None and found.log.high_watermark == 2, "offset 2")
    rows = p.there.wait_for_state(MirrorState.MIRRORING, [TP], caught_up=True)
    assert [(row.source_offset, row.destination_offset, row.lag) for row in rows] == [(4, 2, 2)], "D22"
    p.simulation.line(p.a, p.b).take_down()
    p.fail_over()
    assert p.cuts_of(p.b) == [(0, 2)]
    assert read_committed(p.b) == []


@pytest.mark.kip("1279", "Exactly-Once Semantics")
@pytest.mark.decision("D15")
def test_after_a_stop_with_two_open_transactions_the_same_transactional_ids_commit() -> None:
    p = pair()
    p.a.place_topic()
    p.a.write("before")
    open_one = Producer(p.a, transactional_id="t1")
    open_two = Producer(p.a, transactional_id="t2")
    for producer, text in ((open_one, "open 1"), (open_two, "open 2")):
        producer.begin_transaction()
        producer.send(records(text))
    p.begin()
    assert p.b.log().log_end_offset == 1, "open transactions are above the source's LSO"
    p.simulation.line(p.a, p.b).take_down()
    p.fail_over()
    for name in ("t1", "t2"):
        commit(Producer(p.b, transactional_id=name), f"{name} on b")
    p.run_until(lambda: p.b.log().last_stable_offset == p.b.log().log_end_offset, "the markers")
    assert [value for _, value in read_committed(p.b)] == ["before", "t1 on b", "t2 on b"]


@pytest.mark.decision("D15")
@pytest.mark.kip("1279", "MIRROR_PID_RESET")
def test_producer_ids_of_the_destination_do_not_collide_with_mirrored_ones() -> None:
    """Although two clusters share a range: the mirrored log has B's ids, with higher sequences and epochs."""
    first = first_producer_id(pair(start=False).b.cluster_id)
    second = first + 1000  # Of the next broker's block.
    log = [
        transactional(0, 0, first, "a0", "a1", "a2", producer_epoch=7),
        marker(offset=3, epoch=0, pid=first, commit=True, producer_epoch=7),
        transactional(4, 0, second, "b0", "b1", producer_epoch=9),
        marker(offset=6, epoch=0, pid=second, commit=True, producer_epoch=9),
    ]
    p = pair(logs=WrittenLogs({TOPIC: log}))
    p.begin()
    assert sorted(p.b.log().producers.entries) == [first, second]
    p.fail_over()
    assert all(not replica.log.producers.entries for replica in p.b.replicas(TP).values()), "on every replica"
    idempotent = Producer(p.b, idempotent=True)
    transactions = Producer(p.b, transactional_id="t")
    assert {idempotent.producer_id, transactions.producer_id} == {first, second}
    idempotent.send(records("from b"))
    commit(transactions, "in a transaction on b")
    p.run_until(lambda: p.b.log().last_stable_offset == p.b.log().log_end_offset, "the marker")
    assert [value for _, value in values(p.b.log())][-2:] == ["from b", "in a transaction on b"]
    p.fail_back()
    assert_equal(p.back)
