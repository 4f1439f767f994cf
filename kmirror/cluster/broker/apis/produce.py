"""Produce, versions 3-13.

Supports acks 0, 1 and -1, and topic ids in v13. A component may reject a partition (READ_ONLY_TOPIC, D7) before its
records are read. acks=-1 requires min.insync.replicas members before and after the append. With acks=0 an error closes
the connection. Only coordinators write to internal topics. The first batch of a transaction is verified with its
coordinator; from v12 the partition is added to the transaction there (KIP-890). Left out: quotas, conversion from older
formats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kmirror.cluster.authorizer import NONE_DENIED, UNLIMITED, Resource
from kmirror.cluster.broker.apis.fast_produce import IDS_FROM, install_shortcut
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.broker.produce_checks import ZSTD_FROM, batch_error, batch_in_transaction, is_transactional
from kmirror.cluster.broker.verification import Verdicts, Verification
from kmirror.cluster.node.partition import Partition
from kmirror.cluster.server import Inbound, PendingResponse
from kmirror.errors import CorruptBatch
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import Chunk
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.errors import LogAppendError, RecordsRejected
from kmirror.log.partition_log import AppendInfo
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kmirror.protocol.message import Message
from kmirror.protocol.repeated_produce import acknowledgement
from kmirror.records.batch import Batch
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import is_internal
from kmirror.spec.wire_values import Acks, AclOperation

ACKS = frozenset(Acks)
ADDS_PARTITIONS_FROM = 12
"""First version in which the leader adds the partition to the transaction (KIP-890 part 2)."""
ABORTABLE_FROM = 11
"""First version that supports TRANSACTION_ABORTABLE."""
RETRIABLE_VERIFICATION_ERRORS = (
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)
"""Errors that become NOT_ENOUGH_REPLICAS: every client version retries that without a metadata refresh."""
NOT_VERIFIED = "Unable to verify the partition has been added to the transaction. Underlying error"
NOT_ADDED = "Partition was not added to the transaction"
WITHOUT_LOG_START = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.KAFKA_STORAGE_ERROR,
    }
)
"""Append errors whose row has no log start offset (ReplicaManager)."""
SEVERAL_PRODUCERS = "The transactional batches of a request must have one producer id and epoch"
CURRENT_LEADER_FROM = 10
"""First version in which an error names the current leader (KIP-951)."""

Rejection = tuple[ErrorCode, str | None]
"""An error and its message; None for no message."""
NONE_REJECTED: Mapping[TopicPartition, Rejection] = {}
NO_BATCHES: Mapping[TopicPartition, Batch] = {}


def handle(parts: BrokerParts, now: Instant, inbound: Inbound[ProduceRequest]) -> None:
    """Verify transactions, append, and reply with the first offset or error of each partition."""
    request = inbound.body
    if inbound.link.last_produce is None:
        install_shortcut(parts, inbound)
    rejection = _request_error(inbound, request)
    if rejection is not None:
        _reject_all(inbound, request, *rejection)
        return
    if len(request.topic_data) != 1 or len(request.topic_data[0].partition_data) != 1:
        request.topic_data = _deduplicate(request.topic_data)
    by_id, rights, denied = inbound.version >= IDS_FROM, inbound.rights, NONE_DENIED
    if rights.version != UNLIMITED:
        names = _names(parts, request, by_id=by_id)
        denied = rights.denied_topics(AclOperation.WRITE, [name for name in names if name or not by_id])
    batches = NO_BATCHES if request.transactional_id is None else _transactional_batches(parts, inbound, denied)
    configs, adds = parts.context.configs, inbound.version >= ADDS_PARTITIONS_FROM
    if batches and len({(batch.producer_id, batch.producer_epoch) for batch in batches.values()}) > 1:
        _reject_all(inbound, request, ErrorCode.INVALID_PRODUCER_ID_MAPPING, SEVERAL_PRODUCERS)
    elif batches and (adds or configs.flag("transaction.partition.verification.enable")):
        retry_ms = configs.integer("add.partitions.to.txn.retry.backoff.max.ms") if adds else 0
        retry_ms = min(retry_ms, configs.integer("request.timeout.ms"))
        _verify(parts, now, inbound, denied, batches, now + retry_ms * MILLISECOND)
    else:
        _append_all(parts, now, inbound, denied, NONE_REJECTED, None)


def _transactional_batches(
    parts: BrokerParts, inbound: Inbound[ProduceRequest], denied: Mapping[str, ErrorCode]
) -> dict[TopicPartition, Batch]:
    """Return the transactional batches of existing partitions that the client may write to."""
    request, image = inbound.body, parts.context.image
    found: dict[TopicPartition, Batch] = {}
    for name, topic in zip(_names(parts, request, by_id=inbound.version >= IDS_FROM), request.topic_data, strict=True):
        if name in denied:
            continue
        for data in topic.partition_data:
            tp, batch = TopicPartition(name, data.index), batch_in_transaction(data.records or b"", inbound.version)
            if batch is not None and image.topics.partition(tp) is not None:
                found[tp] = batch
    return found


def _verify(
    parts: BrokerParts,
    now: Instant,
    inbound: Inbound[ProduceRequest],
    denied: Mapping[str, ErrorCode],
    batches: Mapping[TopicPartition, Batch],
    retry_until: Instant,
) -> None:
    """Verify with the coordinator, retrying until `retry_until` while a transaction is ending there, then append."""
    request = inbound.body
    assert request.transactional_id is not None, "only a transactional request is verified"
    version = inbound.version
    verification = Verification(
        parts.context,
        parts.components,
        request.transactional_id,
        adds=version >= ADDS_PARTITIONS_FROM,
        knows_abortable=version >= ABORTABLE_FROM,
    )
    for tp, batch in batches.items():
        partition = parts.replicas.partitions.find_led(tp)
        if partition is not None and parts.components.produce_error(tp) is None:
            verification.register(partition, batch.producer_id, batch.producer_epoch, batch.base_sequence)

    @inbound.guard
    def retry(later: Instant) -> None:
        _verify(parts, later, inbound, denied, batches, retry_until)

    @inbound.guard
    def on_verified(later: Instant, verdicts: Verdicts) -> None:
        if later < retry_until and ErrorCode.CONCURRENT_TRANSACTIONS in verdicts.values():
            # The markers of the previous transaction are on their way: a pause costs less than a new request by the
            # client.
            pause_ms = parts.context.configs.integer("add.partitions.to.txn.retry.backoff.ms")
            parts.delayed_retries.schedule(later, pause_ms, retry)
            return
        errors = {tp: _producer_rejection(error, version) for tp, error in verdicts.items() if error}
        _append_all(parts, later, inbound, denied, errors, verification)

    verification.send(now, on_verified)


def _producer_rejection(error: ErrorCode, version: int) -> Rejection:
    """Return the producer's error for an error of a verification (ReplicaManager)."""
    if error in RETRIABLE_VERIFICATION_ERRORS or (
        error is ErrorCode.CONCURRENT_TRANSACTIONS and version < ADDS_PARTITIONS_FROM
    ):
        return ErrorCode.NOT_ENOUGH_REPLICAS, f"{NOT_VERIFIED}: {error.name}"
    return error, NOT_ADDED if error is ErrorCode.INVALID_TXN_STATE else None


