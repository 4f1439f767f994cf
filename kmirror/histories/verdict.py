"""How did a history end? Anomalies by name, what the KIP itself accepts, and the exit codes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from kmirror.histories.account import Account
from kmirror.histories.plan import Plan
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition


class Exit(IntEnum):
    """Exit codes of `kmirror sim`; of many runs the lowest that is not CLEAN."""

    CLEAN = 0
    USAGE = 2
    CRASH = 3
    """An exception inside a node."""
    SAFETY = 4
    """A checker found an anomaly."""
    LIVENESS = 5
    """Not everything came to rest in time: stuck-state."""


@dataclass(frozen=True, slots=True)
class Anomaly:
    """One finding of a checker."""

    checker: str
    """A name of checkers.CHECKERS, such as acked-lost."""
    cluster: str
    tp: TopicPartition | None
    offset: int
    """-1 where none is meant."""
    text: str
    """One sentence for people: what was expected, what was found, since which order or fault."""
    at: Instant = -1
    rule: str = ""
    """Of broken-invariant, the rule that is broken (docs/rules.md)."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A loss that the KIP itself accepts, counted."""

    decision: str
    """Id of the decision, or a clause of the KIP such as `KIP: asynchronous`."""
    cluster: str
    tp: TopicPartition
    records: int


@dataclass(slots=True)
class Outcome:
    """The end of one history."""

    plan: Plan
    digest: str
    anomalies: list[Anomaly] = field(default_factory=list)
    accepted: list[Accepted] = field(default_factory=list)
    account: Account = field(default_factory=Account)
    story: list[tuple[Instant, str]] = field(default_factory=list)
    """Orders, faults, elections, states and cuts, in order of time."""
    virtual_seconds: float = 0.0
    events: int = 0
    coverage: dict[str, int] = field(default_factory=dict)
    """Row of kmirror.histories.coverage to how often it was reached; empty if nobody asked for it."""

    @property
    def exit(self) -> Exit:
        """Return how bad it is: a crash before a broken rule before what only took too long."""
        if self.account.crash:
            return Exit.CRASH
        if any(row.checker != "stuck-state" for row in self.anomalies):
            return Exit.SAFETY
        return Exit.LIVENESS if self.anomalies else Exit.CLEAN
