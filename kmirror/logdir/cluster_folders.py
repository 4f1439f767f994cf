"""Log folders of a whole cluster on one machine, and their assignment to nodes.

    DIR/                          one broker, which shares the folder with its controller (`process.roles` of both):
        meta.properties           as from `kafka-storage format --standalone`, or left by a Kafka broker
        orders-0/ ...
    DIR/broker-1/ ...             several brokers, a folder for each
    DIR/controller/               and the controller's

With several DIRs, such as one per disk, every broker has its folder in each of them: they are the entries of its
`log.dirs`. The controller's log is in the first, unless `metadata.log.dir` names another.

An empty folder is formatted, and interrupted formatting is completed. A folder is locked while it is served, and
reopened at each start of a node. A folder that the system cannot open is offline: its broker starts without it, if it
has another one and the controller's log is elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from kmirror.errors import UsageError
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.uuid import Uuid
from kmirror.log.disk import Disk, Disks, OfflineLogDir
from kmirror.log.state_files import BOOTSTRAP
from kmirror.logdir.checkpoints import META_PROPERTIES
from kmirror.logdir.files import replace_file
from kmirror.logdir.format import MetaProperties, format_folder, random_uuid, read_meta_properties
from kmirror.logdir.lock import LOCK, FolderLock, lock_folder
from kmirror.logdir.store import LogFolder
from kmirror.protocol.message import Message
from kmirror.spec.topics import METADATA_TOPIC

CONTROLLER = "controller"
NODE_CONTROLLER = -1
"""Key for the controller of a node that may also be a broker, as both have the node's id."""
_METADATA = f"{METADATA_TOPIC}-0"
# Entries that a folder may have before it is formatted: meta.properties is written last. A disk's root has lost+found.
_UNFORMATTED_ENTRIES = frozenset(
    {BOOTSTRAP, f"{BOOTSTRAP}.tmp", f"{META_PROPERTIES}.tmp", _METADATA, LOCK, "lost+found"}
)


class ClusterFolders:
    """Folders of a cluster's nodes, from `open_cluster_folders` to `close`."""

    def __init__(
        self, cluster_id: str, paths: Mapping[int, Sequence[Path]], controller_id: int, offline: Mapping[Path, OSError]
    ) -> None:
        self.cluster_id = cluster_id
        self.paths = paths
        """Node id to its folders; the controller has one, which may also be a broker's."""
        self._controller_id = controller_id
        self._offline = {path: str(error) for path, error in offline.items()}
        self._opened: dict[int, list[LogFolder]] = {}
        self._locks: list[FolderLock] = []
        try:
            for path in dict.fromkeys(path for folders in paths.values() for path in folders if path not in offline):
                self._locks.append(lock_folder(path))
        except UsageError:
            self.close()
            raise

    def disks_of(self, node_id: int) -> Disks:
        """Return the log directories for a starting node; those opened at its previous start are closed."""
        self._close(node_id)
        opened = self._opened[node_id] = []
        disks: list[Disk | OfflineLogDir] = []
        for path in self.paths[node_id]:
            found = self._open(path, is_broker=node_id != self._controller_id)
            disks.append(found)
            if isinstance(found, LogFolder):
                opened.append(found)
        return disks

    def _open(self, path: Path, *, is_broker: bool) -> LogFolder | OfflineLogDir:
        if path in self._offline:
            return OfflineLogDir(str(path.absolute()), self._offline[path])
        try:
            return LogFolder(path, shares_checkpoints=is_broker, flushes_in_jobs=True)
        except OSError as error:
            return OfflineLogDir(str(path.absolute()), str(error))

    def _close(self, node_id: int) -> None:
        for folder in self._opened.pop(node_id, ()):
            folder.close()

    def close(self) -> None:
        """Close all files and unlock the folders."""
        for node_id in [*self._opened]:
            self._close(node_id)
        for lock in self._locks:
            lock.release()
        self._locks.clear()


def broker_id_of(tops: Sequence[Path], controller_id: int) -> int | None:
    """Return the node id of the broker that owns these folders, if any; UsageError if it is the controller's id."""
    for top in tops:
        try:
            ids = read_meta_properties(top) if top.is_dir() else None
        except OSError:  # Another function reports it.
            continue
        if ids is not None and ids.node_id == controller_id:
            raise UsageError(f"{top}: belongs to node {ids.node_id}, which is the controller's id here")
        if ids is not None:
            return ids.node_id
    return None


