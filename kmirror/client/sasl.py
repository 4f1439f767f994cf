"""What is a SASL mechanism to a client? Who sends what first, and what it answers; PLAIN (RFC 4616) is the shortest."""

from __future__ import annotations

from typing import Protocol

from kmirror.errors import KmirrorError

PLAIN = "PLAIN"


class SaslFailure(KmirrorError):
    """The exchange cannot go on: the broker's message is not what the mechanism allows. Has no secrets in it."""


class Mechanism(Protocol):
    """One exchange."""

    def first(self) -> bytes:
        """Return the client's first message."""
        ...

    def respond(self, challenge: bytes) -> bytes | None:
        """Return the answer to a message of the server, None if the exchange is over; or raise SaslFailure."""
        ...


class PlainClient:
    """Name and password as they are: to be used over TLS."""

    def __init__(self, username: str, password: str) -> None:
        self._message = b"\0".join((b"", username.encode(), password.encode()))

    def first(self) -> bytes:
        """Return name and password."""
        return self._message

    def respond(self, challenge: bytes) -> None:
        """End the exchange: a server has nothing to say."""
