"""ApiVersionsResponse: response, key 18, versions 0-4, flexible from 3.

Generated from schemas/kafka/ApiVersionsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_hh, pack_hh = wire.fused("hh")
unpack_hhh, pack_hhh = wire.fused("hhh")


class ApiVersion(Struct):
    """Part of ApiVersionsResponse."""

    __slots__ = ("api_key", "min_version", "max_version")

    FIELDS = (
        Field("ApiKey", "api_key", "int16", (0, 4), default=0, map_key=True),
        Field("MinVersion", "min_version", "int16", (0, 4), default=0),
        Field("MaxVersion", "max_version", "int16", (0, 4), default=0),
    )

    def __init__(
        self,
        api_key: int = 0,  # int16
        min_version: int = 0,  # int16
        max_version: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.api_key = api_key
        self.min_version = min_version
        self.max_version = max_version
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hhh(self.api_key, self.min_version, self.max_version))
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ApiVersion, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.api_key, self.min_version, self.max_version = unpack_hhh(buf, pos)
        pos += 6
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class SupportedFeatureKey(Struct):
    """Part of ApiVersionsResponse, v3+."""

    __slots__ = ("name", "min_version", "max_version")

    FIELDS = (
        Field("Name", "name", "string", (3, 4), default="", map_key=True),
        Field("MinVersion", "min_version", "int16", (3, 4), default=0),
        Field("MaxVersion", "max_version", "int16", (3, 4), default=0),
    )

    def __init__(
        self,
        name: str = "",  # string
        min_version: int = 0,  # int16
        max_version: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.min_version = min_version
        self.max_version = max_version
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(pack_hh(self.min_version, self.max_version))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SupportedFeatureKey, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        self.min_version, self.max_version = unpack_hh(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class FinalizedFeatureKey(Struct):
    """Part of ApiVersionsResponse, v3+."""

    __slots__ = ("name", "max_version_level", "min_version_level")

    FIELDS = (
        Field("Name", "name", "string", (3, 4), default="", map_key=True),
        Field("MaxVersionLevel", "max_version_level", "int16", (3, 4), default=0),
        Field("MinVersionLevel", "min_version_level", "int16", (3, 4), default=0),
    )

    def __init__(
        self,
        name: str = "",  # string
        max_version_level: int = 0,  # int16
        min_version_level: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.max_version_level = max_version_level
        self.min_version_level = min_version_level
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(pack_hh(self.max_version_level, self.min_version_level))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FinalizedFeatureKey, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        self.max_version_level, self.min_version_level = unpack_hh(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ApiVersionsResponse(Message):
    """ApiVersionsResponse, versions 0-4."""

    __slots__ = ("error_code", "api_keys", "throttle_time_ms")

    supported_features = Tagged[list[SupportedFeatureKey]]("supported_features", list)
    finalized_features_epoch = Tagged[int]("finalized_features_epoch", -1)
    finalized_features = Tagged[list[FinalizedFeatureKey]]("finalized_features", list)
    zk_migration_ready = Tagged[bool]("zk_migration_ready", False)

    NAME = "ApiVersionsResponse"
    TYPE = "response"
    API_KEY = 18
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_FROM = 3
    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 4), default=0),
        Field("ApiKeys", "api_keys", "struct", (0, 4), is_array=True, default=[], struct=ApiVersion),
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 4), default=0, ignorable=True),
        Field(
            "SupportedFeatures",
            "supported_features",
            "struct",
            (3, 4),
            is_array=True,
            tagged=(3, 4),
            tag=0,
            default=[],
            ignorable=True,
            struct=SupportedFeatureKey,
        ),
        Field(
            "FinalizedFeaturesEpoch",
            "finalized_features_epoch",
            "int64",
            (3, 4),
            tagged=(3, 4),
            tag=1,
            default=-1,
            ignorable=True,
        ),
        Field(
            "FinalizedFeatures",
            "finalized_features",
            "struct",
            (3, 4),
            is_array=True,
            tagged=(3, 4),
            tag=2,
            default=[],
            ignorable=True,
            struct=FinalizedFeatureKey,
        ),
        Field(
            "ZkMigrationReady",
            "zk_migration_ready",
            "bool",
            (3, 4),
            tagged=(3, 4),
            tag=3,
            default=False,
            ignorable=True,
        ),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        api_keys: list[ApiVersion] = UNSET,  # []ApiVersion
        throttle_time_ms: int = 0,  # int32, v1+, ignorable
        supported_features: list[SupportedFeatureKey] = UNSET,  # []SupportedFeatureKey, v3+, tag 0, ignorable
        finalized_features_epoch: int = -1,  # int64, v3+, tag 1, ignorable
        finalized_features: list[FinalizedFeatureKey] = UNSET,  # []FinalizedFeatureKey, v3+, tag 2, ignorable
        zk_migration_ready: bool = False,  # bool, v3+, tag 3, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.api_keys = [] if api_keys is UNSET else api_keys
        self.throttle_time_ms = throttle_time_ms
        if supported_features is not UNSET:
            self.supported_features = supported_features
        if finalized_features_epoch != -1:
            self.finalized_features_epoch = finalized_features_epoch
        if finalized_features is not UNSET:
            self.finalized_features = finalized_features
        if zk_migration_ready != False:
            self.zk_migration_ready = zk_migration_ready
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_count if version >= 3 else wire.count)(self.api_keys))
        for api_version in self.api_keys:
            api_version._write(put, version)
        if version >= 1:
            put(wire.pack_int32(self.throttle_time_ms))
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "supported_features" in tagged and tagged["supported_features"]:
            body_0: list[wire.Chunk] = []
            body_0.append(wire.compact_count(tagged["supported_features"]))
            for supported_feature_key in tagged["supported_features"]:
                supported_feature_key._write(body_0.append, version)
            tags.append(wire.tag(0, b"".join(body_0)))
        if "finalized_features_epoch" in tagged and tagged["finalized_features_epoch"] != -1:
            tags.append(wire.tag(1, wire.pack_int64(tagged["finalized_features_epoch"])))
        if "finalized_features" in tagged and tagged["finalized_features"]:
            body_2: list[wire.Chunk] = []
            body_2.append(wire.compact_count(tagged["finalized_features"]))
            for finalized_feature_key in tagged["finalized_features"]:
                finalized_feature_key._write(body_2.append, version)
            tags.append(wire.tag(2, b"".join(body_2)))
        if "zk_migration_ready" in tagged and tagged["zk_migration_ready"]:
            tags.append(wire.tag(3, wire.pack_bool(tagged["zk_migration_ready"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 4)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ApiVersionsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        n, pos = (wire.read_compact_count if version >= 3 else wire.read_count)(buf, pos, 6)
        self.api_keys, pos = wire.read_structs(ApiVersion._read, buf, pos, n, version)
        if version >= 1:
            (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.throttle_time_ms = 0
        if version >= 3:
            pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                n, pos = wire.read_compact_count(buf, pos, 6)
                tagged["supported_features"], pos = wire.read_structs(SupportedFeatureKey._read, buf, pos, n, version)
            elif tag == 1:
                (tagged["finalized_features_epoch"],) = wire.unpack_int64(buf, pos)
                pos += 8
            elif tag == 2:
                n, pos = wire.read_compact_count(buf, pos, 6)
                tagged["finalized_features"], pos = wire.read_structs(FinalizedFeatureKey._read, buf, pos, n, version)
            elif tag == 3:
                (tagged["zk_migration_ready"],) = wire.unpack_bool(buf, pos)
                pos += 1
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


# -- the same functions as above, written out for each version, for speed

new = object.__new__
uvarint = wire.uvarint
pack_h = wire.fused("h")[1]
unpack_hB = wire.fused("hB")[0]
unpack_hhhB, pack_hhhB = wire.fused("hhhB")
iterate_hhhx = wire.iterator("hhhx")
unpack_iB, pack_iB = wire.fused("iB")


def read_3(buf: Any, pos: int, version: int, lazy: bool) -> tuple[ApiVersionsResponse, int]:
    size = len(buf)
    self = new(ApiVersionsResponse)
    self._tagged = 0
    self.error_code, n = unpack_hB(buf, pos)
    pos += 3
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 6 <= size - pos:
        raise wire.Malformed
    end = pos + 7 * n
    if end <= size and buf[pos + 6 : end : 7].count(0) == n:
        api_version_items: list[ApiVersion] = list(map(new, repeat(ApiVersion, n)))
        self.api_keys = api_version_items
        api_version: ApiVersion
        for (
            api_version,
            (
                api_version.api_key,
                api_version.min_version,
                api_version.max_version,
            ),
        ) in zip(api_version_items, iterate_hhhx(buf[pos:end])):
            api_version._tagged = 0
        pos = end
    else:
        api_version_items = []
        self.api_keys = api_version_items
        for _ in range(n):
            api_version = new(ApiVersion)
            api_version._tagged = 0
            (
                api_version.api_key,
                api_version.min_version,
                api_version.max_version,
                n,
            ) = unpack_hhhB(buf, pos)
            pos += 7
            if n:
                pos = api_version._read_tags(buf, pos - 1, version)
            api_version_items.append(api_version)
    self.throttle_time_ms, n = unpack_iB(buf, pos)
    pos += 5
    if n:
        pos = self._read_tags(buf, pos - 1, version)
    return self, pos


def write_3(self: ApiVersionsResponse, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged:
        self._write(put, version)
        return
    chunks += (pack_h(self.error_code), uvarint(len(self.api_keys) + 1))
    try:
        rows = [
            pack_hhhB(item.api_key, item.min_version, item.max_version, item._tagged)
            for item in self.api_keys
        ]
        put(b"".join(rows))
    except wire.PACK_ERRORS:
        for api_version in self.api_keys:
            api_version._write(put, version)
    put(pack_iB(self.throttle_time_ms, 0))


ApiVersionsResponse.READERS = {
    3: read_3,
    4: read_3,
}
ApiVersionsResponse.WRITERS = {
    3: write_3,
    4: write_3,
}
