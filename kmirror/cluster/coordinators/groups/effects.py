"""Effects of a group that its coordinator carries out: responses, timers, records. They are values, not calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

Waiter = Callable[[Message], None]
"""Sends the response to a waiting request."""


@dataclass(frozen=True, slots=True)
class Respond:
    """Send `body` as the response to a waiting request."""

    waiter: Waiter
    body: Message


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Call `GroupKind.on_timer` after `delay_ms`; replaces a timer with the same key."""

    timer: Enum
    member_id: str
    """Empty for a timer of the whole group."""
    delay_ms: int


@dataclass(frozen=True, slots=True)
class CancelTimer:
    timer: Enum
    member_id: str


@dataclass(slots=True, eq=False)
class Write:
    """Write records of the group, and call `on_written(now_ms, error)` once they are committed or have failed.

    The call may add further effects to the group.
    """

    records: Sequence[KeyValue]
    on_written: Callable[[int, ErrorCode], None]


@dataclass(frozen=True, slots=True)
class RemoveGroup:
    """Forget the group, which could not be created."""


Effect = Respond | SetTimer | CancelTimer | Write | RemoveGroup
