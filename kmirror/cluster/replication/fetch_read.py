"""The fetch response of one partition: epoch fencing, divergence check, isolation.

The checks are in Kafka's order: leader epoch, leadership, divergence, range. A follower reads up to the log end, a
consumer up to the high watermark, a read_committed consumer up to the last stable offset (all exclusive). Any replica
serves consumers (KIP-392), with its own high watermark and last stable offset.

`check_fetch` makes the checks, `read` reads; between the two, the leader applies a follower's fetch offsets.
"""

from __future__ import annotations

from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.truncation import Divergence, demanded_divergence, divergence, is_cut
from kmirror.kernel.values import value
from kmirror.log.partition_log import PartitionLog
from kmirror.log.results import ReadResult
from kmirror.protocol.gen.fetch_request import FetchPartition
from kmirror.protocol.gen.fetch_response import (
    AbortedTransaction,
    EpochEndOffset,
    PartitionData,
)
from kmirror.spec.error_codes import ErrorCode

NO_EPOCH = -1
NOT_EXAMINED = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    }
)
"""Errors of partitions whose log was not examined."""


@value
class Reader:
    """The fetching replica (-1 for a consumer) and its isolation level."""

    replica_id: int
    read_committed: bool
    leader_only: bool = True
    """False if followers may serve the fetch too: consumers with Fetch v11 or later."""
    rack: str = ""
    """Rack for which a leader may choose a preferred read replica; "" for none."""

    @property
    def is_follower(self) -> bool:
        return self.replica_id >= 0


def replica_error(partition: Partition, current_leader_epoch: int, *, leader_only: bool) -> ErrorCode:
    """Return why a request with `current_leader_epoch` may not be served here, or NONE."""
    if current_leader_epoch not in (NO_EPOCH, partition.leader_epoch):
        is_old = current_leader_epoch < partition.leader_epoch
        return ErrorCode.FENCED_LEADER_EPOCH if is_old else ErrorCode.UNKNOWN_LEADER_EPOCH
    return ErrorCode.NOT_LEADER_OR_FOLLOWER if leader_only and not partition.is_leader else ErrorCode.NONE


def error_row(index: int, error: ErrorCode) -> PartitionData:
    """Return the row of an unreadable partition; the list of aborted transactions is [] or null as in Kafka."""
    return PartitionData(
        partition_index=index,
        error_code=error,
        high_watermark=-1,
        last_stable_offset=-1,
        log_start_offset=-1,
        aborted_transactions=[] if error in NOT_EXAMINED else None,
        records=b"",
    )


def end_for(log: PartitionLog, reader: Reader) -> int:
    """Return the end offset (exclusive) of the range that `reader` may read."""
    if reader.replica_id >= 0:
        return log.log_end_offset
    return log.last_stable_offset if reader.read_committed else log.high_watermark


def check_fetch(
    partition: Partition, request: FetchPartition, reader: Reader, *, foreign: bool
) -> PartitionData | None:
    """Return the row with an error or a divergence, None if the partition may be read at the fetch offset.

    `foreign` is True if the log has leader epochs of another cluster (D13).
    """
    log, image, leader_epoch = partition.log, partition.image, request.current_leader_epoch
    if leader_epoch not in (NO_EPOCH, image.leader_epoch) or (
        reader.leader_only and image.leader != partition.broker_id
    ):
        return error_row(request.partition, replica_error(partition, leader_epoch, leader_only=reader.leader_only))
    offset, epoch = request.fetch_offset, request.last_fetched_epoch
    if partition.required_cuts:
        cut_epoch = partition.required_cuts.get(reader.replica_id)
        # An empty log that begins above this one was emptied by deletion, not by the cut: it lacks the records in
        # between.
        is_emptied = epoch == NO_EPOCH and request.log_start_offset > log.log_start_offset
        if cut_epoch is not None and (is_emptied or not is_cut(cut_epoch, epoch)):
            return _diverging_row(request, log, demanded_divergence(log, cut_epoch))
    # The usual fetch has the latest epoch and an offset within it.
    if epoch != NO_EPOCH and (epoch != log.latest_epoch or offset > log.log_end_offset):
        if offset < log.log_start_offset:
            return error_row(request.partition, ErrorCode.OFFSET_OUT_OF_RANGE)
        found = divergence(log, epoch, offset, foreign=foreign)
        if found is not None and found.epoch == -1:
            return error_row(request.partition, ErrorCode.OFFSET_OUT_OF_RANGE)
        if found is not None:
            return _diverging_row(request, log, found)
    if not log.log_start_offset <= offset <= log.log_end_offset:
        return error_row(request.partition, ErrorCode.OFFSET_OUT_OF_RANGE)
    return None


def _diverging_row(request: FetchPartition, log: PartitionLog, found: Divergence) -> PartitionData:
    return PartitionData(
        partition_index=request.partition,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset,
        log_start_offset=log.log_start_offset,
        aborted_transactions=None,
        diverging_epoch=EpochEndOffset(epoch=found.epoch, end_offset=found.end_offset),
        records=b"",
    )


def read(
    partition: Partition,
    request: FetchPartition,
    reader: Reader,
    *,
    end_offset: int,
    max_bytes: int,
    min_one: bool,
    foreign: bool,
) -> PartitionData:
    """Return the row of a fetch accepted by `check_fetch`: the batches below `end_offset`.

    `min_one` returns at least one batch of any size, even if `max_bytes` is 0. The follower's state is not updated
    here.
    """
    log, offset = partition.log, request.fetch_offset
    records: bytes | memoryview = b""
    aborted: list[AbortedTransaction] | None = None
    found: ReadResult | None = None
    if (max_bytes > 0 or min_one) and offset < end_offset:
        found = log.read(offset, max_bytes=max_bytes, end_offset=end_offset, min_one=min_one)
        records = found.records
    if reader.read_committed and (records or max_bytes <= 0 or offset >= end_offset):  # Not if a limit is too low.
        ended = log.aborted_within(offset, found) if found is not None and records else ()
        aborted = [AbortedTransaction(producer_id=one.producer_id, first_offset=one.first_offset) for one in ended]
    return PartitionData(
        partition_index=request.partition,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset,
        log_start_offset=log.log_start_offset,
        aborted_transactions=aborted,
        records=records,
        mirror_leader_epoch=log.latest_epoch if foreign and reader.replica_id >= 0 else NO_EPOCH,
    )
