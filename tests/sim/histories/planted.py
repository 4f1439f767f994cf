"""Faults planted into the engine on purpose, to test the checkers.

    with planted("producer_reset_not_written"):
        outcome = run_history(seed=3, profile="smoke")

Each row of FAULTS is a possible mistake in kmirror.mirror, kmirror.cluster or kmirror.log. A fault patches attributes
by name; if the engine changes, the patch fails with an error, as it looks the name up first.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from kmirror.cluster.broker.apis import write_txn_markers as markers
from kmirror.cluster.images import NO_LEADER
from kmirror.cluster.images.topics import Topics
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication import follower
from kmirror.cluster.replication.appends import LeaderAppends
from kmirror.cluster.replication.purgatory import Purgatory
from kmirror.cluster.replication.truncation import TruncationPoint, last_epoch
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log import producers
from kmirror.log.partition_log import PartitionLog
from kmirror.log.producers import AppendOrigin, ProducerStates
from kmirror.mirror import (
    access,
    context,
    fetchers,
    log_cuts,
    preparing,
    reopened_transactions,
    source_lineage,
    state_writer,
)
from kmirror.mirror.cut_rules import SESSION
from kmirror.mirror.epoch_check import EpochCheck
from kmirror.mirror.partition import NOT_AGREED, MirrorPartition
from kmirror.mirror.preparing import Preparing
from kmirror.mirror.reopened_transactions import StopPlan
from kmirror.mirror.source_lineage import LineageCheck
from kmirror.mirror.source_query import SourceQuery
from kmirror.mirror.state_loader import StateLoader
from kmirror.mirror.state_records import NOT_SETTLED, PartitionState
from kmirror.mirror.state_writer import StateWriter
from kmirror.mirror.states import MirrorState, Wish
from kmirror.mirror.stopping import Stopping
from kmirror.mirror.syncs import topics
from kmirror.records.batch import Batch, iter_batches
from kmirror.records.crc32c import crc32c
from kmirror.records.legacy import AnyBatch
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import IsolationLevel

Patch = Callable[[object, str, Any], Any]
"""(owner, name, replacement) -> original"""
Plant = Callable[[Patch], None]
EPOCH_POSITION = 12
CRC_POSITION = 17
CRC_START = 21


@dataclass(frozen=True, slots=True)
class Fault:
    name: str
    doc: str
    plant: Plant
    checkers: tuple[str, ...]
    """Names of checkers, and of rules of the checker broken-invariant; one finding by any of them is enough."""
    profile: str
    """Profile of a drawn history stored in data/histories/planted.jsonl, or a plan of test_planted_faults.py."""
    seed: int
    """The first seed from 0 on that shows it, when the history was drawn; 0 for a plan."""


FAULTS: dict[str, Fault] = {}


def fault(*checkers: str, profile: str, seed: int = 0) -> Callable[[Plant], Plant]:
    """Add a fault to FAULTS, with its checkers and its history."""

    def register(plant: Plant) -> Plant:
        name, doc = plant.__name__, (plant.__doc__ or "").strip()
        FAULTS[name] = Fault(name, doc, plant, checkers, profile, seed)
        return plant

    return register


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Plant a fault, and restore the engine on exit."""
    originals: list[tuple[object, str, Any]] = []

    def patch(owner: object, attribute: str, replacement: Any) -> Any:
        original = vars(owner)[attribute]
        originals.append((owner, attribute, original))
        setattr(owner, attribute, replacement)
        return original

    try:
        FAULTS[name].plant(patch)
        yield
    finally:
        for owner, attribute, original in reversed(originals):
            setattr(owner, attribute, original)


def _change_read_states(patch: Patch, change: Callable[[Partition, PartitionState], PartitionState]) -> None:
    """Change the persisted state that new leaders read."""

    def gather(self: Any, now: Any, mp: Any, found: Any) -> None:
        led = self._context.replicas.partitions.find_led(mp.tp)
        original(self, now, mp, found if led is None else {key: change(led, state) for key, state in found.items()})

    original = patch(StateLoader, "_gather", gather)


# -- sources of earlier releases --------------------------------------------------------------------


@fault("divergence", profile="sources", seed=77)
def ends_of_epochs_not_requested(patch: Patch) -> None:
    """A mirror fetches from an old source without requesting the end of the common epoch (D12)."""
    patch(EpochCheck, "has_agreed", lambda self, mp: True)


