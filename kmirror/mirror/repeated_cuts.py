"""Limit on the cuts of a mirrored log that makes no progress. Pure (D59).

A source that is itself cut again and again, because clusters mirror each other in a ring or because its disks lose
writes, affects its mirrors: each cut removes the records fetched since the last one. So a leader counts the cuts
since the log end last passed its former maximum. After CUTS_MAX it cuts at most once in each leader epoch of the
source.
"""

from __future__ import annotations

from dataclasses import dataclass

CUTS_MAX = 10


@dataclass(slots=True)
class RepeatedCuts:
    """The cuts of one log in MIRRORING, as far as this leader made them."""

    count: int = 0
    """Cuts since the log end last passed `end_max`; several in a row, as each finds an earlier epoch, count as one."""
    end_max: int = -1
    """The greatest log end before any of them."""
    barred_epoch: int = -1
    """The leader epoch of the source in which no further cut was made; -1 if every cut was made."""
    _epoch: int = -1
    """The leader epoch of the source in which the last of them was made."""
    _in_a_row: bool = False
    """The last cut removed something, and nothing was appended since."""

    def may_cut(self, source_epoch: int) -> bool:
        """Return whether the log may be cut once more in a leader epoch of the source; if not, remember the epoch."""
        if self._in_a_row or self.count < CUTS_MAX or source_epoch != self._epoch:
            return True
        self.barred_epoch = source_epoch
        return False

    def on_cut(self, source_epoch: int, before: int, after: int) -> None:
        """Count a cut that moved the log end from `before` to `after`."""
        self.end_max = before if self.count == 0 else max(self.end_max, before)
        if not self._in_a_row:
            self.count, self._epoch = self.count + 1, source_epoch
        self._in_a_row = after < before
        if after > before:
            self.on_appended(after)

    def on_appended(self, log_end: int) -> None:
        """Reset the count once the log end passes the greatest log end before the cuts."""
        self._in_a_row = False
        if log_end > self.end_max:
            self.count = 0

    def reason(self) -> str:
        """Return the reason for a partition that will not be cut again."""
        return (
            f"the log was cut {self.count} times and never passed offset {self.end_max}: the source is cut again and "
            "again, so nothing is fetched in its present leader epoch; to continue, pause and resume the topic"
        )
