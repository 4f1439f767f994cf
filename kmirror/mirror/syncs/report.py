"""What went wrong in a sync, and what was left out? Told when it changes; errors are counted each time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kmirror.kernel.outbox import Outbox
from kmirror.mirror.sync_errors import SyncErrors, SyncKind

LINES_MAX = 20
"""How many lines one report may write; a cluster can have thousands of groups."""


@dataclass(frozen=True, slots=True)
class SyncProblem:
    """A subject (a topic, a config of one, a group) was not synced, for this reason; empty if it is again."""

    mirror: str
    subject: str
    reason: str


class Reports:
    """What the syncs of one mirror have told so far."""

    def __init__(self, mirror: str, outbox: Outbox, errors: SyncErrors) -> None:
        self._mirror = mirror
        self._outbox = outbox
        self._errors = errors
        self._told: dict[str, dict[str, str]] = {}

    def tell(
        self, kind: SyncKind, scope: str, problems: Mapping[str, str], left_out: Mapping[str, str] | None = None
    ) -> None:
        """Take over how a sync went: `problems` are counted; what is `left_out` by a rule is only told.

        Both are by subject and replace what was told of the same `scope`.
        """
        self._errors.add(kind, len(problems))
        now = {**(left_out or {}), **problems}
        before, self._told[scope] = self._told.get(scope, {}), now
        changed = {subject: reason for subject, reason in now.items() if before.get(subject) != reason}
        changed.update(dict.fromkeys(before.keys() - now.keys(), ""))
        for subject in sorted(changed)[:LINES_MAX]:
            reason = changed[subject]
            text = f"is not synced: {reason}" if reason else "is synced again"
            self._outbox.note(f"mirror {self._mirror}: {subject} {text}", SyncProblem(self._mirror, subject, reason))
        if len(changed) > LINES_MAX:
            self._outbox.note(f"mirror {self._mirror}: the same of {len(changed) - LINES_MAX} more")
