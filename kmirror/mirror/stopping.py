"""STOPPING, in order: cut, settle the epoch, bump, reset producers, STOPPED (D10, D15).

Each step is persisted or can be told from what is, so a new leader goes on where the last one
fell: the cut is repeated (it finds nothing), a settled epoch is not computed again, a leader epoch
already above it is not bumped again, a reset already at the log's end is not written again.

The cut waits until the high watermark has caught up with the log. A new leader's may still be behind
what is committed, and a cut to the last stable offset below it would lose what nobody need lose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmirror.cluster.truncation import last_epoch
from kmirror.kernel.clock import Instant, to_ms
from kmirror.log.partition_log import AppendOrigin, LogAppendError
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.state_records import NEVER_MIRRORED, NOT_SETTLED
from kmirror.mirror.states import MirrorState
from kmirror.records.control import ControlType, mirror_pid_reset
from kmirror.records.legacy import AnyBatch
from kmirror.spec.error_codes import ErrorCode

if TYPE_CHECKING:
    from kmirror.cluster.partition import Partition
    from kmirror.mirror.component import MirrorComponent


class Stopping:
    """Carries one broker's partitions through STOPPING; every step may be repeated."""

    def __init__(self, component: MirrorComponent) -> None:
        self._component = component
        self._broker = component.broker

    def act(self, now: Instant, mp: MirrorPartition, partition: Partition) -> None:
        """Do the next step that is not done yet."""
        if mp.cut_at is None:
            if partition.log.high_watermark < partition.log.log_end_offset:
                mp.reason = f"not every member of ISR {list(partition.isr)} has what the leader has"
                return
            self._cut(now, mp, partition)
        if not self._followers_follow(mp, partition):
            return
        if mp.last_mirrored_epoch == NOT_SETTLED:
            self._settle(now, mp, partition)
        elif partition.leader_epoch <= max(mp.last_mirrored_epoch, partition.log.latest_epoch) and not self._is_reset(
            mp, partition
        ):
            mp.reason = "waiting for a leader epoch above the last mirrored one"
            if not mp.bumping:
                self._component.bump(now, mp, max(mp.last_mirrored_epoch, partition.log.latest_epoch) + 1)
        elif not self._is_reset(mp, partition):
            self._reset_producers(now, mp, partition)
        else:
            self._component.transition(now, mp, MirrorState.STOPPED)

    def _cut(self, now: Instant, mp: MirrorPartition, partition: Partition) -> None:
        log = partition.log
        # A cut may take the marker of a transaction that began earlier: cut on until nothing left is open. Else its
        # records would count as committed after the producer reset, though the marker may have been an abort.
        while (offset := log.last_stable_offset) < (end := log.log_end_offset):
            self._component.note_cut(mp, offset, end, "LSO")
            self._broker.replicas.cut(now, partition, offset)
        mp.cut_at = log.log_end_offset

    def _followers_follow(self, mp: MirrorPartition, partition: Partition) -> bool:
        log = partition.log
        if log.high_watermark < log.log_end_offset or not partition.is_cut_everywhere(
            log.log_end_offset, partition.isr
        ):
            mp.reason = f"not every member of ISR {list(partition.isr)} is at {log.log_end_offset}"
            return False
        if len(partition.isr) < partition.min_isr:
            mp.reason = f"ISR {list(partition.isr)} is smaller than min.insync.replicas"
            return False
        return True

    def _settle(self, now: Instant, mp: MirrorPartition, partition: Partition) -> None:
        """Persist the last epoch of the cut log, before anything of our own is in it."""
        latest = last_epoch(partition.log)
        epoch = NEVER_MIRRORED if latest < 0 else latest
        self._component.write_state(now, mp, MirrorState.STOPPING, epoch)

    def _is_reset(self, mp: MirrorPartition, partition: Partition) -> bool:
        """Is our own producer reset the last batch of the log? Its epoch is above the last mirrored one."""
        last = last_batch(partition)
        if last is None or not last.is_control or last.partition_leader_epoch <= mp.last_mirrored_epoch:
            return False
        record = last.control()
        return record is not None and record.type is ControlType.MIRROR_PID_RESET

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
