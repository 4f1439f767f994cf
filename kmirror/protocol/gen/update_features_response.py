"""UpdateFeaturesResponse: response, key 57, versions 0-2, flexible from 0.

Generated from schemas/kafka/UpdateFeaturesResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_ih, pack_ih = wire.fused("ih")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class UpdatableFeatureResult(Struct):
    """Part of UpdateFeaturesResponse, v0-1."""

    feature: str = ""  # string
    error_code: int = 0  # int16
    error_message: str | None = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Feature", "feature", "string", (0, 1), default="", map_key=True),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 1), nullable=(0, 1), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.feature))
        put(wire.pack_int16(self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UpdatableFeatureResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.feature, pos = wire.read_compact_string(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class UpdateFeaturesResponse(Message):
    """UpdateFeaturesResponse, versions 0-2."""

    throttle_time_ms: int = 0  # int32
    error_code: int = 0  # int16
    error_message: str | None = ""  # string
    results: list[UpdatableFeatureResult] = field(default_factory=list)  # []UpdatableFeatureResult, v0-1, ignorable

    NAME: ClassVar[str] = "UpdateFeaturesResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 57
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 2), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 2), nullable=(0, 2), default=""),
        Field(
            "Results",
            "results",
            "struct",
            (0, 1),
            is_array=True,
            default=[],
            ignorable=True,
            struct=UpdatableFeatureResult,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if version <= 1:
            put(wire.compact_count(self.results))
            for updatable_feature_result in self.results:
                updatable_feature_result._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UpdateFeaturesResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if version <= 1:
            n, pos = wire.read_compact_count(buf, pos, 5)
            self.results, pos = wire.read_structs(UpdatableFeatureResult._read, buf, pos, n, version)
        else:
            self.results = []
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
