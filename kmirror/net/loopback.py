"""Loopback check before faults are sent to a host: no other machine depends on a loopback address.

The proxy and the fuzzer check a host before they connect to send faults or broken frames. An address of this machine
that others can reach is not enough, because the broker there may be theirs. Also, it cannot be determined for certain
that an address belongs to this machine: a system with `ip_nonlocal_bind` allows binding to any address.
"""

from __future__ import annotations

import socket
from ipaddress import IPv6Address, ip_address

from kmirror.errors import UsageError


def is_loopback(host: str) -> bool:
    """Return whether a host (name or address) has only loopback addresses; False for an unknown name."""
    try:
        found = {str(row[4][0]) for row in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        return False
    return bool(found) and all(map(_is_loopback_address, found))


def _is_loopback_address(text: str) -> bool:
    address = ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


def check_loopback(host: str) -> None:
    """Raise UsageError for a host that is not loopback: other people may depend on it."""
    if not is_loopback(host):
        raise UsageError(
            f"{host} is not loopback: if you may disrupt that host, pass --i-own-this-host, or own_host=True"
        )