def _names(parts: BrokerParts, request: ProduceRequest, *, by_id: bool) -> list[str]:
    """Return the topics' names; with topic ids, "" for an unknown id."""
    known = parts.context.image.topics.names
    return [known.get(topic.topic_id, "") if by_id else topic.name for topic in request.topic_data]


def _deduplicate(topics: Sequence[TopicProduceData]) -> list[TopicProduceData]:
    """Return the topics with each partition once, keeping its last row; topics without partitions are left out."""
    found: dict[tuple[str, Uuid], dict[int, PartitionProduceData]] = {}
    for topic in topics:
        for data in topic.partition_data:
            found.setdefault((topic.name, topic.topic_id), {})[data.index] = data
    return [TopicProduceData(name, topic_id, list(rows.values())) for (name, topic_id), rows in found.items()]


def _request_error(inbound: Inbound[Message], request: ProduceRequest) -> Rejection | None:
    """Return the error of the whole request, None if its partitions must be checked one by one.

    A batch with an invalid size or format fails all of them, as in Kafka (RequestUtils).
    """
    try:
        for topic in request.topic_data:
            for data in topic.partition_data:
                if data.records and is_transactional(data.records):
                    rejection = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, None
                    return None if _may_transact(inbound, request) else rejection
    except CorruptBatch as fault:
        return ErrorCode.CORRUPT_MESSAGE, str(fault)
    return None


