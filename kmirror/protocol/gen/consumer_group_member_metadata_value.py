"""ConsumerGroupMemberMetadataValue: coordinator-value, key 5, versions 0, flexible from 0.

Generated from schemas/coordinator/ConsumerGroupMemberMetadataValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.protocol.wire import UnknownTag


class ClassicProtocol(Struct):
    """Part of ConsumerGroupMemberMetadataValue."""

    __slots__ = ("name", "metadata")

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default=""),
        Field("Metadata", "metadata", "bytes", (0, 0), default=b""),
    )

    def __init__(
        self,
        name: str = "",  # string
        metadata: bytes = b"",  # bytes
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.metadata = metadata
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        wire.put_compact_bytes(put, self.metadata)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ClassicProtocol, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        self.metadata, pos = wire.read_compact_bytes(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ClassicMemberMetadata(Struct):
    """Part of ConsumerGroupMemberMetadataValue."""

    __slots__ = ("session_timeout_ms", "supported_protocols")

    FIELDS = (
        Field("SessionTimeoutMs", "session_timeout_ms", "int32", (0, 0), default=0),
        Field(
            "SupportedProtocols",
            "supported_protocols",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=ClassicProtocol,
        ),
    )

    def __init__(
        self,
        session_timeout_ms: int = 0,  # int32
        supported_protocols: list[ClassicProtocol] = UNSET,  # []ClassicProtocol
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.session_timeout_ms = session_timeout_ms
        self.supported_protocols = [] if supported_protocols is UNSET else supported_protocols
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.session_timeout_ms))
        put(wire.compact_count(self.supported_protocols))
        for classic_protocol in self.supported_protocols:
            classic_protocol._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ClassicMemberMetadata, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.session_timeout_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.supported_protocols, pos = wire.read_structs(ClassicProtocol._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ConsumerGroupMemberMetadataValue(Message):
    """ConsumerGroupMemberMetadataValue, versions 0."""

    __slots__ = (
        "instance_id",
        "rack_id",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "rebalance_timeout_ms",
        "server_assignor",
    )

    classic_member_metadata = Tagged[ClassicMemberMetadata | None]("classic_member_metadata", ClassicMemberMetadata)

    NAME = "ConsumerGroupMemberMetadataValue"
    TYPE = "coordinator-value"
    API_KEY = 5
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("InstanceId", "instance_id", "string", (0, 0), nullable=(0, 0), default=""),
        Field("RackId", "rack_id", "string", (0, 0), nullable=(0, 0), default=""),
        Field("ClientId", "client_id", "string", (0, 0), default=""),
        Field("ClientHost", "client_host", "string", (0, 0), default=""),
        Field("SubscribedTopicNames", "subscribed_topic_names", "string", (0, 0), is_array=True, default=[]),
        Field(
            "SubscribedTopicRegex",
            "subscribed_topic_regex",
            "string",
            (0, 0),
            nullable=(0, 0),
            default="",
        ),
        Field("RebalanceTimeoutMs", "rebalance_timeout_ms", "int32", (0, 0), default=-1),
        Field("ServerAssignor", "server_assignor", "string", (0, 0), nullable=(0, 0), default=""),
        Field(
            "ClassicMemberMetadata",
            "classic_member_metadata",
            "struct",
            (0, 0),
            nullable=(0, 0),
            tagged=(0, 0),
            tag=0,
            default={},
            struct=ClassicMemberMetadata,
        ),
    )

    def __init__(
        self,
        instance_id: str | None = "",  # string
        rack_id: str | None = "",  # string
        client_id: str = "",  # string
        client_host: str = "",  # string
        subscribed_topic_names: list[str] = UNSET,  # []string
        subscribed_topic_regex: str | None = "",  # string
        rebalance_timeout_ms: int = -1,  # int32
        server_assignor: str | None = "",  # string
        classic_member_metadata: ClassicMemberMetadata | None = UNSET,  # ClassicMemberMetadata, tag 0
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is UNSET else subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.server_assignor = server_assignor
        if classic_member_metadata is not UNSET:
            self.classic_member_metadata = classic_member_metadata
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_string(self.instance_id))
        put(wire.compact_nullable_string(self.rack_id))
        put(wire.compact_string(self.client_id))
        put(wire.compact_string(self.client_host))
        put(wire.compact_count(self.subscribed_topic_names))
        for text in self.subscribed_topic_names:
            put(wire.compact_string(text))
        put(wire.compact_nullable_string(self.subscribed_topic_regex))
        put(wire.pack_int32(self.rebalance_timeout_ms))
        put(wire.compact_nullable_string(self.server_assignor))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "classic_member_metadata" in tagged and tagged["classic_member_metadata"] != ClassicMemberMetadata():
            body_0: list[wire.Chunk] = []
            if tagged["classic_member_metadata"] is None:
                body_0.append(b"\0")
            else:
                body_0.append(b"\x01")
                tagged["classic_member_metadata"]._write(body_0.append, version)
            tags.append(wire.tag(0, b"".join(body_0)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerGroupMemberMetadataValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.instance_id, pos = wire.read_compact_nullable_string(buf, pos)
        self.rack_id, pos = wire.read_compact_nullable_string(buf, pos)
        self.client_id, pos = wire.read_compact_string(buf, pos)
        self.client_host, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.subscribed_topic_names, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        self.subscribed_topic_regex, pos = wire.read_compact_nullable_string(buf, pos)
        (self.rebalance_timeout_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.server_assignor, pos = wire.read_compact_nullable_string(buf, pos)
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                present, pos = wire.read_uvarint(buf, pos)
                if present <= 0:
                    tagged["classic_member_metadata"] = None
                else:
                    tagged["classic_member_metadata"], pos = ClassicMemberMetadata._read(buf, pos, version)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
