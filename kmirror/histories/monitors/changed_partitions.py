"""`ChangedPartitions`: the partitions of a broker that have changed since its last check."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.partition import Partition
from kmirror.log.partition_log import PartitionLog
from kmirror.spec.topics import is_internal

INTERNAL_EVERY = 16
"""Number of a broker's events between two checks of internal topics, which may have fifty partitions."""


@dataclass(slots=True)
class _Row:
    """A partition at its last check."""

    partition: Partition
    is_internal: bool
    log: PartitionLog | None = None
    image: PartitionImage | None = None
    pending_isr: tuple[int, ...] | None = None
    high_watermark: int = -1
    log_end: int = -1
    log_start: int = -1


@dataclass(slots=True)
class _BrokerPartitions:
    """The partitions of a broker while it runs."""

    broker: Broker
    image_offset: int = -1
    count: int = -1
    events: int = 0
    rows: list[_Row] = field(default_factory=list)
    internal: list[_Row] = field(default_factory=list)


class ChangedPartitions:
    """Finds changed partitions, for all monitors, so that each event needs only one pass over the partitions."""

    def __init__(self) -> None:
        self._brokers: dict[tuple[str, int], _BrokerPartitions] = {}

    def check(self, cluster: str, broker: Broker) -> list[Partition]:
        """Return the changed partitions of a broker that has just handled an event."""
        place = cluster, broker.context.node_id
        known_broker = self._brokers.get(place)
        if known_broker is None or known_broker.broker is not broker:
            known_broker = self._brokers[place] = _BrokerPartitions(broker)
        partitions, image_offset = broker.parts.replicas.partitions, broker.context.image.offset
        known_broker.events += 1
        checks_internal = not known_broker.events % INTERNAL_EVERY
        if known_broker.count != len(partitions) or known_broker.image_offset != image_offset or checks_internal:
            known = {row.partition: row for row in (*known_broker.rows, *known_broker.internal)}
            rows = [known.get(one) or _Row(one, is_internal(one.tp.topic)) for one in partitions.values()]
            known_broker.rows = [row for row in rows if not row.is_internal]
            known_broker.internal = [row for row in rows if row.is_internal]
            known_broker.count, known_broker.image_offset = len(partitions), image_offset
        changed = []
        for row in chain(known_broker.rows, known_broker.internal) if checks_internal else known_broker.rows:
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
            changed.append(partition)
        return changed
