"""The search runs the engine's own functions for D30 and D35: with a wrong statement in them, it finds the loss."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication import truncation
from kmirror.explorer.model import Model
from kmirror.explorer.rules import find_rules
from kmirror.explorer.scopes import find_scope
from kmirror.explorer.search import Ending, explore
from kmirror.mirror import cut_rules, preparing, uncut_replicas


class EngineFault(NamedTuple):
    """`right` in the source of `function` becomes `wrong`."""

    name: str
    function: Callable[..., Any]
    right: str
    violations: str
    scope: str
    anomaly: str


FAULTS = (
    # D35
    EngineFault("log ends from before the cut still count", Partition.on_log_cut, "follower.log_end = UNKNOWN_OFFSET",
                "pass", "destination-three", "divergence"),
    EngineFault("whoever is not listed has confirmed", Partition.has_confirmed,
                "follower.log_end != UNKNOWN_OFFSET and ", "", "destination-three", "divergence"),
    EngineFault("MIRRORING does not wait for the ISR", preparing.unconfirmed_reason, "if uncut:", "if False:",
                "destination-three", "divergence"),
    EngineFault("the high watermark passes unknown followers", Partition.advance_high_watermark,
                "return False\n        end", "continue\n        end", "missed-two", "divergence"),
    # D30
    EngineFault("an unlisted replica counts as listed", preparing._is_cut_listed, "mp.uncut.get(row, epoch + 1)",
                "mp.uncut.get(row, epoch)", "missed-two", "divergence"),
    EngineFault("the epochs on the list are not looked at", preparing._is_cut_listed, "<= epoch for row",
                ">= -1 for row", "missed-two", "divergence"),
    EngineFault("a cut of anything needs no list", preparing._is_cut_listed, ">= partition.log.log_end_offset", ">= 0",
                "missed-two", "divergence"),
    EngineFault("a listed replica gets no cut order", Partition.demand_cut, "{**self.required_cuts, replica: epoch}",
                "self.required_cuts", "missed-two", "divergence"),
    EngineFault("a listed replica joins the ISR", Partition.may_join, " or replica in self.barred_from_isr", "",
                "destination-three", "divergence"),
    EngineFault("MIRRORING lists no late replica", uncut_replicas.uncut_to_persist,
                "partition.unconfirmed_members(partition.image.replicas)", "()", "missed-two-unclean", "divergence"),
    EngineFault("a replica that must cut is not listed", uncut_replicas.uncut_to_persist,
                "r in partition.required_cuts", "r not in partition.required_cuts", "missed-two", "divergence"),
    EngineFault("a new leader demands nothing", uncut_replicas.apply_uncut, "known.get(replica) != epoch",
                "known.get(replica) == epoch", "missed-two", "divergence"),
    EngineFault("one epoch too many counts as cut", truncation.is_cut, "<= cut_epoch", "<= cut_epoch + 1",
                "missed-two-unclean", "divergence"),
    # D36
    EngineFault("a stop takes no new epoch", cut_rules.epoch_after_stop, " + 1", "", "destination-three",
                "divergence"),
)  # fmt: skip


@contextmanager
def planted(fault: EngineFault) -> Iterator[None]:
    """Replace the code of the fault's function by that of its wrong source."""
    function, kept = fault.function, fault.function.__code__
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(fault.right) == 1, f"{function.__qualname__} is not what {fault.name!r} was written for"
    names: dict[str, Any] = {}
    violations = "from __future__ import annotations\n" + source.replace(fault.right, fault.violations)
    exec(violations, dict(function.__globals__), names)
    function.__code__ = names[function.__name__].__code__
    try:
        yield
    finally:
        function.__code__ = kept


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
@pytest.mark.decision("D35")
@pytest.mark.decision("D30")
def test_a_fault_in_the_engines_rules_is_found(fault: EngineFault) -> None:
    with planted(fault):
        outcome = explore(Model(find_scope(fault.scope), find_rules("decided")))
    assert outcome.ending is Ending.FOUND
    assert outcome.anomaly.startswith(fault.anomaly)
