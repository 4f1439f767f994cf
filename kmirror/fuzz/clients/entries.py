"""How is an answer kept, so that it can be given again? With its place in the session, and without what changes.

One that is sent in another way than whole has a number in place of its bytes: those are the broker's.

The correlation id is kept as what it differs by from the client's: 0 if it is the client's. Ports and ids that are
drawn anew for each run stand for themselves under names: in a kept answer 127.0.0.1:1 is the first port of the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kmirror.errors import UsageError
from kmirror.fuzz.clients.ways import Way
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.registry import find_response

_HEAD_BYTES = 9
_WAY_AT = 8
_ID_BYTES = 4


class Entry(NamedTuple):
    """A broken answer: to the `nth` request of an API in a session, counted from 0 over all its links."""

    key: int
    version: int
    nth: int
    data: bytes
    """Its bytes if it is sent whole, else the number of its way."""
    way: Way = Way.WHOLE

    @property
    def name(self) -> str:
        """Return the name of the message, as in MetadataResponse."""
        response = find_response(self.key)
        return f"the answer of API {self.key}" if response is None else response.NAME

    @property
    def head(self) -> bytes:
        """Return what stands before the data where an entry is kept: key, version, number and way."""
        place = self.key.to_bytes(2, "big") + self.version.to_bytes(2, "big") + self.nth.to_bytes(4, "big")
        return place + self.way.to_bytes(1, "big")

    @property
    def about(self) -> str:
        """Return the name of the message, and the way in which it is sent."""
        return self.name + self.way.about

    def to_bytes(self) -> bytes:
        """Return the entry as it is kept."""
        return self.head + self.data

    def __str__(self) -> str:
        return f"{self.name} v{self.version}, number {self.nth}{self.way.about}"


def read_entry(raw: bytes) -> Entry:
    """Return a kept entry; raises `UsageError` if it is none."""
    if len(raw) < _HEAD_BYTES:
        raise UsageError(f"an answer is kept with its API, version, number and way: {_HEAD_BYTES} bytes and more")
    key, version = int.from_bytes(raw[:2], "big"), int.from_bytes(raw[2:4], "big")
    try:
        way = Way(raw[_WAY_AT])
    except ValueError:
        raise UsageError(f"an answer is kept that is sent in a way that is not known: {raw[_WAY_AT]}") from None
    return Entry(key, version, int.from_bytes(raw[4:_WAY_AT], "big"), raw[_HEAD_BYTES:], way)


def xored(frame: bytes, correlation_id: bytes) -> bytes:
    """Return the frame with its correlation id kept relative to the client's, or the other way round."""
    if len(frame) < _ID_BYTES:
        return frame
    return bytes(a ^ b for a, b in zip(frame, correlation_id, strict=False)) + frame[_ID_BYTES:]


class Names:
    """What stands in kept answers for the ports and ids of a run."""

    def __init__(self, ports: Iterable[Endpoint] = (), ids: Iterable[Uuid] = ()) -> None:
        self._pairs = [
            (_address(at.host, at.port), _address(at.host, number)) for number, at in enumerate(ports, 1)
        ] + [(bytes(each), b"the id no. %05d" % number) for number, each in enumerate(ids, 1)]

    def kept(self, data: bytes) -> bytes:
        """Return an answer as it is kept."""
        for here, name in self._pairs:
            data = data.replace(here, name)
        return data

    def given(self, data: bytes) -> bytes:
        """Return a kept answer as it is given in this run."""
        for here, name in self._pairs:
            data = data.replace(name, here)
        return data


def _address(host: str, port: int) -> bytes:
    """Return what all answers that name brokers have one after the other: a host, and a port of four bytes."""
    return host.encode() + port.to_bytes(4, "big")
