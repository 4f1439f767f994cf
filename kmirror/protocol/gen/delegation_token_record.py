"""DelegationTokenRecord: metadata, key 10, versions 0, flexible from 0.

Generated from schemas/metadata/DelegationTokenRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_qqq, pack_qqq = wire.fused("qqq")


class DelegationTokenRecord(Message):
    """DelegationTokenRecord, versions 0."""

    __slots__ = (
        "owner",
        "requester",
        "renewers",
        "issue_timestamp",
        "max_timestamp",
        "expiration_timestamp",
        "token_id",
    )

    NAME = "DelegationTokenRecord"
    TYPE = "metadata"
    API_KEY = 10
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Owner", "owner", "string", (0, 0), default=""),
        Field("Requester", "requester", "string", (0, 0), default=""),
        Field("Renewers", "renewers", "string", (0, 0), is_array=True, default=[]),
        Field("IssueTimestamp", "issue_timestamp", "int64", (0, 0), default=0),
        Field("MaxTimestamp", "max_timestamp", "int64", (0, 0), default=0),
        Field("ExpirationTimestamp", "expiration_timestamp", "int64", (0, 0), default=0),
        Field("TokenId", "token_id", "string", (0, 0), default=""),
    )

    def __init__(
        self,
        owner: str = "",  # string
        requester: str = "",  # string
        renewers: list[str] = UNSET,  # []string
        issue_timestamp: int = 0,  # int64
        max_timestamp: int = 0,  # int64
        expiration_timestamp: int = 0,  # int64
        token_id: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.owner = owner
        self.requester = requester
        self.renewers = [] if renewers is UNSET else renewers
        self.issue_timestamp = issue_timestamp
        self.max_timestamp = max_timestamp
        self.expiration_timestamp = expiration_timestamp
        self.token_id = token_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.owner))
        put(wire.compact_string(self.requester))
        put(wire.compact_count(self.renewers))
        for text in self.renewers:
            put(wire.compact_string(text))
        put(pack_qqq(self.issue_timestamp, self.max_timestamp, self.expiration_timestamp))
        put(wire.compact_string(self.token_id))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DelegationTokenRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.owner, pos = wire.read_compact_string(buf, pos)
        self.requester, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.renewers, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        self.issue_timestamp, self.max_timestamp, self.expiration_timestamp = unpack_qqq(buf, pos)
        pos += 24
        self.token_id, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
