"""Named comparisons of logs: what must be equal, and in words where it is not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import PartitionLog
from kmirror.records.layout import MAGIC_V2
from kmirror.records.legacy import AnyBatch, LegacyBatch
from kmirror.sim.cluster import Cluster

FIELDS = (
    "base_offset", "batch_length", "partition_leader_epoch", "crc", "attributes", "last_offset_delta",
    "base_timestamp", "max_timestamp", "producer_id", "producer_epoch", "base_sequence", "record_count",
)
LEGACY_FIELDS = ("last_offset", "batch_length", "crc", "attributes", "timestamp")


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two logs of a partition differ."""

    tp: TopicPartition
    offset: int
    field: str
    expected: object
    found: object

    def __str__(self) -> str:
        return f"{self.tp} offset {self.offset} field {self.field}: expected {self.expected}, found {self.found}"


@dataclass(slots=True)
class Compared:
    """How much was found equal."""

    partitions: int = 0
    batches: int = 0
    bytes: int = 0


def first_difference(
    tp: TopicPartition, expected: PartitionLog, found: PartitionLog, until: int, compared: Compared | None = None
) -> Difference | None:
    """Compare two logs batch by batch from their log start up to offset `until` (exclusive)."""
    if expected.log_start_offset != found.log_start_offset:
        return Difference(tp, until, "log_start_offset", expected.log_start_offset, found.log_start_offset)
    start = expected.log_start_offset
    pairs = zip_longest(_below(expected, start, until), _below(found, start, until))
    for left, right in pairs:
        if left is None or right is None:
            return _missing(tp, left, right)
        if left.view != right.view:
            return _where(tp, left, right)
        if compared is not None:
            compared.batches += 1
            compared.bytes += left.size_in_bytes
    if compared is not None:
        compared.partitions += 1
    return None


def _below(log: PartitionLog, start: int, until: int) -> Iterable[AnyBatch]:
    for batch in log.any_batches(start):
        if batch.last_offset >= until:
            return
        yield batch


def _missing(tp: TopicPartition, left: AnyBatch | None, right: AnyBatch | None) -> Difference:
    if left is None:
        assert right is not None, "zip_longest ends when both do"
        return Difference(tp, _offset(right), "batch", "none", _offsets(right))
    return Difference(tp, _offset(left), "batch", _offsets(left), "none")


def _offset(batch: AnyBatch) -> int:
    """Return the offset in the header: the first, or the last of a message from before there were batches."""
    return batch.last_offset if isinstance(batch, LegacyBatch) else batch.base_offset


def _offsets(batch: AnyBatch) -> str:
    first, last = _offset(batch), batch.last_offset
    return f"{first}-{last}" if batch.magic >= MAGIC_V2 else str(last)


def _where(tp: TopicPartition, left: AnyBatch, right: AnyBatch) -> Difference:
    fields = ("magic",) if left.magic != right.magic else LEGACY_FIELDS if left.magic < MAGIC_V2 else FIELDS
    for field in fields:
        if getattr(left, field) != getattr(right, field):
            return Difference(tp, _offset(left), field, getattr(left, field), getattr(right, field))
    at = next(i for i, (a, b) in enumerate(zip(left.view, right.view, strict=True)) if a != b)
    return Difference(tp, _offset(left), f"byte {at} of the batch", left.view[at], right.view[at])


def replicas_agree(cluster: Cluster, partitions: Iterable[TopicPartition]) -> Difference | None:
    """Compare every living replica with its leader, up to what both call committed."""
    for tp in partitions:
        leader = cluster.leader(tp)
        if leader is None:
            return Difference(tp, -1, "leader", "one", "none")
        for broker_id, replica in cluster.replicas(tp).items():
            if broker_id == leader.broker_id:
                continue
            until = min(leader.log.high_watermark, replica.log.high_watermark)
            start = max(leader.log.log_start_offset, replica.log.log_start_offset)
            for left, right in zip_longest(
                _below(leader.log, start, until), _below(replica.log, start, until)
            ):
                if left is None or right is None:
                    return _missing(tp, left, right)
                if left.view != right.view:
                    return _where(tp, left, right)
    return None


def mirror_agrees(
    source: Cluster, destination: Cluster, partitions: Iterable[TopicPartition]
) -> tuple[Difference | None, Compared]:
    """Compare every replica of the destination with the source's leader, up to the source's last stable offset."""
    compared = Compared()
    for tp in partitions:
        expected = source.leader(tp)
        found = destination.leader(tp)
        if expected is None or found is None:
            return Difference(tp, -1, "leader", "one", "none"), compared
        until = expected.log.last_stable_offset
        if found.log.log_end_offset != until:
            return Difference(tp, until, "log_end_offset", until, found.log.log_end_offset), compared
        difference = first_difference(tp, expected.log, found.log, until, compared)
        if difference is not None:
            return difference, compared
    return replicas_agree(destination, partitions), compared
