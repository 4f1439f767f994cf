"""Scopes: the bounds of a search.

A pair is (cluster A, cluster B). Records are local appends; the producer reset of each stop comes in addition.
Elections and sessions are budgets: every order of events within them is explored. A clean election chooses a member of
the ISR, which may be the leader itself (a restart).
"""

from __future__ import annotations

from typing import NamedTuple

from kmirror.errors import UsageError

Pair = tuple[int, int]
NONE: Pair = (0, 0)


class Scope(NamedTuple):
    """Bounds of one search, and their purpose."""

    name: str
    purpose: str
    replicas: Pair
    appends: Pair
    sessions: Pair
    """Number of times that each cluster is added to the mirror as the destination."""
    clean: Pair = NONE
    unclean: Pair = NONE
    unclean_while_stopped: bool = False
    """Unclean elections only while the other cluster is STOPPED and this one is idle: stop to failback."""
    b_is_new: bool = False
    """B has no local records before its first stop, and A is added only while B is STOPPED with something mirrored."""
    one_by_one: bool = False
    """A fetch returns one record, so that every partial copy is reached; otherwise all available records."""
    copies: bool = True
    """Remember the records that both clusters had at each order (last-copy-lost); increases the number of states."""


SCOPES: tuple[Scope, ...] = (
    Scope("tiny", "one failover and failback, no elections", (1, 1), (1, 1), (1, 1)),
    Scope("elections", "failover and failback under clean elections", (2, 2), (2, 1), (1, 1), clean=(1, 1)),
    Scope("source-unclean", "unclean elections at the first source, which fails back", (2, 1), (3, 1), (1, 1),
          unclean=(2, 0)),
    Scope("unclean-both", "an unclean election on each side", (2, 2), (2, 1), (1, 1), unclean=(1, 1)),
    Scope("kip", "the KIP's counter-example: up to three unclean elections at A", (2, 1), (3, 1), (1, 1),
          unclean=(3, 0), b_is_new=True, copies=False),
    Scope("destination-unclean", "unclean elections at the first destination", (1, 2), (2, 2), (1, 1),
          unclean=(0, 2)),
    Scope("stop-to-failback", "unclean elections only between stop and failback", (2, 2), (2, 2), (1, 1),
          unclean=(2, 1), unclean_while_stopped=True),
    Scope("again", "added again in the same direction, and stops from PREPARING", (2, 2), (1, 2), (1, 2),
          clean=(0, 1)),
    Scope("sessions", "two sessions in each direction", (1, 2), (1, 1), (2, 2), clean=(0, 1)),
    Scope("four-sessions", "two sessions in each direction, one replica each", (1, 1), (2, 2), (2, 2)),
    Scope("missed-two", "a replica that misses the cuts of two sessions", (2, 1), (2, 1), (2, 1), clean=(1, 0)),
    Scope("missed-two-unclean", "a replica that misses two cuts and is elected unclean", (2, 1), (2, 1), (2, 1),
          unclean=(1, 0)),
    Scope("three", "three replicas on one side", (3, 1), (2, 1), (1, 1), clean=(1, 0)),
    Scope("three-unclean", "three replicas on one side, unclean elections there", (3, 1), (2, 1), (1, 1),
          unclean=(2, 0)),
    Scope("destination-three", "three replicas at the destination, which is stopped while one lags", (1, 3), (1, 1),
          (0, 1), clean=(1, 1)),
    Scope("partial", "every partial copy: each fetch returns one record", (2, 2), (2, 1), (1, 1), clean=(1, 1),
          one_by_one=True),
)  # fmt: skip


def find_scope(name: str) -> Scope:
    """Return a scope; raises `UsageError` for an unknown name."""
    for scope in SCOPES:
        if scope.name == name:
            return scope
    raise UsageError(f"unknown scope {name!r}; known: {', '.join(scope.name for scope in SCOPES)}")
