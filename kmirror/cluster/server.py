"""Requests coming in: decoded, answered in order on each link, refused politely.

A link has at most one request in work, as in Kafka: the next one is looked at only when the answer
to the one before has been written. So a client may pipeline and still match answers by order. A node
that is not ready yet lets requests wait.

On a link where too much waits nothing more is read, until all that waited has been taken up: what a client sends ahead
then stays in its own buffers, and costs memory there.

What a node does not know costs the client its link, as in Kafka. What it knows but must not serve, because the
feature that it belongs to is off, is answered with UNSUPPORTED_VERSION (D1). What only those may send who may do
something with the cluster as a whole is refused here; everything else is asked by the handlers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kmirror.cluster.authorizer import Authorizer, Rights, cluster_refusal
from kmirror.cluster.refusal import refusal
from kmirror.errors import ProtocolError
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Chunk, CloseLink, InboundLink, LinkOpened, Reply, ResumeReading, StopReading
from kmirror.kernel.failures import Failures
from kmirror.kernel.outbox import Outbox
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersion, ApiVersionsResponse
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.headers import RequestHead, decode_request, encode_response_chunks, peek_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import Acks

API_VERSIONS = key_of(ApiVersionsRequest)
WAITING_MAX = 5
"""Requests that wait on a link before it is read no more.

