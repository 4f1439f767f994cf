"""The states of a classic group, and the transitions between them.

    EMPTY                 has no members; its offsets are kept until they expire
    PREPARING_REBALANCE   collects the joins of its members, until all have joined or the rebalance timeout has passed
    COMPLETING_REBALANCE  has a new generation, and waits for its leader's assignment
    STABLE                has an assignment that is persisted
    DEAD                  was deleted, or its shard is led by another broker; no state follows

The names and transitions are those of Kafka's ClassicGroupState.
"""

from __future__ import annotations

from enum import Enum

from kmirror.spec.error_codes import ErrorCode


class GroupState(Enum):
    """The values are those in DescribeGroups and ListGroups."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


_S = GroupState

PREDECESSORS: dict[GroupState, frozenset[GroupState]] = {
    _S.EMPTY: frozenset((_S.PREPARING_REBALANCE,)),
    _S.PREPARING_REBALANCE: frozenset((_S.STABLE, _S.COMPLETING_REBALANCE, _S.EMPTY)),
    _S.COMPLETING_REBALANCE: frozenset((_S.PREPARING_REBALANCE,)),
    _S.STABLE: frozenset((_S.COMPLETING_REBALANCE,)),
    _S.DEAD: frozenset(_S),
}

HEARTBEAT_ERRORS: dict[GroupState, ErrorCode] = {
    _S.EMPTY: ErrorCode.UNKNOWN_MEMBER_ID,
    _S.PREPARING_REBALANCE: ErrorCode.REBALANCE_IN_PROGRESS,
    _S.COMPLETING_REBALANCE: ErrorCode.NONE,
    _S.STABLE: ErrorCode.NONE,
    _S.DEAD: ErrorCode.COORDINATOR_NOT_AVAILABLE,
}
"""State -> error of a heartbeat in the current generation; REBALANCE_IN_PROGRESS makes the member join again."""
