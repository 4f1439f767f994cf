"""Recovery of existing logs at startup, by one disk job per log, before the broker leads or follows any partition.

If a partition is in two log directories, the log in the directory assigned by the controller is opened (D49). If
neither is assigned, the broker stops, as Kafka's does: it is not known which log is newer.

After an unclean shutdown, records above the recovery point are checked, and the log is truncated at the first damage.
After a clean one nothing is checked, but a segment whose indexes are missing or invalid is read, and truncated where it
is damaged. A note reports each truncation. A file that cannot be read, or an invalid checkpoint, is an error of the
directory, as in Kafka (LogDirFailureChannel).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.context import BrokerContext, LogChanged
from kmirror.cluster.replication.log_configs import log_config
from kmirror.errors import CorruptBatch, KmirrorError
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.events import DiskDone
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.config import LogConfig
from kmirror.log.disk import Disk
from kmirror.log.partition_log import CLEAN_SHUTDOWN, PartitionLog
from kmirror.log.state_files import decode_partition_metadata
from kmirror.log.store import PARTITION_METADATA, RECOVERY_POINT, PartitionStore
from kmirror.spec.topics import METADATA_TOPIC


@dataclass(frozen=True, slots=True)
class OpenLog:
    """Disk job that opens a log, and repairs it unless the last process shut down cleanly."""

    tp: TopicPartition
    store: PartitionStore
    config: LogConfig
    now_ms: int
    clean: bool

    def run(self) -> PartitionLog:
        """Return the log; raise OSError or KmirrorError if a file cannot be read, or a checkpoint is invalid."""
        recovery_point = CLEAN_SHUTDOWN if self.clean else int(self.store.read_file(RECOVERY_POINT) or b"0")
        return PartitionLog.open(
            self.tp,
            self.store,
            self.config,
            now_ms=self.now_ms,
            repair=not self.clean,
            recovery_point=recovery_point,
        )


def belongs_to_topic(store: PartitionStore, topic_id: Uuid) -> bool | None:
    """Return whether the store belongs to this topic; None if it has no topic id.

    A power failure may leave an empty file; the log must not be removed for that. Raises CorruptBatch for an invalid
    file: it is not known whether the log belongs to the topic.
    """
    data = store.read_file(PARTITION_METADATA)
    try:
        return decode_partition_metadata(data) == topic_id if data else None
    except CorruptBatch as error:
        raise error.with_context(PARTITION_METADATA) from None


class LogRecovery:
    """Opens the logs found in a broker's log directories that belong to its partitions in the image."""

    def __init__(self, context: BrokerContext) -> None:
        self._context = context
        self._opened_logs: dict[TopicPartition, PartitionLog] = {}
        self.total = 0
        """Number of logs found."""
        self.left = 0
        """Number of logs not yet opened."""

    def begin(self, now: Instant, on_done: Callable[[Instant], None]) -> None:
        """Open the logs of this broker's partitions, then call `on_done`; at once if there are none.

        The log of a topic deleted while this broker was down, or of a partition that moved elsewhere, is a stray: it is
        renamed, so that it can still be recovered by hand and does not block a new log.
        """
        context = self._context
        jobs: list[tuple[Disk, OpenLog]] = []
        for disk in [*context.log_dirs.online]:
            try:
                jobs += [(disk, job) for job in self._jobs(now, disk)]
            except (OSError, KmirrorError) as error:
                context.fail_disk(disk, "its logs cannot be listed", error)
        jobs = [(disk, job) for disk, job in jobs if disk in context.log_dirs.online]
        if self._has_duplicate(jobs):
            return
        self.total = self.left = len(jobs)
        if not jobs:
            on_done(now)
        for disk, job in jobs:
            context.disk_jobs.submit(disk.log_dir, job, partial(self._on_opened, disk, job.tp, on_done))

    def _jobs(self, now: Instant, disk: Disk) -> Iterator[OpenLog]:
        """Yield the jobs for the logs in one directory; rename stray logs."""
        context = self._context
        for tp in disk.partitions():
            if tp.topic == METADATA_TOPIC:
                continue
            image = context.image.topics.partition(tp)
            is_ours: bool | None = False
            if image is not None and context.node_id in image.replicas:
                store = disk.open(tp)
                is_ours = self._belongs(tp, store)
                is_ours = is_ours and not self._is_assigned_elsewhere(tp, disk, image)
                if is_ours:
                    yield self.job(now, tp, disk, store)
            if is_ours is False:
                name = disk.set_aside(tp, is_stray=True)
                self._note(tp, f"the log of {tp} in {disk.log_dir} is out of date: it is set aside as {name}")

    def _is_assigned_elsewhere(self, tp: TopicPartition, disk: Disk, image: PartitionImage) -> bool:
        """Return whether another directory holds the log, and is the one assigned by the controller.

        This happens if this directory failed, and the topic was then deleted and recreated with the same id.
        """
        assigned = self._context.log_dirs.find_by_id(image.directory_of(self._context.node_id))
        if assigned is None or assigned is disk or tp not in assigned.partitions():
            return False
        return bool(self._belongs(tp, assigned.open(tp)))

    def _belongs(self, tp: TopicPartition, store: PartitionStore) -> bool | None:
        try:
            return belongs_to_topic(store, self._context.image.topics[tp.topic].topic_id)
        except CorruptBatch as error:
            raise error.with_context(str(tp)) from None

    def _has_duplicate(self, jobs: Sequence[tuple[Disk, OpenLog]]) -> bool:
        """Stop the broker if a partition is in two log directories; return whether one is (loadLog)."""
        first: dict[TopicPartition, str] = {}
        for disk, job in jobs:
            other = first.setdefault(job.tp, disk.log_dir)
            if other != disk.log_dir:
                text = (
                    f"{job.tp} is in {other} and in {disk.log_dir}, likely because a directory failed while the "
                    "partition was moved: delete one of the two, best the one in the directory that failed"
                )
                self._context.stop_on_error(text, FileExistsError(text))
                return True
        return False

    def job(self, now: Instant, tp: TopicPartition, disk: Disk, store: PartitionStore) -> OpenLog:
        """Return the job that opens a log whose directory and topic id have been checked."""
        config = log_config(self._context.image.configs.topic(tp.topic), self._context.configs)
        return OpenLog(tp, store, config, to_ms(now), disk.log_dir in self._context.clean_epochs)

    def _on_opened(
        self, disk: Disk, tp: TopicPartition, on_done: Callable[[Instant], None], now: Instant, done: DiskDone
    ) -> None:
        if isinstance(done.result, PartitionLog):
            self._opened_logs[tp] = done.result
            if done.result.repair is not None:
                self._note(tp, f"the log of {tp} in {disk.log_dir} is damaged: {done.result.repair}")
        else:
            assert isinstance(done.error, OSError | KmirrorError), done.error
            self._context.fail_disk(disk, f"cannot open {tp}", done.error)
        self.left -= 1
        if not self.left:
            on_done(now)

    def _note(self, tp: TopicPartition, text: str) -> None:
        self._context.outbox.note(text, LogChanged(tp, text))

    def take_log(self, tp: TopicPartition, topic_id: Uuid) -> PartitionLog | None:
        """Return and remove the recovered log of a partition of this topic; None if there is none."""
        log = self._opened_logs.pop(tp, None)
        return log if log is not None and belongs_to_topic(log.store, topic_id) else None
