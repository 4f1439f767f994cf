"""ClearElrRecord: metadata, key 28, versions 0, flexible from 0.

Generated from schemas/metadata/ClearElrRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class ClearElrRecord(Message):
    """ClearElrRecord, versions 0."""

    __slots__ = ("topic_name",)

    NAME = "ClearElrRecord"
    TYPE = "metadata"
    API_KEY = 28
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("TopicName", "topic_name", "string", (0, 0), default="", entity="topicName"),
    )

    def __init__(
        self,
        topic_name: str = "",  # string, topicName
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_name = topic_name
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ClearElrRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
