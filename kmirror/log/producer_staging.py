"""Changes that batches with a producer id and control records make to the producer table."""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.log.producer_entry import BATCHES_RETAINED, DataBatch
from kmirror.log.producers import Marker, Staging
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.control import ControlType, parse_control
from kmirror.records.layout import header_struct

_LAST_OFFSET = header_struct("base_offset", "last_offset_delta")
_PRODUCER_FIELDS = header_struct(
    "base_offset",
    "attributes",
    "last_offset_delta",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
)
_KIND = header_struct("attributes", "producer_id")
_CONTROL = layout.CONTROL_FLAG
_TRANSACTIONAL = layout.TRANSACTIONAL_FLAG
_NOT_PLAIN = _CONTROL | _TRANSACTIONAL


def data_batch(batch: Batch) -> DataBatch:
    """Return the fields of a data batch that the producer table needs."""
    return DataBatch(
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        batch.base_offset,
        batch.last_offset,
        batch.max_timestamp,
        batch.is_transactional,
    )


def last_offset_at(view: memoryview, position: int) -> int:
    """Return the last offset of the batch at `position`."""
    base_offset, delta = _LAST_OFFSET.unpack_from(view, position)
    last_offset: int = base_offset + delta
    return last_offset


def stage_batches(view: memoryview, positions: Sequence[int], staging: Staging) -> list[int]:
    """Stage replicated batches at `positions`; return the types of the control records among them."""
    control_types: list[int] = []
    unpack, add = _PRODUCER_FIELDS.unpack_from, staging.add_replicated
    for position in _drop_evicted(view, positions, staging):
        base_offset, attributes, delta, timestamp, producer_id, epoch, sequence = unpack(view, position)
        if attributes & _CONTROL:
            kind = _stage_control(Batch(view, position), staging)
            if kind is not None:
                control_types.append(kind)
        else:
            last_offset, transactional = base_offset + delta, bool(attributes & _TRANSACTIONAL)
            add(producer_id, epoch, sequence, base_offset, last_offset, timestamp, transactional)
    return control_types


def _drop_evicted(view: memoryview, positions: Sequence[int], staging: Staging) -> Sequence[int]:
    """Drop batches that later ones of the same producer evict (five are kept), unless a transaction is open."""
    if len(positions) <= BATCHES_RETAINED:
        return positions
    counts: dict[int, int] = {}
    first: dict[int, int] = {}
    kept_positions = []
    for position in reversed(positions):
        attributes, producer_id = _KIND.unpack_from(view, position)
        if attributes & _NOT_PLAIN:
            return positions
        count = counts.get(producer_id, 0)
        if count < BATCHES_RETAINED:
            counts[producer_id] = count + 1
            kept_positions.append(position)
        first[producer_id] = position
    if not staging.prepare_updates(sorted(first, key=first.__getitem__)):
        return positions
    kept_positions.reverse()
    return kept_positions


def stage_produced(batch: Batch, staging: Staging) -> list[int]:
    """Stage the one batch that a leader appends, with all checks; return its control type in a list, or []."""
    if not batch.is_control:
        staging.add_data(data_batch(batch))
        return []
    kind = _stage_control(batch, staging)
    return [] if kind is None else [kind]


def control_type(batch: Batch) -> int | None:
    """Return the control type of a batch; None for a data batch and for one that the cleaner emptied."""
    if not batch.is_control or batch.record_count == 0:
        return None
    record = next(batch.records())
    return parse_control(record.key, record.value).type_id


def _stage_control(batch: Batch, staging: Staging) -> int | None:
    """Stage a control batch and return its type; one that the cleaner emptied changes nothing."""
    if batch.record_count == 0:
        return None
    record = next(batch.records())
    control = parse_control(record.key, record.value)
    if control.type is ControlType.MIRROR_PID_RESET:
        staging.add_reset(batch.base_offset)
    elif control.type in (ControlType.ABORT, ControlType.COMMIT) and batch.has_producer_id:
        assert control.coordinator_epoch is not None, "a parsed marker has one"
        staging.add_marker(
            Marker(
                batch.producer_id,
                batch.producer_epoch,
                control.coordinator_epoch,
                batch.base_offset,
                record.timestamp,
                control.type is ControlType.COMMIT,
            )
        )
    return control.type_id
