"""Each rule of a run, with a history that breaks it and one that does not."""

from __future__ import annotations

from kmirror.experiments.failover_rules import (
    Content,
    Contents,
    check_atomic_per_partition,
    check_kept,
    check_only_committed,
    check_prefix,
    missing,
)
from kmirror.kernel.ids import TopicPartition
from kmirror.sim.workload import AckedBatch

HERE, THERE = TopicPartition("orders", 0), TopicPartition("orders", 1)


def acked(tp: TopicPartition, offset: int, transaction: str | None = None) -> AckedBatch:
    return AckedBatch(tp, offset, 10, b"%d" % offset, 0, transaction)


def holds(present: list[int], hidden: tuple[int, ...] = ()) -> Content:
    """Return a log with batches at these offsets; a read_committed consumer does not get the `hidden` ones."""
    keys = {b"%d" % offset: offset for offset in present}
    return Content(keys, frozenset(key for key, offset in keys.items() if offset not in hidden))


def contents_of(content: Content) -> Contents:
    return {HERE: content}


WRITTEN = [acked(HERE, 0), acked(HERE, 10), acked(HERE, 20)]


def test_a_failover_keeps_a_prefix() -> None:
    assert list(check_prefix(WRITTEN, contents_of(holds([0, 10])))) == []
    assert list(check_prefix(WRITTEN, contents_of(holds([0, 10], hidden=(0,))))) == [], "an aborted batch is in the log"
    (text,) = check_prefix(WRITTEN, contents_of(holds([0, 20])))
    assert text == "failover keeps a prefix: orders-0 lacks 10 and has 20"


def test_a_batch_at_another_offset_is_another_batch() -> None:
    moved = Content({b"0": 0, b"10": 20, b"20": 30}, frozenset((b"0", b"10", b"20")))
    assert list(check_prefix(WRITTEN, contents_of(moved))) == []
    assert list(
        check_prefix([*WRITTEN, acked(HERE, 40)], contents_of(Content({**moved.offsets, b"40": 40}, moved.read)))
    )


def test_a_committed_transaction_is_complete_in_a_partition_or_missing() -> None:
    batches = [acked(HERE, 0, "t"), acked(HERE, 10, "t"), acked(THERE, 50, "t")]
    torn = {HERE: holds([0, 10]), THERE: holds([])}
    assert list(check_atomic_per_partition(batches, torn)) == []
    assert [batch.base_offset for batch in missing(batches, torn)] == [50]
    (text,) = check_atomic_per_partition(batches, {HERE: holds([0, 10], hidden=(10,)), THERE: holds([50])})
    assert text == "transactions are atomic per partition: orders-0 shows t without 10"


def test_uncommitted_records_are_not_read() -> None:
    assert list(check_only_committed([b"10"], contents_of(holds([0, 10], hidden=(10,))))) == []
    (text,) = check_only_committed([b"10"], contents_of(holds([0, 10])))
    assert text == "reads are committed: orders-0 offset 10 is not"


def test_acknowledged_records_stay() -> None:
    assert list(check_kept(WRITTEN, contents_of(holds([0, 10, 20])), "a")) == []
    assert list(check_kept([acked(THERE, 7)], contents_of(holds([])), "a")) == [], "a partition that was never mirrored"
    (text,) = check_kept(WRITTEN, contents_of(holds([0, 10, 20], hidden=(20,))), "a")
    assert text == "acknowledged records of b are kept: orders-0 offset 20 is not on a"
