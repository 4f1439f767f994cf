"""ApiVersionsRequest: request, key 18, versions 0-4, flexible from 3.

Generated from schemas/kafka/ApiVersionsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class ApiVersionsRequest(Message):
    """ApiVersionsRequest, versions 0-4."""

    __slots__ = ("client_software_name", "client_software_version")

    NAME = "ApiVersionsRequest"
    TYPE = "request"
    API_KEY = 18
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_FROM = 3
    FIELDS = (
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

    def __init__(
        self,
        client_software_name: str = "",  # string, v3+, ignorable
        client_software_version: str = "",  # string, v3+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.client_software_name = client_software_name
        self.client_software_version = client_software_version
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 3:
            put(wire.compact_string(self.client_software_name))
        if version >= 3:
            put(wire.compact_string(self.client_software_version))
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ApiVersionsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