def _may_transact(inbound: Inbound[Message], request: ProduceRequest) -> bool:
    """Return whether transactional records may be appended; never without a transactional id (KafkaApis)."""
    name = request.transactional_id
    return name is not None and inbound.rights.allow(AclOperation.WRITE, Resource.transactional_id(name))


def _reject_all(inbound: Inbound[Message], request: ProduceRequest, error: ErrorCode, message: str | None) -> None:
    """Append nothing, and return the error for each partition."""
    response = ProduceResponse(responses=[])
    for topic in _deduplicate(request.topic_data):
        rows = [
            PartitionProduceResponse(index=data.index, base_offset=-1, error_code=error, error_message=message)
            for data in topic.partition_data
        ]
        response.responses.append(
            TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=rows)
        )
    if request.acks == Acks.NONE:
        _end_without_response(inbound, response)
    else:
        inbound.reply(response)


def _append_all(
    parts: BrokerParts,
    now: Instant,
    inbound: Inbound[ProduceRequest],
    denied: Mapping[str, ErrorCode],
    rejections: Mapping[TopicPartition, Rejection],
    verification: Verification | None,
) -> None:
    request = inbound.body
    response = ProduceResponse(responses=[])
    ack_waits: list[tuple[Partition, int, PartitionProduceResponse]] = []
    version, image = inbound.version, parts.context.image
    by_id = version >= IDS_FROM
    for topic in request.topic_data:
        name = image.topics.names.get(topic.topic_id, "") if by_id else topic.name
        error, message = _topic_error(name, denied, by_id=by_id)
        write_error = _write_error(name, request.acks)
        rows = [PartitionProduceResponse(data.index, error, -1) for data in topic.partition_data]
        response.responses.append(TopicProduceResponse(topic.name, topic.topic_id, rows))
        for data, row in zip(topic.partition_data, rows, strict=True):
            row.error_message = message
            if error:
                continue
            tp = TopicPartition(name, data.index)
            records = data.records or b""
            if (write_error or version < ZSTD_FROM) and image.topics.partition(tp) is not None:
                row.error_code = batch_error(records, version) or (ErrorCode.NONE if tp in rejections else write_error)
                if row.error_code:
                    continue
            partition = parts.replicas.partitions.find_led(tp)
            if partition is None:
                _reject_not_led(parts, inbound, tp, records, row)
                continue
            is_out_of_order = verification is not None and verification.is_out_of_order(partition)
            info = _append(parts, now, partition, records, request.acks, rejections.get(tp), is_out_of_order, row)
            if info is not None and verification is not None and not info.duplicate:
                verification.on_appended(partition)
            if info is not None and request.acks == Acks.ALL:
                required_offset = info.last_offset + 1
                ack_result = parts.replicas.purgatory.ack_result(partition, required_offset)
                if ack_result is None:
                    ack_waits.append((partition, required_offset, row))
                else:
                    _apply_ack(row, ack_result)
    if request.acks == Acks.NONE:
        _end_without_response(inbound, response)
    elif not ack_waits:
        _reply(inbound, response)
    else:
        _wait(parts, now, inbound, response, ack_waits, request.timeout_ms)


def _reply(inbound: Inbound[Message], response: ProduceResponse) -> None:
    """Reply; the common case, one partition without an error, is encoded directly."""
    topic = response.responses[0] if len(response.responses) == 1 else None
    row = topic.partition_responses[0] if topic is not None and len(topic.partition_responses) == 1 else None
    if topic is None or row is None or row.error_code:
        inbound.reply(response)
        return
    offsets = row.base_offset, row.log_append_time_ms, row.log_start_offset
    inbound.reply_encoded(acknowledgement(inbound.version, topic.name, topic.topic_id, row.index, *offsets))


