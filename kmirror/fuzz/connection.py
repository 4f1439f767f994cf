"""A TCP connection to a broker that sends and returns raw frames."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from kmirror.fuzz.findings import Fault, FaultKind

TIMEOUT_S = 15.0
"""Timeout for requests that need not wait, in seconds."""
_FRAME_BYTES_MAX = 100 << 20


class ResponseTimeout(Exception):
    """No response arrived in time."""


class ConnectionClosed(Exception):
    """The broker closed the link."""


class Connection:
    """A connection to a broker, opened when first used."""

    def __init__(self, host: str, port: int) -> None:
        self.address = (host, port)
        self._socket: socket.socket | None = None

    def ask(self, frame: bytes, timeout_s: float) -> bytes:
        """Send a request and return its response; raises `ConnectionClosed`, `ResponseTimeout` or OSError."""
        self.send(frame)
        return self.receive(timeout_s)

    def send(self, frame: bytes) -> None:
        """Send a request, whose response `receive` returns; raises `ConnectionClosed` or OSError."""
        if self._socket is None:
            self._socket = socket.create_connection(self.address, TIMEOUT_S)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(TIMEOUT_S)
        with self._translate_errors():
            self._socket.sendall(len(frame).to_bytes(4, "big") + frame)

    def receive(self, timeout_s: float) -> bytes:
        """Return the next response; raises `ConnectionClosed`, or after `timeout_s` seconds `ResponseTimeout`."""
        assert self._socket is not None, "nothing was sent"
        self._socket.settimeout(timeout_s)
        with self._translate_errors():
            size = int.from_bytes(self._read(4), "big", signed=True)
            if not 0 <= size <= _FRAME_BYTES_MAX:
                raise Fault(FaultKind.REFUSED, f"an answer of {size} bytes", "size of an answer", "a size")
            return self._read(size)

    def has_data(self, within_s: float) -> bool:
        """Return whether a response, or the end of the link, arrives in time."""
        assert self._socket is not None, "nothing was sent"
        return bool(select.select([self._socket], [], [], within_s)[0])

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            self.close()
            raise ResponseTimeout from None
        except (ConnectionError, BrokenPipeError):
            self.close()
            raise ConnectionClosed from None

    def _read(self, size: int) -> bytes:
        assert self._socket is not None
        found = bytearray()
        while len(found) < size:
            chunk = self._socket.recv(size - len(found))
            if not chunk:
                raise ConnectionResetError
            found += chunk
        return bytes(found)

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