@fault("divergence", profile="sources", seed=102)
def ends_of_epochs_requested_once(patch: Patch) -> None:
    """A mirror does not request it again when an old source has another leader (D12)."""
    original = patch(EpochCheck, "has_agreed", lambda self, mp: mp.agreed_epoch != NOT_AGREED or original(self, mp))


# -- truncations ----------------------------------------------------------------------------------


@fault("mirrored-lost", profile="smoke", seed=8)
def cut_off_by_one(patch: Patch) -> None:
    """A leader of a mirrored partition truncates one record too many."""

    def cut(self: Any, now: Any, partition: Any, offset: int) -> None:
        original(self, now, partition, max(offset - 1, partition.log.log_start_offset))

    original = patch(LeaderAppends, "truncate", cut)


@fault("divergence", profile="replicas", seed=9)
def epoch_off_by_one(patch: Patch) -> None:
    """PREPARING keeps the first epoch that the source does not have."""
    original = patch(preparing, "cut_offset", lambda log, epoch: original(log, epoch + 1 if epoch >= 0 else epoch))


@fault("aborted-read", profile="smoke", seed=15)
def stop_does_not_cut(patch: Patch) -> None:
    """A stop leaves the records above the last stable offset, and the producer reset makes them readable."""
    patch(Stopping, "_is_cut", lambda self, mp, partition: True)
    patch(Stopping, "_end_transactions", lambda self, now, mp, partition: self._reset_producers(now, mp, partition))


@fault("aborted-read", profile="smoke", seed=15)
def reopened_transactions_left_open(patch: Patch) -> None:
    """A stop writes no marker for a transaction that its truncation reopened (D29)."""
    patch(Stopping, "_end_transactions", lambda self, now, mp, partition: self._reset_producers(now, mp, partition))


@fault("acked-lost", profile="orders_while_away")
def stop_cuts_an_untouched_log(patch: Patch) -> None:
    """A stop from PREPARING truncates a log that no session has changed (D33)."""

    def is_reset(self: Any, mp: Any, partition: Any) -> bool:
        mp.uncut = {SESSION: -1, **mp.uncut}
        return bool(original_is_reset(self, mp, partition))

    def decide(self: Any, now: Any, mp: Any, partition: Any) -> None:
        mp.last_mirrored_epoch = NOT_SETTLED  # As after a session that mirrored.
        original_decide(self, now, mp, partition)

    patch(MirrorPartition, "is_touched", property(lambda self: True))
    original_is_reset = patch(Stopping, "_is_reset", is_reset)
    original_decide = patch(Stopping, "_decide", decide)


@fault("half-transaction", profile="stop_among_long_ones")
def half_a_transaction_committed(patch: Patch) -> None:
    """A stop commits a transaction whose commit marker was truncated, even if its records were truncated too (D29)."""

    def read_tail(log: Any, offset: int) -> Any:
        return original(_MarkersOnly(log), offset)

    original = patch(reopened_transactions, "read_tail", read_tail)
    patch(log_cuts, "read_tail", read_tail)


@dataclass(frozen=True, slots=True)
class _MarkersOnly:
    """A log as seen by a reader that ignores the records in a tail."""

    log: PartitionLog

    @property
    def log_start_offset(self) -> int:
        return self.log.log_start_offset

    @property
    def log_end_offset(self) -> int:
        return self.log.log_end_offset

    def any_batches(self, start: int) -> Iterator[AnyBatch]:
        return (batch for batch in self.log.any_batches(start) if batch.is_control)


@fault("last-copy-lost", profile="each_other_again")
def source_epoch_taken_without_ring_check(patch: Patch) -> None:
    """PREPARING truncates to the source's epoch, though the source's mirror of this cluster is unsettled (D25, D39)."""
    patch(Preparing, "_ring_reason", lambda self, now, mp: "")
    patch(source_lineage, "ring_of", lambda context, mp: ())
    patch(
        Preparing,
        "_on_found",
        lambda self, now, query, found: self._decide(now, query.mp, found.last_mirror_epoch),
    )
    patch(LineageCheck, "shared_with_source", lambda self, mp: None)


@fault("last-copy-lost", "acked-lost", profile="ring-of-three")
def rings_are_cut(patch: Patch) -> None:
    """A log is truncated for a source that this cluster feeds through another one (D58)."""
    patch(Preparing, "_ring_reason", lambda self, now, mp: "")
    patch(source_lineage, "ring_of", lambda context, mp: ())


