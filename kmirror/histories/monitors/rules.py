"""`Rules`, which records broken rules of nodes, and `Monitor`, the base class of judges."""

from __future__ import annotations

from typing import ClassVar

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import MetadataImage
from kmirror.histories.account import BrokenRule
from kmirror.histories.monitors.table import RULES
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition

NO_PARTITION = TopicPartition("", -1)
"""Used instead of a partition for rules that concern none, or several."""


class Rules:
    """Records broken rules, each once per partition."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def report(self, cluster: str, node: int, tp: TopicPartition, rule: str, text: str) -> None:
        """Record that a node breaks a rule; for coordinators `tp` is the partition of their topic."""
        assert rule in RULES, f"rule {rule} is not in the table"
        key, known = (cluster, tp, rule), self._scene.account.broken_rules
        if key not in known:
            known[key] = BrokenRule(node, text, self._scene.now)
            self._scene.note(f"{cluster}-{node} {tp}: {rule}: {text}")


class Monitor:
    """Judges one subject after events, at the node that handled them, without any effect on the run."""

    EVERY: ClassVar[int] = 1
    """Number of broker events between two calls of `broker_handled`."""

    def broker_handled(self, cluster: str, broker: Broker) -> None:
        """Check a running broker that has just handled an event."""

    def controller_handled(self, cluster: str, before: MetadataImage, after: MetadataImage) -> None:
        """Check the changes of the controller's last event: `before` is not `after`."""
