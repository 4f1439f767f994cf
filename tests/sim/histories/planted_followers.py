"""Faults planted into followers' responses to consumers (KIP-392).

They are rows of FAULTS in tests/sim/histories/planted.py.
"""

from __future__ import annotations

from typing import Any

from kmirror.cluster.broker.apis import fetch
from kmirror.cluster.replication.follower import ReplicaFetchers
from tests.sim.histories.planted import Patch, fault


def _end_at_followers(patch: Patch, end_offset: Any) -> None:
    """Let consumers read up to another offset at followers."""

    def read(self: Any, cached: Any, partition: Any, end: int, *, foreign: bool) -> Any:
        own = end if self.reader.is_follower or partition.is_leader else end_offset(partition.log)
        return original(self, cached, partition, own, foreign=foreign)

    original = patch(fetch._Fetch, "_read", read)


@fault("duplicate-at-offset", profile="two_of_three_die")
def followers_answer_beyond_their_high_watermark(patch: Patch) -> None:
    """A follower returns consumers all of its records."""
    _end_at_followers(patch, lambda log: log.log_end_offset)


@fault("aborted-read", profile="transactions_in_racks")
def followers_answer_beyond_their_last_stable_offset(patch: Patch) -> None:
    """A follower serves read_committed consumers up to its high watermark."""
    _end_at_followers(patch, lambda log: log.high_watermark)


@fault("duplicate-at-offset", profile="failback_without_a_follower")
def followers_answer_before_their_leader_has_answered_them(patch: Patch) -> None:
    """A follower of a mirrored partition serves consumers from the beginning of each leader epoch on (D57)."""

    def withholds_log(self: Any, partition: Any, components: Any) -> Any:
        return partition.is_leader and original(self, partition, components)

    original = patch(ReplicaFetchers, "withholds_log", withholds_log)
