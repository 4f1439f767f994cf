"""ListMirrorsRequest: request, key 98, versions 0, flexible from 0.

Generated from schemas/mirroring/ListMirrorsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ListMirrorsRequest(Message):
    """Asks for all mirrors of this cluster."""

    NAME: ClassVar[str] = "ListMirrorsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 98
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = ()

    def _write(self, put: wire.Put, version: int) -> None:
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListMirrorsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
