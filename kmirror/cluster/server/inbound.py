"""One request in work, as its handler has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.refusal import refusal
from kmirror.cluster.request_meters import RequestClock
from kmirror.cluster.server.links import Links, ServedLink
from kmirror.errors import LocalProtocolError
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Chunk, LinkOpened
from kmirror.kernel.failures import Failures
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.headers import RequestHead, decode_response, encode_response_chunks, encode_response_head
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import Acks

P = ParamSpec("P")
B_co = TypeVar("B_co", bound=Message, covariant=True)


@dataclass(slots=True)
class Inbound(Generic[B_co]):
    """One request in work, with its body; it must end in exactly one of `reply`, `reply_raw`, `no_reply` and `drop`."""

    links: Links
    link: ServedLink
    failures: Failures
    rights: Rights
    """The rights of the principal that sent it."""
    head: RequestHead
    version: int
    body: B_co
    frame: Chunk
    open: bool = True
    has_failed: bool = False
    """Whether it was answered with an error of this node's own: what is left of its work has no answer to give then."""
    times: RequestClock | None = None
    """None for a request without metrics."""

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
            self.links.outbox.note(f"closing {self.client.link.name}: no answer can name what was asked: {error}")
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
        self._answer((encode_response_head(head.api_key, self.version, correlation_id=head.correlation_id), body), None)

    def reply_raw(self, *chunks: Chunk) -> None:
        """Answer with a whole response frame, in chunks."""
        self._answer(chunks, None)

    def _answer(self, chunks: tuple[Chunk, ...], body: Message | None) -> None:
        """Answer; `body` is what the chunks say, if that is at hand."""
        if self.has_failed:
            return
        assert self.open, f"answered twice: {self.head}"
        self.open = False
        timed = None
        if self.times is not None:
            said = body or decode_response(b"".join(chunks), self.head.api_key, self.version).body
            timed = self.times.answered(said)
        self.links.answer(self.link, chunks, timed)

    def no_reply(self) -> None:
        """End a request that gets no answer (acks=0)."""
        if self.has_failed:
            return
        self._finish()
        self.links.finish(self.link)

    def drop(self) -> None:
        """Close the link without an answer: the client has to connect and ask again."""
        if self.has_failed:
            return
        self._finish()
        self.links.close(self.link)

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
        self.failures.caught(f"{self.body.NAME} of version {self.version}", error)
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


def failing(error: Exception) -> Handler:
    """Return a handler for a request on which work has failed before it was decoded."""

    def fail(now: Instant, inbound: Inbound[Message]) -> None:
        raise error

    return fail
