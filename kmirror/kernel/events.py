"""What reaches a node, and what it asks of the world: values, never calls.

A node is anything with `handle(now, event) -> list[Effect]`. It is told the time, keeps no clock, and
names its peers by endpoint. Frames are whole Kafka frames without their length prefix; the kernel
does not look into them.

Links. A node that sends opens one link for each (peer, channel); frames on a link arrive in order
or not at all, and a link that breaks is reported once to both ends. Channels keep a long poll from
holding up a heartbeat, as separate sockets do in a broker.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol

from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint

TimerKey = tuple[Hashable, ...]
Connection = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Started:
    """The process began; the first event a node sees."""


@dataclass(frozen=True, slots=True)
class RequestReceived:
    """A frame came in on a link that somebody opened to us."""

    connection: Connection
    frame: bytes


@dataclass(frozen=True, slots=True)
class ResponseReceived:
    """A frame came back on a link that we opened."""

    peer: Endpoint
    channel: str
    frame: bytes


@dataclass(frozen=True, slots=True)
class LinkClosed:
    """A link that we opened is gone: whatever was in flight on it will not be answered."""

    peer: Endpoint
    channel: str


@dataclass(frozen=True, slots=True)
class ClientGone:
    """A link that somebody opened to us is gone."""

    connection: Connection


@dataclass(frozen=True, slots=True)
class TimerFired:
    key: TimerKey


Event = Started | RequestReceived | ResponseReceived | LinkClosed | ClientGone | TimerFired


@dataclass(frozen=True, slots=True)
class Send:
    """Write `frame` on our link to `peer`, opening it first if need be."""

    peer: Endpoint
    channel: str
    frame: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """Write `frame` on a link that somebody opened to us; dropped if the link is gone."""

    connection: Connection
    frame: bytes


@dataclass(frozen=True, slots=True)
class CloseLink:
    """Give up our link to `peer`; answers still on the way are lost. No `LinkClosed` follows."""

    peer: Endpoint
    channel: str


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Close a link that somebody opened to us."""

    connection: Connection


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Fire `key` at `at`; a timer already set under the same key is replaced."""

    key: TimerKey
    at: Instant


@dataclass(frozen=True, slots=True)
class CancelTimer:
    key: TimerKey


@dataclass(frozen=True, slots=True)
class Note:
    """Something people and traces want to know; changes nothing.

    `fact` is the same thing as a value, for programs that watch a run.
    """

    text: str
    fact: object = None


Effect = Send | Reply | CloseLink | Disconnect | SetTimer | CancelTimer | Note


class Node(Protocol):
    """A deterministic participant; all that it does follows from the events it was given."""

    def handle(self, now: Instant, event: Event) -> list[Effect]: ...
