"""DescribeLogDirsResponse: response, key 35, versions 1-5, flexible from 2.

Generated from schemas/kafka/DescribeLogDirsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_iqqo, pack_iqqo = wire.fused("iqq?")
unpack_qq, pack_qq = wire.fused("qq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeLogDirsPartition(Struct):
    """Part of DescribeLogDirsResponse."""

    partition_index: int = 0  # int32
    partition_size: int = 0  # int64
    offset_lag: int = 0  # int64
    is_future_key: bool = False  # bool

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (1, 5), default=0),
        Field("PartitionSize", "partition_size", "int64", (1, 5), default=0),
        Field("OffsetLag", "offset_lag", "int64", (1, 5), default=0),
        Field("IsFutureKey", "is_future_key", "bool", (1, 5), default=False),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iqqo(self.partition_index, self.partition_size, self.offset_lag, self.is_future_key))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeLogDirsPartition, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (
            self.partition_index,
            self.partition_size,
            self.offset_lag,
            self.is_future_key,
        ) = unpack_iqqo(buf, pos)
        pos += 21
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeLogDirsTopic(Struct):
    """Part of DescribeLogDirsResponse."""

    name: str = ""  # string, topicName
    partitions: list[DescribeLogDirsPartition] = field(default_factory=list)  # []DescribeLogDirsPartition

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (1, 5), default="", entity="topicName"),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (1, 5),
            is_array=True,
            default=[],
            struct=DescribeLogDirsPartition,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.name))
        put((wire.compact_count if version >= 2 else wire.count)(self.partitions))
        for describe_log_dirs_partition in self.partitions:
            describe_log_dirs_partition._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeLogDirsTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 21)
        self.partitions, pos = wire.read_structs(DescribeLogDirsPartition._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeLogDirsResult(Struct):
    """Part of DescribeLogDirsResponse."""

    error_code: int = 0  # int16
    log_dir: str = ""  # string
    topics: list[DescribeLogDirsTopic] = field(default_factory=list)  # []DescribeLogDirsTopic
    total_bytes: int = -1  # int64, v4+, ignorable
    usable_bytes: int = -1  # int64, v4+, ignorable
    is_cordoned: bool = False  # bool, v5+, ignorable

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (1, 5), default=0),
        Field("LogDir", "log_dir", "string", (1, 5), default=""),
        Field("Topics", "topics", "struct", (1, 5), is_array=True, default=[], struct=DescribeLogDirsTopic),
        Field("TotalBytes", "total_bytes", "int64", (4, 5), default=-1, ignorable=True),
        Field("UsableBytes", "usable_bytes", "int64", (4, 5), default=-1, ignorable=True),
        Field("IsCordoned", "is_cordoned", "bool", (5, 5), default=False, ignorable=True),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_string if version >= 2 else wire.string)(self.log_dir))
        put((wire.compact_count if version >= 2 else wire.count)(self.topics))
        for describe_log_dirs_topic in self.topics:
            describe_log_dirs_topic._write(put, version)
        if version >= 4:
            put(pack_qq(self.total_bytes, self.usable_bytes))
        if version >= 5:
            put(wire.pack_bool(self.is_cordoned))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeLogDirsResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.log_dir, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(DescribeLogDirsTopic._read, buf, pos, n, version)
        if version >= 4:
            self.total_bytes, self.usable_bytes = unpack_qq(buf, pos)
            pos += 16
        else:
            self.total_bytes = -1
            self.usable_bytes = -1
        if version >= 5:
            (self.is_cordoned,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.is_cordoned = False
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeLogDirsResponse(Message):
    """DescribeLogDirsResponse, versions 1-5."""

    throttle_time_ms: int = 0  # int32
    error_code: int = 0  # int16, v3+, ignorable
    results: list[DescribeLogDirsResult] = field(default_factory=list)  # []DescribeLogDirsResult

    NAME: ClassVar[str] = "DescribeLogDirsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 35
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 5), default=0),
        Field("ErrorCode", "error_code", "int16", (3, 5), default=0, ignorable=True),
        Field(
            "Results",
            "results",
            "struct",
            (1, 5),
            is_array=True,
            default=[],
            struct=DescribeLogDirsResult,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        if version >= 3:
            put(wire.pack_int16(self.error_code))
        put((wire.compact_count if version >= 2 else wire.count)(self.results))
        for describe_log_dirs_result in self.results:
            describe_log_dirs_result._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeLogDirsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 3:
            (self.error_code,) = wire.unpack_int16(buf, pos)
            pos += 2
        else:
            self.error_code = 0
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 5)
        self.results, pos = wire.read_structs(DescribeLogDirsResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
