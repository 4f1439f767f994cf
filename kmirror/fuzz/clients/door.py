"""Where do clients come in? A node around a broker, or around a port of the proxy, that breaks answers of sessions."""

from __future__ import annotations

from collections.abc import Callable

from kmirror.cluster.hooks.inside import BROKER
from kmirror.fuzz.asked import Asked
from kmirror.fuzz.clients.session import Session
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import CloseLink, Effect, Event, InboundLink, LinkClosed, Node, Reply, RequestReceived
from kmirror.kernel.wrapping import Wrapper
from kmirror.protocol.headers import find_head


class Door:
    """All ports of a run. `session` says to which session a new link belongs; None leaves its answers whole."""

    def __init__(self) -> None:
        self.session: Callable[[], Session | None] = lambda: None
        self.on_end: Callable[[Session], object] | None = None
        """Told the session of a link that was closed, by either end."""

    def interpose(self, name: str, node: Node) -> Node:
        """Put what breaks answers around a node."""
        return Answering(node, self)


class Answering(Wrapper):
    """A node whose answers to clients are broken as their sessions want it; those to other brokers are not."""

    def __init__(self, inner: Node, door: Door) -> None:
        super().__init__(inner)
        self._door = door
        self._asked = Asked()
        self._sessions: dict[InboundLink, Session | None] = {}

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of `event`, with some answers in them broken."""
        match event:
            case RequestReceived(link, frame):
                head = find_head(frame)
                self._asked.add(link, head)
                if link not in self._sessions:
                    is_broker = head is not None and BROKER.fullmatch(head.client_id or "") is not None
                    self._sessions[link] = None if is_broker else self._door.session()
                session = self._sessions[link]
                if session is not None:
                    session.asked(link)
            case LinkClosed(InboundLink() as link):
                session = self._sessions.get(link)
                if session is not None:
                    session.closed(link)
                self._forget(link)
        return [self._passed(effect) for effect in self.inner.handle(now, event)]

    def _passed(self, effect: Effect) -> Effect:
        match effect:
            case Reply(link, chunks):
                session = self._sessions.get(link)
                head = self._asked.answered(link, chunks[0])
                if session is not None and head is not None:
                    return Reply(link, (session.answer(link, head, b"".join(chunks)),))
            case CloseLink(InboundLink() as link):
                self._forget(link)
        return effect

    def _forget(self, link: InboundLink) -> None:
        self._asked.forget(link)
        session = self._sessions.pop(link, None)
        if session is not None and self._door.on_end is not None:
            self._door.on_end(session)
