"""Reports of failures and omissions in a sync: traced when they change; errors are counted each time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kmirror.kernel.outbox import Outbox
from kmirror.mirror.sync_errors import SyncErrors, SyncKind

LINES_MAX = 20
"""Maximum number of lines for one report; a cluster can have thousands of groups."""


@dataclass(frozen=True, slots=True)
class SyncProblem:
    """A subject (a topic, a config of one, a group) was not synced, for this reason; empty if it is synced again."""

    mirror: str
    subject: str
    reason: str


class Reports:
    """The reports of one mirror's syncs."""

    def __init__(self, mirror: str, outbox: Outbox, errors: SyncErrors) -> None:
        self._mirror = mirror
        self._outbox = outbox
        self._errors = errors
        self._reported: dict[str, dict[str, str]] = {}

    def report(
        self, kind: SyncKind, scope: str, problems: Mapping[str, str], left_out: Mapping[str, str] | None = None
    ) -> None:
        """Report the outcome of a sync: `problems` are counted and traced, `left_out` entries only traced.

        Both are keyed by subject and replace the last report of the same `scope`.
        """
        self._errors.add(kind, len(problems))
        current = {**(left_out or {}), **problems}
        before, self._reported[scope] = self._reported.get(scope, {}), current
        changed = {subject: reason for subject, reason in current.items() if before.get(subject) != reason}
        changed.update(dict.fromkeys(before.keys() - current.keys(), ""))
        for subject in sorted(changed)[:LINES_MAX]:
            reason = changed[subject]
            text = f"is not synced: {reason}" if reason else "is synced again"
            self._outbox.note(f"mirror {self._mirror}: {subject} {text}", SyncProblem(self._mirror, subject, reason))
        if len(changed) > LINES_MAX:
            self._outbox.note(f"mirror {self._mirror}: and {len(changed) - LINES_MAX} more")
