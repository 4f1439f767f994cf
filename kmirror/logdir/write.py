"""Writing a cluster's state as log folders for Kafka.

    DIR/broker-1/                          one entry of `log.dirs`
        meta.properties                    cluster id, node id, directory id
        .kafka_cleanshutdown               the logs are closed, so nothing needs to be recovered
        *-offset-checkpoint                high watermarks, log starts, recovery points
        __cluster_metadata-0/              the controller's log and `quorum-state`
        orders-0/                          segments, indexes, snapshots, epochs, topic id

Each folder can be started by itself, as a combined broker and controller.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from kmirror.errors import UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.state_files import LOG_SUFFIX, QUORUM_STATE, encode_offsets, encode_quorum_state, file_name
from kmirror.log.store import LOG_START_OFFSET, PartitionStore
from kmirror.logdir.checkpoints import CLEAN_SHUTDOWN, META_PROPERTIES
from kmirror.logdir.files import sync_folder
from kmirror.logdir.format import MetaProperties
from kmirror.logdir.store import SHARED_FILES
from kmirror.spec.topics import METADATA_TOPIC

_METADATA = TopicPartition(METADATA_TOPIC, 0)


class ReplicaFiles(Protocol):
    """One closed log."""

    @property
    def store(self) -> PartitionStore: ...


class BrokerFiles(Protocol):
    """Content of one broker's folder."""

    @property
    def broker_id(self) -> int: ...
    @property
    def directory_id(self) -> Uuid: ...
    @property
    def partitions(self) -> Mapping[TopicPartition, ReplicaFiles]: ...
    @property
    def metadata(self) -> PartitionStore: ...
    @property
    def metadata_epoch(self) -> int: ...


class ClusterFiles(Protocol):
    """Result of `Cluster.files`."""

    @property
    def cluster_id(self) -> str: ...
    @property
    def brokers(self) -> tuple[BrokerFiles, ...]: ...


def write_log_dirs(files: ClusterFiles, path: str | os.PathLike[str]) -> dict[int, Path]:
    """Write a folder `broker-N` for each broker into a new folder `path`; return them by broker id.

    Each is as its broker would leave it: `kmirror verify` finds no fault, kafka-dump-log reads it, and a broker of
    Kafka 4.3.1 opens it. The files are written beside `path`, which is created by a final rename, so an existing `path`
    is complete. Raises `UsageError` if `path` exists and is not an empty folder, OSError if the system fails.
    """
    target = Path(path)
    _check_is_free(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    try:
        for broker in files.brokers:
            _write_broker(temporary / _name(broker), broker, files.cluster_id)
        temporary.chmod(0o755)  # mkdtemp creates a folder that only its owner may read.
        sync_folder(temporary)
        temporary.rename(target)  # Replaces an empty folder.
    except BaseException:  # Also Ctrl-C.
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_folder(target.parent)
    return {broker.broker_id: target / _name(broker) for broker in files.brokers}


def _name(broker: BrokerFiles) -> str:
    return f"broker-{broker.broker_id}"


def _check_is_free(target: Path) -> None:
    try:
        is_free = not target.exists() or not any(target.iterdir())
    except NotADirectoryError:
        raise UsageError(f"{target}: is not a folder; give the name of a new one") from None
    if not is_free:
        raise UsageError(f"{target}: is not empty; give the name of a new folder, or empty this one")


def _write_broker(folder: Path, broker: BrokerFiles, cluster_id: str) -> None:
    folder.mkdir()
    offsets: dict[str, dict[TopicPartition, int]] = {name: {} for name in SHARED_FILES}
    logs = {tp: replica.store for tp, replica in broker.partitions.items()} | {_METADATA: broker.metadata}
    for tp, store in sorted(logs.items()):
        _write_log(folder / str(tp), store)
        for name, partition_offsets in offsets.items():
            data = store.read_file(name)
            # The log start is recorded only if it is above the first segment's base offset.
            if data is not None and (name != LOG_START_OFFSET or int(data) > min(store.segments())):
                partition_offsets[tp] = int(data)
    for name, partition_offsets in offsets.items():
        if partition_offsets:
            _write(folder / SHARED_FILES[name], encode_offsets(partition_offsets))
    _write(folder / str(_METADATA) / QUORUM_STATE, encode_quorum_state(broker.metadata_epoch))
    _write(folder / META_PROPERTIES, MetaProperties(cluster_id, broker.broker_id, broker.directory_id).encode())
    _write(folder / CLEAN_SHUTDOWN, b'{"version":0,"brokerEpoch":-1}')
    sync_folder(folder)


def _write_log(folder: Path, store: PartitionStore) -> None:
    folder.mkdir()
    for base_offset in store.segments():
        _write(folder / file_name(base_offset, LOG_SUFFIX), store.view(base_offset))
    for name in store.files():
        data = store.read_file(name)
        if name not in SHARED_FILES and data is not None:
            _write(folder / name, data)
    sync_folder(folder)


def _write(path: Path, data: bytes | memoryview) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
