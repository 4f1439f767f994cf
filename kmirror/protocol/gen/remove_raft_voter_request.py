"""RemoveRaftVoterRequest: request, key 81, versions 0, flexible from 0.

Generated from schemas/kafka/RemoveRaftVoterRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message
from kmirror.protocol.uuid import Uuid


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class RemoveRaftVoterRequest(Message):
    """RemoveRaftVoterRequest, versions 0."""

    cluster_id: str | None = ""  # string
    voter_id: int = 0  # int32
    voter_directory_id: Uuid = Uuid.ZERO  # uuid

    NAME: ClassVar[str] = "RemoveRaftVoterRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 81
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ClusterId", "cluster_id", "string", (0, 0), nullable=(0, 0), default=""),
        Field("VoterId", "voter_id", "int32", (0, 0), default=0),
        Field("VoterDirectoryId", "voter_directory_id", "uuid", (0, 0), default=Uuid.ZERO),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_string(self.cluster_id))
        put(wire.pack_int32(self.voter_id))
        put(wire.uuid(self.voter_directory_id))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RemoveRaftVoterRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.cluster_id, pos = wire.read_compact_nullable_string(buf, pos)
        (self.voter_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.voter_directory_id, pos = wire.read_uuid(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
