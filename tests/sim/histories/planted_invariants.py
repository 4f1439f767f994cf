"""Faults planted into brokers' state, which lose records only after another failure.

They are rows of FAULTS in tests/sim/histories/planted.py.
"""

from __future__ import annotations

from typing import Any

from kmirror.client.fetch_session import FetchSession
from kmirror.client.producer import Producer
from kmirror.cluster.coordinators.groups.classic.group import ClassicGroup
from kmirror.cluster.coordinators.groups.offsets import Offsets
from kmirror.cluster.node.partition import UNKNOWN_OFFSET, Partition
from kmirror.log.producers import ProducerStates
from kmirror.mirror import stopping
from tests.sim.histories.planted import Patch, fault


@fault("stop-epoch", profile="stop_among_long_ones")
def stops_keep_their_epoch(patch: Patch) -> None:
    """A stop does not bump the leader epoch, so that epoch numbers of a truncated tail are used again (D36)."""
    patch(stopping, "epoch_after_stop", lambda leader_epoch, _: leader_epoch)


@fault("epoch-start", profile="failback_to_a_far_replica")
def epochs_begin_beyond_the_end(patch: Patch) -> None:
    """After a truncation the leader's epoch still begins at its former log end."""

    def on_log_cut(self: Partition, now: Any) -> None:
        for follower in self.followers.values():
            follower.log_end = UNKNOWN_OFFSET
            follower.own_caught_up_at = max(follower.own_caught_up_at, now)
        self.notify_watchers()

    patch(Partition, "on_log_cut", on_log_cut)


@fault("high-watermark", profile="late_joiner")
def a_smaller_isr_suffices(patch: Patch) -> None:
    """The high watermark rises to the leader's log end, regardless of its followers."""

    def advance(self: Partition) -> bool:
        before = self.log.high_watermark
        self.log.update_high_watermark(self.log.log_end_offset)
        self.notify_watchers()
        return self.log.high_watermark > before

    patch(Partition, "advance_high_watermark", advance)


@fault("stable", profile="stop_among_long_ones")
def open_transactions_are_forgotten(patch: Patch) -> None:
    """A transaction does not hold back the last stable offset."""
    patch(ProducerStates, "first_unstable_offset", lambda self: None)


@fault("member-dropped", profile="members_come_and_go")
def sessions_end_early(patch: Patch) -> None:
    """A member that is silent for a fifth of its session timeout leaves its group."""

    def expect_heartbeat(self: ClassicGroup, member: Any, *, within_ms: int | None = None) -> None:
        original(self, member, within_ms=within_ms or member.session_timeout_ms // 5)

    original = patch(ClassicGroup, "expect_heartbeat", expect_heartbeat)


@fault("offset-committed", profile="members_mix_commits")
def the_last_marker_wins(patch: Patch) -> None:
    """Offsets that a transaction commits replace those committed after them."""

    def end_transaction(self: Offsets, producer_id: int, *, commit: bool) -> None:
        pending = {name: self._pending.get((producer_id, name)) for name in self._of_producer.get(producer_id, ())}
        original(self, producer_id, commit=commit)
        for name, value in pending.items():
            if commit and value is not None:
                self._put(name, value)

    original = patch(Offsets, "end_transaction", end_transaction)


@fault("producer-renumbered", profile="library_misses_answers")
def retries_are_renumbered(patch: Patch) -> None:
    """A batch gets another sequence number for each attempt."""

    def take(self: Producer, partition: Any) -> Any:
        batch = self._peek_batch(partition)
        if batch.attempts:
            batch.sequence = -1
        return original(self, partition)

    original = patch(Producer, "_take_batch", take)


@fault("session-left", profile="library_misses_answers")
def sessions_continue(patch: Patch) -> None:
    """A fetch session continues after a missing response."""

    def reset(self: FetchSession) -> None:
        if not self.id:
            original(self)

    original = patch(FetchSession, "reset", reset)
