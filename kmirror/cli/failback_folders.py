"""Preview of a failback from two log folders, which are only read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from kmirror.cluster.coordinators.shard_state import LoggedRecord
from kmirror.errors import UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.batch_iteration import HoleFinder
from kmirror.log.epochs import EpochEntry, decode_checkpoint
from kmirror.log.store import CLEANER_RUN, COPIED_CLEANER_OFFSET, LEADER_EPOCH_CHECKPOINT, PARTITION_METADATA
from kmirror.logdir.checkpoints import CLEANER_OFFSETS, parse_topic_id, read_folder_facts, read_offsets
from kmirror.logdir.compare.pairs import pair_folders
from kmirror.logdir.consume import ConsumeQuery, consume
from kmirror.logdir.faults import reading
from kmirror.logdir.names import partition_of
from kmirror.logdir.partition import PartitionFolder, iter_batches, open_partition, partition_paths
from kmirror.mirror.cut_rules import are_markers
from kmirror.mirror.failback import (
    Cut,
    FailbackFacts,
    FailbackWait,
    LogOutline,
    Removal,
    failback_cut,
    markers_from,
    no_mirror_message,
    removal_of,
    waits_for_source,
)
from kmirror.mirror.lineage import Stretches, shared_epoch, single_stretch
from kmirror.mirror.state_records import NO_STATE, MirrorShard, PartitionState, StateKey
from kmirror.mirror.states import FOLLOWING_STATES, MirrorState
from kmirror.mirror.upstream import ring_reason
from kmirror.records.legacy import AnyBatch
from kmirror.spec.topics import MIRROR_STATE_TOPIC


class FolderPreview:
    """Previews mirroring `mirror` from the log folder `source` back to `destination`; raises UsageError for other
    folders.

    States are read from `__mirror_state` in the same folders. In a cluster of several brokers, the folder of each
    partition's leader may have other states.
    """

    def __init__(self, destination: Path, source: Path, *, mirror: str) -> None:
        self._pairs = pair_folders(destination, source)
        self._mirror = mirror
        self._source = source
        self._destination_states, self._source_states = _states(destination), _states(source)
        self._cluster_ids = [read_folder_facts(folder).cluster_id or "" for folder in (destination, source)]

    def read_removals(self, matches: Callable[[str], bool]) -> dict[TopicPartition, Removal | FailbackWait]:
        """Return the records that would be removed from each selected partition that both folders have."""
        if not any(True for _ in _state_folders(self._source)):
            text = f"{self._source} has no {MIRROR_STATE_TOPIC}, which contains the source's state of its mirror"
            raise UsageError(f"{text}; give the folder of another broker, or query the clusters")
        known = dict.fromkeys(key.mirror for key in (*self._source_states.keys(), *self._destination_states.keys()))
        if self._mirror not in known:
            raise UsageError(no_mirror_message(self._mirror, known))
        return {
            destination.tp: self._preview_partition(destination, source)
            for destination, source in self._pairs.both
            if matches(destination.tp.topic)
        }

    def _preview_partition(self, destination: PartitionFolder, source: PartitionFolder) -> Removal | FailbackWait:
        ids = [_topic_id(folder) for folder in (destination, source)]
        own_state, source_state = (
            None if topic_id is None else states.get(StateKey(self._mirror, topic_id, destination.tp.partition))
            for states, topic_id in zip((self._destination_states, self._source_states), ids, strict=True)
        )
        outline = _outline(destination)
        wait = None
        if source_state is not None and source_state.state is not MirrorState.UNKNOWN:
            wait = waits_for_source(source_state.state, source_state.last_mirrored_epoch, outline)
        if wait is not None and not wait.unless_shared:
            return wait
        ring_wait = self._find_ring_wait(ids[1], destination.tp.partition)
        if ring_wait is not None:
            return wait or ring_wait
        is_same = ids[0] is not None and ids[0] == ids[1]
        facts = FailbackFacts(
            outline,
            _outline(source),
            None if source_state is None else max(-1, source_state.last_mirrored_epoch),
            max(-1, own_state.last_mirrored_epoch) if own_state is not None and is_same else -1,
            shared_epoch(self._writers(own_state, 0), self._writers(source_state, 1)),
            _cleaned_offset(destination),
        )
        if wait is not None and not _removes_only_markers(destination, facts):
            return wait
        if facts.depends_on_holes:
            facts = replace(facts, first_hole=_first_hole(destination, outline))
        cut = failback_cut(facts)
        return removal_of(cut, batches_to_check(destination, cut))

    def _find_ring_wait(self, topic_id: Uuid | None, partition: int) -> FailbackWait | None:
        """Return the wait of PREPARING if, by the source's states, the destination feeds the source's log; else None
        (D58).

        That is the case if a mirror of the source extends a log to which the destination writes.
        """
        destination_id, source_id = self._cluster_ids
        keys = self._source_states.keys()
        for key in keys:
            state = self._source_states.get(key) or NO_STATE
            is_fed = (key.topic_id, key.partition) == (topic_id, partition) and state.state in FOLLOWING_STATES
            if is_fed and state.lineage.stretches and state.lineage.stretches[-1].cluster_id == destination_id:
                return FailbackWait(ring_reason((destination_id, source_id, destination_id)))
        return None

    def _writers(self, state: PartitionState | None, index: int) -> Stretches:
        if state is not None and state.lineage.stretches:
            return state.lineage.stretches
        return single_stretch(self._cluster_ids[index])


def _states(folder: Path) -> MirrorShard:
    """Return the newest states in a log folder."""
    shard = MirrorShard()
    for path in _state_folders(folder):
        for record in consume(open_partition(path, may_be_empty=True), ConsumeQuery(to_end=True)):
            shard.replay(LoggedRecord(record.key or b"", record.value))
    return shard


def _state_folders(folder: Path) -> Iterator[Path]:
    for path in partition_paths(folder):
        tp = partition_of(path.name)
        if tp is not None and tp.topic == MIRROR_STATE_TOPIC:
            yield path


def _outline(folder: PartitionFolder) -> LogOutline:
    path = folder.path / LEADER_EPOCH_CHECKPOINT
    entries: list[EpochEntry] = []
    if path.exists():
        with reading(path):
            entries = decode_checkpoint(path.read_bytes())
    end = folder.segments[-1].base_offset if folder.segments else folder.log_start_offset
    for _, batch in iter_batches(folder.segments[-1:]):
        end = batch.next_offset
    return LogOutline(entries, folder.log_start_offset, max(end, folder.log_start_offset))


def _cleaned_offset(folder: PartitionFolder) -> int:
    """Return the furthest offset that the cleaner may have reached in a log, or in the log it was copied from (D63)."""
    checkpoint = folder.path.parent / CLEANER_OFFSETS
    with reading(checkpoint):
        found = [read_offsets(checkpoint).get(folder.tp, 0)]
    for name in (CLEANER_RUN, COPIED_CLEANER_OFFSET):
        path = folder.path / name
        if path.exists():
            with reading(path):
                found.append(int(path.read_bytes()))
    return max(found)


def _first_hole(folder: PartitionFolder, outline: LogOutline) -> int:
    """Return the first offset of a log that is in no record, or its end."""
    finder = HoleFinder(outline.log_start_offset)
    for _, batch in iter_batches(folder.segments_from(outline.log_start_offset)):
        if finder.add_batch(batch):
            break
    return finder.expected


def _removes_only_markers(folder: PartitionFolder, facts: FailbackFacts) -> bool:
    """Return whether only markers of our log would be removed, and the source has everything else (D25)."""
    start, end = markers_from(facts), facts.own_log.log_end_offset
    if start is None:
        return False
    return are_markers((batch for _, batch in iter_batches(folder.segments_from(start))), start, end)


def batches_to_check(folder: PartitionFolder, cut: Cut) -> Iterator[AnyBatch]:
    """Yield the batches of segments that may be affected; the segments between the two cuts are not read."""
    segments = folder.segments_from(folder.log_start_offset)
    ends = [*(segment.base_offset for segment in segments[1:]), cut.offset + 1]
    affected = [
        segment
        for segment, end in zip(segments, ends, strict=False)  # The last segment has no end here.
        if segment.base_offset < cut.start or end > cut.offset
    ]
    for _, batch in iter_batches(affected):
        if batch.next_offset > folder.log_start_offset:
            yield batch


def _topic_id(folder: PartitionFolder) -> Uuid | None:
    path = folder.path / PARTITION_METADATA
    if not path.exists():
        return None
    with reading(path):
        return parse_topic_id(path.read_bytes(), path)
