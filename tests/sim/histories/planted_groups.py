"""Faults planted into the coordinator of groups and the sync of offsets: rows of FAULTS in planted.py."""

from __future__ import annotations

from typing import Any

from kmirror.cluster.coordinators.groups.apis.offset_fetch import OffsetsView
from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup
from kmirror.cluster.coordinators.groups.offsets import Offsets
from kmirror.cluster.coordinators.runtime import CoordinatorRuntime
from kmirror.mirror.syncs import groups
from kmirror.spec.error_codes import ErrorCode
from tests.sim.histories.planted import Patch, fault


@fault("offset-lost", profile="coordinators_die")
def coordinators_answer_at_once(patch: Patch) -> None:
    """A commit is acknowledged once it is in the coordinator's log, before the ISR has it (D48)."""
    patch(
        CoordinatorRuntime,
        "_respond_on_commit",
        lambda self, now, _, __, pending: self._respond(now, pending.responses),
    )


@fault("aborted-offset", profile="members_transform")
def aborted_offsets_count(patch: Patch) -> None:
    """An ABORT marker commits the offsets of a transaction, like a COMMIT marker."""
    original = patch(
        Offsets, "end_transaction", lambda self, producer_id, *, commit: original(self, producer_id, commit=True)
    )


@fault("exactly-once", profile="members_transform")
def unstable_offsets_are_returned(patch: Patch) -> None:
    """A member gets the group's offsets from before a transaction that is still open (KIP-447)."""
    original = patch(OffsetsView, "__init__", lambda self, offsets, is_stable: original(self, offsets, False))


@fault("double-ownership", profile="members_come_and_go")
def generations_do_not_count(patch: Patch) -> None:
    """A member of an earlier generation continues to commit."""
    patch(ClassicGroup, "commit_error", lambda self, *_, **__: ErrorCode.NONE)


@fault("double-ownership", profile="members_come_and_go")
def members_get_the_leaders_share(patch: Patch) -> None:
    """Every member gets the leader's own assignment."""
    original = patch(ClassicGroup, "sync_response", lambda self, _: original(self, self.members[self.leader]))


@fault("offset-regression", profile="groups_are_mirrored")
def old_offsets_are_synced(patch: Patch) -> None:
    """Every third time the sync commits the source's first offsets."""
    first: dict[str, Any] = {}
    calls = 0

    def plan(theirs: Any, *rest: Any) -> Any:
        nonlocal calls
        calls += 1
        for group, offsets in theirs.items():
            if offsets:
                first.setdefault(group, offsets)
        return original(first if calls % 6 >= 4 else theirs, *rest)

    original = patch(groups, "plan", plan)
