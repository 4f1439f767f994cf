"""May a host be broken without asking? Only loopback: what listens there, nobody on another machine depends on.

What sends faults or broken frames asks before it connects, the proxy and the fuzzer alike. An address of this
machine's that others reach is not enough: a broker that listens there may be theirs. And whether an address is this
machine's cannot be told for certain: a system with `ip_nonlocal_bind` lets any be bound.
"""

from __future__ import annotations

import socket
from ipaddress import IPv6Address, ip_address

from kmirror.errors import UsageError


def is_loopback(host: str) -> bool:
    """Return whether a host, a name or an address, has loopback addresses alone; False for a name that is not known."""
    try:
        found = {str(row[4][0]) for row in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        return False
    return bool(found) and all(map(_is_loopback_address, found))


def _is_loopback_address(text: str) -> bool:
    address = ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


def check_own(host: str) -> None:
    """Raise UsageError for a host that is not loopback: somebody else may depend on it."""
    if not is_loopback(host):
        raise UsageError(
            f"{host} is not loopback; if what listens there is yours to break, say --i-own-this-host, or own_host=True"
        )
