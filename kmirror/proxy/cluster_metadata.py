"""The proxy's own request, sent once, for the brokers and topics of the cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from kmirror.client.node import ClientNode
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint
from kmirror.net.host import Host
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.message import Message

CLIENT_ID = "kmirror-proxy"
VERSIONS = (12, 1)
"""A version with topic ids, and the oldest one, where null means all topics; unknown versions close the link."""
TIMEOUT_MS = 3_000


async def fetch_metadata(host: Host, servers: Sequence[Endpoint]) -> MetadataResponse | None:
    """Return the first server's Metadata response; None if no server responds, for example because it requires SASL."""
    node = ClientNode(CLIENT_ID)
    host.add(CLIENT_ID, lambda: node)
    host.start(CLIENT_ID)
    try:
        for server in servers:
            for version in VERSIONS:
                response = await _request_metadata(host, node, server, version)
                if response is not None:
                    return response
        return None
    finally:
        host.kill(CLIENT_ID)


async def _request_metadata(host: Host, node: ClientNode, server: Endpoint, version: int) -> MetadataResponse | None:
    future: asyncio.Future[Message | None] = asyncio.get_running_loop().create_future()

    def on_reply(now: Instant, body: Message | None) -> None:
        if not future.done():
            future.set_result(body)

    request = MetadataRequest(topics=None)
    node.requester.send(host.now(), server, f"v{version}", request, version, on_reply, timeout_ms=TIMEOUT_MS)
    host.perform(CLIENT_ID, node.outbox.drain())
    response = await future
    return response if isinstance(response, MetadataResponse) else None
