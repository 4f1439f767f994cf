"""Events of replication at which a trap springs, one row of REPLICATION_EVENTS each.

Each row measures a topic or a cluster after every event of the simulation while a trap waits for it. The trap springs
for the first partition whose measure changed in the way that the row defines. Nodes are not affected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.coordinators.runtime import CoordinatorRuntime
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.coordinators.transactions.state import PREPARING
from kmirror.cluster.images import NO_LEADER, PartitionImage
from kmirror.cluster.metadata.snapshots import snapshot_ids
from kmirror.cluster.node.partition import Partition
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.partition import MirrorPartition
from kmirror.spec.topics import METADATA_TOPIC

Measures = Mapping[TopicPartition, Any]
Measure = Callable[[Scene, str, str], Measures]
"""Returns the measure of each partition of a topic in a cluster."""
Change = Callable[[Any, Any], bool]
"""Returns whether a measure changed in the expected way."""


@dataclass(frozen=True, slots=True)
class ReplicationEvent:
    """An event of replication that a trap can wait for."""

    name: str
    doc: str
    measure: Measure
    happened: Change


# -- measures ---------------------------------------------------------------------------------


def _measure_images(get_value: Callable[[PartitionImage], Any]) -> Measure:
    """Measure the partitions in the controller's image."""

    def measure(scene: Scene, cluster: str, topic: str) -> Measures:
        found = scene.image(cluster).topics.get(topic)
        if found is None:
            return {}
        return {TopicPartition(topic, index): get_value(image) for index, image in found.partitions.items()}

    return measure


def _measure_leaders(get_value: Callable[[Partition], Any]) -> Measure:
    """Measure the partitions at their leaders; one without a leader has no measure."""

    def measure(scene: Scene, cluster: str, topic: str) -> Measures:
        found = scene.image(cluster).topics.get(topic)
        led = [] if found is None else [scene.leader(cluster, TopicPartition(topic, n)) for n in found.partitions]
        return {partition.tp: get_value(partition) for partition in led if partition is not None}

    return measure


def _measure_mirrors(get_value: Callable[[MirrorPartition], Any], *, loaded: bool = False) -> Measure:
    """Measure the mirrored partitions at their leaders, with `loaded` only those whose state has been read."""

    def measure(scene: Scene, cluster: str, topic: str) -> Measures:
        nodes = scene.clusters[cluster]
        return {
            tp: get_value(mp)
            for broker_id in nodes.living()
            if (context := scene.mirror_context(cluster, broker_id)) is not None
            for tp, mp in context.partitions.items()
            if tp.topic == topic and not (loaded and mp.state is None)
        }

    return measure


def _log_ends(scene: Scene, cluster: str, topic: str) -> Measures:
    """Measure the log end of each follower; here the topic's name includes the broker's id."""
    nodes = scene.clusters[cluster]
    return {
        TopicPartition(f"{topic}@{broker_id}", tp.partition): partition.log.log_end_offset
        for broker_id in nodes.living()
        for tp, partition in nodes.broker(broker_id).parts.replicas.partitions.items()
        if tp.topic == topic and not partition.is_leader
    }


def _snapshots(scene: Scene, cluster: str, topic: str) -> Measures:
    disk = scene.clusters[cluster].log_dirs[CONTROLLER_ID][0]
    log = TopicPartition(METADATA_TOPIC, 0)
    ids = snapshot_ids(disk.open(log)) if disk.is_open(log) else []
    return {TopicPartition(topic, 0): ids[-1].end_offset if ids else 0}


def _prepared(scene: Scene, cluster: str, topic: str) -> Measures:
    nodes = scene.clusters[cluster]
    count = sum(
        transaction.status in PREPARING
        for broker_id in nodes.living()
        for shard in nodes.broker(broker_id).parts.components.get(TransactionCoordinator).runtime.states().values()
        for transaction in shard.all_committed().values()
    )
    return {TopicPartition(topic, 0): count}


def _measure_coordinators(count: Callable[[CoordinatorRuntime[Any]], int]) -> Measure:
    """Measure the coordinators of groups, transactions and mirrors of all brokers together."""

    def measure(scene: Scene, cluster: str, topic: str) -> Measures:
        nodes, total = scene.clusters[cluster], 0
        for broker_id in nodes.living():
            parts = nodes.broker(broker_id).parts
            transactions = parts.components.get(TransactionCoordinator)
            total += count(transactions.runtime) + count(parts.components.get(GroupCoordinator).runtime)
            context = scene.mirror_context(cluster, broker_id)
            total += 0 if context is None else count(context.coordinator.runtime)
        return {TopicPartition(topic, 0): total}

    return measure


