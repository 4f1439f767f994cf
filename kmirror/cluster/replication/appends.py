"""Appends and truncation by the leader of a partition."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.changes import PartitionChanges
from kmirror.cluster.replication.purgatory import Purgatory
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.events import Chunk
from kmirror.kernel.failures import DiskFailed
from kmirror.kernel.ids import TopicPartition
from kmirror.log.errors import LogAppendError
from kmirror.log.partition_log import AppendInfo, AppendOrigin
from kmirror.spec.error_codes import ErrorCode


class LeaderAppends:
    """Writes to the logs that this broker leads. An I/O error takes the log directory offline."""

    def __init__(self, context: BrokerContext, purgatory: Purgatory, changes: PartitionChanges) -> None:
        self._context = context
        self._purgatory = purgatory
        self._changes = changes

    def append(
        self,
        now: Instant,
        partition: Partition,
        data: Chunk,
        *,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        transaction_version: int = 0,
        is_out_of_order: bool = False,
    ) -> AppendInfo:
        """Append as leader, without waiting for acks; raise LogAppendError or CorruptBatch if the log rejects the data.

        An I/O error raises KAFKA_STORAGE_ERROR, and nothing was appended. A marker is validated by
        `transaction_version`, the version in which its transaction was ended. For `is_out_of_order` see
        `PartitionLog.append_as_leader`.
        """
        if partition.log_dir in self._context.newly_failed_dirs:
            raise LogAppendError(ErrorCode.KAFKA_STORAGE_ERROR, f"the log directory of {partition.tp} has failed")
        try:
            info = partition.log.append_as_leader(
                data,
                leader_epoch=partition.image.leader_epoch,
                now_ms=to_ms(now),
                origin=origin,
                transaction_version=transaction_version,
                is_out_of_order=is_out_of_order,
            )
        except OSError as error:
            raise self._write_error(partition, error) from None
        self._changes.mark_appended(partition)
        return info

    def fast_append(self, now: Instant, partition: Partition, batch: memoryview) -> AppendInfo | None:
        """Append like `append` if the batch needs no closer inspection; else return None, with nothing done.

        Raises KAFKA_STORAGE_ERROR like `append`.
        """
        if partition.log_dir in self._context.newly_failed_dirs:
            return None
        try:
            info = partition.log.fast_append(batch, partition.image.leader_epoch, to_ms(now))
        except OSError as error:
            raise self._write_error(partition, error) from None
        if info is not None:
            self._changes.mark_appended(partition)
        return info

    def _write_error(self, partition: Partition, error: OSError) -> LogAppendError:
        """Take the log directory offline, and return the error to raise."""
        self._context.fail_disk_of(partition.tp, "cannot write to", error)
        return LogAppendError(ErrorCode.KAFKA_STORAGE_ERROR, f"cannot write to {partition.tp}: {error}")

    def truncate(self, now: Instant, partition: Partition, offset: int) -> None:
        """Truncate a led partition's log to `offset`; followers get a divergence at their next fetch.

        An offset at or above the log end removes no records, only epochs that begin at the log end.
        """
        end = partition.log.log_end_offset
        with self.writing_to(partition.tp):
            partition.log.truncate_to(min(offset, end))
        partition.notify_watchers()
        if partition.log.log_end_offset < end:
            self._purgatory.fail_truncated_acks(partition.tp, partition.log.log_end_offset)
            partition.on_log_cut(now)
            self._changes.mark_changed(partition.tp)

    def raise_log_start(self, partition: Partition, offset: int) -> None:
        """Raise the log start of a led partition to `offset` if it is lower; followers learn it from their fetches.

        Raises OffsetOutOfRange above the high watermark.
        """
        with self.writing_to(partition.tp):
            has_changed = partition.log.advance_log_start(offset)
        if has_changed:
            self._changes.mark_changed(partition.tp)

    def truncate_fully(self, now: Instant, partition: Partition, offset: int) -> None:
        """Remove all records of a led partition, and set the log start and end to `offset`."""
        with self.writing_to(partition.tp):
            partition.log.truncate_fully_and_start_at(offset)
        self._purgatory.fail_truncated_acks(partition.tp, 0)
        partition.on_log_cut(now)
        partition.epoch_start_offset = min(partition.epoch_start_offset, offset)
        self._changes.mark_changed(partition.tp)

    def assign_epoch(self, partition: Partition) -> None:
        """Add the current leader epoch to the log's epoch cache, unless it is there already."""
        epoch = partition.leader_epoch
        try:
            partition.log.assign_epoch_start(epoch)
        except OSError as error:  # The epoch is in memory; the next checkpoint writes it.
            self._context.fail_disk_of(partition.tp, f"cannot write down epoch {epoch} of", error)

    @contextmanager
    def writing_to(self, tp: TopicPartition) -> Iterator[None]:
        """Convert an OSError inside to DiskFailed, after taking the log directory of `tp` offline."""
        try:
            yield
        except OSError as error:
            self._context.fail_disk_of(tp, "cannot write to", error)
            raise DiskFailed(f"cannot write to {tp}: {error}") from error
