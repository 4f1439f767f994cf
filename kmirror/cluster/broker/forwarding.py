"""Requests that only the controller may decide: brokers pass them on in an Envelope (KIP-590)."""

from __future__ import annotations

from kmirror.cluster.broker.context import BrokerContext
from kmirror.cluster.envelope import host_bytes, principal_bytes
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.envelope_request import EnvelopeRequest
from kmirror.protocol.gen.envelope_response import EnvelopeResponse
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode


def forward(context: BrokerContext, now: Instant, inbound: Inbound) -> None:
    """Hand the request to the controller and its answer back to the client, byte for byte.

    A controller that cannot be reached costs the client its connection, so that it tries again.
    """
    request = EnvelopeRequest(
        request_data=bytes(inbound.frame),
        request_principal=principal_bytes(inbound.client.principal),
        client_host_address=host_bytes(inbound.client.address.host),
    )

    def on_reply(_: Instant, reply: Message | None) -> None:
        if isinstance(reply, EnvelopeResponse) and reply.error_code == ErrorCode.NONE and reply.response_data:
            inbound.reply_raw(reply.response_data)
        else:
            inbound.drop()

    context.ask_controller(now, request, on_reply, channel="forward")
