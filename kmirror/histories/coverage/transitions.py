"""Transitions between states: rows derived from the engine's own tables, or from its functions."""

from __future__ import annotations

from kmirror.cluster.coordinators.groups.classic import group_states
from kmirror.cluster.coordinators.groups.classic.group_states import GroupState
from kmirror.cluster.coordinators.transactions.state import Status
from kmirror.histories.coverage.row import Origin, Row
from kmirror.histories.transaction_statuses import STATUSES_AFTER
from kmirror.mirror import states
from kmirror.mirror.states import MirrorState


def mirror_row(before: MirrorState, after: MirrorState) -> str:
    """Return the name of the row of this transition of a mirrored partition."""
    return f"mirror-state.{before.name}-{after.name}"


def wish_row(wish: states.Wish, state: MirrorState) -> str:
    """Return the name of the row of this wish in this state."""
    return f"mirror-wish.{wish.name}-{state.name}"


def transaction_row(before: Status, after: Status) -> str:
    """Return the name of the row of this transition of a transactional id."""
    return f"transaction-state.{before.name}-{after.name}"


def group_row(before: GroupState, after: GroupState) -> str:
    """Return the name of the row of this transition of a group."""
    return f"group-state.{before.name}-{after.name}"


_NOT_FAILED = "only PREPARING and MIRRORING read from the source, and only its responses can fail them"
"""A leader whose write of PAUSING got no response writes again before it uses a response of the source."""
_NEVER_FAIL = (
    MirrorState.UNKNOWN,
    MirrorState.PAUSING,
    MirrorState.PAUSED,
    MirrorState.STOPPING,
    MirrorState.STOPPED,
)
_FINAL = "no state follows DEAD: the group is removed"

ROWS: tuple[Row, ...] = (
    *(
        Row(
            mirror_row(before, after), f"A partition's record changes from {before.name} to {after.name}.", Origin.LOG,
            unreachable=_NOT_FAILED if after is MirrorState.FAILED and before in _NEVER_FAIL else "",
        )
        for after in MirrorState
        for before in MirrorState
        if before in states.PREDECESSORS[after] or before is after  # UNKNOWN again updates pending cuts (D30).
    ),
    *(
        Row(wish_row(wish, state), f"A partition is in {state.name}, and the user wants {wish.name}.", Origin.FACT)
        for wish, state in states.NEXT_STATE
    ),
    *(
        Row(transaction_row(before, after), f"A transactional id goes from {before.name} to {after.name}.", Origin.LOG)
        for before, afters in STATUSES_AFTER.items()
        for after in afters
    ),
    *(
        Row(
            group_row(before, after), f"A group goes from {before.name} to {after.name}.", Origin.STATE,
            unreachable=_FINAL if before is GroupState.DEAD else "",
        )
        for after in GroupState
        for before in GroupState
        if before in group_states.PREDECESSORS[after]
    ),
)  # fmt: skip
