"""`MirroringLook`: the rules of mirrored partitions, from their cuts to their stops."""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import MetadataImage
from kmirror.cluster.node.partition import Partition
from kmirror.histories.inside.copies import CopyRules
from kmirror.histories.inside.cuts import CutRules
from kmirror.histories.inside.lineages import LineageRules
from kmirror.histories.inside.mirrored import MirroredLook
from kmirror.histories.inside.rules import Look, Rules
from kmirror.histories.inside.sources import Sources
from kmirror.histories.inside.stops import StopRules
from kmirror.histories.inside.uncut import UncutRules
from kmirror.histories.scene import Scene
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.facts import LogCut
from kmirror.spec.wire_values import ResourceType


class MirroringLook(Look):
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
        self.mirrored = MirroredLook(scene, [one.judge for one in self._rules])

    def moved(self, cluster: str, _: Broker, partitions: Sequence[Partition]) -> None:
        """Record the log starts of a broker's partitions that have changed."""
        self._lineages.see_starts(cluster, partitions)

    def controller_handled(self, cluster: str, before: MetadataImage, after: MetadataImage) -> None:
        gone = [
            name for kind, name in before.configs if kind == ResourceType.MIRROR and (kind, name) not in after.configs
        ]
        if gone:
            self._lineages.mirrors_deleted(cluster, gone)

    def log_cut(self, cluster: str, leader: Partition, fact: LogCut) -> None:
        """Check a leader that has just cut its log."""
        self._lineages.log_cut(cluster, leader, fact)

    def topic_deleted(self, cluster: str, topic_id: Uuid) -> None:
        """Forget a topic: one that is created later may have the same id (D49)."""
        for one in self._rules:
            one.forget(cluster, topic_id)