def open_cluster_folders(
    tops: Sequence[Path],
    *,
    metadata: Path | None = None,
    broker_ids: Sequence[int],
    controller_id: int,
    bootstrap: Sequence[Message],
    endpoint: Endpoint,
    now_ms: int,
    cluster_id: str | None = None,
) -> ClusterFolders:
    """Lock the folders of the brokers and of the controller, and format the unformatted ones; creates missing `tops`.

    `metadata` is the folder of the controller's log, one of `tops` or another; None means the first. `bootstrap` holds
    the first records of an empty metadata log, and `endpoint` is the controller's address in its voters snapshot.
    Raises UsageError for a folder of another cluster, one that is given twice, and one in use; FileFault for a damaged
    `meta.properties`; OSError if the system cannot open the folder of the metadata log, or any folder of a broker.
    """
    metadata, offline = _prepare(tops, metadata)
    live = [top for top in dict.fromkeys((*tops, metadata)) if top not in offline]
    layout = _layout_of(tops, live, metadata, broker_ids, controller_id)
    found = {path: ids for path in layout.roles if (ids := read_meta_properties(path)) is not None}
    clusters = sorted({ids.cluster_id for ids in found.values()} | ({cluster_id} if cluster_id else set()))
    if len(clusters) > 1:
        raise UsageError(f"{_listed(tops)}: the folders belong to different clusters: {' and '.join(clusters)}")
    cluster_id = clusters[0] if clusters else str(random_uuid())
    _check_distinct_directory_ids(found)
    for path, (node_id, is_controller) in layout.roles.items():
        if path in found:
            _check_is_node(path, found[path], node_id)
            _add_directory_id(path, found[path])
        else:
            _check_is_free(path)
            properties = MetaProperties(cluster_id, node_id, random_uuid())
            format_folder(path, properties, bootstrap, now_ms=now_ms, controller=endpoint if is_controller else None)
    return ClusterFolders(cluster_id, layout.folders, controller_id, offline)


class _Layout(NamedTuple):
    folders: dict[int, list[Path]]
    """Node id to its folders, including offline ones."""
    roles: dict[Path, tuple[int, bool]]
    """Folder (not offline) to its node id, and whether it holds a controller's log."""


def _create_folders(tops: Iterable[Path]) -> dict[Path, OSError]:
    """Create missing folders; return those that cannot be created or read, with the error."""
    offline: dict[Path, OSError] = {}
    for top in tops:
        _check_is_folder(top)
        try:
            top.mkdir(parents=True, exist_ok=True)
            list(top.iterdir())
        except OSError as error:
            offline[top] = error
    return offline


def _check_may_begin(tops: Sequence[Path], metadata: Path, offline: Mapping[Path, OSError]) -> None:
    """Raise the error if the folder of the metadata log is offline, or all folders of a broker are."""
    if metadata in offline:
        raise offline[metadata]
    if all(top in offline for top in tops):
        raise offline[tops[0]]


def _check_distinct_directory_ids(found: Mapping[Path, MetaProperties]) -> None:
    first: dict[Uuid, Path] = {}
    for path, ids in found.items():
        other = first.setdefault(ids.directory_id, path)
        if ids.directory_id != Uuid.ZERO and other != path:
            raise UsageError(
                f"{path}: has the same directory.id as {other}, so one is a copy of the other; give only one"
            )


def _add_directory_id(path: Path, ids: MetaProperties) -> None:
    """Add a directory id to a folder that was formatted without one, as Kafka's brokers do."""
    if ids.directory_id == Uuid.ZERO:
        replace_file(path / META_PROPERTIES, replace(ids, directory_id=random_uuid()).encode())


def open_node_folders(
    tops: Sequence[Path],
    *,
    metadata: Path | None = None,
    node_id: int,
    is_broker: bool,
    controller: Endpoint | None,
    bootstrap: Sequence[Message],
    now_ms: int,
    cluster_id: str | None = None,
) -> ClusterFolders:
    """Lock the folders of one node whose cluster has its other nodes elsewhere, and format the unformatted ones.

    `metadata` is the folder of the controller's log, one of `tops` or another; None means the first. `controller` is
    the address of the node's controller, if it has one; `paths` has its folder under `NODE_CONTROLLER`. A controller
    without a cluster id gets a new one. Raises UsageError for a folder of another node or cluster, one that is given
    twice or in use, and an empty one of a broker without a cluster id; FileFault for a damaged `meta.properties`;
    OSError if the system cannot open the folder of the metadata log, or any folder.
    """
    joins_unknown = cluster_id is None and controller is None
    if joins_unknown and not any(map(os.path.lexists, (*tops, metadata or tops[0]))):
        raise _joins_unknown(tops[0])  # Before creating a folder that would be useless.
    metadata, offline = _prepare(tops, metadata)
    live = [top for top in dict.fromkeys((*tops, metadata)) if top not in offline]
    found = {path: ids for path in live if (ids := read_meta_properties(path)) is not None}
    _check_distinct_directory_ids(found)
    for path, ids in found.items():
        _check_is_node(path, ids, node_id)
        if cluster_id is not None and ids.cluster_id != cluster_id:
            raise UsageError(f"{path}: belongs to cluster {ids.cluster_id}, but would be served in {cluster_id}")
        cluster_id = ids.cluster_id
        _add_directory_id(path, ids)
    for path in live:
        if path in found:
            continue
        _check_is_free(path)
        if joins_unknown and cluster_id is None:
            raise _joins_unknown(path)
        cluster_id = cluster_id or str(random_uuid())
        properties = MetaProperties(cluster_id, node_id, random_uuid())
        voter = controller if path == metadata else None
        format_folder(path, properties, bootstrap, now_ms=now_ms, controller=voter)
    assert cluster_id is not None, "found or drawn"
    folders: dict[int, list[Path]] = {node_id: list(tops)} if is_broker else {}
    if controller is not None:
        folders[NODE_CONTROLLER] = [metadata]
    return ClusterFolders(cluster_id, folders, NODE_CONTROLLER, offline)


