"""Incoming requests: decoding, gates, handlers, and responses in order on each link."""

from __future__ import annotations

from kmirror.cluster.server.inbound import Gathering, Handler, Inbound, Routes
from kmirror.cluster.server.server import Server
from kmirror.cluster.server.unserved import API_VERSIONS, DISABLED, Versions, disabled

__all__ = [
    "API_VERSIONS",
    "DISABLED",
    "Gathering",
    "Handler",
    "Inbound",
    "Routes",
    "Server",
    "Versions",
    "disabled",
]
