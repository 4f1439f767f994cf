"""A wrapper of a node, around a broker or a port of the proxy, that breaks the responses of client sessions."""

from __future__ import annotations

from collections.abc import Callable

from kmirror.fuzz.clients.deliveries import Deliveries
from kmirror.fuzz.clients.delivery_faults import Delivery
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


class ResponseInterceptor:
    """Interception at all ports of a run.

    `get_session` returns the session of a new link, or None to leave the responses on this link unbroken."""

    def __init__(self) -> None:
        self.get_session: Callable[[], Session | None] = lambda: None
        self.on_link_closed: Callable[[Session], object] | None = None
        """Called with the session of a link that was closed by either end."""

    def interpose(self, name: str, node: Node) -> Node:
        """Wrap a node so that its responses are broken."""
        return InterceptedNode(node, self)


class InterceptedNode(Wrapper):
    """A node whose responses to clients are broken as planned by their sessions; responses to other brokers are not."""

    def __init__(self, inner: Node, interceptor: ResponseInterceptor) -> None:
        super().__init__(inner)
        self._interceptor = interceptor
        self._pending = PendingRequests()
        self._deliveries = Deliveries("answering")
        self._sessions: dict[InboundLink, Session | None] = {}

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of `event`, with some responses broken."""
        match event:
            case TimerFired(key) if self._deliveries.has_timer(key):
                return self._report_closed_links(now, self._deliveries.fire(now, key))
            case RequestReceived(link, frame):
                head = try_peek_request(frame)
                self._pending.add(link, head)
                if link not in self._sessions:
                    is_broker = head is not None and BROKER.fullmatch(head.client_id or "") is not None
                    self._sessions[link] = None if is_broker else self._interceptor.get_session()
                session = self._sessions[link]
                if session is not None:
                    session.add_request(link)
            case LinkClosed(InboundLink() as link):
                session = self._sessions.get(link)
                if session is not None:
                    session.add_close(link)
                return [*self._forget_link(link), *self._pass_event(now, event)]
        return self._pass_event(now, event)

    def _pass_event(self, now: Instant, event: Event) -> list[Effect]:
        """Pass an event to the inner node; return its effects, with some responses broken."""
        effects: list[Effect] = []
        for effect in self.inner.handle(now, event):
            match effect:
                case Reply():
                    effects += self._break_reply(now, effect)
                case CloseLink(InboundLink() as link):
                    effects += [effect, *self._forget_link(link)]
                case _:
                    effects.append(effect)
        return self._report_closed_links(now, effects)

    def _break_reply(self, now: Instant, reply: Reply) -> list[Effect]:
        link = reply.link
        session = self._sessions.get(link)
        head = self._pending.take_request(link, reply.chunks[0])
        if session is None:
            return [reply]
        frame = b"".join(reply.chunks)
        if head is None:
            return self._deliveries.send(now, link, Delivery.WHOLE, b"", frame)
        response = session.answer(link, head, frame)
        data, _, delivery = response
        return self._deliveries.send(now, link, delivery, data, data if delivery is Delivery.WHOLE else frame)

    def _report_closed_links(self, now: Instant, effects: list[Effect]) -> list[Effect]:
        """Report to the inner node the links that are closed here, and not by that node."""
        closed = [effect.link for effect in effects if isinstance(effect, CloseLink)]
        for link in closed:
            if isinstance(link, InboundLink) and link in self._sessions:  # The inner node closed the others.
                effects += [*self._forget_link(link), *self._pass_event(now, LinkClosed(link))]
        return effects

    def _forget_link(self, link: InboundLink) -> list[Effect]:
        self._pending.forget(link)
        session = self._sessions.pop(link, None)
        if session is not None and self._interceptor.on_link_closed is not None:
            self._interceptor.on_link_closed(session)
        return self._deliveries.forget(link)
