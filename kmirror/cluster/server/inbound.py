"""One request in progress, as passed to its handler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.error_response import error_response
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
    """One request in progress, with its body; it must end in exactly one of `reply`, `reply_raw`, `no_reply` and
    `drop`."""

    links: Links
    link: ServedLink
    failures: Failures
    rights: Rights
    """Rights of the principal that sent the request."""
    head: RequestHead
    version: int
    body: B_co
    frame: Chunk
    open: bool = True
    has_failed: bool = False
    """True after an internal error was returned: the remaining work must not send a response."""
    clock: RequestClock | None = None
    """Clock of the request; None for requests without metrics."""

    @property
    def client(self) -> LinkOpened:
        """Return the link of the request, with the principal and the address that opened it."""
        return self.link.client

    def reply(self, body: Message) -> None:
        """Send `body` as the response, encoded in the version of the request."""
        try:
            chunks = encode_response_chunks(body, self.version, correlation_id=self.head.correlation_id)
        except LocalProtocolError as error:
            if self._can_be_written():
                raise
            self.links.outbox.note(
                f"closing {self.client.link.name}: the names in the request cannot be encoded in a response: {error}"
            )
            self.drop()
            return
        self._respond(tuple(chunks), body)

    def _can_be_written(self) -> bool:
        """Return whether the request can be re-encoded: invalid UTF-8 bytes in it become three bytes each."""
        try:
            self.body.encode(self.version)
        except LocalProtocolError:
            return False
        return True

    def reply_encoded(self, body: bytes) -> None:
        """Send an encoded response body of the request's version."""
        head = self.head
        self._respond(
            (encode_response_head(head.api_key, self.version, correlation_id=head.correlation_id), body), None
        )

    def reply_raw(self, *chunks: Chunk) -> None:
        """Send a whole response frame, in chunks."""
        self._respond(chunks, None)

    def _respond(self, chunks: tuple[Chunk, ...], body: Message | None) -> None:
        """Send the response; `body` is the decoded content of the chunks, if available."""
        if self.has_failed:
            return
        assert self.open, f"answered twice: {self.head}"
        self.open = False
        timing = None
        if self.clock is not None:
            response = body or decode_response(b"".join(chunks), self.head.api_key, self.version).body
            timing = self.clock.finish(response)
        self.links.respond(self.link, chunks, timing)

    def no_reply(self) -> None:
        """End a request that gets no response (acks=0)."""
        if self.has_failed:
            return
        self._finish()
        self.links.finish(self.link)

    def drop(self) -> None:
        """Close the link without a response: the client must reconnect and retry."""
        if self.has_failed:
            return
        self._finish()
        self.links.close(self.link)

    def reply_error(self) -> None:
        """Return UNKNOWN_SERVER_ERROR after an exception, unless a response was sent; with acks=0 close the link."""
        if not self.open:
            return
        if isinstance(self.body, ProduceRequest) and self.body.acks == Acks.NONE:
            self.drop()
            self.has_failed = True
            return
        error = ErrorCode.UNKNOWN_SERVER_ERROR
        self.reply(error_response(self.body, self.version, error, error.text))
        self.has_failed = True

    def on_exception(self, error: Exception) -> None:
        """Count and log an exception in the work on this request, and reply; call it in the `except` clause."""
        self.failures.report(f"{self.body.NAME} of version {self.version}", error)
        self.reply_error()

    def guard(self, work: Callable[P, None]) -> Callable[P, None]:
        """Wrap a callback of a handler, so that an exception in it is handled as a failure of this request.

        Otherwise the exception would propagate to the code that makes the callback, and the request would never be
        answered.
        """

        def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
            try:
                work(*args, **kwargs)
            except Exception as error:
                self.on_exception(error)

        return guarded

    def _finish(self) -> None:
        assert self.open, f"answered twice: {self.head}"
        self.open = False


@dataclass(slots=True)
class PendingResponse:
    """A response whose rows are filled in by callbacks; it is sent after the last one, but not before `end`."""

    inbound: Inbound[Message]
    response: Message
    pending: int = 1
    """Number of pending rows, plus one until `end`."""

    def row(self, fill: Callable[P, None]) -> Callable[P, None]:
        """Wrap a one-time callback that fills in one row; exceptions in it are handled by the request."""
        self.pending += 1

        def on_row(*args: P.args, **kwargs: P.kwargs) -> None:
            fill(*args, **kwargs)
            self.end()

        return self.inbound.guard(on_row)

    def end(self) -> None:
        """Declare that all rows have been registered: the response is not sent before this call."""
        self.pending -= 1
        if self.pending == 0:
            self.inbound.reply(self.response)


Handler = Callable[[Instant, Inbound[Any]], None]
Routes = Mapping[type[Message], Handler]
"""Request class to its handler."""


def failing_handler(error: Exception) -> Handler:
    """Return a handler for a request whose processing failed before its handler was called."""

    def raise_error(now: Instant, inbound: Inbound[Message]) -> None:
        raise error

    return raise_error
