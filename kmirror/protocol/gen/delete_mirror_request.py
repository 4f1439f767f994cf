"""DeleteMirrorRequest: request, key 104, versions 0, flexible from 0.

Generated from schemas/mirroring/DeleteMirrorRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class DeleteMirrorRequest(Message):
    """Deletes a mirror that has no topic left which is not STOPPED."""

    __slots__ = ("mirror_name",)

    NAME = "DeleteMirrorRequest"
    TYPE = "request"
    API_KEY = 104
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("MirrorName", "mirror_name", "string", (0, 0), default="", entity="mirrorName"),
    )

    def __init__(
        self,
        # Name of the mirror.
        mirror_name: str = "",  # string, mirrorName
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.mirror_name = mirror_name
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.mirror_name))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteMirrorRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.mirror_name, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
