"""Appends and cuts by the leader of a partition."""

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
    """Writes to the logs that one broker leads. A disk that fails takes its log directory offline."""

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
        comes_early: bool = False,
    ) -> AppendInfo:
        """Append as leader, without waiting for acks; raise LogAppendError or CorruptBatch if the log refuses it.

        KAFKA_STORAGE_ERROR if the disk does: then nothing was appended. A marker is judged by `transaction_version`,
        the one in which its transaction was ended; for `comes_early` see `PartitionLog.append_as_leader`.
        """
        if partition.log_dir in self._context.just_failed:
            raise LogAppendError(ErrorCode.KAFKA_STORAGE_ERROR, f"the log directory of {partition.tp} has failed")
        try:
            info = partition.log.append_as_leader(
                data,
                leader_epoch=partition.image.leader_epoch,
                now_ms=to_ms(now),
                origin=origin,
                transaction_version=transaction_version,
                comes_early=comes_early,
            )
        except OSError as error:
            raise self._not_written(partition, error) from None
        self._changes.appended(partition)
        return info

    def append_plain(self, now: Instant, partition: Partition, batch: memoryview) -> AppendInfo | None:
        """Do what `append` does if that takes no closer look at the batch; None, and nothing was done, if it does.

        KAFKA_STORAGE_ERROR as there.
        """
        if partition.log_dir in self._context.just_failed:
            return None
        try:
            info = partition.log.append_plain(batch, partition.image.leader_epoch, to_ms(now))
        except OSError as error:
            raise self._not_written(partition, error) from None
        if info is not None:
            self._changes.appended(partition)
        return info

    def _not_written(self, partition: Partition, error: OSError) -> LogAppendError:
        """Take the log directory offline, and return the error to raise."""
        self._context.fail_disk_of(partition.tp, "cannot write to", error)
        return LogAppendError(ErrorCode.KAFKA_STORAGE_ERROR, f"cannot write to {partition.tp}: {error}")

    def cut(self, now: Instant, partition: Partition, offset: int) -> None:
        """Cut a led partition's log at `offset`; followers get a divergence at their next fetch.

        An offset at or above the log end removes no record, only epochs that begin at the log end.
        """
        end = partition.log.log_end_offset
        with self.writing_to(partition.tp):
            partition.log.truncate_to(min(offset, end))
        partition.mark()
        if partition.log.log_end_offset < end:
            self._purgatory.lose_acks(partition.tp, partition.log.log_end_offset)
            partition.log_was_cut(now)
            self._changes.touch(partition.tp)

    def raise_log_start(self, partition: Partition, offset: int) -> None:
        """Let a led partition's log begin at `offset`, if it begins below; its followers learn that by fetching.

        Raises OffsetOutOfRange above the high watermark.
        """
        with self.writing_to(partition.tp):
            has_moved = partition.log.advance_log_start(offset)
        if has_moved:
            self._changes.touch(partition.tp)

    def restart_at(self, now: Instant, partition: Partition, offset: int) -> None:
        """Remove everything from a led partition's log, which then begins at `offset`."""
        with self.writing_to(partition.tp):
            partition.log.truncate_fully_and_start_at(offset)
        self._purgatory.lose_acks(partition.tp, 0)
        partition.log_was_cut(now)
        partition.epoch_start_offset = min(partition.epoch_start_offset, offset)
        self._changes.touch(partition.tp)

    def begin_epoch(self, partition: Partition) -> None:
        """Enter the epoch in which this broker leads into the log; nothing if it is there already."""
        epoch = partition.leader_epoch
        try:
            partition.log.assign_epoch_start(epoch)
        except OSError as error:  # The log knows of it, and writes it down with its next checkpoint.
            self._context.fail_disk_of(partition.tp, f"cannot write down epoch {epoch} of", error)

    @contextmanager
    def writing_to(self, tp: TopicPartition) -> Iterator[None]:
        """Raise DiskFailed for an OSError inside, once the log directory of `tp` is taken offline for it."""
        try:
            yield
        except OSError as error:
            self._context.fail_disk_of(tp, "cannot write to", error)
            raise DiskFailed(f"cannot write to {tp}: {error}") from error
