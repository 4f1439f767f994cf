"""ApiVersions, versions 0-4: what this controller serves now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmirror.cluster.api_versions import describe
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant

if TYPE_CHECKING:
    from kmirror.cluster.controller.controller import Controller


def handle(controller: Controller, now: Instant, inbound: Inbound) -> None:
    inbound.reply(describe(controller.api_versions(), controller.image, inbound.version))
