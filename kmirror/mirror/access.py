"""What may be done with a partition while its topic is mirrored: who writes, who reads, whose epochs does the log hold?

Everything follows from the assignment of its topic and the state that its leader knows.
"""

from __future__ import annotations

from kmirror.cluster.replication.partition import Partition
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.states import MirrorState, Wish
from kmirror.spec.error_codes import ErrorCode


def produce_error(context: MirrorContext, tp: TopicPartition) -> ErrorCode | None:
    """Read-only from the moment the config is set until STOPPED (D7)."""
    assignment = context.assignments.get(tp.topic)
    if assignment is None:
        return None
    if assignment.wish is not Wish.REMOVE:
        return ErrorCode.READ_ONLY_TOPIC
    mp = context.partitions.get(tp)
    if mp is None or mp.state is None or mp.held:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER  # A new leader does not know yet: the client tries again (D24).
    return None if mp.state is MirrorState.STOPPED else ErrorCode.READ_ONLY_TOPIC


def marker_error(context: MirrorContext, tp: TopicPartition) -> ErrorCode | None:
    """As for produce; but until a session touches the log an open local transaction is still there to be ended.

    READ_ONLY_TOPIC would tell the coordinator that the cut removed it, and the marker would be forgotten (D41).
    """
    error, mp = produce_error(context, tp), context.partitions.get(tp)
    if error is ErrorCode.READ_ONLY_TOPIC and (mp is None or mp.state is None or not mp.is_touched):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return error


def withholds(context: MirrorContext, partition: Partition) -> bool:
    """A new leader may be on the list of those that owe a cut; until it knows, nobody reads from it (D30)."""
    if partition.tp.topic not in context.assignments:
        return False
    mp = context.partitions.get(partition.tp)
    return mp is None or mp.state is None or mp.held


def foreign_epochs(context: MirrorContext, partition: Partition) -> bool:
    """Does the log carry leader epochs of the source? Until it is STOPPED, as far as this leader knows (D13, D14)."""
    assignment = context.assignments.get(partition.tp.topic)
    if assignment is None:
        return False
    mp = context.partitions.get(partition.tp)
    stopped = mp is not None and mp.state is MirrorState.STOPPED and assignment.wish is Wish.REMOVE
    return not stopped