@fault("acked-lost", profile="smoke", seed=2)
def missing_lineage_taken_as_proof(patch: Patch) -> None:
    """A log is copied from scratch because a broker that may be deposed does not mention this cluster (D32)."""

    def believe(self: Any, now: Any, query: Any) -> None:
        self._decide(now, query.mp, self._own_cut_epoch(query.mp))

    def record(self: Any, described: Any) -> Any:
        unknown = original(self, None)
        self.mp.lineage_is_assumed = False
        return unknown

    patch(Preparing, "_prove_silence", believe)
    original = patch(SourceQuery, "record_lineage", record)


@fault("divergence", "stuck-state", profile="failback_to_a_far_replica")
def preparing_does_not_wait(patch: Patch) -> None:
    """MIRRORING begins before the followers have truncated, and they count as truncated."""

    def uncut_to_persist(mp: Any, partition: Any, state: Any) -> Any:
        partition.required_cuts = {}
        return {r: e for r, e in original(mp, partition, state).items() if r == SESSION}

    patch(Preparing, "_unconfirmed_reason", lambda self, mp, partition: "")
    patch(Partition, "has_confirmed", lambda self, replica: True)
    original = patch(state_writer, "uncut_to_persist", uncut_to_persist)


@fault("divergence", profile="replicas", seed=101)
def required_cuts_forgotten(patch: Patch) -> None:
    """A new leader forgets the replicas that must still truncate (D30)."""
    _change_read_states(
        patch, lambda led, found: replace(found, uncut={r: e for r, e in found.uncut.items() if r == SESSION})
    )


@fault("divergence", "stuck-state", profile="mirror_of_a_failback")
def epochs_compared_without_writers(patch: Patch) -> None:
    """Two logs are compared by the numbers of their epochs alone, without their writers (D45)."""
    patch(LineageCheck, "shared_with_source", lambda self, mp: None)


# -- epochs ---------------------------------------------------------------------------------------


@fault("divergence", profile="smoke", seed=25)
def reset_before_the_epoch_is_settled(patch: Patch) -> None:
    """A stop settles the epoch of its own producer reset as the last mirrored one."""

    def write_state(self: Any, now: Any, mp: Any, state: Any, epoch: int, **options: Any) -> None:
        stop = options.get("stop")
        original_write_state(self, now, mp, state, epoch if stop is None else stop.epoch, **options)

    def is_reset(self: Any, mp: Any, partition: Any) -> bool:
        mp.last_mirrored_epoch -= 1  # The engine would not recognise its own reset by that epoch.
        try:
            return bool(original_is_reset(self, mp, partition))
        finally:
            mp.last_mirrored_epoch += 1

    original_write_state = patch(StateWriter, "write_state", write_state)
    original_is_reset = patch(Stopping, "_is_reset", is_reset)


@fault("lme-loss", profile="smoke", seed=5)
def last_mirrored_epoch_recomputed(patch: Patch) -> None:
    """A new leader of a stopped partition uses the last epoch of its log as the last mirrored one."""
    _change_read_states(
        patch, lambda led, found: replace(found, last_mirrored_epoch=last_epoch(led.log))
        if found.state is MirrorState.STOPPED else found,
    )  # fmt: skip


@fault("lme-loss", profile="smoke", seed=5)
def last_mirrored_epoch_not_persisted(patch: Patch) -> None:
    """A read of a stopped partition's state finds no last mirrored epoch."""
    _change_read_states(
        patch, lambda led, found: replace(found, last_mirrored_epoch=NOT_SETTLED)
        if found.state is MirrorState.STOPPED else found,
    )  # fmt: skip


@fault("divergence", profile="smoke", seed=2)
def bump_skipped(patch: Patch) -> None:
    """A stopped partition is written to in the epoch in which it was mirrored (D36)."""
    written: dict[tuple[str, TopicPartition], StopPlan] = {}
    """The plan of each stop that has written its reset: the engine recognises its own by its epoch."""

    def is_written(self: Any, mp: Any, partition: Any) -> bool:
        return written.get((self._context.broker.cluster_id, mp.tp)) is mp.stop

    def is_cut(self: Any, mp: Any, partition: Any) -> bool:
        return is_written(self, mp, partition) or bool(original_is_cut(self, mp, partition))

    patch(Stopping, "_is_bumped", lambda self, mp, partition: True)
    patch(Stopping, "_is_reset", is_written)
    original_is_cut = patch(Stopping, "_is_cut", is_cut)

    def reset(self: Any, now: Any, mp: Any, partition: Any) -> None:
        written[self._context.broker.cluster_id, mp.tp] = mp.stop
        original_reset(self, now, mp, partition)

    original_reset = patch(Stopping, "_reset_producers", reset)


