"""Effects of a group, for its coordinator to carry out: answers, timers, records. Values, never calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

Waiter = Callable[[Message], None]
"""Answers a request that has no answer yet."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer a request that was waiting with `body`."""

    waiter: Waiter
    body: Message


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Call `GroupKind.on_timer` after `delay_ms`; a timer already set for the same is replaced."""

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
    """Persist records of the group, and call `on_written(now_ms, error)` once they are committed or have failed.

    What follows from that are effects of the group again.
    """

    records: Sequence[KeyValue]
    on_written: Callable[[int, ErrorCode], None]


@dataclass(frozen=True, slots=True)
class Forget:
    """Forget the group: it could not be created."""


Effect = Answer | SetTimer | CancelTimer | Write | Forget
