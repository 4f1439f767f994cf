"""Rules of retention: a segment that is too old goes, once its broker has looked for such several times."""

from __future__ import annotations

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.replication.partition import Partition
from kmirror.kernel.clock import MILLISECOND, SECOND, Duration, Instant, to_ms
from kmirror.sim.history.inside.rules import Look, Rules
from kmirror.sim.history.scene import Scene

LOOKS_EVERY: Duration = SECOND
LOOKS_AT_ONE_IN = 16
"""Events of brokers: most come long before the next look."""
CHECKS = 3
"""Number of retention checks after which a segment that is too old must be gone."""
SLACK: Duration = SECOND


class RetentionLook(Look):
    """Judges whether old segments go."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._events = 0
        self._looked_at: dict[tuple[str, int], Instant] = {}
        self._due: dict[Partition, tuple[int, Instant]] = {}
        """Leaders whose oldest segment is too old, with where it begins, and since when it is."""

    def broker_handled(self, cluster: str, broker: Broker) -> None:
        self._events += 1
        if self._events % LOOKS_AT_ONE_IN:
            return
        key, now = (cluster, broker.context.node_id), self._scene.now
        if now - self._looked_at.get(key, -LOOKS_EVERY) >= LOOKS_EVERY:
            self._looked_at[key] = now
            self._look(cluster, broker, now)

    def _look(self, cluster: str, broker: Broker, now: Instant) -> None:
        broker_id = broker.context.node_id
        now_ms = to_ms(self._scene.local_time(cluster, broker_id))
        configs = broker.context.configs
        interval = configs.integer("log.retention.check.interval.ms") * MILLISECOND
        patience = configs.integer("log.initial.task.delay.ms") * MILLISECOND + CHECKS * interval + SLACK
        for partition in broker.parts.replicas.partitions.values():
            is_due = len(partition.log.segments) > 1 and is_too_old(partition, now_ms)
            if not is_due or broker.parts.components.foreign_epochs(partition):
                self._due.pop(partition, None)
                continue
            base = partition.log.segments[0].base_offset
            known = self._due.get(partition)
            if known is None or known[0] != base:
                self._due[partition] = base, now
            elif now - known[1] > patience:
                text = f"segment {base} is older than {partition.log.config.retention_ms} ms, and stays"
                self._rules.broken(cluster, broker_id, partition.tp, "retention-overdue", text)


def is_too_old(partition: Partition, now_ms: int) -> bool:
    """Return whether the oldest segment of a leader's log, which is not the last one, is to go because of its age."""
    log = partition.log
    config, oldest = log.config, log.segments[0]
    return (
        partition.is_leader
        and config.delete
        and not config.compact
        and 0 <= config.retention_ms < now_ms - oldest.largest_timestamp
        and log.segments[1].base_offset <= log.high_watermark
    )
