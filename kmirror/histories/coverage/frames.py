"""Frames of the simulated network, each decoded once and counted by the rows of its API."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kmirror.histories.coverage.codes import error_codes
from kmirror.histories.coverage.messages import CLIENT, MIRROR, PEER, ReceivedRequest, ReceivedResponse
from kmirror.histories.coverage.row import Origin, Row
from kmirror.protocol.headers import decode_request_body, decode_response, peek_request, peek_response
from kmirror.protocol.message import Message
from kmirror.sim.network import Link, Passing
from kmirror.sim.world import World
from kmirror.spec.api_keys import API_KEYS
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import Acks

_NAMES = {key: name for name, key in API_KEYS.items()}
_FETCH = API_KEYS["Fetch"]
_EMPTY_FETCH = 24
"""Size in bytes of a response without changes in a fetch session, in any version."""
Count = Callable[[str], None]


@dataclass(slots=True)
class _OpenRequest:
    """A request without a response, or with a response in transit."""

    key: int
    version: int
    body: Message | None
    """Request, if a row needs it."""
    answer: Message | None = None
    """Response once it was sent; None for a fetch response without changes."""
    codes: list[str] = field(default_factory=list)
    """Names of the error codes in the response."""


class Frames:
    """Follows the requests on each link until they are answered."""

    def __init__(self, world: World, rows: tuple[Row, ...], count: Count) -> None:
        self._world = world
        self._count = count
        self._open: dict[int, dict[int, _OpenRequest]] = {}
        """Link number to requests by correlation id."""
        self.last_key = -1
        """API key of the last frame."""
        self._request_rows = _rows_by_api(rows, Origin.REQUEST)
        self._response_rows = _rows_by_api(rows, Origin.ANSWER)

    def on_frame(self, passing: Passing, link: Link, frame: bytes) -> None:
        """Count the rows that a frame matches; called before its receiver gets it."""
        if passing is Passing.REQUEST:
            self._on_request(link, frame)
            return
        open_requests = self._open.get(link.number, {})
        number = int.from_bytes(frame[:4], "big")
        request = open_requests.get(number)
        if request is None:
            return
        self.last_key = request.key
        if passing is Passing.LOST:
            self._count("link.answer-lost")
        elif passing is Passing.TOO_LATE:
            self._count("link.answer-too-late")
        elif passing is Passing.SENT:
            self._read_answer(request, frame)
            self._count_codes("sent", request)
        else:
            del open_requests[number]
            self._count(f"answered.{_NAMES[request.key]}")
            self._count_codes("received", request)
            rows = self._response_rows.get(request.key)
            if rows is not None and request.answer is not None:
                self._count_matches(rows, ReceivedResponse(request.answer, self._role(link)))

    def _role(self, link: Link) -> str:
        client, server = self._world.processes[link.client], self._world.processes[link.server]
        if not client.is_server:
            return CLIENT
        return PEER if client.site == server.site else MIRROR

    def _on_request(self, link: Link, frame: bytes) -> None:
        header = peek_request(frame)
        open_requests = self._open.setdefault(link.number, {})
        rows = self._request_rows.get(header.api_key)
        role = self._role(link)
        body: Message | None = None
        if rows is not None and not (role == PEER and header.api_key == _FETCH):
            body = decode_request_body(frame, header)
            before = tuple(other.body for other in open_requests.values() if other.key == header.api_key)
            server = self._world.processes[link.server].inner_node
            assert server is not None, "it is about to be given the frame"
            received = ReceivedRequest(body, role, server, before, self._world.now)
            self._count_matches(rows, received)
        if getattr(body, "acks", Acks.ALL) != Acks.NONE:  # Otherwise there is no response.
            open_requests[header.correlation_id] = _OpenRequest(header.api_key, header.api_version, body)

    def _read_answer(self, request: _OpenRequest, frame: bytes) -> None:
        if request.key == _FETCH and len(frame) <= _EMPTY_FETCH:
            at = peek_response(frame, request.key, request.version).body_position
            throttled, codes = any(frame[at : at + 4]), [int.from_bytes(frame[at + 4 : at + 6], "big", signed=True)]
        else:
            body: Any = decode_response(frame, request.key, request.version).body
            throttled, codes = getattr(body, "throttle_time_ms", 0) > 0, list(error_codes(body))
            request.answer = body
        request.codes = [ErrorCode(code).name for code in codes if code]
        if throttled:
            self._count("quota.throttled")

    def _count_codes(self, direction: str, request: _OpenRequest) -> None:
        for name in request.codes:
            self._count(f"{direction}.{_NAMES[request.key]}.{name}")

    def _count_matches(self, rows: list[Row], message: ReceivedRequest | ReceivedResponse) -> None:
        for row in rows:
            assert row.test is not None, row.name
            for _ in range(row.test(message)):
                self._count(row.name)


def _rows_by_api(rows: tuple[Row, ...], origin: Origin) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        if row.origin is origin and row.test is not None:
            found.setdefault(API_KEYS[row.api], []).append(row)
    return found
