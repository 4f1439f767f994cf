"""STOPPING, in order: decide, cut, bump, end transactions, reset producers, STOPPED (D10, D15, D29, D43).

A session that touched nothing has nothing to undo and goes to STOPPED at once (D33). One that cut the log in
PREPARING and never mirrored keeps the epoch that the last stop settled, and only ends what its cut left open (D37).

What is decided (where to cut, the last mirrored epoch, which transactions the cut reopens were committed, in which
epoch the stop writes) is persisted before anything is cut. So a new leader goes on where the last one fell, and does
the same; a reset already at the log's end is not written again.

The decision waits until every member of the ISR has told this leader where it is. A new leader's high watermark may
still be behind what is committed, and a cut to the last stable offset below it would lose what nobody need lose (D37).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmirror.cluster.replication.truncation import epoch_below
from kmirror.kernel.clock import Instant, to_ms
from kmirror.log.partition_log import AppendOrigin, LogAppendError
from kmirror.mirror.cutting import SESSION, epoch_after_stop
from kmirror.mirror.lineage import Lineage, written_on
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.reopened import StopPlan, decided_offset, plan_of
from kmirror.mirror.state_records import NEVER_MIRRORED, NOT_SETTLED
from kmirror.mirror.states import MirrorState
from kmirror.records.control import ControlType, end_txn_marker, mirror_pid_reset
from kmirror.records.legacy import AnyBatch
from kmirror.spec.error_codes import ErrorCode

if TYPE_CHECKING:
    from kmirror.cluster.replication.partition import Partition
    from kmirror.mirror.component import MirrorComponent


class Stopping:
    """Carries one broker's partitions through STOPPING; every step may be repeated."""

    def __init__(self, component: MirrorComponent) -> None:
        self._component = component
        self._broker = component.broker

    def act(self, now: Instant, mp: MirrorPartition, partition: Partition) -> None:
        """Do the next step that is not done yet."""
        if not mp.is_touched:  # Nothing was cut and nothing came: whatever is in the log is ours and stays (D33).
            self._component.transition(now, mp, MirrorState.STOPPED)
            return
        if mp.stop is None:
            if not self._is_behind(mp, partition):
                self._decide(now, mp, partition)
            return
        self._cut(now, mp, partition, mp.stop)
        if self._is_behind(mp, partition):
            return
        if self._is_reset(mp, partition):
            self._component.transition(now, mp, MirrorState.STOPPED)
        elif self._is_bumped(now, mp, partition, mp.stop):
            self._end_transactions(now, mp, partition, mp.stop)

    def _is_behind(self, mp: MirrorPartition, partition: Partition) -> bool:
        """Is there a member of the ISR that does not have exactly what the leader has, as far as we know? (D37)"""
        log, isr = partition.log, partition.isr
        if log.high_watermark < log.log_end_offset or partition.unconfirmed(isr):
            mp.reason = f"not every member of ISR {list(isr)} is at {log.log_end_offset}, the leader's log end"
        elif len(isr) < partition.min_isr:
            mp.reason = f"ISR {list(isr)} is smaller than min.insync.replicas"
        else:
            return False
        return True

    def _decide(self, now: Instant, mp: MirrorPartition, partition: Partition) -> None:
        """Persist the one cut, to the last stable offset, and the last epoch below it, before anything is done.

        Out of PREPARING nothing more is cut, and the epoch that the last stop settled stays (D37).
        """
        log, epoch = partition.log, mp.last_mirrored_epoch
        if epoch == NOT_SETTLED:
            # What this session's own cuts reopened counts as it ended (D42).
            offset = decided_offset(log, mp.own_markers)
            latest = epoch_below(log, offset)
            epoch = NEVER_MIRRORED if latest < 0 else latest
        else:
            offset = log.log_end_offset
        plan = plan_of(log, mp.own_markers, offset, epoch_after_stop(partition.leader_epoch, epoch))
        writers = written_on(self._component.kinship.of(mp), plan.epoch, self._broker.cluster_id)
        lineage = Lineage(writers, plan.epoch)
        self._component.write_state(now, mp, MirrorState.STOPPING, epoch, stop=plan, lineage=lineage)

    def _cut(self, now: Instant, mp: MirrorPartition, partition: Partition, plan: StopPlan) -> None:
        """Cut what was mirrored above the decided offset; what the stop itself wrote there stays."""
        log = partition.log
        if log.log_end_offset > plan.offset and log.epochs.epoch_for_offset(plan.offset) < plan.epoch:
            self._component.cut(now, mp, partition, plan.offset, "LSO")

    def _is_bumped(self, now: Instant, mp: MirrorPartition, partition: Partition, plan: StopPlan) -> bool:
        """Does this leader reign in an epoch that was begun for this stop? If not, ask for one (D36)."""
        if partition.leader_epoch >= plan.epoch:
            return True
        mp.reason = f"waiting for leader epoch {plan.epoch}, above the last mirrored one"
        if not mp.bumping:
            self._component.bump(now, mp, plan.epoch)
        return False

    def _is_reset(self, mp: MirrorPartition, partition: Partition) -> bool:
        """Is our own producer reset the last batch? Its epoch is above all that the session cut to or fed."""
        last = last_batch(partition)
        before = max(mp.last_mirrored_epoch, mp.uncut[SESSION])
        if last is None or not last.is_control or last.partition_leader_epoch <= before:
            return False
        record = last.control()
        return record is not None and record.type is ControlType.MIRROR_PID_RESET

    def _end_transactions(self, now: Instant, mp: MirrorPartition, partition: Partition, plan: StopPlan) -> None:
        """End what the cut left open, each with a marker, then forget the source's producers, in one go (D29)."""
        try:
            for producer_id in list(partition.log.producers.ongoing.values()):
                marker = self._marker(now, mp, partition, plan, producer_id)
                self._broker.replicas.append(now, partition, marker, origin=AppendOrigin.COORDINATOR)
        except LogAppendError as error:
            self._component.retry_later(now, mp, f"marker of a transaction that the cut reopened: {error}")
            return
        self._reset_producers(now, mp, partition)

    def _marker(
        self, now: Instant, mp: MirrorPartition, partition: Partition, plan: StopPlan, producer_id: int
    ) -> bytes:
        """Return the marker of an open transaction: COMMIT where that was decided and nothing of it is missing."""
        entry = partition.log.producers.entries[producer_id]
        # A log that ends below the cut has lost records, by an unclean election.
        commit = producer_id in plan.commits and partition.log.log_end_offset >= plan.offset
        self._component.note(
            mp, f"producer {producer_id}: {'commits' if commit else 'aborts'} the transaction that the cut reopened"
        )
        return end_txn_marker(
            base_offset=0,
            leader_epoch=partition.leader_epoch,
            timestamp_ms=to_ms(now),
            producer_id=producer_id,
            producer_epoch=entry.producer_epoch,
            commit=commit,
            coordinator_epoch=max(entry.coordinator_epoch, 0),
        )

    def _reset_producers(self, now: Instant, mp: MirrorPartition, partition: Partition) -> None:
        batch = mirror_pid_reset(
            base_offset=0,
            leader_epoch=partition.leader_epoch,
            timestamp_ms=to_ms(now),
            source_cluster_id=self._component.source_cluster_id(mp.assignment.mirror),
        )
        try:
            info = self._broker.replicas.append(now, partition, batch, origin=AppendOrigin.COORDINATOR)
        except LogAppendError as error:  # For instance a max.message.bytes that not even this batch keeps to.
            self._component.retry_later(now, mp, f"producer reset: {error}")
            return
        self._component.note(mp, f"producer reset at offset {info.first_offset}, leader epoch {partition.leader_epoch}")
        mp.busy = True

        def on_acked(later: Instant, error: ErrorCode) -> None:
            if not self._component.is_current(mp, MirrorState.STOPPING):
                return
            mp.busy = False
            if error:
                self._component.retry_later(later, mp, f"producer reset: {error.name}")
            else:
                self._component.look_at(later, mp)

        timeout_ms = self._broker.configs.integer("request.timeout.ms")
        self._broker.replicas.await_acks(now, partition, info.last_offset + 1, timeout_ms, on_acked)


def last_batch(partition: Partition) -> AnyBatch | None:
    """Return the last batch of the log, or None if it holds none."""
    log = partition.log
    found = None
    for batch in log.any_batches(max(log.log_start_offset, log.log_end_offset - 1)):
        found = batch
    return found
