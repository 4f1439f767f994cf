"""Table of the rule machines by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import NamedTuple

from kmirror.errors import UsageError, did_you_mean
from kmirror.fuzz.sessions.links import SimulatedLink
from kmirror.fuzz.sessions.machine import AnyMachine, Choose


class MachineRow(NamedTuple):
    """A machine: `MACHINE` of the module, and its function `simulated(seed, choose)` for a suitable kmirror broker."""

    name: str
    module: str
    about: str
    is_for_kafka: bool
    """Whether it also works with a Kafka broker."""

    def machine(self) -> AnyMachine:
        """Return the machine."""
        found: AnyMachine = importlib.import_module(self.module).MACHINE
        return found

    def open_simulated_link(self, seed: int, choose: Choose) -> SimulatedLink:
        """Return a link to a new broker in the simulator; `choose` may select its configs."""
        open_link: Callable[[int, Choose], SimulatedLink] = importlib.import_module(self.module).open_simulated_link
        return open_link(seed, choose)


MACHINES: tuple[MachineRow, ...] = (
    MachineRow("groups", "kmirror.fuzz.sessions.groups", "members of classic consumer groups, and their offsets", True),
    MachineRow("fetches", "kmirror.fuzz.sessions.fetches", "fetch sessions, and records between their fetches", True),
    MachineRow("transactions", "kmirror.fuzz.sessions.transactions", "producers with transactions, and readers", True),
    MachineRow("mirrors", "kmirror.fuzz.sessions.mirrors", "two clusters that mirror a topic, both ways", False),
)


def machine_row(name: str) -> MachineRow:
    """Return the row of a machine; raises `UsageError` for an unknown name."""
    rows = {row.name: row for row in MACHINES}
    if name not in rows:
        hint = did_you_mean(name, rows)
        raise UsageError(f"unknown machine {name!r}" + (f"; {hint}" if hint else f": {', '.join(rows)}"))
    return rows[name]
