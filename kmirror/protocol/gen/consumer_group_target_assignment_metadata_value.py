"""ConsumerGroupTargetAssignmentMetadataValue: coordinator-value, key 6, versions 0, flexible from 0.

Generated from schemas/coordinator/ConsumerGroupTargetAssignmentMetadataValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ConsumerGroupTargetAssignmentMetadataValue(Message):
    """ConsumerGroupTargetAssignmentMetadataValue, versions 0."""

    assignment_epoch: int = 0  # int32
    assignment_timestamp: int = 0  # int64, tag 0, ignorable

    NAME: ClassVar[str] = "ConsumerGroupTargetAssignmentMetadataValue"
    TYPE: ClassVar[str] = "coordinator-value"
    API_KEY: ClassVar[int | None] = 6
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("AssignmentEpoch", "assignment_epoch", "int32", (0, 0), default=0),
        Field(
            "AssignmentTimestamp",
            "assignment_timestamp",
            "int64",
            (0, 0),
            tagged=(0, 0),
            tag=0,
            default=0,
            ignorable=True,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.assignment_epoch))
        tags: list[tuple[int, bytes]] = []
        if self.assignment_timestamp:
            tags.append((0, wire.pack_int64(self.assignment_timestamp)))
        wire.put_tags(put, tags, self.unknown_tags, 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerGroupTargetAssignmentMetadataValue, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.assignment_epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.assignment_timestamp = 0
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                (self.assignment_timestamp,) = wire.unpack_int64(buf, pos)
                pos += 8
            else:
                pos = wire.keep_unknown_tag(self, tag, size, buf, pos)
        return pos
