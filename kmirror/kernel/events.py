"""Events that reach a node and effects that it requests: values, never calls.

A node is any object with `handle(now, event) -> list[Effect]`. It receives the time, has no clock, and identifies its
peers by endpoint. Frames are whole Kafka frames without their length prefix; the kernel does not interpret them.
Outgoing frames are tuples of chunks, so records are sent from a log to a socket without a copy.

Links: frames arrive in order or not at all, and a broken link is reported once to both ends.
- Outbound: a node has one link per (peer, channel). The first `Send` opens it, unless `OpenLink` did, which opens it
  with TLS. With separate channels a long poll does not delay a heartbeat, like separate sockets in a broker.
- Inbound: the runner names each link that a client opened, and never reuses the name. `LinkOpened` comes before the
  first frame. After a `LinkClosed` or a `CloseLink` there are no more events for that name.
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
"""Bytes that neither the node nor its runner changes any more."""


class OutboundLink(NamedTuple):
    """A link opened by this node."""

    peer: Endpoint
    channel: str


class InboundLink(NamedTuple):
    """A link opened by a client; the runner chooses `name`."""

    name: tuple[Hashable, ...]


Link = OutboundLink | InboundLink


@value
class Started:
    """The process has started; the first event of every node."""


@value
class Stop:
    """Request to end the process: finish all work, then return `Stopped`. Other events may arrive until then."""


@value
class LinkOpened:
    """A client opened a link: the listener, the client's principal and its address."""

    link: InboundLink
    listener: str
    principal: Principal
    address: Endpoint
    """IP address and port of the client."""


@value
class RequestReceived:
    """A frame arrived on a link opened by a client."""

    link: InboundLink
    frame: Chunk


@value
class ResponseReceived:
    """A frame arrived on a link opened by this node."""

    link: OutboundLink
    frame: Chunk


@value
class LinkClosed:
    """A link is closed or could not be opened; requests in flight will get no response."""

    link: Link
    reason: str = ""
    """Cause, as far as the runner knows it, for logs; always empty for links opened by clients."""


@value
class TimerFired:
    key: TimerKey


class DiskJob(Protocol):
    """Work that may take as long as a disk access: it runs concurrently with `handle`, where there are threads.

    It must not touch the node's state while it runs, except where the job's documentation declares it safe.
    """

    def run(self) -> object:
        """Return the result. Raises OSError if the disk fails, KmirrorError if the data is damaged."""
        ...


@value
class DiskDone:
    """A `DiskWork` has ended; with an `error` there is no result, and the work may be partly done."""

    key: Hashable
    result: object
    error: Exception | None = None


Event = Started | Stop | LinkOpened | RequestReceived | ResponseReceived | LinkClosed | TimerFired | DiskDone


@value
class OpenLink:
    """Open an outbound link with TLS; frames follow by `Send`. An open link of the same name is closed first."""

    link: OutboundLink
    tls: TlsSettings


@value
class Send:
    """Write a frame, chunk by chunk, on an outbound link; opens the link if necessary."""

    link: OutboundLink
    chunks: tuple[Chunk, ...]


class RequestTiming(NamedTuple):
    """Times of a request that the node answers."""

    name: str
    """Name of the API."""
    arrived_at: Instant
    began_at: Instant
    """Time at which the node began to process it."""
    local: Duration
    """Processing time in the node before it waited for others or answered."""


@value
class Reply:
    """Write a frame, chunk by chunk, on a link opened by a client; dropped if the link is closed."""

    link: InboundLink
    chunks: tuple[Chunk, ...]
    timing: RequestTiming | None = None
    """Set if the request times are recorded as metrics: the runner adds the time when the response was written."""


@value
class ReplyBytes:
    """Write bytes without a length prefix on a link opened by a client, to test that client.

    A link that can carry only frames, as within a process, is closed instead, and both ends get a `LinkClosed`.
    """

    link: InboundLink
    data: Chunk


@value
class CloseLink:
    """Close a link; data on its way to this node is lost. No `LinkClosed` follows."""

    link: Link


@value
class StopReading:
    """Deliver no frames of this link until `ResumeReading`; new frames are queued in order.

    The runner may also hold back frames for its own reasons, such as a response that is not written yet.
    """

    link: InboundLink


@value
class ResumeReading:
    """Deliver frames of this link again."""

    link: InboundLink


@value
class CountLink:
    """Start counting the traffic of an outbound link that is about to be opened, for metrics (`LinkCounts`)."""

    link: OutboundLink


@value
class DiskWork:
    """Run `job` and return one `DiskDone`; a key must not be reused while its job is running.

    Jobs of one log dir run one after the other, in the order of their requests.
    """

    key: Hashable
    log_dir: str
    job: DiskJob


@value
class Stopped:
    """All work is finished and the node expects no more events: end the process, which closes its links."""


@value
class SetTimer:
    """Fire `key` at `at`; replaces a timer with the same key."""

    key: TimerKey
    at: Instant


@value
class CancelTimer:
    key: TimerKey


@value
class Note:
    """Information for logs and traces; changes nothing.

    `fact` is the same information as a value, for programs that watch a run.
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
    """A deterministic participant: its behaviour depends only on the events it receives."""

    def handle(self, now: Instant, event: Event) -> list[Effect]: ...
