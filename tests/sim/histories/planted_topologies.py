"""Faults planted into requests about mirrors, and into the truncations of a failback.

They are rows of FAULTS in tests/sim/histories/planted.py.
"""

from __future__ import annotations

from typing import Any

from kmirror.mirror import driver, preparing
from kmirror.mirror.cut_rules import FROM_SCRATCH
from kmirror.mirror.states import Wish
from kmirror.mirror.syncs import topic_scripts
from tests.sim.histories.planted import Patch, fault

_REMOVED = {Wish.PAUSE: Wish.REMOVE}


@fault("failback-copies-again", profile="failback_to_a_far_replica")
def failback_cuts_from_scratch(patch: Patch) -> None:
    """A failback copies everything, although the source has a settled epoch (D11, D31)."""
    patch(preparing, "effective_cut_epoch", lambda log, epoch: FROM_SCRATCH)


@fault("config-regression", profile="grown_and_altered")
def configs_of_an_earlier_cycle_come_again(patch: Patch) -> None:
    """Every other cycle of the config sync uses the source's first configs (D17)."""
    first: dict[str, Any] = {}
    cycles: list[None] = []

    def plan(names: Any, theirs: Any, *rest: Any) -> Any:
        cycles.append(None)
        for name, values in theirs.items():
            if values:
                first.setdefault(name, dict(values))
        return original(names, theirs if len(cycles) % 2 else {**theirs, **first}, *rest)

    original = patch(topic_scripts.configs, "plan", plan)


@fault("unordered-stop", profile="paused_for_a_while")
def pause_taken_for_a_removal(patch: Patch) -> None:
    """A leader that finds its topic paused stops it (D50)."""
    original = patch(driver, "next_state", lambda wish, state: original(_REMOVED.get(wish, wish), state))
