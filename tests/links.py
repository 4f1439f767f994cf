"""Links that strangers open to a node that a test holds in its hands."""

from __future__ import annotations

from collections.abc import Hashable

from kmirror.kernel.events import InboundLink, LinkOpened
from kmirror.kernel.ids import ANONYMOUS, Endpoint


def opened(*name: Hashable) -> LinkOpened:
    """Return the event that opens the link `name`."""
    return LinkOpened(InboundLink(name), "PLAINTEXT", ANONYMOUS, Endpoint("127.0.0.1", 40000))
