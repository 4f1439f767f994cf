"""Incoming requests: decoding, gates, handlers, and responses in order on each link."""

from __future__ import annotations

from kmirror.cluster.server.inbound import Handler, Inbound, PendingResponse, Routes
from kmirror.cluster.server.server import Server
from kmirror.cluster.server.unserved import API_VERSIONS, DISABLED_MESSAGE, Versions, disabled

__all__ = [
    "API_VERSIONS",
    "DISABLED_MESSAGE",
    "Handler",
    "Inbound",
    "PendingResponse",
    "Routes",
    "Server",
    "Versions",
    "disabled",
]
