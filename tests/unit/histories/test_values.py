"""Values of a batch that a client sees: the consumer's own filter of aborted transactions."""

from __future__ import annotations

from kmirror.histories.values import ValueReader
from kmirror.records.batch import Batch
from kmirror.records.build import build_batch
from kmirror.records.control import mirror_pid_reset
from kmirror.records.record import RecordData
from tests.builders import marker


def data(offset: int, producer_id: int, *values: str, epoch: int = 0) -> Batch:
    return Batch(
        build_batch(
            [RecordData(value=value.encode()) for value in values],
            base_offset=offset,
            partition_leader_epoch=epoch,
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=0,
            is_transactional=True,
            timestamp_ms=1,
        )
    )


def test_a_transaction_is_hidden_from_its_first_offset_to_its_abort() -> None:
    batches = [
        data(0, 7, "before"),
        Batch(marker(offset=1, pid=7, commit=True)),
        data(2, 7, "aborted"),
        data(3, 8, "other"),
        Batch(marker(offset=4, pid=7, commit=False)),
        data(5, 7, "after"),
    ]
    rows = list(ValueReader().rows(batches, [(7, 2)]))
    assert [(r.value, r.is_aborted) for r in rows] == [
        ("before", False),
        ("<COMMIT 7>", False),
        ("aborted", True),
        ("other", False),
        ("<ABORT 7>", False),
        ("after", False),
    ]
    assert [r.is_control for r in rows] == [False, True, False, False, True, False]


def test_a_copied_batch_is_read_with_its_own_epoch_and_offset() -> None:
    reader = ValueReader()
    first = list(reader.rows([data(4, 7, "x", "y")], []))
    again = list(reader.rows([data(4, 7, "x", "y", epoch=3)], []))
    elsewhere = list(reader.rows([data(6, 7, "x", "y")], []))
    assert [(r.offset, r.epoch, r.value) for r in first] == [(4, 0, "x"), (5, 0, "y")]
    assert [(r.offset, r.epoch) for r in again] == [(4, 3), (5, 3)]
    assert [r.offset for r in elsewhere] == [6, 7]


def test_a_producer_reset_is_a_control_record_without_a_producer() -> None:
    reset = Batch(mirror_pid_reset(base_offset=0, leader_epoch=1, timestamp_ms=1, source_cluster_id="x"))
    [row] = ValueReader().rows([reset], [])
    assert (row.value, row.is_control, row.producer_id) == ("<MIRROR_PID_RESET -1>", True, -1)
