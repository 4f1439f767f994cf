"""ProduceResponse: response, key 0, versions 3-13, flexible from 9.

Generated from schemas/kafka/ProduceResponse.json.
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

unpack_ihqq, pack_ihqq = wire.fused("ihqq")
unpack_ii, pack_ii = wire.fused("ii")


class BatchIndexAndErrorMessage(Struct):
    """Part of ProduceResponse, v8+."""

    __slots__ = ("batch_index", "batch_index_error_message")

    FIELDS = (
        Field("BatchIndex", "batch_index", "int32", (8, 13), default=0),
        Field("BatchIndexErrorMessage", "batch_index_error_message", "string", (8, 13), nullable=(8, 13)),
    )

    def __init__(
        self,
        # Place of the record in its batch.
        batch_index: int = 0,  # int32
        # What is wrong with the record.
        batch_index_error_message: str | None = None,  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.batch_index = batch_index
        self.batch_index_error_message = batch_index_error_message
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.batch_index))
        put((wire.compact_nullable_string if version >= 9 else wire.nullable_string)(self.batch_index_error_message))
        if version >= 9:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BatchIndexAndErrorMessage, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.batch_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.batch_index_error_message, pos = (wire.read_compact_nullable_string if version >= 9 else wire.read_nullable_string)(buf, pos)
        if version >= 9:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class LeaderIdAndEpoch(Struct):
    """Part of ProduceResponse, v10+."""

    __slots__ = ("leader_id", "leader_epoch")

    FIELDS = (
        Field("LeaderId", "leader_id", "int32", (10, 13), default=-1, entity="brokerId"),
        Field("LeaderEpoch", "leader_epoch", "int32", (10, 13), default=-1),
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


class PartitionProduceResponse(Struct):
    """Part of ProduceResponse."""

    __slots__ = (
        "index",
        "error_code",
        "base_offset",
        "log_append_time_ms",
        "log_start_offset",
        "record_errors",
        "error_message",
    )

    current_leader = Tagged[LeaderIdAndEpoch]("current_leader", LeaderIdAndEpoch)

    FIELDS = (
        Field("Index", "index", "int32", (3, 13), default=0),
        Field("ErrorCode", "error_code", "int16", (3, 13), default=0),
        Field("BaseOffset", "base_offset", "int64", (3, 13), default=0),
        Field("LogAppendTimeMs", "log_append_time_ms", "int64", (3, 13), default=-1, ignorable=True),
        Field("LogStartOffset", "log_start_offset", "int64", (5, 13), default=-1, ignorable=True),
        Field(
            "RecordErrors",
            "record_errors",
            "struct",
            (8, 13),
            is_array=True,
            default=[],
            ignorable=True,
            struct=BatchIndexAndErrorMessage,
        ),
        Field("ErrorMessage", "error_message", "string", (8, 13), nullable=(8, 13), ignorable=True),
        Field(
            "CurrentLeader",
            "current_leader",
            "struct",
            (10, 13),
            tagged=(10, 13),
            tag=0,
            default={},
            struct=LeaderIdAndEpoch,
        ),
    )

    def __init__(
        self,
        # Partition.
        index: int = 0,  # int32
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # Offset that the first record got.
        base_offset: int = 0,  # int64
        # Time of appending if the topic uses that, else -1.
        log_append_time_ms: int = -1,  # int64, ignorable
        # First offset that the log holds.
        log_start_offset: int = -1,  # int64, v5+, ignorable
        # Records because of which the batch was refused.
        record_errors: list[BatchIndexAndErrorMessage] = UNSET,  # []BatchIndexAndErrorMessage, v8+, ignorable
        # What went wrong, null if all is well.
        error_message: str | None = None,  # string, v8+, ignorable
        # The leader as the broker knows it, if the client seems to know another.
        current_leader: LeaderIdAndEpoch = UNSET,  # LeaderIdAndEpoch, v10+, tag 0
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.index = index
        self.error_code = error_code
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self.record_errors = [] if record_errors is UNSET else record_errors
        self.error_message = error_message
        if current_leader is not UNSET:
            self.current_leader = current_leader
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ihqq(self.index, self.error_code, self.base_offset, self.log_append_time_ms))
        if version >= 5:
            put(wire.pack_int64(self.log_start_offset))
        if version >= 8:
            put((wire.compact_count if version >= 9 else wire.count)(self.record_errors))
            for batch_index_and_error_message in self.record_errors:
                batch_index_and_error_message._write(put, version)
        if version >= 8:
            put((wire.compact_nullable_string if version >= 9 else wire.nullable_string)(self.error_message))
        if version < 10 and self._tagged and self.current_leader != LeaderIdAndEpoch():
            raise wire.Unwritable
        if version >= 9:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if version >= 10 and "current_leader" in tagged and (tagged["current_leader"].leader_id != -1 or tagged["current_leader"].leader_epoch != -1 or tagged["current_leader"].unknown_tags):
            body_0: list[wire.Chunk] = []
            tagged["current_leader"]._write(body_0.append, version)
            tags.append(wire.tag(0, b"".join(body_0)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionProduceResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.index,
            self.error_code,
            self.base_offset,
            self.log_append_time_ms,
        ) = unpack_ihqq(buf, pos)
        pos += 22
        if version >= 5:
            (self.log_start_offset,) = wire.unpack_int64(buf, pos)
            pos += 8
        else:
            self.log_start_offset = -1
        if version >= 8:
            n, pos = (wire.read_compact_count if version >= 9 else wire.read_count)(buf, pos, 6)
            self.record_errors, pos = wire.read_structs(BatchIndexAndErrorMessage._read, buf, pos, n, version)
        else:
            self.record_errors = []
        if version >= 8:
            self.error_message, pos = (wire.read_compact_nullable_string if version >= 9 else wire.read_nullable_string)(buf, pos)
        else:
            self.error_message = None
        if version >= 9:
            pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                if version < 10:
                    raise wire.Malformed
                tagged["current_leader"], pos = LeaderIdAndEpoch._read(buf, pos, version)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


class TopicProduceResponse(Struct):
    """Part of ProduceResponse."""

    __slots__ = ("name", "topic_id", "partition_responses")

    FIELDS = (
        Field(
            "Name",
            "name",
            "string",
            (3, 12),
            default="",
            ignorable=True,
            entity="topicName",
            map_key=True,
        ),
        Field("TopicId", "topic_id", "uuid", (13, 13), default=Uuid.ZERO, ignorable=True, map_key=True),
        Field(
            "PartitionResponses",
            "partition_responses",
            "struct",
            (3, 13),
            is_array=True,
            default=[],
            struct=PartitionProduceResponse,
        ),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string, v3-12, ignorable, topicName
        # Id of the topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid, v13+, ignorable
        # One entry for each partition.
        partition_responses: list[PartitionProduceResponse] = UNSET,  # []PartitionProduceResponse
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.topic_id = topic_id
        self.partition_responses = [] if partition_responses is UNSET else partition_responses
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version <= 12:
            put((wire.compact_string if version >= 9 else wire.string)(self.name))
        if version >= 13:
            put(wire.uuid(self.topic_id))
        put((wire.compact_count if version >= 9 else wire.count)(self.partition_responses))
        for partition_produce_response in self.partition_responses:
            partition_produce_response._write(put, version)
        if version >= 9:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicProduceResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version <= 12:
            self.name, pos = (wire.read_compact_string if version >= 9 else wire.read_string)(buf, pos)
        else:
            self.name = ""
        if version >= 13:
            self.topic_id, pos = wire.read_uuid(buf, pos)
        else:
            self.topic_id = Uuid.ZERO
        n, pos = (wire.read_compact_count if version >= 9 else wire.read_count)(buf, pos, 22)
        self.partition_responses, pos = wire.read_structs(PartitionProduceResponse._read, buf, pos, n, version)
        if version >= 9:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class NodeEndpoint(Struct):
    """Part of ProduceResponse, v10+."""

    __slots__ = ("node_id", "host", "port", "rack")

    FIELDS = (
        Field("NodeId", "node_id", "int32", (10, 13), default=0, entity="brokerId", map_key=True),
        Field("Host", "host", "string", (10, 13), default=""),
        Field("Port", "port", "int32", (10, 13), default=0),
        Field("Rack", "rack", "string", (10, 13), nullable=(10, 13)),
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


class ProduceResponse(Message):
    """Says for each partition where its records went."""

    __slots__ = ("responses", "throttle_time_ms")

    node_endpoints = Tagged[list[NodeEndpoint]]("node_endpoints", list)

    NAME = "ProduceResponse"
    TYPE = "response"
    API_KEY = 0
    MIN_VERSION = 3
    MAX_VERSION = 13
    FLEXIBLE_FROM = 9
    FIELDS = (
        Field(
            "Responses",
            "responses",
            "struct",
            (3, 13),
            is_array=True,
            default=[],
            struct=TopicProduceResponse,
        ),
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (3, 13), default=0, ignorable=True),
        Field(
            "NodeEndpoints",
            "node_endpoints",
            "struct",
            (10, 13),
            is_array=True,
            tagged=(10, 13),
            tag=0,
            default=[],
            struct=NodeEndpoint,
        ),
    )

    def __init__(
        self,
        # One entry for each topic.
        responses: list[TopicProduceResponse] = UNSET,  # []TopicProduceResponse
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32, ignorable
        # Where the leaders named in the answer can be reached.
        node_endpoints: list[NodeEndpoint] = UNSET,  # []NodeEndpoint, v10+, tag 0
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.responses = [] if responses is UNSET else responses
        self.throttle_time_ms = throttle_time_ms
        if node_endpoints is not UNSET:
            self.node_endpoints = node_endpoints
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 9 else wire.count)(self.responses))
        for topic_produce_response in self.responses:
            topic_produce_response._write(put, version)
        put(wire.pack_int32(self.throttle_time_ms))
        if version < 10 and self._tagged and self.node_endpoints:
            raise wire.Unwritable
        if version >= 9:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if version >= 10 and "node_endpoints" in tagged and tagged["node_endpoints"]:
            body_0: list[wire.Chunk] = []
            body_0.append(wire.compact_count(tagged["node_endpoints"]))
            for node_endpoint in tagged["node_endpoints"]:
                node_endpoint._write(body_0.append, version)
            tags.append(wire.tag(0, b"".join(body_0)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ProduceResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_count if version >= 9 else wire.read_count)(buf, pos, 3)
        self.responses, pos = wire.read_structs(TopicProduceResponse._read, buf, pos, n, version)
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 9:
            pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                if version < 10:
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
unpack_iB, pack_iB = wire.fused("iB")
pack_ihqqq = wire.fused("ihqqq")[1]
unpack_ihqqqB = wire.fused("ihqqqB")[0]
unpack_uB = wire.fused("16sB")[0]


def read_9(buf: Any, pos: int, version: int, lazy: bool) -> tuple[ProduceResponse, int]:
    size = len(buf)
    self = new(ProduceResponse)
    self._tagged = 0
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    topic_produce_response_items: list[TopicProduceResponse] = []
    self.responses = topic_produce_response_items
    for _ in range(n):
        topic_produce_response = new(TopicProduceResponse)
        topic_produce_response._tagged = 0
        topic_produce_response.topic_id = Uuid.ZERO
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
            topic_produce_response.name = buf[pos:end].decode()
            pos = end
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 22 <= size - pos:
            raise wire.Malformed
        partition_produce_response_items: list[PartitionProduceResponse] = []
        topic_produce_response.partition_responses = partition_produce_response_items
        for _ in range(n):
            partition_produce_response = new(PartitionProduceResponse)
            partition_produce_response._tagged = 0
            (
                partition_produce_response.index,
                partition_produce_response.error_code,
                partition_produce_response.base_offset,
                partition_produce_response.log_append_time_ms,
                partition_produce_response.log_start_offset,
                n,
            ) = unpack_ihqqqB(buf, pos)
            pos += 31
            if n > 127:
                n, pos = wire.read_compact_length(buf, pos - 1)
            else:
                n -= 1
            if not 0 <= n * 6 <= size - pos:
                raise wire.Malformed
            batch_index_and_error_message_items: list[BatchIndexAndErrorMessage] = []
            partition_produce_response.record_errors = batch_index_and_error_message_items
            for _ in range(n):
                batch_index_and_error_message = new(BatchIndexAndErrorMessage)
                batch_index_and_error_message._tagged = 0
                batch_index_and_error_message.batch_index, n = unpack_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = wire.read_compact_length(buf, pos - 1)
                    if n > wire.STRING_BYTES_MAX:
                        raise wire.Malformed
                else:
                    n -= 1
                if n < 0:
                    batch_index_and_error_message.batch_index_error_message = None
                else:
                    end = pos + n
                    batch_index_and_error_message.batch_index_error_message = buf[pos:end].decode()
                    pos = end
                if buf[pos]:
                    pos = batch_index_and_error_message._read_tags(buf, pos, version)
                else:
                    pos += 1
                batch_index_and_error_message_items.append(batch_index_and_error_message)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = wire.read_compact_length(buf, pos - 1)
                if n > wire.STRING_BYTES_MAX:
                    raise wire.Malformed
            else:
                n -= 1
            if n < 0:
                partition_produce_response.error_message = None
            else:
                end = pos + n
                partition_produce_response.error_message = buf[pos:end].decode()
                pos = end
            if buf[pos]:
                pos = partition_produce_response._read_tags(buf, pos, version)
            else:
                pos += 1
            partition_produce_response_items.append(partition_produce_response)
        if buf[pos]:
            pos = topic_produce_response._read_tags(buf, pos, version)
        else:
            pos += 1
        topic_produce_response_items.append(topic_produce_response)
    self.throttle_time_ms, n = unpack_iB(buf, pos)
    pos += 5
    if n:
        pos = self._read_tags(buf, pos - 1, version)
    return self, pos


def write_9(self: ProduceResponse, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged:
        self._write(put, version)
        return
    put(uvarint(len(self.responses) + 1))
    for topic_produce_response in self.responses:
        if topic_produce_response._tagged:
            topic_produce_response._write(put, version)
            continue
        chunks += (
            wire.compact_string(topic_produce_response.name),
            uvarint(len(topic_produce_response.partition_responses) + 1),
        )
        for partition_produce_response in topic_produce_response.partition_responses:
            if partition_produce_response._tagged:
                partition_produce_response._write(put, version)
                continue
            chunks += (
                pack_ihqqq(partition_produce_response.index, partition_produce_response.error_code, partition_produce_response.base_offset, partition_produce_response.log_append_time_ms, partition_produce_response.log_start_offset),
                uvarint(len(partition_produce_response.record_errors) + 1),
            )
            for batch_index_and_error_message in partition_produce_response.record_errors:
                if batch_index_and_error_message._tagged:
                    batch_index_and_error_message._write(put, version)
                    continue
                chunks += (
                    pack_i(batch_index_and_error_message.batch_index),
                    wire.compact_nullable_string(batch_index_and_error_message.batch_index_error_message),
                    b"\0",
                )
            chunks += (wire.compact_nullable_string(partition_produce_response.error_message), b"\0")
        put(b"\0")
    put(pack_iB(self.throttle_time_ms, 0))


def read_13(buf: Any, pos: int, version: int, lazy: bool) -> tuple[ProduceResponse, int]:
    size = len(buf)
    self = new(ProduceResponse)
    self._tagged = 0
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = wire.read_compact_length(buf, pos - 1)
    else:
        n -= 1
    if not 0 <= n * 3 <= size - pos:
        raise wire.Malformed
    topic_produce_response_items: list[TopicProduceResponse] = []
    self.responses = topic_produce_response_items
    for _ in range(n):
        topic_produce_response = new(TopicProduceResponse)
        topic_produce_response._tagged = 0
        topic_produce_response.name = ""
        topic_produce_response.topic_id, n = unpack_uB(buf, pos)
        pos += 17
        topic_produce_response.topic_id = new_uuid(Uuid, topic_produce_response.topic_id)
        if n > 127:
            n, pos = wire.read_compact_length(buf, pos - 1)
        else:
            n -= 1
        if not 0 <= n * 22 <= size - pos:
            raise wire.Malformed
        partition_produce_response_items: list[PartitionProduceResponse] = []
        topic_produce_response.partition_responses = partition_produce_response_items
        for _ in range(n):
            partition_produce_response = new(PartitionProduceResponse)
            partition_produce_response._tagged = 0
            (
                partition_produce_response.index,
                partition_produce_response.error_code,
                partition_produce_response.base_offset,
                partition_produce_response.log_append_time_ms,
                partition_produce_response.log_start_offset,
                n,
            ) = unpack_ihqqqB(buf, pos)
            pos += 31
            if n > 127:
                n, pos = wire.read_compact_length(buf, pos - 1)
            else:
                n -= 1
            if not 0 <= n * 6 <= size - pos:
                raise wire.Malformed
            batch_index_and_error_message_items: list[BatchIndexAndErrorMessage] = []
            partition_produce_response.record_errors = batch_index_and_error_message_items
            for _ in range(n):
                batch_index_and_error_message = new(BatchIndexAndErrorMessage)
                batch_index_and_error_message._tagged = 0
                batch_index_and_error_message.batch_index, n = unpack_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = wire.read_compact_length(buf, pos - 1)
                    if n > wire.STRING_BYTES_MAX:
                        raise wire.Malformed
                else:
                    n -= 1
                if n < 0:
                    batch_index_and_error_message.batch_index_error_message = None
                else:
                    end = pos + n
                    batch_index_and_error_message.batch_index_error_message = buf[pos:end].decode()
                    pos = end
                if buf[pos]:
                    pos = batch_index_and_error_message._read_tags(buf, pos, version)
                else:
                    pos += 1
                batch_index_and_error_message_items.append(batch_index_and_error_message)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = wire.read_compact_length(buf, pos - 1)
                if n > wire.STRING_BYTES_MAX:
                    raise wire.Malformed
            else:
                n -= 1
            if n < 0:
                partition_produce_response.error_message = None
            else:
                end = pos + n
                partition_produce_response.error_message = buf[pos:end].decode()
                pos = end
            if buf[pos]:
                pos = partition_produce_response._read_tags(buf, pos, version)
            else:
                pos += 1
            partition_produce_response_items.append(partition_produce_response)
        if buf[pos]:
            pos = topic_produce_response._read_tags(buf, pos, version)
        else:
            pos += 1
        topic_produce_response_items.append(topic_produce_response)
    self.throttle_time_ms, n = unpack_iB(buf, pos)
    pos += 5
    if n:
        pos = self._read_tags(buf, pos - 1, version)
    return self, pos


def write_13(self: ProduceResponse, chunks: list[wire.Chunk], version: int) -> None:
    put = chunks.append
    if self._tagged:
        self._write(put, version)
        return
    put(uvarint(len(self.responses) + 1))
    for topic_produce_response in self.responses:
        if topic_produce_response._tagged:
            topic_produce_response._write(put, version)
            continue
        chunks += (
            wire.uuid(topic_produce_response.topic_id),
            uvarint(len(topic_produce_response.partition_responses) + 1),
        )
        for partition_produce_response in topic_produce_response.partition_responses:
            if partition_produce_response._tagged:
                partition_produce_response._write(put, version)
                continue
            chunks += (
                pack_ihqqq(partition_produce_response.index, partition_produce_response.error_code, partition_produce_response.base_offset, partition_produce_response.log_append_time_ms, partition_produce_response.log_start_offset),
                uvarint(len(partition_produce_response.record_errors) + 1),
            )
            for batch_index_and_error_message in partition_produce_response.record_errors:
                if batch_index_and_error_message._tagged:
                    batch_index_and_error_message._write(put, version)
                    continue
                chunks += (
                    pack_i(batch_index_and_error_message.batch_index),
                    wire.compact_nullable_string(batch_index_and_error_message.batch_index_error_message),
                    b"\0",
                )
            chunks += (wire.compact_nullable_string(partition_produce_response.error_message), b"\0")
        put(b"\0")
    put(pack_iB(self.throttle_time_ms, 0))


ProduceResponse.READERS = {
    9: read_9,
    10: read_9,
    11: read_9,
    12: read_9,
    13: read_13,
}
ProduceResponse.WRITERS = {
    9: write_9,
    10: write_9,
    11: write_9,
    12: write_9,
    13: write_13,
}
