"""Access to a mirrored partition: whether it may be written, read or compacted, and whose leader epochs its log holds.

All four follow from the topic's assignment and the state that this leader knows.
"""

from __future__ import annotations

from kmirror.cluster.node.partition import Partition
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.states import FOLLOWING_STATES, MirrorState, Wish
from kmirror.spec.error_codes import ErrorCode


def produce_error(context: MirrorContext, tp: TopicPartition) -> ErrorCode | None:
    """Return the error for a Produce request to `tp`, or None if the topic is writable.

    A topic is read-only from the moment its config is set until it is STOPPED (D7). If nothing has been mirrored since
    then, for example into a partition added after a failover, the stop changes nothing in the log: the error is one
    that the client retries.
    """
    assignment = context.assignments.get(tp.topic)
    if assignment is None:
        return None
    if assignment.wish is not Wish.REMOVE:
        return ErrorCode.READ_ONLY_TOPIC
    mp = context.partitions.get(tp)
    if mp is None or mp.state is None or mp.is_withheld:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER  # A new leader does not know the state yet: the client retries (D24).
    if mp.state is MirrorState.STOPPED:
        return None
    return ErrorCode.READ_ONLY_TOPIC if mp.is_touched else ErrorCode.NOT_LEADER_OR_FOLLOWER


def marker_error(context: MirrorContext, tp: TopicPartition) -> ErrorCode | None:
    """Return the error for a transaction marker for `tp`, or None if it may be written.

    The rule is that of produce, with one exception: until a session has cut or fed the log, an open local transaction
    can still be ended. READ_ONLY_TOPIC would make the transaction coordinator drop the marker, so the error is one that
    it retries (D41).
    """
    error, mp = produce_error(context, tp), context.partitions.get(tp)
    if error is ErrorCode.READ_ONLY_TOPIC and (mp is None or mp.state is None or not mp.is_touched):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return error


def withholds_log(context: MirrorContext, partition: Partition) -> bool:
    """Return True until this leader knows whether its own log must be cut; until then it serves no reads (D30)."""
    if partition.tp.topic not in context.assignments:
        return False
    mp = context.partitions.get(partition.tp)
    return mp is None or mp.state is None or mp.is_withheld


def has_foreign_epochs(context: MirrorContext, partition: Partition) -> bool:
    """Return whether the log has the source's leader epochs: until this leader knows that it is STOPPED (D13, D14)."""
    assignment = context.assignments.get(partition.tp.topic)
    if assignment is None:
        return False
    mp = context.partitions.get(partition.tp)
    stopped = mp is not None and mp.state is MirrorState.STOPPED and assignment.wish is Wish.REMOVE
    return not stopped


def may_compact(context: MirrorContext, partition: Partition) -> bool:
    """Return whether the cleaner may work on a mirrored log: only while this leader knows that no cut is due.

    How far the cleaner has come is read from a log when the cut is made, and not earlier (D46, D63).
    """
    if not has_foreign_epochs(context, partition):
        return True
    mp = context.partitions.get(partition.tp)
    return mp is not None and mp.state in FOLLOWING_STATES and not mp.is_withheld
