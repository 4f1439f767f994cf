"""Is an address one of this machine? What sends faults or broken frames asks before it connects."""

from __future__ import annotations

import socket

from kmirror.errors import UsageError


def is_of_this_machine(host: str) -> bool:
    """Return whether a host, a name or an address, is this machine under each of its addresses.

    An address is one of this machine's if something here could listen at it. False for a name that is not known.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_DGRAM)
    except OSError:
        return False
    return bool(found) and all(_can_bind(family, address) for family, _, _, _, address in found)


def _can_bind(family: int, address: tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]) -> bool:
    with socket.socket(family, socket.SOCK_DGRAM) as opened:
        try:
            opened.bind(address)
        except OSError:
            return False
    return True


def check_own(host: str) -> None:
    """Raise UsageError for a host that is not this machine: somebody else may depend on it."""
    if not is_of_this_machine(host):
        raise UsageError(
            f"{host} is not this machine; if it is yours to break, say --i-own-this-host, or own_host=True"
        )