`max.in.flight.requests.per.connection` of Kafka's producer is 5, so no client that keeps to it is ever held up. Kafka
itself reads one request, then none until it is answered.
"""
WAITING_BYTES_MAX = 1 << 20
"""Bytes that wait on a link before it is read no more: about one batch of the greatest size that a topic takes by
default. One request may be larger, as large as `socket.request.max.bytes` lets it be."""
DISABLED = "Cluster mirroring is disabled (mirror.version=0)."
Versions = Mapping[int, tuple[int, int]]
"""Api key to (first, last) version."""


@dataclass(slots=True)
class Inbound:
    """One request in work; it must end in `reply`, `reply_raw` or `no_reply`, once."""

    server: Server
    client: LinkOpened
    """The link that it came on, who opened that, and from where."""
    rights: Rights
    """What whoever sent it may do."""
    head: RequestHead
    body: Message
    frame: Chunk
    arrived: Instant
    open: bool = True

    @property
    def version(self) -> int:
        return self.head.api_version

    def reply(self, body: Message) -> None:
        """Answer with `body`, written in the version of the request."""
        self.reply_raw(*encode_response_chunks(body, self.head.api_version, correlation_id=self.head.correlation_id))

    def reply_raw(self, *chunks: Chunk) -> None:
        """Answer with a whole response frame, given in parts."""
        self._finish()
        self.server.outbox.add(Reply(self.client.link, chunks))
        self.server.finished(self.client.link)

    def no_reply(self) -> None:
        """End a request that wants no answer (acks=0)."""
        self._finish()
        self.server.finished(self.client.link)

    def drop(self) -> None:
        """Give no answer and close the link: the client must ask again."""
        self._finish()
        self.server.close(self.client.link)

    def fail(self) -> None:
        """Say that this node has a bug, if the request is not answered yet; without a right to an answer, hang up."""
        if not self.open:
            return
        if isinstance(self.body, ProduceRequest) and self.body.acks == Acks.NONE:
            self.drop()
            return
        error = ErrorCode.UNKNOWN_SERVER_ERROR
        self.reply(refusal(self.body, self.version, error, error.text))

    def _finish(self) -> None:
        assert self.open, f"answered twice: {self.head}"
        self.open = False


Handler = Callable[[Instant, Inbound], None]
Routes = Mapping[type[Message], Handler]
"""Class of a request to what answers it."""


def contains(versions: Versions, head: RequestHead) -> bool:
    """Is the request of a version that stands in `versions`?"""
    found = versions.get(head.api_key)
    return found is not None and found[0] <= head.api_version <= found[1]


def refuse(now: Instant, inbound: Inbound) -> None:
    """Answer a request whose feature is off; the link lives on (D1)."""
    inbound.reply(disabled(inbound.body, inbound.version))


def disabled(request: Message, version: int) -> Message:
    """Return the answer to a request whose feature is off (D1)."""
    return refusal(request, version, ErrorCode.UNSUPPORTED_VERSION, DISABLED)


@dataclass(slots=True)
class _Link:
    client: LinkOpened
    rights: Rights
    waiting: deque[Chunk] = field(default_factory=deque)
    waiting_bytes: int = 0
    busy: bool = False
    is_read: bool = True


class Server:
    """The serving half of a node: `serve` says which requests are answered, and by what.

    `versions` tells what is served now, `disabled_versions` what is refused politely now.
    """

    def __init__(
        self,
        versions: Callable[[], Versions],
        disabled_versions: Callable[[], Versions],
        outbox: Outbox,
        authorizer: Authorizer,
        *,
        failures: Failures | None = None,
        accepting: bool = True,
    ) -> None:
        self._routes: dict[type[Message], Handler] = {}
        self._by_key: dict[int, Handler] = {}
        """The same by API key, which is all that a frame tells before it is decoded."""
        self._versions = versions
        self._disabled_versions = disabled_versions
        self._accepting = accepting
        self._links: dict[InboundLink, _Link] = {}
        self._ready: deque[InboundLink] = deque()
        self._authorizer = authorizer
        self._failures = failures or Failures(outbox)
        self.outbox = outbox

    @property
    def routes(self) -> Routes:
        """What answers which request."""
        return self._routes

    def serve(self, routes: Routes) -> None:
        """Have requests answered by these handlers from now on, instead of those that they had."""
        self._routes.update(routes)
        self._by_key = {key_of(request): handler for request, handler in self._routes.items()}

    def on_opened(self, opened: LinkOpened) -> None:
        """Somebody opened a link to this node."""
        rights = Rights(self._authorizer, opened.principal, opened.address.host)
        self._links[opened.link] = _Link(opened, rights)

    def on_frame(self, now: Instant, name: InboundLink, frame: Chunk) -> None:
        """Take up a request, or let it wait; on a link that was closed it is passed over."""
        link = self._links.get(name)
        if link is not None:
            link.waiting.append(frame)
            link.waiting_bytes += len(frame)
            self._work(now, name, link)
            if link.is_read and (len(link.waiting) >= WAITING_MAX or link.waiting_bytes >= WAITING_BYTES_MAX):
                link.is_read = False
                self.outbox.add(StopReading(name))

    def accept(self) -> None:
        """The node is ready: take up what waited for it."""
        self._accepting = True
        self._ready.extend(self._links)

    def on_closed(self, name: InboundLink) -> None:
        """The link is gone, and with it whatever waits on it."""
        self._links.pop(name, None)

    def close(self, name: InboundLink) -> None:
        """Close the link; whatever waits on it is not answered."""
        self._links.pop(name, None)
        self.outbox.add(CloseLink(name))

    def finished(self, name: InboundLink) -> None:
        """The request in work on this link is answered: the next may be taken up."""
        link = self._links.get(name)
        if link is not None:
            link.busy = False
            if link.waiting:
                self._ready.append(name)

    def run_ready(self, now: Instant) -> bool:
        """Take up requests that waited for an answer before them; True if there was one."""
        worked = False
        while self._ready:
            name = self._ready.popleft()
            link = self._links.get(name)
            if link is not None:
                worked = True
                self._work(now, name, link)
        return worked

    def _work(self, now: Instant, name: InboundLink, link: _Link) -> None:
        if link.busy or not link.waiting or not self._accepting:
            return
        frame = link.waiting.popleft()
        link.waiting_bytes -= len(frame)
        link.busy = True
        if not link.is_read and not link.waiting:
            link.is_read = True
            self.outbox.add(ResumeReading(name))
        try:
            head = peek_request(frame)
            versions = self._versions()
            served = versions.get(head.api_key)
            if head.api_key == API_VERSIONS and served and not served[0] <= head.api_version <= served[1]:
                self._refuse_api_versions(name, head)
                return
            handler = self._by_key.get(head.api_key)
            if served is None or handler is None or not served[0] <= head.api_version <= served[1]:
                handler = self._unserved(head)
            body = decode_request(frame).body
        except ProtocolError as error:
            self.outbox.note(f"closing {name.name}: {error}")
            self.close(name)
            return
        inbound = Inbound(self, link.client, link.rights, head, body, frame, now)
        try:
            denied = None if handler is refuse else cluster_refusal(link.rights, body, head.api_version)
            if denied is None:
                handler(now, inbound)
            else:
                inbound.reply(denied)
        except Exception as error:
            self._failures.caught(f"{body.NAME} of version {head.api_version}", error)
            inbound.fail()

    def _unserved(self, head: RequestHead) -> Handler:
        """Return what to do with a request that is not served now; ProtocolError if it never is."""
        if not contains(self._disabled_versions(), head):
            raise ProtocolError(f"api key {head.api_key} version {head.api_version} is not served here")
        return refuse

    def _refuse_api_versions(self, name: InboundLink, head: RequestHead) -> None:
        """KIP-511: an ApiVersions of a version we lack is answered in version 0, with what we have."""
        low, high = self._versions()[API_VERSIONS]
        body = ApiVersionsResponse(
            error_code=ErrorCode.UNSUPPORTED_VERSION,
            api_keys=[ApiVersion(api_key=API_VERSIONS, min_version=low, max_version=high)],
        )
        self.outbox.add(Reply(name, tuple(encode_response_chunks(body, 0, correlation_id=head.correlation_id))))
        self.finished(name)
