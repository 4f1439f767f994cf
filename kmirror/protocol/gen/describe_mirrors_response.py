"""DescribeMirrorsResponse: response, key 99, versions 0, flexible from 0.

Generated from schemas/mirroring/DescribeMirrorsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_hq, pack_hq = wire.fused("hq")
unpack_ih, pack_ih = wire.fused("ih")
unpack_ihi, pack_ihi = wire.fused("ihi")
unpack_iqqq, pack_iqqq = wire.fused("iqqq")


class PartitionDetail(Struct):
    """Part of DescribeMirrorsResponse."""

    __slots__ = (
        "partition_index",
        "source_offset",
        "destination_offset",
        "lag",
        "state",
        "last_mirror_epoch",
    )

    reason = Tagged[str]("reason", "")
    leader_epoch = Tagged[int]("leader_epoch", -1)

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("SourceOffset", "source_offset", "int64", (0, 0), default=-1),
        Field("DestinationOffset", "destination_offset", "int64", (0, 0), default=-1),
        Field("Lag", "lag", "int64", (0, 0), default=-1),
        Field("State", "state", "string", (0, 0), default=""),
        Field("LastMirrorEpoch", "last_mirror_epoch", "int32", (0, 0), default=-1),
        Field("Reason", "reason", "string", (0, 0), tagged=(0, 0), tag=0, default=""),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 0), tagged=(0, 0), tag=1, default=-1),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        # High watermark that the source leader told last, -1 until it is known.
        source_offset: int = -1,  # int64
        # High watermark here, -1 until it is known.
        destination_offset: int = -1,  # int64
        # Source offset minus destination offset, -1 if the source offset may be old.
        lag: int = -1,  # int64
        # Name of the mirror state.
        state: str = "",  # string
        # Last mirror epoch as persisted when mirroring stopped, -1 if there is none.
        last_mirror_epoch: int = -1,  # int32
        # What the partition waits for or why it failed, empty if nothing is in its way.
        reason: str = "",  # string, tag 0
        # Leader epoch in which the answering broker leads: of two answers the greater one holds.
        leader_epoch: int = -1,  # int32, tag 1
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.source_offset = source_offset
        self.destination_offset = destination_offset
        self.lag = lag
        self.state = state
        self.last_mirror_epoch = last_mirror_epoch
        if reason != "":
            self.reason = reason
        if leader_epoch != -1:
            self.leader_epoch = leader_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iqqq(self.partition_index, self.source_offset, self.destination_offset, self.lag))
        put(wire.compact_string(self.state))
        put(wire.pack_int32(self.last_mirror_epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "reason" in tagged and tagged["reason"]:
            tags.append(wire.tag(0, wire.compact_string(tagged["reason"])))
        if "leader_epoch" in tagged and tagged["leader_epoch"] != -1:
            tags.append(wire.tag(1, wire.pack_int32(tagged["leader_epoch"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 2)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionDetail, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.partition_index,
            self.source_offset,
            self.destination_offset,
            self.lag,
        ) = unpack_iqqq(buf, pos)
        pos += 28
        self.state, pos = wire.read_compact_string(buf, pos)
        (self.last_mirror_epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                tagged["reason"], pos = wire.read_compact_string(buf, pos)
            elif tag == 1:
                (tagged["leader_epoch"],) = wire.unpack_int32(buf, pos)
                pos += 4
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


class TopicPartitions(Struct):
    """Part of DescribeMirrorsResponse."""

    __slots__ = ("topic_name", "partitions")

    FIELDS = (
        Field("TopicName", "topic_name", "string", (0, 0), default=""),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=PartitionDetail,
        ),
    )

    def __init__(
        self,
        # Name of the topic.
        topic_name: str = "",  # string
        # The partitions that the answering broker leads.
        partitions: list[PartitionDetail] = UNSET,  # []PartitionDetail
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_name = topic_name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(wire.compact_count(self.partitions))
        for partition_detail in self.partitions:
            partition_detail._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartitions, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 34)
        self.partitions, pos = wire.read_structs(PartitionDetail._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribedMirror(Struct):
    """Part of DescribeMirrorsResponse."""

    __slots__ = ("error_code", "mirror_name", "authorized_operations", "topics")

    reason = Tagged[str]("reason", "")
    warning = Tagged[str]("warning", "")

    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("MirrorName", "mirror_name", "string", (0, 0), default="", entity="mirrorName"),
        Field("AuthorizedOperations", "authorized_operations", "int32", (0, 0), default=-2147483648),
        Field("Reason", "reason", "string", (0, 0), tagged=(0, 0), tag=0, default=""),
        Field("Warning", "warning", "string", (0, 0), tagged=(0, 0), tag=1, default=""),
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicPartitions),
    )

    def __init__(
        self,
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # Name of the mirror.
        mirror_name: str = "",  # string, mirrorName
        # Bit field of what the caller may do; the least int32 if it was not asked for.
        authorized_operations: int = -2147483648,  # int32
        # Why the answering broker cannot speak to the source, empty if it can or has not tried.
        reason: str = "",  # string, tag 0
        # What an operator should know though no partition waits for it, empty if there is nothing.
        warning: str = "",  # string, tag 1
        # Topics of the mirror.
        topics: list[TopicPartitions] = UNSET,  # []TopicPartitions
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.mirror_name = mirror_name
        self.authorized_operations = authorized_operations
        self.topics = [] if topics is UNSET else topics
        if reason != "":
            self.reason = reason
        if warning != "":
            self.warning = warning
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put(wire.compact_string(self.mirror_name))
        put(wire.pack_int32(self.authorized_operations))
        put(wire.compact_count(self.topics))
        for topic_partitions in self.topics:
            topic_partitions._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "reason" in tagged and tagged["reason"]:
            tags.append(wire.tag(0, wire.compact_string(tagged["reason"])))
        if "warning" in tagged and tagged["warning"]:
            tags.append(wire.tag(1, wire.compact_string(tagged["warning"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 2)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribedMirror, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.mirror_name, pos = wire.read_compact_string(buf, pos)
        (self.authorized_operations,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(TopicPartitions._read, buf, pos, n, version)
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                tagged["reason"], pos = wire.read_compact_string(buf, pos)
            elif tag == 1:
                tagged["warning"], pos = wire.read_compact_string(buf, pos)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


class LineageStretch(Struct):
    """Part of DescribeMirrorsResponse."""

    __slots__ = ("first_epoch", "cluster")

    FIELDS = (
        Field("FirstEpoch", "first_epoch", "int32", (0, 0), default=0),
        Field("Cluster", "cluster", "int16", (0, 0), default=0),
    )

    def __init__(
        self,
        # First leader epoch of the stretch; of a copy, -1 minus its leader epoch (D69).
        first_epoch: int = 0,  # int32
        # Index in ClusterIds of the cluster that wrote it.
        cluster: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.first_epoch = first_epoch
        self.cluster = cluster
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.first_epoch, self.cluster))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LineageStretch, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.first_epoch, self.cluster = unpack_ih(buf, pos)
        pos += 6
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class UpstreamCluster(Struct):
    """Part of DescribeMirrorsResponse."""

    __slots__ = ("cluster", "age_ms")

    FIELDS = (
        Field("Cluster", "cluster", "int16", (0, 0), default=0),
        Field("AgeMs", "age_ms", "int64", (0, 0), default=0),
    )

    def __init__(
        self,
        # Index in ClusterIds of the cluster.
        cluster: int = 0,  # int16
        # How long ago, at most, the one before it said that it mirrors from this one.
        age_ms: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.cluster = cluster
        self.age_ms = age_ms
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hq(self.cluster, self.age_ms))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UpstreamCluster, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.cluster, self.age_ms = unpack_hq(buf, pos)
        pos += 10
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class PartitionLineage(Struct):
    """Part of DescribeMirrorsResponse."""

    __slots__ = ("partition_index", "error_code", "leader_epoch", "stretches")

    upstream = Tagged[list[UpstreamCluster]]("upstream", list)
    upstream_incomplete = Tagged[bool]("upstream_incomplete", False)
    upstream_age_ms = Tagged[int]("upstream_age_ms", 0)
    upstream_waits = Tagged[bool]("upstream_waits", False)

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 0), default=-1),
        Field("Stretches", "stretches", "struct", (0, 0), is_array=True, default=[], struct=LineageStretch),
        Field(
            "Upstream",
            "upstream",
            "struct",
            (0, 0),
            is_array=True,
            tagged=(0, 0),
            tag=0,
            default=[],
            struct=UpstreamCluster,
        ),
        Field(
            "UpstreamIncomplete",
            "upstream_incomplete",
            "bool",
            (0, 0),
            tagged=(0, 0),
            tag=1,
            default=False,
        ),
        Field("UpstreamAgeMs", "upstream_age_ms", "int64", (0, 0), tagged=(0, 0), tag=2, default=0),
        Field("UpstreamWaits", "upstream_waits", "bool", (0, 0), tagged=(0, 0), tag=3, default=False),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        # Error code, 0 if the rest is known.
        error_code: int = 0,  # int16
        # Leader epoch of the answering leader, for which the lineage is true.
        leader_epoch: int = -1,  # int32
        # Which clusters wrote the log, by leader epoch.
        stretches: list[LineageStretch] = UNSET,  # []LineageStretch
        # The cluster that the log is mirrored from, that one's source, and so on.
        upstream: list[UpstreamCluster] = UNSET,  # []UpstreamCluster, tag 0
        # Whether the last of these may mirror the log from yet another cluster.
        upstream_incomplete: bool = False,  # bool, tag 1
        # How long ago, at most, the last of these said that it mirrors the log from no other cluster.
        upstream_age_ms: int = 0,  # int64, tag 2
        # Whether one of these mirrors is PREPARING: nothing comes through it so far.
        upstream_waits: bool = False,  # bool, tag 3
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_epoch = leader_epoch
        self.stretches = [] if stretches is UNSET else stretches
        if upstream is not UNSET:
            self.upstream = upstream
        if upstream_incomplete != False:
            self.upstream_incomplete = upstream_incomplete
        if upstream_age_ms != 0:
            self.upstream_age_ms = upstream_age_ms
        if upstream_waits != False:
            self.upstream_waits = upstream_waits
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ihi(self.partition_index, self.error_code, self.leader_epoch))
        put(wire.compact_count(self.stretches))
        for lineage_stretch in self.stretches:
            lineage_stretch._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "upstream" in tagged and tagged["upstream"]:
            body_0: list[wire.Chunk] = []
            body_0.append(wire.compact_count(tagged["upstream"]))
            for upstream_cluster in tagged["upstream"]:
                upstream_cluster._write(body_0.append, version)
            tags.append(wire.tag(0, b"".join(body_0)))
        if "upstream_incomplete" in tagged and tagged["upstream_incomplete"]:
            tags.append(wire.tag(1, wire.pack_bool(tagged["upstream_incomplete"])))
        if "upstream_age_ms" in tagged and tagged["upstream_age_ms"]:
            tags.append(wire.tag(2, wire.pack_int64(tagged["upstream_age_ms"])))
        if "upstream_waits" in tagged and tagged["upstream_waits"]:
            tags.append(wire.tag(3, wire.pack_bool(tagged["upstream_waits"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 4)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionLineage, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.error_code, self.leader_epoch = unpack_ihi(buf, pos)
        pos += 10
        n, pos = wire.read_compact_count(buf, pos, 7)
        self.stretches, pos = wire.read_structs(LineageStretch._read, buf, pos, n, version)
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                n, pos = wire.read_compact_count(buf, pos, 11)
                tagged["upstream"], pos = wire.read_structs(UpstreamCluster._read, buf, pos, n, version)
            elif tag == 1:
                (tagged["upstream_incomplete"],) = wire.unpack_bool(buf, pos)
                pos += 1
            elif tag == 2:
                (tagged["upstream_age_ms"],) = wire.unpack_int64(buf, pos)
                pos += 8
            elif tag == 3:
                (tagged["upstream_waits"],) = wire.unpack_bool(buf, pos)
                pos += 1
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


class TopicLineage(Struct):
    """Part of DescribeMirrorsResponse."""

    __slots__ = ("topic_name", "partitions")

    topic_id = Tagged[Uuid]("topic_id", Uuid.ZERO)

    FIELDS = (
        Field("TopicName", "topic_name", "string", (0, 0), default="", entity="topicName"),
        Field("TopicId", "topic_id", "uuid", (0, 0), tagged=(0, 0), tag=0, default=Uuid.ZERO),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=PartitionLineage,
        ),
    )

    def __init__(
        self,
        # Name of the topic.
        topic_name: str = "",  # string, topicName
        # Id of the topic whose lineages these are, zeros if the broker knows none.
        topic_id: Uuid = Uuid.ZERO,  # uuid, tag 0
        # One entry for each partition.
        partitions: list[PartitionLineage] = UNSET,  # []PartitionLineage
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_name = topic_name
        self.partitions = [] if partitions is UNSET else partitions
        if topic_id is not Uuid.ZERO:
            self.topic_id = topic_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(wire.compact_count(self.partitions))
        for partition_lineage in self.partitions:
            partition_lineage._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "topic_id" in tagged and tagged["topic_id"] != Uuid.ZERO:
            tags.append(wire.tag(0, wire.uuid(tagged["topic_id"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicLineage, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 12)
        self.partitions, pos = wire.read_structs(PartitionLineage._read, buf, pos, n, version)
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                tagged["topic_id"], pos = wire.read_uuid(buf, pos)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


class DescribeMirrorsResponse(Message):
    """Offsets, states and last mirror epochs, by mirror, topic and partition."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "mirrors")

    lineages = Tagged[list[TopicLineage]]("lineages", list)
    cluster_ids = Tagged[list[str]]("cluster_ids", list)

    NAME = "DescribeMirrorsResponse"
    TYPE = "response"
    API_KEY = 99
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0)),
        Field("Mirrors", "mirrors", "struct", (0, 0), is_array=True, default=[], struct=DescribedMirror),
        Field(
            "Lineages",
            "lineages",
            "struct",
            (0, 0),
            is_array=True,
            tagged=(0, 0),
            tag=0,
            default=[],
            struct=TopicLineage,
        ),
        Field("ClusterIds", "cluster_ids", "string", (0, 0), is_array=True, tagged=(0, 0), tag=1, default=[]),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # What went wrong, null if all is well.
        error_message: str | None = None,  # string
        # One entry for each mirror.
        mirrors: list[DescribedMirror] = UNSET,  # []DescribedMirror
        # The lineages that were asked for.
        lineages: list[TopicLineage] = UNSET,  # []TopicLineage, tag 0
        # The clusters that wrote the logs whose lineages were asked for, and those upstream of them; of a
        # source without topic ids a name of the copy (D53).
        cluster_ids: list[str] = UNSET,  # []string, tag 1
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.mirrors = [] if mirrors is UNSET else mirrors
        if lineages is not UNSET:
            self.lineages = lineages
        if cluster_ids is not UNSET:
            self.cluster_ids = cluster_ids
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_count(self.mirrors))
        for described_mirror in self.mirrors:
            described_mirror._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "lineages" in tagged and tagged["lineages"]:
            body_0: list[wire.Chunk] = []
            body_0.append(wire.compact_count(tagged["lineages"]))
            for topic_lineage in tagged["lineages"]:
                topic_lineage._write(body_0.append, version)
            tags.append(wire.tag(0, b"".join(body_0)))
        if "cluster_ids" in tagged and tagged["cluster_ids"]:
            body_1: list[wire.Chunk] = []
            body_1.append(wire.compact_count(tagged["cluster_ids"]))
            for text in tagged["cluster_ids"]:
                body_1.append(wire.compact_string(text))
            tags.append(wire.tag(1, b"".join(body_1)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 2)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeMirrorsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 9)
        self.mirrors, pos = wire.read_structs(DescribedMirror._read, buf, pos, n, version)
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                n, pos = wire.read_compact_count(buf, pos, 3)
                tagged["lineages"], pos = wire.read_structs(TopicLineage._read, buf, pos, n, version)
            elif tag == 1:
                n, pos = wire.read_compact_count(buf, pos, 1)
                tagged["cluster_ids"], pos = wire.read_many(wire.read_compact_string, buf, pos, n)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
