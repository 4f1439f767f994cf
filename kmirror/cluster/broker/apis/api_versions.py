"""ApiVersions, versions 0-4: the API versions that this broker currently serves."""

from __future__ import annotations

from kmirror.cluster.api_versions import api_versions_response
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest


def handle(parts: BrokerParts, now: Instant, inbound: Inbound[ApiVersionsRequest]) -> None:
    """Reply with the served versions and the features (D1)."""
    inbound.reply(
        api_versions_response(parts.context.api_versions(), parts.context.image, inbound.body, inbound.version)
    )
