"""Comparisons of logs that return the first difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kmirror.assembly.mirrors import Difference
from kmirror.errors import UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.log.compaction_gap import gap
from kmirror.log.compare import compare, parting
from kmirror.log.partition_log import PartitionLog
from kmirror.records.legacy import AnyBatch
from kmirror.sim.cluster import Cluster


@dataclass(slots=True)
class Compared:
    """Amount of data that was equal."""

    partitions: int = 0
    batches: int = 0
    bytes: int = 0


def first_difference(
    tp: TopicPartition, expected: PartitionLog, found: PartitionLog, until: int, compared: Compared | None = None
) -> Difference | None:
    """Compare two logs batch by batch from their log start up to offset `until` (exclusive).

    Batches that differ in a compacted topic are compared by record: cleaners may have removed different records (D46).
    """
    if expected.log_start_offset != found.log_start_offset:
        return Difference(tp, until, "log start offset", expected.log_start_offset, found.log_start_offset)
    difference = _difference(tp, expected, found, (expected.log_start_offset, until), compared)
    if difference is None and compared is not None:
        compared.partitions += 1
    return difference


def _difference(
    tp: TopicPartition,
    expected: PartitionLog,
    found: PartitionLog,
    offsets: tuple[int, int],
    compared: Compared | None = None,
) -> Difference | None:
    """Compare the batches from the one that contains the first of `offsets` to the last that ends below the second."""
    result = compare(_batches_below(expected, *offsets), _batches_below(found, *offsets))
    if compared is not None:
        compared.batches += result.batches
        compared.bytes += result.bytes
    if result.parted is None:
        return None
    if expected.config.compact or found.config.compact:
        first_gap = gap(_batches_below(expected, *offsets), _batches_below(found, *offsets))
        return (
            None
            if first_gap is None
            else Difference(tp, first_gap.offset, "record", first_gap.expected, first_gap.found)
        )
    mismatch = parting(result.parted)
    return Difference(tp, mismatch.offset, mismatch.field, mismatch.expected, mismatch.found)


def _batches_below(log: PartitionLog, start: int, until: int) -> Iterator[AnyBatch]:
    for batch in log.any_batches(start):
        if batch.last_offset >= until:
            return
        yield batch


def replicas_agree(cluster: Cluster, partitions: Iterable[TopicPartition]) -> Difference | None:
    """Compare the replicas on running brokers with their leader, up to the lower of the two high watermarks."""
    for tp in partitions:
        leader = cluster.leader(tp)
        if leader is None:
            return Difference(tp, -1, "leader", "one", "none")
        for broker_id, replica in cluster.replicas(tp).items():
            if broker_id == leader.broker_id:
                continue
            until = min(leader.log.high_watermark, replica.log.high_watermark)
            start = max(leader.log.log_start_offset, replica.log.log_start_offset)
            difference = _difference(tp, leader.log, replica.log, (start, until))
            if difference is not None:
                return difference
    return None


def mirror_agrees(
    source: Cluster, destination: Cluster, partitions: Iterable[TopicPartition]
) -> tuple[Difference | None, Compared]:
    """Compare every replica of the destination with the source's leader, up to the source's last stable offset.

    Raises UsageError if `partitions` is empty: an empty comparison must not count as agreement.
    """
    compared = Compared()
    compared_partitions = list(partitions)
    if not compared_partitions:
        raise UsageError(f"no partition of {source.name} and {destination.name} to compare: name at least one")
    for tp in compared_partitions:
        expected = source.leader(tp)
        found = destination.leader(tp)
        if expected is None or found is None:
            return Difference(tp, -1, "leader", "one", "none"), compared
        until = expected.log.last_stable_offset
        if found.log.log_end_offset != until:
            return Difference(tp, until, "log end offset", until, found.log.log_end_offset), compared
        difference = first_difference(tp, expected.log, found.log, until, compared)
        if difference is not None:
            return difference, compared
    return replicas_agree(destination, compared_partitions), compared
