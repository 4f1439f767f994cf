"""Small text files of a log folder.

    meta.properties                  key=value lines, with the id of the cluster
    replication-offset-checkpoint    the high watermark of each partition
    log-start-offset-checkpoint      the log start offset, if it is above the first segment's base offset
    recovery-point-offset-checkpoint the offset up to which the log has been flushed
    cleaner-offset-checkpoint        the offset up to which a compacted log has been cleaned
    T-P/partition.metadata           the topic id
    T-P/leader-epoch-checkpoint      see `kmirror.log.epochs`

Checkpoints have a version, a count and a line per entry. A file that was created but not written yet is empty and has
no entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.epochs import EpochEntry, decode_checkpoint
from kmirror.log.state_files import decode_offsets, decode_partition_metadata
from kmirror.logdir.faults import fault_of, reading

META_PROPERTIES = "meta.properties"
HIGH_WATERMARKS = "replication-offset-checkpoint"
LOG_START_OFFSETS = "log-start-offset-checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
CLEANER_OFFSETS = "cleaner-offset-checkpoint"
# A broker writes this file at the end of a clean shutdown and removes it when it starts.
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"

_NO_OFFSETS: Final[Mapping[TopicPartition, int]] = MappingProxyType({})


class FolderFacts(NamedTuple):
    """Content of the files at the top of a log folder, for all its partitions."""

    cluster_id: str | None = None
    clean_shutdown: bool = False
    high_watermarks: Mapping[TopicPartition, int] = _NO_OFFSETS
    log_start_offsets: Mapping[TopicPartition, int] = _NO_OFFSETS
    recovery_points: Mapping[TopicPartition, int] = _NO_OFFSETS
    has_meta_properties: bool = False  # True if there is a `meta.properties`, the first file that a broker writes.


def read_folder_facts(folder: Path) -> FolderFacts:
    """Return the content of the files at the top of `folder`; defaults for missing files.

    Raises `FileFault` for a malformed file, `Unreadable` for one that cannot be read.
    """
    properties = read_if_present(folder / META_PROPERTIES)
    return FolderFacts(
        cluster_id=parse_properties(properties or b"").get("cluster.id"),  # Brokers before 2.4 have none.
        clean_shutdown=(folder / CLEAN_SHUTDOWN).is_file(),
        high_watermarks=read_offsets(folder / HIGH_WATERMARKS),
        log_start_offsets=read_offsets(folder / LOG_START_OFFSETS),
        recovery_points=read_offsets(folder / RECOVERY_POINTS),
        has_meta_properties=properties is not None,
    )


def read_if_present(path: Path) -> bytes | None:
    """Return the bytes of the file at `path`, or None if it does not exist."""
    with reading(path):
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None


def parse_topic_id(data: bytes, path: Path) -> Uuid:
    """Return the topic id in a `partition.metadata` file; raises `FileFault`."""
    try:
        return decode_partition_metadata(data)
    except CorruptBatch as error:
        raise fault_of(error, path) from None


def parse_epochs(data: bytes, path: Path) -> list[EpochEntry]:
    """Return the entries of a `leader-epoch-checkpoint` file; raises `FileFault`."""
    try:
        return decode_checkpoint(data) if data else []
    except CorruptBatch as error:
        raise fault_of(error, path) from None


def parse_properties(data: bytes) -> dict[str, str]:
    """Return the key-value pairs in `meta.properties`.

    Java reads the file as Latin-1, in which every byte is valid.
    """
    found = {}
    for line in data.decode("latin-1").splitlines():
        key, is_pair, value = line.partition("=")
        if is_pair and not line.lstrip().startswith(("#", "!")):
            found[key.strip()] = value.strip()
    return found


def read_offsets(path: Path) -> dict[TopicPartition, int]:
    """Return the entries of an offset checkpoint, none if the file is missing; raises `FileFault`."""
    try:
        return decode_offsets(read_if_present(path) or b"")
    except CorruptBatch as error:
        raise fault_of(error, path) from None
