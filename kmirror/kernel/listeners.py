"""Listeners as values: the endpoints of a node, and the protocol and principal of the links to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kmirror.kernel.ids import ANONYMOUS, Endpoint, Principal
from kmirror.spec.wire_values import SecurityProtocol

CONTROLLER_NAME = "CONTROLLER"
"""The name of a controller's listener, as in the files that come with Kafka."""
DEFAULT_NAME = SecurityProtocol.PLAINTEXT.name
"""Default name of a listener: that of its protocol, as in Kafka."""


class ListenerSpec(NamedTuple):
    """One listener of a node: runners open links from it, and brokers register it."""

    name: str
    protocol: SecurityProtocol
    endpoint: Endpoint
    """Address at which the node listens."""
    advertised: Endpoint
    """Address at which clients and other nodes reach it."""

    @classmethod
    def plain(cls, endpoint: Endpoint, name: str = DEFAULT_NAME) -> ListenerSpec:
        """Return a listener without encryption and authentication; its advertised address is `endpoint`."""
        return cls(name, SecurityProtocol.PLAINTEXT, endpoint, endpoint)

    @property
    def principal(self) -> Principal:
        """Return the principal of a link that is opened: a client has not authenticated itself yet."""
        return ANONYMOUS


Listeners = tuple[ListenerSpec, ...]
"""The listeners of one node."""


def endpoints_text(listeners: Mapping[str, Endpoint]) -> str:
    """Return the endpoints with the names of their listeners, in the format of a properties file."""
    return ",".join(f"{name}://{endpoint}" for name, endpoint in listeners.items())
