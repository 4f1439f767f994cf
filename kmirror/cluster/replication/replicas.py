"""All partitions of one broker: leadership, appends, cuts, and the requests that wait for them (Kafka's purgatories).

An `AckWait` ends when the high watermark reaches an offset, the leadership is lost, or the time is up. A parked
request (a fetch) is tried again whenever a partition moved that it watches. What changes a partition marks it, so that
the next fetch looks at it (`Partition.mark`); what a waiter may wait for calls `touch` too, and `wake_waiters` then
looks at the waiters of those partitions once, after the event has been handled.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from kmirror.cluster.broker.context import BrokerContext
from kmirror.cluster.component import Components
from kmirror.cluster.images import Delta, PartitionImage
from kmirror.cluster.replication.assignments import DirectoryAssignments
from kmirror.cluster.replication.log_configs import log_config
from kmirror.cluster.replication.log_recovery import LogRecovery, is_of_topic
from kmirror.cluster.replication.partition import Partition
from kmirror.kernel.clock import MILLISECOND, Instant, to_ms
from kmirror.kernel.events import Chunk, DiskDone, SetTimer
from kmirror.kernel.failures import DiskFailed
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import Disk
from kmirror.log.errors import LogAppendError
from kmirror.log.log_dirs import UNASSIGNED
from kmirror.log.log_state import LogState
from kmirror.log.partition_log import AppendInfo, AppendOrigin, LogConfig, PartitionLog
from kmirror.log.state_files import encode_partition_metadata
from kmirror.log.store import PARTITION_METADATA
from kmirror.spec.configs import Configs, Scope
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import ResourceType

OnAcked = Callable[[Instant, ErrorCode], None]
CUT_OFF = 1 << 62
"""The required offset of an AckWait whose record was cut off: no high watermark reaches it."""
TIMER = "parked"
CHECKPOINT_TIMER = "checkpoint"


Attempt = Callable[[Instant, bool], bool]
"""(now, whether the time is up) -> whether it answered the request"""


@dataclass(frozen=True, slots=True)
class AckWait:
    """A producer or coordinator that waits until the high watermark reaches `required`."""

    required: int
    on_acked: OnAcked
    timer: int


@dataclass(frozen=True, slots=True)
class WriteCheckpoints:
    """A job for a disk: write the offsets of all its logs into the files that they share."""

    disk: Disk

    def run(self) -> None:
        """Write; raises OSError where the disk fails."""
        self.disk.write_shared()


class ReplicaManager:
    """Owns the partitions of one broker; the only place where their logs are opened and appended to."""

    def __init__(self, context: BrokerContext, components: Components, assignments: DirectoryAssignments) -> None:
        self._context = context
        self._components = components
        self._assignments = assignments
        self.recovery = LogRecovery(context)
        self.partitions: dict[TopicPartition, Partition] = {}
        self._acks: dict[TopicPartition, list[AckWait]] = {}
        self._parked: dict[int, Attempt] = {}
        self._timed: dict[int, TopicPartition] = {}
        self._next_id = 0
        self.moved: dict[TopicPartition, Partition | None] = {}
        """What moved since `wake_waiters`; None for one of which nothing but `on_progress` has to hear."""
        """What moved, and the partition whose watchers are to be woken, if any."""
        self._orphaned: dict[int, None] = {}
        """The keys of parked requests that watched a partition which was dropped."""
        self.grown: dict[TopicPartition, None] = {}
        """The partitions whose logs grew since LogManager took these."""
        self.dropped: list[tuple[Disk, str]] = []
        """The names under which partitions were set aside since `take_dropped`, and where."""
        self.offline: dict[TopicPartition, Uuid] = {}
        """The partitions whose log directory has failed, each with the id of its topic: nothing is done with them until
        the broker starts anew, or they are not its own any more."""
        self._unsaved: dict[LogState, None] = {}
        """Logs of which a mark is not what the disk has."""

    # -- checkpoints --------------------------------------------------------------------------

    def start(self, now: Instant) -> None:
        """Set the timer of the next checkpoint."""
        interval = self._context.configs.integer("replica.high.watermark.checkpoint.interval.ms")
        self._context.outbox.set_timer((CHECKPOINT_TIMER,), now + interval * MILLISECOND)

    def checkpoint(self, now: Instant) -> None:
        """Write the marks of the logs where they moved; without its log start a log regains deleted records."""
        self.start(now)
        logs = list(self._unsaved)
        if not logs:
            return
        by_disk: dict[str, tuple[Disk, list[LogState]]] = {}
        for log in logs:
            disk = self._context.log_dirs.of(log.tp)
            if disk is not None:
                by_disk.setdefault(disk.log_dir, (disk, []))[1].append(log)
        for disk, its in by_disk.values():
            try:
                with disk.batch():
                    for log in its:
                        log.checkpoint()
            except OSError as error:
                self._context.fail_disk(disk, "checkpoints cannot be written", error)
            else:
                self._context.disk_jobs.order(
                    disk.log_dir, WriteCheckpoints(disk), partial(self._on_checkpointed, disk)
                )

    def _on_checkpointed(self, disk: Disk, now: Instant, done: DiskDone) -> None:
        if isinstance(done.error, OSError):
            self._context.fail_disk(disk, "checkpoints cannot be written", done.error)

    # -- leadership ---------------------------------------------------------------------------

    def apply(self, now: Instant, delta: Delta) -> dict[TopicPartition, bool]:
        """Follow the image: create and delete partitions, take over leaderships and configs.

        Return the partitions whose leader epoch or leadership changed, each with whether this broker leads it now.
        """
        changed: dict[TopicPartition, bool] = {}
        for tp in delta.partitions:
            image, held = self._context.image.topics.partition(tp), self.partitions.get(tp)
            if held is not None and held.topic_id in delta.topics_deleted.get(tp.topic, ()):
                self._drop(tp)  # Even if the topic is there again: a mirror creates it with the id that it had (D49).
                changed[tp] = False
            if tp in self.offline and self._stays_offline(tp, image):
                if tp in self.partitions:  # Its directory has failed just now.
                    self._forget(self.partitions.pop(tp))
                    changed[tp] = False
                continue
            if image is None or self._context.node_id not in image.replicas:
                if tp in self.partitions:
                    self._drop(tp)
                    changed[tp] = False
                continue
            led_before = tp in self.partitions and self.partitions[tp].is_leader
            try:
                has_changed = self._apply_partition(now, tp, image)
            except OSError as error:  # Others are followed all the same.
                self._context.fail_disk_of(tp, "cannot open", error)
                self._set_offline(tp)
                continue
            except DiskFailed:
                self._set_offline(tp)
                continue
            if has_changed or led_before != self.partitions[tp].is_leader:
                changed[tp] = self.partitions[tp].is_leader
            self.touch(tp)
        for kind, topic in delta.configs:
            if kind == ResourceType.TOPIC:
                self._apply_configs(topic)
        return changed

    def _set_offline(self, tp: TopicPartition) -> None:
        self.offline[tp] = self._context.image.topics[tp.topic].topic_id
        self._context.outbox.note(f"{tp} is offline: its log directory has failed")

    def _stays_offline(self, tp: TopicPartition, image: PartitionImage | None) -> bool:
        """Return whether the partition is still the one whose directory has failed, and this broker's; else forget it.

        A new topic of the same name is another one, and has its place in a directory that is online.
        """
        is_ours = image is not None and self._context.node_id in image.replicas
        if is_ours and self._context.image.topics[tp.topic].topic_id == self.offline[tp]:
            return True
        del self.offline[tp]
        return False

    def take_offline(self, log_dirs: Collection[str]) -> list[TopicPartition]:
        """Return the partitions in directories that have failed, which are offline from now on.

        `apply` lets go of them, so that whoever follows a change of the image hears of it.
        """
        gone = [tp for tp, partition in self.partitions.items() if partition.log_dir in log_dirs]
        for tp in gone:
            self._set_offline(tp)
        return gone

    def unavailable(self, tp: TopicPartition) -> ErrorCode:
        """Return why a partition is not led here: as Kafka's getPartitionOrError says it."""
        if tp in self.offline:
            return ErrorCode.KAFKA_STORAGE_ERROR
        is_known = self._context.image.topics.partition(tp) is not None
        return ErrorCode.NOT_LEADER_OR_FOLLOWER if is_known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    def _apply_configs(self, topic: str) -> None:
        config, min_insync_replicas = self.log_config(topic), self.min_insync_replicas(topic)
        for tp in self._of_topic(topic):
            partition = self.partitions[tp]
            partition.log.config = config
            partition.mark()
            self.grew(tp)  # What lies unflushed may be too much now.
            partition.min_insync_replicas = min_insync_replicas
            if partition.is_leader and partition.advance_high_watermark():
                self.touch(tp)

    def _of_topic(self, topic: str) -> list[TopicPartition]:
        """Return the partitions of a topic that this broker holds."""
        known = self._context.image.topics.get(topic)
        every = [] if known is None else [TopicPartition(topic, index) for index in known.partitions]
        return [tp for tp in every if tp in self.partitions]

    def _apply_partition(self, now: Instant, tp: TopicPartition, image: PartitionImage) -> bool:
        topic_id = self._context.image.topics[tp.topic].topic_id
        partition = self.partitions.get(tp)
        if partition is not None and partition.topic_id != topic_id:
            self._drop(tp)
            partition = None
        if partition is None:
            disk, log = self._open_log(now, tp, topic_id, image)
            log.flushing.is_deferred = True  # No handling of a request waits for a disk.
            log.enter_when_unsaved(self._unsaved)
            partition = self.partitions[tp] = Partition(self._context.node_id, tp, topic_id, log, disk.log_dir)
            partition.min_insync_replicas = self.min_insync_replicas(tp.topic)
            self.grew(tp)
        changed = partition.apply(now, image)
        if image.directories:
            self._assignments.look_at(now, tp, topic_id, image)
        if partition.is_leader:
            if changed and not self._components.foreign_epochs(partition):
                self.begin_epoch(partition)
            partition.advance_high_watermark()  # A member that held it back may have left.
        return changed

    def begin_epoch(self, partition: Partition) -> None:
        """Enter the epoch in which this broker leads into the log; nothing if it is there already."""
        epoch = partition.leader_epoch
        try:
            partition.log.assign_epoch_start(epoch)
        except OSError as error:  # The log knows of it, and writes it down with its next checkpoint.
            self._context.fail_disk_of(partition.tp, f"cannot write down epoch {epoch} of", error)

    def _open_log(
        self, now: Instant, tp: TopicPartition, topic_id: Uuid, image: PartitionImage
    ) -> tuple[Disk, PartitionLog]:
        opened, disk = self.recovery.take(tp, topic_id), self._context.log_dirs.of(tp)
        if opened is not None and disk is not None:
            opened.config = self.log_config(tp.topic)
            return disk, opened
        for disk in self._places(tp, image):
            try:
                store = disk.open(tp)
                known = is_of_topic(store, topic_id)
                if known is False:
                    self.dropped.append((disk, disk.set_aside(tp)))  # Of an earlier topic of this name.
                    store = disk.open(tp)
                if not known:
                    store.write_file(PARTITION_METADATA, encode_partition_metadata(topic_id))
                return disk, self.recovery.job(now, tp, disk, store).run()
            except OSError as error:
                self._context.fail_disk(disk, f"cannot open {tp}", error)
        raise DiskFailed(f"no log directory takes {tp}")

    def _places(self, tp: TopicPartition, image: PartitionImage) -> list[Disk]:
        """Return the directories in which to open a log, in the order in which to try them.

        Where it lies already; else where the controller says; else, unless it may lie in a directory that is offline,
        the one with the fewest logs first (Partition.createLogInAssignedDirectoryId, LogManager.nextLogDirs).
        """
        log_dirs = self._context.log_dirs
        if (holder := log_dirs.of(tp)) is not None:
            return [holder]
        wanted = image.directory_of(self._context.node_id)
        if (assigned := log_dirs.by_id(wanted)) is not None:
            return [assigned]
        return [*log_dirs.by_load()] if wanted == UNASSIGNED or not log_dirs.offline else []

    def log_config(self, topic: str) -> LogConfig:
        return log_config(self._context.image.configs.topic(topic), self._context.configs)

    def _drop(self, tp: TopicPartition) -> None:
        partition, disk = self.partitions.pop(tp), self._context.log_dirs.of(tp)
        if disk is not None:
            try:
                self.dropped.append((disk, disk.set_aside(tp)))
            except OSError as error:  # Its folder stays, and is of no topic that there is.
                self._context.fail_disk(disk, f"cannot set {tp} aside", error)
        self._forget(partition)

    def _forget(self, partition: Partition) -> None:
        """Let go of a partition that is not among the others any more, and of whoever waits for it."""
        tp = partition.tp
        partition.log.enter_when_unsaved(None)
        self._lose_acks(tp, -1)  # There may be another topic of this name in the same change of the image.
        partition.mark()
        for watcher in partition.watchers:
            self._orphaned.update(dict.fromkeys(watcher.parked))
            watcher.dropped()
        self.touch(tp)

    def take_dropped(self) -> list[tuple[Disk, str]]:
        """Return the names under which partitions were set aside since the last call, each with its disk."""
        dropped, self.dropped = self.dropped, []
        return dropped

    def min_insync_replicas(self, topic: str) -> int:
        """Return the config of a topic, of which this broker need not have a replica."""
        configs = Configs(Scope.TOPIC, self._context.image.configs.topic(topic), self._context.configs)
        return configs.integer("min.insync.replicas")

    def led(self, tp: TopicPartition) -> Partition | None:
        """Return the partition if this broker leads it."""
        partition = self.partitions.get(tp)
        return partition if partition is not None and partition.image.leader == partition.broker_id else None

    # -- appends ------------------------------------------------------------------------------

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
        self.appended(now, partition)
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
            self.appended(now, partition)
        return info

    def _not_written(self, partition: Partition, error: OSError) -> LogAppendError:
        """Take the log directory offline, and return what is to be raised."""
        self._context.fail_disk_of(partition.tp, "cannot write to", error)
        return LogAppendError(ErrorCode.KAFKA_STORAGE_ERROR, f"cannot write to {partition.tp}: {error}")

    def appended(self, now: Instant, partition: Partition) -> None:
        """Follow an append to a led partition: the high watermark may rise, and waiters are looked at."""
        self.grown[partition.tp] = None
        self.moved[partition.tp] = partition
        if not partition.advance_high_watermark():  # Which marks the partition, as `touch` does.
            partition.mark()

    def flushed(self, partition: Partition) -> None:
        """Let what was flushed of a led partition count."""
        if partition.advance_high_watermark():
            self.touch(partition.tp)

    def grew(self, tp: TopicPartition) -> None:
        """Remember that something was appended to the log of `tp`."""
        self.grown[tp] = None

    def await_acks(self, now: Instant, partition: Partition, required: int, timeout_ms: int, on_acked: OnAcked) -> None:
        """Call `on_acked` with NONE once the high watermark reaches `required`, else with an error.

        NOT_LEADER_OR_FOLLOWER if the leadership is lost or the record is cut off, UNKNOWN_TOPIC_OR_PARTITION if the
        topic is deleted, REQUEST_TIMED_OUT, or NOT_ENOUGH_REPLICAS_AFTER_APPEND if the ISR has become too small.
        """
        timer = self._new_id()
        self._timed[timer] = partition.tp
        wait = AckWait(required, on_acked, timer)
        self._acks.setdefault(partition.tp, []).append(wait)
        self._context.outbox.set_timer((TIMER, timer), now + timeout_ms * MILLISECOND)
        self.touch(partition.tp)

    def acked(self, partition: Partition, required: int) -> ErrorCode | None:
        """Return what `await_acks` would tell at once of a led partition; None if it would have to wait."""
        if partition.log.high_watermark < required:
            return None
        image = partition.image
        isr = image.isr if partition.pending_isr is None else partition.maximal_isr()
        short = len(isr) < min(partition.min_insync_replicas, len(image.replicas))  # `min_isr`: each append comes by.
        return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND if short else ErrorCode.NONE

    def cut(self, now: Instant, partition: Partition, offset: int) -> None:
        """Cut a led partition's log at `offset`; followers get a divergence at their next fetch.

        An offset at or above the log end removes no record, only epochs that begin at the log end.
        """
        end = partition.log.log_end_offset
        with self.writing_to(partition.tp):
            partition.log.truncate_to(min(offset, end))
        partition.mark()
        if partition.log.log_end_offset < end:
            self._lose_acks(partition.tp, partition.log.log_end_offset)
            partition.log_was_cut(now)
            self.touch(partition.tp)

    def raise_log_start(self, partition: Partition, offset: int) -> None:
        """Let a led partition's log begin at `offset`, if it begins below; its followers learn that by fetching.

        Raises OffsetOutOfRange above the high watermark.
        """
        with self.writing_to(partition.tp):
            has_moved = partition.log.advance_log_start(offset)
        if has_moved:
            self.touch(partition.tp)

    @contextmanager
    def writing_to(self, tp: TopicPartition) -> Iterator[None]:
        """Raise DiskFailed for an OSError inside, once the log directory of `tp` is taken offline for it."""
        try:
            yield
        except OSError as error:
            self._context.fail_disk_of(tp, "cannot write to", error)
            raise DiskFailed(f"cannot write to {tp}: {error}") from error

    def restart_at(self, now: Instant, partition: Partition, offset: int) -> None:
        """Remove everything from a led partition's log, which then begins at `offset`."""
        with self.writing_to(partition.tp):
            partition.log.truncate_fully_and_start_at(offset)
        self._lose_acks(partition.tp, 0)
        partition.log_was_cut(now)
        partition.epoch_start_offset = min(partition.epoch_start_offset, offset)
        self.touch(partition.tp)

    def _lose_acks(self, tp: TopicPartition, end: int) -> None:
        """Fail the waits for records above `end`, which were cut off: a later record must not end them."""
        waits = self._acks.get(tp, [])
        waits[:] = [wait if wait.required <= end else replace(wait, required=CUT_OFF) for wait in waits]

    # -- waiting ------------------------------------------------------------------------------

    def park(self, now: Instant, wait_ms: int, attempt: Attempt) -> int:
        """Return the key under which a request waits, for those of its partitions' watchers that name it as parked.

        `attempt` is called whenever one of those partitions moves, until it returns True, and after `wait_ms`.
        """
        key = self._new_id()
        self._parked[key] = attempt
        self._context.outbox.add(SetTimer((TIMER, key), now + wait_ms * MILLISECOND))
        return key

    def unpark(self, now: Instant, key: int) -> None:
        """End the wait of a parked request, as if its time were up."""
        self._context.outbox.cancel_timer((TIMER, key))
        self.on_timer(now, key)

    def touch(self, tp: TopicPartition) -> None:
        """Mark a partition as moved, for the next fetch and for the next `wake_waiters`."""
        partition = self.moved[tp] = self.partitions.get(tp)
        if partition is not None:
            partition.mark()

    def progressed(self, tp: TopicPartition) -> None:
        """Have the next `wake_waiters` call `on_progress`: a follower fetched, which no other fetch has to wait for."""
        self.moved.setdefault(tp, None)

    def wake_waiters(self, now: Instant) -> bool:
        """Look at the waiters of partitions that moved, and call `on_progress`; return whether any had moved."""
        if not self.moved:
            return False
        dirty, self.moved = self.moved, {}
        woken, self._orphaned = self._orphaned, {}
        for tp, partition in dirty.items():
            if self._acks.get(tp):
                self._check_acks(now, tp)
            if partition is not None and partition.watchers:
                # Whoever has waited longest comes first.
                woken.update(dict.fromkeys(sorted(key for one in partition.watchers for key in one.parked)))
        for key in woken:
            attempt = self._parked.get(key)
            if attempt is not None and self._is_answered(now, attempt):
                del self._parked[key]
                self._context.outbox.cancel_timer((TIMER, key))
        for tp in dirty:
            if self.led(tp) is not None:
                try:
                    self._components.on_progress(now, tp)
                except Exception as failure:
                    self._context.failures.caught(f"telling components of {tp}", failure)
        return True

    def _check_acks(self, now: Instant, tp: TopicPartition) -> None:
        partition, waits = self.led(tp), self._acks[tp]
        not_led = self.unavailable(tp)
        left: list[AckWait] = []
        self._acks[tp] = []
        for wait in waits:
            error: ErrorCode | None = not_led
            if partition is not None and wait.required != CUT_OFF:  # Else the record is gone; the client retries.
                error = self.acked(partition, wait.required)
            if error is None:
                left.append(wait)
            else:
                self._finish(now, wait, error)
        self._acks[tp] = left + self._acks[tp]

    def _finish(self, now: Instant, wait: AckWait, error: ErrorCode) -> None:
        self._timed.pop(wait.timer, None)
        self._context.outbox.cancel_timer((TIMER, wait.timer))
        try:
            wait.on_acked(now, error)
        except Exception as failure:  # The others that wait are not to suffer.
            self._context.failures.caught("acknowledging an append", failure)

    def _is_answered(self, now: Instant, attempt: Attempt) -> bool:
        """Call the attempt of a parked request; return whether it was answered, or fails and is given up."""
        try:
            return attempt(now, False)
        except Exception as failure:
            self._context.failures.caught("trying a parked request", failure)
            return True

    def on_timer(self, now: Instant, key: int) -> None:
        """End a wait whose time is up: force a parked request, or time out an AckWait."""
        attempt = self._parked.pop(key, None)
        if attempt is not None:
            done = attempt(now, True)
            assert done, "a forced attempt must answer"
            return
        tp = self._timed.pop(key, None)
        if tp is None:
            return
        for wait in self._acks.get(tp, []):
            if wait.timer == key:
                self._acks[tp].remove(wait)
                wait.on_acked(now, ErrorCode.REQUEST_TIMED_OUT)
                return

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id
