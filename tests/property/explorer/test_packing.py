"""Packed states are equal exactly if the states are, in any process."""

from __future__ import annotations

import pytest

from kmirror.explorer.model import Model
from kmirror.explorer.packing import pack, unpack
from kmirror.explorer.rules import find_rules
from kmirror.explorer.scopes import Scope, find_scope
from kmirror.explorer.search import explore

SCOPES = [
    find_scope("tiny"),
    Scope("three", "followers that can be told apart", (3, 1), (1, 0), (0, 1), clean=(1, 0)),
]


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: scope.name)
def test_a_search_over_packed_states_meets_the_same_states(scope: Scope) -> None:
    """Two models take turns; each has filled its tables in another order."""
    models = [Model(scope, find_rules("decided")) for _ in range(2)]
    first = pack(models[0], models[0].initial_state())
    known, frontier, turns = {first: None}, [first], 0
    while frontier:
        reached = []
        for data in frontier:
            turns += 1
            model = models[turns % 2]
            for after in model.successors(unpack(model, data)):
                packed = pack(model, after)
                if packed not in known:
                    known[packed] = None
                    reached.append(packed)
        frontier = reached
    assert len(known) == explore(Model(scope, find_rules("decided"))).states


def test_a_state_survives_a_round_trip() -> None:
    model = Model(find_scope("four-sessions"), find_rules("decided", ("D39",)))
    path = explore(model).path
    assert [unpack(model, pack(model, state)) for state in path] == list(path)
    assert any(model.protected(state) for state in path)
