"""Listeners: ports that stay bound while the process behind them is down, and connection limits."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections import Counter
from collections.abc import Callable

from kmirror.errors import UsageError
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.listeners import ListenerSpec
from kmirror.net.options import LinkOptions
from kmirror.spec.wire_values import SecurityProtocol

ACCEPTED_MAX = 64
"""Connections accepted before other work gets its turn."""
OUT_OF_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
RETRY_S = 0.1
OnAccepted = Callable[[socket.socket, Endpoint], None]


class Port:
    """Bound address without a listening socket: connections are refused, and no other process gets the port."""

    def __init__(self, host: str, port: int) -> None:
        """Bind the address; port 0 binds a free port. UsageError if the address is not available."""
        self._family = family_of(host)
        self._socket = _bind_socket(self._family, host, port)
        self.endpoint = Endpoint(host, self._socket.getsockname()[1])

    def listener(self, name: str, advertised_host: str | None = None) -> ListenerSpec:
        """Return the PLAINTEXT listener at this port, with the address advertised to clients."""
        advertised = Endpoint(advertised_host or self.endpoint.host, self.endpoint.port)
        return ListenerSpec(name, SecurityProtocol.PLAINTEXT, self.endpoint, advertised)

    def listen(self, backlog: int) -> socket.socket:
        """Return a listening socket; close it to refuse connections again."""
        listening_socket = _bind_socket(self._family, self.endpoint.host, self.endpoint.port)
        try:
            listening_socket.listen(backlog)
        except OSError as error:
            listening_socket.close()
            raise _bind_error(self.endpoint, error) from None
        return listening_socket

    def close(self) -> None:
        """Release the port."""
        self._socket.close()


class Listener:
    """Accepts connections within the limits of `options` until it is closed."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        listening_socket: socket.socket,
        options: LinkOptions,
        on_accepted: OnAccepted,
    ) -> None:
        self._loop = loop
        self._socket = listening_socket
        self._options = options
        self._on_accepted = on_accepted
        self._count = 0
        self._by_ip: Counter[str] = Counter()
        self._is_accepting = False
        self._is_open = True
        self._retry_handle: asyncio.TimerHandle | None = None
        self.refused_count = 0
        """Connections closed immediately because their address had too many."""
        self._adjust()

    def on_link_closed(self, address: Endpoint) -> None:
        """Record that a link from `address` was closed."""
        self._count -= 1
        self._by_ip[address.host] -= 1
        if not self._by_ip[address.host]:
            del self._by_ip[address.host]
        self._adjust()

    def close(self) -> None:
        """Stop accepting; open links stay open."""
        self._is_open = False
        self._adjust()
        self._socket.close()

    def _adjust(self) -> None:
        """Accept only while more links are allowed; meanwhile new connections wait in the system's queue."""
        should_accept = self._is_open and self._retry_handle is None and self._count < self._options.links_max
        if should_accept and not self._is_accepting:
            self._loop.add_reader(self._socket, self._on_connections)
        elif self._is_accepting and not should_accept:
            self._loop.remove_reader(self._socket)
        self._is_accepting = should_accept
        if not self._is_open and self._retry_handle is not None:
            self._retry_handle.cancel()

    def _on_connections(self) -> None:
        for _ in range(ACCEPTED_MAX):
            if not self._is_accepting:
                return
            try:
                connected, name = self._socket.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno in OUT_OF_FILES:  # The socket stays readable: avoid a busy loop.
                    self._retry_handle = self._loop.call_later(RETRY_S, self._retry)
                    self._adjust()
                    return
                continue  # The client disconnected before it was accepted.
            self._accept(connected, Endpoint(name[0], name[1]))

    def _accept(self, connected: socket.socket, address: Endpoint) -> None:
        if self._by_ip[address.host] >= self._options.limit_for(address.host):
            self.refused_count += 1
            connected.close()
            return
        self._count += 1
        self._by_ip[address.host] += 1
        prepare(connected)
        self._on_accepted(connected, address)
        self._adjust()

    def _retry(self) -> None:
        self._retry_handle = None
        self._adjust()


def prepare(connected: socket.socket) -> None:
    """Set the socket options of every connection."""
    connected.setblocking(False)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def family_of(host: str) -> socket.AddressFamily:
    """Return the address family of a host to listen at, IPv4 if it has both; UsageError for an unknown host."""
    try:
        found = socket.getaddrinfo(host or None, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise UsageError(f"cannot listen at {host!r}: {error.strerror}: name an address of this machine") from None
    families = [family for family, *_ in found]
    return socket.AF_INET if socket.AF_INET in families else families[0]


def _bind_socket(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    listening_socket = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening_socket.setblocking(False)
        listening_socket.bind((host, port))
    except (OSError, OverflowError) as error:
        listening_socket.close()
        raise _bind_error(Endpoint(host, port), error) from None
    return listening_socket


def _bind_error(endpoint: Endpoint, error: Exception) -> UsageError:
    reason = getattr(error, "strerror", None) or str(error)
    return UsageError(f"cannot listen at {endpoint}: {reason}: choose another port, or 0 for a free one")
