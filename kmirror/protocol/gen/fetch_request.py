"""FetchRequest: request, key 1, versions 4-19, flexible from 12.

Generated from schemas/kafka/FetchRequest.json and schemas/mirroring/FetchRequest.json.
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

unpack_ii, pack_ii = wire.fused("ii")
unpack_iiib, pack_iiib = wire.fused("iiib")
unpack_iq, pack_iq = wire.fused("iq")


class ReplicaState(Struct):
    """Part of FetchRequest, v15+."""

    __slots__ = ("replica_id", "replica_epoch")

    FIELDS = (
        Field("ReplicaId", "replica_id", "int32", (15, 19), default=-1, entity="brokerId"),
        Field("ReplicaEpoch", "replica_epoch", "int64", (15, 19), default=-1),
    )

    def __init__(
        self,
        # Broker id of a follower, -1 for a consumer.
        replica_id: int = -1,  # int32, brokerId
        # Broker epoch of the follower.
        replica_epoch: int = -1,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.replica_id = replica_id
        self.replica_epoch = replica_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.replica_id, self.replica_epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ReplicaState, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.replica_id, self.replica_epoch = unpack_iq(buf, pos)
        pos += 12
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class FetchPartition(Struct):
    """Part of FetchRequest."""

    __slots__ = (
        "partition",
        "current_leader_epoch",
        "fetch_offset",
        "last_fetched_epoch",
        "log_start_offset",
        "partition_max_bytes",
    )

    replica_directory_id = Tagged[Uuid]("replica_directory_id", Uuid.ZERO)
    high_watermark = Tagged[int]("high_watermark", 9223372036854775807)
    mirror_leader_epoch = Tagged[int]("mirror_leader_epoch", -1)

    FIELDS = (
        Field("Partition", "partition", "int32", (4, 19), default=0),
        Field("CurrentLeaderEpoch", "current_leader_epoch", "int32", (9, 19), default=-1, ignorable=True),
        Field("FetchOffset", "fetch_offset", "int64", (4, 19), default=0),
        Field("LastFetchedEpoch", "last_fetched_epoch", "int32", (12, 19), default=-1),
        Field("LogStartOffset", "log_start_offset", "int64", (5, 19), default=-1, ignorable=True),
        Field("PartitionMaxBytes", "partition_max_bytes", "int32", (4, 19), default=0),
        Field(
            "ReplicaDirectoryId",
            "replica_directory_id",
            "uuid",
            (17, 19),
            tagged=(17, 19),
            tag=0,
            default=Uuid.ZERO,
            ignorable=True,
        ),
        Field(
            "HighWatermark",
            "high_watermark",
            "int64",
            (18, 19),
            tagged=(18, 19),
            tag=1,
            default=9223372036854775807,
            ignorable=True,
        ),
        Field(
            "MirrorLeaderEpoch",
            "mirror_leader_epoch",
            "int32",
            (19, 19),
            tagged=(19, 19),
            tag=2,
            default=-1,
            ignorable=True,
        ),
    )

    def __init__(
        self,
        # Partition.
        partition: int = 0,  # int32
        # Leader epoch as the asker knows it; an older one is fenced.
        current_leader_epoch: int = -1,  # int32, v9+, ignorable
        # Offset of the first record wanted.
        fetch_offset: int = 0,  # int64
        # Leader epoch of the last record that the follower has, -1 if it has none.
        last_fetched_epoch: int = -1,  # int32, v12+
        # First offset that the log holds.
        log_start_offset: int = -1,  # int64, v5+, ignorable
        # Most bytes for this partition; a first batch larger than that is sent all the same.
        partition_max_bytes: int = 0,  # int32
        # Directory of the follower that fetches.
        replica_directory_id: Uuid = Uuid.ZERO,  # uuid, v17+, tag 0, ignorable
        # High watermark as the follower knows it: another one is answered at once (KIP-1166).
        high_watermark: int = 9223372036854775807,  # int64, v18+, tag 1, ignorable
        # Last leader epoch in the leader's log of a mirrored partition, -1 if it is not mirrored.
        mirror_leader_epoch: int = -1,  # int32, v19+, tag 2, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.fetch_offset = fetch_offset
        self.last_fetched_epoch = last_fetched_epoch
        self.log_start_offset = log_start_offset
        self.partition_max_bytes = partition_max_bytes
        if replica_directory_id is not Uuid.ZERO:
            self.replica_directory_id = replica_directory_id
        if high_watermark != 9223372036854775807:
            self.high_watermark = high_watermark
        if mirror_leader_epoch != -1:
            self.mirror_leader_epoch = mirror_leader_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition))
        if version >= 9:
            put(wire.pack_int32(self.current_leader_epoch))
        put(wire.pack_int64(self.fetch_offset))
        if version >= 12:
            put(wire.pack_int32(self.last_fetched_epoch))
        elif self.last_fetched_epoch != -1:
            raise wire.Unwritable
        if version >= 5:
            put(wire.pack_int64(self.log_start_offset))
        put(wire.pack_int32(self.partition_max_bytes))
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
        if version >= 17 and "replica_directory_id" in tagged and tagged["replica_directory_id"] != Uuid.ZERO:
            tags.append(wire.tag(0, wire.uuid(tagged["replica_directory_id"])))
        if version >= 18 and "high_watermark" in tagged and tagged["high_watermark"] != 9223372036854775807:
            tags.append(wire.tag(1, wire.pack_int64(tagged["high_watermark"])))
        if version >= 19 and "mirror_leader_epoch" in tagged and tagged["mirror_leader_epoch"] != -1:
            tags.append(wire.tag(2, wire.pack_int32(tagged["mirror_leader_epoch"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 3)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FetchPartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.partition,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 9:
            (self.current_leader_epoch,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.current_leader_epoch = -1
        (self.fetch_offset,) = wire.unpack_int64(buf, pos)
        pos += 8
        if version >= 12:
            (self.last_fetched_epoch,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.last_fetched_epoch = -1
        if version >= 5:
            (self.log_start_offset,) = wire.unpack_int64(buf, pos)
            pos += 8
        else:
            self.log_start_offset = -1
        (self.partition_max_bytes,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 12:
            pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                if version < 17:
                    raise wire.Malformed
                tagged["replica_directory_id"], pos = wire.read_uuid(buf, pos)
            elif tag == 1:
                if version < 18:
                    raise wire.Malformed
                (tagged["high_watermark"],) = wire.unpack_int64(buf, pos)
                pos += 8
            elif tag == 2:
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


class FetchTopic(Struct):
    """Part of FetchRequest."""

    __slots__ = ("topic", "topic_id", "partitions")

    FIELDS = (
        Field("Topic", "topic", "string", (4, 12), default="", ignorable=True, entity="topicName"),
        Field("TopicId", "topic_id", "uuid", (13, 19), default=Uuid.ZERO, ignorable=True),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (4, 19),
            is_array=True,
            default=[],
            struct=FetchPartition,
        ),
    )

    def __init__(
        self,
        # Name of the topic.
        topic: str = "",  # string, v4-12, ignorable, topicName
        # Id of the topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid, v13+, ignorable
        # The partitions.
        partitions: list[FetchPartition] = UNSET,  # []FetchPartition
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
        for fetch_partition in self.partitions:
            fetch_partition._write(put, version)
        if version >= 12:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FetchTopic, int]:
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
        n, pos = (wire.read_compact_count if version >= 12 else wire.read_count)(buf, pos, 16)
        self.partitions, pos = wire.read_structs(FetchPartition._read, buf, pos, n, version)
        if version >= 12:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class ForgottenTopic(Struct):
    """Part of FetchRequest, v7+."""

    __slots__ = ("topic", "topic_id", "partitions")

    FIELDS = (
        Field("Topic", "topic", "string", (7, 12), default="", ignorable=True, entity="topicName"),
        Field("TopicId", "topic_id", "uuid", (13, 19), default=Uuid.ZERO, ignorable=True),
        Field("Partitions", "partitions", "int32", (7, 19), is_array=True, default=[]),
    )

    def __init__(
        self,
        # Name of the topic.
        topic: str = "",  # string, v7-12, ignorable, topicName
        # Id of the topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid, v13+, ignorable
        # The partitions.
        partitions: list[int] = UNSET,  # []int32
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
        put(wire.numbers(self.partitions, "i"))
        if version >= 12:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ForgottenTopic, int]:
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
        n, pos = (wire.read_compact_count if version >= 12 else wire.read_count)(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if version >= 12:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class FetchRequest(Message):
    """Asks a leader, or a replica near by, for records."""

    __slots__ = (
        "replica_id",
        "max_wait_ms",
        "min_bytes",
        "max_bytes",
        "isolation_level",
        "session_id",
        "session_epoch",
        "topics",
        "forgotten_topics_data",
        "rack_id",
    )

    cluster_id = Tagged[str | None]("cluster_id", None)
    replica_state = Tagged[ReplicaState]("replica_state", ReplicaState)

    NAME = "FetchRequest"
    TYPE = "request"
    API_KEY = 1
    MIN_VERSION = 4
    MAX_VERSION = 19
    FLEXIBLE_FROM = 12
    FIELDS = (
        Field(
            "ClusterId",
            "cluster_id",
            "string",
            (12, 19),
            nullable=(12, 19),
            tagged=(12, 19),
            tag=0,
            ignorable=True,
        ),
        Field("ReplicaId", "replica_id", "int32", (4, 14), default=-1, entity="brokerId"),
        Field(
            "ReplicaState",
            "replica_state",
            "struct",
            (15, 19),
            tagged=(15, 19),
            tag=1,
            default={},
            struct=ReplicaState,
        ),
        Field("MaxWaitMs", "max_wait_ms", "int32", (4, 19), default=0),
        Field("MinBytes", "min_bytes", "int32", (4, 19), default=0),
        Field("MaxBytes", "max_bytes", "int32", (4, 19), default=2147483647, ignorable=True),
        Field("IsolationLevel", "isolation_level", "int8", (4, 19), default=0, ignorable=True),
        Field("SessionId", "session_id", "int32", (7, 19), default=0, ignorable=True),
        Field("SessionEpoch", "session_epoch", "int32", (7, 19), default=-1, ignorable=True),
        Field("Topics", "topics", "struct", (4, 19), is_array=True, default=[], struct=FetchTopic),
        Field(
            "ForgottenTopicsData",
            "forgotten_topics_data",
            "struct",
            (7, 19),
            is_array=True,
            default=[],
            struct=ForgottenTopic,
        ),
        Field("RackId", "rack_id", "string", (11, 19), default="", ignorable=True),
    )

    def __init__(
        self,
        # Id of the cluster, if the asker knows it.
        cluster_id: str | None = None,  # string, v12+, tag 0, ignorable
        # Broker id of a follower, -1 for a consumer.
        replica_id: int = -1,  # int32, v4-14, brokerId
        # Which follower asks.
        replica_state: ReplicaState = UNSET,  # ReplicaState, v15+, tag 1
        # How long the broker may wait for MinBytes, in milliseconds.
        max_wait_ms: int = 0,  # int32
        # Bytes to wait for.
        min_bytes: int = 0,  # int32
        # Most bytes in the answer; a first batch larger than that is sent all the same.
        max_bytes: int = 2147483647,  # int32, ignorable
        # 0 everything up to the high watermark, 1 up to the last stable offset.
        isolation_level: int = 0,  # int8, ignorable
        # Fetch session, 0 if there is none.
        session_id: int = 0,  # int32, v7+, ignorable
        # The request's number within its session, 0 to begin one, -1 without a session.
        session_epoch: int = -1,  # int32, v7+, ignorable
        # The topics.
        topics: list[FetchTopic] = UNSET,  # []FetchTopic
        # What is to be taken out of an incremental session.
        forgotten_topics_data: list[ForgottenTopic] = UNSET,  # []ForgottenTopic, v7+
        # Rack of the client.
        rack_id: str = "",  # string, v11+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.replica_id = replica_id
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.isolation_level = isolation_level
        self.session_id = session_id
        self.session_epoch = session_epoch
        self.topics = [] if topics is UNSET else topics
        self.forgotten_topics_data = [] if forgotten_topics_data is UNSET else forgotten_topics_data
        self.rack_id = rack_id
        if cluster_id is not None:
            self.cluster_id = cluster_id
        if replica_state is not UNSET:
            self.replica_state = replica_state
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version <= 14:
            put(wire.pack_int32(self.replica_id))
        elif self.replica_id != -1:
            raise wire.Unwritable
        put(pack_iiib(self.max_wait_ms, self.min_bytes, self.max_bytes, self.isolation_level))
        if version >= 7:
            put(pack_ii(self.session_id, self.session_epoch))
        put((wire.compact_count if version >= 12 else wire.count)(self.topics))
        for fetch_topic in self.topics:
            fetch_topic._write(put, version)
        if version >= 7:
            put((wire.compact_count if version >= 12 else wire.count)(self.forgotten_topics_data))
            for forgotten_topic in self.forgotten_topics_data:
                forgotten_topic._write(put, version)
        elif self.forgotten_topics_data:
            raise wire.Unwritable
        if version >= 11:
            put((wire.compact_string if version >= 12 else wire.string)(self.rack_id))
        if version < 15 and self._tagged and self.replica_state != ReplicaState():
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
        if "cluster_id" in tagged and tagged["cluster_id"] is not None:
            tags.append(wire.tag(0, wire.compact_nullable_string(tagged["cluster_id"])))
        if version >= 15 and "replica_state" in tagged and (tagged["replica_state"].replica_id != -1 or tagged["replica_state"].replica_epoch != -1 or tagged["replica_state"].unknown_tags):
            body_1: list[wire.Chunk] = []
            tagged["replica_state"]._write(body_1.append, version)
            tags.append(wire.tag(1, b"".join(body_1)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 2)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FetchRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version <= 14:
            (self.replica_id,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.replica_id = -1
        (
            self.max_wait_ms,
            self.min_bytes,
            self.max_bytes,
            self.isolation_level,
        ) = unpack_iiib(buf, pos)
        pos += 13
        if version >= 7:
            self.session_id, self.session_epoch = unpack_ii(buf, pos)
            pos += 8
        else:
            self.session_id = 0
            self.session_epoch = -1
        n, pos = (wire.read_compact_count if version >= 12 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(FetchTopic._read, buf, pos, n, version)
        if version >= 7:
            n, pos = (wire.read_compact_count if version >= 12 else wire.read_count)(buf, pos, 3)
            self.forgotten_topics_data, pos = wire.read_structs(ForgottenTopic._read, buf, pos, n, version)
        else:
            self.forgotten_topics_data = []
        if version >= 11:
            self.rack_id, pos = (wire.read_compact_string if version >= 12 else wire.read_string)(buf, pos)
        else:
            self.rack_id = ""
        if version >= 12:
            pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                tagged["cluster_id"], pos = wire.read_compact_nullable_string(buf, pos)
            elif tag == 1:
                if version < 15:
                    raise wire.Malformed
                tagged["replica_state"], pos = ReplicaState._read(buf, pos, version)
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
pack_iiibii = wire.fused("iiibii")[1]
unpack_iiibiiB = wire.fused("iiibiiB")[0]
pack_iiiibii = wire.fused("iiiibii")[1]
unpack_iiiibiiB = wire.fused("iiiibiiB")[0]
unpack_iiqiqiB, pack_iiqiqiB = wire.fused("iiqiqiB")
iterate_iiqiqix = wire.iterator("iiqiqix")
unpack_uB = wire.fused("16sB")[0]


def read_13(buf: Any, pos: int, version: int, lazy: bool) -> tuple[FetchRequest, int]:
    size = len(buf)
    self = new(FetchRequest)
    self._tagged = 0
    (
        self.replica_id,
        self.max_wait_ms,
        self.min_bytes,
        self.max_bytes,
        self.isolation_level,
        self.session_id,
        self.session_epoch,
        n,
    ) = unpack_iiiibiiB(buf, pos)
    pos += 26
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    fetch_topic_items: list[FetchTopic] = []
    self.topics = fetch_topic_items
    for _ in range(n):
        fetch_topic = new(FetchTopic)
        fetch_topic._tagged = 0
        fetch_topic.topic = ""
        fetch_topic.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        fetch_topic.topic_id = new_uuid(Uuid, fetch_topic.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 16 <= size - pos:
            raise wire.Malformed
        end = pos + 33 * n
        if end <= size and buf[pos + 32 : end : 33].count(0) == n:
            fetch_partition_items: list[FetchPartition] = list(map(new, repeat(FetchPartition, n)))
            fetch_topic.partitions = fetch_partition_items
            fetch_partition: FetchPartition
            for (
                fetch_partition,
                (
                    fetch_partition.partition,
                    fetch_partition.current_leader_epoch,
                    fetch_partition.fetch_offset,
                    fetch_partition.last_fetched_epoch,
                    fetch_partition.log_start_offset,
                    fetch_partition.partition_max_bytes,
                ),
            ) in zip(fetch_partition_items, iterate_iiqiqix(buf[pos:end])):
                fetch_partition._tagged = 0
            pos = end
        else:
            fetch_partition_items = []
            fetch_topic.partitions = fetch_partition_items
            for _ in range(n):
                fetch_partition = new(FetchPartition)
                fetch_partition._tagged = 0
                (
                    fetch_partition.partition,
                    fetch_partition.current_leader_epoch,
                    fetch_partition.fetch_offset,
                    fetch_partition.last_fetched_epoch,
                    fetch_partition.log_start_offset,
                    fetch_partition.partition_max_bytes,
                    n,
                ) = unpack_iiqiqiB(buf, pos)
                pos += 33
                if n:
                    pos = fetch_partition._read_tags(buf, pos - 1, version)
                fetch_partition_items.append(fetch_partition)
        if buf[pos]:
            pos = fetch_topic._read_tags(buf, pos, version)
        else:
            pos += 1
        fetch_topic_items.append(fetch_topic)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    forgotten_topic_items: list[ForgottenTopic] = []
    self.forgotten_topics_data = forgotten_topic_items
    for _ in range(n):
        forgotten_topic = new(ForgottenTopic)
        forgotten_topic._tagged = 0
        forgotten_topic.topic = ""
        forgotten_topic.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        forgotten_topic.topic_id = new_uuid(Uuid, forgotten_topic.topic_id)
        if 0 < n < 33:
            forgotten_topic.partitions = list(wire.UNPACK_INT32S[n - 1](buf, pos))
            pos += 4 * n - 4
        else:
            n, pos = wire.read_compact_length(buf, pos - 1)
            if n < 0:
                raise wire.Malformed
            elif 4 * n > size - pos:
                raise wire.Malformed
            else:
                forgotten_topic.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            pos = forgotten_topic._read_tags(buf, pos, version)
        else:
            pos += 1
        forgotten_topic_items.append(forgotten_topic)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
        if n > wire.STRING_BYTES_MAX:
            raise wire.Malformed
    else:
        n -= 1
    if n < 0:
        raise wire.Malformed
    else:
        end = pos + n
        self.rack_id = buf[pos:end].decode()
        pos = end
    if buf[pos]:
        pos = self._read_tags(buf, pos, version)
    else:
        pos += 1
    return self, pos


def write_13(self: FetchRequest, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged:
        self._write(put, version)
        return
    chunks += (
        pack_iiiibii(self.replica_id, self.max_wait_ms, self.min_bytes, self.max_bytes, self.isolation_level, self.session_id, self.session_epoch),
        uvarint(len(self.topics) + 1),
    )
    for fetch_topic in self.topics:
        if fetch_topic._tagged:
            fetch_topic._write(put, version)
            continue
        chunks += (wire.uuid(fetch_topic.topic_id), uvarint(len(fetch_topic.partitions) + 1))
        try:
            rows = [
                pack_iiqiqiB(
                    item.partition,
                    item.current_leader_epoch,
                    item.fetch_offset,
                    item.last_fetched_epoch,
                    item.log_start_offset,
                    item.partition_max_bytes,
                    item._tagged,
                )
                for item in fetch_topic.partitions
            ]
            put(b"".join(rows))
        except wire.PACK_ERRORS:
            for fetch_partition in fetch_topic.partitions:
                fetch_partition._write(put, version)
        put(b"\0")
    put(uvarint(len(self.forgotten_topics_data) + 1))
    for forgotten_topic in self.forgotten_topics_data:
        if forgotten_topic._tagged:
            forgotten_topic._write(put, version)
            continue
        chunks += (
            wire.uuid(forgotten_topic.topic_id),
            uvarint(len(forgotten_topic.partitions) + 1),
            wire.numbers(forgotten_topic.partitions, "i"),
        )
        put(b"\0")
    chunks += (wire.compact_string(self.rack_id), b"\0")


def read_15(buf: Any, pos: int, version: int, lazy: bool) -> tuple[FetchRequest, int]:
    size = len(buf)
    self = new(FetchRequest)
    self._tagged = 0
    self.replica_id = -1
    (
        self.max_wait_ms,
        self.min_bytes,
        self.max_bytes,
        self.isolation_level,
        self.session_id,
        self.session_epoch,
        n,
    ) = unpack_iiibiiB(buf, pos)
    pos += 22
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    fetch_topic_items: list[FetchTopic] = []
    self.topics = fetch_topic_items
    for _ in range(n):
        fetch_topic = new(FetchTopic)
        fetch_topic._tagged = 0
        fetch_topic.topic = ""
        fetch_topic.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        fetch_topic.topic_id = new_uuid(Uuid, fetch_topic.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 16 <= size - pos:
            raise wire.Malformed
        end = pos + 33 * n
        if end <= size and buf[pos + 32 : end : 33].count(0) == n:
            fetch_partition_items: list[FetchPartition] = list(map(new, repeat(FetchPartition, n)))
            fetch_topic.partitions = fetch_partition_items
            fetch_partition: FetchPartition
            for (
                fetch_partition,
                (
                    fetch_partition.partition,
                    fetch_partition.current_leader_epoch,
                    fetch_partition.fetch_offset,
                    fetch_partition.last_fetched_epoch,
                    fetch_partition.log_start_offset,
                    fetch_partition.partition_max_bytes,
                ),
            ) in zip(fetch_partition_items, iterate_iiqiqix(buf[pos:end])):
                fetch_partition._tagged = 0
            pos = end
        else:
            fetch_partition_items = []
            fetch_topic.partitions = fetch_partition_items
            for _ in range(n):
                fetch_partition = new(FetchPartition)
                fetch_partition._tagged = 0
                (
                    fetch_partition.partition,
                    fetch_partition.current_leader_epoch,
                    fetch_partition.fetch_offset,
                    fetch_partition.last_fetched_epoch,
                    fetch_partition.log_start_offset,
                    fetch_partition.partition_max_bytes,
                    n,
                ) = unpack_iiqiqiB(buf, pos)
                pos += 33
                if n:
                    pos = fetch_partition._read_tags(buf, pos - 1, version)
                fetch_partition_items.append(fetch_partition)
        if buf[pos]:
            pos = fetch_topic._read_tags(buf, pos, version)
        else:
            pos += 1
        fetch_topic_items.append(fetch_topic)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    forgotten_topic_items: list[ForgottenTopic] = []
    self.forgotten_topics_data = forgotten_topic_items
    for _ in range(n):
        forgotten_topic = new(ForgottenTopic)
        forgotten_topic._tagged = 0
        forgotten_topic.topic = ""
        forgotten_topic.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        forgotten_topic.topic_id = new_uuid(Uuid, forgotten_topic.topic_id)
        if 0 < n < 33:
            forgotten_topic.partitions = list(wire.UNPACK_INT32S[n - 1](buf, pos))
            pos += 4 * n - 4
        else:
            n, pos = wire.read_compact_length(buf, pos - 1)
            if n < 0:
                raise wire.Malformed
            elif 4 * n > size - pos:
                raise wire.Malformed
            else:
                forgotten_topic.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            pos = forgotten_topic._read_tags(buf, pos, version)
        else:
            pos += 1
        forgotten_topic_items.append(forgotten_topic)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
        if n > wire.STRING_BYTES_MAX:
            raise wire.Malformed
    else:
        n -= 1
    if n < 0:
        raise wire.Malformed
    else:
        end = pos + n
        self.rack_id = buf[pos:end].decode()
        pos = end
    if buf[pos]:
        pos = self._read_tags(buf, pos, version)
    else:
        pos += 1
    return self, pos


def write_15(self: FetchRequest, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged or self.replica_id != -1:
        self._write(put, version)
        return
    chunks += (
        pack_iiibii(self.max_wait_ms, self.min_bytes, self.max_bytes, self.isolation_level, self.session_id, self.session_epoch),
        uvarint(len(self.topics) + 1),
    )
    for fetch_topic in self.topics:
        if fetch_topic._tagged:
            fetch_topic._write(put, version)
            continue
        chunks += (wire.uuid(fetch_topic.topic_id), uvarint(len(fetch_topic.partitions) + 1))
        try:
            rows = [
                pack_iiqiqiB(
                    item.partition,
                    item.current_leader_epoch,
                    item.fetch_offset,
                    item.last_fetched_epoch,
                    item.log_start_offset,
                    item.partition_max_bytes,
                    item._tagged,
                )
                for item in fetch_topic.partitions
            ]
            put(b"".join(rows))
        except wire.PACK_ERRORS:
            for fetch_partition in fetch_topic.partitions:
                fetch_partition._write(put, version)
        put(b"\0")
    put(uvarint(len(self.forgotten_topics_data) + 1))
    for forgotten_topic in self.forgotten_topics_data:
        if forgotten_topic._tagged:
            forgotten_topic._write(put, version)
            continue
        chunks += (
            wire.uuid(forgotten_topic.topic_id),
            uvarint(len(forgotten_topic.partitions) + 1),
            wire.numbers(forgotten_topic.partitions, "i"),
        )
        put(b"\0")
    chunks += (wire.compact_string(self.rack_id), b"\0")


FetchRequest.READERS = {
    13: read_13,
    14: read_13,
    15: read_15,
    16: read_15,
    17: read_15,
    18: read_15,
    19: read_15,
}
FetchRequest.WRITERS = {
    13: write_13,
    14: write_13,
    15: write_15,
    16: write_15,
    17: write_15,
    18: write_15,
    19: write_15,
}
