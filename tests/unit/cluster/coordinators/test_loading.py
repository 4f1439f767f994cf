"""A new coordinator with a log that cannot be read to its end: it behaves like Kafka 4.3.1."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kmirror.cluster.coordinators.groups.classic.records import metadata_record
from kmirror.cluster.coordinators.groups.state import GroupShard
from kmirror.cluster.coordinators.loading import load
from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.cluster.coordinators.shard_state import ShardState, TableShard
from kmirror.cluster.coordinators.transactions.state import Status, Transaction, TransactionShard
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.state_records import MirrorShard, StateKey, state_record
from kmirror.mirror.states import MirrorState
from kmirror.protocol.gen.group_metadata_value import GroupMetadataValue
from kmirror.protocol.gen.transaction_log_value import PartitionsSchema, TransactionLogValue
from kmirror.protocol.keyed_records import encode_value
from kmirror.records.batch import Batch, iter_batches
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData

NEW_TYPE = b"\x00\x63new"
GROUP = metadata_record("before", GroupMetadataValue(protocol_type="consumer"))
STATE = state_record(StateKey("m", Uuid.from_ints(1, 1), 0), "orders", MirrorState.MIRRORING, 3)


def transaction(name: str, status: Status = Status.EMPTY) -> KeyValue:
    return Transaction(name, 7, 0, 1_000, status).record(2)


def batches(*rows: tuple[bytes | None, bytes | None]) -> list[Batch]:
    data = build_batch([RecordData(key=key, value=value, timestamp=0) for key, value in rows])
    return list(iter_batches(data))


def load_rows(state: ShardState, rows: Sequence[tuple[bytes | None, bytes | None]]) -> str | None:
    return load(state, batches(*rows), len(rows))


@pytest.mark.parametrize(
    ("make", "row"), [(GroupShard, GROUP), (TransactionShard, transaction("t")), (MirrorShard, STATE)]
)
def test_a_record_of_an_unknown_type_is_passed_over(make: type[ShardState], row: KeyValue) -> None:
    state = make()
    assert load_rows(state, [(NEW_TYPE, b"anything"), row, (NEW_TYPE, None)]) is None
    if isinstance(state, GroupShard):
        assert state.ids(committed=True) == ["before"]
    else:
        assert isinstance(state, TableShard) and len(state.all_committed()) == 1


@pytest.mark.parametrize(
    ("make", "rows"),
    [
        (GroupShard, [GROUP, (b"\0", b"")]),
        (GroupShard, [GROUP, (None, b"x")]),
        (GroupShard, [GROUP, (GROUP[0], b"\x00\x63")]),
        (GroupShard, [GROUP, (GROUP[0], GROUP[1] and GROUP[1][:-1])]),
        (TransactionShard, [transaction("t"), (b"\0", b"")]),
        (TransactionShard, [transaction("t"), (None, b"x")]),
        (TransactionShard, [transaction("t"), (transaction("u")[0], b"\0\0\0")]),
        (MirrorShard, [STATE, (b"\0", b"")]),
        (MirrorShard, [STATE, (STATE[0], b"\0\0\0")]),
    ],
)
def test_an_unreadable_record_is_reported_with_its_offset(
    make: type[ShardState], rows: list[tuple[bytes | None, bytes | None]]
) -> None:
    told = load_rows(make(), rows)
    assert told is not None and told.startswith("from offset 1 on: ")


def test_a_status_or_state_that_is_none_cannot_be_read() -> None:
    key, value = transaction("t", Status.ONGOING)
    assert value is not None
    at = value.index(bytes([Status.ONGOING]), 2 + 8 + 2 + 4)
    told = load_rows(TransactionShard(), [(key, value[:at] + b"\x63" + value[at + 1 :])])
    assert told == "from offset 0 on: unknown transaction status 99 (at field transaction_status)"
    key, value = STATE
    assert value is not None
    at = value.index(b"orders") + len(b"orders") + 4
    told = load_rows(MirrorShard(), [(key, value[:at] + b"\x63" + value[at + 1 :])])
    assert told == "from offset 0 on: unknown mirror state 99 (at field state)"


def test_transactions_are_those_that_were_read_until_then() -> None:
    state = TransactionShard()
    rows = [transaction("a"), transaction("b"), (None, b"x"), transaction("c")]
    assert load_rows(state, rows) is not None
    assert sorted(state.all_committed()) == ["a", "b"]
    assert state.SERVED_IF_TRUNCATED and not GroupShard.SERVED_IF_TRUNCATED and not MirrorShard.SERVED_IF_TRUNCATED


def test_a_transaction_of_a_version_that_is_not_known_is_passed_over() -> None:
    state = TransactionShard()
    assert load_rows(state, [transaction("a"), (transaction("b")[0], b"\x00\x63new"), transaction("c")]) is None
    assert sorted(state.all_committed()) == ["a", "c"]


def test_a_partition_counts_once_and_an_empty_log_has_none() -> None:
    for status, wanted in ((Status.ONGOING, (TopicPartition("t", 1), TopicPartition("t", 0))), (Status.EMPTY, ())):
        value = TransactionLogValue(transaction_status=status)
        value.transaction_partitions = [PartitionsSchema(topic="t", partition_ids=ids) for ids in ([1, 0], [1])]
        state = TransactionShard()
        assert load_rows(state, [(transaction("a")[0], encode_value(value, 0))]) is None
        assert state.all_committed()["a"].partitions == wanted
