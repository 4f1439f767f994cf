"""What does a node say of a link that is to be encrypted? Whom it trusts, and by what it is known itself.

Only values: files are read, and certificates judged, by whoever runs the node. Nothing of a store's contents or
passwords is in the `repr`, so that settings may stand in traces and journals.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Store:
    """Keys or certificates: in a file, or as PEM text. At most one of `location` and `pem` is set."""

    kind: str
    """PEM, PKCS12 or JKS, in capitals (Kafka's `ssl.truststore.type` and `ssl.keystore.type`)."""
    location: str = ""
    pem: str = field(default="", repr=False)
    """The certificates in PEM; of a key store its chain."""
    key: str = field(default="", repr=False)
    """The private key in PEM, if it stands in the configs."""
    password: str | None = field(default=None, repr=False)
    """That of the file."""
    key_password: str | None = field(default=None, repr=False)
    """That of the private key, if it is encrypted."""


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """How to speak TLS to a server."""

    trusted: Store | None = None
    """Certificate authorities that are trusted; None for those of the system."""
    own: Store | None = None
    """What we show to a server that wants to know its clients; None for nothing."""
    checks_host: bool = True
    """Does the server's certificate have to name the host that we connect to?"""
    protocols: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")
    """Those that may be spoken, by Java's names."""
