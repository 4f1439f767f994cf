"""Faults planted into the cleanup of disks: unreachable files stay there.

They are rows of FAULTS in tests/sim/histories/planted.py.
"""

from __future__ import annotations

from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.follower import ReplicaFetchers
from kmirror.cluster.replication.log_retention import LogRetention
from kmirror.log import segment_list
from kmirror.log.disk import MemoryDisk
from tests.sim.histories.planted import Patch, fault


@fault("disk-use", profile="kept_for_seconds_in_short_segments")
def segments_of_mirrors_stay(patch: Patch) -> None:
    """The segments of a mirrored log below its log start are not deleted (D46)."""

    def delete(self: LogRetention, now: int, partitions: list[Partition]) -> None:
        original(self, now, [partition for partition in partitions if not self.is_mirrored(partition)])

    original = patch(LogRetention, "delete_old_segments", delete)


@fault("disk-use", profile="kept_for_seconds_at_the_source")
def snapshots_of_segments_stay(patch: Patch) -> None:
    """The other files of a segment stay when it is deleted."""
    patch(segment_list, "delete_segment_files", lambda store, base_offset: None)


@fault("disk-use", profile="deleted_records_of_followers")
def log_starts_of_leaders_are_ignored(patch: Patch) -> None:
    """A follower does not raise its log start to its leader's."""
    patch(ReplicaFetchers, "_follow_log_start", lambda self, followed, data: None)


@fault("disk-use", profile="kept_for_seconds_after_the_stop")
def retention_ends_with_a_mirror(patch: Patch) -> None:
    """A log that was mirrored once is excluded from its own retention even after the stop (D46)."""
    known: dict[object, None] = {}

    def is_mirrored(self: LogRetention, partition: Partition) -> bool:
        if original(self, partition):
            known[partition] = None
        return partition in known

    original = patch(LogRetention, "is_mirrored", is_mirrored)


@fault("disk-use", profile="deleted_at_the_source")
def deleted_topics_stay_on_disks(patch: Patch) -> None:
    """A broker does not remove the logs of a topic that was deleted."""
    patch(MemoryDisk, "set_aside", lambda self, tp, **_: str(tp))
