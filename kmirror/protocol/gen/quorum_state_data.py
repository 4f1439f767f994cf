"""QuorumStateData: data, versions 0-1, flexible from 0.

Generated from schemas/raft/QuorumStateData.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_iii, pack_iii = wire.fused("iii")


class Voter(Struct):
    """Part of QuorumStateData, v0."""

    __slots__ = ("voter_id",)

    FIELDS = (
        Field("VoterId", "voter_id", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        voter_id: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.voter_id = voter_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.voter_id))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Voter, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.voter_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class QuorumStateData(Message):
    """QuorumStateData, versions 0-1."""

    __slots__ = (
        "cluster_id",
        "leader_id",
        "leader_epoch",
        "voted_id",
        "voted_directory_id",
        "applied_offset",
        "current_voters",
    )

    NAME = "QuorumStateData"
    TYPE = "data"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
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

    def __init__(
        self,
        cluster_id: str = "",  # string, v0
        leader_id: int = -1,  # int32
        leader_epoch: int = -1,  # int32
        voted_id: int = -1,  # int32
        voted_directory_id: Uuid = Uuid.ZERO,  # uuid, v1+
        applied_offset: int = 0,  # int64, v0
        current_voters: list[Voter] | None = UNSET,  # []Voter, v0
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.cluster_id = cluster_id
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.voted_id = voted_id
        self.voted_directory_id = voted_directory_id
        self.applied_offset = applied_offset
        self.current_voters = [] if current_voters is UNSET else current_voters
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[QuorumStateData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
