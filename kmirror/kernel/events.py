"""What reaches a node, and what it asks of the world: values, never calls.

A node is anything with `handle(now, event) -> list[Effect]`. It is told the time, keeps no clock, and
names its peers by endpoint. Frames are whole Kafka frames without their length prefix; the kernel
does not look into them. What is sent comes in chunks, so that records go from a log to a socket without a copy.

Links. Frames on a link arrive in order or not at all, and a link that breaks is reported once to both ends.
- Outbound: a node that sends has one link for each (peer, channel). The first `Send` opens it, unless `OpenLink` did,
  which is how a link is encrypted. Channels keep a long poll from holding up a heartbeat, as separate sockets do in a
  broker.
- Inbound: the runner names each link that a client opened, and never uses the name again. `LinkOpened`
  comes before the first frame. After a `LinkClosed` or a `CloseLink` nothing more is said of that name.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, Protocol

from kmirror.kernel.clock import Duration, Instant
from kmirror.kernel.ids import Endpoint, Principal
from kmirror.kernel.tls import TlsSettings
from kmirror.kernel.values import value

TimerKey = tuple[Hashable, ...]
PREFIX_BYTES = 4
"""Size of the length field before each frame on a socket; nodes see frames without it."""
Chunk = bytes | memoryview
"""Bytes that nobody changes from now on, neither the node nor whoever runs it."""


class OutboundLink(NamedTuple):
    """A link that we open."""

    peer: Endpoint
    channel: str


class InboundLink(NamedTuple):
    """A link that a client opened to us; `name` is the runner's."""

    name: tuple[Hashable, ...]


Link = OutboundLink | InboundLink


@value
class Started:
    """The process began; the first event a node sees."""


@value
class Stop:
    """The process is asked to end: put everything in order, then say `Stopped`. Other events go on until then."""


@value
class LinkOpened:
    """A client opened a link to us: on which of our listeners, as which principal, and from which address."""

    link: InboundLink
    listener: str
    principal: Principal
    address: Endpoint
    """The other end's IP address and port."""


@value
class RequestReceived:
    """A frame came in on a link that a client opened to us."""

    link: InboundLink
    frame: Chunk


@value
class ResponseReceived:
    """A frame came back on a link that we opened."""

    link: OutboundLink
    frame: Chunk


@value
class LinkClosed:
    """A link is gone, or could not be opened: whatever was in flight on it will not be answered."""

    link: Link
    why: str = ""
    """What a runner knows of the cause, for people; always empty for links that clients opened."""


@value
class TimerFired:
    key: TimerKey


class DiskJob(Protocol):
    """What may take as long as a disk takes: it runs beside `handle`, in another thread where there are threads.

    So it touches nothing that the node touches while it runs, but for what the job's own text says to be safe.
    """

    def run(self) -> object:
        """Return what the node asked for. OSError if the disk refuses, KmirrorError if what is there is damaged."""
        ...


@value
class DiskDone:
    """A `DiskWork` came to its end; with an `error` there is no result, and nobody knows how much of it was done."""

    key: Hashable
    result: object
    error: Exception | None = None


Event = Started | Stop | LinkOpened | RequestReceived | ResponseReceived | LinkClosed | TimerFired | DiskDone


@value
class OpenLink:
    """Open a link of ours with TLS; frames follow by `Send`. A link of that name that is open is closed first."""

    link: OutboundLink
    tls: TlsSettings


@value
class Send:
    """Write a frame, one chunk after the other, on a link of ours; open it first if need be."""

    link: OutboundLink
    chunks: tuple[Chunk, ...]


class Timed(NamedTuple):
    """What a node knows of the times of a request that it answers."""

    name: str
    """Of its API."""
    arrived: Instant
    begun: Instant
    """When the node took it up."""
    local: Duration
    """How long the node was at work on it, before it waited for others or answered."""


@value
class Reply:
    """Write a frame, one chunk after the other, on a link that a client opened to us; dropped if the link is gone."""

    link: InboundLink
    chunks: tuple[Chunk, ...]
    timed: Timed | None = None
    """If the times of the request are told in numbers: the runner adds when the answer was written."""


@value
class ReplyBytes:
    """Write bytes as they are, without a size before them, on a link that a client opened to us: to test that client.

    A link that carries frames and no bytes, as one within a process, is closed instead: both ends are told.
    """

    link: InboundLink
    data: Chunk


@value
class CloseLink:
    """Give a link up; what is still on the way to us is lost. No `LinkClosed` follows."""

    link: Link


@value
class StopReading:
    """Hand over no frame of this link until `ResumeReading`; those that come meanwhile wait, in order.

    Whoever runs the node may hold frames back on its own account as well, as while an answer is not written out yet.
    """

    link: InboundLink


@value
class ResumeReading:
    """Hand over frames of this link again."""

    link: InboundLink


@value
class CountLink:
    """Count from now on what goes over a link of ours, which is about to be opened: metrics tell it (`LinkCounts`)."""

    link: OutboundLink


@value
class DiskWork:
    """Run `job` and answer with one `DiskDone`; no key is used again while it is under way.

    Jobs of one log dir run one after the other, in the order in which they were asked for.
    """

    key: Hashable
    log_dir: str
    job: DiskJob


@value
class Stopped:
    """Everything is in order, nothing more may reach the node: let the process end, which closes its links."""


@value
class SetTimer:
    """Fire `key` at `at`; a timer already set under the same key is replaced."""

    key: TimerKey
    at: Instant


@value
class CancelTimer:
    key: TimerKey


@value
class Note:
    """Something people and traces want to know; changes nothing.

    `fact` is the same thing as a value, for programs that watch a run.
    """

    text: str
    fact: object = None


Effect = (
    OpenLink
    | Send
    | Reply
    | ReplyBytes
    | CloseLink
    | StopReading
    | ResumeReading
    | CountLink
    | DiskWork
    | Stopped
    | SetTimer
    | CancelTimer
    | Note
)


class Node(Protocol):
    """A deterministic participant; all that it does follows from the events it was given."""

    def handle(self, now: Instant, event: Event) -> list[Effect]: ...
