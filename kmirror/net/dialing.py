"""Connections from a node to other processes, opened by the first frame, which waits for the connection.

A TLS connection is opened by a separate effect, and frames also wait for the TLS handshake. Waiting is bounded by time,
as in Kafka's client: an attempt fails after `socket.connection.setup.timeout.ms` without an answer, and the node closes
a link when a request on it times out.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Any, Final

from kmirror.errors import UsageError
from kmirror.kernel.clock import SECOND, Duration
from kmirror.kernel.events import Chunk, OutboundLink
from kmirror.kernel.tls import TlsSettings
from kmirror.net.links import TcpLink
from kmirror.net.listener import prepare
from kmirror.net.tls import client_context, handshake_error_text
from kmirror.net.tls_link import TlsEnd

CANNOT_CONNECT: Final = "cannot connect to"
"""Beginning of the reason of a link that was never open; other reasons are of links that were lost."""
OnConnected = Callable[["OutgoingLink", socket.socket, TlsEnd | None], TcpLink]
OnLost = Callable[["OutgoingLink", str], None]


class OutgoingLink:
    """Outgoing TCP link; frames wait until it is connected."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        process: str,
        name: OutboundLink,
        on_connected: OnConnected,
        on_lost: OnLost,
        setup_max: Duration,
        tls: TlsSettings | None = None,
    ) -> None:
        """Start to connect. `setup_max` is the connection timeout for each address of the peer."""
        self.process = process
        self.name = name
        self.is_open = True
        self.is_tls_failed = False
        """True if the connection was made but the TLS handshake failed."""
        self._loop = loop
        self._on_connected = on_connected
        self._on_lost = on_lost
        self._setup_s = setup_max / SECOND
        self._tls = tls
        self._waiting_frames: list[tuple[Chunk, ...]] = []
        self._link: TcpLink | None = None
        self._task = loop.create_task(self._connect())

    def send(self, chunks: tuple[Chunk, ...]) -> None:
        """Queue a frame."""
        if self._link is None:
            self._waiting_frames.append(chunks)
        else:
            self._link.send(chunks)

    @property
    def waiting_bytes(self) -> int:
        """Bytes passed to `send` that the system has not taken yet."""
        if self._link is not None:
            return self._link.waiting_bytes
        return sum(len(chunk) for chunks in self._waiting_frames for chunk in chunks)

    def flush(self) -> None:
        """Write the waiting frames if the link is connected."""
        if self._link is not None:
            self._link.flush()

    def close(self) -> None:
        """Close the link, or cancel the connection attempt."""
        self.is_open = False
        self._waiting_frames.clear()
        self._task.cancel()
        if self._link is not None:
            self._link.close()

    async def _connect(self) -> None:
        try:
            connected, tls_end = await self._connect_with_tls()
        except ssl.SSLError as error:
            self.is_tls_failed = True
            self._fail(handshake_error_text(error))
            return
        except UsageError as error:
            self._fail(str(error))
            return
        except OSError as error:
            self._fail(f"{CANNOT_CONNECT} {self.name.peer}: {connect_error_text(error)}")
            return
        if not self.is_open:
            connected.close()
            return
        self._link = self._on_connected(self, connected, tls_end)
        for chunks in self._waiting_frames:
            self._link.send(chunks)
        self._waiting_frames.clear()
        self._link.flush()

    def _fail(self, reason: str) -> None:
        if self.is_open:
            self.is_open = False
            self._on_lost(self, reason)

    async def _connect_with_tls(self) -> tuple[socket.socket, TlsEnd | None]:
        """Return a connected socket, and the local end of TLS over it if the link uses TLS."""
        context = None if self._tls is None else client_context(self._tls)
        connected = await self._connect_first_address()
        prepare(connected)
        if context is None:
            return connected, None
        tls_end = TlsEnd(context, self.name.peer.host)
        try:
            await tls_end.handshake(self._loop, connected)
        except BaseException:
            connected.close()
            raise
        return connected, tls_end

    async def _connect_first_address(self) -> socket.socket:
        """Return a socket connected to the first address of the peer that answers."""
        peer = self.name.peer
        addresses = await self._loop.getaddrinfo(peer.host, peer.port, type=socket.SOCK_STREAM)
        for index, (family, kind, protocol, _, address) in enumerate(addresses):
            sock = socket.socket(family, kind, protocol)
            sock.setblocking(False)
            try:
                await self._connect_address(sock, address)
            except BaseException as error:
                sock.close()
                if not isinstance(error, OSError) or index == len(addresses) - 1:
                    raise
            else:
                return sock
        raise OSError(f"no address found for {peer.host}")

    async def _connect_address(self, sock: socket.socket, address: Any) -> None:
        try:
            async with asyncio.timeout(self._setup_s):
                await self._loop.sock_connect(sock, address)
        except TimeoutError as error:
            if error.errno is not None:  # The system's own timeout was shorter.
                raise
            raise TimeoutError(f"no answer within {self._setup_s:g} s") from None


def connect_error_text(error: OSError) -> str:
    """Return the cause in the words of Kafka's tools and of the shell; Python's text repeats the address."""
    match error:
        case ConnectionRefusedError():
            return "connection refused"
        case socket.gaierror():
            return "unknown host"
    return error.strerror or str(error)
