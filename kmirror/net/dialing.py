"""How does a node reach one in another process? A connection is begun by the first frame, which waits for it.

An encrypted one is begun by an order of its own, and frames wait until the TLS handshake is over as well. What waits is
bounded by time, as in Kafka's client: a host that does not answer is given up after
`socket.connection.setup.timeout.ms`, and a link of which a request has timed out is closed by the node.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Any

from kmirror.errors import UsageError
from kmirror.kernel.clock import SECOND, Duration
from kmirror.kernel.events import Chunk, OutboundLink
from kmirror.kernel.tls import TlsSettings
from kmirror.net.links import TcpLink
from kmirror.net.listener import prepare
from kmirror.net.tls import client_context, told
from kmirror.net.tls_link import TlsEnd

OnConnected = Callable[["Dialed", socket.socket, TlsEnd | None], TcpLink]
OnLost = Callable[["Dialed", str], None]


class Dialed:
    """A link that this node opens over TCP; frames wait until it is connected."""

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
        """`setup_max` is how long each address of the peer may take to answer."""
        self.process = process
        self.name = name
        self.is_open = True
        self.is_refused = False
        """There was a connection, and no TLS handshake that succeeded."""
        self._loop = loop
        self._on_connected = on_connected
        self._on_lost = on_lost
        self._setup_s = setup_max / SECOND
        self._tls = tls
        self._waiting: list[tuple[Chunk, ...]] = []
        self._link: TcpLink | None = None
        self._task = loop.create_task(self._connect())

    def send(self, chunks: tuple[Chunk, ...]) -> None:
        """Queue a frame."""
        if self._link is None:
            self._waiting.append(chunks)
        else:
            self._link.send(chunks)

    @property
    def waiting_bytes(self) -> int:
        """Return the bytes that were given to `send` and not yet taken by the system."""
        if self._link is not None:
            return self._link.waiting_bytes
        return sum(len(chunk) for chunks in self._waiting for chunk in chunks)

    def flush(self) -> None:
        """Write what waits, if the link is connected."""
        if self._link is not None:
            self._link.flush()

    def close(self) -> None:
        """Close the link, or give up connecting."""
        self.is_open = False
        self._waiting.clear()
        self._task.cancel()
        if self._link is not None:
            self._link.close()

    async def _connect(self) -> None:
        try:
            connected, end = await self._secured()
        except ssl.SSLError as error:
            self.is_refused = True
            self._fail(told(error))
            return
        except UsageError as error:
            self._fail(str(error))
            return
        except OSError as error:
            self._fail(f"cannot connect to {self.name.peer}: {error.strerror or error}")
            return
        if not self.is_open:
            connected.close()
            return
        self._link = self._on_connected(self, connected, end)
        for chunks in self._waiting:
            self._link.send(chunks)
        self._waiting.clear()
        self._link.flush()

    def _fail(self, why: str) -> None:
        if self.is_open:
            self.is_open = False
            self._on_lost(self, why)

    async def _secured(self) -> tuple[socket.socket, TlsEnd | None]:
        """Return a connected socket, and our end of TLS over it if that is wanted."""
        context = None if self._tls is None else client_context(self._tls)
        connected = await self._open()
        prepare(connected)
        if context is None:
            return connected, None
        end = TlsEnd(context, self.name.peer.host)
        try:
            await end.shake_hands(self._loop, connected)
        except BaseException:
            connected.close()
            raise
        return connected, end

    async def _open(self) -> socket.socket:
        """Return a connected socket, of the first of the peer's addresses that answers."""
        peer = self.name.peer
        addresses = await self._loop.getaddrinfo(peer.host, peer.port, type=socket.SOCK_STREAM)
        for index, (family, kind, protocol, _, address) in enumerate(addresses):
            opened = socket.socket(family, kind, protocol)
            opened.setblocking(False)
            try:
                await self._connected(opened, address)
            except BaseException as error:
                opened.close()
                if not isinstance(error, OSError) or index == len(addresses) - 1:
                    raise
            else:
                return opened
        raise OSError(f"{peer.host} has no address")

    async def _connected(self, opened: socket.socket, address: Any) -> None:
        try:
            async with asyncio.timeout(self._setup_s):
                await self._loop.sock_connect(opened, address)
        except TimeoutError as error:
            if error.errno is not None:  # The system's own time was over first.
                raise
            raise TimeoutError(f"no answer within {self._setup_s:g} s") from None
