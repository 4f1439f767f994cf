"""Rules of a log: what it remembers of its batches is what they say."""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.cluster.replication.partition import Partition
from kmirror.log.partition_log import PartitionLog
from kmirror.records.control import ControlType
from kmirror.sim.history.inside.rules import Rules

MARKERS = (ControlType.COMMIT, ControlType.ABORT)


class LogLook:
    """Judges what logs remember of their batches."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def look_at_log(self, cluster: str, leader: Partition) -> None:
        """Look at what a leader's log remembers of its batches."""
        for rule, text in _misremembered(leader.log):
            self._rules.broken(cluster, leader.broker_id, leader.tp, rule, text)


def _misremembered(log: PartitionLog) -> Iterator[tuple[str, str]]:
    """Yield what a log remembers otherwise than its batches have it: leader epochs, and open transactions."""
    opened: dict[int, int] = {}
    start, is_wrong = log.log_start_offset, False
    for batch in log.batches(start):
        epoch = log.epochs.epoch_for_offset(max(start, batch.base_offset))
        if epoch != batch.partition_leader_epoch and not is_wrong:
            is_wrong = True
            yield "epochs", f"epoch {epoch} at offset {batch.base_offset}, its batch has {batch.partition_leader_epoch}"
        if batch.is_control:
            control = batch.control()
            if control is not None and control.type in MARKERS:
                opened.pop(batch.producer_id, None)
            elif control is not None and control.type is ControlType.MIRROR_PID_RESET:
                opened.clear()
        elif batch.is_transactional:
            opened.setdefault(batch.producer_id, batch.base_offset)
    held = {producer_id: first for first, producer_id in log.producers.ongoing.items()}
    # Where a transaction began below the log start, only the rest of it is seen here.
    begun = {producer_id: first for producer_id, first in opened.items() if held.get(producer_id, start) >= start}
    held = {producer_id: first for producer_id, first in held.items() if first >= start}
    if held != begun:
        yield "transactions", f"open transactions are {held} by producer, the batches say {begun}"
    first = min(opened.values(), default=log.log_end_offset)
    if log.last_stable_offset > first:
        yield "stable", f"last stable offset {log.last_stable_offset}, a transaction is open from {first}"
