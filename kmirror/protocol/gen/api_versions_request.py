"""ApiVersionsRequest: request, key 18, versions 0-4, flexible from 3.

Generated from schemas/kafka/ApiVersionsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ApiVersionsRequest(Message):
    """ApiVersionsRequest, versions 0-4."""

    client_software_name: str = ""  # string, v3+, ignorable
    client_software_version: str = ""  # string, v3+, ignorable

    NAME: ClassVar[str] = "ApiVersionsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 18
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ClientSoftwareName", "client_software_name", "string", (3, 4), default="", ignorable=True),
        Field(
            "ClientSoftwareVersion",
            "client_software_version",
            "string",
            (3, 4),
            default="",
            ignorable=True,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 3:
            put(wire.compact_string(self.client_software_name))
        if version >= 3:
            put(wire.compact_string(self.client_software_version))
        if version >= 3:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ApiVersionsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        if version >= 3:
            self.client_software_name, pos = wire.read_compact_string(buf, pos)
        else:
            self.client_software_name = ""
        if version >= 3:
            self.client_software_version, pos = wire.read_compact_string(buf, pos)
        else:
            self.client_software_version = ""
        if version >= 3:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
