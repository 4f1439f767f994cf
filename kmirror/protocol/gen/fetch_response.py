"""FetchResponse: response, key 1, versions 4-19, flexible from 12.

Generated from schemas/kafka/FetchResponse.json and schemas/mirroring/FetchResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_hi, pack_hi = wire.fused("hi")
unpack_ihqq, pack_ihqq = wire.fused("ihqq")
unpack_ii, pack_ii = wire.fused("ii")
unpack_iq, pack_iq = wire.fused("iq")
unpack_qi, pack_qi = wire.fused("qi")
unpack_qq, pack_qq = wire.fused("qq")


class EpochEndOffset(Struct):
    """Part of FetchResponse, v12+."""

    __slots__ = ("epoch", "end_offset")

    FIELDS = (
        Field("Epoch", "epoch", "int32", (12, 19), default=-1),
        Field("EndOffset", "end_offset", "int64", (12, 19), default=-1),
    )

    def __init__(
        self,
        # Leader epoch.
        epoch: int = -1,  # int32
        # Offset after the last one.
        end_offset: int = -1,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.epoch = epoch
        self.end_offset = end_offset
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.epoch, self.end_offset))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EpochEndOffset, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.epoch, self.end_offset = unpack_iq(buf, pos)
        pos += 12
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class LeaderIdAndEpoch(Struct):
    """Part of FetchResponse, v12+."""

    __slots__ = ("leader_id", "leader_epoch")

    FIELDS = (
        Field("LeaderId", "leader_id", "int32", (12, 19), default=-1, entity="brokerId"),
        Field("LeaderEpoch", "leader_epoch", "int32", (12, 19), default=-1),
    )

    def __init__(
        self,
        # Broker that leads the partition, -1 if none does.
        leader_id: int = -1,  # int32, brokerId
        # Leader epoch, -1 if it is not known.
        leader_epoch: int = -1,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.leader_id, self.leader_epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LeaderIdAndEpoch, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.leader_id, self.leader_epoch = unpack_ii(buf, pos)
        pos += 8
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class SnapshotId(Struct):
    """Part of FetchResponse, v12+."""

    __slots__ = ("end_offset", "epoch")

    FIELDS = (
        Field("EndOffset", "end_offset", "int64", (12, 19), default=-1),
        Field("Epoch", "epoch", "int32", (12, 19), default=-1),
    )

    def __init__(
        self,
        # Offset after the last one.
        end_offset: int = -1,  # int64
        # Leader epoch.
        epoch: int = -1,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.end_offset = end_offset
        self.epoch = epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qi(self.end_offset, self.epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SnapshotId, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.end_offset, self.epoch = unpack_qi(buf, pos)
        pos += 12
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AbortedTransaction(Struct):
    """Part of FetchResponse."""

    __slots__ = ("producer_id", "first_offset")

    FIELDS = (
        Field("ProducerId", "producer_id", "int64", (4, 19), default=0, entity="producerId"),
        Field("FirstOffset", "first_offset", "int64", (4, 19), default=0),
    )

    def __init__(
        self,
        # Id of the producer.
        producer_id: int = 0,  # int64, producerId
        # Offset of the first record of the transaction.
        first_offset: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.producer_id = producer_id
        self.first_offset = first_offset
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qq(self.producer_id, self.first_offset))
        if version >= 12:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AbortedTransaction, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.producer_id, self.first_offset = unpack_qq(buf, pos)
        pos += 16
        if version >= 12:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class PartitionData(Struct):
    """Part of FetchResponse."""

    __slots__ = (
        "partition_index",
        "error_code",
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "aborted_transactions",
        "preferred_read_replica",
        "records",
    )

    diverging_epoch = Tagged[EpochEndOffset]("diverging_epoch", EpochEndOffset)
    current_leader = Tagged[LeaderIdAndEpoch]("current_leader", LeaderIdAndEpoch)
    snapshot_id = Tagged[SnapshotId]("snapshot_id", SnapshotId)
    mirror_leader_epoch = Tagged[int]("mirror_leader_epoch", -1)

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (4, 19), default=0),
        Field("ErrorCode", "error_code", "int16", (4, 19), default=0),
        Field("HighWatermark", "high_watermark", "int64", (4, 19), default=0),
        Field("LastStableOffset", "last_stable_offset", "int64", (4, 19), default=-1, ignorable=True),
        Field("LogStartOffset", "log_start_offset", "int64", (5, 19), default=-1, ignorable=True),
        Field(
            "DivergingEpoch",
            "diverging_epoch",
            "struct",
            (12, 19),
            tagged=(12, 19),
            tag=0,
            default={},
            struct=EpochEndOffset,
        ),
        Field(
            "CurrentLeader",
            "current_leader",
            "struct",
            (12, 19),
            tagged=(12, 19),
            tag=1,
            default={},
            struct=LeaderIdAndEpoch,
        ),
        Field(
            "SnapshotId",
            "snapshot_id",
            "struct",
            (12, 19),
            tagged=(12, 19),
            tag=2,
            default={},
            struct=SnapshotId,
        ),
        Field(
            "AbortedTransactions",
            "aborted_transactions",
            "struct",
            (4, 19),
            is_array=True,
            nullable=(4, 19),
            default=[],
            ignorable=True,
            struct=AbortedTransaction,
        ),
        Field(
            "PreferredReadReplica",
            "preferred_read_replica",
            "int32",
            (11, 19),
            default=-1,
            entity="brokerId",
        ),
        Field("Records", "records", "records", (4, 19), nullable=(4, 19)),
        Field(
            "MirrorLeaderEpoch",
            "mirror_leader_epoch",
            "int32",
            (19, 19),
            tagged=(19, 19),
            tag=3,
            default=-1,
            ignorable=True,
        ),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # First offset that is not yet on all replicas in sync.
        high_watermark: int = 0,  # int64
        # First offset of an open transaction, or the high watermark.
        last_stable_offset: int = -1,  # int64, ignorable
        # First offset that the log holds.
        log_start_offset: int = -1,  # int64, v5+, ignorable
        # Where the follower's log leaves the leader's: it must cut there.
        diverging_epoch: EpochEndOffset = UNSET,  # EpochEndOffset, v12+, tag 0
        # The leader as the broker knows it, if the client seems to know another.
        current_leader: LeaderIdAndEpoch = UNSET,  # LeaderIdAndEpoch, v12+, tag 1
        # Snapshot to be fetched instead.
        snapshot_id: SnapshotId = UNSET,  # SnapshotId, v12+, tag 2
        # Transactions that were aborted within these records, in READ_COMMITTED.
        aborted_transactions: list[AbortedTransaction] | None = UNSET,  # []AbortedTransaction, ignorable
        # Replica to read from next time, -1 for the leader.
        preferred_read_replica: int = -1,  # int32, v11+, brokerId
        # Record batches as they stand in the log.
        records: bytes | memoryview | None = None,  # records
        # Last leader epoch in the leader's log of a mirrored partition, -1 if it is not mirrored.
        mirror_leader_epoch: int = -1,  # int32, v19+, tag 3, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.error_code = error_code
        self.high_watermark = high_watermark
        self.last_stable_offset = last_stable_offset
        self.log_start_offset = log_start_offset
        self.aborted_transactions = [] if aborted_transactions is UNSET else aborted_transactions
        self.preferred_read_replica = preferred_read_replica
        self.records = records
        if diverging_epoch is not UNSET:
            self.diverging_epoch = diverging_epoch
        if current_leader is not UNSET:
            self.current_leader = current_leader
        if snapshot_id is not UNSET:
            self.snapshot_id = snapshot_id
        if mirror_leader_epoch != -1:
            self.mirror_leader_epoch = mirror_leader_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ihqq(self.partition_index, self.error_code, self.high_watermark, self.last_stable_offset))
        if version >= 5:
            put(wire.pack_int64(self.log_start_offset))
        put((wire.compact_nullable_count if version >= 12 else wire.nullable_count)(self.aborted_transactions))
        for aborted_transaction in self.aborted_transactions or ():
            aborted_transaction._write(put, version)
        if version >= 11:
            put(wire.pack_int32(self.preferred_read_replica))
        elif self.preferred_read_replica != -1:
            raise wire.Unwritable
        (wire.put_compact_nullable_bytes if version >= 12 else wire.put_nullable_bytes)(put, self.records)
        if version < 12 and self._tagged and self.diverging_epoch != EpochEndOffset():
            raise wire.Unwritable
        if version < 12 and self._tagged and self.current_leader != LeaderIdAndEpoch():
            raise wire.Unwritable
        if version < 12 and self._tagged and self.snapshot_id != SnapshotId():
            raise wire.Unwritable
        if version >= 12:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "diverging_epoch" in tagged and (tagged["diverging_epoch"].epoch != -1 or tagged["diverging_epoch"].end_offset != -1 or tagged["diverging_epoch"].unknown_tags):
            body_0: list[wire.Chunk] = []
            tagged["diverging_epoch"]._write(body_0.append, version)
            tags.append(wire.tag(0, b"".join(body_0)))
        if "current_leader" in tagged and (tagged["current_leader"].leader_id != -1 or tagged["current_leader"].leader_epoch != -1 or tagged["current_leader"].unknown_tags):
            body_1: list[wire.Chunk] = []
            tagged["current_leader"]._write(body_1.append, version)
            tags.append(wire.tag(1, b"".join(body_1)))
        if "snapshot_id" in tagged and (tagged["snapshot_id"].end_offset != -1 or tagged["snapshot_id"].epoch != -1 or tagged["snapshot_id"].unknown_tags):
            body_2: list[wire.Chunk] = []
            tagged["snapshot_id"]._write(body_2.append, version)
            tags.append(wire.tag(2, b"".join(body_2)))
        if version >= 19 and "mirror_leader_epoch" in tagged and tagged["mirror_leader_epoch"] != -1:
            tags.append(wire.tag(3, wire.pack_int32(tagged["mirror_leader_epoch"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 4)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.partition_index,
            self.error_code,
            self.high_watermark,
            self.last_stable_offset,
        ) = unpack_ihqq(buf, pos)
        pos += 22
        if version >= 5:
            (self.log_start_offset,) = wire.unpack_int64(buf, pos)
            pos += 8
        else:
            self.log_start_offset = -1
        n, pos = (wire.read_compact_nullable_count if version >= 12 else wire.read_nullable_count)(buf, pos, 16)
        if n < 0:
            self.aborted_transactions = None
        else:
            self.aborted_transactions, pos = wire.read_structs(AbortedTransaction._read, buf, pos, n, version)
        if version >= 11:
            (self.preferred_read_replica,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.preferred_read_replica = -1
        self.records, pos = (wire.read_compact_nullable_records if version >= 12 else wire.read_nullable_records)(buf, pos)
        if version >= 12:
            pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                tagged["diverging_epoch"], pos = EpochEndOffset._read(buf, pos, version)
            elif tag == 1:
                tagged["current_leader"], pos = LeaderIdAndEpoch._read(buf, pos, version)
            elif tag == 2:
                tagged["snapshot_id"], pos = SnapshotId._read(buf, pos, version)
            elif tag == 3:
                if version < 19:
                    raise wire.Malformed
                (tagged["mirror_leader_epoch"],) = wire.unpack_int32(buf, pos)
                pos += 4
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


class FetchableTopicResponse(Struct):
    """Part of FetchResponse."""

    __slots__ = ("topic", "topic_id", "partitions")

    FIELDS = (
        Field("Topic", "topic", "string", (4, 12), default="", ignorable=True, entity="topicName"),
        Field("TopicId", "topic_id", "uuid", (13, 19), default=Uuid.ZERO, ignorable=True),
        Field("Partitions", "partitions", "struct", (4, 19), is_array=True, default=[], struct=PartitionData),
    )

    def __init__(
        self,
        # Name of the topic.
        topic: str = "",  # string, v4-12, ignorable, topicName
        # Id of the topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid, v13+, ignorable
        # The partitions.
        partitions: list[PartitionData] = UNSET,  # []PartitionData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version <= 12:
            put((wire.compact_string if version >= 12 else wire.string)(self.topic))
        if version >= 13:
            put(wire.uuid(self.topic_id))
        put((wire.compact_count if version >= 12 else wire.count)(self.partitions))
        for partition_data in self.partitions:
            partition_data._write(put, version)
        if version >= 12:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FetchableTopicResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version <= 12:
            self.topic, pos = (wire.read_compact_string if version >= 12 else wire.read_string)(buf, pos)
        else:
            self.topic = ""
        if version >= 13:
            self.topic_id, pos = wire.read_uuid(buf, pos)
        else:
            self.topic_id = Uuid.ZERO
        n, pos = (wire.read_compact_count if version >= 12 else wire.read_count)(buf, pos, 30)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if version >= 12:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class NodeEndpoint(Struct):
    """Part of FetchResponse, v16+."""

    __slots__ = ("node_id", "host", "port", "rack")

    FIELDS = (
        Field("NodeId", "node_id", "int32", (16, 19), default=0, entity="brokerId", map_key=True),
        Field("Host", "host", "string", (16, 19), default=""),
        Field("Port", "port", "int32", (16, 19), default=0),
        Field("Rack", "rack", "string", (16, 19), nullable=(16, 19)),
    )

    def __init__(
        self,
        # Id of the broker.
        node_id: int = 0,  # int32, brokerId
        # Host to connect to.
        host: str = "",  # string
        # Port to connect to.
        port: int = 0,  # int32
        # Rack of the broker, null if it has none.
        rack: str | None = None,  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.node_id))
        put(wire.compact_string(self.host))
        put(wire.pack_int32(self.port))
        put(wire.compact_nullable_string(self.rack))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[NodeEndpoint, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.node_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.host, pos = wire.read_compact_string(buf, pos)
        (self.port,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.rack, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class FetchResponse(Message):
    """Records, and how far the leader is."""

    __slots__ = ("throttle_time_ms", "error_code", "session_id", "responses")

    node_endpoints = Tagged[list[NodeEndpoint]]("node_endpoints", list)

    NAME = "FetchResponse"
    TYPE = "response"
    API_KEY = 1
    MIN_VERSION = 4
    MAX_VERSION = 19
    FLEXIBLE_FROM = 12
    HAS_RECORDS = True
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (4, 19), default=0, ignorable=True),
        Field("ErrorCode", "error_code", "int16", (7, 19), default=0, ignorable=True),
        Field("SessionId", "session_id", "int32", (7, 19), default=0),
        Field(
            "Responses",
            "responses",
            "struct",
            (4, 19),
            is_array=True,
            default=[],
            struct=FetchableTopicResponse,
        ),
        Field(
            "NodeEndpoints",
            "node_endpoints",
            "struct",
            (16, 19),
            is_array=True,
            tagged=(16, 19),
            tag=0,
            default=[],
            struct=NodeEndpoint,
        ),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32, ignorable
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16, v7+, ignorable
        # Fetch session, 0 if there is none.
        session_id: int = 0,  # int32, v7+
        # One entry for each topic.
        responses: list[FetchableTopicResponse] = UNSET,  # []FetchableTopicResponse
        # Where the leaders named in the answer can be reached.
        node_endpoints: list[NodeEndpoint] = UNSET,  # []NodeEndpoint, v16+, tag 0
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.session_id = session_id
        self.responses = [] if responses is UNSET else responses
        if node_endpoints is not UNSET:
            self.node_endpoints = node_endpoints
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        if version >= 7:
            put(pack_hi(self.error_code, self.session_id))
        if version < 7 and self.session_id:
            raise wire.Unwritable
        put((wire.compact_count if version >= 12 else wire.count)(self.responses))
        for fetchable_topic_response in self.responses:
            fetchable_topic_response._write(put, version)
        if version < 16 and self._tagged and self.node_endpoints:
            raise wire.Unwritable
        if version >= 12:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if version >= 16 and "node_endpoints" in tagged and tagged["node_endpoints"]:
            body_0: list[wire.Chunk] = []
            body_0.append(wire.compact_count(tagged["node_endpoints"]))
            for node_endpoint in tagged["node_endpoints"]:
                node_endpoint._write(body_0.append, version)
            tags.append(wire.tag(0, b"".join(body_0)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FetchResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 7:
            self.error_code, self.session_id = unpack_hi(buf, pos)
            pos += 6
        else:
            self.error_code = 0
            self.session_id = 0
        n, pos = (wire.read_compact_count if version >= 12 else wire.read_count)(buf, pos, 3)
        self.responses, pos = wire.read_structs(FetchableTopicResponse._read, buf, pos, n, version)
        if version >= 12:
            pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                if version < 16:
                    raise wire.Malformed
                n, pos = wire.read_compact_count(buf, pos, 11)
                tagged["node_endpoints"], pos = wire.read_structs(NodeEndpoint._read, buf, pos, n, version)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


# -- the same functions as above, written out for each version, for speed

new = object.__new__
uvarint = wire.uvarint
new_uuid = bytes.__new__
pack_i = wire.fused("i")[1]
unpack_iB = wire.fused("iB")[0]
pack_ihi = wire.fused("ihi")[1]
unpack_ihiB = wire.fused("ihiB")[0]
pack_ihqqq = wire.fused("ihqqq")[1]
pack_ihqqqBi = wire.fused("ihqqqBi")[1]
unpack_ihqqqBiB = wire.fused("ihqqqBiB")[0]
unpack_qqB, pack_qqB = wire.fused("qqB")
unpack_uB = wire.fused("16sB")[0]


def read_13(buf: Any, pos: int, version: int, lazy: bool) -> tuple[FetchResponse, int]:
    size = len(buf)
    view = memoryview(buf)
    self = new(FetchResponse)
    self._tagged = 0
    self.throttle_time_ms, self.error_code, self.session_id, n = unpack_ihiB(buf, pos)
    pos += 11
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    fetchable_topic_response_items: list[FetchableTopicResponse] = []
    self.responses = fetchable_topic_response_items
    for _ in range(n):
        fetchable_topic_response = new(FetchableTopicResponse)
        fetchable_topic_response._tagged = 0
        fetchable_topic_response.topic = ""
        fetchable_topic_response.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        fetchable_topic_response.topic_id = new_uuid(Uuid, fetchable_topic_response.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 30 <= size - pos:
            raise wire.Malformed
        partition_data_items: list[PartitionData] = list(map(new, repeat(PartitionData, n)))
        fetchable_topic_response.partitions = partition_data_items
        for partition_data in partition_data_items:
            partition_data._tagged = 0
            (
                partition_data.partition_index,
                partition_data.error_code,
                partition_data.high_watermark,
                partition_data.last_stable_offset,
                partition_data.log_start_offset,
                count,
                partition_data.preferred_read_replica,
                n,
            ) = unpack_ihqqqBiB(buf, pos)
            if count < 2:
                partition_data.aborted_transactions = [] if count else None
                pos += 36
            else:
                pos += 30
                n, pos = wire.read_compact_length(buf, pos)
                if not 0 <= n * 16 <= size - pos:
                    raise wire.Malformed
                aborted_transaction_items: list[AbortedTransaction] = list(map(new, repeat(AbortedTransaction, n)))
                partition_data.aborted_transactions = aborted_transaction_items
                for aborted_transaction in aborted_transaction_items:
                    aborted_transaction._tagged = 0
                    (
                        aborted_transaction.producer_id,
                        aborted_transaction.first_offset,
                        n,
                    ) = unpack_qqB(buf, pos)
                    pos += 17
                    if n:
                        pos = aborted_transaction._read_tags(buf, pos - 1, version)
                partition_data.preferred_read_replica, n = unpack_iB(buf, pos)
                pos += 5
            if n > 127:
                second = buf[pos]
                if second < 128:
                    n = (n & 0x7F | second << 7) - 1
                    pos += 1
                elif buf[pos + 1] < 128:
                    n = (n & 0x7F | (second & 0x7F) << 7 | buf[pos + 1] << 14) - 1
                    pos += 2
                else:
                    n, pos = wire.read_compact_length(buf, pos - 1)
            else:
                n -= 1
            if n < 0:
                partition_data.records = None
            else:
                end = pos + n
                partition_data.records = view[pos:end]
                pos = end
            if buf[pos]:
                pos = partition_data._read_tags(buf, pos, version)
            else:
                pos += 1
        if buf[pos]:
            pos = fetchable_topic_response._read_tags(buf, pos, version)
        else:
            pos += 1
        fetchable_topic_response_items.append(fetchable_topic_response)
    if buf[pos]:
        pos = self._read_tags(buf, pos, version)
    else:
        pos += 1
    return self, pos


def write_13(self: FetchResponse, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged:
        self._write(put, version)
        return
    chunks += (
        pack_ihi(self.throttle_time_ms, self.error_code, self.session_id),
        uvarint(len(self.responses) + 1),
    )
    for fetchable_topic_response in self.responses:
        if fetchable_topic_response._tagged:
            fetchable_topic_response._write(put, version)
            continue
        chunks += (
            wire.uuid(fetchable_topic_response.topic_id),
            uvarint(len(fetchable_topic_response.partitions) + 1),
        )
        for partition_data in fetchable_topic_response.partitions:
            if partition_data._tagged:
                partition_data._write(put, version)
                continue
            if not partition_data.aborted_transactions:
                put(pack_ihqqqBi(partition_data.partition_index, partition_data.error_code, partition_data.high_watermark, partition_data.last_stable_offset, partition_data.log_start_offset, partition_data.aborted_transactions is not None, partition_data.preferred_read_replica))
            else:
                chunks += (
                    pack_ihqqq(partition_data.partition_index, partition_data.error_code, partition_data.high_watermark, partition_data.last_stable_offset, partition_data.log_start_offset),
                    uvarint(len(partition_data.aborted_transactions) + 1),
                )
                try:
                    rows = [
                        pack_qqB(item.producer_id, item.first_offset, item._tagged)
                        for item in partition_data.aborted_transactions
                    ]
                    put(b"".join(rows))
                except wire.PACK_ERRORS:
                    for aborted_transaction in partition_data.aborted_transactions:
                        aborted_transaction._write(put, version)
                put(pack_i(partition_data.preferred_read_replica))
            if partition_data.records is not None:
                chunks += (uvarint(len(partition_data.records) + 1), partition_data.records, b"\0")
            else:
                chunks += (b"\0", b"\0")
        put(b"\0")
    put(b"\0")


FetchResponse.READERS = {
    13: read_13,
    14: read_13,
    15: read_13,
    16: read_13,
    17: read_13,
    18: read_13,
    19: read_13,
}
FetchResponse.WRITERS = {
    13: write_13,
    14: write_13,
    15: write_13,
    16: write_13,
    17: write_13,
    18: write_13,
    19: write_13,
}
