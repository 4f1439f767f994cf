"""`Rules` writes down which rules are broken inside nodes; `Look` is what judges one subject."""

from __future__ import annotations

from typing import ClassVar

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import MetadataImage
from kmirror.histories.account import Broken
from kmirror.histories.inside.table import RULES
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition

NO_PARTITION = TopicPartition("", -1)
"""In place of a partition, where a rule concerns none, or more than one."""


class Rules:
    """Records which rules are broken, each once per partition."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def broken(self, cluster: str, node: int, tp: TopicPartition, rule: str, text: str) -> None:
        """Record that a node breaks a rule; for coordinators `tp` is the partition of their topic."""
        assert rule in RULES, f"rule {rule} is not in the table"
        key, known = (cluster, tp, rule), self._scene.account.broken
        if key not in known:
            known[key] = Broken(node, text, self._scene.now)
            self._scene.note(f"{cluster}-{node} {tp}: {rule}: {text}")


class Look:
    """Judges one subject after events, at the node that handled them; it changes nothing, and draws nothing."""

    EVERY: ClassVar[int] = 1
    """Events of brokers from one look at the broker that handled an event to the next."""

    def broker_handled(self, cluster: str, broker: Broker) -> None:
        """Look at a broker that has just handled an event, and runs."""

    def controller_handled(self, cluster: str, before: MetadataImage, after: MetadataImage) -> None:
        """Look at what the controller has changed in its last event: `before` is not `after`."""
