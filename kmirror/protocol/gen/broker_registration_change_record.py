"""BrokerRegistrationChangeRecord: metadata, key 17, versions 0-3, flexible from 0.

Generated from schemas/metadata/BrokerRegistrationChangeRecord.json.
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

unpack_iq, pack_iq = wire.fused("iq")


class BrokerRegistrationChangeRecord(Message):
    """BrokerRegistrationChangeRecord, versions 0-3."""

    __slots__ = ("broker_id", "broker_epoch")

    fenced = Tagged[int]("fenced", 0)
    in_controlled_shutdown = Tagged[int]("in_controlled_shutdown", 0)
    log_dirs = Tagged[list[Uuid]]("log_dirs", list)
    cordoned_log_dirs = Tagged[list[Uuid] | None]("cordoned_log_dirs", None)

    NAME = "BrokerRegistrationChangeRecord"
    TYPE = "metadata"
    API_KEY = 17
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("BrokerId", "broker_id", "int32", (0, 3), default=0, entity="brokerId"),
        Field("BrokerEpoch", "broker_epoch", "int64", (0, 3), default=0),
        Field("Fenced", "fenced", "int8", (0, 3), tagged=(0, 3), tag=0, default=0),
        Field(
            "InControlledShutdown",
            "in_controlled_shutdown",
            "int8",
            (1, 3),
            tagged=(1, 3),
            tag=1,
            default=0,
        ),
        Field("LogDirs", "log_dirs", "uuid", (2, 3), is_array=True, tagged=(2, 3), tag=2, default=[]),
        Field(
            "CordonedLogDirs",
            "cordoned_log_dirs",
            "uuid",
            (3, 3),
            is_array=True,
            nullable=(3, 3),
            tagged=(3, 3),
            tag=3,
        ),
    )

    def __init__(
        self,
        broker_id: int = 0,  # int32, brokerId
        broker_epoch: int = 0,  # int64
        fenced: int = 0,  # int8, tag 0
        in_controlled_shutdown: int = 0,  # int8, v1+, tag 1
        log_dirs: list[Uuid] = UNSET,  # []uuid, v2+, tag 2
        cordoned_log_dirs: list[Uuid] | None = None,  # []uuid, v3+, tag 3
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        if fenced != 0:
            self.fenced = fenced
        if in_controlled_shutdown != 0:
            self.in_controlled_shutdown = in_controlled_shutdown
        if log_dirs is not UNSET:
            self.log_dirs = log_dirs
        if cordoned_log_dirs is not None:
            self.cordoned_log_dirs = cordoned_log_dirs
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.broker_id, self.broker_epoch))
        if version < 1 and self._tagged and self.in_controlled_shutdown:
            raise wire.Unwritable
        if version < 2 and self._tagged and self.log_dirs:
            raise wire.Unwritable
        if version < 3 and self._tagged and self.cordoned_log_dirs is not None:
            raise wire.Unwritable
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "fenced" in tagged and tagged["fenced"]:
            tags.append(wire.tag(0, wire.pack_int8(tagged["fenced"])))
        if version >= 1 and "in_controlled_shutdown" in tagged and tagged["in_controlled_shutdown"]:
            tags.append(wire.tag(1, wire.pack_int8(tagged["in_controlled_shutdown"])))
        if version >= 2 and "log_dirs" in tagged and tagged["log_dirs"]:
            body_2: list[wire.Chunk] = []
            body_2.append(wire.compact_count(tagged["log_dirs"]))
            for uuid in tagged["log_dirs"]:
                body_2.append(wire.uuid(uuid))
            tags.append(wire.tag(2, b"".join(body_2)))
        if version >= 3 and "cordoned_log_dirs" in tagged and tagged["cordoned_log_dirs"] is not None:
            body_3: list[wire.Chunk] = []
            body_3.append(wire.compact_nullable_count(tagged["cordoned_log_dirs"]))
            for uuid in tagged["cordoned_log_dirs"] or ():
                body_3.append(wire.uuid(uuid))
            tags.append(wire.tag(3, b"".join(body_3)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 4)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BrokerRegistrationChangeRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.broker_id, self.broker_epoch = unpack_iq(buf, pos)
        pos += 12
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                (tagged["fenced"],) = wire.unpack_int8(buf, pos)
                pos += 1
            elif tag == 1:
                if version < 1:
                    raise wire.Malformed
                (tagged["in_controlled_shutdown"],) = wire.unpack_int8(buf, pos)
                pos += 1
            elif tag == 2:
                if version < 2:
                    raise wire.Malformed
                n, pos = wire.read_compact_count(buf, pos, 16)
                tagged["log_dirs"], pos = wire.read_many(wire.read_uuid, buf, pos, n)
            elif tag == 3:
                if version < 3:
                    raise wire.Malformed
                n, pos = wire.read_compact_nullable_count(buf, pos, 16)
                if n < 0:
                    tagged["cordoned_log_dirs"] = None
                else:
                    tagged["cordoned_log_dirs"], pos = wire.read_many(wire.read_uuid, buf, pos, n)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
