"""Requests of an API or version that is not currently served.

A request that the node does not know closes the link, as in Kafka. A known request whose feature is off gets
UNSUPPORTED_VERSION (D1), and the link stays open. An ApiVersions request is answered in version 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kmirror.cluster.error_response import error_response
from kmirror.cluster.server.inbound import Handler, Inbound
from kmirror.errors import ProtocolError
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Chunk
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersion, ApiVersionsResponse
from kmirror.protocol.headers import RequestHead, decode_request_body, is_served
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.spec.error_codes import ErrorCode

API_VERSIONS = key_of(ApiVersionsRequest)
DISABLED_MESSAGE = "Cluster mirroring is disabled (mirror.version=0)."
Versions = Mapping[int, tuple[int, int]]
"""Api key to (first, last) version."""


def read_unserved(
    frame: Chunk, head: RequestHead, served: Versions, disabled: Versions
) -> tuple[RequestHead, Message, Handler]:
    """Return header, body and handler of an unserved request; raise ProtocolError if it is not `disabled`."""
    if head.api_key == API_VERSIONS and API_VERSIONS in served:
        return head._replace(api_version=0), ApiVersionsRequest(), partial(reply_range, served[API_VERSIONS])
    if not is_served(head, disabled):
        raise ProtocolError(f"api key {head.api_key} version {head.api_version} is not served here")
    return head, decode_request_body(frame, head), reject


def reject(now: Instant, inbound: Inbound[Message]) -> None:
    """Reject a request whose feature is off; the link stays open (D1)."""
    inbound.reply(disabled(inbound.body, inbound.version))


def disabled(request: Message, version: int) -> Message:
    """Return the response to a request whose feature is off (D1)."""
    return error_response(request, version, ErrorCode.UNSUPPORTED_VERSION, DISABLED_MESSAGE)


def reply_range(served: tuple[int, int], now: Instant, inbound: Inbound[Message]) -> None:
    """Reply to an unserved version of ApiVersions with the served range (KIP-511)."""
    low, high = served
    body = ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        api_keys=[ApiVersion(api_key=API_VERSIONS, min_version=low, max_version=high)],
    )
    inbound.reply(body)
