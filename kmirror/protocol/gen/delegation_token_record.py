"""DelegationTokenRecord: metadata, key 10, versions 0, flexible from 0.

Generated from schemas/metadata/DelegationTokenRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_qqq, pack_qqq = wire.fused("qqq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DelegationTokenRecord(Message):
    """DelegationTokenRecord, versions 0."""

    owner: str = ""  # string
    requester: str = ""  # string
    renewers: list[str] = field(default_factory=list)  # []string
    issue_timestamp: int = 0  # int64
    max_timestamp: int = 0  # int64
    expiration_timestamp: int = 0  # int64
    token_id: str = ""  # string

    NAME: ClassVar[str] = "DelegationTokenRecord"
    TYPE: ClassVar[str] = "metadata"
    API_KEY: ClassVar[int | None] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Owner", "owner", "string", (0, 0), default=""),
        Field("Requester", "requester", "string", (0, 0), default=""),
        Field("Renewers", "renewers", "string", (0, 0), is_array=True, default=[]),
        Field("IssueTimestamp", "issue_timestamp", "int64", (0, 0), default=0),
        Field("MaxTimestamp", "max_timestamp", "int64", (0, 0), default=0),
        Field("ExpirationTimestamp", "expiration_timestamp", "int64", (0, 0), default=0),
        Field("TokenId", "token_id", "string", (0, 0), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.owner))
        put(wire.compact_string(self.requester))
        put(wire.compact_count(self.renewers))
        for text in self.renewers:
            put(wire.compact_string(text))
        put(pack_qqq(self.issue_timestamp, self.max_timestamp, self.expiration_timestamp))
        put(wire.compact_string(self.token_id))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DelegationTokenRecord, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.owner, pos = wire.read_compact_string(buf, pos)
        self.requester, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.renewers, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        self.issue_timestamp, self.max_timestamp, self.expiration_timestamp = unpack_qqq(buf, pos)
        pos += 24
        self.token_id, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
