"""Warnings for the operator of a mirror about problems that no partition waits for, in DescribeMirrors and ListMirrors.

States that cannot be read or written, as a partition of `__mirror_state` has no leader or too small an ISR (D66); a
source that may elect a leader that lacks records (D67).
"""

from __future__ import annotations

from kmirror.kernel.names import few
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.naming import Assignment
from kmirror.mirror.state_records import StateKey
from kmirror.mirror.states import Wish
from kmirror.mirror.syncs.unclean_source import not_supported, unclean_warning


def unwritable_states_warning(context: MirrorContext, mirror: str) -> str:
    """Return the `__mirror_state` partitions that a mirror needs and that take no writes, with reasons; else empty."""
    image, coordinator = context.broker.image, context.coordinator
    if not coordinator.unwritable(coordinator.shards()):
        return ""  # The topics need not be examined.
    keys = [
        StateKey(mirror, known.topic_id, index)
        for topic in context.topics_of(mirror)
        if (known := image.topics.get(topic)) is not None
        for index in known.partitions
    ]
    found = coordinator.unwritable([coordinator.shard_of_mirror(mirror), *map(coordinator.shard_of, keys)])
    return f"states cannot be read or written: {few(found, 'partitions')}" if found else ""


def warnings_of(context: MirrorContext, mirror: str) -> str:
    """Return all warnings about a mirror that this broker knows; only the coordinator knows those about its source."""
    unclean = context.unclean_topics.get(mirror, ()) if context.coordinates(mirror) else ()
    assignment = Assignment(mirror, Wish.MIRROR)
    unclean = not_supported(context, [name for name in unclean if context.assignments.get(name) == assignment])
    found = [unwritable_states_warning(context, mirror), unclean_warning(unclean) if unclean else ""]
    return "; ".join(text for text in found if text)
