"""The client's principal and address, encoded as in an Envelope request (KIP-590)."""

from __future__ import annotations

from ipaddress import ip_address

from kmirror.errors import ProtocolError
from kmirror.kernel.ids import Principal
from kmirror.protocol.gen.default_principal_data import DefaultPrincipalData

PRINCIPAL_VERSION = 0
"""The only version of DefaultPrincipalData, written before the data as an int16 (DefaultKafkaPrincipalBuilder)."""


def principal_bytes(principal: Principal) -> bytes:
    """Encode a principal."""
    data = DefaultPrincipalData(type=principal.type, name=principal.name, token_authenticated=False)
    return PRINCIPAL_VERSION.to_bytes(2, "big") + data.encode(PRINCIPAL_VERSION)


def principal_from(data: bytes | memoryview | None) -> Principal:
    """Return the encoded principal; raise ProtocolError if it cannot be decoded."""
    if data is None or len(data) < 2 or int.from_bytes(data[:2], "big") != PRINCIPAL_VERSION:
        raise ProtocolError("the principal is missing or has an unknown version")
    read = DefaultPrincipalData.decode(data[2:], PRINCIPAL_VERSION)
    return Principal(read.type, read.name)


def host_bytes(host: str) -> bytes:
    """Return the 4 or 16 bytes of an IP address."""
    return ip_address(host).packed


def host_from(data: bytes | memoryview) -> str:
    """Return the encoded IP address; raise ProtocolError if it cannot be decoded."""
    try:
        return str(ip_address(bytes(data)))
    except ValueError:
        raise ProtocolError(f"invalid IP address of {len(data)} bytes, expected 4 or 16") from None
