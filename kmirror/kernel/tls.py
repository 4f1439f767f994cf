"""TLS settings of a link: trusted certificates, and the node's own certificate.

These are values only: the runner of the node reads files and verifies certificates. The `repr` contains no store
contents or passwords, so settings may appear in traces and journals.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Store:
    """Keys or certificates, in a file or as PEM text. At most one of `location` and `pem` is set."""

    kind: str
    """PEM, PKCS12 or JKS, in upper case (Kafka's `ssl.truststore.type` and `ssl.keystore.type`)."""
    location: str = ""
    pem: str = field(default="", repr=False)
    """Certificates in PEM; the certificate chain in a key store."""
    key: str = field(default="", repr=False)
    """Private key in PEM, if it is in the configs."""
    password: str | None = field(default=None, repr=False)
    """Password of the file."""
    key_password: str | None = field(default=None, repr=False)
    """Password of the private key, if it is encrypted."""


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """Settings for connecting to a server with TLS."""

    trusted: Store | None = None
    """Trusted certificate authorities; None for those of the system."""
    own: Store | None = None
    """Certificate to present if the server requests one; None to present none."""
    checks_host: bool = True
    """If True, the server's certificate must contain the host name of the connection."""
    protocols: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")
    """Allowed protocol versions, by Java's names."""
