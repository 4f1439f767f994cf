"""Rules of retention and compaction: due work is done after several checks of its broker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.node.partition import Partition
from kmirror.histories.monitors.rules import Monitor, Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import MILLISECOND, SECOND, Duration, Instant, to_ms
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.states import FOLLOWING_STATES

CHECK_INTERVAL: Duration = SECOND
CHECKS = 3
"""Number of checks after which a segment that is too old must be gone, and a dirty log be cleaned."""
SLACK: Duration = SECOND
CLEANER_SLACK: Duration = 5 * SECOND
"""For runs over dirtier logs, which come first."""


class Due(NamedTuple):
    """Work that a broker must do on a log."""

    offset: int
    """Base offset of the segment, or the first dirty offset; it changes when the work is done."""
    patience: Duration
    text: str


class RetentionMonitor(Monitor):
    """Judges whether old segments are removed, and dirty logs are cleaned."""

    EVERY = 16
    """Checks are CHECK_INTERVAL apart, so most events need none."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._checked_at: dict[tuple[str, int], Instant] = {}
        self._due: dict[Partition, dict[str, tuple[int, Instant]]] = {}
        """Rule to the offset of the due work, and the time since when it is due."""

    def broker_handled(self, cluster: str, broker: Broker) -> None:
        key, now = (cluster, broker.context.node_id), self._scene.now
        if now - self._checked_at.get(key, -CHECK_INTERVAL) >= CHECK_INTERVAL:
            self._checked_at[key] = now
            self._check(cluster, broker, now)

    def _check(self, cluster: str, broker: Broker, now: Instant) -> None:
        broker_id = broker.context.node_id
        now_ms = to_ms(self._scene.local_time(cluster, broker_id))
        context = self._scene.mirror_context(cluster, broker_id)
        for partition in broker.parts.replicas.partitions.values():
            before, self._due[partition] = self._due.get(partition, {}), {}
            for rule, due in _due(broker, context, partition, now_ms):
                offset, since = before.get(rule, (due.offset, now))
                since = since if offset == due.offset else now
                self._due[partition][rule] = due.offset, since
                if now - since > due.patience:
                    self._rules.report(cluster, broker_id, partition.tp, rule, due.text)


def _due(broker: Broker, context: MirrorContext | None, partition: Partition, now_ms: int) -> Iterator[tuple[str, Due]]:
    """Yield the rules with due work in a log, and the work."""
    log, configs, components = partition.log, broker.context.configs, broker.parts.components
    config = log.config
    if len(log.segments) > 1 and is_too_old(partition, now_ms) and not components.has_foreign_epochs(partition):
        base = log.segments[0].base_offset
        checks_ms = CHECKS * configs.integer("log.retention.check.interval.ms")
        patience = (configs.integer("log.initial.task.delay.ms") + checks_ms) * MILLISECOND + SLACK
        text = f"segment {base} is older than {config.retention_ms} ms, but is kept"
        yield "retention-overdue", Due(base, patience, text)
    if configs.flag("log.cleaner.enable") and config.compact and not _may_be_cut_soon(broker, context, partition):
        cleanable_log = log.cleanable(now_ms, is_mirrored=components.has_foreign_epochs(partition))
        if cleanable_log.is_dirty_enough(config.min_cleanable_dirty_ratio):
            patience = CHECKS * configs.integer("log.cleaner.backoff.ms") * MILLISECOND + CLEANER_SLACK
            share = f"{cleanable_log.dirty_ratio:.2f} of its bytes are dirty"
            text = f"the log is not cleaned from offset {cleanable_log.first_dirty_offset} on, although {share}"
            yield "compaction-overdue", Due(cleanable_log.first_dirty_offset, patience, text)


def _may_be_cut_soon(broker: Broker, context: MirrorContext | None, partition: Partition) -> bool:
    """Return whether a leader may be about to cut its log to the cleaner's position (D46)."""
    if not partition.is_leader or not broker.parts.components.has_foreign_epochs(partition):
        return False
    mp = None if context is None else context.partitions.get(partition.tp)
    return mp is None or mp.state not in FOLLOWING_STATES or mp.is_withheld


def is_too_old(partition: Partition, now_ms: int) -> bool:
    """Return whether the oldest segment of a leader's log, not the only one, must be removed because of its age."""
    log = partition.log
    config, oldest = log.config, log.segments[0]
    return (
        partition.is_leader
        and config.delete
        and not config.compact
        and 0 <= config.retention_ms < now_ms - oldest.largest_timestamp
        and log.segments[1].base_offset <= log.high_watermark
    )
