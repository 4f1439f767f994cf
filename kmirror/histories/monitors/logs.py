"""`LogMonitor`: the state of leaders' logs, checked whenever a log has changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.partition import Partition
from kmirror.histories.monitors.log_model import LogModel
from kmirror.histories.monitors.log_rules import LogChecker
from kmirror.histories.monitors.rules import Monitor, Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import to_ms
from kmirror.spec.topics import is_internal

SEARCH_EVERY = 64
"""Number of a broker's events between two searches for the partitions that it leads, if its image stays the same."""
EVENTS_TO_SETTLE = 4
"""Number of events after which a broker's partitions have the images of its new metadata image."""


class LogReader(Protocol):
    """A monitor's method that checks the records of a topic."""

    def __call__(self, cluster: str, leader: Partition, model: LogModel, *, from_start: bool) -> None:
        """Check the batches in `model.new`; with `from_start` the first one is at the log start."""


@dataclass(slots=True)
class _LedLog:
    """A partition that a broker leads, at its last check."""

    partition: Partition
    judge: LogChecker
    image: PartitionImage | None = None
    high_watermark: int = -1
    log_end: int = -1
    log_start: int = -1
    producers: int = 0


@dataclass(slots=True)
class _Led:
    """Partitions that a broker leads."""

    broker: Broker
    image_offset: int
    count: int = 0
    """Number of partitions that it has."""
    led_log: list[_LedLog] = field(default_factory=list)
    events: int = 0
    """Number of events since it has this image."""


class LogMonitor(Monitor):
    """Judges the state of leaders' logs."""

    def __init__(
        self, scene: Scene, rules: Rules, readers: Mapping[str, LogReader], compacted_reader: LogReader
    ) -> None:
        self._scene = scene
        self._rules = rules
        self._readers = readers
        """Readers by topic."""
        self._compacted_reader = compacted_reader
        """Reader for all other compacted topics."""
        self._has_right_clocks = not scene.plan.steps_that("set_clock")
        self._led: dict[tuple[str, int], _Led] = {}

    def broker_handled(self, cluster: str, broker: Broker) -> None:
        context = broker.context
        led = self._led.get((cluster, context.node_id))
        if led is not None and led.broker is broker:
            led.events += 1
        if (
            led is None
            or led.broker is not broker
            or led.image_offset != context.image.offset
            or led.count != len(broker.parts.replicas.partitions)
            or led.events <= EVENTS_TO_SETTLE
            or not led.events % SEARCH_EVERY
        ):
            led = self._find(cluster, broker, led)
        for led_log in led.led_log:
            partition = led_log.partition
            log = partition.log
            if (
                led_log.log_end != log.segments.end_offset
                or led_log.high_watermark != log.high_watermark
                or led_log.image is not partition.image
                or led_log.log_start != log.log_start_offset
                or led_log.producers != len(log.producers.entries)
            ):
                self._check(cluster, context.node_id, led_log)

    def _find(self, cluster: str, broker: Broker, led: _Led | None) -> _Led:
        """Return the partitions that the broker leads now, which may have changed."""
        context, partitions = broker.context, broker.parts.replicas.partitions
        known = (
            {led_log.partition: led_log for led_log in led.led_log} if led is not None and led.broker is broker else {}
        )
        leads = [one for one in partitions.values() if one.image.leader == context.node_id]
        led_log = [known.get(one) or _LedLog(one, self._judge(one)) for one in leads]
        if led is None or led.broker is not broker or led.image_offset != context.image.offset:
            led = self._led[cluster, context.node_id] = _Led(broker, context.image.offset)
        led.count, led.led_log = len(partitions), led_log
        return led

    def _judge(self, partition: Partition) -> LogChecker:
        return LogChecker(partition.log, has_right_clock=self._has_right_clocks)

    def _check(self, cluster: str, broker_id: int, led_log: _LedLog) -> None:
        partition, judge = led_log.partition, led_log.judge
        log, image = partition.log, partition.image
        if image.leader != broker_id:
            self._led[cluster, broker_id].events = SEARCH_EVERY - 1
            return
        begins = led_log.image is None or led_log.image.leader_epoch != image.leader_epoch
        is_other = led_log.image is None or not judge.is_current_for(log)
        if is_other:
            judge = led_log.judge = self._judge(partition)
        if is_other or led_log.log_end != log.segments.end_offset:
            judge.model.read_new_batches()
            reader = self._readers.get(partition.tp.topic)
            if reader is None and log.config.compact and not is_internal(partition.tp.topic):
                reader = self._compacted_reader
            if reader is not None:
                reader(cluster, partition, judge.model, from_start=is_other)
        for rule, text in judge.violations(lambda: self._now_ms(cluster, broker_id), begins=begins or is_other):
            self._rules.report(cluster, broker_id, partition.tp, rule, text)
        led_log.image, led_log.log_start = image, log.log_start_offset
        led_log.high_watermark, led_log.log_end = log.high_watermark, log.segments.end_offset
        led_log.producers = len(log.producers.entries)

    def _now_ms(self, cluster: str, broker_id: int) -> int:
        return to_ms(self._scene.local_time(cluster, broker_id))
