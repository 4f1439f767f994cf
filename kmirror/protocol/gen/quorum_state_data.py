"""QuorumStateData: data, versions 0-1, flexible from 0.

Generated from schemas/raft/QuorumStateData.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_iii, pack_iii = wire.fused("iii")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class Voter(Struct):
    """Part of QuorumStateData, v0."""

    voter_id: int = 0  # int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("VoterId", "voter_id", "int32", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.voter_id))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Voter, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.voter_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class QuorumStateData(Message):
    """QuorumStateData, versions 0-1."""

    cluster_id: str = ""  # string, v0
    leader_id: int = -1  # int32
    leader_epoch: int = -1  # int32
    voted_id: int = -1  # int32
    voted_directory_id: Uuid = Uuid.ZERO  # uuid, v1+
    applied_offset: int = 0  # int64, v0
    current_voters: list[Voter] | None = field(default_factory=list)  # []Voter, v0

    NAME: ClassVar[str] = "QuorumStateData"
    TYPE: ClassVar[str] = "data"
    API_KEY: ClassVar[int | None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ClusterId", "cluster_id", "string", (0, 0), default=""),
        Field("LeaderId", "leader_id", "int32", (0, 1), default=-1),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 1), default=-1),
        Field("VotedId", "voted_id", "int32", (0, 1), default=-1),
        Field("VotedDirectoryId", "voted_directory_id", "uuid", (1, 1), default=Uuid.ZERO),
        Field("AppliedOffset", "applied_offset", "int64", (0, 0), default=0),
        Field(
            "CurrentVoters",
            "current_voters",
            "struct",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            default=[],
            struct=Voter,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        if version <= 0:
            put(wire.compact_string(self.cluster_id))
        elif self.cluster_id:
            raise wire.Unwritable
        put(pack_iii(self.leader_id, self.leader_epoch, self.voted_id))
        if version >= 1:
            put(wire.uuid(self.voted_directory_id))
        elif self.voted_directory_id != Uuid.ZERO:
            raise wire.Unwritable
        if version <= 0:
            put(wire.pack_int64(self.applied_offset))
        elif self.applied_offset:
            raise wire.Unwritable
        if version <= 0:
            put(wire.compact_nullable_count(self.current_voters))
            for voter in self.current_voters or ():
                voter._write(put, version)
        elif (self.current_voters is None or len(self.current_voters)):
            raise wire.Unwritable
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[QuorumStateData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        if version <= 0:
            self.cluster_id, pos = wire.read_compact_string(buf, pos)
        else:
            self.cluster_id = ""
        self.leader_id, self.leader_epoch, self.voted_id = unpack_iii(buf, pos)
        pos += 12
        if version >= 1:
            self.voted_directory_id, pos = wire.read_uuid(buf, pos)
        else:
            self.voted_directory_id = Uuid.ZERO
        if version <= 0:
            (self.applied_offset,) = wire.unpack_int64(buf, pos)
            pos += 8
        else:
            self.applied_offset = 0
        if version <= 0:
            n, pos = wire.read_compact_nullable_count(buf, pos, 5)
            if n < 0:
                self.current_voters = None
            else:
                self.current_voters, pos = wire.read_structs(Voter._read, buf, pos, n, version)
        else:
            self.current_voters = []
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
