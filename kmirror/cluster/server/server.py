"""The serving half of a node: requests are read, let through or not, handled, and answered in order on each link.

A node that is not ready yet lets requests wait. One whose sender would need a right on the whole cluster is refused
here; rights on what a request names are asked by its handler.
"""

from __future__ import annotations

from collections.abc import Callable

from kmirror.cluster.authorizer import Authorizer, Rights, cluster_refusal
from kmirror.cluster.request_meters import RequestMeters
from kmirror.cluster.server.inbound import Handler, Inbound, Routes
from kmirror.cluster.server.links import Links, ServedLink, Shortcut
from kmirror.cluster.server.unserved import API_VERSIONS, Versions, contains, refuse, served_range
from kmirror.errors import ProtocolError
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Chunk, InboundLink, LinkOpened
from kmirror.kernel.failures import Failures
from kmirror.kernel.outbox import Outbox
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.headers import RequestHead, decode_body, encode_response_chunks, peek_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.protocol.repeated_fetch import LastFetch, last_fetch
from kmirror.protocol.repeated_produce import LastProduce, last_produce
from kmirror.spec.acls import CLUSTER_ACLS_BY_KEY
from kmirror.spec.metrics import METERED


def _kept(frame: Chunk, head: RequestHead, body: Message) -> LastFetch | LastProduce | None:
    """Return what is kept of a request, by which the next one is known if it is the same again."""
    if isinstance(body, FetchRequest):
        return last_fetch(frame, head, body)
    return last_produce(frame, head, body) if isinstance(body, ProduceRequest) else None


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
    ) -> None:
        self._routes: dict[type[Message], Handler] = {}
        self._by_key: dict[int, Handler] = {}
        """The same by API key: the body's class is not known before the frame is decoded."""
        self._versions = versions
        self._disabled_versions = disabled_versions
        self._accepting = False
        self.links = Links(outbox)
        self._authorizer = authorizer
        self.meters = RequestMeters(clock)
        self.failures = failures or Failures(outbox)
        self.outbox = outbox

    @property
    def routes(self) -> Routes:
        """Return the handler of each class of request."""
        return self._routes

    def serve(self, routes: Routes) -> None:
        """Register handlers; a handler for the same request is replaced."""
        self._routes.update(routes)
        self._by_key = {key_of(request): handler for request, handler in self._routes.items()}

    # -- events -------------------------------------------------------------------------------

    def on_opened(self, opened: LinkOpened) -> None:
        """Take up a link that a client or another node has opened."""
        self.links.open(opened, Rights(self._authorizer, opened.principal, opened.address.host))

    def on_closed(self, name: InboundLink) -> None:
        """Forget a closed link and the requests that wait on it."""
        self.links.forget(name)

    def on_frame(self, now: Instant, name: InboundLink, frame: Chunk) -> None:
        """Handle a request, or let it wait; ignore it if this node has closed the link."""
        link = self.links.by_name.get(name)
        if link is None:
            return
        if not link.busy and not link.waiting.requests and self._accepting:
            self._serve(now, link, frame, now)
            return
        link.waiting.put((frame, now), len(frame))
        self._work(now, link)
        self.links.hold(link)

    def accept(self) -> None:
        """Begin to handle requests: the node is ready. Those that wait are handled by `run_ready`."""
        self._accepting = True
        self.links.make_ready()

    def run_ready(self, now: Instant) -> bool:
        """Handle the requests that had to wait and may be handled now; return whether there was one."""
        worked = False
        while self.links.ready:
            link = self.links.ready.popleft()
            if link.is_open:
                worked = True
                self._work(now, link)
        return worked

    def _work(self, now: Instant, link: ServedLink) -> None:
        if link.busy or not link.waiting.requests or not self._accepting:
            return
        frame, arrived = self.links.take(link)
        self._serve(now, link, frame, arrived)

    # -- one request --------------------------------------------------------------------------

    def _serve(self, now: Instant, link: ServedLink, frame: Chunk, arrived: Instant) -> None:
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
                    chunks = encode_response_chunks(served_range(served), 0, correlation_id=head.correlation_id)
                    self.links.answer(link, tuple(chunks))
                    return
                handler = self._unserved(head)
            if again is None:
                body = decode_body(frame, head)
                link.last, link.shortcut = _kept(frame, head, body), None
        except ProtocolError as error:
            self.outbox.note(f"closing {link.client.link.name}: {error}")
            self.links.close(link)
            return
        inbound = Inbound(self.links, link, self.failures, link.rights, head, version, body, frame)
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

    def _is_answered(self, now: Instant, link: ServedLink, shortcut: Shortcut, frame: Chunk) -> bool:
        """Return whether the shortcut has answered the request; else nothing has been done for it."""
        try:
            answer = shortcut(now, frame)
        except Exception as error:
            link.busy = True
            head = peek_request(frame)
            body = decode_body(frame, head)
            inbound = Inbound(self.links, link, self.failures, link.rights, head, head.api_version, body, frame)
            inbound.failed(error)
            return True
        if answer is None:
            return False
        self.links.answer(link, (answer,))
        return True

    def _unserved(self, head: RequestHead) -> Handler:
        """Return the handler of a request that is not served now; raise ProtocolError if it never is."""
        if not contains(self._disabled_versions(), head):
            raise ProtocolError(f"api key {head.api_key} version {head.api_version} is not served here")
        return refuse
