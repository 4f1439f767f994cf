"""UpdateRaftVoterRequest: request, key 82, versions 0, flexible from 0.

Generated from schemas/kafka/UpdateRaftVoterRequest.json.
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

unpack_hh, pack_hh = wire.fused("hh")
unpack_ii, pack_ii = wire.fused("ii")


class Listener(Struct):
    """Part of UpdateRaftVoterRequest."""

    __slots__ = ("name", "host", "port")

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default="", map_key=True),
        Field("Host", "host", "string", (0, 0), default=""),
        Field("Port", "port", "uint16", (0, 0), default=0),
    )

    def __init__(
        self,
        name: str = "",  # string
        host: str = "",  # string
        port: int = 0,  # uint16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.host = host
        self.port = port
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_string(self.host))
        put(wire.pack_uint16(self.port))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Listener, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        self.host, pos = wire.read_compact_string(buf, pos)
        (self.port,) = wire.unpack_uint16(buf, pos)
        pos += 2
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class KRaftVersionFeature(Struct):
    """Part of UpdateRaftVoterRequest."""

    __slots__ = ("min_supported_version", "max_supported_version")

    FIELDS = (
        Field("MinSupportedVersion", "min_supported_version", "int16", (0, 0), default=0),
        Field("MaxSupportedVersion", "max_supported_version", "int16", (0, 0), default=0),
    )

    def __init__(
        self,
        min_supported_version: int = 0,  # int16
        max_supported_version: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hh(self.min_supported_version, self.max_supported_version))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[KRaftVersionFeature, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.min_supported_version, self.max_supported_version = unpack_hh(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class UpdateRaftVoterRequest(Message):
    """UpdateRaftVoterRequest, versions 0."""

    __slots__ = (
        "cluster_id",
        "current_leader_epoch",
        "voter_id",
        "voter_directory_id",
        "listeners",
        "kraft_version_feature",
    )

    NAME = "UpdateRaftVoterRequest"
    TYPE = "request"
    API_KEY = 82
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ClusterId", "cluster_id", "string", (0, 0), nullable=(0, 0), default=""),
        Field("CurrentLeaderEpoch", "current_leader_epoch", "int32", (0, 0), default=0),
        Field("VoterId", "voter_id", "int32", (0, 0), default=0),
        Field("VoterDirectoryId", "voter_directory_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Listeners", "listeners", "struct", (0, 0), is_array=True, default=[], struct=Listener),
        Field(
            "KRaftVersionFeature",
            "kraft_version_feature",
            "struct",
            (0, 0),
            default={},
            struct=KRaftVersionFeature,
        ),
    )

    def __init__(
        self,
        cluster_id: str | None = "",  # string
        current_leader_epoch: int = 0,  # int32
        voter_id: int = 0,  # int32
        voter_directory_id: Uuid = Uuid.ZERO,  # uuid
        listeners: list[Listener] = UNSET,  # []Listener
        kraft_version_feature: KRaftVersionFeature = UNSET,  # KRaftVersionFeature
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.cluster_id = cluster_id
        self.current_leader_epoch = current_leader_epoch
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners = [] if listeners is UNSET else listeners
        self.kraft_version_feature = KRaftVersionFeature() if kraft_version_feature is UNSET else kraft_version_feature
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_string(self.cluster_id))
        put(pack_ii(self.current_leader_epoch, self.voter_id))
        put(wire.uuid(self.voter_directory_id))
        put(wire.compact_count(self.listeners))
        for listener in self.listeners:
            listener._write(put, version)
        self.kraft_version_feature._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UpdateRaftVoterRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.cluster_id, pos = wire.read_compact_nullable_string(buf, pos)
        self.current_leader_epoch, self.voter_id = unpack_ii(buf, pos)
        pos += 8
        self.voter_directory_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 5)
        self.listeners, pos = wire.read_structs(Listener._read, buf, pos, n, version)
        self.kraft_version_feature, pos = KRaftVersionFeature._read(buf, pos, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
