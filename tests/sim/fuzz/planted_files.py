"""Faults planted in the readers of files and internal topics, one function each."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any
from unittest.mock import patch

from kmirror.cluster.coordinators.groups import state as group_state
from kmirror.cluster.coordinators.shard_state import LoggedRecord
from kmirror.cluster.coordinators.transactions.state import TransactionShard
from kmirror.cluster.images.topics import Topics
from kmirror.cluster.metadata import batches as metadata_batches
from kmirror.errors import CorruptBatch, ProtocolError
from kmirror.fuzz.findings import FaultKind
from kmirror.kernel.uuid import Uuid
from kmirror.log import recovery
from kmirror.log.memory_store import MemoryStore
from kmirror.logdir.store import FileStore
from kmirror.logdir.verify import partition as verify_folders
from kmirror.logdir.verify import producers as verify_producers
from kmirror.protocol import wire
from kmirror.records import batch as batches

Patch = AbstractContextManager[object]


# -- logs ---------------------------------------------------------------------------------------


def repair_does_not_truncate() -> Patch:
    """The part that a repair truncates stays in the segment."""
    return patch.object(MemoryStore, "truncate", lambda self, base_offset, size: None)


def index_error_of_recovery() -> Patch:
    """A segment that ends inside a batch raises an IndexError."""
    add_file_name = recovery.add_file_name

    def as_index_error(error: Any, segment: Any) -> Any:
        return IndexError(str(error)) if "inside a batch" in str(error) else add_file_name(error, segment)

    return patch.object(recovery, "add_file_name", as_index_error)


# -- a broker's folder --------------------------------------------------------------------------


def checksum_of_segment_not_verified() -> Patch:
    """The scan of a log accepts every checksum: records that were never written are loaded."""
    return patch.object(batches.Batch, "verify_crc", lambda self: None)


def damaged_snapshot_not_reported() -> Patch:
    """verify ignores an unreadable producer snapshot."""
    return patch.object(verify_producers, "_read", lambda path: ([], None))


def index_error_of_snapshot() -> Patch:
    """A truncated producer snapshot raises an IndexError."""
    decode = verify_producers.decode_snapshot

    def decode_or_index_error(data: bytes) -> Any:
        try:
            return decode(data)
        except CorruptBatch as error:
            raise IndexError(str(error)) from None

    return patch.object(verify_producers, "decode_snapshot", decode_or_index_error)


def repair_does_not_truncate_file() -> Patch:
    """The part that a repair truncates stays in the file."""
    return patch.object(FileStore, "truncate", lambda self, base_offset, size: None)


def invalid_topic_id_accepted() -> Patch:
    """verify accepts a partition.metadata that loading refuses."""
    parse = verify_folders.parse_topic_id

    def parse_or_zero(data: bytes, path: Any) -> Any:
        try:
            return parse(data, path)
        except CorruptBatch:
            return Uuid.ZERO

    return patch.object(verify_folders, "parse_topic_id", parse_or_zero)


# -- internal topics ----------------------------------------------------------------------------


def type_not_checked() -> Patch:
    """A key that is too short for its type raises struct's own error."""
    return patch.object(group_state, "record_type", lambda key: wire.unpack_int16(key, 0)[0])


def unknown_types_read() -> Patch:
    """Records of the consumer protocol are read as offsets."""
    return patch.object(group_state, "OFFSET_KEYS", range(9))


def tombstone_ignored() -> Patch:
    """A transactional id stays despite a tombstone."""
    replay = TransactionShard.replay

    def replay_values(self: TransactionShard, logged: LoggedRecord) -> None:
        if logged.value is not None:
            replay(self, logged)

    return patch.object(TransactionShard, "replay", replay_values)


def removed_topic_is_led() -> Patch:
    """A broker still leads the partitions of a removed topic."""
    return patch.object(Topics, "_forget_leader", lambda self, tp, before: None)


def version_not_known() -> Patch:
    """A record of a version from a later Kafka raises an AssertionError."""

    decode = metadata_batches.decode_metadata_record

    def decode_or_assertion_error(value: bytes) -> Any:
        try:
            return decode(value)
        except ProtocolError as error:
            raise AssertionError(str(error)) from None

    return patch.object(metadata_batches, "decode_metadata_record", decode_or_assertion_error)


LOG = (
    (repair_does_not_truncate, (FaultKind.DIFFERS,), ()),
    (index_error_of_recovery, (FaultKind.RAISED,), ()),
)
LOG_DIR = (
    (checksum_of_segment_not_verified, (FaultKind.CHANGED, FaultKind.TAKEN), ()),
    (damaged_snapshot_not_reported, (FaultKind.TAKEN,), ()),
    (index_error_of_snapshot, (FaultKind.RAISED,), ()),
    (repair_does_not_truncate_file, (FaultKind.DIFFERS, FaultKind.RAISED), ()),
    (invalid_topic_id_accepted, (FaultKind.DIFFERS,), ()),
)
INTERNAL_TOPICS = (
    (type_not_checked, (FaultKind.RAISED,), ("__consumer_offsets",)),
    (unknown_types_read, (FaultKind.RAISED,), ("__consumer_offsets",)),
    (tombstone_ignored, (FaultKind.DIFFERS,), ("__transaction_state",)),
    (removed_topic_is_led, (FaultKind.DIFFERS,), ("__cluster_metadata",)),
    (version_not_known, (FaultKind.RAISED,), ("__cluster_metadata",)),
)
