"""Transitions of mirrored partitions: a state is persisted first, and entered here once that is confirmed."""

from __future__ import annotations

from collections.abc import Callable

from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.truncation import loses_keys
from kmirror.kernel.clock import Instant
from kmirror.mirror.access import has_foreign_epochs
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.coordinator import StateWrite
from kmirror.mirror.cut_rules import FROM_SCRATCH, Uncut, with_all_replicas
from kmirror.mirror.lineage import Lineage, begin_copy
from kmirror.mirror.log_cuts import cut_at_divergence, cut_if_listed
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.reopened_transactions import StopPlan
from kmirror.mirror.state_records import NEVER_MIRRORED, NOT_SETTLED
from kmirror.mirror.states import MirrorState
from kmirror.mirror.uncut_replicas import apply_uncut, uncut_to_persist
from kmirror.spec.error_codes import ErrorCode

ScheduleStep = Callable[[Instant, MirrorPartition], None]
"""Look at a partition: its next step may be possible now."""
StopFetching = Callable[[MirrorPartition], None]
"""Remove a partition from its fetcher."""


class StateWriter:
    """Writes the states of one broker's partitions."""

    def __init__(self, context: MirrorContext, schedule_step: ScheduleStep, stop_fetching: StopFetching) -> None:
        self._context = context
        self._schedule_step = schedule_step
        self._stop_fetching = stop_fetching

    def transition(self, now: Instant, mp: MirrorPartition, target: MirrorState) -> None:
        """Persist `target`, then act in it."""
        if target is not MirrorState.MIRRORING:
            self._stop_fetching(mp)
        epoch = NOT_SETTLED
        is_unused = mp.state is MirrorState.PREPARING or (mp.state is MirrorState.FAILED and not mp.is_touched)
        if target is MirrorState.STOPPING and is_unused:
            # Nothing was mirrored in this session: the epoch that the last stop settled still holds (D37).
            epoch = NEVER_MIRRORED if mp.last_mirrored_epoch == NOT_SETTLED else mp.last_mirrored_epoch
        self.write_state(now, mp, target, epoch)

    def fail(self, now: Instant, mp: MirrorPartition, reason: str) -> None:
        """Move the partition to FAILED. It leaves this state only when its topic is removed and added again (D5)."""
        self._context.note(mp, f"failed: {reason}")
        self._stop_fetching(mp)
        if not mp.is_busy:
            self.transition(now, mp, MirrorState.FAILED)
        mp.reason = reason

    def cut_at_divergence(
        self, now: Instant, mp: MirrorPartition, partition: Partition, offset: int, reason: str
    ) -> None:
        """Cut at `offset`, where the source's log diverges from the one that this broker leads.

        If that may lose keys, every replica is cut from scratch instead: none may keep records that the source's
        cleaner has removed since (D63).
        """
        if not loses_keys(partition.log, offset):
            cut_at_divergence(self._context, now, mp, partition, offset, reason)
        elif not mp.is_busy:  # Else the next fetch leads here again.
            self.copy_again(
                now, mp, partition, f"a cut at {offset} ({reason}) may lose keys, as the cleaner has passed it"
            )

    def copy_again(self, now: Instant, mp: MirrorPartition, partition: Partition, reason: str) -> None:
        """Cut every replica from scratch, and copy the source's log again; the mirrors of this log follow (D69)."""
        self._stop_fetching(mp)
        self._context.note(mp, f"copies the log again: {reason}")
        stretches = self._context.writers_of(mp.tp)
        lineage = begin_copy(stretches, partition.leader_epoch, self._context.broker.cluster_id)
        self.order_cut(now, mp, partition, FROM_SCRATCH, lineage=lineage)

    def order_cut(
        self,
        now: Instant,
        mp: MirrorPartition,
        partition: Partition,
        cut_epoch: int,
        *,
        lineage: Lineage | None = None,
    ) -> None:
        """List every replica for a cut to `cut_epoch` while MIRRORING; once that is persisted, this leader cuts."""
        uncut = with_all_replicas(mp.uncut, partition.image.replicas, cut_epoch)
        self.write_state(now, mp, MirrorState.MIRRORING, NOT_SETTLED, uncut=uncut, lineage=lineage)

    def write_state(
        self,
        now: Instant,
        mp: MirrorPartition,
        state: MirrorState,
        epoch: int,
        *,
        uncut: Uncut | None = None,
        stop: StopPlan | None = None,
        lineage: Lineage | None = None,
    ) -> None:
        """Persist a state, and an epoch unless it is NOT_SETTLED; then do the partition's next step.

        The same write has the list of uncut replicas (by default those that have not confirmed yet, D30), the lineage
        (by default the present one, D45), and in STOPPING the plan of the stop (D43).
        """
        partition = self._context.replicas.partitions.find_led(mp.tp)
        assert partition is not None, f"{mp.tp} is led here"
        mp.is_busy = True
        new_uncut = uncut_to_persist(mp, partition, state) if uncut is None else uncut
        plan = (stop or mp.stop) if state is MirrorState.STOPPING else None
        new_lineage = mp.lineage if lineage is None else lineage
        pending_reason = f"waiting for the mirror's coordinator to persist state {state.name}"
        if state is not MirrorState.FAILED:  # There the reason of the failure must stay.
            mp.reason = pending_reason
            self._context.note_reason(mp)
        write = StateWrite(mp.key, mp.tp.topic, state, epoch, partition.leader_epoch, new_uncut, plan, new_lineage)
        state_topic_id = self._context.coordinator.incarnation()

        def on_written(later: Instant, error: ErrorCode) -> None:
            if not self._context.is_present(mp):
                return
            mp.is_busy = False
            mp.is_unsure = bool(error)
            if mp.reason == pending_reason:
                mp.reason = ""
            if error in (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.INVALID_REQUEST):
                mp.state = None  # Another leader has written since: read the persisted state again.
                partition.notify_watchers()  # Reads of the log under way are withheld as well (D30).
            if error:
                self._context.retry_later(later, mp, f"persisting state {state.name}: {error.name}")
                return
            if epoch != NOT_SETTLED:
                mp.last_mirrored_epoch = epoch
            elif state is MirrorState.MIRRORING:
                mp.last_mirrored_epoch = NOT_SETTLED
            was_withheld = mp.is_withheld
            apply_uncut(mp, partition, new_uncut)
            if was_withheld and not mp.is_withheld:
                self._context.replicas.changes.mark_changed(
                    mp.tp
                )  # Requests that wait for its log may be served now (D30).
            mp.stop, mp.lineage, mp.state_topic_id = plan, new_lineage, state_topic_id
            if mp.state is not state:
                mp.enter(state)
                self._context.note_state(mp, state)
            elif state is MirrorState.MIRRORING:  # This broker is on the list if the source's log was rewritten (D45).
                cut_if_listed(self._context, later, mp, missed=was_withheld)
            self.continue_in_state(later, mp)

        self._context.states.write(write, on_written, is_wanted=lambda: self._context.is_present(mp))

    def continue_in_state(self, now: Instant, mp: MirrorPartition) -> None:
        """Enter the leader's epoch into the log if it has this cluster's epochs; then do the partition's next step."""
        partition = self._context.replicas.partitions.find_led(mp.tp)
        if partition is not None and not has_foreign_epochs(self._context, partition):
            self._context.replicas.appends.assign_epoch(partition)
        self._schedule_step(now, mp)
