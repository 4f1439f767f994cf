"""Envelope: a broker forwards a client's request that only the controller decides (KIP-590).

The broker must be authorized to forward requests, and the client must be authorized for the request itself: its
principal and address are in the envelope. A request whose feature is off gets an error response of its own API inside
the envelope (D1), because the broker may not know yet that the feature is off.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Rights, cluster_error_response
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import DecideAndCommit
from kmirror.cluster.envelope import host_from, principal_from
from kmirror.cluster.server import Inbound, disabled
from kmirror.errors import ProtocolError
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.envelope_request import EnvelopeRequest
from kmirror.protocol.gen.envelope_response import EnvelopeResponse
from kmirror.protocol.headers import decode_request, encode_response, is_served, peek_request
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode


def handle(context: ControllerContext, decide: DecideAndCommit, now: Instant, inbound: Inbound[Message]) -> None:
    """Decide the enclosed request and return its response; UNSUPPORTED_VERSION or INVALID_REQUEST if that fails."""
    envelope = inbound.body
    assert isinstance(envelope, EnvelopeRequest)
    try:
        principal = principal_from(envelope.request_principal)
    except ProtocolError:
        inbound.reply(EnvelopeResponse(error_code=ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE))
        return
    try:
        rights = Rights(
            inbound.rights.authorizer, principal, host_from(envelope.client_host_address), is_forwarded=True
        )
        head = peek_request(envelope.request_data)
        is_disabled = is_served(head, context.disabled_versions())
        if not is_disabled and not is_served(head, context.api_versions()):
            inbound.reply(EnvelopeResponse(error_code=ErrorCode.UNSUPPORTED_VERSION))
            return
        body = decode_request(envelope.request_data).body
    except ProtocolError:
        inbound.reply(EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST))
        return
    if is_disabled:
        answer: Message | None = disabled(body, head.api_version)
    else:
        answer = cluster_error_response(rights, body, head.api_version) or decide(now, body, head.api_version, rights)
    if answer is None:
        inbound.reply(EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST))
        return
    data = encode_response(answer, head.api_version, correlation_id=head.correlation_id)
    inbound.reply(EnvelopeResponse(response_data=data))
