"""`LogLook`: the state of leaders' logs, checked whenever a log has changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.partition import Partition
from kmirror.histories.inside.log_model import LogModel
from kmirror.histories.inside.log_rules import LogJudge
from kmirror.histories.inside.rules import Look, Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import to_ms
from kmirror.spec.topics import is_internal

FOUND_AGAIN_EVERY = 64
"""Number of a broker's events between two searches for the partitions that it leads, if its image stays the same."""
SETTLES_IN = 4
"""Number of events after which a broker's partitions have the images of its new metadata image."""


class LogRead(Protocol):
    """A look at the records of a topic."""

    def __call__(self, cluster: str, leader: Partition, model: LogModel, *, from_start: bool) -> None:
        """Check the batches in `model.new`; with `from_start` the first one is at the log start."""


@dataclass(slots=True)
class _Held:
    """A partition that a broker leads, at its last look."""

    partition: Partition
    judge: LogJudge
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
    held: list[_Held] = field(default_factory=list)
    events: int = 0
    """Number of events since it has this image."""


class LogLook(Look):
    """Judges the state of leaders' logs."""

    def __init__(self, scene: Scene, rules: Rules, readers: Mapping[str, LogRead], compacted: LogRead) -> None:
        self._scene = scene
        self._rules = rules
        self._readers = readers
        """Readers by topic."""
        self._compacted = compacted
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
            or led.events <= SETTLES_IN
            or not led.events % FOUND_AGAIN_EVERY
        ):
            led = self._find(cluster, broker, led)
        for held in led.held:
            partition = held.partition
            log = partition.log
            if (
                held.log_end != log.segments.end_offset
                or held.high_watermark != log.high_watermark
                or held.image is not partition.image
                or held.log_start != log.log_start_offset
                or held.producers != len(log.producers.entries)
            ):
                self._look_at(cluster, context.node_id, held)

    def _find(self, cluster: str, broker: Broker, led: _Led | None) -> _Led:
        """Return the partitions that the broker leads now, which may have changed."""
        context, partitions = broker.context, broker.parts.replicas.partitions
        known = {held.partition: held for held in led.held} if led is not None and led.broker is broker else {}
        leads = [one for one in partitions.values() if one.image.leader == context.node_id]
        held = [known.get(one) or _Held(one, self._judge(one)) for one in leads]
        if led is None or led.broker is not broker or led.image_offset != context.image.offset:
            led = self._led[cluster, context.node_id] = _Led(broker, context.image.offset)
        led.count, led.held = len(partitions), held
        return led

    def _judge(self, partition: Partition) -> LogJudge:
        return LogJudge(partition.log, has_right_clock=self._has_right_clocks)

    def _look_at(self, cluster: str, broker_id: int, held: _Held) -> None:
        partition, judge = held.partition, held.judge
        log, image = partition.log, partition.image
        if image.leader != broker_id:
            self._led[cluster, broker_id].events = FOUND_AGAIN_EVERY - 1
            return
        begins = held.image is None or held.image.leader_epoch != image.leader_epoch
        is_other = held.image is None or not judge.is_of(log)
        if is_other:
            judge = held.judge = self._judge(partition)
        if is_other or held.log_end != log.segments.end_offset:
            judge.model.read_on()
            reader = self._readers.get(partition.tp.topic)
            if reader is None and log.config.compact and not is_internal(partition.tp.topic):
                reader = self._compacted
            if reader is not None:
                reader(cluster, partition, judge.model, from_start=is_other)
        for rule, text in judge.broken_by(lambda: self._now_ms(cluster, broker_id), begins=begins or is_other):
            self._rules.broken(cluster, broker_id, partition.tp, rule, text)
        held.image, held.log_start = image, log.log_start_offset
        held.high_watermark, held.log_end = log.high_watermark, log.segments.end_offset
        held.producers = len(log.producers.entries)

    def _now_ms(self, cluster: str, broker_id: int) -> int:
        return to_ms(self._scene.local_time(cluster, broker_id))
