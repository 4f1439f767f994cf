"""Effects of a group, for its coordinator to carry out: answers, timers, records. Values, never calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from kmirror.protocol.gen.group_metadata_value import GroupMetadataValue
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

Waiter = Callable[[Message], None]
"""Answers a request that has no answer yet."""


class Timer(Enum):
    """What a group waits for; only SESSION is one for each member."""

    SESSION = "session"
    JOIN = "join"
    SYNC = "sync"


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer a request that was waiting with `body`."""

    waiter: Waiter
    body: Message


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Call `on_timer` after `delay_ms`; a timer already set for the same is replaced."""

    timer: Timer
    member_id: str
    """Empty but for SESSION."""
    delay_ms: int


@dataclass(frozen=True, slots=True)
class CancelTimer:
    timer: Timer
    member_id: str


@dataclass(slots=True, eq=False)
class Write:
    """Persist the group's metadata, and call `on_written(now_ms, error)` once it is committed or has failed.

    What follows from that are effects of the group again.
    """

    value: GroupMetadataValue
    on_written: Callable[[int, ErrorCode], None]


@dataclass(frozen=True, slots=True)
class Forget:
    """Forget the group: it could not be created."""


Effect = Answer | SetTimer | CancelTimer | Write | Forget
