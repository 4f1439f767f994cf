"""AlterReplicaLogDirsRequest: request, key 34, versions 1-2, flexible from 2.

Generated from schemas/kafka/AlterReplicaLogDirsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class AlterReplicaLogDirTopic(Struct):
    """Part of AlterReplicaLogDirsRequest."""

    __slots__ = ("name", "partitions")

    FIELDS = (
        Field("Name", "name", "string", (1, 2), default="", entity="topicName", map_key=True),
        Field("Partitions", "partitions", "int32", (1, 2), is_array=True, default=[]),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        partitions: list[int] = UNSET,  # []int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.name))
        put((wire.compact_count if version >= 2 else wire.count)(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterReplicaLogDirTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class AlterReplicaLogDir(Struct):
    """Part of AlterReplicaLogDirsRequest."""

    __slots__ = ("path", "topics")

    FIELDS = (
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

    def __init__(
        self,
        path: str = "",  # string
        topics: list[AlterReplicaLogDirTopic] = UNSET,  # []AlterReplicaLogDirTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.path = path
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.path))
        put((wire.compact_count if version >= 2 else wire.count)(self.topics))
        for alter_replica_log_dir_topic in self.topics:
            alter_replica_log_dir_topic._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterReplicaLogDir, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.path, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(AlterReplicaLogDirTopic._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class AlterReplicaLogDirsRequest(Message):
    """AlterReplicaLogDirsRequest, versions 1-2."""

    __slots__ = ("dirs",)

    NAME = "AlterReplicaLogDirsRequest"
    TYPE = "request"
    API_KEY = 34
    MIN_VERSION = 1
    MAX_VERSION = 2
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("Dirs", "dirs", "struct", (1, 2), is_array=True, default=[], struct=AlterReplicaLogDir),
    )

    def __init__(
        self,
        dirs: list[AlterReplicaLogDir] = UNSET,  # []AlterReplicaLogDir
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.dirs = [] if dirs is UNSET else dirs
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 2 else wire.count)(self.dirs))
        for alter_replica_log_dir in self.dirs:
            alter_replica_log_dir._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterReplicaLogDirsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 3)
        self.dirs, pos = wire.read_structs(AlterReplicaLogDir._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
