"""MirrorPidResetRecord: data, versions 0, flexible from 0.

Generated from schemas/mirroring/MirrorPidResetRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class MirrorPidResetRecord(Message):
    """Value of the control record after which no producer state of before is valid."""

    __slots__ = ("version", "source_cluster_id")

    NAME = "MirrorPidResetRecord"
    TYPE = "data"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Version", "version", "int16", (0, 0), default=0),
        Field("SourceClusterId", "source_cluster_id", "string", (0, 0), default=""),
    )

    def __init__(
        self,
        # Version of this record.
        version: int = 0,  # int16
        # Id of the cluster that the partition was mirrored from.
        source_cluster_id: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.version = version
        self.source_cluster_id = source_cluster_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.version))
        put(wire.compact_string(self.source_cluster_id))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MirrorPidResetRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.version,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.source_cluster_id, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
