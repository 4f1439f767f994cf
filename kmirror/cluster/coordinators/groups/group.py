"""A group of any kind, as its coordinator sees it now: what commits, expiry, deletion and lists of groups ask of it.

Kafka's interface Group. What happens to a group, and when, its kind decides (kinds.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from kmirror.cluster.coordinators.groups.effects import Effect
from kmirror.cluster.coordinators.groups.offsets import OffsetKey, Offsets
from kmirror.protocol.gen.describe_groups_response import DescribedGroup
from kmirror.spec.error_codes import ErrorCode


class Group(ABC):
    """One group."""

    kind: ClassVar[str]
    """The type of group in ListGroups, which is the name of its kind."""
    protocol_type: str | None = None
    """None for the group of a simple consumer, which only keeps offsets here."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.effects: list[Effect] = []
        """What the group wants done, in that order."""

    @property
    @abstractmethod
    def state_name(self) -> str:
        """The state in ListGroups."""

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Whether the group has no members, and waits for none."""

    def described(self) -> DescribedGroup | None:
        """Return the row of DescribeGroups, or None for a kind that has an API of its own for that."""
        return None

    def delete_error(self) -> ErrorCode:
        """Return NON_EMPTY_GROUP if the group has members or is about to, else NONE."""
        return ErrorCode.NONE if self.is_empty else ErrorCode.NON_EMPTY_GROUP

    @abstractmethod
    def commit_error(
        self, member_id: str, group_instance_id: str | None, generation: int, *, in_transaction: bool
    ) -> ErrorCode:
        """Return why a member that says this of itself may not commit offsets now, or NONE."""

    @abstractmethod
    def offset_delete_error(self) -> ErrorCode:
        """Return why no offset of the group may be deleted now, or NONE; `reads` is asked about each topic."""

    @abstractmethod
    def reads(self, topic: str) -> bool:
        """Return whether a member reads `topic`, or may do so."""

    @abstractmethod
    def expired(self, offsets: Offsets, now_ms: int, retention_ms: int) -> list[OffsetKey]:
        """Return the keys of the group's offsets that have expired (KIP-211)."""

    @abstractmethod
    def keep_alive(self, member_id: str) -> None:
        """Take note that a member was heard of; do nothing if it is no member."""

    @abstractmethod
    def end(self, error: ErrorCode) -> None:
        """Let the group end here: requests that wait are answered with `error`, and no timer is left."""
