"""Rules of a stop: the records that it keeps, and the end of transactions that its cuts reopened (D10, D29)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kmirror.histories.monitors.mirrored_partitions import PartitionSnapshot
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.uuid import Uuid
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.reopened_transactions import StopPlan
from kmirror.mirror.state_records import NEVER_MIRRORED
from kmirror.mirror.states import MirrorState
from kmirror.records.control import ControlType

MARKERS = (ControlType.COMMIT, ControlType.ABORT)


@dataclass(frozen=True, slots=True)
class Row:
    """Compared fields of a batch."""

    offset: int
    last_offset: int
    epoch: int
    crc: int
    producer_id: int
    is_transactional: bool
    control: ControlType | None
    """Type of a control batch; None for other batches."""


def batch_rows(log: PartitionLog) -> list[Row]:
    """Return the batches of a log."""
    found = []
    for batch in log.batches(log.log_start_offset):
        record = batch.control() if batch.is_control else None
        found.append(
            Row(
                batch.base_offset,
                batch.last_offset,
                batch.partition_leader_epoch,
                batch.crc,
                batch.producer_id,
                batch.is_transactional,
                None if record is None else record.type,
            )
        )
    return found


class StopRules:
    """Judges logs at the end of a stop."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._before: dict[tuple[str, Uuid, int], list[list[Row]]] = {}
        """Logs when the session began to prepare, and to stop, at each of its leaders."""
        self._mirrored: dict[tuple[str, Uuid, int], None] = {}
        """Partitions whose session has reached MIRRORING."""

    def judge(self, after: PartitionSnapshot, before: PartitionSnapshot | None) -> None:
        """Check how an event changed a partition; `before` is None if the partition was not observed before."""
        previous = None if before is None else before.state
        if after.state is previous or after.state is None:
            return
        if after.state in (MirrorState.PREPARING, MirrorState.STOPPING):
            if (
                after.state is MirrorState.PREPARING
                and after.stop is None
                and previous not in (None, MirrorState.PREPARING)
            ):
                self.forget(after.cluster, after.mp.topic_id, after.mp.tp.partition)
            self._before.setdefault(after.key, []).append(batch_rows(after.partition.log))
        elif after.state is MirrorState.MIRRORING:
            self._mirrored[after.key] = None
        elif after.state is MirrorState.STOPPED:
            if before is not None and previous is MirrorState.STOPPING and before.stop is not None:
                for rule, text in self._violations(after, before, before.stop):
                    self._rules.report(after.cluster, after.partition.broker_id, after.mp.tp, rule, text)
            self.forget(after.cluster, after.mp.topic_id, after.mp.tp.partition)

    def forget(self, cluster: str, topic_id: Uuid, partition: int = -1) -> None:
        """Forget the sessions of a topic, or of one partition."""
        for known in (self._before, self._mirrored):
            for key in [key for key in known if key[:2] == (cluster, topic_id) and partition in (-1, key[2])]:
                del known[key]

    def _violations(
        self, after: PartitionSnapshot, before: PartitionSnapshot, plan: StopPlan
    ) -> Iterator[tuple[str, str]]:
        """Yield the rules that a finished stop breaks."""
        log, leader = after.partition.log, after.partition
        rows, later = _split_at_reset(batch_rows(log), before.end, plan.epoch)
        last = rows[-1] if rows else None
        if last is None or last.control is not ControlType.MIRROR_PID_RESET or last.epoch < plan.epoch:
            end = "nothing" if last is None else f"a batch of epoch {last.epoch} at offset {last.offset}"
            yield (
                "stop-reset",
                f"STOPPED for epoch {plan.epoch}, but the log ends with {end}, not with its producer reset",
            )
        if leader.leader_epoch < plan.epoch:
            yield "stop-epoch", f"STOPPED in leader epoch {leader.leader_epoch}, but must write in {plan.epoch}"
        new = {row.producer_id for row in later}
        open_ones = [producer_id for producer_id in log.producers.ongoing.values() if producer_id not in new]
        known = [producer_id for producer_id in log.producers.entries if producer_id not in new]
        if open_ones or known:
            yield (
                "stop-producers",
                f"STOPPED with open transactions of producers {open_ones}, and {known} producers known",
            )
        mirrored = [row for row in rows if row.epoch < plan.epoch]
        mixed = [row for row in rows if row.epoch >= plan.epoch and row.control is None]
        if mixed or [row for row in mirrored if row.last_offset >= plan.offset]:
            yield "stop-tail", f"STOPPED, but records are left above offset {plan.offset}, the cut of the stop"
        if after.key in self._mirrored and mirrored and mirrored[-1].last_offset + 1 >= plan.offset:
            settled = after.mp.last_mirrored_epoch
            if settled not in (mirrored[-1].epoch, NEVER_MIRRORED):
                text = (
                    f"STOPPED with the last mirrored epoch {settled}, but the last batch has epoch {mirrored[-1].epoch}"
                )
                yield "stop-settled", text
        ending = [row for row in rows if row.epoch >= plan.epoch]
        yield from _ending_violations(ending, mirrored, self._before.get(after.key, []))


def _split_at_reset(rows: list[Row], end: int, epoch: int) -> tuple[list[Row], list[Row]]:
    """Return the batches up to the producer reset of a stop, and those appended later in the event that ended it.

    A waiting request may be served as soon as the partition is STOPPED. `end` is the log end before that event.
    """
    resets = [n for n, row in enumerate(rows) if row.control is ControlType.MIRROR_PID_RESET and row.epoch >= epoch]
    if not resets or any(row.offset < end for row in rows[resets[-1] + 1 :]):
        return rows, []
    return rows[: resets[-1] + 1], rows[resets[-1] + 1 :]


def _ending_violations(
    ending: Sequence[Row], kept: Sequence[Row], earlier: Sequence[Sequence[Row]]
) -> Iterator[tuple[str, str]]:
    """Yield the transactions that a stop commits although they were aborted, or lack records (D29)."""
    opened: dict[int, Row] = {}
    for row in kept:
        if row.control in MARKERS:
            opened.pop(row.producer_id, None)
        elif row.control is None and row.is_transactional:
            opened.setdefault(row.producer_id, row)
    remaining = {(row.offset, row.epoch, row.crc) for row in kept}
    for marker in ending:
        first = opened.get(marker.producer_id)
        if marker.control is not ControlType.COMMIT or first is None:
            continue
        for log in earlier:
            end, records = _transaction(log, first)
            text = f"the stop commits the transaction of producer {first.producer_id} from offset {first.offset}"
            if end is ControlType.ABORT:
                yield "stop-commits-aborted", f"{text}, which was aborted"
            elif end is ControlType.COMMIT and any((r.offset, r.epoch, r.crc) not in remaining for r in records):
                yield "stop-commits-half", f"{text}, and the log lacks some of its records"


def _transaction(log: Sequence[Row], first: Row) -> tuple[ControlType | None, list[Row]]:
    """Return how the transaction that began with `first` ended, and its records; (None, []) without an end."""
    records: list[Row] = []
    for row in log:
        if row.producer_id != first.producer_id or (not records and row != first):
            continue
        if row.control in MARKERS:
            return row.control, records
        records.append(row)
    return None, []
