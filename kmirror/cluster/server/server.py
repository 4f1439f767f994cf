"""Incoming requests: decoded, dispatched, and answered in order on each link.

A link has at most one request in work, as in Kafka: the next one is handled after the answer to the one before has
been written. So a client may pipeline and still match answers by order. A node that is not ready yet lets requests
wait.

A link with too many waiting requests is not read any more until all of them have been handled: what a client sends
meanwhile stays in its own buffers, and costs memory there.

A request of an API or version that the node does not know closes the link, as in Kafka. One that it knows but must not
serve, because its feature is off, is answered with UNSUPPORTED_VERSION (D1). One whose sender would need a right on
the whole cluster is refused here; rights on what a request names are asked by its handler.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, ParamSpec, TypeVar

from kmirror.cluster.authorizer import Authorizer, Rights, cluster_refusal
from kmirror.cluster.refusal import refusal
from kmirror.cluster.request_meters import RequestClock, RequestMeters
from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Chunk, CloseLink, InboundLink, LinkOpened, Reply, ResumeReading, StopReading
from kmirror.kernel.failures import Failures
from kmirror.kernel.link_queue import LinkQueue
from kmirror.kernel.outbox import Outbox
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersion, ApiVersionsResponse
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.headers import (
    RequestHead,
    decode_body,
    decode_response,
    encode_response_chunks,
    encode_response_head,
    peek_request,
)
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.protocol.repeated_fetch import LastFetch, last_fetch
from kmirror.protocol.repeated_produce import LastProduce, last_produce
from kmirror.spec.acls import CLUSTER_ACLS_BY_KEY
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.metrics import METERED
from kmirror.spec.wire_values import Acks

P = ParamSpec("P")
API_VERSIONS = key_of(ApiVersionsRequest)
DISABLED = "Cluster mirroring is disabled (mirror.version=0)."
Versions = Mapping[int, tuple[int, int]]
"""Api key to (first, last) version."""
Shortcut = Callable[[Instant, Chunk], Chunk | None]
"""(now, frame of a request) -> frame of its answer; None, with nothing done, if its handler is to be asked."""


@dataclass(slots=True)
class _Link:
    client: LinkOpened
    rights: Rights
    waiting: LinkQueue[tuple[Chunk, Instant]] = field(default_factory=LinkQueue)
    """Requests, each with the time at which it arrived."""
    busy: bool = False
    is_read: bool = True
    is_open: bool = True
    last: LastFetch | LastProduce | None = None
    """The newest request, if it is one that repeats."""
    shortcut: Shortcut | None = None
    """Answers a request that is like the newest one, where the handler of that has a shorter way for it."""


B_co = TypeVar("B_co", bound=Message, covariant=True)


@dataclass(slots=True)
class Inbound(Generic[B_co]):
    """One request in work, with its body; it must end in exactly one of `reply`, `reply_raw`, `no_reply` and `drop`."""

    server: Server
    link: _Link
    rights: Rights
    """The rights of the principal that sent it."""
    head: RequestHead
    version: int
    body: B_co
    frame: Chunk
    open: bool = True
    has_failed: bool = False
    """Was it answered with an error of this node's own? What is left of its work has nobody to tell then."""
    times: RequestClock | None = None
    """If the request is one of which metrics are told."""

    @property
    def client(self) -> LinkOpened:
        """Return the link of the request, with the principal and the address that opened it."""
        return self.link.client

    def reply(self, body: Message) -> None:
        """Answer with `body`, written in the version of the request."""
        try:
            chunks = encode_response_chunks(body, self.version, correlation_id=self.head.correlation_id)
        except LocalProtocolError as error:
            if self._can_be_written():
                raise
            self.server.outbox.note(f"closing {self.client.link.name}: no answer can name what was asked: {error}")
            self.drop()
            return
        self._answer(tuple(chunks), body)

    def _can_be_written(self) -> bool:
        """Return whether the request can be written: bytes of its texts that are no UTF-8 take three each then."""
        try:
            self.body.encode(self.version)
        except LocalProtocolError:
            return False
        return True

    def reply_encoded(self, body: bytes) -> None:
        """Answer with a body that was encoded before, in the version of the request."""
        head = self.head
        self.reply_raw(encode_response_head(head.api_key, self.version, correlation_id=head.correlation_id), body)

    def reply_raw(self, *chunks: Chunk) -> None:
        """Answer with a whole response frame, in chunks."""
        self._answer(chunks, None)

    def _answer(self, chunks: tuple[Chunk, ...], body: Message | None) -> None:
        """Answer; `body` is what the chunks say, if that is at hand."""
        if self.has_failed:
            return
        assert self.open, f"answered twice: {self.head}"
        self.open = False
        link, server = self.link, self.server
        timed = None
        if self.times is not None:
            told = body or decode_response(b"".join(chunks), self.head.api_key, self.version).body
            timed = self.times.answered(told)
        server.answer(Reply(link.client.link, chunks, timed))
        server.finished(link)

    def no_reply(self) -> None:
        """End a request that gets no answer (acks=0)."""
        if self.has_failed:
            return
        self._finish()
        self.server.finished(self.link)

    def drop(self) -> None:
        """Close the link without an answer: the client has to connect and ask again."""
        if self.has_failed:
            return
        self._finish()
        self.server.close(self.link)

    def fail(self) -> None:
        """Answer UNKNOWN_SERVER_ERROR after an exception, if there is no answer yet; with acks=0 close the link."""
        if not self.open:
            return
        if isinstance(self.body, ProduceRequest) and self.body.acks == Acks.NONE:
            self.drop()
            self.has_failed = True
            return
        error = ErrorCode.UNKNOWN_SERVER_ERROR
        self.reply(refusal(self.body, self.version, error, error.text))
        self.has_failed = True

    def failed(self, error: Exception) -> None:
        """Count and note an exception in the work on this request, and `fail`; call it in the `except` clause."""
        self.server.failures.caught(f"{self.body.NAME} of version {self.version}", error)
        self.fail()

    def guard(self, work: Callable[P, None]) -> Callable[P, None]:
        """Return `work`, for a handler to be called back with, such that an exception in it is this request's own.

        Without it the exception would end in whatever calls back, and the request would stay unanswered.
        """

        def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
            try:
                work(*args, **kwargs)
            except Exception as error:
                self.failed(error)

        return guarded

    def _finish(self) -> None:
        assert self.open, f"answered twice: {self.head}"
        self.open = False


