"""The states of a mirrored partition, and the transitions between them (D4, D5).

Rules
1. The persisted state changes only along a row of `PREDECESSORS`; the coordinator checks every write.
   Writing the same state again is always allowed and means: run its action again. Any state may follow UNKNOWN:
   a leader whose persisted state was lost writes it again (D68).
2. The user's wish is not a state. It is the `mirror.name` config (naming.py), and `next_state` returns the next state
   on the way there. A leader that takes over reads the persisted state and continues from it; every action is
   idempotent (D9).

The leader's action in each state:
  UNKNOWN    nothing is persisted yet
  PREPARING  asks the source for the last mirrored epoch, cuts, waits for the ISR (D11)
  MIRRORING  fetches from the source (D12)
  PAUSING    stops fetching
  PAUSED     nothing; the topic stays read-only
  STOPPING   cuts to the LSO, settles the epoch, bumps, resets producers (D15)
  STOPPED    nothing; the topic is writable
  FAILED     nothing, until the topic is removed and added again
"""

from __future__ import annotations

from enum import IntEnum


class MirrorState(IntEnum):
    """The byte values of KIP-1279's prototype (D4)."""

    PREPARING = 0
    MIRRORING = 1
    PAUSING = 2
    PAUSED = 3
    STOPPING = 4
    STOPPED = 5
    FAILED = 6
    UNKNOWN = 16


_S = MirrorState

PREDECESSORS: dict[MirrorState, frozenset[MirrorState]] = {
    _S.PREPARING: frozenset((_S.UNKNOWN, _S.STOPPED)),
    _S.MIRRORING: frozenset((_S.PREPARING, _S.PAUSED)),
    _S.PAUSING: frozenset((_S.MIRRORING,)),
    _S.PAUSED: frozenset((_S.PAUSING,)),
    _S.STOPPING: frozenset((_S.PREPARING, _S.MIRRORING, _S.PAUSING, _S.PAUSED, _S.FAILED)),
    _S.STOPPED: frozenset((_S.STOPPING,)),
    _S.FAILED: frozenset(_S),
    _S.UNKNOWN: frozenset(),
}


class Wish(IntEnum):
    """The user's wish for a topic in a mirror (D7)."""

    MIRROR = 0
    PAUSE = 1
    REMOVE = 2


FOLLOWING_STATES: frozenset[MirrorState] = frozenset((_S.MIRRORING, _S.PAUSING, _S.PAUSED))
"""The states in which a log continues its source's: PREPARING has cut it, and no stop has begun."""

# A state that is its own successor is either the one that the user wants or has an action to finish.
NEXT_STATE: dict[tuple[Wish, MirrorState], MirrorState] = {
    (Wish.MIRROR, _S.UNKNOWN): _S.PREPARING,
    (Wish.MIRROR, _S.PREPARING): _S.PREPARING,
    (Wish.MIRROR, _S.MIRRORING): _S.MIRRORING,
    (Wish.MIRROR, _S.PAUSING): _S.PAUSED,
    (Wish.MIRROR, _S.PAUSED): _S.MIRRORING,
    (Wish.MIRROR, _S.STOPPING): _S.STOPPING,
    (Wish.MIRROR, _S.STOPPED): _S.PREPARING,
    (Wish.MIRROR, _S.FAILED): _S.FAILED,
    (Wish.PAUSE, _S.UNKNOWN): _S.PREPARING,
    (Wish.PAUSE, _S.PREPARING): _S.PREPARING,
    (Wish.PAUSE, _S.MIRRORING): _S.PAUSING,
    (Wish.PAUSE, _S.PAUSING): _S.PAUSED,
    (Wish.PAUSE, _S.PAUSED): _S.PAUSED,
    (Wish.PAUSE, _S.STOPPING): _S.STOPPING,
    (Wish.PAUSE, _S.STOPPED): _S.PREPARING,
    (Wish.PAUSE, _S.FAILED): _S.FAILED,
    # Removal is never refused (D6); a partition without a state gets there through PREPARING.
    (Wish.REMOVE, _S.UNKNOWN): _S.PREPARING,
    (Wish.REMOVE, _S.PREPARING): _S.STOPPING,
    (Wish.REMOVE, _S.MIRRORING): _S.STOPPING,
    (Wish.REMOVE, _S.PAUSING): _S.STOPPING,
    (Wish.REMOVE, _S.PAUSED): _S.STOPPING,
    (Wish.REMOVE, _S.STOPPING): _S.STOPPING,
    (Wish.REMOVE, _S.STOPPED): _S.STOPPED,
    (Wish.REMOVE, _S.FAILED): _S.STOPPING,
}


def may_follow(before: MirrorState, after: MirrorState) -> bool:
    """Return whether `after` may be written when `before` is persisted."""
    return before in (after, MirrorState.UNKNOWN) or before in PREDECESSORS[after]


def next_state(wish: Wish, state: MirrorState) -> MirrorState:
    """Return the next state on the way to `wish`; `state` itself if it is the last one or its action is not done."""
    return NEXT_STATE[wish, state]
