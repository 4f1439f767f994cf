"""Which folder is whose, where a whole cluster keeps its logs on one machine?

    DIR/                          one broker, which shares the folder with its controller (`process.roles` of both):
        meta.properties           what `kafka-storage format --standalone` makes, or a broker of Kafka left
        orders-0/ ...
    DIR/broker-1/ ...             several brokers, a folder for each
    DIR/controller/               and the controller's

An empty folder is formatted; so is the rest of one where that was interrupted. A folder is locked as long as it is
served, and opened anew by each life of a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from kmirror.errors import UsageError
from kmirror.kernel.ids import Endpoint
from kmirror.log.state_files import BOOTSTRAP
from kmirror.logdir.checkpoints import META_PROPERTIES
from kmirror.logdir.format import MetaProperties, format_folder, random_uuid, read_meta_properties
from kmirror.logdir.lock import LOCK, FolderLock, lock_folder
from kmirror.logdir.store import LogFolder
from kmirror.protocol.message import Message
from kmirror.spec.topics import METADATA_TOPIC

CONTROLLER = "controller"
NODE_CONTROLLER = -1
"""Stands for the controller of a node that may also be a broker, for both have the node's id."""
_METADATA = f"{METADATA_TOPIC}-0"
# What a folder may hold before it is a node's: format writes meta.properties last. A disk of its own has lost+found.
_BEFORE = frozenset({BOOTSTRAP, f"{BOOTSTRAP}.tmp", f"{META_PROPERTIES}.tmp", _METADATA, LOCK, "lost+found"})


class ClusterFolders:
    """The folders of a cluster's nodes, from `open_cluster_folders` to `close`."""

    def __init__(self, cluster_id: str, paths: dict[int, Path], controller_id: int) -> None:
        self.cluster_id = cluster_id
        self.paths = paths
        """Node id to folder; the controller's may be that of a broker."""
        self._controller_id = controller_id
        self._opened: dict[int, LogFolder] = {}
        self._locks: list[FolderLock] = []
        try:
            for path in dict.fromkeys(paths.values()):
                self._locks.append(lock_folder(path))
        except UsageError:
            self.close()
            raise

    def disk_of(self, node_id: int) -> LogFolder:
        """Return the disk of a node that begins; what its last life had open is closed."""
        if (last := self._opened.pop(node_id, None)) is not None:
            last.close()
        is_broker = node_id != self._controller_id
        folder = LogFolder(self.paths[node_id], shares_checkpoints=is_broker, flushes_in_jobs=True)
        self._opened[node_id] = folder
        return folder

    def close(self) -> None:
        """Close all files and let others open the folders."""
        for folder in self._opened.values():
            folder.close()
        self._opened.clear()
        for lock in self._locks:
            lock.release()
        self._locks.clear()


def only_broker(top: Path, controller_id: int) -> int | None:
    """Return the node id of the broker whose folder `top` is, if it is one; UsageError for the controller's id."""
    ids = read_meta_properties(top) if top.is_dir() else None
    if ids is not None and ids.node_id == controller_id:
        raise UsageError(f"{top}: it is of node {ids.node_id}, and that is the id of the controller here")
    return None if ids is None else ids.node_id


def open_cluster_folders(
    top: Path,
    *,
    broker_ids: Sequence[int],
    controller_id: int,
    bootstrap: Sequence[Message],
    endpoint: Endpoint,
    now_ms: int,
    cluster_id: str | None = None,
) -> ClusterFolders:
    """Lock the folders of the brokers and of the controller, and format those that are not; `top` is made.

    `bootstrap` is what an empty metadata log begins with, and `endpoint` where the controller listens, as far as anyone
    has to know. UsageError for a folder that is not this cluster's, or is in use; FileFault for a `meta.properties`
    that is damaged; OSError where the system refuses.
    """
    _check_is_folder(top)
    top.mkdir(parents=True, exist_ok=True)
    known = read_meta_properties(top)
    folders, roles = _laid_out(top, broker_ids, controller_id, is_single=known is not None)
    found = {path: ids for path in roles if (ids := read_meta_properties(path)) is not None}
    clusters = sorted({ids.cluster_id for ids in found.values()} | ({cluster_id} if cluster_id else set()))
    if len(clusters) > 1:
        raise UsageError(f"{top}: one cluster is wanted, and there are {' and '.join(clusters)}")
    cluster_id = clusters[0] if clusters else str(random_uuid())
    for path, (node_id, is_controller) in roles.items():
        if path in found:
            _check_is_node(path, found[path], node_id)
        else:
            _check_is_free(path)
            properties = MetaProperties(cluster_id, node_id, random_uuid())
            format_folder(path, properties, bootstrap, now_ms=now_ms, controller=endpoint if is_controller else None)
    return ClusterFolders(cluster_id, folders, controller_id)


