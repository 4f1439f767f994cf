"""Permitted truncations of a log that its source's mirror never copied (D25)."""

from __future__ import annotations

import pytest

from kmirror.histories.checkers.reasons import may_cut
from tests.unit.histories.hand import TP, Hand, rows

(X0,) = rows("x0")


@pytest.mark.decision("D25")
@pytest.mark.parametrize(
    ("epoch", "written_at", "mirror", "expected"),
    [(0, -1, "m", True), (0, 9, "m", False), (-1, -1, "m", False), (0, -1, "n", False)],
    ids=["nothing of its own", "a record of its own", "nothing was mirrored", "by another mirror"],
)
def test_records_that_came_from_the_source_are_no_only_copy(
    epoch: int, written_at: float, mirror: str, expected: bool
) -> None:
    hand = Hand().wrote("x0", 0, cluster="b").stay("a", "b", began=1, removed=2, stopped=3, epoch=-1)
    hand.stay("b", "a", began=5, mirroring=6, removed=7, stopped=8, epoch=epoch, mirror=mirror).look("a", [X0], at=8)
    if written_at >= 0:
        hand.wrote("x1", 1, at=written_at)
    facts = hand.stay("b", "a", began=10, mirroring=12).facts()
    assert may_cut(facts, facts.sessions(("a", TP))[-1]) is expected
