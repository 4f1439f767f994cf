"""Rule of `__mirror_state` at rest: it has the state of each partition that the leader has (D8, D68)."""

from __future__ import annotations

from kmirror.histories.describing import persisted_states
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.scene import Scene
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.state_records import NO_STATE


class PersistedStateMonitor:
    """Compares the states of leaders with those that coordinators have persisted."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules

    def check_settled(self, cluster: str, broker_id: int) -> None:
        """Check the partitions that a broker leads, when everything has settled."""
        context = self._scene.mirror_context(cluster, broker_id)
        if context is None:
            return
        persisted = dict(persisted_states(self._scene, cluster))
        for mp in context.partitions.values():
            known = persisted.get(mp.key, NO_STATE)
            is_persisted = (known.state, known.lineage) == (mp.state, mp.lineage)
            if is_persisted or context.coordinator.unwritable([context.coordinator.shard_of(mp.key)]):
                continue
            if mp.state is not None and not mp.is_busy and self._leads(cluster, context, mp):
                text = f"the leader has {mp.state.name}, but {known.state.name} is persisted"
                self._rules.report(cluster, broker_id, mp.tp, "state-not-kept", text)

    def _leads(self, cluster: str, context: MirrorContext, mp: MirrorPartition) -> bool:
        """Return whether the broker leads the partition in the controller's leader epoch."""
        partition, image = (
            context.replicas.partitions.find_led(mp.tp),
            self._scene.image(cluster).topics.partition(mp.tp),
        )
        return partition is not None and image is not None and partition.leader_epoch == image.leader_epoch
