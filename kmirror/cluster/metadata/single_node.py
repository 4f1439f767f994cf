"""A quorum of one controller: it leads from its start, and a flushed record is committed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kmirror.cluster.metadata import snapshot_generator
from kmirror.cluster.metadata.log import MetadataLog, log_config
from kmirror.cluster.metadata.opening import CloseMetadataLog, OpenedMetadataLog, OpenMetadataLog
from kmirror.cluster.metadata.quorum import LeaderAndEpoch, Listener
from kmirror.cluster.metadata.replay import ReplayedBatch, replayed_batches
from kmirror.cluster.metadata.snapshot_generator import SnapshotGenerator
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.disk_jobs import DiskJobs
from kmirror.kernel.events import DiskDone, TimerKey
from kmirror.kernel.outbox import Outbox
from kmirror.log.disk import Disk
from kmirror.protocol.message import Message
from kmirror.spec.configs import Configs


class SingleNode:
    """A quorum of one controller, with the disk of its log."""

    def __init__(
        self, node_id: int, disk: Disk, configs: Callable[[], Configs], outbox: Outbox, listener: Listener
    ) -> None:
        self._node_id = node_id
        self._disk = disk
        self._configs = configs
        self._outbox = outbox
        self._listener = listener
        self._disk_jobs = DiskJobs(outbox)
        self.log: MetadataLog | None = None
        self._snapshots: SnapshotGenerator | None = None
        self._is_stopping = False
        self._is_closing = False

    @property
    def leader(self) -> LeaderAndEpoch:
        return LeaderAndEpoch(self._node_id, self._opened.epoch)

    @property
    def end_offset(self) -> int:
        return 0 if self.log is None else self.log.log.log_end_offset

    @property
    def committed_end(self) -> int:
        return 0 if self.log is None else self.log.log.high_watermark

    @property
    def _opened(self) -> MetadataLog:
        assert self.log is not None, "opened"
        return self.log

    def propose(self, now: Instant, records: Sequence[Message], *, atomic: bool) -> int:
        return self._opened.append(now, records, atomic=atomic)

    def remove_uncommitted(self, end_offset: int) -> Iterable[ReplayedBatch]:
        log = self._opened
        log.truncate_to(end_offset)
        return replayed_batches(log.log, log.latest_snapshot)

    # -- lifecycle ----------------------------------------------------------------------------

    def start(self, now: Instant) -> None:
        job = OpenMetadataLog(self._disk, log_config(self._configs()), to_ms(now))
        self._disk_jobs.submit(self._disk.log_dir, job, self._on_opened)

    def _on_opened(self, now: Instant, done: DiskDone) -> None:
        opened = done.result
        if done.error is not None:
            self._listener.give_up(f"the metadata log cannot be opened: {done.error}")
            return
        assert isinstance(opened, OpenedMetadataLog)
        bytes_replayed = sum(batch.size for batch in opened.batches)
        log = self.log = MetadataLog(opened.log, opened.epoch, opened.snapshots, bytes_replayed)
        log.commit(self.end_offset)
        if not self._is_stopping:
            self._listener.on_leading(now, opened.batches, opened.bootstrap)
        if not self._is_stopping:
            self._snapshots = SnapshotGenerator(log, self._configs, self._outbox, self._disk_jobs, self._disk.log_dir)
            self._snapshots.start(now)

    def follow_up(self) -> None:
        """Request a flush of the appended records; when stopping, close the log once the disk is idle."""
        job = None if self.log is None else self.log.begin_flush()
        if job is not None:
            self._disk_jobs.submit(self._disk.log_dir, job, self._on_flushed)
        if self._is_stopping and not self._is_closing and self._disk_jobs.idle:
            self._close()

    def _on_flushed(self, now: Instant, done: DiskDone) -> None:
        if done.error is not None:
            self._listener.give_up(f"the metadata log cannot be flushed: {done.error}")
            return
        log = self._opened
        log.commit(log.finish_flush(now))
        self._listener.on_committed(now)
        log.wake(now)
        if self._snapshots is not None:
            self._snapshots.write_if_due(now)

    def on_disk_done(self, now: Instant, done: DiskDone) -> None:
        self._disk_jobs.on_done(now, done)

    def on_timer(self, now: Instant, key: TimerKey) -> None:
        assert key == (snapshot_generator.TIMER,) and self._snapshots is not None, f"unknown timer: {key}"
        self._snapshots.on_timer(now)

    def stop(self) -> None:
        self._is_stopping = True
        if self._snapshots is not None:
            self._snapshots.stop()

    def _close(self) -> None:
        self._is_closing = True
        if self.log is None:
            self._listener.on_closed()
        else:
            self._disk_jobs.submit(self._disk.log_dir, CloseMetadataLog(self.log.log), self._on_closed)

    def _on_closed(self, now: Instant, done: DiskDone) -> None:
        if done.error is not None:
            self._outbox.note(f"the metadata log could not be closed: {done.error}")
        self._listener.on_closed()
