"""Detection of compacted logs.

Used for a log with a hole between two segments: a log that was never compacted has none. The broker's own information
may be missing: its cleaner records only its own runs, and a replica of a compacted log has holes made by another
broker's cleaner. So three sources are checked: the cleaner's checkpoint, the configs in the metadata log if it is in
the same folder, and the remaining batches.

Not detected: a log that was compacted elsewhere, without a hole inside any segment, in a folder without a metadata log.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from kmirror.errors import CorruptBatch, ProtocolError
from kmirror.logdir.checkpoints import CLEANER_OFFSETS, read_offsets
from kmirror.logdir.faults import FileFault, Unreadable
from kmirror.logdir.mapped import mapped
from kmirror.logdir.partition import PartitionFolder, read_partition
from kmirror.logdir.segments import SWAP_SUFFIX, SegmentFile
from kmirror.protocol.gen.config_record import ConfigRecord
from kmirror.protocol.keyed_records import decode_metadata_record
from kmirror.records.batch import Batch
from kmirror.records.codecs import Compression
from kmirror.records.legacy import AnyBatch, LegacyBatch, iter_any_batches
from kmirror.spec.topics import GROUP_TOPIC, METADATA_TOPIC, MIRROR_STATE_TOPIC, TRANSACTION_TOPIC

_COMPACTED_TOPICS: Final = (GROUP_TOPIC, TRANSACTION_TOPIC, MIRROR_STATE_TOPIC)
_COMPACT: Final = "compact"
# The topic config; with the prefix "log." the broker config, for topics without one.
_POLICY: Final = "cleanup.policy"


def compaction_evidence(folder: PartitionFolder) -> str | None:
    """Return the evidence that batches may have been compacted away, or None."""
    topic, top = folder.tp.topic, Path(os.path.abspath(folder.path)).parent
    if topic in _COMPACTED_TOPICS:
        return "Kafka compacts this topic"
    if folder.is_set_aside:
        return "the broker set the folder aside, so the cleaner's checkpoint no longer has it"
    if any(segment.path.suffix == SWAP_SUFFIX for segment in folder.segments):
        return "a compaction was interrupted"
    try:
        if any(tp.topic == topic for tp in read_offsets(top / CLEANER_OFFSETS)):
            return f"{CLEANER_OFFSETS} has the topic"
    except FileFault:
        return f"{CLEANER_OFFSETS} cannot be read"
    if _has_been_cleaned(folder.segments):
        return "records are missing inside its segments too, as after a compaction"
    if topic != METADATA_TOPIC and _is_compacted_by_config(top, topic):
        return f"{METADATA_TOPIC} has {_POLICY}={_COMPACT} for it"
    return None


def _has_been_cleaned(segments: list[SegmentFile]) -> bool:
    """Return whether the batches show that the cleaner removed or marked batches or records."""
    for segment in segments:
        if not segment.size and segment is not segments[-1]:
            return True  # A broker rolls no empty segment.
        next_offset = segment.base_offset
        with mapped(segment.path) as file:
            try:
                for batch in iter_any_batches(file.view):
                    if _shows_cleaning(batch, next_offset):
                        return True
                    next_offset = batch.next_offset
                    file.release_before(batch.position)
            except CorruptBatch:
                pass  # The walk reports it; the rest is unknown.
    return False


def _shows_cleaning(batch: AnyBatch, next_offset: int) -> bool:
    if isinstance(batch, Batch):
        is_whole = batch.record_count == batch.last_offset_delta + 1
        return batch.base_offset > next_offset or not is_whole or batch.delete_horizon_ms is not None
    if batch.compression is Compression.NONE:
        return batch.last_offset > next_offset
    offsets = [message.offset for message in batch.messages()]
    # The first wrapper of a replica's log may begin below it.
    return offsets[0] > next_offset or offsets[-1] - offsets[0] != len(offsets) - 1


def _is_compacted_by_config(top: Path, topic: str) -> bool:
    """Return whether any record of the metadata log in `top`, past or current, makes brokers compact the topic."""
    path = top / f"{METADATA_TOPIC}-0"
    if not path.is_dir():
        return False
    try:
        logs = [segment.path for segment in read_partition(path).segments]
    except (FileFault, Unreadable):
        return False
    return any(_sets_compaction(log, topic) for log in [*path.glob("*.checkpoint"), *logs])


def _sets_compaction(log: Path, topic: str) -> bool:
    """Return whether a record of this part of the metadata log does so; stops at the first unreadable byte."""
    with mapped(log) as file:
        try:
            for batch in iter_any_batches(file.view):
                if isinstance(batch, LegacyBatch) or batch.is_control:
                    continue
                if any(_is_compacting(record.value, topic) for record in batch.records()):
                    return True
                file.release_before(batch.position)
        except (CorruptBatch, ProtocolError):
            pass
    return False


def _is_compacting(value: bytes | None, topic: str) -> bool:
    if value is None or _POLICY.encode() not in value:
        return False
    message = decode_metadata_record(value).message
    if not isinstance(message, ConfigRecord) or _COMPACT not in (message.value or ""):
        return False
    return (message.name == _POLICY and message.resource_name == topic) or message.name == f"log.{_POLICY}"
