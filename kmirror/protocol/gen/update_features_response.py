"""UpdateFeaturesResponse: response, key 57, versions 0-2, flexible from 0.

Generated from schemas/kafka/UpdateFeaturesResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ih, pack_ih = wire.fused("ih")


class UpdatableFeatureResult(Struct):
    """Part of UpdateFeaturesResponse, v0-1."""

    __slots__ = ("feature", "error_code", "error_message")

    FIELDS = (
        Field("Feature", "feature", "string", (0, 1), default="", map_key=True),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 1), nullable=(0, 1), default=""),
    )

    def __init__(
        self,
        feature: str = "",  # string
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.feature = feature
        self.error_code = error_code
        self.error_message = error_message
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.feature))
        put(wire.pack_int16(self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UpdatableFeatureResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.feature, pos = wire.read_compact_string(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class UpdateFeaturesResponse(Message):
    """UpdateFeaturesResponse, versions 0-2."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "results")

    NAME = "UpdateFeaturesResponse"
    TYPE = "response"
    API_KEY = 57
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 0
    FIELDS = (
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

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        results: list[UpdatableFeatureResult] = UNSET,  # []UpdatableFeatureResult, v0-1, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = [] if results is UNSET else results
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if version <= 1:
            put(wire.compact_count(self.results))
            for updatable_feature_result in self.results:
                updatable_feature_result._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UpdateFeaturesResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if version <= 1:
            n, pos = wire.read_compact_count(buf, pos, 5)
            self.results, pos = wire.read_structs(UpdatableFeatureResult._read, buf, pos, n, version)
        else:
            self.results = []
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
