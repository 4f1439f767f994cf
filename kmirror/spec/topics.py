"""Topic names: which are legal, which are the cluster's own."""

from __future__ import annotations

import re

GROUP_TOPIC = "__consumer_offsets"
TRANSACTION_TOPIC = "__transaction_state"
SHARE_TOPIC = "__share_group_state"
MIRROR_STATE_TOPIC = "__mirror_state"
METADATA_TOPIC = "__cluster_metadata"
REMOTE_LOG_TOPIC = "__remote_log_metadata"

INTERNAL_TOPICS: tuple[str, ...] = (GROUP_TOPIC, TRANSACTION_TOPIC, SHARE_TOPIC, MIRROR_STATE_TOPIC)
"""What Kafka calls internal: clients may not write to them."""
SYSTEM_TOPICS: tuple[str, ...] = (*INTERNAL_TOPICS, METADATA_TOPIC, REMOTE_LOG_TOPIC)
"""Those and the metadata logs, which share a log folder with the topics of users."""

NAME_LENGTH_MAX = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


def is_internal(topic: str) -> bool:
    """Return whether the cluster itself owns `topic`."""
    return topic in INTERNAL_TOPICS


def problem_with_name(name: str) -> str | None:
    """Say why `name` is not a legal topic name (Kafka's Topic.validate), or None."""
    if not name:
        return "the name is empty"
    if name in (".", ".."):
        return f"the name cannot be {name!r}"
    if len(name) > NAME_LENGTH_MAX:
        return f"the name is longer than {NAME_LENGTH_MAX} characters"
    if not _LEGAL.fullmatch(name):
        return f"the name {name!r} has characters other than ASCII letters, digits, '.', '_' and '-'"
    return None
