"""Outcome of a history: anomalies, losses that the KIP accepts, and exit codes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from kmirror.histories.account import Account
from kmirror.histories.plan import Plan
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition


class Exit(IntEnum):
    """Exit codes of `kmirror sim`; for several runs the lowest that is not CLEAN."""

    CLEAN = 0
    USAGE = 2
    CRASH = 3
    """An exception inside a node."""
    SAFETY = 4
    """A checker found an anomaly."""
    LIVENESS = 5
    """Not everything settled in time: stuck-state."""


@dataclass(frozen=True, slots=True)
class Anomaly:
    """One finding of a checker."""

    checker: str
    """A name of checkers.CHECKERS, such as acked-lost."""
    cluster: str
    tp: TopicPartition | None
    offset: int
    """-1 if the anomaly has no offset."""
    text: str
    """One sentence for readers: expected and actual result, and the order or fault that preceded it."""
    at: Instant = -1
    rule: str = ""
    """For broken-invariant: name of the broken rule (docs/rules.md)."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A loss that the KIP itself accepts, and its number of records."""

    decision: str
    """Id of the decision, or a clause of the KIP such as `KIP: asynchronous`."""
    cluster: str
    tp: TopicPartition
    records: int


@dataclass(slots=True)
class Outcome:
    """Result of one history."""

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
    """Row of kmirror.histories.coverage to the number of times it was reached; empty if coverage was not requested."""

    @property
    def exit(self) -> Exit:
        """Return the exit code: CRASH before SAFETY before LIVENESS."""
        if self.account.crash:
            return Exit.CRASH
        if any(row.checker != "stuck-state" for row in self.anomalies):
            return Exit.SAFETY
        return Exit.LIVENESS if self.anomalies else Exit.CLEAN
