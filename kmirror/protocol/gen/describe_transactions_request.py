"""DescribeTransactionsRequest: request, key 65, versions 0, flexible from 0.

Generated from schemas/kafka/DescribeTransactionsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, UNSET
from kmirror.protocol.wire import UnknownTag


class DescribeTransactionsRequest(Message):
    """DescribeTransactionsRequest, versions 0."""

    __slots__ = ("transactional_ids",)

    NAME = "DescribeTransactionsRequest"
    TYPE = "request"
    API_KEY = 65
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field(
            "TransactionalIds",
            "transactional_ids",
            "string",
            (0, 0),
            is_array=True,
            default=[],
            entity="transactionalId",
        ),
    )

    def __init__(
        self,
        transactional_ids: list[str] = UNSET,  # []string, transactionalId
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.transactional_ids = [] if transactional_ids is UNSET else transactional_ids
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.transactional_ids))
        for text in self.transactional_ids:
            put(wire.compact_string(text))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeTransactionsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.transactional_ids, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
