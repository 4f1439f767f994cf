"""StreamsGroupTargetAssignmentMemberValue: coordinator-value, key 21, versions 0, flexible from 0.

Generated from schemas/coordinator/StreamsGroupTargetAssignmentMemberValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TaskIds(Struct):
    """Part of StreamsGroupTargetAssignmentMemberValue."""

    subtopology_id: str = ""  # string
    partitions: list[int] = field(default_factory=list)  # []int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("SubtopologyId", "subtopology_id", "string", (0, 0), default=""),
        Field("Partitions", "partitions", "int32", (0, 0), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.subtopology_id))
        put(wire.compact_count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TaskIds, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.subtopology_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class StreamsGroupTargetAssignmentMemberValue(Message):
    """StreamsGroupTargetAssignmentMemberValue, versions 0."""

    active_tasks: list[TaskIds] = field(default_factory=list)  # []TaskIds
    standby_tasks: list[TaskIds] = field(default_factory=list)  # []TaskIds
    warmup_tasks: list[TaskIds] = field(default_factory=list)  # []TaskIds

    NAME: ClassVar[str] = "StreamsGroupTargetAssignmentMemberValue"
    TYPE: ClassVar[str] = "coordinator-value"
    API_KEY: ClassVar[int | None] = 21
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ActiveTasks", "active_tasks", "struct", (0, 0), is_array=True, default=[], struct=TaskIds),
        Field("StandbyTasks", "standby_tasks", "struct", (0, 0), is_array=True, default=[], struct=TaskIds),
        Field("WarmupTasks", "warmup_tasks", "struct", (0, 0), is_array=True, default=[], struct=TaskIds),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.active_tasks))
        for task_ids in self.active_tasks:
            task_ids._write(put, version)
        put(wire.compact_count(self.standby_tasks))
        for task_ids in self.standby_tasks:
            task_ids._write(put, version)
        put(wire.compact_count(self.warmup_tasks))
        for task_ids in self.warmup_tasks:
            task_ids._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StreamsGroupTargetAssignmentMemberValue, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.active_tasks, pos = wire.read_structs(TaskIds._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.standby_tasks, pos = wire.read_structs(TaskIds._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.warmup_tasks, pos = wire.read_structs(TaskIds._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
