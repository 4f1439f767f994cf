"""What does a batch that bears a producer id, or a control record, change in the producer table?"""

from __future__ import annotations

from collections.abc import Iterable

from kmirror.log.producers import DataBatch, Marker, Staging
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.control import ControlType, parse_control


def data_batch(batch: Batch) -> DataBatch:
    """What the producer table needs of a data batch."""
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
    """The last offset of the batch at `position`."""
    base_offset, _, _, _, _, _, delta = layout.PREFIX.unpack_from(view, position)
    last_offset: int = base_offset + delta
    return last_offset


def stage_batches(view: memoryview, positions: Iterable[int], staging: Staging) -> list[int]:
    """Stage the batches at `positions`; returns the types of the control records among them."""
    control_types: list[int] = []
    unpack = layout.HEADER.unpack_from
    for position in positions:
        fields = unpack(view, position)
        if fields[5] & layout.CONTROL_FLAG:
            kind = _stage_control(Batch(view, position), staging)
            if kind is not None:
                control_types.append(kind)
            continue
        base_offset, delta, max_timestamp = fields[0], fields[6], fields[8]
        producer_id, producer_epoch, base_sequence = fields[9:12]
        transactional = bool(fields[5] & layout.TRANSACTIONAL_FLAG)
        last_offset = base_offset + delta
        staging.add_data(
            DataBatch(
                producer_id,
                producer_epoch,
                base_sequence,
                base_offset,
                last_offset,
                max_timestamp,
                transactional,
            )
        )
    return control_types


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
