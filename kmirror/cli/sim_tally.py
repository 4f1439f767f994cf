"""Tally of several histories: counts by finding and by decision, in a table of 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kmirror.histories.summary import findings, worst
from kmirror.histories.verdict import Exit
from kmirror.kernel.names import counted

NAME_WIDTH = 42


@dataclass(slots=True)
class HistoryTally:
    """Counts rows of histories (kmirror.histories.summary) as they come."""

    profile: str
    first_seed: int
    total: int
    done: int = 0
    clean: int = 0
    events: int = 0
    virtual_seconds: float = 0.0
    findings_by_name: dict[str, list[int]] = field(default_factory=dict)
    """Name of a finding to the number of histories with it, and the first seed of them."""
    losses_by_decision: dict[str, list[int]] = field(default_factory=dict)
    """Id of a decision to the number of histories with losses, and the number of lost records."""
    first_row_by_exit: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Exit code to the row of the first seed that ended with it."""
    histories_by_event: Counter[str] = field(default_factory=Counter)
    """Row of coverage to the number of histories that reached it; empty without coverage."""
    counts_by_event: Counter[str] = field(default_factory=Counter)
    """Row of coverage to the number of times it was reached."""

    def add(self, row: dict[str, Any]) -> None:
        """Count a row; rows come in the order of their seeds."""
        self.done += 1
        self.clean += row["exit"] == Exit.CLEAN
        self.events += row["events"]
        self.virtual_seconds += row["virtual_seconds"]
        self.first_row_by_exit.setdefault(row["exit"], row)
        coverage = row.get("coverage", {})
        self.histories_by_event.update(coverage.keys())
        self.counts_by_event.update(coverage)
        for name in findings(row):
            self.findings_by_name.setdefault(name, [0, row["seed"]])[0] += 1
        records_by_decision: dict[str, int] = {}
        for loss in row["accepted"]:
            records_by_decision[loss["decision"]] = records_by_decision.get(loss["decision"], 0) + loss["records"]
        for decision, records in records_by_decision.items():
            count = self.losses_by_decision.setdefault(decision, [0, 0])
            count[0] += 1
            count[1] += records

    @property
    def exit(self) -> Exit:
        """Return the worst of the exit codes so far."""
        return worst(list(self.first_row_by_exit))

    @property
    def worst_row(self) -> dict[str, Any] | None:
        """Return the row of the failure to report: the first seed of the worst kind."""
        return None if self.exit is Exit.CLEAN else self.first_row_by_exit[self.exit]

    def findings_text(self) -> str:
        """Return a short summary of the findings for a progress bar."""
        return ", ".join(f"{name} {count}" for name, (count, _) in self.findings_by_name.items()) or "nothing found"

    def lines(self, seconds: float, *, skipped: int = 0) -> list[str]:
        """Return the table; `seconds` is the elapsed time, `skipped` the number of histories from earlier runs."""
        last = self.first_seed + self.total - 1
        lines = [f"{counted(self.done, 'history')} of profile {self.profile}, seeds {self.first_seed} to {last}"]
        if self.done < self.total:
            lines[0] += f": interrupted, {self.total - self.done} not run"
        rate = (self.done - skipped) / seconds if seconds > 0 else 0.0
        lines.append(
            f"{self.clean} clean, {self.done - self.clean} failed; {self._skipped_text(skipped)}{rate:.2f} a second"
        )
        lines.append(f"{counted(self.events, 'event')} in {self.virtual_seconds:.0f} virtual seconds")
        if self.findings_by_name:
            lines += ["", _row("FINDING", "HISTORIES", "FIRST SEED")]
            lines += [_row(name, *counts) for name, counts in sorted(self.findings_by_name.items(), key=_largest_first)]
        if self.losses_by_decision:
            lines += ["", _row("ACCEPTED", "HISTORIES", "RECORDS")]
            lines += [
                _row(name, *counts) for name, counts in sorted(self.losses_by_decision.items(), key=_largest_first)
            ]
        return lines

    @staticmethod
    def _skipped_text(skipped: int) -> str:
        return f"{skipped} from earlier runs, the rest " if skipped else ""


def _largest_first(item: tuple[str, Sequence[int]]) -> tuple[int, str]:
    return -item[1][0], item[0]


def _row(name: str, *cells: object) -> str:
    shown = name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 2]}.."
    return f"{shown:<{NAME_WIDTH}}" + "".join(f"{cell!s:>12}" if len(str(cell)) < 12 else f" {cell}" for cell in cells)
