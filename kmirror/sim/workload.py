"""A steady stream of batches to a cluster, open loop: what producers at a site do while things happen.

Each partition gets a batch whenever its turn comes, whether the one before it was answered or not. A batch that
is refused or lost is sent again until somebody takes it or the load is stopped. What was acknowledged is
remembered with its offset and checksum, so that a run can be asked later what became of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kmirror.kernel.clock import MILLISECOND, SECOND, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.protocol.gen.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.message import Message
from kmirror.records.batch import Batch
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import Acks

RETRY_MS = 50
PRODUCE_TIMEOUT_MS = 5_000


@dataclass(frozen=True, slots=True)
class AckedBatch:
    """A batch that a cluster acknowledged."""

    tp: TopicPartition
    base_offset: int
    count: int
    crc: int
    acked_at: Instant


class Load:
    """Writes to every partition in turn, until it is stopped."""

    def __init__(
        self,
        cluster: Cluster,
        partitions: Sequence[TopicPartition],
        rng: Rng,
        *,
        batch_records: int,
        record_bytes: int,
        records_per_second: int,
        compression: Compression,
    ) -> None:
        self._cluster = cluster
        self._partitions = partitions
        self._batch_records = batch_records
        self._pause = max(batch_records * SECOND // records_per_second, 1)
        self._compression = compression
        # Half of a value is noise and half is not, so that a codec has something to do.
        noise = rng.octets(max(record_bytes // 2, 1)).hex().encode()
        self._filler = noise[:record_bytes].ljust(record_bytes, b".")
        self._turn = 0
        self._under_way = 0
        self._runs = False
        self.acked: list[AckedBatch] = []
        self.first_ack: dict[TopicPartition, Instant] = {}
        self.refused = 0

    def start(self) -> None:
        self._runs = True
        self._tick()

    def stop(self) -> None:
        """Send nothing more; answers on their way still count."""
        self._runs = False

    def settle(self, *, within_s: float) -> None:
        """Run until every request has been answered or given up."""
        self._cluster.simulation.run_until(lambda: self._under_way == 0, within_s=within_s, what="answers to a load")

    def _tick(self) -> None:
        if not self._runs:
            return
        world = self._cluster.simulation.world
        tp = self._partitions[self._turn % len(self._partitions)]
        self._turn += 1
        self._send(tp, self._batch())
        world.at(world.now + self._pause, self._tick)

    def _batch(self) -> bytes:
        turn = b"%d " % self._turn
        size = len(self._filler)
        rows = [RecordData(value=(turn + b"%d " % n + self._filler)[:size]) for n in range(self._batch_records)]
        return build_batch(rows, compression=self._compression, timestamp_ms=self._cluster.simulation.now_ms)

    def _send(self, tp: TopicPartition, batch: bytes) -> None:
        image = self._cluster.image.partition(tp)
        if image is None or image.leader not in self._cluster.living():
            self._again(tp, batch)
            return
        data = TopicProduceData(
            name=tp.topic,
            topic_id=self._cluster.image.topics[tp.topic].topic_id,
            partition_data=[PartitionProduceData(index=tp.partition, records=batch)],
        )
        request = ProduceRequest(acks=Acks.ALL, timeout_ms=PRODUCE_TIMEOUT_MS, topic_data=[data])
        self._under_way += 1
        self._cluster.client.send(
            self._cluster.endpoint(image.leader),
            request,
            lambda reply: self._on_reply(tp, batch, reply),
            timeout_ms=2 * PRODUCE_TIMEOUT_MS,
        )

    def _on_reply(self, tp: TopicPartition, batch: bytes, reply: Message | None) -> None:
        self._under_way -= 1
        if not isinstance(reply, ProduceResponse):
            self._again(tp, batch)  # Nobody knows whether it was written: a plain producer sends it twice.
            return
        row = reply.responses[0].partition_responses[0]
        if row.error_code != ErrorCode.NONE:
            self.refused += 1
            self._again(tp, batch)
            return
        now = self._cluster.simulation.world.now
        self.first_ack.setdefault(tp, now)
        self.acked.append(AckedBatch(tp, row.base_offset, self._batch_records, Batch(batch).crc, now))

    def _again(self, tp: TopicPartition, batch: bytes) -> None:
        if self._runs:
            world = self._cluster.simulation.world
            world.at(world.now + RETRY_MS * MILLISECOND, lambda: self._send(tp, batch) if self._runs else None)
