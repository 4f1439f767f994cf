"""`MirroringMonitor`: the rules of mirrored partitions, from their cuts to their stops."""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import MetadataImage
from kmirror.cluster.node.partition import Partition
from kmirror.histories.monitors.copies import CopyRules
from kmirror.histories.monitors.cuts import CutRules
from kmirror.histories.monitors.lineages import LineageRules
from kmirror.histories.monitors.mirrored_partitions import MirroredPartitionMonitor
from kmirror.histories.monitors.rules import Monitor, Rules
from kmirror.histories.monitors.sources import Sources
from kmirror.histories.monitors.stops import StopRules
from kmirror.histories.monitors.uncut import UncutRules
from kmirror.histories.scene import Scene
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.facts import LogCut
from kmirror.spec.wire_values import ResourceType


class MirroringMonitor(Monitor):
    """Lets each kind of rules judge the mirrored partitions that have changed."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        sources = Sources(scene)
        self._lineages = LineageRules(scene, rules, sources)
        self._rules = (
            UncutRules(scene, rules),
            CutRules(scene, rules, sources),
            StopRules(scene, rules),
            CopyRules(scene, rules, sources),
            self._lineages,
        )
        self.mirrored = MirroredPartitionMonitor(scene, [one.judge for one in self._rules])

    def on_partitions_changed(self, cluster: str, _: Broker, partitions: Sequence[Partition]) -> None:
        """Record the log starts of a broker's partitions that have changed."""
        self._lineages.record_starts(cluster, partitions)

    def controller_handled(self, cluster: str, before: MetadataImage, after: MetadataImage) -> None:
        deleted = [
            name for kind, name in before.configs if kind == ResourceType.MIRROR and (kind, name) not in after.configs
        ]
        if deleted:
            self._lineages.on_mirrors_deleted(cluster, deleted)

    def on_log_cut(self, cluster: str, leader: Partition, fact: LogCut) -> None:
        """Check a leader that has just cut its log."""
        self._lineages.on_log_cut(cluster, leader, fact)

    def on_topic_deleted(self, cluster: str, topic_id: Uuid) -> None:
        """Forget a topic: one that is created later may have the same id (D49)."""
        for one in self._rules:
            one.forget(cluster, topic_id)
