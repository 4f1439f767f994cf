"""Stored form of a broken response for replay: its position in the session, and its bytes without values of one run.

A response that is delivered wrongly has a number instead of bytes, as its bytes are the broker's.

The correlation id is stored XORed with the client's, so 0 is the right one. Ports and ids that differ per run are
replaced by names: in a stored response 127.0.0.1:1 is the first port of the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kmirror.errors import UsageError
from kmirror.fuzz.clients.delivery_faults import Delivery
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.registry import find_response

_HEAD_BYTES = 9
_DELIVERY_AT = 8
_ID_BYTES = 4


class Entry(NamedTuple):
    """A broken response to the `nth` request of an API in a session, counted from 0 over all its links."""

    key: int
    version: int
    nth: int
    data: bytes
    """Its bytes if its delivery is WHOLE, otherwise the number of the delivery."""
    delivery: Delivery = Delivery.WHOLE

    @property
    def name(self) -> str:
        """Return the name of the message, as in MetadataResponse."""
        response = find_response(self.key)
        return f"the response of API {self.key}" if response is None else response.NAME

    @property
    def head(self) -> bytes:
        """Return the stored prefix of the data: key, version, number and delivery."""
        position = self.key.to_bytes(2, "big") + self.version.to_bytes(2, "big") + self.nth.to_bytes(4, "big")
        return position + self.delivery.to_bytes(1, "big")

    @property
    def full_name(self) -> str:
        """Return the name of the message, with its delivery fault."""
        return self.name + self.delivery.name_suffix

    def to_bytes(self) -> bytes:
        """Return the stored form."""
        return self.head + self.data

    def __str__(self) -> str:
        return f"{self.name} v{self.version}, number {self.nth}{self.delivery.name_suffix}"


def read_entry(raw: bytes) -> Entry:
    """Return a stored entry; raises `UsageError` if it is invalid."""
    if len(raw) < _HEAD_BYTES:
        raise UsageError(f"a stored response has its API, version, number and delivery: at least {_HEAD_BYTES} bytes")
    key, version = int.from_bytes(raw[:2], "big"), int.from_bytes(raw[2:4], "big")
    try:
        delivery = Delivery(raw[_DELIVERY_AT])
    except ValueError:
        raise UsageError(f"a stored response has an unknown delivery: {raw[_DELIVERY_AT]}") from None
    return Entry(key, version, int.from_bytes(raw[4:_DELIVERY_AT], "big"), raw[_HEAD_BYTES:], delivery)


def with_xored_id(frame: bytes, correlation_id: bytes) -> bytes:
    """Return the frame with its correlation id XORed with the client's; applied twice it returns the original."""
    if len(frame) < _ID_BYTES:
        return frame
    return bytes(a ^ b for a, b in zip(frame, correlation_id, strict=False)) + frame[_ID_BYTES:]


class Names:
    """Mapping between the ports and ids of a run and their names in stored responses."""

    def __init__(self, ports: Iterable[Endpoint] = (), ids: Iterable[Uuid] = ()) -> None:
        self._pairs = [
            (_address(endpoint.host, endpoint.port), _address(endpoint.host, number))
            for number, endpoint in enumerate(ports, 1)
        ] + [(bytes(each), b"the id no. %05d" % number) for number, each in enumerate(ids, 1)]

    def to_stored(self, data: bytes) -> bytes:
        """Return the stored form of a response."""
        for actual, name in self._pairs:
            data = data.replace(actual, name)
        return data

    def from_stored(self, data: bytes) -> bytes:
        """Return a stored response with the ports and ids of this run."""
        for actual, name in self._pairs:
            data = data.replace(name, actual)
        return data


def _address(host: str, port: int) -> bytes:
    """Return host and 4-byte port, adjacent as in all responses that name brokers."""
    return host.encode() + port.to_bytes(4, "big")
