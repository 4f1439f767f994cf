"""AlterReplicaLogDirsRequest: request, key 34, versions 1-2, flexible from 2.

Generated from schemas/kafka/AlterReplicaLogDirsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterReplicaLogDirTopic(Struct):
    """Part of AlterReplicaLogDirsRequest."""

    name: str = ""  # string, topicName
    partitions: list[int] = field(default_factory=list)  # []int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (1, 2), default="", entity="topicName", map_key=True),
        Field("Partitions", "partitions", "int32", (1, 2), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.name))
        put((wire.compact_count if version >= 2 else wire.count)(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterReplicaLogDirTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterReplicaLogDir(Struct):
    """Part of AlterReplicaLogDirsRequest."""

    path: str = ""  # string
    topics: list[AlterReplicaLogDirTopic] = field(default_factory=list)  # []AlterReplicaLogDirTopic

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Path", "path", "string", (1, 2), default="", map_key=True),
        Field(
            "Topics",
            "topics",
            "struct",
            (1, 2),
            is_array=True,
            default=[],
            struct=AlterReplicaLogDirTopic,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.path))
        put((wire.compact_count if version >= 2 else wire.count)(self.topics))
        for alter_replica_log_dir_topic in self.topics:
            alter_replica_log_dir_topic._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterReplicaLogDir, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.path, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(AlterReplicaLogDirTopic._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterReplicaLogDirsRequest(Message):
    """AlterReplicaLogDirsRequest, versions 1-2."""

    dirs: list[AlterReplicaLogDir] = field(default_factory=list)  # []AlterReplicaLogDir

    NAME: ClassVar[str] = "AlterReplicaLogDirsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 34
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Dirs", "dirs", "struct", (1, 2), is_array=True, default=[], struct=AlterReplicaLogDir),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 2 else wire.count)(self.dirs))
        for alter_replica_log_dir in self.dirs:
            alter_replica_log_dir._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterReplicaLogDirsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 3)
        self.dirs, pos = wire.read_structs(AlterReplicaLogDir._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
