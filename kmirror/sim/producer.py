"""A producer inside the simulation: plain, idempotent or transactional, with the retries of a real one.

with Producer(cluster, transactional_id="t") as producer:    # what is open in the end is aborted, as by `close`
    producer.begin_transaction()
    producer.send({tp: [RecordData(value=b"one")]})
    producer.commit_transaction()
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from kmirror.errors import UsageError
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.protocol.gen.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kmirror.protocol.gen.add_partitions_to_txn_response import AddPartitionsToTxnResponse
from kmirror.protocol.gen.end_txn_request import EndTxnRequest
from kmirror.protocol.gen.end_txn_response import EndTxnResponse
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.gen.find_coordinator_response import FindCoordinatorResponse
from kmirror.protocol.gen.init_producer_id_request import InitProducerIdRequest
from kmirror.protocol.gen.init_producer_id_response import InitProducerIdResponse
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.message import Message
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.spec.client_versions import TRANSACTIONS_V1_LAST
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import Acks, CoordinatorType

if TYPE_CHECKING:
    from types import TracebackType

RETRIES_MAX = 200
PAUSE_SECONDS = 0.2


class Producer:
    """Writes batches; every call runs the world until it is answered."""

    def __init__(
        self,
        cluster: Cluster,
        *,
        idempotent: bool = False,
        transactional_id: str | None = None,
        compression: Compression = Compression.NONE,
    ) -> None:
        self._cluster = cluster
        self._transactional_id = transactional_id
        self._compression = compression
        self._sequences: dict[TopicPartition, int] = {}
        self._in_transaction: dict[TopicPartition, None] | None = None
        """The partitions that the coordinator was told of; None outside of a transaction."""
        self.producer_id = -1
        self.producer_epoch = -1
        if idempotent or transactional_id is not None:
            self._init()

    def __repr__(self) -> str:
        kind = "plain" if self.producer_id < 0 else f"id {self.producer_id} epoch {self.producer_epoch}"
        name = "" if self._transactional_id is None else f", transactional id {self._transactional_id}"
        return f"<Producer to {self._cluster.name}: {kind}{name}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Abort the transaction that is open, if there is one."""
        if self._in_transaction is not None:
            self.abort_transaction()

    # -- writing ------------------------------------------------------------------------------

    def send(self, records: Mapping[TopicPartition, Sequence[RecordData]]) -> dict[TopicPartition, int]:
        """Write one batch to each partition with acks=all; returns base offsets.

        KafkaError if one is refused; UsageError if a transactional producer has begun no transaction.
        """
        if self._transactional_id is not None:
            begun = self._begun()
            self.add_partitions([tp for tp in records if tp not in begun])
        batches = {tp: self._batch(tp, rows) for tp, rows in records.items()}
        offsets: dict[TopicPartition, int] = {}
        for _ in range(RETRIES_MAX):
            left = {tp: batch for tp, batch in batches.items() if tp not in offsets}
            if not left:
                break
            for tp, (code, offset, message) in self.try_send(left).items():
                error = ErrorCode(code)
                if error in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
                    offsets[tp] = offset
                elif not error.retriable:
                    reason = f"cannot write to {tp}: {error.name}: {message or error.text}"
                    raise self._cluster.simulation.refusal(error, reason)
            if len(offsets) < len(batches):
                self._cluster.simulation.run_for(span_s=PAUSE_SECONDS)
        missing = [str(tp) for tp in batches if tp not in offsets]
        if missing:
            raise self._cluster.simulation.failure(f"no broker took a batch for {', '.join(missing[:3])}")
        for tp, rows in records.items():
            self._sequences[tp] = self._sequences.get(tp, 0) + len(rows)
        return offsets

    def try_send(self, batches: Mapping[TopicPartition, bytes]) -> dict[TopicPartition, tuple[int, int, str | None]]:
        """Send each batch once to its leader; returns (error code, base offset, message) of those answered."""
        by_leader: dict[int, list[TopicPartition]] = {}
        for tp in batches:
            image = self._cluster.image.partition(tp)
            if image is not None and image.leader in self._cluster.living():
                by_leader.setdefault(image.leader, []).append(tp)
        found: dict[TopicPartition, tuple[int, int, str | None]] = {}
        for leader, partitions in by_leader.items():
            topics: dict[str, TopicProduceData] = {}
            for tp in partitions:
                topic = topics.setdefault(tp.topic, TopicProduceData(name=tp.topic))
                topic.partition_data.append(PartitionProduceData(index=tp.partition, records=batches[tp]))
            request = ProduceRequest(
                transactional_id=self._transactional_id,
                acks=Acks.ALL,
                timeout_ms=10_000,
                topic_data=list(topics.values()),
            )
            version_max = TRANSACTIONS_V1_LAST[request.NAME]
            reply = self._cluster.client.call(self._cluster.endpoint(leader), request, version_max=version_max)
            if isinstance(reply, ProduceResponse):
                for answer in reply.responses:
                    for row in answer.partition_responses:
                        tp = TopicPartition(answer.name, row.index)
                        found[tp] = (row.error_code, row.base_offset, row.error_message)
        return found

    def _batch(self, tp: TopicPartition, rows: Sequence[RecordData]) -> bytes:
        now_ms = self._cluster.simulation.now_ms
        sequence = self._sequences.get(tp, 0) if self.producer_id >= 0 else -1
        return build_batch(
            rows,
            compression=self._compression,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            base_sequence=sequence,
            is_transactional=self._transactional_id is not None,
            timestamp_ms=now_ms,
        )

    # -- transactions -------------------------------------------------------------------------

    def begin_transaction(self) -> None:
        """Begin a transaction; nobody is asked before the first `send`. UsageError if one is open."""
        if self._transactional_id is None:
            raise UsageError("a producer without a transactional_id has no transactions")
        if self._in_transaction is not None:
            raise UsageError(f"{self!r} is in a transaction: commit or abort it first")
        self._in_transaction = {}

    def commit_transaction(self) -> None:
        """Commit what was sent since `begin_transaction`; markers follow on their own. KafkaError if refused."""
        self._end(commit=True)

    def abort_transaction(self) -> None:
        """Abort what was sent since `begin_transaction`; markers follow on their own. KafkaError if refused."""
        self._end(commit=False)

    def _begun(self) -> dict[TopicPartition, None]:
        if self._in_transaction is None:
            raise UsageError(f"{self!r} is in no transaction: begin_transaction comes first")
        return self._in_transaction

    def add_partitions(self, partitions: Iterable[TopicPartition]) -> None:
        """Tell the coordinator which partitions the transaction is about to write to; `send` does so by itself."""
        begun = self._begun()
        assert self._transactional_id is not None, "only such a producer begins a transaction"
        new = list(partitions)
        if not new:
            return
        topics: dict[str, AddPartitionsToTxnTopic] = {}
        for tp in new:
            topics.setdefault(tp.topic, AddPartitionsToTxnTopic(name=tp.topic)).partitions.append(tp.partition)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._transactional_id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.producer_epoch,
            v3_and_below_topics=list(topics.values()),
        )

        def errors(reply: Message) -> list[int]:
            assert isinstance(reply, AddPartitionsToTxnResponse)
            rows = (row for topic in reply.results_by_topic_v3_and_below for row in topic.results_by_partition)
            return [row.partition_error_code for row in rows if row.partition_error_code]

        self._at_coordinator(request, errors)
        begun.update(dict.fromkeys(new))

    def _end(self, *, commit: bool) -> None:
        begun = self._begun()
        assert self._transactional_id is not None, "only such a producer begins a transaction"
        # Over for this producer, however it ends: an error that is not retriable leaves nothing to abort.
        self._in_transaction = None
        if not begun:
            return  # The coordinator knows of no transaction, and would refuse to end one.
        request = EndTxnRequest(
            transactional_id=self._transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            committed=commit,
        )

        def errors(reply: Message) -> list[int]:
            assert isinstance(reply, EndTxnResponse)
            return [reply.error_code] if reply.error_code else []

        self._at_coordinator(request, errors)

    def _init(self) -> None:
        request = InitProducerIdRequest(transactional_id=self._transactional_id, transaction_timeout_ms=60_000)

        def errors(reply: Message) -> list[int]:
            assert isinstance(reply, InitProducerIdResponse)
            return [reply.error_code] if reply.error_code else []

        reply = self._at_coordinator(request, errors)
        assert isinstance(reply, InitProducerIdResponse)
        self.producer_id, self.producer_epoch = reply.producer_id, reply.producer_epoch
        self._sequences.clear()

    def _at_coordinator(self, request: Message, errors_of: Callable[[Message], list[int]]) -> Message:
        """Ask the coordinator until it answers without a retriable error; KafkaError on any other."""
        version_max = TRANSACTIONS_V1_LAST.get(request.NAME)
        for _ in range(RETRIES_MAX):
            endpoint = self._coordinator()
            reply = None if endpoint is None else self._cluster.client.call(endpoint, request, version_max=version_max)
            if reply is not None:
                errors = errors_of(reply)
                if not errors:
                    return reply
                fatal = [ErrorCode(code) for code in errors if not ErrorCode(code).retriable]
                waiting = (ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.OPERATION_NOT_ATTEMPTED)
                fatal = [error for error in fatal if error not in waiting]
                if fatal:
                    reason = f"{request.NAME}: {fatal[0].name}: {fatal[0].text}"
                    raise self._cluster.simulation.refusal(fatal[0], reason)
            self._cluster.simulation.run_for(span_s=PAUSE_SECONDS)
        raise self._cluster.simulation.failure(f"{request.NAME} found no coordinator that would do it")

    def _coordinator(self) -> Endpoint | None:
        living = self._cluster.endpoints()
        if self._transactional_id is None or not living:
            return living[0] if living else None
        request = FindCoordinatorRequest(
            key_type=CoordinatorType.TRANSACTION, coordinator_keys=[self._transactional_id]
        )
        reply = self._cluster.client.call(living[0], request)
        if not isinstance(reply, FindCoordinatorResponse) or reply.coordinators[0].error_code:
            return None
        return Endpoint(reply.coordinators[0].host, reply.coordinators[0].port)
