"""ShareGroupMemberMetadataValue: coordinator-value, key 10, versions 0, flexible from 0.

Generated from schemas/coordinator/ShareGroupMemberMetadataValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, UNSET
from kmirror.protocol.wire import UnknownTag


class ShareGroupMemberMetadataValue(Message):
    """ShareGroupMemberMetadataValue, versions 0."""

    __slots__ = ("rack_id", "client_id", "client_host", "subscribed_topic_names")

    NAME = "ShareGroupMemberMetadataValue"
    TYPE = "coordinator-value"
    API_KEY = 10
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("RackId", "rack_id", "string", (0, 0), nullable=(0, 0), default=""),
        Field("ClientId", "client_id", "string", (0, 0), default=""),
        Field("ClientHost", "client_host", "string", (0, 0), default=""),
        Field("SubscribedTopicNames", "subscribed_topic_names", "string", (0, 0), is_array=True, default=[]),
    )

    def __init__(
        self,
        rack_id: str | None = "",  # string
        client_id: str = "",  # string
        client_host: str = "",  # string
        subscribed_topic_names: list[str] = UNSET,  # []string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is UNSET else subscribed_topic_names
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_string(self.rack_id))
        put(wire.compact_string(self.client_id))
        put(wire.compact_string(self.client_host))
        put(wire.compact_count(self.subscribed_topic_names))
        for text in self.subscribed_topic_names:
            put(wire.compact_string(text))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareGroupMemberMetadataValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.rack_id, pos = wire.read_compact_nullable_string(buf, pos)
        self.client_id, pos = wire.read_compact_string(buf, pos)
        self.client_host, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.subscribed_topic_names, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
