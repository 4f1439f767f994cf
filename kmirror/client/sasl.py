"""SASL mechanisms for a client: the messages of an exchange; PLAIN (RFC 4616) is the shortest."""

from __future__ import annotations

from typing import Protocol

from kmirror.errors import KmirrorError

PLAIN = "PLAIN"


class SaslError(KmirrorError):
    """The exchange failed: the broker's message violates the mechanism. The text has no secrets."""


class Mechanism(Protocol):
    """One exchange."""

    def first(self) -> bytes:
        """Return the client's first message."""
        ...

    def respond(self, challenge: bytes) -> bytes | None:
        """Return the reply to a message of the server, None if the exchange is over; raises SaslError."""
        ...


class PlainClient:
    """Sends name and password in clear text, so it should be used over TLS."""

    def __init__(self, username: str, password: str) -> None:
        self._message = b"\0".join((b"", username.encode(), password.encode()))

    def first(self) -> bytes:
        """Return name and password."""
        return self._message

    def respond(self, challenge: bytes) -> None:
        """End the exchange: the server's message has no content."""
