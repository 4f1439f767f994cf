"""Addresses of the brokers and of their ports at the proxy, and the change of responses that contain them.

Few responses name brokers by host and port. Among them are those with the new leaders of moved partitions (KIP-951):
Produce, Fetch, ShareFetch and ShareAcknowledge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kmirror.kernel.ids import Endpoint
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.describe_cluster_response import DescribeClusterResponse
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.find_coordinator_response import FindCoordinatorResponse
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.gen.share_acknowledge_response import ShareAcknowledgeResponse
from kmirror.protocol.gen.share_fetch_response import ShareFetchResponse
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_key, key_of

FIRST_VERSION_WITH_ADDRESSES = {
    key_of(response): version
    for response, version in {
        MetadataResponse: 0,
        FindCoordinatorResponse: 0,
        DescribeClusterResponse: 0,
        ProduceResponse: 10,
        FetchResponse: 16,
        ShareFetchResponse: 0,
        ShareAcknowledgeResponse: 0,
    }.items()
}
"""API key to the first version whose responses may name brokers by host and port."""
OpenPort = Callable[[int], Endpoint]
"""Opens a port of the proxy for a broker id, and returns its address."""


class BrokerAddresses:
    """The known brokers; each has a port of the proxy, from the first response that names it."""

    def __init__(self, open_port: OpenPort) -> None:
        self._open_port = open_port
        self._brokers: dict[int, Endpoint] = {}
        self._ports: dict[int, Endpoint] = {}

    def broker(self, node_id: int) -> Endpoint:
        """Return the last known address of a broker."""
        return self._brokers[node_id]

    @property
    def ports(self) -> dict[int, Endpoint]:
        """Return the proxy's address for each broker, by id."""
        return dict(sorted(self._ports.items()))

    def port(self, node_id: int, broker: Endpoint) -> Endpoint:
        """Record the address of a broker, and return the proxy's address for it."""
        self._brokers[node_id] = broker
        found = self._ports.get(node_id)
        if found is None:
            found = self._ports[node_id] = self._open_port(node_id)
        return found

    def rewrite_addresses(self, response: Message) -> bool:
        """Replace the brokers' addresses in a response by the proxy's; return whether there were any."""
        has_addresses = False
        for row in _broker_rows(response):
            node_id = row.broker_id if isinstance(response, DescribeClusterResponse) else row.node_id
            if node_id >= 0 and row.host and row.port > 0:
                row.host, row.port = self.port(node_id, Endpoint(row.host, row.port))
                has_addresses = True
        return has_addresses


def _broker_rows(response: Message) -> list[Any]:
    """Return the parts of a response that name a broker."""
    match response:
        case MetadataResponse() | DescribeClusterResponse():
            return list(response.brokers)
        case FindCoordinatorResponse():
            return [response, *response.coordinators]
        case ProduceResponse() | FetchResponse() | ShareFetchResponse() | ShareAcknowledgeResponse():
            return list(response.node_endpoints)
    return []


def drop_unknown_versions(response: ApiVersionsResponse) -> bool:
    """Remove versions that are unknown here from an ApiVersions response, for APIs that name brokers.

    With an address from such a version a client would bypass the proxy. Returns whether there was one.
    """
    has_unknown_versions = False
    for row in response.api_keys:
        if row.api_key in FIRST_VERSION_WITH_ADDRESSES and row.max_version > by_key(row.api_key).max_version:
            row.max_version = by_key(row.api_key).max_version
            has_unknown_versions = True
    return has_unknown_versions
