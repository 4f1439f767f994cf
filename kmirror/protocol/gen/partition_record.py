"""PartitionRecord: metadata, key 3, versions 0-2, flexible from 0.

Generated from schemas/metadata/PartitionRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Tagged, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_iii, pack_iii = wire.fused("iii")


class PartitionRecord(Message):
    """PartitionRecord, versions 0-2."""

    __slots__ = (
        "partition_id",
        "topic_id",
        "replicas",
        "isr",
        "removing_replicas",
        "adding_replicas",
        "leader",
        "leader_epoch",
        "partition_epoch",
        "directories",
    )

    leader_recovery_state = Tagged[int]("leader_recovery_state", 0)
    eligible_leader_replicas = Tagged[list[int] | None]("eligible_leader_replicas", None)
    last_known_elr = Tagged[list[int] | None]("last_known_elr", None)

    NAME = "PartitionRecord"
    TYPE = "metadata"
    API_KEY = 3
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("PartitionId", "partition_id", "int32", (0, 2), default=-1),
        Field("TopicId", "topic_id", "uuid", (0, 2), default=Uuid.ZERO),
        Field("Replicas", "replicas", "int32", (0, 2), is_array=True, default=[], entity="brokerId"),
        Field("Isr", "isr", "int32", (0, 2), is_array=True, default=[]),
        Field(
            "RemovingReplicas",
            "removing_replicas",
            "int32",
            (0, 2),
            is_array=True,
            default=[],
            entity="brokerId",
        ),
        Field(
            "AddingReplicas",
            "adding_replicas",
            "int32",
            (0, 2),
            is_array=True,
            default=[],
            entity="brokerId",
        ),
        Field("Leader", "leader", "int32", (0, 2), default=-1, entity="brokerId"),
        Field(
            "LeaderRecoveryState",
            "leader_recovery_state",
            "int8",
            (0, 2),
            tagged=(0, 2),
            tag=0,
            default=0,
        ),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 2), default=-1),
        Field("PartitionEpoch", "partition_epoch", "int32", (0, 2), default=-1),
        Field("Directories", "directories", "uuid", (1, 2), is_array=True, default=[]),
        Field(
            "EligibleLeaderReplicas",
            "eligible_leader_replicas",
            "int32",
            (2, 2),
            is_array=True,
            nullable=(2, 2),
            tagged=(2, 2),
            tag=1,
            entity="brokerId",
        ),
        Field(
            "LastKnownElr",
            "last_known_elr",
            "int32",
            (2, 2),
            is_array=True,
            nullable=(2, 2),
            tagged=(2, 2),
            tag=2,
            entity="brokerId",
        ),
    )

    def __init__(
        self,
        partition_id: int = -1,  # int32
        topic_id: Uuid = Uuid.ZERO,  # uuid
        replicas: list[int] = UNSET,  # []int32, brokerId
        isr: list[int] = UNSET,  # []int32
        removing_replicas: list[int] = UNSET,  # []int32, brokerId
        adding_replicas: list[int] = UNSET,  # []int32, brokerId
        leader: int = -1,  # int32, brokerId
        leader_recovery_state: int = 0,  # int8, tag 0
        leader_epoch: int = -1,  # int32
        partition_epoch: int = -1,  # int32
        directories: list[Uuid] = UNSET,  # []uuid, v1+
        eligible_leader_replicas: list[int] | None = None,  # []int32, v2+, tag 1, brokerId
        last_known_elr: list[int] | None = None,  # []int32, v2+, tag 2, brokerId
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_id = partition_id
        self.topic_id = topic_id
        self.replicas = [] if replicas is UNSET else replicas
        self.isr = [] if isr is UNSET else isr
        self.removing_replicas = [] if removing_replicas is UNSET else removing_replicas
        self.adding_replicas = [] if adding_replicas is UNSET else adding_replicas
        self.leader = leader
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.directories = [] if directories is UNSET else directories
        if leader_recovery_state != 0:
            self.leader_recovery_state = leader_recovery_state
        if eligible_leader_replicas is not None:
            self.eligible_leader_replicas = eligible_leader_replicas
        if last_known_elr is not None:
            self.last_known_elr = last_known_elr
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_id))
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.replicas))
        put(wire.numbers(self.replicas, "i"))
        put(wire.compact_count(self.isr))
        put(wire.numbers(self.isr, "i"))
        put(wire.compact_count(self.removing_replicas))
        put(wire.numbers(self.removing_replicas, "i"))
        put(wire.compact_count(self.adding_replicas))
        put(wire.numbers(self.adding_replicas, "i"))
        put(pack_iii(self.leader, self.leader_epoch, self.partition_epoch))
        if version >= 1:
            put(wire.compact_count(self.directories))
            for uuid in self.directories:
                put(wire.uuid(uuid))
        elif self.directories:
            raise wire.Unwritable
        if version < 2 and self._tagged and self.eligible_leader_replicas is not None:
            raise wire.Unwritable
        if version < 2 and self._tagged and self.last_known_elr is not None:
            raise wire.Unwritable
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "leader_recovery_state" in tagged and tagged["leader_recovery_state"]:
            tags.append(wire.tag(0, wire.pack_int8(tagged["leader_recovery_state"])))
        if version >= 2 and "eligible_leader_replicas" in tagged and tagged["eligible_leader_replicas"] is not None:
            body_1: list[wire.Chunk] = []
            body_1.append(wire.compact_nullable_count(tagged["eligible_leader_replicas"]))
            body_1.append(wire.numbers(tagged["eligible_leader_replicas"] or (), "i"))
            tags.append(wire.tag(1, b"".join(body_1)))
        if version >= 2 and "last_known_elr" in tagged and tagged["last_known_elr"] is not None:
            body_2: list[wire.Chunk] = []
            body_2.append(wire.compact_nullable_count(tagged["last_known_elr"]))
            body_2.append(wire.numbers(tagged["last_known_elr"] or (), "i"))
            tags.append(wire.tag(2, b"".join(body_2)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 3)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.partition_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.replicas, pos = wire.read_numbers(buf, pos, n, "i", 4)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.isr, pos = wire.read_numbers(buf, pos, n, "i", 4)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.removing_replicas, pos = wire.read_numbers(buf, pos, n, "i", 4)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.adding_replicas, pos = wire.read_numbers(buf, pos, n, "i", 4)
        self.leader, self.leader_epoch, self.partition_epoch = unpack_iii(buf, pos)
        pos += 12
        if version >= 1:
            n, pos = wire.read_compact_count(buf, pos, 16)
            self.directories, pos = wire.read_many(wire.read_uuid, buf, pos, n)
        else:
            self.directories = []
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                (tagged["leader_recovery_state"],) = wire.unpack_int8(buf, pos)
                pos += 1
            elif tag == 1:
                if version < 2:
                    raise wire.Malformed
                n, pos = wire.read_compact_nullable_count(buf, pos, 4)
                if n < 0:
                    tagged["eligible_leader_replicas"] = None
                else:
                    tagged["eligible_leader_replicas"], pos = wire.read_numbers(buf, pos, n, "i", 4)
            elif tag == 2:
                if version < 2:
                    raise wire.Malformed
                n, pos = wire.read_compact_nullable_count(buf, pos, 4)
                if n < 0:
                    tagged["last_known_elr"] = None
                else:
                    tagged["last_known_elr"], pos = wire.read_numbers(buf, pos, n, "i", 4)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
