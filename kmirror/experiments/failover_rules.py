"""Rules about acknowledged records in a run; each function checks one of them at one moment.

A broken rule is returned as a line of text that begins with the rule's name and gives the place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kmirror.kernel.ids import TopicPartition
from kmirror.log.committed import CommittedWalk
from kmirror.log.partition_log import PartitionLog
from kmirror.sim.workload import AckedBatch


@dataclass(frozen=True, slots=True)
class Content:
    """The batches of a load in one log, by their keys."""

    offsets: Mapping[bytes, int]
    """Offsets of all batches in the log, visible or not."""
    read: frozenset[bytes]
    """Keys of the batches that a read_committed consumer gets."""


Contents = Mapping[TopicPartition, Content]


def content(log: PartitionLog) -> Content:
    """Return the content of `log`, which begins at offset 0, that belongs to a load."""
    walk = CommittedWalk()
    data = []
    for batch in log.batches():
        walk.add(batch)
        if not batch.is_control:
            data.append((next(batch.records()).key or b"", batch))
    committed = walk.finish(log.log_end_offset)
    return Content(
        {key: batch.base_offset for key, batch in data},
        frozenset(key for key, batch in data if not committed.hides(batch)),
    )


def missing(acked: Iterable[AckedBatch], contents: Contents) -> list[AckedBatch]:
    """Return the acknowledged batches that a read_committed consumer does not get."""
    return [batch for batch in acked if batch.key not in contents[batch.tp].read]


def transactions(acked: Iterable[AckedBatch]) -> dict[str, list[AckedBatch]]:
    """Return the batches of each committed transaction."""
    found: dict[str, list[AckedBatch]] = {}
    for batch in acked:
        if batch.transaction is not None:
            found.setdefault(batch.transaction, []).append(batch)
    return found


def check_prefix(acked: Sequence[AckedBatch], contents: Contents) -> Iterator[str]:
    """Check that the failover keeps a prefix of each mirrored log: nothing is missing below existing records."""
    for tp, log_content in contents.items():
        acked_batches = [batch for batch in acked if batch.tp == tp and batch.base_offset >= 0]
        missing_offsets = [
            batch.base_offset for batch in acked_batches if log_content.offsets.get(batch.key) != batch.base_offset
        ]
        present_offsets = [
            batch.base_offset for batch in acked_batches if log_content.offsets.get(batch.key) == batch.base_offset
        ]
        if missing_offsets and present_offsets and max(present_offsets) > min(missing_offsets):
            yield f"failover keeps a prefix: {tp} lacks {min(missing_offsets)} and has {max(present_offsets)}"


def check_atomic_per_partition(acked: Iterable[AckedBatch], contents: Contents) -> Iterator[str]:
    """Check that a partition shows all records of a committed transaction or none (D29)."""
    for name, batches in transactions(acked).items():
        for tp in dict.fromkeys(batch.tp for batch in batches):
            batches_here = [batch for batch in batches if batch.tp == tp]
            missing_batches = missing(batches_here, contents)
            if missing_batches and len(missing_batches) < len(batches_here):
                offset = missing_batches[0].base_offset
                yield f"transactions are atomic per partition: {tp} shows {name} without {offset}"


def check_only_committed(uncommitted: Iterable[bytes], contents: Contents) -> Iterator[str]:
    """Check that no record of a transaction is read whose commit was not requested."""
    hidden = frozenset(uncommitted)
    for tp, log_content in contents.items():
        for key in sorted(log_content.read & hidden):
            yield f"reads are committed: {tp} offset {log_content.offsets[key]} is not"


def check_kept(acked: Iterable[AckedBatch], contents: Contents, cluster_name: str) -> Iterator[str]:
    """Check that all records acknowledged in these partitions exist at the end."""
    missing_batches = missing((batch for batch in acked if batch.tp in contents), contents)
    if missing_batches:
        first = missing_batches[0]
        yield f"acknowledged records of b are kept: {first.tp} offset {first.base_offset} is not on {cluster_name}"


def check_no_open_transaction(logs: Iterable[PartitionLog], cluster_name: str) -> Iterator[str]:
    """Check that no transaction is left open in logs without writers."""
    for log in logs:
        if log.last_stable_offset != log.log_end_offset:
            yield f"no open transaction: {cluster_name} {log}"