@dataclass(slots=True)
class Gathering:
    """An answer whose rows come in one by one, by callbacks; it goes out with the last one, but not before `end`."""

    inbound: Inbound[Message]
    response: Message
    left: int = 1
    """Rows that are still to come, and one until `end`."""

    def row(self, fill: Callable[P, None]) -> Callable[P, None]:
        """Return `fill`, to be called back with once: it fills in one row, and is guarded by the request."""
        self.left += 1

        def on_row(*args: P.args, **kwargs: P.kwargs) -> None:
            fill(*args, **kwargs)
            self.end()

        return self.inbound.guard(on_row)

    def end(self) -> None:
        """Say that every row was asked for: until then one that comes at once sends nothing."""
        self.left -= 1
        if self.left == 0:
            self.inbound.reply(self.response)


Handler = Callable[[Instant, Inbound[Any]], None]
Routes = Mapping[type[Message], Handler]
"""Class of a request to its handler."""


def contains(versions: Versions, head: RequestHead) -> bool:
    """Return whether `versions` has the API and version of a request."""
    found = versions.get(head.api_key)
    return found is not None and found[0] <= head.api_version <= found[1]


def _kept(frame: Chunk, head: RequestHead, body: Message) -> LastFetch | LastProduce | None:
    """Return what is kept of a request, by which the next one is known if it is the same again."""
    if isinstance(body, FetchRequest):
        return last_fetch(frame, head, body)
    return last_produce(frame, head, body) if isinstance(body, ProduceRequest) else None


def refuse(now: Instant, inbound: Inbound[Message]) -> None:
    """Answer a request whose feature is off; the link stays open (D1)."""
    inbound.reply(disabled(inbound.body, inbound.version))


def disabled(request: Message, version: int) -> Message:
    """Return the answer to a request whose feature is off (D1)."""
    return refusal(request, version, ErrorCode.UNSUPPORTED_VERSION, DISABLED)


