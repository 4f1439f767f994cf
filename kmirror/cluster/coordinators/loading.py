"""Loading of a shard from its log when a leadership begins, and the handling of unreadable records.

Records of an unknown type are ignored: a later Kafka may have written them. Any other unreadable record ends the
loading, as in Kafka 4.3.1. The coordinators of groups and of mirrors then do not serve the shard at all
(CoordinatorRuntime in state FAILED: NOT_COORDINATOR); the transaction coordinator continues with the records read so
far (TransactionStateManager).
"""

from __future__ import annotations

from collections.abc import Iterable

from kmirror.cluster.coordinators.shard_state import LoggedRecord, ShardState
from kmirror.errors import ProtocolError
from kmirror.records.batch import Batch
from kmirror.records.control import ControlType, parse_control
from kmirror.records.record import Record


def load(state: ShardState, batches: Iterable[Batch], high_watermark: int) -> str | None:
    """Replay a shard's log into an empty state; return None, or the offset of the unreadable record and the reason."""
    end = 0
    try:
        for batch in batches:
            for record in batch.records():
                end = record.offset
                _replay(state, batch, record)
            end = batch.last_offset + 1
            state.mark_appended(end)
            state.commit(high_watermark)
    except ProtocolError as error:
        state.mark_appended(end)
        state.commit(high_watermark)
        return f"from offset {end} on: {error}"
    return None


def _replay(state: ShardState, batch: Batch, record: Record) -> None:
    if batch.is_control:
        kind = parse_control(record.key, record.value).type
        if kind in (ControlType.COMMIT, ControlType.ABORT):
            state.end_transaction(batch.producer_id, commit=kind is ControlType.COMMIT)
    elif record.key is None:
        raise ProtocolError("the record key is null", position=0, field="key")
    else:
        state.replay(LoggedRecord(record.key, record.value, record.offset, batch.producer_id))
