"""UpdateRaftVoterResponse: response, key 82, versions 0, flexible from 0.

Generated from schemas/kafka/UpdateRaftVoterResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ih, pack_ih = wire.fused("ih")
unpack_ii, pack_ii = wire.fused("ii")


class CurrentLeader(Struct):
    """Part of UpdateRaftVoterResponse."""

    __slots__ = ("leader_id", "leader_epoch", "host", "port")

    FIELDS = (
        Field("LeaderId", "leader_id", "int32", (0, 0), default=-1, entity="brokerId"),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 0), default=-1),
        Field("Host", "host", "string", (0, 0), default=""),
        Field("Port", "port", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        leader_id: int = -1,  # int32, brokerId
        leader_epoch: int = -1,  # int32
        host: str = "",  # string
        port: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.host = host
        self.port = port
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.leader_id, self.leader_epoch))
        put(wire.compact_string(self.host))
        put(wire.pack_int32(self.port))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CurrentLeader, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.leader_id, self.leader_epoch = unpack_ii(buf, pos)
        pos += 8
        self.host, pos = wire.read_compact_string(buf, pos)
        (self.port,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class UpdateRaftVoterResponse(Message):
    """UpdateRaftVoterResponse, versions 0."""

    __slots__ = ("throttle_time_ms", "error_code")

    current_leader = Tagged[CurrentLeader]("current_leader", CurrentLeader)

    NAME = "UpdateRaftVoterResponse"
    TYPE = "response"
    API_KEY = 82
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field(
            "CurrentLeader",
            "current_leader",
            "struct",
            (0, 0),
            tagged=(0, 0),
            tag=0,
            default={},
            struct=CurrentLeader,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        current_leader: CurrentLeader = UNSET,  # CurrentLeader, tag 0
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        if current_leader is not UNSET:
            self.current_leader = current_leader
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "current_leader" in tagged and (tagged["current_leader"].leader_id != -1 or tagged["current_leader"].leader_epoch != -1 or tagged["current_leader"].host or tagged["current_leader"].port or tagged["current_leader"].unknown_tags):
            body_0: list[wire.Chunk] = []
            tagged["current_leader"]._write(body_0.append, version)
            tags.append(wire.tag(0, b"".join(body_0)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UpdateRaftVoterResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                tagged["current_leader"], pos = CurrentLeader._read(buf, pos, version)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
