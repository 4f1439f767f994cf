"""State of one partition on one broker: leader or follower, ISR, high watermark.

Leader rules
- The high watermark is the lowest log end of the maximal ISR: the committed ISR plus proposed additions. It does not
  rise while a member's log end is unknown: after becoming leader, or after the leader's own log was cut, that is so
  until the follower fetches again.
- Below min.insync.replicas the high watermark does not rise (KIP-966): a committed record is on that many replicas.
- A follower joins the ISR when it has reached the high watermark and the start of this leader's
  epoch; it leaves when it has not been caught up for replica.lag.time.max.ms.
- One ISR change is in flight at a time, and the controller decides it.

Fetch sessions examine only changed partitions (KIP-227). So every change that affects the response to a fetch must call
`notify_watchers`: a new image, the high watermark, a cut, a cut demanded of a follower, and log changes by
`ReplicaManager`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from kmirror.cluster.images import PartitionImage
from kmirror.kernel.clock import Duration, Instant
from kmirror.kernel.empty_table import EMPTY, writable
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.config import LONG_MAX
from kmirror.log.partition_log import PartitionLog

UNKNOWN_OFFSET = -1
UNKNOWN_EPOCH = -1
NO_REPLICAS: frozenset[int] = frozenset()
_UNKNOWN = PartitionImage((), (), -1, -1, -1)


@dataclass(eq=False, slots=True)
class VerificationGuard:
    """Verification of a producer's first batch in a transaction; valid while it is in `verifications`."""

    epoch: int
    lowest_sequence: int
    """Lowest sequence number of the batches verified in that epoch; -1 for writes of a coordinator."""
    adds: bool
    """True if the verification adds the partition to the transaction (KIP-890 part 2)."""

    def add(self, epoch: int, sequence: int) -> None:
        """Add another batch to the verification, possibly of the producer's next epoch."""
        if epoch == self.epoch:
            self.lowest_sequence = min(self.lowest_sequence, sequence)
        elif epoch > self.epoch:
            self.epoch, self.lowest_sequence = epoch, sequence


class Watcher(Protocol):
    """Observer of changes of a partition; a fetch session has one for each of its partitions."""

    @property
    def parked_keys(self) -> Collection[int]:
        """Return the keys of the requests that wait for a change, as returned by `Purgatory.park`."""

    def on_changed(self) -> None:
        """Record that the response to the next fetch may differ from the last one."""

    def on_dropped(self) -> None:
        """Release the partition: it is no longer on this broker."""


@dataclass(slots=True)
class FetchClock:
    """Time of the last fetch in a follower's session, shared by all of its partitions without changes since then."""

    fetched_at: Instant = 0


@dataclass(slots=True)
class Follower:
    """A follower's state as known to the leader."""

    log_end: int = UNKNOWN_OFFSET
    broker_epoch: int = UNKNOWN_EPOCH
    """Broker epoch in its last fetch, UNKNOWN_EPOCH if there was none (KIP-903)."""
    log_start: int = UNKNOWN_OFFSET
    """Its log start offset in its last fetch."""
    own_caught_up_at: Instant = 0
    """When it was last caught up according to its own fetches, without those covered by `clock`."""
    own_fetched_at: Instant = 0
    leader_end_at_fetch: int = 0
    clock: FetchClock | None = None
    """Clock of the session in which the follower has the whole log: each fetch of that session counts for this
    partition until the partition changes; the next fetch then examines it and calls `stop_clock`."""

    @property
    def fetched_at(self) -> Instant:
        """Return the time of its last fetch."""
        clock = self.clock
        return self.own_fetched_at if clock is None else max(self.own_fetched_at, clock.fetched_at)

    @property
    def caught_up_at(self) -> Instant:
        """Return the last time at which it had the leader's whole log."""
        clock = self.clock
        return self.own_caught_up_at if clock is None else max(self.own_caught_up_at, clock.fetched_at)

    def stop_clock(self) -> None:
        """Save the clock's time and detach from the clock."""
        if self.clock is not None:
            self.own_caught_up_at, self.own_fetched_at = self.caught_up_at, self.fetched_at
            self.clock = None


