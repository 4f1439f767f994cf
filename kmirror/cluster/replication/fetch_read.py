"""One partition's answer to a fetch: fenced by epoch, checked for divergence, bounded by isolation.

The order of the checks is Kafka's: leadership, leader epoch, divergence, range. A follower reads
up to the log end, a consumer up to the high watermark, a read_committed consumer up to the last
stable offset.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.cluster.replication.partition import Partition
from kmirror.cluster.replication.truncation import divergence, is_cut, order_to_cut
from kmirror.log.partition_log import OffsetOutOfRange
from kmirror.protocol.gen.fetch_request import FetchPartition
from kmirror.protocol.gen.fetch_response import (
    AbortedTransaction,
    EpochEndOffset,
    PartitionData,
)
from kmirror.spec.error_codes import ErrorCode

CONSUMER = -1
NO_EPOCH = -1


@dataclass(frozen=True, slots=True)
class Reader:
    """The replica (-1 for a consumer) that fetches, and its isolation level."""

    replica_id: int
    read_committed: bool

    @property
    def is_follower(self) -> bool:
        return self.replica_id >= 0


def leader_error(partition: Partition | None, current_leader_epoch: int) -> ErrorCode:
    """Return why a request that names `current_leader_epoch` may not be served here, or NONE."""
    if partition is None or not partition.is_leader:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if current_leader_epoch == NO_EPOCH or current_leader_epoch == partition.leader_epoch:
        return ErrorCode.NONE
    if current_leader_epoch < partition.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.UNKNOWN_LEADER_EPOCH


def failed(index: int, error: ErrorCode) -> PartitionData:
    """Return the answer for a partition that cannot be read."""
    return PartitionData(
        partition_index=index,
        error_code=error,
        high_watermark=-1,
        last_stable_offset=-1,
        log_start_offset=-1,
        records=b"",
    )


def read_partition(
    partition: Partition, request: FetchPartition, reader: Reader, *, max_bytes: int, min_one: bool, foreign: bool
) -> PartitionData:
    """Return the answer to the fetch of one partition; nothing about the follower is recorded here.

    `max_bytes` of 0 reads no records; `min_one` returns at least one batch, however large. `foreign` says that the log
    has leader epochs of another cluster (D13).
    """
    log = partition.log
    error = leader_error(partition, request.current_leader_epoch)
    if error:
        return failed(request.partition, error)
    data = PartitionData(
        partition_index=request.partition,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset,
        log_start_offset=log.log_start_offset,
        records=b"",
    )
    cut_epoch = partition.must_cut.get(reader.replica_id)
    if cut_epoch is not None and not is_cut(cut_epoch, request.last_fetched_epoch):
        order = order_to_cut(log, cut_epoch)
        data.diverging_epoch = EpochEndOffset(epoch=order.epoch, end_offset=order.end_offset)
        return data
    if request.last_fetched_epoch != NO_EPOCH:
        if request.fetch_offset < log.log_start_offset:
            return failed(request.partition, ErrorCode.OFFSET_OUT_OF_RANGE)
        found = divergence(log, request.last_fetched_epoch, request.fetch_offset, foreign=foreign)
        if found is not None and found.epoch == -1:
            return failed(request.partition, ErrorCode.OFFSET_OUT_OF_RANGE)
        if found is not None:
            data.diverging_epoch = EpochEndOffset(epoch=found.epoch, end_offset=found.end_offset)
            return data
    if not log.log_start_offset <= request.fetch_offset <= log.log_end_offset:
        return failed(request.partition, ErrorCode.OFFSET_OUT_OF_RANGE)
    if reader.is_follower:
        bound = log.log_end_offset
        data.mirror_leader_epoch = log.latest_epoch if foreign else NO_EPOCH
    else:
        bound = log.last_stable_offset if reader.read_committed else log.high_watermark
    if max_bytes > 0 and request.fetch_offset < bound:
        try:
            result = log.read(request.fetch_offset, max_bytes=max_bytes, end_offset=bound, min_one=min_one)
        except OffsetOutOfRange:
            return failed(request.partition, ErrorCode.OFFSET_OUT_OF_RANGE)
        data.records = result.records
    if not reader.read_committed:
        data.aborted_transactions = None
    else:
        data.aborted_transactions = [
            AbortedTransaction(producer_id=aborted.producer_id, first_offset=aborted.first_offset)
            for aborted in (log.aborted_transactions(request.fetch_offset, bound) if data.records else ())
        ]
    return data
