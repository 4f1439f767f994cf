"""Envelope: a broker passes on a client's request that only the controller decides (KIP-590).

A request whose feature is off is refused by an answer of its own API inside the envelope (D1): the broker may not
know yet that it is off. Left out: authorisation of the principal inside.
"""

from __future__ import annotations

from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import DecideAndCommit
from kmirror.cluster.server import Inbound, contains, disabled
from kmirror.errors import ProtocolError
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.envelope_request import EnvelopeRequest
from kmirror.protocol.gen.envelope_response import EnvelopeResponse
from kmirror.protocol.headers import decode_request, encode_response, peek_request
from kmirror.spec.error_codes import ErrorCode


def handle(context: ControllerContext, decide: DecideAndCommit, now: Instant, inbound: Inbound) -> None:
    """Decide the request inside and answer with its response; UNSUPPORTED_VERSION or INVALID_REQUEST if that fails."""
    envelope = inbound.body
    assert isinstance(envelope, EnvelopeRequest)
    try:
        head = peek_request(envelope.request_data)
        refused = contains(context.disabled_versions(), head)
        if not refused and not contains(context.api_versions(), head):
            inbound.reply(EnvelopeResponse(error_code=ErrorCode.UNSUPPORTED_VERSION))
            return
        body = decode_request(envelope.request_data).body
    except ProtocolError:
        inbound.reply(EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST))
        return
    answer = disabled(body, head.api_version) if refused else decide(now, body, head.api_version)
    if answer is None:
        inbound.reply(EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST))
        return
    data = encode_response(answer, head.api_version, correlation_id=head.correlation_id)
    inbound.reply(EnvelopeResponse(response_data=data))
