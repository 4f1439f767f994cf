"""DeleteMirrorRequest: request, key 104, versions 0, flexible from 0.

Generated from schemas/mirroring/DeleteMirrorRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteMirrorRequest(Message):
    """Deletes a mirror that has no topic left which is not STOPPED."""

    # Name of the mirror.
    mirror_name: str = ""  # string, mirrorName

    NAME: ClassVar[str] = "DeleteMirrorRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 104
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("MirrorName", "mirror_name", "string", (0, 0), default="", entity="mirrorName"),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.mirror_name))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteMirrorRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.mirror_name, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
