"""State of a mirrored partition's leader that it keeps in its next leader epoch."""

from __future__ import annotations

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.lineage import Lineage, Stretch
from kmirror.mirror.naming import Assignment
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.reopened_transactions import StopPlan
from kmirror.mirror.state_records import PartitionState
from kmirror.mirror.states import MirrorState, Wish

TP = TopicPartition("orders", 0)


def stopping() -> MirrorPartition:
    mp = MirrorPartition(TP, Uuid.from_ints(1, 2), Assignment("m", Wish.REMOVE))
    mp.enter(MirrorState.STOPPING)
    mp.last_mirrored_epoch, mp.uncut, mp.stop = 4, {2: -1}, StopPlan(7, 5, (9,))
    mp.lineage = Lineage((Stretch(0, "a"),), 3)
    return mp


@pytest.mark.decision("D68")
def test_a_leader_with_an_epoch_raised_twice_keeps_all_persisted_state() -> None:
    """It has not read the state again between the two."""
    mp = stopping()
    raised = mp.for_new_leader(led_before=True).for_new_leader(led_before=True)
    assert raised.state is None, "another state may be persisted"
    expected = PartitionState("orders", MirrorState.STOPPING, -1, 4, mp.uncut, mp.stop, mp.lineage)
    assert raised.previous_state == expected


@pytest.mark.decision("D8")
@pytest.mark.decision("D68")
def test_a_leader_forgets_it_if_another_broker_may_have_led_in_between() -> None:
    assert stopping().for_new_leader(led_before=False).previous_state is None
    assert stopping().for_new_leader(led_before=True).for_new_leader(led_before=False).previous_state is None
