"""One partition as one broker sees it: leader or follower, ISR, high watermark.

Leader rules
- The high watermark is the least log end among the leader and the maximal ISR: the committed ISR
  plus members we asked the controller to add. It never passes a member whose log end we do not
  know: after becoming leader, or after the leader's own log was cut, nothing is known until the
  follower fetches again.
- Below min.insync.replicas the high watermark stands still (KIP-966): what is committed is on that many.
- A follower joins the ISR when it has reached the high watermark and the start of this leader's
  epoch; it leaves when it has not been caught up for replica.lag.time.max.ms.
- One ISR change is under way at a time, and the controller has the last word.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.cluster.images import PartitionImage
from kmirror.kernel.clock import Duration, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.partition_log import PartitionLog

UNKNOWN_OFFSET = -1
UNKNOWN_EPOCH = -1


@dataclass(slots=True)
class Follower:
    """What a leader knows of one follower."""

    log_end: int = UNKNOWN_OFFSET
    broker_epoch: int = UNKNOWN_EPOCH
    """The incarnation that fetched last, as far as it said so (KIP-903)."""
    caught_up_at: Instant = 0
    fetched_at: Instant = 0
    leader_end_at_fetch: int = 0


class Partition:
    """Replication state of one partition on one broker; decides, sends nothing."""

    def __init__(self, broker_id: int, tp: TopicPartition, topic_id: Uuid, log: PartitionLog) -> None:
        self.broker_id = broker_id
        self.tp = tp
        self.topic_id = topic_id
        self.log = log
        self.image = PartitionImage((), (), -1, -1, -1)
        self.followers: dict[int, Follower] = {}
        self.pending_isr: tuple[int, ...] | None = None
        self.epoch_start_offset = 0
        self.min_insync_replicas = 1
        """As the topic has it; `min_isr` is what counts."""
        self.must_cut: dict[int, int] = {}
        """Followers that may hold foreign epochs, to the last epoch that they may keep, -1 for none: they are told to
        cut before they are served anything (D30)."""
        self.verifying: dict[int, object] = {}
        """Producers of which the transaction coordinator is asked whether their transaction is open (KIP-890)."""
        self.not_admitted: frozenset[int] = frozenset()
        """Replicas that stay out of the ISR although they have caught up: that they are cut is not persisted yet."""

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
        """How many members the ISR must have; a partition cannot have more than its replicas."""
        return min(self.min_insync_replicas, len(self.image.replicas))

    @property
    def is_behind_election(self) -> bool:
        """Is the high watermark still below where this leader's epoch began, so that it may yet turn out higher?"""
        return self.log.high_watermark < self.epoch_start_offset

    def apply(self, now: Instant, image: PartitionImage) -> bool:
        """Take over the controller's word; True if the leader epoch changed."""
        before = self.image
        if image.partition_epoch < before.partition_epoch or image.leader_epoch < before.leader_epoch:
            return False
        self.image = image
        if self.pending_isr is not None and image.partition_epoch > before.partition_epoch:
            self.pending_isr = None
        changed = image.leader_epoch != before.leader_epoch
        if changed:
            self.pending_isr = None
        if self.is_leader:
            keep = changed and before.leader == self.broker_id
            self._track_followers(now, fresh=changed and not keep)
            if changed and not keep:
                self.epoch_start_offset = self.log.log_end_offset
        else:
            self.followers.clear()
        if changed:
            # What the last reign knew of cuts is persisted; whoever leads now reads it again.
            self.must_cut, self.not_admitted = {}, frozenset()
            self.verifying = {}
        return changed

    def _track_followers(self, now: Instant, *, fresh: bool) -> None:
        known = {} if fresh else self.followers
        self.followers = {
            replica: known.get(replica) or Follower(caught_up_at=now, fetched_at=now)
            for replica in self.image.replicas
            if replica != self.broker_id
        }

    def log_was_cut(self, now: Instant) -> None:
        """The leader's own log became shorter: what we knew of followers is no longer true."""
        for follower in self.followers.values():
            follower.log_end = UNKNOWN_OFFSET
            follower.caught_up_at = max(follower.caught_up_at, now)
        self.epoch_start_offset = min(self.epoch_start_offset, self.log.log_end_offset)

    def on_follower_fetch(
        self, now: Instant, replica: int, fetch_offset: int, *, broker_epoch: int = UNKNOWN_EPOCH
    ) -> None:
        """Learn that `replica`, in the incarnation named, holds everything below `fetch_offset`."""
        follower = self.followers[replica]
        follower.broker_epoch = broker_epoch
        end = self.log.log_end_offset
        if fetch_offset >= end:
            follower.caught_up_at = max(follower.caught_up_at, now)
        elif fetch_offset >= follower.leader_end_at_fetch:
            follower.caught_up_at = max(follower.caught_up_at, follower.fetched_at)
        follower.log_end = fetch_offset
        follower.fetched_at = now
        follower.leader_end_at_fetch = end

    def advance_high_watermark(self) -> bool:
        """Raise the high watermark as far as the maximal ISR allows; True if it moved."""
        if len(self.image.isr) < self.min_isr:
            return False
        end = self.log.recovery_point if self.log.is_flush_due else self.log.log_end_offset
        for replica in self.maximal_isr():
            if replica == self.broker_id:
                continue
            follower = self.followers.get(replica)
            if follower is None or follower.log_end == UNKNOWN_OFFSET:
                return False
            end = min(end, follower.log_end)
        before = self.log.high_watermark
        if end <= before:
            return False
        self.log.update_high_watermark(end)
        return self.log.high_watermark > before

    def maximal_isr(self) -> tuple[int, ...]:
        """Return the committed ISR plus members whose addition is under way."""
        if self.pending_isr is None:
            return self.image.isr
        return tuple(dict.fromkeys((*self.image.isr, *self.pending_isr)))

    def may_join(self, replica: int) -> bool:
        """Has a follower outside the ISR caught up enough to be added?"""
        if replica in self.image.isr or self.pending_isr is not None or replica in self.not_admitted:
            return False
        reached = self.followers[replica].log_end
        return reached >= self.log.high_watermark and reached >= self.epoch_start_offset

    def lagging(self, now: Instant, lag_max: Duration) -> tuple[int, ...]:
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
        """Has a fetch that `replica` sent since the last cut been answered without divergence? (D35)

        Its log end alone would say nothing: a foreign tail may have the same length.
        """
        if replica == self.broker_id:
            return True
        follower = self.followers.get(replica)
        return follower is not None and follower.log_end != UNKNOWN_OFFSET and replica not in self.must_cut

    def unconfirmed(self, members: tuple[int, ...]) -> list[int]:
        """Return those of `members` that have not confirmed the last cut."""
        return [replica for replica in members if not self.has_confirmed(replica)]