def _prepare(tops: Sequence[Path], metadata: Path | None) -> tuple[Path, dict[Path, OSError]]:
    """Create the folders; return the folder of the metadata log, and the offline folders."""
    if len({top.resolve() for top in tops}) < len(tops):
        raise UsageError(f"Duplicate log directory found: {', '.join(map(str, tops))}")
    metadata = tops[0] if metadata is None else metadata
    offline = _create_folders(dict.fromkeys((*tops, metadata)))
    _check_may_begin(tops, metadata, offline)
    return metadata, offline


def _layout_of(
    tops: Sequence[Path], live: Sequence[Path], metadata: Path, broker_ids: Sequence[int], controller_id: int
) -> _Layout:
    """Return the assignment of folders to nodes; `live` are the folders of `tops` and `metadata` that are readable."""
    brokers = len(broker_ids)
    existing = sorted({number for top in live for path in _entries(top) if (number := _broker_number(path))})
    is_single = any(read_meta_properties(top) is not None for top in live)
    all_tops = _listed(tops)
    if is_single and brokers > 1:
        raise UsageError(f"{all_tops}: it is the folder of one broker, but {brokers} are requested: use 1")
    if existing and existing != list(range(1, len(existing) + 1)):
        raise UsageError(
            f"{all_tops}: has brokers {_listed(existing)}, but brokers must be numbered from 1 without a gap"
        )
    if existing and not is_single and brokers != len(existing):
        raise UsageError(
            f"{all_tops}: has brokers {_listed(existing)}, but {brokers} are requested: use {len(existing)}"
        )
    if brokers == 1 and not existing:
        folders = {broker_ids[0]: list(tops), controller_id: [metadata]}
        return _Layout(folders, {top: (broker_ids[0], top == metadata) for top in live})
    folders = {number: [top / f"broker-{number}" for top in tops] for number in broker_ids}
    folders[controller_id] = [metadata / CONTROLLER]
    expected_paths = {path for paths in folders.values() for path in paths}
    for top in live:
        unknown = sorted(path.name for path in _entries(top) if path not in expected_paths)
        if unknown:
            raise UsageError(f"{top}: contains {unknown[0]!r}, so it is not a cluster's folder; use an empty folder")
    roles = {
        path: (node_id, node_id == controller_id)
        for node_id, paths in folders.items()
        for path in paths
        if path.parent in live
    }
    return _Layout(folders, roles)


def _entries(top: Path) -> Iterable[Path]:
    return (path for path in top.iterdir() if path.name != "lost+found")


def _broker_number(path: Path) -> int:
    word, _, number = path.name.partition("-")
    return int(number) if word == "broker" and number.isdecimal() and path.is_dir() else 0


def _check_is_folder(top: Path) -> None:
    if top.exists() and not top.is_dir():
        raise UsageError(f"{top}: is not a folder; give a folder, or a new name")


def _check_is_node(path: Path, ids: MetaProperties, node_id: int) -> None:
    if ids.node_id != node_id:
        raise UsageError(
            f"{path}: belongs to node {ids.node_id} ({META_PROPERTIES}), but would be served as node {node_id}"
        )


def _joins_unknown(path: Path) -> UsageError:
    text = f"{path}: it is not formatted, but a broker needs the id of its cluster"
    return UsageError(f"{text}: use --cluster-id with the id in {META_PROPERTIES} of the controller")


def _check_is_free(path: Path) -> None:
    unknown = (
        sorted(entry.name for entry in path.iterdir() if entry.name not in _UNFORMATTED_ENTRIES)
        if path.exists()
        else []
    )
    if unknown:
        text = f"{path}: contains {unknown[0]!r} but no {META_PROPERTIES}, so it is not a broker's folder"
        raise UsageError(f"{text}; use an empty folder")


def _listed(things: Sequence[object]) -> str:
    return ", ".join(map(str, things))
