"""SnapshotHeaderRecord: data, versions 0, flexible from 0.

Generated from schemas/kafka/SnapshotHeaderRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag

unpack_hq, pack_hq = wire.fused("hq")


class SnapshotHeaderRecord(Message):
    """SnapshotHeaderRecord, versions 0."""

    __slots__ = ("version", "last_contained_log_timestamp")

    NAME = "SnapshotHeaderRecord"
    TYPE = "data"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Version", "version", "int16", (0, 0), default=0),
        Field("LastContainedLogTimestamp", "last_contained_log_timestamp", "int64", (0, 0), default=0),
    )

    def __init__(
        self,
        version: int = 0,  # int16
        last_contained_log_timestamp: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.version = version
        self.last_contained_log_timestamp = last_contained_log_timestamp
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hq(self.version, self.last_contained_log_timestamp))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SnapshotHeaderRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.version, self.last_contained_log_timestamp = unpack_hq(buf, pos)
        pos += 10
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
