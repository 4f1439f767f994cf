"""BrokerHeartbeatRequest: request, key 63, versions 0-2, flexible from 0.

Generated from schemas/kafka/BrokerHeartbeatRequest.json.
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

unpack_iqqoo, pack_iqqoo = wire.fused("iqq??")


class BrokerHeartbeatRequest(Message):
    """BrokerHeartbeatRequest, versions 0-2."""

    __slots__ = ("broker_id", "broker_epoch", "current_metadata_offset", "want_fence", "want_shut_down")

    offline_log_dirs = Tagged[list[Uuid]]("offline_log_dirs", list)
    cordoned_log_dirs = Tagged[list[Uuid] | None]("cordoned_log_dirs", None)

    NAME = "BrokerHeartbeatRequest"
    TYPE = "request"
    API_KEY = 63
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("BrokerId", "broker_id", "int32", (0, 2), default=0, entity="brokerId"),
        Field("BrokerEpoch", "broker_epoch", "int64", (0, 2), default=-1),
        Field("CurrentMetadataOffset", "current_metadata_offset", "int64", (0, 2), default=0),
        Field("WantFence", "want_fence", "bool", (0, 2), default=False),
        Field("WantShutDown", "want_shut_down", "bool", (0, 2), default=False),
        Field(
            "OfflineLogDirs",
            "offline_log_dirs",
            "uuid",
            (1, 2),
            is_array=True,
            tagged=(1, 2),
            tag=0,
            default=[],
        ),
        Field(
            "CordonedLogDirs",
            "cordoned_log_dirs",
            "uuid",
            (2, 2),
            is_array=True,
            nullable=(2, 2),
            tagged=(2, 2),
            tag=1,
        ),
    )

    def __init__(
        self,
        broker_id: int = 0,  # int32, brokerId
        broker_epoch: int = -1,  # int64
        current_metadata_offset: int = 0,  # int64
        want_fence: bool = False,  # bool
        want_shut_down: bool = False,  # bool
        offline_log_dirs: list[Uuid] = UNSET,  # []uuid, v1+, tag 0
        cordoned_log_dirs: list[Uuid] | None = None,  # []uuid, v2+, tag 1
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.current_metadata_offset = current_metadata_offset
        self.want_fence = want_fence
        self.want_shut_down = want_shut_down
        if offline_log_dirs is not UNSET:
            self.offline_log_dirs = offline_log_dirs
        if cordoned_log_dirs is not None:
            self.cordoned_log_dirs = cordoned_log_dirs
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iqqoo(
            self.broker_id,
            self.broker_epoch,
            self.current_metadata_offset,
            self.want_fence,
            self.want_shut_down,
        ))
        if version < 1 and self._tagged and self.offline_log_dirs:
            raise wire.Unwritable
        if version < 2 and self._tagged and self.cordoned_log_dirs is not None:
            raise wire.Unwritable
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if version >= 1 and "offline_log_dirs" in tagged and tagged["offline_log_dirs"]:
            body_0: list[wire.Chunk] = []
            body_0.append(wire.compact_count(tagged["offline_log_dirs"]))
            for uuid in tagged["offline_log_dirs"]:
                body_0.append(wire.uuid(uuid))
            tags.append(wire.tag(0, b"".join(body_0)))
        if version >= 2 and "cordoned_log_dirs" in tagged and tagged["cordoned_log_dirs"] is not None:
            body_1: list[wire.Chunk] = []
            body_1.append(wire.compact_nullable_count(tagged["cordoned_log_dirs"]))
            for uuid in tagged["cordoned_log_dirs"] or ():
                body_1.append(wire.uuid(uuid))
            tags.append(wire.tag(1, b"".join(body_1)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 2)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BrokerHeartbeatRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.broker_id,
            self.broker_epoch,
            self.current_metadata_offset,
            self.want_fence,
            self.want_shut_down,
        ) = unpack_iqqoo(buf, pos)
        pos += 22
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                if version < 1:
                    raise wire.Malformed
                n, pos = wire.read_compact_count(buf, pos, 16)
                tagged["offline_log_dirs"], pos = wire.read_many(wire.read_uuid, buf, pos, n)
            elif tag == 1:
                if version < 2:
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
