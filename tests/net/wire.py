"""A client of bare sockets, whose sent and received bytes are under the test's control."""

from __future__ import annotations

import socket
from typing import Self

from kmirror.kernel.ids import Endpoint
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of

WITHIN_S = 30.0
"""A deadline, not a measure."""


def frame_of(body: Message, version: int, correlation_id: int = 1) -> bytes:
    """Return a request in the form sent over a connection."""
    return with_size(encode_request(body, version, correlation_id=correlation_id, client_id="wire"))


def with_size(frame: bytes) -> bytes:
    """Return a frame preceded by its size."""
    return len(frame).to_bytes(4, "big") + frame


def parse_endpoint(server: str) -> Endpoint:
    host, _, port = server.rpartition(":")
    return Endpoint(host, int(port))


class Wire:
    """One connection."""

    def __init__(self, server: str) -> None:
        self.socket = socket.create_connection(parse_endpoint(server), timeout=WITHIN_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def read(self, count: int) -> bytes:
        """Return exactly `count` bytes; fewer if the other end closes."""
        found = b""
        while len(found) < count:
            try:
                part = self.socket.recv(count - len(found))
            except ConnectionResetError:
                break
            if not part:
                break
            found += part
        return found

    def frame(self) -> bytes:
        """Return the next frame."""
        return self.read(int.from_bytes(self.read(4), "big"))

    def is_closed(self) -> bool:
        """Wait until the other end has closed; any further bytes are discarded."""
        while self.read(65_536):
            pass
        return True

    def has_data(self, within_s: float) -> bool:
        """Wait for the first byte of a response, which remains unread; return whether it came."""
        self.socket.settimeout(within_s)
        try:
            return bool(self.socket.recv(1, socket.MSG_PEEK))
        except TimeoutError:
            return False
        finally:
            self.socket.settimeout(WITHIN_S)

    def ask(self, body: Message, version: int) -> Message:
        """Send a request and return the response; raises ConnectionResetError if the other end closes instead."""
        self.send(frame_of(body, version))
        frame = self.frame()
        if not frame:
            raise ConnectionResetError
        return decode_response(frame, key_of(type(body)), version).body