class Partition:
    """Replication state of one partition on one broker; makes decisions, sends nothing."""

    __slots__ = (
        "barred_from_isr",
        "broker_id",
        "epoch_start_offset",
        "followers",
        "image",
        "led_before",
        "log",
        "log_dir",
        "min_insync_replicas",
        "pending_isr",
        "required_cuts",
        "topic_id",
        "tp",
        "verifications",
        "watchers",
    )

    def __init__(
        self, broker_id: int, tp: TopicPartition, topic_id: Uuid, log: PartitionLog, log_dir: str = ""
    ) -> None:
        self.broker_id = broker_id
        self.tp = tp
        self.topic_id = topic_id
        self.log = log
        self.log_dir = log_dir
        """The log directory that holds the log."""
        self.image = _UNKNOWN
        self.followers: Mapping[int, Follower] = EMPTY
        self.pending_isr: tuple[int, ...] | None = None
        self.led_before = False
        """True if this broker leads, also led in the previous epoch, and no other broker led in between."""
        self.epoch_start_offset = 0
        self.min_insync_replicas = 1
        """The topic's config; `min_isr` is the enforced value."""
        self.required_cuts: Mapping[int, int] = EMPTY
        """Followers that may hold foreign epochs, to the last epoch that they may keep, -1 for none: their fetches get
        a divergence until they have truncated their logs (D30)."""
        self.verifications: Mapping[int, VerificationGuard] = EMPTY
        """Producer id to the guard of a pending transaction verification (KIP-890)."""
        self.barred_from_isr = NO_REPLICAS
        """Replicas that may not join the ISR even if caught up: their cut has not been persisted yet (D30)."""
        self.watchers: Mapping[Watcher, None] = EMPTY
        """Observers of changes, in the order in which they were added."""

    @property
    def is_leader(self) -> bool:
        return self.image.leader == self.broker_id

    @property
    def leader_epoch(self) -> int:
        return self.image.leader_epoch

    @property
    def isr(self) -> tuple[int, ...]:
        return self.image.isr

    @property
    def min_isr(self) -> int:
        """Return the required ISR size: min.insync.replicas, or the number of replicas if that is lower."""
        return min(self.min_insync_replicas, len(self.image.replicas))

    def short_isr_reason(self) -> str:
        """Return a text that the ISR is below `min_isr`, with the replicas that could join; "" if it is not."""
        return self.image.short_isr_reason(self.min_insync_replicas)

    @property
    def commits_alone(self) -> bool:
        """Return whether this leader's appends are committed at once, without waiting for other replicas or a flush."""
        image = self.image
        return (
            len(image.isr) == 1
            and image.isr[0] == self.broker_id
            and self.pending_isr is None
            and (self.min_insync_replicas <= 1 or len(image.replicas) == 1)
            and self.log.config.flush_messages == LONG_MAX
        )

    @property
    def is_below_epoch_start(self) -> bool:
        """Return whether the high watermark is still below the start of this leader's epoch, so that it may rise."""
        return self.log.high_watermark < self.epoch_start_offset

    def watch(self, watcher: Watcher) -> None:
        """Notify `watcher` of changes from now on."""
        self.watchers = writable(self.watchers)
        self.watchers[watcher] = None

    def unwatch(self, watcher: Watcher) -> None:
        """Stop notifying `watcher`."""
        watchers = writable(self.watchers)
        watchers.pop(watcher, None)
        self.watchers = watchers or EMPTY

    def notify_watchers(self) -> None:
        """Notify watchers that a fetch may get a different response; `mark_changed` also wakes waiters."""
        for watcher in self.watchers:
            watcher.on_changed()

    def apply(self, now: Instant, image: PartitionImage) -> bool:
        """Apply the partition's image unless it is older; return whether the leader epoch changed."""
        before = self.image
        if image.partition_epoch < before.partition_epoch or image.leader_epoch < before.leader_epoch:
            return False
        self.image = image
        self.notify_watchers()
        if self.pending_isr is not None and image.partition_epoch > before.partition_epoch:
            self.pending_isr = None
        changed = image.leader_epoch != before.leader_epoch
        if changed:
            self.pending_isr = None
            is_next = (
                image.leader_epoch == before.leader_epoch + 1 or image.partition_epoch == before.partition_epoch + 1
            )
            self.led_before = before.leader == image.leader == self.broker_id and is_next
        if self.is_leader:
            keep = changed and before.leader == self.broker_id
            self._track_followers(now, fresh=changed and not keep)
            if changed and not keep:
                self.epoch_start_offset = self.log.log_end_offset
        else:
            self.followers = EMPTY
        if changed:
            # Unconfirmed cuts are persisted; the leader of the new epoch reads them again (D30).
            self.required_cuts, self.barred_from_isr = EMPTY, NO_REPLICAS
            self.verifications = EMPTY
        return changed

    def _track_followers(self, now: Instant, *, fresh: bool) -> None:
        known = EMPTY if fresh else self.followers
        self.followers = {
            replica: known.get(replica) or Follower(own_caught_up_at=now, own_fetched_at=now)
            for replica in self.image.replicas
            if replica != self.broker_id
        }

    def on_log_cut(self, now: Instant) -> None:
        """Reset the log ends of all followers, because the leader's own log was cut (D35)."""
        for follower in self.followers.values():
            follower.log_end = UNKNOWN_OFFSET
            follower.own_caught_up_at = max(follower.own_caught_up_at, now)
        self.epoch_start_offset = min(self.epoch_start_offset, self.log.log_end_offset)
        self.notify_watchers()

    def demand_cut(self, replica: int, epoch: int) -> None:
        """Send `replica` divergences until it has removed all epochs above `epoch`, -1 for all (D30)."""
        self.required_cuts = {**self.required_cuts, replica: epoch}
        self.notify_watchers()

    def confirm_cut(self, replica: int) -> bool:
        """Record that `replica` has truncated its log; return whether that was demanded."""
        if replica not in self.required_cuts:
            return False
        self.required_cuts = {other: epoch for other, epoch in self.required_cuts.items() if other != replica} or EMPTY
        return True

    def begin_verification(self, producer_id: int, epoch: int, sequence: int, *, adds: bool) -> VerificationGuard:
        """Return the guard of the verification; it stays in `verifications` until `end_verification`."""
        self.verifications = writable(self.verifications)
        guard = self.verifications.setdefault(producer_id, VerificationGuard(epoch, sequence, adds))
        guard.add(epoch, sequence)
        return guard

    def end_verification(self, producer_id: int, marker_epoch: int) -> None:
        """Invalidate a pending verification of the producer, because a marker was written (KIP-890).

        If transactions raise the epoch, a marker of the epoch being verified is a repeated marker of the previous
        transaction and is ignored.
        """
        guard = self.verifications.get(producer_id)
        if guard is not None and not (guard.adds and guard.epoch == marker_epoch):
            self.remove_verification(producer_id)

    def remove_verification(self, producer_id: int) -> None:
        """Remove the guard of the producer's verification."""
        if producer_id in self.verifications:
            self.verifications = {other: guard for other, guard in self.verifications.items() if other != producer_id}

    def on_follower_fetch(
        self,
        now: Instant,
        replica: int,
        fetch_offset: int,
        *,
        broker_epoch: int = UNKNOWN_EPOCH,
        log_start: int = UNKNOWN_OFFSET,
    ) -> None:
        """Record from a follower's fetch that its log has everything in [`log_start`, `fetch_offset`)."""
        follower = self.followers[replica]
        follower.stop_clock()
        follower.broker_epoch, follower.log_start = broker_epoch, log_start
        end = self.log.log_end_offset
        if fetch_offset >= end:
            follower.own_caught_up_at = max(follower.own_caught_up_at, now)
        elif fetch_offset >= follower.leader_end_at_fetch:
            follower.own_caught_up_at = max(follower.own_caught_up_at, follower.own_fetched_at)
        follower.log_end = fetch_offset
        follower.own_fetched_at = now
        follower.leader_end_at_fetch = end

    def advance_high_watermark(self) -> bool:
        """Raise the high watermark as far as the maximal ISR allows; return whether it rose."""
        image, log = self.image, self.log
        if len(image.isr) < min(self.min_insync_replicas, len(image.replicas)):  # `min_isr`, inlined: a hot path.
            return False
        end = log.recovery_point if log.is_flush_due else log.segments.end_offset
        for replica in image.isr if self.pending_isr is None else self.maximal_isr():
            if replica == self.broker_id:
                continue
            follower = self.followers.get(replica)
            if follower is None or follower.log_end == UNKNOWN_OFFSET:
                return False
            end = min(end, follower.log_end)
        before = log.high_watermark
        if end <= before or log.update_high_watermark(end) <= before:
            return False
        self.notify_watchers()
        return True

    def maximal_isr(self) -> tuple[int, ...]:
        """Return the committed ISR plus the proposed additions."""
        if self.pending_isr is None:
            return self.image.isr
        return tuple(dict.fromkeys((*self.image.isr, *self.pending_isr)))

    def may_join(self, replica: int) -> bool:
        """Return whether a follower is outside the ISR and has caught up enough to be added."""
        if replica in self.image.isr or self.pending_isr is not None or replica in self.barred_from_isr:
            return False
        log_end = self.followers[replica].log_end
        return log_end >= self.log.high_watermark and log_end >= self.epoch_start_offset

    def has_followers_behind(self) -> bool:
        """Return whether the log end of any ISR member is not known to equal this leader's."""
        end, followers = self.log.log_end_offset, self.followers
        for replica in self.image.isr:  # A generator would be slower.
            follower = followers.get(replica)
            if follower is not None and follower.log_end != end:
                return True
        return False

    def lagging_members(self, now: Instant, lag_max: Duration) -> tuple[int, ...]:
        """Return the ISR members that have not been caught up for longer than `lag_max`."""
        if self.pending_isr is not None:
            return ()
        end = self.log.log_end_offset
        return tuple(
            replica
            for replica in self.image.isr
            if replica != self.broker_id
            and (follower := self.followers.get(replica)) is not None
            and follower.log_end != end
            and now - follower.caught_up_at > lag_max
        )

    def has_confirmed(self, replica: int) -> bool:
        """Return whether `replica` has sent a fetch since the last cut that got no divergence (D35).

        Its log end alone proves nothing: a foreign tail may have the same length.
        """
        if replica == self.broker_id:
            return True
        follower = self.followers.get(replica)
        return follower is not None and follower.log_end != UNKNOWN_OFFSET and replica not in self.required_cuts

    def members_behind(self, members: tuple[int, ...]) -> list[int]:
        """Return those of `members` that are not known to have this leader's whole log."""
        end = self.log.log_end_offset
        return [
            replica
            for replica in members
            if not self.has_confirmed(replica) or (replica != self.broker_id and self.followers[replica].log_end < end)
        ]

    def unconfirmed_members(self, members: tuple[int, ...]) -> list[int]:
        """Return those of `members` that have not confirmed the last cut."""
        return [replica for replica in members if not self.has_confirmed(replica)]
