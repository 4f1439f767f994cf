"""UpdateFeaturesRequest: request, key 57, versions 0-2, flexible from 0.

Generated from schemas/kafka/UpdateFeaturesRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class FeatureUpdateKey(Struct):
    """Part of UpdateFeaturesRequest."""

    __slots__ = ("feature", "max_version_level", "allow_downgrade", "upgrade_type")

    FIELDS = (
        Field("Feature", "feature", "string", (0, 2), default="", map_key=True),
        Field("MaxVersionLevel", "max_version_level", "int16", (0, 2), default=0),
        Field("AllowDowngrade", "allow_downgrade", "bool", (0, 0), default=False),
        Field("UpgradeType", "upgrade_type", "int8", (1, 2), default=1),
    )

    def __init__(
        self,
        feature: str = "",  # string
        max_version_level: int = 0,  # int16
        allow_downgrade: bool = False,  # bool, v0
        upgrade_type: int = 1,  # int8, v1+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.feature = feature
        self.max_version_level = max_version_level
        self.allow_downgrade = allow_downgrade
        self.upgrade_type = upgrade_type
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.feature))
        put(wire.pack_int16(self.max_version_level))
        if version <= 0:
            put(wire.pack_bool(self.allow_downgrade))
        elif self.allow_downgrade:
            raise wire.Unwritable
        if version >= 1:
            put(wire.pack_int8(self.upgrade_type))
        elif self.upgrade_type != 1:
            raise wire.Unwritable
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FeatureUpdateKey, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.feature, pos = wire.read_compact_string(buf, pos)
        (self.max_version_level,) = wire.unpack_int16(buf, pos)
        pos += 2
        if version <= 0:
            (self.allow_downgrade,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.allow_downgrade = False
        if version >= 1:
            (self.upgrade_type,) = wire.unpack_int8(buf, pos)
            pos += 1
        else:
            self.upgrade_type = 1
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class UpdateFeaturesRequest(Message):
    """UpdateFeaturesRequest, versions 0-2."""

    __slots__ = ("timeout_ms", "feature_updates", "validate_only")

    NAME = "UpdateFeaturesRequest"
    TYPE = "request"
    API_KEY = 57
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("timeoutMs", "timeout_ms", "int32", (0, 2), default=60000),
        Field(
            "FeatureUpdates",
            "feature_updates",
            "struct",
            (0, 2),
            is_array=True,
            default=[],
            struct=FeatureUpdateKey,
        ),
        Field("ValidateOnly", "validate_only", "bool", (1, 2), default=False),
    )

    def __init__(
        self,
        timeout_ms: int = 60000,  # int32
        feature_updates: list[FeatureUpdateKey] = UNSET,  # []FeatureUpdateKey
        validate_only: bool = False,  # bool, v1+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.timeout_ms = timeout_ms
        self.feature_updates = [] if feature_updates is UNSET else feature_updates
        self.validate_only = validate_only
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.timeout_ms))
        put(wire.compact_count(self.feature_updates))
        for feature_update_key in self.feature_updates:
            feature_update_key._write(put, version)
        if version >= 1:
            put(wire.pack_bool(self.validate_only))
        elif self.validate_only:
            raise wire.Unwritable
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UpdateFeaturesRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.timeout_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 5)
        self.feature_updates, pos = wire.read_structs(FeatureUpdateKey._read, buf, pos, n, version)
        if version >= 1:
            (self.validate_only,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.validate_only = False
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
