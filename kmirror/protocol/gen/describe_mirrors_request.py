"""DescribeMirrorsRequest: request, key 99, versions 0, flexible from 0.

Generated from schemas/mirroring/DescribeMirrorsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeMirrorsRequest(Message):
    """Asks how far mirrored partitions are; a destination leader reads the last mirror epoch of the source from the answer."""

    # Which mirrors; null or empty asks for all.
    mirror_names: list[str] | None = field(default_factory=list)  # []string, mirrorName
    # Whether the answer tells what the caller may do.
    include_authorized_operations: bool = False  # bool

    NAME: ClassVar[str] = "DescribeMirrorsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 99
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
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
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_count(self.mirror_names))
        for text in self.mirror_names or ():
            put(wire.compact_string(text))
        put(wire.pack_bool(self.include_authorized_operations))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeMirrorsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_nullable_count(buf, pos, 1)
        if n < 0:
            self.mirror_names = None
        else:
            self.mirror_names, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        (self.include_authorized_operations,) = wire.unpack_bool(buf, pos)
        pos += 1
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
