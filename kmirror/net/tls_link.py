"""Encrypted links: OpenSSL works on memory buffers between the frames and the link's own socket.

So no data is hidden in OpenSSL: received data is decrypted completely, and outgoing data is in `_encrypted` until the
system takes it.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from itertools import islice
from typing import Any, cast

from kmirror.kernel.events import OutboundLink
from kmirror.kernel.runner_metrics import LinkCounts
from kmirror.net.frames import FrameReader
from kmirror.net.links import GATHERED_MAX, LinkCallbacks, TcpLink, drop_bytes
from kmirror.net.tls import handshake_error_text

RECEIVED_BYTES = 256 << 10
SEALED_BYTES = 256 << 10
"""Encrypted bytes after which they are passed to the system."""


class TlsEnd:
    """Local end of TLS over one connection: bytes in, bytes out."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname=host)

    async def handshake(self, loop: asyncio.AbstractEventLoop, connected: socket.socket) -> None:
        """Perform the handshake; ssl.SSLError if it fails, any other OSError if the connection is lost."""
        try:
            await self._exchange(loop, connected)
        except ssl.SSLError:
            raise
        except OSError as error:
            raise ConnectionError(f"the TLS handshake broke off: {error.strerror or error}") from None

    async def _exchange(self, loop: asyncio.AbstractEventLoop, connected: socket.socket) -> None:
        while True:
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                await self._write(loop, connected)
                data = await loop.sock_recv(connected, RECEIVED_BYTES)
                if not data:
                    raise ConnectionError("the other end closed it") from None
                self.incoming.write(data)
            except ssl.SSLError:
                await self._write(loop, connected)  # Send the alert that explains the failure to the server.
                raise
            else:
                await self._write(loop, connected)
                return

    async def _write(self, loop: asyncio.AbstractEventLoop, connected: socket.socket) -> None:
        if self.outgoing.pending:
            await loop.sock_sendall(connected, self.outgoing.read())


class TlsLink(TcpLink):
    """Connected socket that carries encrypted frames."""

    __slots__ = ("_encrypted", "_end")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        callbacks: LinkCallbacks,
        process: str,
        name: OutboundLink,
        connected: socket.socket,
        reader: FrameReader,
        end: TlsEnd,
        counts: LinkCounts | None = None,
    ) -> None:
        super().__init__(loop, callbacks, process, name, connected, reader, counts)
        self._end = end
        self._encrypted = memoryview(b"")
        """Encrypted bytes that the system has not taken yet."""
        if end.incoming.pending or end.tls.pending():
            # Data received with the end of the handshake does not make the socket readable again.
            callbacks.call_soon(self._read_after_handshake, None)

    def _read_after_handshake(self, _: Any) -> None:
        if self.is_open:
            self._decrypt()

    # -- receiving ----------------------------------------------------------------------------

    def _on_readable(self) -> None:
        if self._counts is not None:
            self._counts.wakeups.record(self._callbacks.now())
        try:
            data = self._socket.recv(RECEIVED_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._abort_now(str(error))
            return
        if not data:
            self._abort_now("the other end closed it")
            return
        self.received += len(data)
        if self._counts is not None:
            self._counts.operations.record(self._callbacks.now())
        self._end.incoming.write(data)
        self._decrypt()
        self._callbacks.end_turn()

    def _decrypt(self) -> None:
        """Decrypt all received data and deliver its frames."""
        reason, read = "", cast("Callable[[int, memoryview], int]", self._end.tls.read)
        while True:
            next_buffers = self._reader.next_buffers()[0]
            try:
                count: int = read(len(next_buffers), next_buffers)
            except ssl.SSLWantReadError:
                break
            except ssl.SSLZeroReturnError:
                reason = "the other end closed it"
                break
            except ssl.SSLError as error:
                reason = handshake_error_text(error)
                break
            if not count:
                break
            self._unread_frames.extend(self._reader.cut_frames(count))
        self._hand_over(None)
        if reason:
            self.abort(reason)
        elif self.is_open and self._end.outgoing.pending:
            self._write()  # For example the response to a key update.

    # -- sending ------------------------------------------------------------------------------

    def _write(self) -> None:
        while True:
            if not self._encrypted:
                self._encrypt()
                if not self._encrypted:
                    break
            try:
                count = self._socket.send(self._encrypted)
            except (BlockingIOError, InterruptedError):
                break
            except OSError as error:
                self._callbacks.call_soon(self.abort, str(error))
                return
            self.sent += count
            self._encrypted = self._encrypted[count:]
            if self._counts is not None:
                self._counts.operations.record(self._callbacks.now())
        self._watch_writable(bool(self._encrypted))

    def _encrypt(self) -> None:
        """Encrypt part of the pending data."""
        out, tls = self._outgoing, self._end.tls
        while out and self._end.outgoing.pending < SEALED_BYTES:
            # Small chunks share a TLS record, as each record has its own header and checksum.
            chunk = b"".join(islice(out, GATHERED_MAX)) if len(out[0]) < RECEIVED_BYTES else out[0]
            count = tls.write(chunk)
            self.waiting_bytes -= count
            drop_bytes(out, count)
        self._encrypted = memoryview(self._end.outgoing.read())
