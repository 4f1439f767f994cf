"""PartitionChangeRecord: metadata, key 5, versions 0-2, flexible from 0.

Generated from schemas/metadata/PartitionChangeRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Tagged
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag


class PartitionChangeRecord(Message):
    """PartitionChangeRecord, versions 0-2."""

    __slots__ = ("partition_id", "topic_id")

    isr = Tagged[list[int] | None]("isr", None)
    leader = Tagged[int]("leader", -2)
    replicas = Tagged[list[int] | None]("replicas", None)
    removing_replicas = Tagged[list[int] | None]("removing_replicas", None)
    adding_replicas = Tagged[list[int] | None]("adding_replicas", None)
    leader_recovery_state = Tagged[int]("leader_recovery_state", -1)
    directories = Tagged[list[Uuid] | None]("directories", None)
    eligible_leader_replicas = Tagged[list[int] | None]("eligible_leader_replicas", None)
    last_known_elr = Tagged[list[int] | None]("last_known_elr", None)

    NAME = "PartitionChangeRecord"
    TYPE = "metadata"
    API_KEY = 5
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("PartitionId", "partition_id", "int32", (0, 2), default=-1),
        Field("TopicId", "topic_id", "uuid", (0, 2), default=Uuid.ZERO),
        Field(
            "Isr",
            "isr",
            "int32",
            (0, 2),
            is_array=True,
            nullable=(0, 2),
            tagged=(0, 2),
            tag=0,
            entity="brokerId",
        ),
        Field("Leader", "leader", "int32", (0, 2), tagged=(0, 2), tag=1, default=-2, entity="brokerId"),
        Field(
            "Replicas",
            "replicas",
            "int32",
            (0, 2),
            is_array=True,
            nullable=(0, 2),
            tagged=(0, 2),
            tag=2,
            entity="brokerId",
        ),
        Field(
            "RemovingReplicas",
            "removing_replicas",
            "int32",
            (0, 2),
            is_array=True,
            nullable=(0, 2),
            tagged=(0, 2),
            tag=3,
            entity="brokerId",
        ),
        Field(
            "AddingReplicas",
            "adding_replicas",
            "int32",
            (0, 2),
            is_array=True,
            nullable=(0, 2),
            tagged=(0, 2),
            tag=4,
            entity="brokerId",
        ),
        Field(
            "LeaderRecoveryState",
            "leader_recovery_state",
            "int8",
            (0, 2),
            tagged=(0, 2),
            tag=5,
            default=-1,
        ),
        Field(
            "Directories",
            "directories",
            "uuid",
            (1, 2),
            is_array=True,
            nullable=(1, 2),
            tagged=(1, 2),
            tag=8,
        ),
        Field(
            "EligibleLeaderReplicas",
            "eligible_leader_replicas",
            "int32",
            (2, 2),
            is_array=True,
            nullable=(2, 2),
            tagged=(2, 2),
            tag=6,
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
            tag=7,
            entity="brokerId",
        ),
    )

    def __init__(
        self,
        partition_id: int = -1,  # int32
        topic_id: Uuid = Uuid.ZERO,  # uuid
        isr: list[int] | None = None,  # []int32, tag 0, brokerId
        leader: int = -2,  # int32, tag 1, brokerId
        replicas: list[int] | None = None,  # []int32, tag 2, brokerId
        removing_replicas: list[int] | None = None,  # []int32, tag 3, brokerId
        adding_replicas: list[int] | None = None,  # []int32, tag 4, brokerId
        leader_recovery_state: int = -1,  # int8, tag 5
        directories: list[Uuid] | None = None,  # []uuid, v1+, tag 8
        eligible_leader_replicas: list[int] | None = None,  # []int32, v2+, tag 6, brokerId
        last_known_elr: list[int] | None = None,  # []int32, v2+, tag 7, brokerId
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_id = partition_id
        self.topic_id = topic_id
        if isr is not None:
            self.isr = isr
        if leader != -2:
            self.leader = leader
        if replicas is not None:
            self.replicas = replicas
        if removing_replicas is not None:
            self.removing_replicas = removing_replicas
        if adding_replicas is not None:
            self.adding_replicas = adding_replicas
        if leader_recovery_state != -1:
            self.leader_recovery_state = leader_recovery_state
        if directories is not None:
            self.directories = directories
        if eligible_leader_replicas is not None:
            self.eligible_leader_replicas = eligible_leader_replicas
        if last_known_elr is not None:
            self.last_known_elr = last_known_elr
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_id))
        put(wire.uuid(self.topic_id))
        if version < 1 and self._tagged and self.directories is not None:
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
        if "isr" in tagged and tagged["isr"] is not None:
            body_0: list[wire.Chunk] = []
            body_0.append(wire.compact_nullable_count(tagged["isr"]))
            body_0.append(wire.numbers(tagged["isr"] or (), "i"))
            tags.append(wire.tag(0, b"".join(body_0)))
        if "leader" in tagged and tagged["leader"] != -2:
            tags.append(wire.tag(1, wire.pack_int32(tagged["leader"])))
        if "replicas" in tagged and tagged["replicas"] is not None:
            body_2: list[wire.Chunk] = []
            body_2.append(wire.compact_nullable_count(tagged["replicas"]))
            body_2.append(wire.numbers(tagged["replicas"] or (), "i"))
            tags.append(wire.tag(2, b"".join(body_2)))
        if "removing_replicas" in tagged and tagged["removing_replicas"] is not None:
            body_3: list[wire.Chunk] = []
            body_3.append(wire.compact_nullable_count(tagged["removing_replicas"]))
            body_3.append(wire.numbers(tagged["removing_replicas"] or (), "i"))
            tags.append(wire.tag(3, b"".join(body_3)))
        if "adding_replicas" in tagged and tagged["adding_replicas"] is not None:
            body_4: list[wire.Chunk] = []
            body_4.append(wire.compact_nullable_count(tagged["adding_replicas"]))
            body_4.append(wire.numbers(tagged["adding_replicas"] or (), "i"))
            tags.append(wire.tag(4, b"".join(body_4)))
        if "leader_recovery_state" in tagged and tagged["leader_recovery_state"] != -1:
            tags.append(wire.tag(5, wire.pack_int8(tagged["leader_recovery_state"])))
        if version >= 2 and "eligible_leader_replicas" in tagged and tagged["eligible_leader_replicas"] is not None:
            body_6: list[wire.Chunk] = []
            body_6.append(wire.compact_nullable_count(tagged["eligible_leader_replicas"]))
            body_6.append(wire.numbers(tagged["eligible_leader_replicas"] or (), "i"))
            tags.append(wire.tag(6, b"".join(body_6)))
        if version >= 2 and "last_known_elr" in tagged and tagged["last_known_elr"] is not None:
            body_7: list[wire.Chunk] = []
            body_7.append(wire.compact_nullable_count(tagged["last_known_elr"]))
            body_7.append(wire.numbers(tagged["last_known_elr"] or (), "i"))
            tags.append(wire.tag(7, b"".join(body_7)))
        if version >= 1 and "directories" in tagged and tagged["directories"] is not None:
            body_8: list[wire.Chunk] = []
            body_8.append(wire.compact_nullable_count(tagged["directories"]))
            for uuid in tagged["directories"] or ():
                body_8.append(wire.uuid(uuid))
            tags.append(wire.tag(8, b"".join(body_8)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 9)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionChangeRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.partition_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.topic_id, pos = wire.read_uuid(buf, pos)
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                n, pos = wire.read_compact_nullable_count(buf, pos, 4)
                if n < 0:
                    tagged["isr"] = None
                else:
                    tagged["isr"], pos = wire.read_numbers(buf, pos, n, "i", 4)
            elif tag == 1:
                (tagged["leader"],) = wire.unpack_int32(buf, pos)
                pos += 4
            elif tag == 2:
                n, pos = wire.read_compact_nullable_count(buf, pos, 4)
                if n < 0:
                    tagged["replicas"] = None
                else:
                    tagged["replicas"], pos = wire.read_numbers(buf, pos, n, "i", 4)
            elif tag == 3:
                n, pos = wire.read_compact_nullable_count(buf, pos, 4)
                if n < 0:
                    tagged["removing_replicas"] = None
                else:
                    tagged["removing_replicas"], pos = wire.read_numbers(buf, pos, n, "i", 4)
            elif tag == 4:
                n, pos = wire.read_compact_nullable_count(buf, pos, 4)
                if n < 0:
                    tagged["adding_replicas"] = None
                else:
                    tagged["adding_replicas"], pos = wire.read_numbers(buf, pos, n, "i", 4)
            elif tag == 5:
                (tagged["leader_recovery_state"],) = wire.unpack_int8(buf, pos)
                pos += 1
            elif tag == 6:
                if version < 2:
                    raise wire.Malformed
                n, pos = wire.read_compact_nullable_count(buf, pos, 4)
                if n < 0:
                    tagged["eligible_leader_replicas"] = None
                else:
                    tagged["eligible_leader_replicas"], pos = wire.read_numbers(buf, pos, n, "i", 4)
            elif tag == 7:
                if version < 2:
                    raise wire.Malformed
                n, pos = wire.read_compact_nullable_count(buf, pos, 4)
                if n < 0:
                    tagged["last_known_elr"] = None
                else:
                    tagged["last_known_elr"], pos = wire.read_numbers(buf, pos, n, "i", 4)
            elif tag == 8:
                if version < 1:
                    raise wire.Malformed
                n, pos = wire.read_compact_nullable_count(buf, pos, 16)
                if n < 0:
                    tagged["directories"] = None
                else:
                    tagged["directories"], pos = wire.read_many(wire.read_uuid, buf, pos, n)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
