"""State writes that the mirror coordinator accepts: fencing, the table of states, the last mirrored epoch."""

from __future__ import annotations

import pytest

from kmirror.cluster.coordinators.shard_state import LoggedRecord
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.coordinator import StateWrite, decide
from kmirror.mirror.state_records import (
    NEVER_MIRRORED,
    NO_STATE,
    NOT_SETTLED,
    MirrorShard,
    PartitionState,
    StateKey,
)
from kmirror.mirror.states import MirrorState
from kmirror.spec.error_codes import ErrorCode

KEY = StateKey("m", Uuid.from_ints(1, 2), 0)
S = MirrorState


def state_write(state: MirrorState, *, epoch: int = NOT_SETTLED, leader_epoch: int = 5) -> StateWrite:
    return StateWrite(KEY, "orders", state, epoch, leader_epoch)


def known(state: MirrorState, *, epoch: int = NOT_SETTLED, leader_epoch: int = 5) -> PartitionState:
    return PartitionState("orders", state, leader_epoch, epoch)


def after(before: PartitionState, asked: StateWrite) -> PartitionState:
    """Return the state after `asked`, by replaying the records of the decision."""
    records, error = decide(before, asked)
    assert error is ErrorCode.NONE
    shard = MirrorShard()
    if before != NO_STATE:
        shard.put(KEY, before)
    for key, value in records:
        shard.replay(LoggedRecord(key, value))
    return shard.get(KEY) or NO_STATE


@pytest.mark.decision("D9")
def test_an_older_leader_is_fenced() -> None:
    records, error = decide(known(S.MIRRORING, leader_epoch=6), state_write(S.STOPPING, leader_epoch=5))
    assert (list(records), error) == ([], ErrorCode.FENCED_LEADER_EPOCH)


@pytest.mark.decision("D9")
def test_fencing_precedes_the_table() -> None:
    assert decide(known(S.STOPPED, leader_epoch=6), state_write(S.MIRRORING))[1] is ErrorCode.FENCED_LEADER_EPOCH


@pytest.mark.decision("D9")
def test_a_newer_leader_of_the_same_state_leaves_its_epoch() -> None:
    assert after(known(S.MIRRORING), state_write(S.MIRRORING, leader_epoch=9)) == known(S.MIRRORING, leader_epoch=9)


@pytest.mark.decision("D9")
def test_a_writer_without_an_epoch_is_not_fenced_and_lowers_nothing() -> None:
    assert after(known(S.MIRRORING), state_write(S.STOPPING, leader_epoch=-1)) == known(S.STOPPING)


@pytest.mark.decision("D5")
def test_a_transition_outside_the_table_is_refused() -> None:
    records, error = decide(known(S.STOPPED), state_write(S.MIRRORING))
    assert (list(records), error) == ([], ErrorCode.INVALID_REQUEST)
    assert decide(known(S.STOPPED), state_write(S.STOPPING))[1] is ErrorCode.INVALID_REQUEST


@pytest.mark.decision("D68")
def test_any_state_may_be_written_where_none_is_persisted() -> None:
    records, error = decide(NO_STATE, state_write(S.STOPPED, epoch=4))
    assert (len(records), error) == (2, ErrorCode.NONE)


@pytest.mark.decision("D5")
def test_writing_the_same_again_is_a_success_without_a_record() -> None:
    before = known(S.STOPPING, epoch=4)
    assert decide(before, state_write(S.STOPPING, epoch=4)) == ([], ErrorCode.NONE)
    assert decide(before, state_write(S.STOPPING)) == ([], ErrorCode.NONE)


@pytest.mark.decision("D10")
def test_the_epoch_is_settled_while_stopping_and_kept_when_stopped() -> None:
    settled = after(known(S.STOPPING), state_write(S.STOPPING, epoch=4))
    assert settled == known(S.STOPPING, epoch=4)
    stopped = after(settled, state_write(S.STOPPED))
    assert stopped == known(S.STOPPED, epoch=4)
    assert after(stopped, state_write(S.PREPARING)) == known(S.PREPARING, epoch=4), "the source may still ask"


@pytest.mark.decision("D23")
def test_mirroring_again_clears_the_settled_epoch() -> None:
    assert after(known(S.PREPARING, epoch=4), state_write(S.MIRRORING)) == known(S.MIRRORING)
    assert after(known(S.PREPARING, epoch=4), state_write(S.MIRRORING, epoch=4)) == known(S.MIRRORING)


@pytest.mark.decision("D23")
def test_never_mirrored_is_settled() -> None:
    settled = after(known(S.STOPPING), state_write(S.STOPPING, epoch=NEVER_MIRRORED))
    assert settled.last_mirrored_epoch == NEVER_MIRRORED


@pytest.mark.decision("D10")
def test_a_settled_epoch_is_not_settled_again_by_a_write_of_the_state_alone() -> None:
    assert after(known(S.STOPPING, epoch=4), state_write(S.STOPPING, leader_epoch=8)).last_mirrored_epoch == 4
