"""Check of OffsetCommit requests that the sync of a mirror sends, done when they arrive at the group coordinator (D17).

The sync reads the states before it sends, but its request may arrive after the topic is STOPPED and has consumers that
commit here. So the coordinator reads the states once more. It recognises the sync by its client id, which names the
mirror; for another client with such an id the check can only add errors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kmirror.cluster.component import CommitCheck, OnChecked
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.naming import Assignment
from kmirror.mirror.state_records import PartitionState, StateKey
from kmirror.mirror.states import MirrorState, Wish
from kmirror.spec.error_codes import ErrorCode

_CLIENT_ID = re.compile(r"broker-\d+-sync-mirror-(.+)")


def sync_client_id(broker_id: int, mirror: str) -> str:
    """Return the client id of a broker's requests that sync a mirror, in the form of its fetchers' client ids (D19)."""
    return f"broker-{broker_id}-sync-mirror-{mirror}"


def commit_check_for(context: MirrorContext, client_id: str) -> CommitCheck | None:
    """Return the check for offsets that the sync of a mirror commits; None for every other client."""
    found = _CLIENT_ID.fullmatch(client_id)
    if found is None:
        return None
    mirror = found[1]

    def check(partitions: Sequence[TopicPartition], on_checked: OnChecked) -> None:
        errors: dict[TopicPartition, ErrorCode] = {}

        def on_read(now: Instant, state: PartitionState | None, tp: TopicPartition) -> None:
            errors[tp] = _error(context, mirror, tp, state)
            if len(errors) == len(keys):
                on_checked(now, {tp: error for tp, error in errors.items() if error})

        topics = context.broker.image.topics
        keys = {tp: StateKey(mirror, topics[tp.topic].topic_id, tp.partition) for tp in partitions}
        for tp, key in keys.items():
            context.states.read(key, tp.topic, lambda now, state, tp=tp: on_read(now, state, tp))  # type: ignore[misc]

    return check


def _error(context: MirrorContext, mirror: str, tp: TopicPartition, state: PartitionState | None) -> ErrorCode:
    if state is None:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    is_mirrored = state.state is MirrorState.MIRRORING
    # A removal counts from the moment when it is known here; the state follows later.
    is_wanted = context.assignments.get(tp.topic) == Assignment(mirror, Wish.MIRROR)
    return ErrorCode.NONE if is_mirrored and is_wanted else ErrorCode.TOPIC_NOT_IN_MIRROR
