"""RemoveRaftVoterRequest: request, key 81, versions 0, flexible from 0.

Generated from schemas/kafka/RemoveRaftVoterRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag


class RemoveRaftVoterRequest(Message):
    """RemoveRaftVoterRequest, versions 0."""

    __slots__ = ("cluster_id", "voter_id", "voter_directory_id")

    NAME = "RemoveRaftVoterRequest"
    TYPE = "request"
    API_KEY = 81
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ClusterId", "cluster_id", "string", (0, 0), nullable=(0, 0), default=""),
        Field("VoterId", "voter_id", "int32", (0, 0), default=0),
        Field("VoterDirectoryId", "voter_directory_id", "uuid", (0, 0), default=Uuid.ZERO),
    )

    def __init__(
        self,
        cluster_id: str | None = "",  # string
        voter_id: int = 0,  # int32
        voter_directory_id: Uuid = Uuid.ZERO,  # uuid
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_string(self.cluster_id))
        put(wire.pack_int32(self.voter_id))
        put(wire.uuid(self.voter_directory_id))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RemoveRaftVoterRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.cluster_id, pos = wire.read_compact_nullable_string(buf, pos)
        (self.voter_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.voter_directory_id, pos = wire.read_uuid(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
