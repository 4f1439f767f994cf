"""Frames that pass through the simulated network: each is decoded once, and counted by the rows of its API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kmirror.protocol.headers import decode_body, decode_response, peek_request, peek_response
from kmirror.protocol.message import Message
from kmirror.sim.history.coverage.codes import error_codes
from kmirror.sim.history.coverage.messages import CLIENT, MIRROR, PEER, Answered, Asked
from kmirror.sim.history.coverage.row import How, Row
from kmirror.sim.network import Link, Passing
from kmirror.sim.world import World
from kmirror.spec.api_keys import API_KEYS
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import Acks

_NAMES = {key: name for name, key in API_KEYS.items()}
_FETCH = API_KEYS["Fetch"]
_EMPTY_FETCH = 24
"""Bytes of the answer of a fetch session that has nothing new, in any version."""
Count = Callable[[str], None]


class Frames:
    """Follows the requests on each link until they are answered."""

    def __init__(self, world: World, rows: tuple[Row, ...], count: Count) -> None:
        self._world = world
        self._count = count
        self._open: dict[int, dict[int, tuple[int, int, Message | None]]] = {}
        """Link to what is under way on it: correlation id to key, version and, if a row wants it, the request."""
        self.last_key = -1
        """Of the API of the frame that was seen last."""
        self._asked = _by_api(rows, How.REQUEST)
        self._answered = _by_api(rows, How.ANSWER)

    def on_frame(self, passing: Passing, link: Link, frame: bytes) -> None:
        """Count what a frame tells; called before its receiver is given it."""
        if passing is Passing.REQUEST:
            self._on_request(link, frame)
            return
        under_way = self._open.get(link.number, {})
        request = under_way.get(int.from_bytes(frame[:4], "big"))
        if request is None:
            return
        key, version, _ = request
        self.last_key = key
        if passing is Passing.LOST:
            self._count("link.answer-lost")
        elif passing is Passing.TOO_LATE:
            self._count("link.answer-too-late")
        elif passing is Passing.SENT:
            self._on_answer("sent", key, version, link, frame)
        else:
            del under_way[int.from_bytes(frame[:4], "big")]
            self._count(f"answered.{_NAMES[key]}")
            self._on_answer("received", key, version, link, frame)

    def _role(self, link: Link) -> str:
        client, server = self._world.processes[link.client], self._world.processes[link.server]
        if not client.is_server:
            return CLIENT
        return PEER if client.site == server.site else MIRROR

    def _on_request(self, link: Link, frame: bytes) -> None:
        head = peek_request(frame)
        under_way = self._open.setdefault(link.number, {})
        rows = self._asked.get(head.api_key)
        role = self._role(link)
        body: Message | None = None
        if rows is not None and not (role == PEER and head.api_key == _FETCH):
            body = decode_body(frame, head)
            before = tuple(kept for key, _, kept in under_way.values() if key == head.api_key)
            server = self._world.processes[link.server].inside
            assert server is not None, "it is about to be given the frame"
            asked = Asked(body, role, server, before)
            self._tell(rows, asked)
        if getattr(body, "acks", Acks.ALL) != Acks.NONE:  # Else no answer comes.
            under_way[head.correlation_id] = head.api_key, head.api_version, body

    def _on_answer(self, way: str, key: int, version: int, link: Link, frame: bytes) -> None:
        if key == _FETCH and len(frame) <= _EMPTY_FETCH:
            body: Any = None
            at = peek_response(frame, key, version).body_position
            throttled, codes = any(frame[at : at + 4]), [int.from_bytes(frame[at + 4 : at + 6], "big", signed=True)]
        else:
            body = decode_response(frame, key, version).body
            throttled, codes = getattr(body, "throttle_time_ms", 0) > 0, list(error_codes(body))
        for code in codes:
            if code:
                self._count(f"{way}.{_NAMES[key]}.{ErrorCode(code).name}")
        if way == "sent":
            if throttled:
                self._count("quota.throttled")
        elif body is not None and (rows := self._answered.get(key)) is not None:
            self._tell(rows, Answered(body, self._role(link)))

    def _tell(self, rows: list[Row], seen: Asked | Answered) -> None:
        for row in rows:
            assert row.test is not None, row.name
            for _ in range(row.test(seen)):
                self._count(row.name)


def _by_api(rows: tuple[Row, ...], how: How) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        if row.how is how and row.test is not None:
            found.setdefault(API_KEYS[row.api], []).append(row)
    return found
