"""Cleaner runs on a mirrored log that is led here: when they are allowed (D46)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kmirror.mirror.access import may_compact
from kmirror.mirror.naming import Assignment
from kmirror.mirror.states import MirrorState, Wish
from tests.unit.cluster.stage import partition

S = MirrorState


@pytest.mark.parametrize(
    ("state", "is_withheld", "expected"),
    [
        *((state, False, state in (S.MIRRORING, S.PAUSING, S.PAUSED)) for state in S),
        (S.MIRRORING, True, False),
        (None, False, False),
    ],
)
@pytest.mark.decision("D46")
def test_a_leader_does_not_compact_while_a_truncation_is_possible(
    state: MirrorState | None, is_withheld: bool, expected: bool
) -> None:
    led = partition()
    mp = SimpleNamespace(state=state, is_withheld=is_withheld)
    assignments = {led.tp.topic: Assignment("m", Wish.MIRROR)}
    context = SimpleNamespace(assignments=assignments, partitions={led.tp: mp})
    assert may_compact(context, led) is expected  # type: ignore[arg-type]


@pytest.mark.decision("D46")
def test_a_log_without_a_mirror_or_that_is_stopped_is_compacted_and_one_not_looked_at_yet_is_not() -> None:
    led = partition()
    context = SimpleNamespace(assignments={}, partitions={})
    assert may_compact(context, led)  # type: ignore[arg-type]
    context.assignments[led.tp.topic] = Assignment("m", Wish.REMOVE)
    assert not may_compact(context, led)  # type: ignore[arg-type]
    context.partitions[led.tp] = SimpleNamespace(state=S.STOPPED, is_withheld=False)
    assert may_compact(context, led)  # type: ignore[arg-type]
