"""Fast path for a produce request that resembles the previous one on its link and has a plain batch.

Non-transactional producers with little to write send such requests: batch after batch to one partition, each in its own
request. The response is built from the request's bytes; no request or response object is created. All other requests
are left to `produce.py`, which would do the same: errors, several partitions, transactions, acks=0, missing rights, and
appends that must wait for other replicas or for the disk.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import UNLIMITED, Resource, RightsVersion
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.broker.produce_checks import ZSTD_FROM
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Chunk
from kmirror.kernel.ids import TopicPartition
from kmirror.log.errors import LogAppendError
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.gen.produce_response import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from kmirror.protocol.headers import encode_response, encode_response_head, peek_request
from kmirror.protocol.repeated_produce import acknowledgement_layout, last_produce
from kmirror.records import layout
from kmirror.records.codecs import Compression
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import is_internal
from kmirror.spec.wire_values import Acks, AclOperation

IDS_FROM = 13
"""First version that identifies topics by id (KIP-516)."""
ACKNOWLEDGED = (Acks.ALL, Acks.LEADER)
_FLAGS_AT = layout.ATTRIBUTES_AT + 1  # The low byte of the attributes.
_HEADER_SIZE, _TRANSACTIONAL, _NO_TIMESTAMP = layout.HEADER_SIZE, layout.TRANSACTIONAL_FLAG, layout.NO_TIMESTAMP
_ZSTD = int(Compression.ZSTD)  # A bit that no other codec sets.
_CORRELATION_ID = slice(4, 8)


class FastProduce:
    """Handles requests that resemble the one received as `inbound`."""

    __slots__ = (
        "_components",
        "_flags",
        "_is_by_id",
        "_is_limited",
        "_names",
        "_needs_all",
        "_pack",
        "_prefix",
        "_replicas",
        "_rights",
        "_rights_version",
        "_suffix",
        "_topic_id",
        "_topic_name",
        "_tp",
        "_version",
    )

    def __init__(self, parts: BrokerParts, inbound: Inbound[ProduceRequest], name: str) -> None:
        request, version = inbound.body, inbound.version
        (topic,) = request.topic_data
        (data,) = topic.partition_data
        self._tp = TopicPartition(name, data.index)
        self._version = version
        # Keep the topic as the request named it, not the request: that would keep its received buffer alive.
        self._topic_name, self._topic_id = topic.name, topic.topic_id
        self._replicas, self._components = parts.replicas, parts.components
        self._names = parts.context.image.topics.names
        self._rights = inbound.rights
        self._is_limited = inbound.rights.version != UNLIMITED
        self._rights_version: RightsVersion | None = None
        """Version of the rights in which WRITE on the topic was last allowed; None before the first check."""
        self._is_by_id = version >= IDS_FROM
        self._needs_all = request.acks == Acks.ALL
        self._flags = _TRANSACTIONAL if version >= ZSTD_FROM else _TRANSACTIONAL | _ZSTD
        prefix, self._pack, self._suffix = acknowledgement_layout(version, topic.name, topic.topic_id, data.index)
        self._prefix = encode_response_head(inbound.head.api_key, version, correlation_id=0)[4:] + prefix

    def respond(self, now: Instant, frame: Chunk, records: memoryview) -> Chunk | None:
        """Append the batch in `records` and return the response; None, with nothing done, if it is not plain."""
        tp, replicas = self._tp, self._replicas
        partition = replicas.partitions.get(tp)
        if partition is None or partition.image.leader != partition.broker_id:
            return None
        if self._needs_all and not partition.commits_alone:
            return None
        if len(records) < _HEADER_SIZE or records[_FLAGS_AT] & self._flags:
            return None
        if self._is_by_id and self._names.get(self._topic_id) != tp.topic:
            return None
        if self._components.produce_error(tp) is not None:
            return None
        if self._is_limited and not self._may_write():
            return None
        try:
            info = replicas.appends.fast_append(now, partition, records)
        except LogAppendError as error:
            return self._error_response(frame, error.code)
        if info is None:
            return None
        numbers = self._pack(info.first_offset, _NO_TIMESTAMP, partition.log.log_start_offset)
        return bytes(frame[_CORRELATION_ID]) + self._prefix + numbers + self._suffix

    def _may_write(self) -> bool:
        """Return whether the client may write to the topic; checked again when its rights may have changed."""
        version = self._rights.version
        if version is not None and version == self._rights_version:
            return True
        if not self._rights.allow(AclOperation.WRITE, Resource.topic(self._tp.topic)):
            return False
        self._rights_version = version
        return True

    def _error_response(self, frame: Chunk, error: ErrorCode) -> Chunk:
        row = PartitionProduceResponse(self._tp.partition, error, -1)
        response = ProduceResponse([TopicProduceResponse(self._topic_name, self._topic_id, [row])])
        return encode_response(response, self._version, correlation_id=peek_request(frame).correlation_id)


def install_shortcut(parts: BrokerParts, inbound: Inbound[ProduceRequest]) -> None:
    """Enable recognition of requests like this one, and a shortcut for them if they are eligible."""
    request, link = inbound.body, inbound.link
    link.last_produce = last_produce(inbound.frame, inbound.head, request)
    if link.last_produce is None or request.transactional_id or request.acks not in ACKNOWLEDGED:
        return
    topic = request.topic_data[0]
    names = parts.context.image.topics.names
    name = names.get(topic.topic_id, "") if inbound.version >= IDS_FROM else topic.name
    if name and not is_internal(name):
        link.shortcut = FastProduce(parts, inbound, name).respond
