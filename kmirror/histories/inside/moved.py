"""`Moved`: the partitions of a broker that have changed since its last look."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.partition import Partition
from kmirror.log.partition_log import PartitionLog
from kmirror.spec.topics import is_internal

INTERNAL_EVERY = 16
"""Number of a broker's events between two looks at internal topics, which may have fifty partitions."""


@dataclass(slots=True)
class _Row:
    """A partition at its last look."""

    partition: Partition
    is_internal: bool
    log: PartitionLog | None = None
    image: PartitionImage | None = None
    pending_isr: tuple[int, ...] | None = None
    high_watermark: int = -1
    log_end: int = -1
    log_start: int = -1


@dataclass(slots=True)
class _Held:
    """The partitions of a broker while it runs."""

    broker: Broker
    image_offset: int = -1
    count: int = -1
    events: int = 0
    rows: list[_Row] = field(default_factory=list)
    internal: list[_Row] = field(default_factory=list)


class Moved:
    """Finds changed partitions; looks share the result, so that each event needs only one pass over the partitions."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, int], _Held] = {}

    def look(self, cluster: str, broker: Broker) -> list[Partition]:
        """Return the changed partitions of a broker that has just handled an event."""
        place = cluster, broker.context.node_id
        held = self._held.get(place)
        if held is None or held.broker is not broker:
            held = self._held[place] = _Held(broker)
        partitions, image_offset = broker.parts.replicas.partitions, broker.context.image.offset
        held.events += 1
        looks_at_internal = not held.events % INTERNAL_EVERY
        if held.count != len(partitions) or held.image_offset != image_offset or looks_at_internal:
            known = {row.partition: row for row in (*held.rows, *held.internal)}
            rows = [known.get(one) or _Row(one, is_internal(one.tp.topic)) for one in partitions.values()]
            held.rows = [row for row in rows if not row.is_internal]
            held.internal = [row for row in rows if row.is_internal]
            held.count, held.image_offset = len(partitions), image_offset
        moved = []
        for row in chain(held.rows, held.internal) if looks_at_internal else held.rows:
            partition = row.partition
            log = partition.log
            end = log.segments.end_offset
            if (
                row.log_end == end
                and row.high_watermark == log.high_watermark
                and row.image is partition.image
                and row.pending_isr is partition.pending_isr
                and row.log_start == log.log_start_offset
                and row.log is log
            ):
                continue
            row.log, row.image, row.pending_isr = log, partition.image, partition.pending_isr
            row.high_watermark, row.log_end, row.log_start = log.high_watermark, end, log.log_start_offset
            moved.append(partition)
        return moved
