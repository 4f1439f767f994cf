"""Fast path for repeated fetches: without new data, a fetch differs only in correlation id and session epoch.

Both ends of a link use this. The fetcher patches its previous frame; the broker compares and need not decode. The bytes
on the wire are the same as from the codec.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from kmirror.errors import LocalProtocolError
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.headers import RequestHead, encode_request, peek_request
from kmirror.protocol.registry import key_of
from kmirror.protocol.wire import Buffer

KEPT_BYTES_MAX = 512
"""Longer frames are not kept: they name partitions, so the next one hardly ever repeats them."""
_AFTER_CORRELATION_ID = 8
_FETCH = key_of(FetchRequest)
_new = tuple.__new__


@lru_cache(maxsize=1_000)
def _layout(epoch_at: int, size: int) -> tuple[Callable[..., bytes], Callable[[Buffer], tuple[Any, ...]]]:
    """Return the pack and unpack functions of a frame: constant, correlation id, constant, epoch, constant."""
    suffix_at = epoch_at + 4
    frame = struct.Struct(f">4si{max(epoch_at - _AFTER_CORRELATION_ID, 0)}si{max(size - suffix_at, 0)}s")
    return frame.pack, frame.unpack


@cache
def epoch_offset(version: int) -> int | None:
    """Return the position of the session epoch in the body of a fetch; None if the version has no sessions.

    Only fields of fixed size precede it.
    """
    try:
        zero, minus_one = (FetchRequest(session_epoch=epoch).encode(version) for epoch in (0, -1))
    except LocalProtocolError:
        return None
    found = next((at for at, pair in enumerate(zip(zero, minus_one, strict=True)) if pair[0] != pair[1]), None)
    assert found is None or (zero[found : found + 4], minus_one[found : found + 4]) == (bytes(4), b"\xff" * 4)
    return found


class RepeatedFetch:
    """A fetch that is sent repeatedly; between sends, only the session epoch of `request` may change."""

    __slots__ = ("_middle", "_pack", "_prefix", "_prepared_for", "_suffix", "request")

    def __init__(self, request: FetchRequest) -> None:
        self.request = request
        self._prepared_for: tuple[int, str] | None = None
        self._prefix = self._middle = self._suffix = b""
        self._pack = _layout(0, 0)[0]

    def frame(self, version: int, *, correlation_id: int, client_id: str) -> bytes:
        """Return the frame; raises LocalProtocolError if the version cannot carry it."""
        if self._prepared_for != (version, client_id):
            self._prepare(version, client_id)
        return self._pack(self._prefix, correlation_id, self._middle, self.request.session_epoch, self._suffix)

    def _prepare(self, version: int, client_id: str) -> None:
        frame = encode_request(self.request, version, correlation_id=0, client_id=client_id)
        offset = epoch_offset(version)
        if offset is None:
            raise LocalProtocolError(f"FetchRequest version {version} has no session epoch")
        at = peek_request(frame).body_position + offset
        self._pack, unpack = _layout(at, len(frame))
        self._prefix, _, self._middle, _, self._suffix = unpack(frame)
        self._prepared_for = version, client_id


class LastFetch:
    """The last fetch received on a link, to recognise a repetition of it."""

    __slots__ = ("_body_at", "_client_id", "_middle", "_prefix", "_size", "_suffix", "_unpack", "request", "version")

    def __init__(self, frame: Buffer, head: RequestHead, request: FetchRequest, offset: int) -> None:
        frame = bytes(frame)
        self.request = request
        self.version = head.api_version
        self._client_id = head.client_id
        self._body_at = head.body_position
        self._size = len(frame)
        _, self._unpack = _layout(head.body_position + offset, len(frame))
        self._prefix, _, self._middle, _, self._suffix = self._unpack(frame)

    def match(self, frame: Buffer) -> tuple[RequestHead, FetchRequest] | None:
        """Return head and body of `frame` if it differs in correlation id and session epoch at most, else None.

        The body is the same object as before, so earlier holders must not use it any more.
        """
        if len(frame) != self._size:
            return None
        prefix, correlation_id, middle, epoch, suffix = self._unpack(frame)
        if middle != self._middle or suffix != self._suffix or prefix != self._prefix:
            return None
        request = self.request
        request.session_epoch = epoch
        head = _new(RequestHead, (_FETCH, self.version, correlation_id, self._client_id, self._body_at))
        return head, request


def last_fetch(frame: Buffer, head: RequestHead, request: FetchRequest) -> LastFetch | None:
    """Return the state to recognise repetitions of a decoded fetch; None if it will not repeat.

    In a session, a fetch lists only changed partitions, and the next fetch does not list them again.
    """
    offset = epoch_offset(head.api_version)
    if offset is None or len(frame) > KEPT_BYTES_MAX or (request.session_id and request.topics):
        return None
    return LastFetch(frame, head, request, offset)
