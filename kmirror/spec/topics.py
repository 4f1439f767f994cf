"""Topic names: legal ones, and those of the cluster itself."""

from __future__ import annotations

import re

GROUP_TOPIC = "__consumer_offsets"
TRANSACTION_TOPIC = "__transaction_state"
SHARE_TOPIC = "__share_group_state"
MIRROR_STATE_TOPIC = "__mirror_state"
METADATA_TOPIC = "__cluster_metadata"
REMOTE_LOG_TOPIC = "__remote_log_metadata"

INTERNAL_TOPICS: tuple[str, ...] = (GROUP_TOPIC, TRANSACTION_TOPIC, SHARE_TOPIC, MIRROR_STATE_TOPIC)
"""The topics that Kafka calls internal: clients may not write to them."""
SYSTEM_TOPICS: tuple[str, ...] = (*INTERNAL_TOPICS, METADATA_TOPIC, REMOTE_LOG_TOPIC)
"""Those and the metadata logs, which share a log folder with the topics of users."""

NAME_LENGTH_MAX = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


def is_internal(topic: str) -> bool:
    """Return whether the cluster itself owns `topic`."""
    return topic in INTERNAL_TOPICS


def problem_with_name(name: str) -> str | None:
    """Return in Kafka's words why `name` is not a legal topic name (Topic.validate), or None."""
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    length = len(name) + sum(character > "\uffff" for character in name)  # Java counts halves of surrogate pairs.
    if length > NAME_LENGTH_MAX:
        return f"the length of '{name}' is longer than the max allowed length {NAME_LENGTH_MAX}"
    if not _LEGAL.fullmatch(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def collision_key(name: str) -> str | None:
    """Return a key that is equal for topics that differ in `.` and `_` alone: their metrics would have the same name.

    None for a name that has neither, and so collides with no other.
    """
    return name.replace(".", "_") if "." in name or "_" in name else None
