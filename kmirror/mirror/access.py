"""May a mirrored partition be written to or read now, and whose leader epochs does its log hold?

The answers follow from the assignment of its topic and the state that this leader knows.
"""

from __future__ import annotations

from kmirror.cluster.node.partition import Partition
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.states import FED, MirrorState, Wish
from kmirror.spec.error_codes import ErrorCode


def produce_error(context: MirrorContext, tp: TopicPartition) -> ErrorCode | None:
    """Return the error that a Produce request to `tp` gets, or None if the topic is writable.

    A topic is read-only from the moment its config is set until it is STOPPED (D7). Where nothing was mirrored since
    then, as into a partition that is added after a failover, it will be STOPPED as it is: the client tries again.
    """
    assignment = context.assignments.get(tp.topic)
    if assignment is None:
        return None
    if assignment.wish is not Wish.REMOVE:
        return ErrorCode.READ_ONLY_TOPIC
    mp = context.partitions.get(tp)
    if mp is None or mp.state is None or mp.held:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER  # A new leader does not know yet: the client tries again (D24).
    if mp.state is MirrorState.STOPPED:
        return None
    return ErrorCode.READ_ONLY_TOPIC if mp.is_touched else ErrorCode.NOT_LEADER_OR_FOLLOWER


def marker_error(context: MirrorContext, tp: TopicPartition) -> ErrorCode | None:
    """Return the error that a transaction marker for `tp` gets, or None if it may be written.

    As for produce, with one exception: until a session has cut or fed the log, an open local transaction can still be
    ended. READ_ONLY_TOPIC would make the transaction coordinator forget the marker, so it is asked to retry (D41).
    """
    error, mp = produce_error(context, tp), context.partitions.get(tp)
    if error is ErrorCode.READ_ONLY_TOPIC and (mp is None or mp.state is None or not mp.is_touched):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return error


def withholds(context: MirrorContext, partition: Partition) -> bool:
    """Return True until this leader knows whether its own log must still be cut; nothing is read from it then (D30)."""
    if partition.tp.topic not in context.assignments:
        return False
    mp = context.partitions.get(partition.tp)
    return mp is None or mp.state is None or mp.held


def foreign_epochs(context: MirrorContext, partition: Partition) -> bool:
    """Return whether the log has the source's leader epochs: until this leader knows it is STOPPED (D13, D14)."""
    assignment = context.assignments.get(partition.tp.topic)
    if assignment is None:
        return False
    mp = context.partitions.get(partition.tp)
    stopped = mp is not None and mp.state is MirrorState.STOPPED and assignment.wish is Wish.REMOVE
    return not stopped


def may_compact(context: MirrorContext, partition: Partition) -> bool:
    """Return whether the cleaner may work on a mirrored log: not while a cut is decided on, or before it is known.

    A log that is fed is asked how far its cleaner has come when it is cut, and not before (D46, D63).
    """
    if not foreign_epochs(context, partition):
        return True
    mp = context.partitions.get(partition.tp)
    return mp is not None and mp.state in FED and not mp.held
