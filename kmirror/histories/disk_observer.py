"""Observation of the nodes' disks: bytes and files of each replica, and leftovers of others.

Brokers remove old segments every `log.retention.check.interval.ms`. So replicas are observed several times after the
faults have ended, to record since when each of them is unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kmirror.cluster.node.partition import Partition
from kmirror.histories.disk_account import ReplicaFiles
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import MILLISECOND, Duration, Instant, to_ms
from kmirror.kernel.ids import TopicPartition
from kmirror.log.state_files import SNAPSHOT_SUFFIX, encode_partition_metadata, offset_in
from kmirror.log.store import PARTITION_METADATA
from kmirror.records.legacy import iter_any_batches
from kmirror.spec.configs import Configs, Scope
from kmirror.spec.topics import METADATA_TOPIC

SLACK: Duration = 1_000 * MILLISECOND
"""Added to the interval of retention checks, because clocks drift and observations are some time apart."""
Replica = tuple[str, int, TopicPartition]
"""Cluster, broker and partition."""
StateReader = Callable[[str, TopicPartition], str]
"""Returns the state of a partition in a mirror according to its leader in a cluster; empty if it is in none."""


@dataclass(frozen=True, slots=True)
class _LastChange:
    """Last change of a replica: its time, and the observations since then."""

    process: object
    state_and_configs: object
    """Mirror state and configs."""
    at: Instant
    starts: list[tuple[Instant, int]]
    """Log starts seen since then, each with the first time it was seen."""


class DiskObserver:
    """Records the files and sizes of the replicas of a scene."""

    def __init__(self, scene: Scene, state_of: StateReader) -> None:
        self._scene = scene
        self._state_of = state_of
        self._since: dict[Replica, _LastChange] = {}
        self._bases: dict[Replica, tuple[object, dict[int, None]]] = {}
        """Base offsets of segments seen in the current process of each broker."""

    def observe(self) -> None:
        """Record since when each replica is unchanged, and where its segments begin."""
        for cluster, broker_id, partition in self._replicas():
            self._update(cluster, broker_id, partition)
            self._record_segments(cluster, broker_id, partition)

    def observe_segments(self, cluster: str, tp: TopicPartition) -> None:
        """Record where the segments of a partition begin now, at each replica."""
        if self._scene.image(cluster).topics.partition(tp) is not None:
            for broker_id, partition in self._scene.clusters[cluster].replicas(tp).items():
                self._record_segments(cluster, broker_id, partition)

    def _record_segments(self, cluster: str, broker_id: int, partition: Partition) -> dict[int, None]:
        process, key = self._scene.clusters[cluster].broker(broker_id), (cluster, broker_id, partition.tp)
        known_bases = self._bases.get(key)
        if known_bases is None or known_bases[0] is not process:
            known_bases = self._bases[key] = process, {}
        known_bases[1].update(dict.fromkeys(partition.log.segment_base_offsets))
        return known_bases[1]

    def observe_end(self) -> None:
        """Record the files and sizes of each replica, and the leftovers in the log directories."""
        disks = self._scene.account.disks
        disks.replicas = [self._replica_files(*row) for row in self._replicas()]
        disks.leftovers = list(self._leftovers())

    def _replicas(self) -> Iterator[tuple[str, int, Partition]]:
        for name, cluster in self._scene.clusters.items():
            for tp in self._scene.partitions(name):
                for broker_id, partition in cluster.replicas(tp).items():
                    yield name, broker_id, partition

    def _update(self, cluster: str, broker_id: int, partition: Partition) -> _LastChange:
        scene, tp, start = self._scene, partition.tp, partition.log.log_start_offset
        process = scene.clusters[cluster].broker(broker_id)
        state_and_configs = self._state_of(cluster, tp), dict(scene.image(cluster).configs.topic(tp.topic))
        key = (cluster, broker_id, tp)
        since = self._since.get(key)
        if since is None or since.process is not process or since.state_and_configs != state_and_configs:
            since = self._since[key] = _LastChange(process, state_and_configs, scene.now, [])
        if not since.starts or since.starts[-1][1] != start:
            since.starts.append((scene.now, start))
        return since

    def _replica_files(self, cluster: str, broker_id: int, partition: Partition) -> ReplicaFiles:
        scene, log, tp = self._scene, partition.log, partition.tp
        found, since = scene.clusters[cluster], self._update(cluster, broker_id, partition)
        of_broker = Configs(Scope.BROKER, found.configs)
        configs = Configs(Scope.TOPIC, dict(scene.image(cluster).configs.topic(tp.topic)), of_broker)
        policies = tuple(configs.names("cleanup.policy"))
        bases = log.store.segments()
        timestamps = [batch.max_timestamp for batch in iter_any_batches(log.store.view(bases[0]))]
        age_ms = to_ms(scene.simulation.world.now) - max(timestamps) if timestamps else -1
        known_bases = self._record_segments(cluster, broker_id, partition)
        below = [
            name for name in log.store.files()
            if (offset := offset_in(name)) is not None and offset < bases[0]
            and (offset in known_bases or not name.endswith(SNAPSHOT_SUFFIX))
        ]  # fmt: skip
        interval = "log.cleaner.backoff.ms" if "compact" in policies else "log.retention.check.interval.ms"
        checks_ms = of_broker.integer("log.initial.task.delay.ms") + of_broker.integer(interval)
        return ReplicaFiles(
            cluster,
            tp,
            broker_id,
            partition.is_leader,
            self._state_of(cluster, tp),
            log.log_start_offset,
            log.log_end_offset,
            sum(batch.size_in_bytes for batch in log.any_batches()),
            tuple((base, log.store.size(base)) for base in bases),
            tuple(below),
            age_ms,
            policies,
            configs.integer("retention.ms"),
            configs.integer("retention.bytes"),
            since.at,
            tuple(since.starts),
            checks_ms * MILLISECOND + SLACK,
            scene.now,
        )

    def _leftovers(self) -> Iterator[tuple[str, int, TopicPartition, str]]:
        for name, cluster in self._scene.clusters.items():
            image = self._scene.image(name)
            for broker_id in cluster.living():
                known_bases: dict[TopicPartition, None] = {}
                for disk in cluster.log_dirs[broker_id]:
                    for tp in disk.partitions():
                        topic, partition = image.topics.get(tp.topic), image.topics.partition(tp)
                        if tp.topic == METADATA_TOPIC:
                            continue
                        if topic is None or partition is None:
                            yield name, broker_id, tp, "the cluster has no such partition"
                        elif broker_id not in partition.replicas:
                            yield name, broker_id, tp, "no replica of it is assigned to this broker"
                        elif disk.open(tp).read_file(PARTITION_METADATA) != encode_partition_metadata(topic.topic_id):
                            yield name, broker_id, tp, "it belongs to another topic of that name"
                        elif tp in known_bases:
                            yield name, broker_id, tp, "it is in two log directories"
                        known_bases[tp] = None