@fault("epoch-regression", profile="smoke", seed=2)
def first_epoch_stamped_for_ever(patch: Patch) -> None:
    """A leader writes the epoch in which it led first into clients' batches."""
    first: dict[PartitionLog, int] = {}

    def append(self: Any, data: Any, *, leader_epoch: int, **options: Any) -> Any:
        led_first = first.setdefault(self, leader_epoch)
        from_client = options.get("origin", AppendOrigin.CLIENT) is AppendOrigin.CLIENT
        return original(self, data, leader_epoch=led_first if from_client else leader_epoch, **options)

    original = patch(PartitionLog, "append_as_leader", append)


@fault("epoch-regression", profile="smoke")
def epochs_begin_anew(patch: Patch) -> None:
    """The controller elects in epoch 0 again if no broker has led for a while."""

    def change(self: Any, record: Any, delta: Any) -> None:
        partitions = self[self.names[record.topic_id]].partitions
        led = partitions[record.partition_id].leader != NO_LEADER
        original(self, record, delta)
        if not led:
            partitions[record.partition_id] = replace(partitions[record.partition_id], leader_epoch=0)

    original = patch(Topics, "_change_partition", change)


# -- replication ----------------------------------------------------------------------------------


@fault("acked-lost", profile="power_lost")
def acknowledged_by_the_leader_alone(patch: Patch) -> None:
    """A batch with acks=all is acknowledged before a follower has it, so a power loss of the leader loses it."""
    patch(
        Purgatory,
        "await_acks",
        lambda self, now, partition, required, timeout_ms, on_acked: on_acked(now, ErrorCode.NONE),
    )


@fault("acked-lost", profile="replicas", seed=42)
def high_watermark_raised_early(patch: Patch) -> None:
    """The high watermark rises before any follower has the records."""

    def advance(self: Any) -> bool:
        before = self.log.high_watermark
        return bool(self.log.update_high_watermark(self.log.log_end_offset) > before)

    patch(Partition, "advance_high_watermark", advance)


@fault("hw-regression", profile="read_while_late")
def high_watermark_falls(patch: Patch) -> None:
    """A leader sets the high watermark to a follower's log end, even if the follower lags."""

    def on_follower_fetch(self: Any, now: Any, replica: int, fetch_offset: int, **options: Any) -> None:
        original(self, now, replica, fetch_offset, **options)
        self.log.update_high_watermark(min(self.log.high_watermark, fetch_offset))

    original = patch(Partition, "on_follower_fetch", on_follower_fetch)


@fault("stuck-state", profile="smoke", seed=2)
def divergence_ignored(patch: Patch) -> None:
    """A follower keeps its records although its leader reports a divergence."""
    patch(follower, "truncation_point", lambda log, epoch, end: TruncationPoint(log.log_end_offset, final=True))


@fault("acked-lost", profile="late_joiner")
def isr_joined_too_early(patch: Patch) -> None:
    """A replica joins the ISR with its first fetch."""
    patch(Partition, "may_join", lambda self, replica: replica not in self.image.isr and self.pending_isr is None)


# -- mirrored records -----------------------------------------------------------------------------


def _every(number: int) -> Callable[[], bool]:
    """Return a function that is true once in `number` calls."""
    calls = 0

    def due() -> bool:
        nonlocal calls
        calls += 1
        return calls % number == 0

    return due


@fault("divergence", profile="smoke", seed=2)
def batch_skipped(patch: Patch) -> None:
    """Sometimes a fetched batch is not appended."""
    due = _every(3)

    def append(self: Any, data: Any, **options: Any) -> Any:
        batches = [bytes(batch.view) for batch in iter_batches(bytes(data))]
        if len(batches) > 1 and due():
            data = b"".join(batches[1:])
        return original(self, data, **options)

    original = patch(PartitionLog, "append_as_mirror", append)


def _changed(data: Any, change: Callable[[Batch], bytes | None]) -> bytes:
    changed = []
    for batch in iter_batches(bytes(data)):
        changed.append(change(batch) or bytes(batch.view))
    return b"".join(changed)


@fault("divergence", profile="smoke", seed=2)
def byte_flipped(patch: Patch) -> None:
    """Sometimes a byte of a value is changed, under a valid checksum."""
    due = _every(5)

    def change(batch: Batch) -> bytes | None:
        if batch.is_control or not due():
            return None
        raw = bytearray(batch.view)
        raw[-2] ^= 1  # The last byte is the number of headers; the value ends before it.
        struct.pack_into(">I", raw, CRC_POSITION, crc32c(bytes(raw[CRC_START:])))
        return bytes(raw)

    def append(self: Any, data: Any, **options: Any) -> Any:
        return original(self, _changed(data, change), **options)

    original = patch(PartitionLog, "append_as_mirror", append)


