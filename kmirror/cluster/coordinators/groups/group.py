"""Base class of groups: the interface used for commits, expiry, deletion and lists of groups.

It corresponds to Kafka's interface Group. The group's kind handles its requests and timers (kinds.py).
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
    """The group type in ListGroups, which is also the name of its kind."""
    protocol_type: str | None = None
    """None for a simple group, which only stores offsets."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.effects: list[Effect] = []
        """The effects to carry out, in this order."""

    @property
    @abstractmethod
    def state_name(self) -> str:
        """The state in ListGroups."""

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Whether the group has no members and does not wait for any."""

    def describe(self) -> DescribedGroup | None:
        """Return the row of DescribeGroups, or None for a kind that has its own API."""
        return None

    def delete_error(self) -> ErrorCode:
        """Return NON_EMPTY_GROUP if the group has members or waits for some, else NONE."""
        return ErrorCode.NONE if self.is_empty else ErrorCode.NON_EMPTY_GROUP

    @abstractmethod
    def commit_error(
        self, member_id: str, group_instance_id: str | None, generation: int, *, in_transaction: bool
    ) -> ErrorCode:
        """Return the error for a commit with this member id, instance id and generation, or NONE."""

    @abstractmethod
    def offset_delete_error(self) -> ErrorCode:
        """Return the error if no offset of the group may be deleted now, or NONE. Also check `is_subscribed_to`."""

    @abstractmethod
    def is_subscribed_to(self, topic: str) -> bool:
        """Return whether a member reads `topic`, or may do so."""

    @abstractmethod
    def expired_keys(self, offsets: Offsets, now_ms: int, retention_ms: int) -> list[OffsetKey]:
        """Return the keys of the group's offsets that have expired (KIP-211)."""

    @abstractmethod
    def keep_alive(self, member_id: str) -> None:
        """Record that a member is alive; do nothing if it is unknown."""

    @abstractmethod
    def end(self, error: ErrorCode) -> None:
        """End the group on this broker: fail waiting requests with `error`, and cancel all timers."""
