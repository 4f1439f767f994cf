"""ListMirrorsResponse: response, key 98, versions 0, flexible from 0.

Generated from schemas/mirroring/ListMirrorsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ih, pack_ih = wire.fused("ih")


class ListedMirror(Struct):
    """Part of ListMirrorsResponse."""

    __slots__ = ("mirror_name", "source_bootstrap", "source_cluster_id", "topic_count")

    warning = Tagged[str]("warning", "")

    FIELDS = (
        Field("MirrorName", "mirror_name", "string", (0, 0), default="", entity="mirrorName"),
        Field("SourceBootstrap", "source_bootstrap", "string", (0, 0), default=""),
        Field("SourceClusterId", "source_cluster_id", "string", (0, 0), default=""),
        Field("TopicCount", "topic_count", "int32", (0, 0), default=0),
        Field("Warning", "warning", "string", (0, 0), tagged=(0, 0), tag=0, default=""),
    )

    def __init__(
        self,
        # Name of the mirror.
        mirror_name: str = "",  # string, mirrorName
        # Bootstrap servers of the source cluster.
        source_bootstrap: str = "",  # string
        # Id of the source cluster, empty until it is known.
        source_cluster_id: str = "",  # string
        # Number of topics that name this mirror.
        topic_count: int = 0,  # int32
        # Which states cannot be read or written, empty if all can.
        warning: str = "",  # string, tag 0
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.mirror_name = mirror_name
        self.source_bootstrap = source_bootstrap
        self.source_cluster_id = source_cluster_id
        self.topic_count = topic_count
        if warning != "":
            self.warning = warning
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.mirror_name))
        put(wire.compact_string(self.source_bootstrap))
        put(wire.compact_string(self.source_cluster_id))
        put(wire.pack_int32(self.topic_count))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "warning" in tagged and tagged["warning"]:
            tags.append(wire.tag(0, wire.compact_string(tagged["warning"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListedMirror, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.mirror_name, pos = wire.read_compact_string(buf, pos)
        self.source_bootstrap, pos = wire.read_compact_string(buf, pos)
        self.source_cluster_id, pos = wire.read_compact_string(buf, pos)
        (self.topic_count,) = wire.unpack_int32(buf, pos)
        pos += 4
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                tagged["warning"], pos = wire.read_compact_string(buf, pos)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


class ListMirrorsResponse(Message):
    """The mirrors of this cluster."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "mirrors")

    NAME = "ListMirrorsResponse"
    TYPE = "response"
    API_KEY = 98
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0)),
        Field("Mirrors", "mirrors", "struct", (0, 0), is_array=True, default=[], struct=ListedMirror),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # What went wrong, null if all is well.
        error_message: str | None = None,  # string
        # One entry for each mirror that the caller may see.
        mirrors: list[ListedMirror] = UNSET,  # []ListedMirror
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.mirrors = [] if mirrors is UNSET else mirrors
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_count(self.mirrors))
        for listed_mirror in self.mirrors:
            listed_mirror._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListMirrorsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 8)
        self.mirrors, pos = wire.read_structs(ListedMirror._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
