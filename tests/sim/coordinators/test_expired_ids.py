"""Transactional ids expire: an unused one is removed from `__transaction_state` with a tombstone."""

from __future__ import annotations

import pytest

from kmirror.cluster.coordinators.transactions.state import Status
from kmirror.protocol.gen.transaction_log_key import TransactionLogKey
from kmirror.protocol.keyed_records import encode_key
from kmirror.spec.error_codes import ErrorCode
from tests.sim.coordinators.test_transaction_version_2 import COMMIT, NONE, SHARD, Stage

KEY = encode_key(TransactionLogKey(transactional_id="t"))
CONFIGS = {
    "transactional.id.expiration.ms": "10000",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "1000",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "3600000",
}


def start_stage(*, transaction_version: int = 2) -> Stage:
    stage = Stage(transaction_version=transaction_version, **CONFIGS)
    assert stage.init() is NONE
    return stage


def tombstones(stage: Stage) -> int:
    records = [record for batch in stage.cluster.log(SHARD).batches() for record in batch.records()]
    return sum(record.key == KEY and record.value is None for record in records)


@pytest.mark.parametrize("is_used", [True, False], ids=["committed", "never-used"])
def test_an_unused_id_is_removed_once_it_has_expired(is_used: bool) -> None:
    stage = start_stage()
    if is_used:
        assert stage.produce() is NONE
        stage.end(commit=COMMIT)
    run_for, former = stage.cluster.simulation.run_for, stage.producer_id
    run_for(span_s=9)
    assert stage.coordinator.find("t") is not None
    run_for(span_s=3)
    assert stage.coordinator.find("t") is None and tombstones(stage) == 1
    stage.cluster.kill(stage.cluster.await_leader(SHARD).broker_id)
    run_for(span_s=15)
    assert stage.coordinator.find("t") is None and tombstones(stage) == 1, "the next coordinator reads the tombstone"
    assert stage.produce(sequence=int(is_used)) is not NONE
    assert stage.init() is NONE
    assert stage.producer_id != former and stage.epoch == 0


def test_an_id_with_an_open_transaction_does_not_expire() -> None:
    stage = start_stage()
    assert stage.produce() is NONE
    stage.cluster.simulation.run_for(span_s=30)
    assert stage.state.status is Status.ONGOING
    stage.end(commit=COMMIT)
    assert tombstones(stage) == 0


def test_an_id_that_is_used_again_does_not_expire() -> None:
    stage = start_stage()
    for _ in range(4):
        stage.cluster.simulation.run_for(span_s=6)
        assert stage.init() is ErrorCode.NONE
    assert stage.state.status is Status.EMPTY and tombstones(stage) == 0