class Server:
    """The serving half of a node; `serve` registers handlers.

    `versions` returns the versions that are served now, `disabled_versions` those whose feature is off now.
    """

    def __init__(
        self,
        versions: Callable[[], Versions],
        disabled_versions: Callable[[], Versions],
        outbox: Outbox,
        authorizer: Authorizer,
        *,
        failures: Failures | None = None,
        clock: Callable[[], Instant] | None = None,
        answer: Callable[[Reply | CloseLink], None] | None = None,
    ) -> None:
        self._routes: dict[type[Message], Handler] = {}
        self._by_key: dict[int, Handler] = {}
        """The same by API key: the body's class is not known before the frame is decoded."""
        self._versions = versions
        self._disabled_versions = disabled_versions
        self._accepting = False
        self._links: dict[InboundLink, _Link] = {}
        self.ready: deque[_Link] = deque()
        """Links with requests that may be handled now."""
        self._authorizer = authorizer
        self.meters = RequestMeters(clock)
        self.failures = failures or Failures(outbox)
        self.outbox = outbox
        self.answer = answer or outbox.add
        """Sends an answer, or closes a link in place of one; a node may hold either back."""

    @property
    def routes(self) -> Routes:
        """Return the handler of each class of request."""
        return self._routes

    def serve(self, routes: Routes) -> None:
        """Register handlers; a handler for the same request is replaced."""
        self._routes.update(routes)
        self._by_key = {key_of(request): handler for request, handler in self._routes.items()}

    def on_opened(self, opened: LinkOpened) -> None:
        """Take up a link that a client or another node has opened."""
        rights = Rights(self._authorizer, opened.principal, opened.address.host)
        self._links[opened.link] = _Link(opened, rights)

    def on_frame(self, now: Instant, name: InboundLink, frame: Chunk) -> None:
        """Handle a request, or let it wait; ignore it if this node has closed the link."""
        link = self._links.get(name)
        if link is None:
            return
        if not link.busy and not link.waiting.requests and self._accepting:
            self._serve(now, link, frame, now)
            return
        link.waiting.put((frame, now), len(frame))
        self._work(now, link)
        if link.is_read and link.waiting.is_full:
            link.is_read = False
            self.outbox.add(StopReading(name))

    def accept(self) -> None:
        """Begin to handle requests: the node is ready. Those that wait are handled by `run_ready`."""
        self._accepting = True
        self.ready.extend(self._links.values())

    def on_closed(self, name: InboundLink) -> None:
        """Forget a closed link and the requests that wait on it."""
        link = self._links.pop(name, None)
        if link is not None:
            link.is_open = False

    def close(self, link: _Link) -> None:
        """Close the link; requests that wait on it are not answered."""
        name = link.client.link
        self.on_closed(name)
        self.answer(CloseLink(name))

    def finished(self, link: _Link) -> None:
        """Mark the request in work on this link as answered: the next one may be handled."""
        link.busy = False
        if link.waiting.requests:
            self.ready.append(link)

    def run_ready(self, now: Instant) -> bool:
        """Handle the requests that had to wait and may be handled now; return whether there was one."""
        worked = False
        while self.ready:
            link = self.ready.popleft()
            if link.is_open:
                worked = True
                self._work(now, link)
        return worked

    def _work(self, now: Instant, link: _Link) -> None:
        if link.busy or not link.waiting.requests or not self._accepting:
            return
        frame, arrived = link.waiting.take()
        if not link.is_read and not link.waiting.requests:
            link.is_read = True
            self.outbox.add(ResumeReading(link.client.link))
        self._serve(now, link, frame, arrived)

    def _serve(self, now: Instant, link: _Link, frame: Chunk, arrived: Instant) -> None:
        if link.shortcut is not None and self._is_answered(now, link, link.shortcut, frame):
            return
        link.busy = True
        last = link.last
        again = None if last is None else last.again(frame)
        body: Message
        try:
            if again is None:
                head = peek_request(frame)
            else:
                head, body = again
            key, version = head.api_key, head.api_version
            served, handler = self._versions().get(key), self._by_key.get(key)
            if served is None or handler is None or not served[0] <= version <= served[1]:
                if key == API_VERSIONS and served is not None:
                    self._refuse_api_versions(link, head, served)
                    return
                handler = self._unserved(head)
            if again is None:
                body = decode_body(frame, head)
                link.last, link.shortcut = _kept(frame, head, body), None
        except ProtocolError as error:
            self.outbox.note(f"closing {link.client.link.name}: {error}")
            self.close(link)
            return
        inbound = Inbound(self, link, link.rights, head, version, body, frame)
        if key in METERED:
            inbound.times = self.meters.begin(now, METERED[key], version, len(frame), arrived)
        try:
            denied = None
            if key in CLUSTER_ACLS_BY_KEY and handler is not refuse:
                denied = cluster_refusal(link.rights, body, version)
            if denied is None:
                handler(now, inbound)
            else:
                inbound.reply(denied)
        except Exception as error:
            inbound.failed(error)
        if inbound.times is not None:
            inbound.times.handled()

    def _is_answered(self, now: Instant, link: _Link, shortcut: Shortcut, frame: Chunk) -> bool:
        """Return whether the shortcut has answered the request; else nothing has been done for it."""
        try:
            answer = shortcut(now, frame)
        except Exception as error:
            link.busy = True
            head = peek_request(frame)
            body = decode_body(frame, head)
            Inbound(self, link, link.rights, head, head.api_version, body, frame).failed(error)
            return True
        if answer is None:
            return False
        self.answer(Reply(link.client.link, (answer,)))
        self.finished(link)
        return True

    def _unserved(self, head: RequestHead) -> Handler:
        """Return the handler of a request that is not served now; raise ProtocolError if it never is."""
        if not contains(self._disabled_versions(), head):
            raise ProtocolError(f"api key {head.api_key} version {head.api_version} is not served here")
        return refuse

    def _refuse_api_versions(self, link: _Link, head: RequestHead, served: tuple[int, int]) -> None:
        """Answer an ApiVersions of a version that is not served in version 0, with the served range (KIP-511)."""
        low, high = served
        body = ApiVersionsResponse(
            error_code=ErrorCode.UNSUPPORTED_VERSION,
            api_keys=[ApiVersion(api_key=API_VERSIONS, min_version=low, max_version=high)],
        )
        chunks = encode_response_chunks(body, 0, correlation_id=head.correlation_id)
        self.answer(Reply(link.client.link, tuple(chunks)))
        self.finished(link)
