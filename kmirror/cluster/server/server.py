"""The serving half of a node, which takes each request through the stages.

It is read (`protocol/headers.py`, or by what is known of the requests before it on its link), passes the gates
(`gates.py`), and is answered by a shortcut or by its handler. Each answer leaves by `Links.answer`.

A node that is not ready yet lets requests wait.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kmirror.cluster.authorizer import Authorizer, Rights
from kmirror.cluster.request_meters import RequestMeters
from kmirror.cluster.server.gates import GATES, Gate
from kmirror.cluster.server.inbound import Handler, Inbound, Routes, failing
from kmirror.cluster.server.links import Links, OnAnswer, ServedLink
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
from kmirror.spec.metrics import METERED


class Server:
    """Serves the requests that come in; `serve` registers handlers.

    `versions` returns the versions that are served now, `disabled_versions` those whose feature is off now. `answer`
    sends what leaves on a link, or holds it back; without it everything leaves at once.
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
        answer: OnAnswer | None = None,
    ) -> None:
        self._routes: dict[type[Message], Handler] = {}
        self._versions = versions
        self._disabled_versions = disabled_versions
        self._accepting = False
        self.links = Links(outbox, answer or outbox.add)
        self.gates = GATES
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
        """Take a request through the stages."""
        link.busy = True
        # Read it. What is like a request before it is recognised by its bytes, and decoded only if its handler has it.
        like = link.last_produce
        records = None if like is None else like.records(frame)
        handler: Handler
        try:
            if like is None or records is None:
                head, body, handler, gates = self._read(link, frame)
            else:
                head, handler, gates = like.head, self._routes[ProduceRequest], self.gates
        except ProtocolError as error:
            self.outbox.note(f"closing {link.client.link.name}: {error}")
            self.links.close(link)
            return
        # Ask the gates, then the shortcut.
        try:
            for gate in gates:
                stop = gate(now, link, head, len(frame))
                if stop is not None:
                    handler = stop
                    break
            else:
                if records is not None and link.shortcut is not None:
                    answer = link.shortcut(now, frame, records)
                    if answer is not None:
                        self.links.answer(link, (answer,))
                        return
        except Exception as error:
            handler = failing(error)
        # Have it handled.
        if like is not None and records is not None:
            head, body = like.request(frame, records)
        key, version = head.api_key, head.api_version
        inbound = Inbound(self.links, link, self.failures, link.rights, head, version, body, frame)
        if key in METERED:
            inbound.times = self.meters.begin(now, METERED[key], version, len(frame), arrived)
        try:
            handler(now, inbound)
        except Exception as error:
            inbound.failed(error)
        if inbound.times is not None:
            inbound.times.handled()

    def _read(self, link: ServedLink, frame: Chunk) -> tuple[RequestHead, Message, Handler, Sequence[Gate]]:
        """Return a request, its handler and the gates before it; raise ProtocolError if it is not known here."""
        served, last = self._versions(), link.last_fetch
        again = None if last is None or link.served is not served else last.again(frame)
        if again is not None:
            return *again, self._routes[FetchRequest], self.gates
        head, body = decode_served(frame, served)
        handler = None if body is None else self._routes.get(type(body))
        if body is None or handler is None:
            return *read_unserved(frame, head, served, self._disabled_versions()), ()
        link.served, link.shortcut, link.last_produce = served, None, None
        link.last_fetch = last_fetch(frame, head, body) if isinstance(body, FetchRequest) else None
        return head, body, handler, self.gates
