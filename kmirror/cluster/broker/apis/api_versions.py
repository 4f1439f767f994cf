"""ApiVersions, versions 0-4: what this broker serves now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmirror.cluster.api_versions import describe
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant

if TYPE_CHECKING:
    from kmirror.cluster.broker.broker import Broker


def handle(broker: Broker, now: Instant, inbound: Inbound) -> None:
    inbound.reply(describe(broker.context.api_versions(), broker.image, inbound.version))