@fault("divergence", "stuck-state", profile="smoke", seed=2)
def wrong_epoch_copied(patch: Patch) -> None:
    """The first batch of a new epoch is copied with the epoch before it."""

    def append(self: Any, data: Any, **options: Any) -> Any:
        def change(batch: Batch) -> bytes | None:
            if not self.latest_epoch < batch.partition_leader_epoch or batch.partition_leader_epoch < 1:
                return None
            raw = bytearray(batch.view)
            struct.pack_into(">i", raw, EPOCH_POSITION, batch.partition_leader_epoch - 1)
            return bytes(raw)

        return original(self, _changed(data, change), **options)

    original = patch(PartitionLog, "append_as_mirror", append)


@fault("divergence", profile="smoke", seed=8)
def source_read_uncommitted(patch: Patch) -> None:
    """The source is read up to its high watermark."""
    patch(fetchers, "IsolationLevel", SimpleNamespace(READ_COMMITTED=IsolationLevel.READ_UNCOMMITTED))


@fault("pause-breach", profile="paused_for_a_while")
def paused_topics_are_fetched(patch: Patch) -> None:
    """A pause neither stops the fetchers nor their requests."""

    def remove(self: Any, mp: Any) -> None:
        if mp.assignment.wish is not Wish.PAUSE:
            original_remove(self, mp)

    def enter(self: Any, state: MirrorState) -> None:
        topic_id = self.source_topic_id
        original_enter(self, state)
        if self.assignment.wish is Wish.PAUSE:
            self.source_topic_id = topic_id

    original_remove = patch(fetchers.MirrorFetchers, "remove", remove)
    original_enter = patch(MirrorPartition, "enter", enter)


@fault("divergence", "stuck-state", profile="mirror_of_a_deleted_mirror")
def lineage_goes_with_its_mirror(patch: Patch) -> None:
    """After a mirror is deleted its logs count as written by their own cluster (D51)."""
    patch(context, "parse_lineages", lambda text: {})


# -- producers and clients ------------------------------------------------------------------------


@fault("hanging-transaction", profile="smoke", seed=6)
def marker_forgotten(patch: Patch) -> None:
    """Sometimes a transaction marker is confirmed and not written."""
    due = _every(6)

    def write(broker: Any, now: Any, tp: Any, marker: Any, on_acked: Any) -> None:
        if due():
            on_acked(now, ErrorCode.NONE)
        else:
            original(broker, now, tp, marker, on_acked)

    original = patch(markers, "_write", write)


@fault("duplicate-at-offset", profile="late_answer")
def retries_not_recognized(patch: Patch) -> None:
    """A leader checks no sequence numbers: a batch that is sent again is appended again."""
    patch(ProducerStates, "find_duplicate", lambda self, batch: None)
    patch(producers, "_check_sequence", lambda update, batch: None)


@fault("pid-collision", profile="smoke")
def producer_reset_not_written(patch: Patch) -> None:
    """A stop keeps the state of the source's producers."""

    def finish(self: Any, now: Any, mp: Any, partition: Any) -> None:
        self._writer.transition(now, mp, MirrorState.STOPPED)

    patch(Stopping, "_reset_producers", finish)


@fault("read-only-breach", profile="transactions")
def read_only_not_enforced(patch: Patch) -> None:
    """A mirrored topic accepts writes."""
    patch(access, "produce_error", lambda context, tp: None)


# -- states and metadata --------------------------------------------------------------------------


@fault("stuck-state", profile="smoke")
def stop_never_finishes(patch: Patch) -> None:
    """STOPPED is never written."""

    def transition(self: Any, now: Any, mp: Any, target: Any) -> None:
        if target is not MirrorState.STOPPED:
            original(self, now, mp, target)

    original = patch(StateWriter, "transition", transition)


@fault("topic-id-mismatch", profile="smoke")
def another_topic_id(patch: Patch) -> None:
    """A topic is created at the destination with a new id."""

    def info(*, topic_id: Uuid, mirror_name: str) -> Any:
        raw = bytearray(topic_id)
        raw[0] ^= 1
        return original(topic_id=Uuid(bytes(raw)), mirror_name=mirror_name)

    original = patch(topics, "MirrorInfo", info)
