"""May these bytes be appended without a scan? Yes, if they are one plain batch that goes on where the log ends.

So answers a source that is asked often: one batch for each partition. And so comes what a leader has prepared itself.
A scan costs several times as much Python for it as the bytes cost, and finds nothing that is not seen here. Whatever is
not plain is left to the scan: another epoch, an unknown producer, one that begins a transaction, a control batch, a
first batch, one that calls for a new segment, and everything that is wrong.
"""

from __future__ import annotations

from kmirror.log.config import LogConfig
from kmirror.log.producers import ProducerStates
from kmirror.log.results import AppendInfo
from kmirror.log.scan import FUSED
from kmirror.log.segment_list import SegmentList
from kmirror.records import layout
from kmirror.records.crc32c import crc32c_function

_OF_PRODUCER = layout.header_struct("producer_epoch", "base_sequence")
_CONTROL, _TRANSACTIONAL = layout.CONTROL_FLAG, layout.TRANSACTIONAL_FLAG
_MAGIC_V2, _OVERHEAD, _HEADER_SIZE = layout.MAGIC_V2, layout.LOG_OVERHEAD, layout.HEADER_SIZE
_ATTRIBUTES_AT, _LENGTH_MIN, _LAST_OFFSET_MAX = layout.ATTRIBUTES_AT, layout.BATCH_LENGTH_MIN, layout.LAST_OFFSET_MAX


def append_one(
    segments: SegmentList,
    producers: ProducerStates,
    config: LogConfig,
    view: memoryview,
    max_epoch: int,
    latest_epoch: int,
    now_ms: int,
    *,
    is_prepared: bool = False,
) -> AppendInfo | None:
    """Append `view` if it is one plain batch; None, and nothing is done, if it is not.

    If it `is_prepared` by a leader, the checksum is known to hold, and a producer's batches are to come in
    the order of their sequence numbers.
    """
    total = len(view)
    if total < _HEADER_SIZE:
        return None
    base, length, epoch, magic, crc, attributes, delta, timestamp, producer_id = FUSED.unpack_from(view)
    segment, last = segments.active, base + delta
    if (
        length + _OVERHEAD != total
        or magic != _MAGIC_V2
        or length < _LENGTH_MIN
        or attributes & _CONTROL
        or delta < 0
        or base < segments.end_offset
        or last > _LAST_OFFSET_MAX
        or epoch > max_epoch
        or epoch != latest_epoch
        or not segment.size
        or segment.should_roll(config, total, last, timestamp, now_ms)
        or (not is_prepared and crc32c_function()(view[_ATTRIBUTES_AT:]) != crc)
    ):
        return None
    if producer_id < 0:
        segments.append_one(view, last, timestamp, now_ms)
    else:
        producer = producers.entries.get(producer_id)
        producer_epoch, sequence = _OF_PRODUCER.unpack_from(view)
        if producer is None or producer.producer_epoch != producer_epoch:
            return None
        if (producer.txn_first_offset >= 0) != bool(attributes & _TRANSACTIONAL):
            return None
        if is_prepared and not producer.is_followed_by(sequence):
            return None
        segments.append_one(view, last, timestamp, now_ms)
        producer.add_batch(sequence, last, delta, timestamp)
    producers.map_end_offset = last + 1
    return AppendInfo(base, last, 1, total, timestamp)