def _topic_error(name: str, denied: Mapping[str, ErrorCode], *, by_id: bool) -> tuple[ErrorCode, str | None]:
    """Return the error of every partition of a topic, or NONE, and its message."""
    if by_id and not name:
        return ErrorCode.UNKNOWN_TOPIC_ID, None
    if name in denied:
        return denied[name], denied[name].text
    return ErrorCode.NONE, None


def _write_error(name: str, acks: int) -> ErrorCode:
    """Return why no existing partition of the topic may be written to, or NONE."""
    if acks not in ACKS:
        return ErrorCode.INVALID_REQUIRED_ACKS
    return ErrorCode.INVALID_TOPIC_EXCEPTION if is_internal(name) else ErrorCode.NONE


def _reject_not_led(
    parts: BrokerParts, inbound: Inbound[Message], tp: TopicPartition, records: Chunk, row: PartitionProduceResponse
) -> None:
    """Set the error of a partition that this broker does not lead."""
    known = parts.context.image.topics.partition(tp)
    fault = ErrorCode.NONE if known is None else batch_error(records, inbound.version)
    row.error_code = fault or parts.replicas.partitions.not_led_error(tp)
    if (
        row.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        and known is not None
        and inbound.version >= CURRENT_LEADER_FROM
    ):
        row.current_leader = LeaderIdAndEpoch(leader_id=known.leader, leader_epoch=known.leader_epoch)


def _end_without_response(inbound: Inbound[Message], response: ProduceResponse) -> None:
    if any(row.error_code for topic in response.responses for row in topic.partition_responses):
        inbound.drop()
    else:
        inbound.no_reply()


def _append(
    parts: BrokerParts,
    now: Instant,
    partition: Partition,
    records: Chunk,
    acks: int,
    verification_error: Rejection | None,
    is_out_of_order: bool,
    row: PartitionProduceResponse,
) -> AppendInfo | None:
    """Append one partition's batch and fill in `row`; return None on an error."""
    write_error = parts.components.produce_error(partition.tp)
    if write_error is not None:
        row.error_code, row.error_message = write_error, write_error.text
        return None
    if verification_error is not None:
        row.error_code, row.error_message = verification_error
        return None
    if acks == Acks.ALL and len(partition.isr) < partition.min_isr:
        fault = batch_error(records, ZSTD_FROM)
        row.error_code = fault or ErrorCode.NOT_ENOUGH_REPLICAS
        row.log_start_offset = -1 if fault else partition.log.log_start_offset
        return None
    # Kafka's broker sends a message only for rejected records; other errors have the code only.
    try:
        info = parts.replicas.appends.append(now, partition, records, is_out_of_order=is_out_of_order)
    except RecordsRejected as error:
        row.error_code, row.error_message = error.code, str(error)
        row.record_errors = [BatchIndexAndErrorMessage(index, text) for index, text in error.record_errors]
        row.log_start_offset = partition.log.log_start_offset
        return None
    except LogAppendError as error:
        row.error_code = error.code
        if error.code not in WITHOUT_LOG_START and not batch_error(records, ZSTD_FROM):
            row.log_start_offset = partition.log.log_start_offset
        return None
    except CorruptBatch:
        row.error_code = ErrorCode.CORRUPT_MESSAGE
        return None
    row.base_offset = info.first_offset
    row.log_append_time_ms = info.log_append_time
    row.log_start_offset = partition.log.log_start_offset
    return info


def _apply_ack(row: PartitionProduceResponse, error: ErrorCode) -> None:
    if error:
        row.error_code, row.base_offset = error, -1


def _wait(
    parts: BrokerParts,
    now: Instant,
    inbound: Inbound[Message],
    response: ProduceResponse,
    ack_waits: list[tuple[Partition, int, PartitionProduceResponse]],
    timeout_ms: int,
) -> None:
    pending = PendingResponse(inbound, response)
    for partition, required_offset, row in ack_waits:

        @pending.row
        def on_acked(_: Instant, error: ErrorCode, row: PartitionProduceResponse = row) -> None:
            _apply_ack(row, error)

        parts.replicas.purgatory.await_acks(now, partition, required_offset, timeout_ms, on_acked)
    pending.end()
