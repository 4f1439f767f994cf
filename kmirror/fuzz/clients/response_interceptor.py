"""A wrapper of a node, around a broker or a port of the proxy, that breaks the responses of client sessions."""

from __future__ import annotations

from collections.abc import Callable

from kmirror.fuzz.clients.deliveries import Sending
from kmirror.fuzz.clients.delivery_faults import Way
from kmirror.fuzz.clients.session import Session
from kmirror.fuzz.pending_requests import PendingRequests
from kmirror.hooks.node_view import BROKER
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import (
    CloseLink,
    Effect,
    Event,
    InboundLink,
    LinkClosed,
    Node,
    Reply,
    RequestReceived,
    TimerFired,
)
from kmirror.kernel.wrapping import Wrapper
from kmirror.protocol.headers import try_peek_request


class Door:
    """All ports of a run. `session` returns the session of a new link; None leaves its responses unbroken."""

    def __init__(self) -> None:
        self.session: Callable[[], Session | None] = lambda: None
        self.on_end: Callable[[Session], object] | None = None
        """Called with the session of a link that was closed by either end."""

    def interpose(self, name: str, node: Node) -> Node:
        """Wrap a node so that its responses are broken."""
        return Answering(node, self)


class Answering(Wrapper):
    """A node whose responses to clients are broken as their sessions say; those to other brokers are not."""

    def __init__(self, inner: Node, door: Door) -> None:
        super().__init__(inner)
        self._door = door
        self._pending = PendingRequests()
        self._sending = Sending("answering")
        self._sessions: dict[InboundLink, Session | None] = {}

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of `event`, with some responses broken."""
        match event:
            case TimerFired(key) if self._sending.is_mine(key):
                return self._closed(now, self._sending.fire(now, key))
            case RequestReceived(link, frame):
                head = try_peek_request(frame)
                self._pending.add(link, head)
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
                return [*self._forgotten(link), *self._passed(now, event)]
        return self._passed(now, event)

    def _passed(self, now: Instant, event: Event) -> list[Effect]:
        """Pass an event to the inner node; return its effects, with some responses broken."""
        effects: list[Effect] = []
        for effect in self.inner.handle(now, event):
            match effect:
                case Reply():
                    effects += self._answered(now, effect)
                case CloseLink(InboundLink() as link):
                    effects += [effect, *self._forgotten(link)]
                case _:
                    effects.append(effect)
        return self._closed(now, effects)

    def _answered(self, now: Instant, reply: Reply) -> list[Effect]:
        link = reply.link
        session = self._sessions.get(link)
        head = self._pending.take_request_of(link, reply.chunks[0])
        if session is None:
            return [reply]
        frame = b"".join(reply.chunks)
        if head is None:
            return self._sending.send(now, link, Way.WHOLE, b"", frame)
        given = session.answer(link, head, frame)
        return self._sending.send(now, link, given.way, given.data, given.data if given.way is Way.WHOLE else frame)

    def _closed(self, now: Instant, effects: list[Effect]) -> list[Effect]:
        """Report to the inner node the links that are closed here without its request."""
        closed = [effect.link for effect in effects if isinstance(effect, CloseLink)]
        for link in closed:
            if isinstance(link, InboundLink) and link in self._sessions:  # It closed the others.
                effects += [*self._forgotten(link), *self._passed(now, LinkClosed(link))]
        return effects

    def _forgotten(self, link: InboundLink) -> list[Effect]:
        self._pending.forget(link)
        session = self._sessions.pop(link, None)
        if session is not None and self._door.on_end is not None:
            self._door.on_end(session)
        return self._sending.forget(link)
