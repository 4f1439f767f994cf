"""At rest `__mirror_state` contains the states of the leaders."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kmirror.histories.monitors import persisted_states
from kmirror.histories.monitors.persisted_states import PersistedStateMonitor
from kmirror.mirror.lineage import Lineage, single_stretch
from kmirror.mirror.state_records import PartitionState
from kmirror.mirror.states import MirrorState
from tests.unit.histories.mirrored import MirroredStage
from tests.unit.histories.monitors import TP, broken_rules

LINEAGE = Lineage(single_stretch("id-b"), 3)
KEPT = PartitionState(TP.topic, MirrorState.STOPPED, lineage=LINEAGE)


@pytest.mark.decision("D68")
@pytest.mark.parametrize(
    ("persisted", "leads", "busy", "expected"),
    [
        (KEPT, True, False, []),
        (None, True, False, ["state-not-kept"]),
        (replace(KEPT, state=MirrorState.STOPPING), True, False, ["state-not-kept"]),
        (replace(KEPT, lineage=Lineage()), True, False, ["state-not-kept"]),
        (None, False, False, []),
        (None, True, True, []),
    ],
    ids=["kept", "lost", "another state", "another lineage", "deposed", "written just now"],
)
def test_a_state_is_kept_as_its_leader_knows_it(
    persisted: PartitionState | None, leads: bool, busy: bool, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = MirroredStage()
    mp = stage.mp
    mp.state, mp.lineage, mp.is_busy = MirrorState.STOPPED, LINEAGE, busy
    context: Any = SimpleNamespace(
        coordinator=SimpleNamespace(unwritable=lambda shards: [], shard_of=lambda key: None),
        partitions={TP: mp},
        replicas=SimpleNamespace(partitions=SimpleNamespace(find_led=lambda tp: stage.leader)),
    )
    image = SimpleNamespace(leader_epoch=stage.leader.leader_epoch + (not leads))
    stage.scene.mirror_context = lambda *_: context
    stage.scene.image = lambda cluster: SimpleNamespace(topics=SimpleNamespace(partition=lambda tp: image))
    rows = [] if persisted is None else [(mp.key, persisted)]
    monkeypatch.setattr(persisted_states, "persisted_states", lambda scene, cluster: iter(rows))
    PersistedStateMonitor(stage.scene, stage.rules).check_settled("a", 1)
    assert broken_rules(stage.scene) == expected
