"""ApiVersions, versions 0-4: the versions that this controller currently serves."""

from __future__ import annotations

from kmirror.cluster.api_versions import api_versions_response
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest


def handle(context: ControllerContext, now: Instant, inbound: Inbound[ApiVersionsRequest]) -> None:
    """Respond with the served versions and the features (D1)."""
    inbound.reply(api_versions_response(context.api_versions(), context.image, inbound.body, inbound.version))
