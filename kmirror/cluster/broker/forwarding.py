"""Forwarding to the controller in an Envelope request (KIP-590), for requests that only the controller decides."""

from __future__ import annotations

from collections.abc import Callable

from kmirror.cluster.envelope import host_bytes, principal_bytes
from kmirror.cluster.node.context import BrokerContext
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import LinkOpened
from kmirror.protocol.gen.envelope_request import EnvelopeRequest
from kmirror.protocol.gen.envelope_response import EnvelopeResponse
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.spec.error_codes import ErrorCode


def envelope(frame: bytes, client: LinkOpened) -> EnvelopeRequest:
    """Return an Envelope that makes the controller decide a request as if `client` had sent it."""
    return EnvelopeRequest(
        request_data=frame,
        request_principal=principal_bytes(client.principal),
        client_host_address=host_bytes(client.address.host),
    )


def forward(context: BrokerContext, now: Instant, inbound: Inbound[Message]) -> None:
    """Forward the request to the controller and its response back to the client, byte for byte.

    If the controller cannot be reached or does not support the request's version, the client's connection is closed, so
    that it retries. If the controller rejects the envelope itself, the client gets UNKNOWN_SERVER_ERROR, because it
    cannot know the cause (Kafka's ForwardingManager).
    """
    _send(context, now, inbound, bytes(inbound.frame), inbound.reply_raw)


def forward_in_place(
    context: BrokerContext,
    now: Instant,
    inbound: Inbound[Message],
    request: Message,
    on_body: Callable[[Message], None],
) -> None:
    """Forward `request` to the controller instead of the client's own, and pass the response to `on_body`."""
    head, key = inbound.head, key_of(type(request))
    frame = encode_request(request, inbound.version, correlation_id=head.correlation_id, client_id=None)

    @inbound.guard
    def on_response(data: bytes) -> None:
        on_body(decode_response(data, key, inbound.version).body)

    _send(context, now, inbound, frame, on_response)


def _send(
    context: BrokerContext, now: Instant, inbound: Inbound[Message], frame: bytes, on_response: Callable[[bytes], None]
) -> None:
    request = envelope(frame, inbound.client)

    @inbound.guard
    def on_reply(_: Instant, reply: Message | None) -> None:
        if not isinstance(reply, EnvelopeResponse) or reply.error_code == ErrorCode.UNSUPPORTED_VERSION:
            inbound.drop()
        elif reply.error_code or not reply.response_data:
            context.outbox.note(f"the controller refused an envelope: error {reply.error_code}")
            inbound.reply_error()
        else:
            on_response(reply.response_data)

    context.ask_controller(now, request, on_reply, channel="forward")
