"""Replay of a recording, to compare a cluster's responses with the recorded ones.

The requests are sent one after the other, in the order of the recording, with one connection for each recorded one.
Error codes are compared, and whether there is a response. Ids assigned by a broker (PIDs, member ids, session ids) are
sent as recorded, so responses that depend on them differ.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import NamedTuple

from kmirror.admin.client import checked_servers
from kmirror.client.remote_cluster import parse_servers
from kmirror.errors import KafkaError, ProtocolError
from kmirror.kernel.ids import Endpoint
from kmirror.net.loopback import check_loopback
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.headers import decode_response, encode_request, peek_request
from kmirror.protocol.registry import key_of
from kmirror.proxy.recording import RecordedRequest
from kmirror.proxy.traffic import errors_in
from kmirror.spec.error_codes import ErrorCode

TIMEOUT_S = 40.0
"""Timeout in seconds, longer than the default waits of clients."""
METADATA_VERSION = 4
_PORT = re.compile(r"broker (\d+)")
NO_RESPONSE = "no answer"


class ReplayedRequest(NamedTuple):
    """A request that was sent again."""

    recorded: RecordedRequest
    errors: tuple[str, ...]
    """Names of the error codes in the new response; only "no answer" if there was none."""

    @property
    def recorded_errors(self) -> tuple[str, ...]:
        """Return the same for the recorded response."""
        return self.recorded.errors if self.recorded.is_answered else (NO_RESPONSE,)

    @property
    def is_same(self) -> bool:
        """Return whether both are equal."""
        return self.errors == self.recorded_errors


def replay(
    lines: Iterable[RecordedRequest], bootstrap_servers: str, *, own_host: bool = False
) -> Iterator[ReplayedRequest]:
    """Send each recorded request to the cluster at `bootstrap_servers`; yield the results.

    Requests without a frame are skipped; those without a response (Produce with acks=0) are only sent. Raises
    UsageError for a host that is not loopback, unless `own_host` is set; KafkaError if the cluster cannot be reached.
    """
    server = parse_servers(checked_servers(bootstrap_servers))[0]
    with ExitStack() as stack:
        brokers = _brokers(server)
        if not own_host:
            for address in (server, *brokers.values()):
                check_loopback(address.host)
        connections: dict[tuple[str, int], _Connection] = {}
        for line in lines:
            if not line.frame:
                continue
            name = line.port, line.link
            connection = connections.get(name)
            if connection is None or not connection.is_open:
                found = _PORT.fullmatch(line.port)
                address = brokers.get(int(found[1]), server) if found else server
                connection = connections[name] = stack.enter_context(_Connection(address))
            yield ReplayedRequest(line, connection.replay(line))


def _brokers(server: Endpoint) -> dict[int, Endpoint]:
    frame = encode_request(MetadataRequest(topics=[]), METADATA_VERSION, correlation_id=0, client_id="kmirror-replay")
    with _Connection(server) as connection:
        response = connection.exchange(frame)
        if response is None:
            raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, f"{server} does not respond to Metadata")
        body = decode_response(response, key_of(MetadataRequest), METADATA_VERSION).body
        assert isinstance(body, MetadataResponse), body
        return {row.node_id: Endpoint(row.host, row.port) for row in body.brokers}


class _Connection:
    """A connection to a broker with one outstanding request at a time."""

    def __init__(self, address: Endpoint) -> None:
        try:
            self._socket = socket.create_connection(address, timeout=TIMEOUT_S)
        except OSError as error:
            raise KafkaError(ErrorCode.BROKER_NOT_AVAILABLE, f"cannot connect to {address}: {error}") from None
        self.is_open = True

    def __enter__(self) -> _Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def replay(self, line: RecordedRequest) -> tuple[str, ...]:
        """Return the error codes in the response to a recorded request."""
        response = self.exchange(line.frame, is_answered=line.is_answered or line.is_cut)
        if response is None:
            return (NO_RESPONSE,)
        try:
            head = peek_request(line.frame)
            body = decode_response(response, head.api_key, head.api_version).body
        except ProtocolError:
            return ("cannot be decoded",)
        return tuple(dict.fromkeys(errors_in(body, head.api_version)))

    def exchange(self, frame: bytes, *, is_answered: bool = True) -> bytes | None:
        """Send a request and return its response; None if the broker closes the connection, or none is expected."""
        try:
            self._socket.sendall(len(frame).to_bytes(4, "big") + frame)
            return self._read(int.from_bytes(self._read(4), "big")) if is_answered else None
        except OSError:
            self.is_open = False
            return None

    def _read(self, count: int) -> bytes:
        found = bytearray()
        while len(found) < count:
            part = self._socket.recv(min(count - len(found), 1 << 20))
            if not part:
                raise ConnectionResetError("the broker closed the connection")
            found += part
        return bytes(found)