def open_node_folder(
    path: Path,
    *,
    node_id: int,
    is_broker: bool,
    controller: Endpoint | None,
    bootstrap: Sequence[Message],
    now_ms: int,
    cluster_id: str | None = None,
) -> ClusterFolders:
    """Lock the folder of one node of a cluster whose other nodes are elsewhere, and format it if it is not.

    `controller` is where the node's controller listens, if it is one; `paths` has that under `NODE_CONTROLLER`. A new
    cluster's id is drawn where a controller is given none. UsageError for a folder of another node or cluster, for one
    that is in use, and for an empty one of a broker that is not told which cluster it joins; FileFault for a
    `meta.properties` that is damaged; OSError where the system refuses.
    """
    _check_is_folder(path)
    found = read_meta_properties(path) if path.is_dir() else None
    if found is not None:
        _check_is_node(path, found, node_id)
        if cluster_id is not None and found.cluster_id != cluster_id:
            raise UsageError(f"{path}: it is of cluster {found.cluster_id}, and would be served in {cluster_id}")
        cluster_id = found.cluster_id
    else:
        _check_is_free(path)
        if cluster_id is None and controller is None:
            text = f"{path}: it is not formatted, and a broker has to know which cluster it joins"
            raise UsageError(f"{text}: say --cluster-id, as in {META_PROPERTIES} of the controller")
        cluster_id = cluster_id or str(random_uuid())
        properties = MetaProperties(cluster_id, node_id, random_uuid())
        format_folder(path, properties, bootstrap, now_ms=now_ms, controller=controller)
    ids = ([node_id] if is_broker else []) + ([NODE_CONTROLLER] if controller is not None else [])
    return ClusterFolders(cluster_id, dict.fromkeys(ids, path), NODE_CONTROLLER)


def _laid_out(
    top: Path, broker_ids: Sequence[int], controller_id: int, *, is_single: bool
) -> tuple[dict[int, Path], dict[Path, tuple[int, bool]]]:
    """Return the folder of each node, and for each folder its node id and whether a controller has its log there."""
    brokers = len(broker_ids)
    there = sorted(_broker_number(path) for path in _entries(top) if _broker_number(path))
    if is_single and brokers > 1:
        raise UsageError(f"{top}: it is the folder of one broker, and {brokers} are asked for: ask for one")
    if there and there != list(range(1, len(there) + 1)):
        raise UsageError(f"{top}: it has brokers {_listed(there)}, and they are numbered from 1 without a gap")
    if there and not is_single and brokers != len(there):
        raise UsageError(f"{top}: it has brokers {_listed(there)}, and {brokers} are asked for: ask for {len(there)}")
    if brokers == 1 and not there:
        return {broker_ids[0]: top, controller_id: top}, {top: (broker_ids[0], True)}
    paths = {number: top / f"broker-{number}" for number in broker_ids} | {controller_id: top / CONTROLLER}
    strange = sorted(path.name for path in _entries(top) if path not in paths.values())
    if strange:
        raise UsageError(f"{top}: it holds {strange[0]!r}, and is no folder of a cluster; name an empty folder")
    return paths, {path: (node_id, node_id == controller_id) for node_id, path in paths.items()}


def _entries(top: Path) -> Iterable[Path]:
    return (path for path in top.iterdir() if path.name != "lost+found")


def _broker_number(path: Path) -> int:
    word, _, number = path.name.partition("-")
    return int(number) if word == "broker" and number.isdecimal() and path.is_dir() else 0


def _check_is_folder(top: Path) -> None:
    if top.exists() and not top.is_dir():
        raise UsageError(f"{top}: is not a folder; name one, or a new one")


def _check_is_node(path: Path, ids: MetaProperties, node_id: int) -> None:
    if ids.node_id != node_id:
        raise UsageError(
            f"{path}: it is of node {ids.node_id} ({META_PROPERTIES}), and would be served as node {node_id}"
        )


def _check_is_free(path: Path) -> None:
    strange = sorted(entry.name for entry in path.iterdir() if entry.name not in _BEFORE) if path.exists() else []
    if strange:
        text = f"{path}: it holds {strange[0]!r} and no {META_PROPERTIES}, so it is no folder of a broker"
        raise UsageError(f"{text}; name an empty folder to have one made")


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
