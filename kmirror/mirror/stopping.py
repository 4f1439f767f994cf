"""STOPPING, in order: decide, cut, bump, end transactions, reset producers, STOPPED (D10, D15, D29, D43).

A session that touched nothing has nothing to undo and goes to STOPPED at once (D33). One that cut the log in PREPARING
and never mirrored keeps the epoch that the last stop settled, and only ends the transactions that its cut left open
(D37).

The plan is persisted before anything is cut: where to cut, the last mirrored epoch, the committed ones of the
transactions that the cut reopens, and the epoch in which the stop writes. So a new leader continues with the same plan
where the last one ended; a reset that is already at the log's end is not written again.

The decision waits until every member of the ISR has fetched up to the leader's log end. A new leader's high watermark
may still be below committed records, and a cut to that last stable offset would lose them needlessly (D37).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.truncation import epoch_below
from kmirror.kernel.clock import Instant, to_ms
from kmirror.log.partition_log import AppendOrigin, LogAppendError
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.cut_rules import epoch_after_stop
from kmirror.mirror.epoch_bumps import EpochBumps
from kmirror.mirror.facts import ProducersReset
from kmirror.mirror.lineage import Lineage, with_writer
from kmirror.mirror.log_cuts import cut
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.reopened_transactions import StopPlan, decided_offset, make_stop_plan
from kmirror.mirror.state_records import NEVER_MIRRORED, NOT_SETTLED
from kmirror.mirror.state_writer import ScheduleStep, StateWriter
from kmirror.mirror.states import MirrorState
from kmirror.records.control import ControlType, end_txn_marker, mirror_pid_reset
from kmirror.records.legacy import AnyBatch
from kmirror.spec.error_codes import ErrorCode


class StopStep(Enum):
    """The next step of a leader in STOPPING."""

    WAIT = auto()
    """Some ISR member does not have the leader's whole log, or the ISR is too small."""
    DECIDE = auto()
    """Persist the plan of the stop."""
    CUT = auto()
    BUMP = auto()
    """Raise the leader epoch to the plan's."""
    RESET = auto()
    """Write markers for the transactions that the cut left open, then the producer reset."""
    FINISH = auto()
    """Go to STOPPED."""


@dataclass(frozen=True, slots=True)
class StopFacts:
    """The facts that decide the next step; they are derived again before every step."""

    is_touched: bool
    """This session has cut the log, or fed it (D33)."""
    isr_caught_up: bool
    """Every ISR member has exactly the leader's log, and the ISR has `min.insync.replicas` members."""
    is_decided: bool = False
    is_cut: bool = False
    """The log has nothing left that the plan cuts."""
    is_reset: bool = False
    """Our own producer reset is the last batch, and the whole ISR has it."""
    is_bumped: bool = False
    """This leader leads in an epoch that was begun for this stop (D36)."""


def next_step(facts: StopFacts) -> StopStep:
    """Return the first step that is not done yet."""
    if not facts.is_touched:  # Nothing was cut or mirrored: the whole log is our own and stays (D33).
        return StopStep.FINISH
    if facts.is_decided and not facts.is_cut:
        return StopStep.CUT
    if not facts.isr_caught_up:
        return StopStep.WAIT
    if not facts.is_decided:
        return StopStep.DECIDE
    if facts.is_reset:
        return StopStep.FINISH
    return StopStep.RESET if facts.is_bumped else StopStep.BUMP


