"""DescribeLogDirsResponse: response, key 35, versions 1-5, flexible from 2.

Generated from schemas/kafka/DescribeLogDirsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_iqqo, pack_iqqo = wire.fused("iqq?")
unpack_qq, pack_qq = wire.fused("qq")


class DescribeLogDirsPartition(Struct):
    """Part of DescribeLogDirsResponse."""

    __slots__ = ("partition_index", "partition_size", "offset_lag", "is_future_key")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (1, 5), default=0),
        Field("PartitionSize", "partition_size", "int64", (1, 5), default=0),
        Field("OffsetLag", "offset_lag", "int64", (1, 5), default=0),
        Field("IsFutureKey", "is_future_key", "bool", (1, 5), default=False),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        partition_size: int = 0,  # int64
        offset_lag: int = 0,  # int64
        is_future_key: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.partition_size = partition_size
        self.offset_lag = offset_lag
        self.is_future_key = is_future_key
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iqqo(self.partition_index, self.partition_size, self.offset_lag, self.is_future_key))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeLogDirsPartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.partition_index,
            self.partition_size,
            self.offset_lag,
            self.is_future_key,
        ) = unpack_iqqo(buf, pos)
        pos += 21
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribeLogDirsTopic(Struct):
    """Part of DescribeLogDirsResponse."""

    __slots__ = ("name", "partitions")

    FIELDS = (
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

    def __init__(
        self,
        name: str = "",  # string, topicName
        partitions: list[DescribeLogDirsPartition] = UNSET,  # []DescribeLogDirsPartition
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
        for describe_log_dirs_partition in self.partitions:
            describe_log_dirs_partition._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeLogDirsTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 21)
        self.partitions, pos = wire.read_structs(DescribeLogDirsPartition._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribeLogDirsResult(Struct):
    """Part of DescribeLogDirsResponse."""

    __slots__ = ("error_code", "log_dir", "topics", "total_bytes", "usable_bytes", "is_cordoned")

    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (1, 5), default=0),
        Field("LogDir", "log_dir", "string", (1, 5), default=""),
        Field("Topics", "topics", "struct", (1, 5), is_array=True, default=[], struct=DescribeLogDirsTopic),
        Field("TotalBytes", "total_bytes", "int64", (4, 5), default=-1, ignorable=True),
        Field("UsableBytes", "usable_bytes", "int64", (4, 5), default=-1, ignorable=True),
        Field("IsCordoned", "is_cordoned", "bool", (5, 5), default=False, ignorable=True),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        log_dir: str = "",  # string
        topics: list[DescribeLogDirsTopic] = UNSET,  # []DescribeLogDirsTopic
        total_bytes: int = -1,  # int64, v4+, ignorable
        usable_bytes: int = -1,  # int64, v4+, ignorable
        is_cordoned: bool = False,  # bool, v5+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.log_dir = log_dir
        self.topics = [] if topics is UNSET else topics
        self.total_bytes = total_bytes
        self.usable_bytes = usable_bytes
        self.is_cordoned = is_cordoned
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeLogDirsResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribeLogDirsResponse(Message):
    """DescribeLogDirsResponse, versions 1-5."""

    __slots__ = ("throttle_time_ms", "error_code", "results")

    NAME = "DescribeLogDirsResponse"
    TYPE = "response"
    API_KEY = 35
    MIN_VERSION = 1
    MAX_VERSION = 5
    FLEXIBLE_FROM = 2
    FIELDS = (
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

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16, v3+, ignorable
        results: list[DescribeLogDirsResult] = UNSET,  # []DescribeLogDirsResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results = [] if results is UNSET else results
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        if version >= 3:
            put(wire.pack_int16(self.error_code))
        put((wire.compact_count if version >= 2 else wire.count)(self.results))
        for describe_log_dirs_result in self.results:
            describe_log_dirs_result._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeLogDirsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
