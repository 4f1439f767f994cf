"""Logs of the ISR when a mirror reaches MIRRORING."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kmirror.cluster.node.partition import UNKNOWN_OFFSET
from kmirror.histories.monitors.sessions import SessionMonitor
from tests.unit.histories.mirrored import MirroredStage, batch
from tests.unit.histories.monitors import broken_rules


@pytest.mark.decision("D12")
@pytest.mark.parametrize(
    ("prepared", "has_fetched", "is_told"), [(False, False, False), (False, True, True), (True, False, True)]
)
def test_a_member_of_the_isr_may_follow_a_truncation_in_mirroring_late(
    prepared: bool, has_fetched: bool, is_told: bool
) -> None:
    """It was paused and resumed before the member fetched (full 713033); a leader in PREPARING has waited for all."""
    stage = MirroredStage()
    stage.fill(stage.leader.log, batch(0, 0))
    for broker_id in (2, 3):
        stage.fill(stage.log("a", broker_id), batch(0, 0), batch(2, 0))
        stage.leader.followers[broker_id].log_end = 4 if has_fetched else UNKNOWN_OFFSET
    replicas = {broker_id: SimpleNamespace(log=stage.log("a", broker_id)) for broker_id in (1, 2, 3)}
    stage.scene.clusters["a"] = SimpleNamespace(replicas=lambda tp: replicas)
    SessionMonitor(stage.scene, stage.rules).check_replicas("a", stage.leader, prepared=prepared)  # type: ignore[arg-type]
    assert broken_rules(stage.scene) == (["isr-uncut"] if is_told else [])
