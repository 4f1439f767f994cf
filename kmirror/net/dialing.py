"""How does a node reach one in another process? A connection is begun by the first frame, which waits for it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from kmirror.kernel.events import Chunk, OutboundLink
from kmirror.net.links import TcpLink
from kmirror.net.listener import prepare

OnConnected = Callable[["Dialed", socket.socket], TcpLink]
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
    ) -> None:
        self.process = process
        self.name = name
        self.is_open = True
        self._loop = loop
        self._on_connected = on_connected
        self._on_lost = on_lost
        self._waiting: list[tuple[Chunk, ...]] = []
        self._link: TcpLink | None = None
        self._task = loop.create_task(self._connect())

    def send(self, chunks: tuple[Chunk, ...]) -> None:
        """Queue a frame."""
        if self._link is None:
            self._waiting.append(chunks)
        else:
            self._link.send(chunks)

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
            connected = await self._open()
        except OSError as error:
            if self.is_open:
                self.is_open = False
                self._on_lost(self, f"cannot connect to {self.name.peer}: {error.strerror or error}")
            return
        if not self.is_open:
            connected.close()
            return
        prepare(connected)
        self._link = self._on_connected(self, connected)
        for chunks in self._waiting:
            self._link.send(chunks)
        self._waiting.clear()
        self._link.flush()

    async def _open(self) -> socket.socket:
        """Return a connected socket, of the first of the peer's addresses that answers."""
        peer = self.name.peer
        addresses = await self._loop.getaddrinfo(peer.host, peer.port, type=socket.SOCK_STREAM)
        for index, (family, kind, protocol, _, address) in enumerate(addresses):
            opened = socket.socket(family, kind, protocol)
            opened.setblocking(False)
            try:
                await self._loop.sock_connect(opened, address)
            except BaseException as error:
                opened.close()
                if not isinstance(error, OSError) or index == len(addresses) - 1:
                    raise
            else:
                return opened
        raise OSError(f"{peer.host} has no address")
