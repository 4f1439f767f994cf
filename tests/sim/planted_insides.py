"""Faults planted into what brokers hold and remember, which loses records only once more goes wrong.

They are rows of tests/sim/planted.py, which says what a fault is.
"""

from __future__ import annotations

from typing import Any

from kmirror.cluster.replication.partition import UNKNOWN_OFFSET, Partition
from kmirror.log.producers import ProducerStates
from kmirror.mirror import stopping
from tests.sim.planted import Patch, fault


@fault("broken-invariant", profile="stop_among_long_ones")
def stops_keep_their_epoch(patch: Patch) -> None:
    """A stop does not bump the leader epoch, so that numbers in a cut tail are written again (D36)."""
    patch(stopping, "epoch_after_stop", lambda leader_epoch, _: leader_epoch)


@fault("broken-invariant", profile="failback_to_a_far_replica")
def epochs_begin_beyond_the_end(patch: Patch) -> None:
    """After a cut the leader's epoch still begins where its log ended before."""

    def log_was_cut(self: Partition, now: Any) -> None:
        for follower in self.followers.values():
            follower.log_end = UNKNOWN_OFFSET
            follower.own_caught_up_at = max(follower.own_caught_up_at, now)
        self.mark()

    patch(Partition, "log_was_cut", log_was_cut)


@fault("broken-invariant", profile="late_joiner")
def a_smaller_isr_suffices(patch: Patch) -> None:
    """The high watermark rises to the leader's log end, whatever its followers have."""

    def advance(self: Partition) -> bool:
        before = self.log.high_watermark
        self.log.update_high_watermark(self.log.log_end_offset)
        self.mark()
        return self.log.high_watermark > before

    patch(Partition, "advance_high_watermark", advance)


@fault("broken-invariant", profile="stop_among_long_ones")
def open_transactions_are_forgotten(patch: Patch) -> None:
    """A transaction does not hold back the last stable offset."""
    patch(ProducerStates, "first_unstable_offset", lambda self: None)