class Stopping:
    """Takes one broker's partitions through STOPPING; every step may be repeated."""

    def __init__(
        self, context: MirrorContext, writer: StateWriter, bumps: EpochBumps, schedule_step: ScheduleStep
    ) -> None:
        self._context = context
        self._writer = writer
        self._bumps = bumps
        self._schedule_step = schedule_step

    def act(self, now: Instant, mp: MirrorPartition, partition: Partition) -> None:
        """Do the first step that is not done yet."""
        step = next_step(self._facts(mp, partition))
        if step is StopStep.CUT:
            self._cut(now, mp, partition)
            step = next_step(self._facts(mp, partition))
        match step:
            case StopStep.WAIT:
                mp.reason = isr_behind_reason(partition)
            case StopStep.DECIDE:
                self._decide(now, mp, partition)
            case StopStep.BUMP:
                self._bump(mp)
            case StopStep.RESET:
                self._end_transactions(now, mp, partition)
            case StopStep.FINISH:
                self._writer.transition(now, mp, MirrorState.STOPPED)
            case StopStep.CUT:
                raise AssertionError(f"{mp.tp} was cut just now")

    def _facts(self, mp: MirrorPartition, partition: Partition) -> StopFacts:
        plan = mp.stop
        isr_caught_up = not isr_behind_reason(partition)
        if plan is None:
            return StopFacts(is_touched=mp.is_touched, isr_caught_up=isr_caught_up)
        return StopFacts(
            is_touched=mp.is_touched,
            isr_caught_up=isr_caught_up,
            is_decided=True,
            is_cut=self._is_cut(mp, partition),
            is_reset=isr_caught_up and self._is_reset(mp, partition),
            is_bumped=self._is_bumped(mp, partition),
        )

    def _decide(self, now: Instant, mp: MirrorPartition, partition: Partition) -> None:
        """Persist the plan: the cut to the last stable offset, and the last epoch below it.

        A stop out of PREPARING cuts nothing more, and keeps the epoch that the last stop settled (D37).
        """
        log, epoch = partition.log, mp.last_mirrored_epoch
        if epoch == NOT_SETTLED:
            # Transactions that this session's own cuts reopened count as ended, as they were before (D42).
            offset = decided_offset(log, mp.cut_markers)
            # Retention may have deleted all mirrored records, but not their epoch (D23).
            is_empty = log.log_start_offset == log.log_end_offset
            latest = log.latest_epoch if is_empty else epoch_below(log, offset)
            epoch = NEVER_MIRRORED if latest < 0 else latest
        else:
            offset = log.log_end_offset
        known = max(partition.leader_epoch, mp.source_epoch)
        plan = make_stop_plan(log, mp.cut_markers, offset, epoch_after_stop(known, epoch))
        writers = with_writer(self._context.writers_of(mp.tp), plan.epoch, self._context.broker.cluster_id)
        lineage = Lineage(writers, plan.epoch)
        self._writer.write_state(now, mp, MirrorState.STOPPING, epoch, stop=plan, lineage=lineage)

    def _is_cut(self, mp: MirrorPartition, partition: Partition) -> bool:
        """Return whether no mirrored record is left above the decided offset; the stop's own records may be there."""
        log, plan = partition.log, _plan(mp)
        return log.log_end_offset <= plan.offset or log.epochs.epoch_for_offset(plan.offset) >= plan.epoch

    def _cut(self, now: Instant, mp: MirrorPartition, partition: Partition) -> None:
        cut(self._context, now, mp, partition, _plan(mp).offset, "LSO")

    def _is_bumped(self, mp: MirrorPartition, partition: Partition) -> bool:
        """Return whether this leader's epoch is at least the plan's, so that it was begun for this stop (D36)."""
        return partition.leader_epoch >= _plan(mp).epoch

    def _bump(self, mp: MirrorPartition) -> None:
        epoch = _plan(mp).epoch
        mp.reason = f"waiting for leader epoch {epoch}, above the last mirrored one"
        self._bumps.request(mp, epoch)

    def _is_reset(self, mp: MirrorPartition, partition: Partition) -> bool:
        """Return whether the last batch is this stop's producer reset, in the plan's epoch or above.

        An earlier stop's reset may be the last batch, too, if this session decided to cut and cut nothing.
        """
        last = last_batch(partition)
        if last is None or not last.is_control or last.partition_leader_epoch < _plan(mp).epoch:
            return False
        record = last.control()
        return record is not None and record.type is ControlType.MIRROR_PID_RESET

    def _end_transactions(self, now: Instant, mp: MirrorPartition, partition: Partition) -> None:
        """Append a marker for each transaction that the cut left open, then the producer reset, in one step (D29)."""
        try:
            for producer_id in list(partition.log.producers.ongoing.values()):
                marker = self._marker(now, mp, partition, producer_id)
                self._context.replicas.appends.append(now, partition, marker, origin=AppendOrigin.COORDINATOR)
        except LogAppendError as error:
            self._context.retry_later(now, mp, f"marker of a transaction that the cut reopened: {error}")
            return
        self._reset_producers(now, mp, partition)

    def _marker(self, now: Instant, mp: MirrorPartition, partition: Partition, producer_id: int) -> bytes:
        """Return the marker that ends an open transaction: COMMIT if the plan says so and the log is complete."""
        entry, plan = partition.log.producers.entries[producer_id], _plan(mp)
        # A log that ends below the cut has lost records in an unclean election.
        commit = producer_id in plan.commits and partition.log.log_end_offset >= plan.offset
        self._context.note(
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
            source_cluster_id=self._context.source_cluster_id(mp.assignment.mirror),
        )
        try:
            info = self._context.replicas.appends.append(now, partition, batch, origin=AppendOrigin.COORDINATOR)
        except LogAppendError as error:  # For instance a max.message.bytes below the size of this batch.
            self._context.retry_later(now, mp, f"producer reset: {error}")
            return
        fact = ProducersReset(mp.tp, info.first_offset, partition.leader_epoch)
        self._context.note(mp, f"producer reset at offset {fact.offset}, leader epoch {fact.leader_epoch}", fact)
        mp.is_busy = True
        mp.reason = f"not every member of the ISR has the producer reset at {fact.offset}"
        self._context.note_reason(mp)

        def on_acked(later: Instant, error: ErrorCode) -> None:
            if not self._context.is_current(mp, MirrorState.STOPPING):
                return
            mp.is_busy = False
            if error:
                self._context.retry_later(later, mp, f"producer reset: {error.name}")
            else:
                self._schedule_step(later, mp)

        timeout_ms = self._context.broker.configs.integer("request.timeout.ms")
        self._context.replicas.purgatory.await_acks(now, partition, info.last_offset + 1, timeout_ms, on_acked)


def isr_behind_reason(partition: Partition) -> str:
    """Return why ISR members may not have exactly the leader's log; empty if they have (D37)."""
    log, isr = partition.log, partition.isr
    if isr_reason := partition.short_isr_reason():
        return isr_reason
    if log.high_watermark < log.log_end_offset or partition.unconfirmed_members(isr):
        members = partition.members_behind(isr)
        missing = f": {members} not yet" if members else ""
        return f"not every member of ISR {list(isr)} is at {log.log_end_offset}, the leader's log end{missing}"
    return ""


def _plan(mp: MirrorPartition) -> StopPlan:
    assert mp.stop is not None, "decided"
    return mp.stop


def last_batch(partition: Partition) -> AnyBatch | None:
    """Return the last batch of the log, or None if it is empty."""
    log = partition.log
    found = None
    for batch in log.any_batches(max(log.log_start_offset, log.log_end_offset - 1)):
        found = batch
    return found