# -- changes ----------------------------------------------------------------------------------


def _rises(before: Any, after: Any) -> bool:
    return bool(after > before)


def _falls(before: Any, after: Any) -> bool:
    return bool(after < before)


def _differs(before: Any, after: Any) -> bool:
    return bool(before != after)


ROWS: tuple[ReplicationEvent, ...] = (
    ReplicationEvent(
        "ISR_SHRINKS", "The controller removes a replica from the ISR.", _measure_images(lambda p: len(p.isr)), _falls,
    ),
    ReplicationEvent(
        "ISR_GROWS", "The controller adds a replica to the ISR.", _measure_images(lambda p: len(p.isr)), _rises,
    ),
    ReplicationEvent(
        "ELECTED", "The controller assigns a new leader epoch.", _measure_images(lambda p: p.leader_epoch), _rises,
    ),
    ReplicationEvent(
        "LEADERLESS", "A partition loses its leader, and no other replica may lead.",
        _measure_images(lambda p: p.leader == NO_LEADER), _rises,
    ),
    ReplicationEvent(
        "EPOCH_COMMITTED", "A leader's high watermark passes the start of its epoch.",
        _measure_leaders(lambda p: p.leader_epoch - p.is_below_epoch_start), _rises,
    ),
    ReplicationEvent(
        "PROPOSED", "A leader requests a change of the ISR: an AlterPartition request is in flight.",
        _measure_leaders(lambda p: p.pending_isr is not None), _rises,
    ),
    ReplicationEvent(
        "ROLLED", "A leader's log rolls to a new segment.",
        _measure_leaders(lambda p: p.log.segment_base_offsets[-1]), _rises,
    ),
    ReplicationEvent("FOLLOWER_CUT", "A follower cuts its log.", _log_ends, _falls),
    ReplicationEvent(
        "BUMPING", "A mirror's leader requests a higher leader epoch: a BumpLeaderEpochs request is in flight.",
        _measure_mirrors(lambda mp: mp.bump_requested), _rises,
    ),
    ReplicationEvent(
        "LISTED", "The list of replicas that have not made a cut is persisted (D30).",
        _measure_mirrors(lambda mp: tuple(mp.uncut.items()), loaded=True), _differs,
    ),
    ReplicationEvent(
        "LINEAGE", "The lineage of a log, the clusters that wrote it, is persisted (D45).",
        _measure_mirrors(lambda mp: mp.lineage, loaded=True), _differs,
    ),
    ReplicationEvent(
        "LOAD_BEGINS", "A new leader begins to read a mirrored partition's state.",
        _measure_mirrors(lambda mp: mp.state is None), _rises,
    ),
    ReplicationEvent(
        "LOAD_ENDS", "A new leader has read a mirrored partition's state.",
        _measure_mirrors(lambda mp: mp.state is None), _falls,
    ),
    ReplicationEvent(
        "COORDINATOR_LOADS", "A broker becomes the coordinator of some groups, transactions or mirrors.",
        _measure_coordinators(lambda runtime: len(runtime.led_states())), _rises,
    ),
    ReplicationEvent(
        "COORDINATOR_LOADED", "A coordinator has loaded some groups, transactions or mirrors.",
        _measure_coordinators(lambda runtime: len(runtime.states())), _rises,
    ),
    ReplicationEvent("PREPARED", "A transaction enters PrepareCommit or PrepareAbort.", _prepared, _rises),
    ReplicationEvent("SNAPSHOT", "The controller writes a snapshot of the metadata log.", _snapshots, _rises),
)  # fmt: skip
REPLICATION_EVENTS: dict[str, ReplicationEvent] = {row.name: row for row in ROWS}


@dataclass(slots=True)
class EventWatch:
    """Last measure for one trap."""

    event: ReplicationEvent
    cluster: str
    topic: str
    last: Measures

    @classmethod
    def begin(cls, scene: Scene, name: str, cluster: str, topic: str) -> EventWatch:
        """Return a watch for changes from now on."""
        event = REPLICATION_EVENTS[name]
        return cls(event, cluster, topic, event.measure(scene, cluster, topic))

    def check(self, scene: Scene) -> TopicPartition | None:
        """Return the partition for which the event has happened since the last call, or None.

        A partition that has no measure for a while, such as one without a leader, keeps its last one.
        """
        before, found = self.last, self.event.measure(scene, self.cluster, self.topic)
        self.last = {**before, **found}
        for tp, after in found.items():
            if tp in before and self.event.happened(before[tp], after):
                return TopicPartition(self.topic, tp.partition)
        return None
