"""Producer in the simulation: plain, idempotent or transactional, with the retries of a real producer.

with Producer(cluster, transactional_id="t") as producer:    # an open transaction is aborted at the end, as by `close`
    producer.begin_transaction()
    producer.send({tp: [RecordData(value=b"one")]})
    producer.commit_transaction()
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from kmirror.client import producer as client
from kmirror.client.producer import Delivery, ProducerConfigs
from kmirror.client.transactions import OnDone, State
from kmirror.errors import UsageError
from kmirror.kernel import arguments
from kmirror.kernel.clock import SECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.records.codecs import Compression
from kmirror.records.record import RecordData
from kmirror.sim.target import Target, check_target
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.version_limits import NAMED_TOPICS_LAST, TRANSACTIONS_V1_LAST
from kmirror.spec.wire_values import Acks

if TYPE_CHECKING:
    from types import TracebackType

OPEN = (State.IN_TRANSACTION, State.ABORTABLE_ERROR)


class Producer:
    """Producer of batches, on top of `client.Producer`; each call runs the world until it is done."""

    def __init__(
        self,
        cluster: Target,
        *,
        idempotent: bool = False,
        transactional_id: str | None = None,
        compression: Compression = Compression.NONE,
    ) -> None:
        check_target(cluster)
        if transactional_id is not None:
            arguments.text("transactional_id", transactional_id)
        arguments.member("compression", compression, Compression)
        self._cluster = cluster
        self._transactional_id = transactional_id
        self._is_closed = False
        configs = ProducerConfigs(
            enable_idempotence=idempotent, transactional_id=transactional_id, compression=compression
        )
        servers = tuple(cluster.endpoint(broker_id) for broker_id in cluster.broker_ids)
        name = cluster.client.new_name("producer")
        self._client = client.Producer(name, cluster.client.requester, servers, configs)
        cluster.client.on_timer(name, self._client.on_timer)
        if self._client.is_idempotent:
            self._run_operation("InitProducerId", self._client.init)

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

    @property
    def producer_id(self) -> int:
        """Producer id; -1 for a plain producer."""
        return self._client.transactions.producer_id

    @property
    def producer_epoch(self) -> int:
        """Producer epoch; -1 for a plain producer."""
        return self._client.transactions.epoch

    def close(self) -> None:
        """Abort the open transaction, if any; the producer must not be used afterwards."""
        if self._client.transactions.state in OPEN:
            self.abort_transaction()
        self._is_closed = True

    # -- writing ------------------------------------------------------------------------------

    def send(self, records: Mapping[TopicPartition, Sequence[RecordData]]) -> dict[TopicPartition, int]:
        """Write one batch to each partition with acks=all and return the base offsets.

        Raises KafkaError if a batch is rejected, and immediately for a partition that the cluster does not have. Raises
        UsageError for records that do not fit in a batch, for a transactional producer without a transaction, and after
        `close`; then nothing is written.
        """
        self._check_usable()
        if not isinstance(records, Mapping):
            raise UsageError(f"records are a mapping of TopicPartition to lists, not {arguments.shown(records)}")
        batches = {
            tp: self._client.checked(tp, arguments.items("records", rows, "RecordData")) for tp, rows in records.items()
        }
        self._check_exist(batches)
        if self._transactional_id is not None:
            self.add_partitions(batches)
        world = self._cluster.simulation.world
        found: dict[TopicPartition, Delivery] = {}
        for tp, rows in batches.items():

            def on_delivery(_: Instant, delivery: Delivery, tp: TopicPartition = tp) -> None:
                found[tp] = delivery

            self._client.send(world.now, tp, rows, on_delivery)
        self._cluster.client.perform()
        seconds = self._client.configs.delivery_timeout_ms // 1_000 + 60
        world.run_until(lambda: len(found) == len(batches), within_us=seconds * SECOND, what="answers to a producer")
        for tp, delivery in found.items():
            error = delivery.error
            if error is ErrorCode.REQUEST_TIMED_OUT:
                text = f"cannot write to {tp}: {error.name}: no broker took the batch; {self._cluster!r}"
                raise self._cluster.simulation.kafka_error(error, text)
            if error:
                reason = f"cannot write to {tp}: {error.name}: {delivery.message or error.text}"
                raise self._cluster.simulation.kafka_error(error, reason)
        return {tp: found[tp].base_offset for tp in batches}

    def try_send(self, batches: Mapping[TopicPartition, bytes]) -> dict[TopicPartition, tuple[int, int, str | None]]:
        """Send each encoded batch once to its leader; return (error code, base offset, message) per response.

        A partition without a leader has no entry. Raises KafkaError for a partition that the cluster does not have.
        """
        self._check_usable()
        self._check_exist([arguments.partition(tp) for tp in batches])
        for tp, data in batches.items():
            arguments.byte_view(f"the batch for {tp}", data)
        by_leader: dict[int, list[TopicPartition]] = {}
        for tp in batches:
            image = self._cluster.image.topics.partition(tp)
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
            bumps_epoch = self._client.transactions.bumps_epoch
            version_max = (NAMED_TOPICS_LAST if bumps_epoch else TRANSACTIONS_V1_LAST)[request.NAME]
            reply = self._cluster.client.call(self._cluster.endpoint(leader), request, version_max=version_max)
            if isinstance(reply, ProduceResponse):
                for answer in reply.responses:
                    for row in answer.partition_responses:
                        tp = TopicPartition(answer.name, row.index)
                        found[tp] = (row.error_code, row.base_offset, row.error_message)
        return found

    # -- transactions -------------------------------------------------------------------------

    def begin_transaction(self) -> None:
        """Begin a transaction; no request is sent before the first `send`. UsageError if one is open."""
        self._check_usable()
        if self._transactional_id is None:
            raise UsageError("a producer without a transactional_id has no transactions")
        if self._client.transactions.state in OPEN:
            raise UsageError(f"{self!r} is in a transaction: commit or abort it first")
        self._client.begin()

    def commit_transaction(self) -> None:
        """Commit the records sent since `begin_transaction`; markers are written later. KafkaError if rejected."""
        self._end(commit=True)

    def abort_transaction(self) -> None:
        """Abort the records sent since `begin_transaction`; markers are written later. KafkaError if rejected."""
        self._end(commit=False)

    def add_partitions(self, partitions: Iterable[TopicPartition]) -> None:
        """Add partitions to the transaction at the coordinator; `send` does so itself."""
        self._check_in_transaction()
        checked_partitions = arguments.partitions(partitions)
        self._check_exist(checked_partitions)
        self._run_operation(
            "AddPartitionsToTxn", lambda now, done: self._client.add_partitions(now, checked_partitions, done)
        )

    def _end(self, *, commit: bool) -> None:
        self._check_in_transaction()
        self._run_operation("EndTxn", lambda now, done: self._client.end(now, done, commit=commit))

    def _check_usable(self) -> None:
        """Raise UsageError after `close`, and raise the fatal error of a transactional producer again."""
        if self._is_closed:
            raise UsageError(f"{self!r} is closed: create a new one")
        manager = self._client.transactions
        if manager.state is State.FATAL_ERROR:
            text = f"{self!r} has failed for good: {manager.error.name}: {manager.error.text}"
            raise self._cluster.simulation.kafka_error(manager.error, text)

    def _check_exist(self, partitions: Iterable[TopicPartition]) -> None:
        for tp in partitions:
            if self._cluster.image.topics.partition(tp) is None:
                raise self._cluster.unknown_partition(tp)

    def _check_in_transaction(self) -> None:
        self._check_usable()
        if self._client.transactions.state not in OPEN:
            raise UsageError(f"{self!r} is not in a transaction: call begin_transaction() first")

    def _run_operation(self, operation: str, start: Callable[[Instant, OnDone], None]) -> None:
        """Run the world until an operation is done; KafkaError if it is rejected or times out."""
        world = self._cluster.simulation.world
        errors: list[ErrorCode] = []
        start(world.now, lambda _now, error: errors.append(error))
        self._cluster.client.perform()
        seconds = 2 * self._client.configs.max_block_ms // 1_000 + 60
        world.run_until(lambda: bool(errors), within_us=seconds * SECOND, what=f"an answer to {operation}")
        if errors[0] is ErrorCode.REQUEST_TIMED_OUT:
            text = f"{operation}: {errors[0].name}: no coordinator did it; {self._cluster!r}"
            raise self._cluster.simulation.kafka_error(errors[0], text)
        if errors[0]:
            raise self._cluster.simulation.kafka_error(errors[0], f"{operation}: {errors[0].name}: {errors[0].text}")
