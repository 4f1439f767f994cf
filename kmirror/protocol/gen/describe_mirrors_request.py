"""DescribeMirrorsRequest: request, key 99, versions 0, flexible from 0.

Generated from schemas/mirroring/DescribeMirrorsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, UNSET
from kmirror.protocol.wire import UnknownTag


class DescribeMirrorsRequest(Message):
    """Asks how far mirrored partitions are; a destination leader reads the last mirror epoch of the source from the answer."""

    __slots__ = ("mirror_names", "include_authorized_operations")

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
    )

    def __init__(
        self,
        # Which mirrors; null or empty asks for all.
        mirror_names: list[str] | None = UNSET,  # []string, mirrorName
        # Whether the answer tells what the caller may do.
        include_authorized_operations: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.mirror_names = [] if mirror_names is UNSET else mirror_names
        self.include_authorized_operations = include_authorized_operations
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
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
