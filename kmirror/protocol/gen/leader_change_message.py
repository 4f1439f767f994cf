"""LeaderChangeMessage: data, versions 0-1, flexible from 0.

Generated from schemas/kafka/LeaderChangeMessage.json.
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

unpack_hi, pack_hi = wire.fused("hi")


class Voter(Struct):
    """Part of LeaderChangeMessage."""

    __slots__ = ("voter_id", "voter_directory_id")

    FIELDS = (
        Field("VoterId", "voter_id", "int32", (0, 1), default=0),
        Field("VoterDirectoryId", "voter_directory_id", "uuid", (1, 1), default=Uuid.ZERO),
    )

    def __init__(
        self,
        voter_id: int = 0,  # int32
        voter_directory_id: Uuid = Uuid.ZERO,  # uuid, v1+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.voter_id))
        if version >= 1:
            put(wire.uuid(self.voter_directory_id))
        elif self.voter_directory_id != Uuid.ZERO:
            raise wire.Unwritable
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
        if version >= 1:
            self.voter_directory_id, pos = wire.read_uuid(buf, pos)
        else:
            self.voter_directory_id = Uuid.ZERO
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class LeaderChangeMessage(Message):
    """LeaderChangeMessage, versions 0-1."""

    __slots__ = ("version", "leader_id", "voters", "granting_voters")

    NAME = "LeaderChangeMessage"
    TYPE = "data"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Version", "version", "int16", (0, 1), default=0),
        Field("LeaderId", "leader_id", "int32", (0, 1), default=0, entity="brokerId"),
        Field("Voters", "voters", "struct", (0, 1), is_array=True, default=[], struct=Voter),
        Field("GrantingVoters", "granting_voters", "struct", (0, 1), is_array=True, default=[], struct=Voter),
    )

    def __init__(
        self,
        version: int = 0,  # int16
        leader_id: int = 0,  # int32, brokerId
        voters: list[Voter] = UNSET,  # []Voter
        granting_voters: list[Voter] = UNSET,  # []Voter
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.version = version
        self.leader_id = leader_id
        self.voters = [] if voters is UNSET else voters
        self.granting_voters = [] if granting_voters is UNSET else granting_voters
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hi(self.version, self.leader_id))
        put(wire.compact_count(self.voters))
        for voter in self.voters:
            voter._write(put, version)
        put(wire.compact_count(self.granting_voters))
        for voter in self.granting_voters:
            voter._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LeaderChangeMessage, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.version, self.leader_id = unpack_hi(buf, pos)
        pos += 6
        n, pos = wire.read_compact_count(buf, pos, 5)
        self.voters, pos = wire.read_structs(Voter._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 5)
        self.granting_voters, pos = wire.read_structs(Voter._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
