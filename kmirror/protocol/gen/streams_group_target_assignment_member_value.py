"""StreamsGroupTargetAssignmentMemberValue: coordinator-value, key 21, versions 0, flexible from 0.

Generated from schemas/coordinator/StreamsGroupTargetAssignmentMemberValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class TaskIds(Struct):
    """Part of StreamsGroupTargetAssignmentMemberValue."""

    __slots__ = ("subtopology_id", "partitions")

    FIELDS = (
        Field("SubtopologyId", "subtopology_id", "string", (0, 0), default=""),
        Field("Partitions", "partitions", "int32", (0, 0), is_array=True, default=[]),
    )

    def __init__(
        self,
        subtopology_id: str = "",  # string
        partitions: list[int] = UNSET,  # []int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.subtopology_id = subtopology_id
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.subtopology_id))
        put(wire.compact_count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TaskIds, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.subtopology_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class StreamsGroupTargetAssignmentMemberValue(Message):
    """StreamsGroupTargetAssignmentMemberValue, versions 0."""

    __slots__ = ("active_tasks", "standby_tasks", "warmup_tasks")

    NAME = "StreamsGroupTargetAssignmentMemberValue"
    TYPE = "coordinator-value"
    API_KEY = 21
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ActiveTasks", "active_tasks", "struct", (0, 0), is_array=True, default=[], struct=TaskIds),
        Field("StandbyTasks", "standby_tasks", "struct", (0, 0), is_array=True, default=[], struct=TaskIds),
        Field("WarmupTasks", "warmup_tasks", "struct", (0, 0), is_array=True, default=[], struct=TaskIds),
    )

    def __init__(
        self,
        active_tasks: list[TaskIds] = UNSET,  # []TaskIds
        standby_tasks: list[TaskIds] = UNSET,  # []TaskIds
        warmup_tasks: list[TaskIds] = UNSET,  # []TaskIds
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.active_tasks = [] if active_tasks is UNSET else active_tasks
        self.standby_tasks = [] if standby_tasks is UNSET else standby_tasks
        self.warmup_tasks = [] if warmup_tasks is UNSET else warmup_tasks
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StreamsGroupTargetAssignmentMemberValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.active_tasks, pos = wire.read_structs(TaskIds._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.standby_tasks, pos = wire.read_structs(TaskIds._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.warmup_tasks, pos = wire.read_structs(TaskIds._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
