"""`MirroredPartitionMonitor`: state of mirrored partitions at their leaders, event by event, for the judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.node.partition import Partition
from kmirror.histories.monitors.rules import Monitor
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.cut_rules import Uncut
from kmirror.mirror.lineage import Lineage
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.reopened_transactions import StopPlan
from kmirror.mirror.states import MirrorState


@dataclass(frozen=True, slots=True)
class PartitionSnapshot:
    """A mirrored partition at its leader after an event."""

    cluster: str
    context: MirrorContext
    mp: MirrorPartition
    partition: Partition
    state: MirrorState | None
    uncut: Uncut
    lineage: Lineage
    stop: StopPlan | None
    cut_at: int | None
    busy: bool
    required_cuts: Mapping[int, int]
    caught_up_ms: int
    end: int
    """Log end offset."""

    @property
    def key(self) -> tuple[str, Uuid, int]:
        """Return the partition's identity, which stays when its topic enters another mirror."""
        return self.cluster, self.mp.topic_id, self.mp.tp.partition


Judge = Callable[[PartitionSnapshot, PartitionSnapshot | None], None]
"""Judges the change since the same leader's last event in the same leader epoch, or None at the first one."""


@dataclass(slots=True)
class _Node:
    """A broker while it runs."""

    broker: Broker
    context: MirrorContext
    snapshots: dict[TopicPartition, PartitionSnapshot]


class MirroredPartitionMonitor(Monitor):
    """Passes the mirrored partitions that a broker leads to judges, each when its state has changed."""

    def __init__(self, scene: Scene, judges: list[Judge]) -> None:
        self._scene = scene
        self._judges = judges
        self._nodes: dict[tuple[str, int], _Node] = {}

    def broker_handled(self, cluster: str, broker: Broker) -> None:
        place = cluster, broker.context.node_id
        node = self._nodes.get(place)
        if node is None or node.broker is not broker:
            context = self._scene.mirror_context(*place)
            if context is None:
                return
            node = self._nodes[place] = _Node(broker, context, {})
        snapshots = node.snapshots
        for tp, mp in node.context.partitions.items():
            before = snapshots.get(tp)
            if before is not None:
                if before.mp is not mp:
                    before = None
                elif (
                    before.end == before.partition.log.segments.end_offset
                    and before.state is mp.state
                    and before.uncut is mp.uncut
                    and before.required_cuts is before.partition.required_cuts
                    and before.lineage is mp.lineage
                    and before.cut_at == mp.cut_at
                    and before.busy is mp.is_busy
                    and before.stop is mp.stop
                    and before.caught_up_ms == mp.caught_up_ms
                ):
                    continue
            partition = broker.parts.replicas.partitions.find_led(tp)
            if partition is None or partition.topic_id != mp.topic_id:
                continue
            after = snapshots[tp] = PartitionSnapshot(
                cluster,
                node.context,
                mp,
                partition,
                mp.state,
                mp.uncut,
                mp.lineage,
                mp.stop,
                mp.cut_at,
                mp.is_busy,
                partition.required_cuts,
                mp.caught_up_ms,
                partition.log.segments.end_offset,
            )
            for judge in self._judges:
                judge(after, before)
