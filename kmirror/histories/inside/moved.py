"""`Moved`: the partitions of a broker in which something has changed since it was looked at last."""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import PartitionImage
from kmirror.cluster.replication.partition import Partition
from kmirror.log.partition_log import PartitionLog
from kmirror.spec.topics import is_internal

INTERNAL_EVERY = 16
"""Events of a broker from one look at internal topics to the next: there may be fifty partitions of them."""


@dataclass(slots=True)
class _Row:
    """A partition as it was when it was looked at last."""

    partition: Partition
    log: PartitionLog | None = None
    image: PartitionImage | None = None
    pending_isr: tuple[int, ...] | None = None
    high_watermark: int = -1
    log_end: int = -1
    log_start: int = -1

    def moves(self) -> bool:
        """Return whether something has changed, and remember what there is now."""
        partition, log = self.partition, self.partition.log
        end = log.segments.end_offset
        if (
            self.log_end == end
            and self.high_watermark == log.high_watermark
            and self.image is partition.image
            and self.pending_isr is partition.pending_isr
            and self.log_start == log.log_start_offset
            and self.log is log
        ):
            return False
        self.log, self.image, self.pending_isr = log, partition.image, partition.pending_isr
        self.high_watermark, self.log_end, self.log_start = log.high_watermark, end, log.log_start_offset
        return True


@dataclass(slots=True)
class _Held:
    """The partitions of a broker as long as it runs."""

    broker: Broker
    image_offset: int = -1
    count: int = -1
    events: int = 0
    rows: list[_Row] = field(default_factory=list)
    internal: list[_Row] = field(default_factory=list)


class Moved:
    """Finds what has moved; looks share it, so that partitions are gone over once for all of them."""

    def __init__(self) -> None:
        self.partitions: list[Partition] = []
        """What has moved at the broker that was looked at last."""
        self._held: dict[tuple[str, int], _Held] = {}

    def look(self, cluster: str, broker: Broker) -> None:
        """Find what has moved at a broker that has just handled an event."""
        place = cluster, broker.context.node_id
        held = self._held.get(place)
        if held is None or held.broker is not broker:
            held = self._held[place] = _Held(broker)
        partitions, image_offset = broker.parts.replicas.partitions, broker.context.image.offset
        held.events += 1
        looks_at_internal = not held.events % INTERNAL_EVERY
        if held.count != len(partitions) or held.image_offset != image_offset or looks_at_internal:
            known = {row.partition: row for row in (*held.rows, *held.internal)}
            rows = [known.get(partition) or _Row(partition) for partition in partitions.values()]
            held.rows = [row for row in rows if not is_internal(row.partition.tp.topic)]
            held.internal = [row for row in rows if is_internal(row.partition.tp.topic)]
            held.count, held.image_offset = len(partitions), image_offset
        self.partitions = [row.partition for row in held.rows if row.moves()]
        if looks_at_internal:
            self.partitions += [row.partition for row in held.internal if row.moves()]
