"""DescribeMirrorsRequest: request, key 99, versions 0, flexible from 0.

Generated from schemas/mirroring/DescribeMirrorsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.protocol.wire import UnknownTag


class LineageTopic(Struct):
    """Part of DescribeMirrorsRequest."""

    __slots__ = ("topic_name", "partitions")

    FIELDS = (
        Field("TopicName", "topic_name", "string", (0, 0), default="", entity="topicName"),
        Field("Partitions", "partitions", "int32", (0, 0), is_array=True, default=[]),
    )

    def __init__(
        self,
        # Name of the topic.
        topic_name: str = "",  # string, topicName
        # Partitions.
        partitions: list[int] = UNSET,  # []int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_name = topic_name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(wire.compact_count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LineageTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribeMirrorsRequest(Message):
    """Asks how far mirrored partitions are; a destination leader reads the last mirror epoch of the source from the answer."""

    __slots__ = ("mirror_names", "include_authorized_operations")

    lineages = Tagged[list[LineageTopic]]("lineages", list)
    named_only = Tagged[bool]("named_only", False)

    NAME = "DescribeMirrorsRequest"
    TYPE = "request"
    API_KEY = 99
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field(
            "MirrorNames",
            "mirror_names",
            "string",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            default=[],
            entity="mirrorName",
        ),
        Field("IncludeAuthorizedOperations", "include_authorized_operations", "bool", (0, 0), default=False),
        Field(
            "Lineages",
            "lineages",
            "struct",
            (0, 0),
            is_array=True,
            tagged=(0, 0),
            tag=0,
            default=[],
            struct=LineageTopic,
        ),
        Field("NamedOnly", "named_only", "bool", (0, 0), tagged=(0, 0), tag=1, default=False),
    )

    def __init__(
        self,
        # Which mirrors; null or empty asks for all.
        mirror_names: list[str] | None = UNSET,  # []string, mirrorName
        # Whether the answer tells what the caller may do.
        include_authorized_operations: bool = False,  # bool
        # Partitions, of any topic, of which the answer tells the lineage as well.
        lineages: list[LineageTopic] = UNSET,  # []LineageTopic, tag 0
        # Whether mirrors are described for those partitions only that Lineages names.
        named_only: bool = False,  # bool, tag 1
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.mirror_names = [] if mirror_names is UNSET else mirror_names
        self.include_authorized_operations = include_authorized_operations
        if lineages is not UNSET:
            self.lineages = lineages
        if named_only != False:
            self.named_only = named_only
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_count(self.mirror_names))
        for text in self.mirror_names or ():
            put(wire.compact_string(text))
        put(wire.pack_bool(self.include_authorized_operations))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "lineages" in tagged and tagged["lineages"]:
            body_0: list[wire.Chunk] = []
            body_0.append(wire.compact_count(tagged["lineages"]))
            for lineage_topic in tagged["lineages"]:
                lineage_topic._write(body_0.append, version)
            tags.append(wire.tag(0, b"".join(body_0)))
        if "named_only" in tagged and tagged["named_only"]:
            tags.append(wire.tag(1, wire.pack_bool(tagged["named_only"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 2)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeMirrorsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_nullable_count(buf, pos, 1)
        if n < 0:
            self.mirror_names = None
        else:
            self.mirror_names, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        (self.include_authorized_operations,) = wire.unpack_bool(buf, pos)
        pos += 1
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                n, pos = wire.read_compact_count(buf, pos, 3)
                tagged["lineages"], pos = wire.read_structs(LineageTopic._read, buf, pos, n, version)
            elif tag == 1:
                (tagged["named_only"],) = wire.unpack_bool(buf, pos)
                pos += 1
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
