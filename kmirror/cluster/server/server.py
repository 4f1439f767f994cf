"""The server half of a node, which processes each request in stages.

A request is decoded (`protocol/headers.py`, or by comparison with the previous requests on its link), passes the gates
(`gates.py`), and is answered by a shortcut or its handler. Each response is sent by `Links.respond`.

Requests wait until the node is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kmirror.cluster.authorizer import Authorizer, Rights
from kmirror.cluster.request_meters import RequestMeters
from kmirror.cluster.server.gates import GATES, Gate
from kmirror.cluster.server.inbound import Handler, Inbound, Routes, failing_handler
from kmirror.cluster.server.links import Links, OnResponse, ServedLink
from kmirror.cluster.server.unserved import Versions, read_unserved
from kmirror.errors import ProtocolError
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Chunk, InboundLink, LinkOpened
from kmirror.kernel.failures import Failures
from kmirror.kernel.outbox import Outbox
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.headers import RequestHead, decode_served
from kmirror.protocol.message import Message
from kmirror.protocol.repeated_fetch import last_fetch
from kmirror.spec.metrics import METERED_APIS


class Server:
    """Serves incoming requests; `serve` registers handlers.

    `versions` returns the versions that are currently served, `disabled_versions` those whose feature is currently off.
    `on_response` sends or holds back the effects on a link; without it they are sent at once.
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
        on_response: OnResponse | None = None,
    ) -> None:
        self._routes: dict[type[Message], Handler] = {}
        self._versions = versions
        self._disabled_versions = disabled_versions
        self._is_accepting = False
        self.links = Links(outbox, on_response or outbox.add)
        self.gates = GATES
        self._authorizer = authorizer
        self.meters = RequestMeters(clock)
        self.failures = failures or Failures(outbox)
        self.outbox = outbox

    @property
    def routes(self) -> Routes:
        """Return the handler of each request class."""
        return self._routes

    def serve(self, routes: Routes) -> None:
        """Register handlers; an existing handler of the same request is replaced."""
        self._routes.update(routes)

    # -- events -------------------------------------------------------------------------------

    def on_opened(self, opened: LinkOpened) -> None:
        """Register a link that a client or another node has opened."""
        self.links.open(opened, Rights(self._authorizer, opened.principal, opened.address.host))

    def on_closed(self, name: InboundLink) -> None:
        """Forget a closed link and its waiting requests."""
        self.links.remove(name)

    def on_frame(self, now: Instant, name: InboundLink, frame: Chunk) -> None:
        """Handle a request or queue it; ignore it if this node has closed the link."""
        link = self.links.by_name.get(name)
        if link is None:
            return
        if not link.busy and not link.waiting.requests and self._is_accepting:
            self._serve(now, link, frame, now)
            return
        link.waiting.put((frame, now), len(frame))
        self._serve_next(now, link)
        self.links.pause_if_full(link)

    def accept(self) -> None:
        """Start handling requests: the node is ready. Waiting requests are handled by `run_ready`."""
        self._is_accepting = True
        self.links.make_ready()

    def run_ready(self, now: Instant) -> bool:
        """Handle waiting requests that are ready; return whether there was one."""
        has_served = False
        while self.links.ready:
            link = self.links.ready.popleft()
            if link.is_open:
                has_served = True
                self._serve_next(now, link)
        return has_served

    def _serve_next(self, now: Instant, link: ServedLink) -> None:
        if link.busy or not link.waiting.requests or not self._is_accepting:
            return
        frame, arrived_at = self.links.take(link)
        self._serve(now, link, frame, arrived_at)

    # -- one request --------------------------------------------------------------------------

    def _serve(self, now: Instant, link: ServedLink, frame: Chunk, arrived_at: Instant) -> None:
        """Process a request in stages."""
        link.busy = True
        # Decode it. A request that resembles an earlier one is recognized by its bytes, and decoded only for its
        # handler.
        similar = link.last_produce
        records = None if similar is None else similar.records(frame)
        handler: Handler
        try:
            if similar is None or records is None:
                head, body, handler, gates = self._read(link, frame)
            else:
                head, handler, gates = similar.head, self._routes[ProduceRequest], self.gates
        except ProtocolError as error:
            self.outbox.note(f"closing {link.client.link.name}: {error}")
            self.links.close(link)
            return
        # Call the gates, then the shortcut.
        try:
            for gate in gates:
                replacement = gate(now, link, head, len(frame))
                if replacement is not None:
                    handler = replacement
                    break
            else:
                if records is not None and link.shortcut is not None:
                    response = link.shortcut(now, frame, records)
                    if response is not None:
                        self.links.respond(link, (response,))
                        return
        except Exception as error:
            handler = failing_handler(error)
        # Call the handler.
        if similar is not None and records is not None:
            head, body = similar.request(frame, records)
        key, version = head.api_key, head.api_version
        inbound = Inbound(self.links, link, self.failures, link.rights, head, version, body, frame)
        if key in METERED_APIS:
            inbound.clock = self.meters.begin(now, METERED_APIS[key], version, len(frame), arrived_at)
        try:
            handler(now, inbound)
        except Exception as error:
            inbound.on_exception(error)
        if inbound.clock is not None:
            inbound.clock.end_local()

    def _read(self, link: ServedLink, frame: Chunk) -> tuple[RequestHead, Message, Handler, Sequence[Gate]]:
        """Return a request, its handler and its gates; raise ProtocolError for an unknown API or version."""
        served, last = self._versions(), link.last_fetch
        repeated = None if last is None or link.served is not served else last.match(frame)
        if repeated is not None:
            return *repeated, self._routes[FetchRequest], self.gates
        head, body = decode_served(frame, served)
        handler = None if body is None else self._routes.get(type(body))
        if body is None or handler is None:
            return *read_unserved(frame, head, served, self._disabled_versions()), ()
        link.served, link.shortcut, link.last_produce = served, None, None
        link.last_fetch = last_fetch(frame, head, body) if isinstance(body, FetchRequest) else None
        return head, body, handler, self.gates
