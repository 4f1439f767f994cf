"""Envelope: a broker passes on a client's request that only the controller decides (KIP-590).

A request whose feature is off is refused inside, in its own words (D1): the broker may not know yet that it is
off. Left out: authorisation of the principal inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmirror.cluster.server import Inbound, contains, disabled
from kmirror.errors import ProtocolError
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.envelope_request import EnvelopeRequest
from kmirror.protocol.gen.envelope_response import EnvelopeResponse
from kmirror.protocol.headers import decode_request, encode_response, peek_request
from kmirror.spec.error_codes import ErrorCode

if TYPE_CHECKING:
    from kmirror.cluster.controller.controller import Controller


def handle(controller: Controller, now: Instant, inbound: Inbound) -> None:
    envelope = inbound.body
    assert isinstance(envelope, EnvelopeRequest)
    try:
        head = peek_request(envelope.request_data)
        refused = contains(controller.disabled_versions(), head)
        if not refused and not contains(controller.api_versions(), head):
            inbound.reply(EnvelopeResponse(error_code=ErrorCode.UNSUPPORTED_VERSION))
            return
        body = decode_request(envelope.request_data).body
    except ProtocolError:
        inbound.reply(EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST))
        return
    if refused:
        answer = disabled(body, head.api_version)
    elif type(body) in controller.decisions:
        answer = controller.decide(now, body, head.api_version)
    else:
        inbound.reply(EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST))
        return
    data = encode_response(answer, head.api_version, correlation_id=head.correlation_id)
    inbound.reply(EnvelopeResponse(response_data=data))
