"""Listeners as values: the endpoints of a node, and the protocol and principal of the links to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kmirror.kernel.ids import ANONYMOUS, Endpoint, Principal
from kmirror.spec.wire_values import SecurityProtocol

CONTROLLER_NAME = "CONTROLLER"
"""The name of a controller's listener, as in the files that come with Kafka."""
DEFAULT_NAME = SecurityProtocol.PLAINTEXT.name
"""The name of a listener that is given none: that of its protocol, as in Kafka."""


class ListenerSpec(NamedTuple):
    """One listener of a node: runners open links from it, and brokers register it."""

    name: str
    protocol: SecurityProtocol
    endpoint: Endpoint
    """Where the node listens."""
    advertised: Endpoint
    """How clients and other nodes reach it."""

    @classmethod
    def plain(cls, endpoint: Endpoint, name: str = DEFAULT_NAME) -> ListenerSpec:
        """Return a listener without encryption and authentication, which is reached where it listens."""
        return cls(name, SecurityProtocol.PLAINTEXT, endpoint, endpoint)

    @property
    def principal(self) -> Principal:
        """Return the principal with which a link is opened: that of a client which has not authenticated itself."""
        return ANONYMOUS


Listeners = tuple[ListenerSpec, ...]
"""The listeners of one node."""


def endpoints_text(listeners: Mapping[str, Endpoint]) -> str:
    """Return endpoints by the names of their listeners, as a properties file has them."""
    return ",".join(f"{name}://{endpoint}" for name, endpoint in listeners.items())
