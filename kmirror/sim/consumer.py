"""A consumer inside the simulation: what an application is given of a log, with the words of kafka-python.

    for record in Consumer(cluster, "orders", isolation=IsolationLevel.READ_COMMITTED):
        ...                                  # ends when nothing came for `consumer_timeout_ms` of virtual time

It finds leaders by Metadata, where to begin by ListOffsets and records by Fetch, and keeps the epoch of the last batch
read, so that a leader whose log was cut says so (KIP-320, by the divergence in Fetch); it then goes on where the two
part. It belongs to no group and commits nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kmirror.errors import UsageError
from kmirror.kernel.clock import MILLISECOND, Duration
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.log.committed import with_aborted
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest, MetadataRequestTopic
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.records.legacy import iter_any_batches
from kmirror.records.record import Header
from kmirror.sim.cluster import Cluster
from kmirror.spec.client_versions import NAMED_TOPICS_LAST
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import IsolationLevel, OffsetSpec

CONSUMER = -1
NO_EPOCH = -1
BYTES_MAX = 1 << 20
PAUSE: Duration = 100 * MILLISECOND
READ_TIMEOUT_MS = 60_000


@dataclass(frozen=True, slots=True)
class ConsumerRecord:
    """One record as a consumer gets it; `timestamp` is in milliseconds, `leader_epoch` is its batch's, or -1."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    leader_epoch: int


@dataclass(frozen=True, slots=True)
class _Position:
    offset: int
    epoch: int = NO_EPOCH
    """Of the batch before it, or -1 after a seek."""


@dataclass(frozen=True, slots=True)
class _Fetched:
    before: _Position
    records: list[ConsumerRecord]
    after: _Position
    """Behind the last batch, which may have held nothing that this reader sees."""


class Consumer:
    """Reads whole topics, or the partitions that `assign` names; every call runs the world until it is answered."""

    def __init__(
        self,
        cluster: Cluster,
        *topics: str,
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        auto_offset_reset: OffsetSpec = OffsetSpec.EARLIEST,
        consumer_timeout_ms: int = 1_000,
    ) -> None:
        self._cluster = cluster
        self._topics = topics
        self._isolation = isolation
        self._reset = auto_offset_reset
        self._timeout_ms = consumer_timeout_ms
        self._assigned: tuple[TopicPartition, ...] = ()
        self._positions: dict[TopicPartition, _Position] = {}
        self._leaders: dict[TopicPartition, Endpoint] = {}

    def __repr__(self) -> str:
        at = (f"{tp} at {self._positions[tp].offset}" for tp in self._assigned if tp in self._positions)
        return f"<Consumer of {self._cluster.name}, {self._isolation.name.lower()}: {', '.join(at) or 'no position'}>"

    # -- positions ----------------------------------------------------------------------------

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read these partitions and no others; each from where it was read before, or where the reset says."""
        self._assigned = tuple(partitions)
        self._topics = ()
        self._positions = {tp: self._positions[tp] for tp in self._assigned if tp in self._positions}

    def assignment(self) -> tuple[TopicPartition, ...]:
        """Return the partitions that are read: those assigned, or all of the topics."""
        if self._topics and not self._assigned:
            self._assigned = tuple(sorted(self._find_leaders(self._topics)))
        return self._assigned

    def seek(self, tp: TopicPartition, offset: int) -> None:
        """Read on from `offset`; out of range there, the reset decides. UsageError if `tp` is not read."""
        self._check(tp)
        self._positions[tp] = _Position(offset)

    def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        """Read these partitions, or all, from the log start offset on."""
        for tp in partitions or self.assignment():
            self.seek(tp, self._offset_of(tp, OffsetSpec.EARLIEST))

    def seek_to_end(self, *partitions: TopicPartition) -> None:
        """Read these partitions, or all, from the end that this isolation level sees now."""
        for tp in partitions or self.assignment():
            self.seek(tp, self._offset_of(tp, OffsetSpec.LATEST))

    def position(self, tp: TopicPartition) -> int:
        """Return the offset of the next record to be read; UsageError if `tp` is not read."""
        self._check(tp)
        return self._position(tp).offset

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return where each log ends for this isolation level: the last stable offset, or the high watermark."""
        return {tp: self._offset_of(tp, OffsetSpec.LATEST) for tp in partitions}

    def _check(self, tp: TopicPartition) -> None:
        if tp not in self.assignment():
            raise UsageError(f"{tp} is not read by this consumer: name its topic, or assign it")

    def _position(self, tp: TopicPartition) -> _Position:
        if tp not in self._positions:
            self._positions[tp] = _Position(self._offset_of(tp, self._reset))
        return self._positions[tp]

    # -- records ------------------------------------------------------------------------------

    def poll(self, timeout_ms: int = 0, max_records: int | None = None) -> dict[TopicPartition, list[ConsumerRecord]]:
        """Return what there is, at most `max_records`; waits for it up to `timeout_ms` of virtual time."""
        found: dict[TopicPartition, list[ConsumerRecord]] = {}
        left = max_records
        for tp, fetched in self._fetch_within(timeout_ms).items():
            if left == 0:
                break
            records, after = fetched.records, fetched.after
            if left is not None and len(records) > left:
                records = records[:left]
                after = _after(records[-1])
            self._positions[tp] = after
            if records:
                found[tp] = records
                left = None if left is None else left - len(records)
        return found

    def __iter__(self) -> Iterator[ConsumerRecord]:
        """Yield records until none came for `consumer_timeout_ms`; a `seek` meanwhile counts from the next one on."""
        while True:
            fetched = self._fetch_within(self._timeout_ms)
            if not any(part.records for part in fetched.values()):
                return
            for tp, part in fetched.items():
                yield from self._handed_out(tp, part)

    def _handed_out(self, tp: TopicPartition, part: _Fetched) -> Iterator[ConsumerRecord]:
        """Yield the records of one partition, moving its position one by one, until somebody else moves it."""
        expected = part.before
        for record in part.records:
            if self._positions.get(tp) is not expected:
                return
            expected = self._positions[tp] = _after(record)
            yield record
        if self._positions.get(tp) is expected:
            self._positions[tp] = part.after

    def _fetch_within(self, timeout_ms: int) -> dict[TopicPartition, _Fetched]:
        """Fetch again and again until there are records or the time is up; no position has moved past a record."""
        world = self._cluster.simulation.world
        deadline = world.now + timeout_ms * MILLISECOND
        while True:
            fetched = self._fetch()
            if any(part.records for part in fetched.values()) or world.now >= deadline:
                return fetched
            for tp, part in fetched.items():
                self._positions[tp] = part.after
            world.run_for(PAUSE)

    def _fetch(self) -> dict[TopicPartition, _Fetched]:
        """Ask every leader once."""
        by_leader: dict[Endpoint, list[TopicPartition]] = {}
        partitions = self.assignment()
        if any(tp not in self._leaders for tp in partitions):
            self._find_leaders(dict.fromkeys(tp.topic for tp in partitions))
        for tp in partitions:
            if tp in self._leaders:
                by_leader.setdefault(self._leaders[tp], []).append(tp)
        found: dict[TopicPartition, _Fetched] = {}
        for endpoint, led in by_leader.items():
            topics: dict[str, FetchTopic] = {}
            for tp in led:
                position = self._position(tp)
                row = FetchPartition(
                    partition=tp.partition,
                    fetch_offset=position.offset,
                    last_fetched_epoch=position.epoch,
                    partition_max_bytes=BYTES_MAX,
                )
                topics.setdefault(tp.topic, FetchTopic(topic=tp.topic, partitions=[])).partitions.append(row)
            request = FetchRequest(
                replica_id=CONSUMER,
                max_wait_ms=0,
                min_bytes=1,
                max_bytes=BYTES_MAX,
                isolation_level=self._isolation,
                session_epoch=-1,
                topics=list(topics.values()),
            )
            reply = self._cluster.client.call(endpoint, request, version_max=NAMED_TOPICS_LAST[request.NAME])
            if not isinstance(reply, FetchResponse) or reply.error_code:
                self._forget(led)
                continue
            for topic in reply.responses:
                for data in topic.partitions:
                    tp = TopicPartition(topic.topic, data.partition_index)
                    part = self._taken(tp, data)
                    if part is not None:
                        found[tp] = part
        return found

    def _taken(self, tp: TopicPartition, data: PartitionData) -> _Fetched | None:
        """Return what a leader's answer comes to; None where there is nothing, and the next fetch asks differently."""
        error = ErrorCode(data.error_code)
        if error is ErrorCode.OFFSET_OUT_OF_RANGE:
            del self._positions[tp]
            return None
        if error:
            if not error.retriable:
                raise self._refusal(tp, error)
            self._forget([tp])
            return None
        if data.diverging_epoch.epoch != NO_EPOCH:
            self._positions[tp] = _Position(data.diverging_epoch.end_offset, data.diverging_epoch.epoch)
            return None
        position = after = self._positions[tp]
        records: list[ConsumerRecord] = []
        aborted = [(row.producer_id, row.first_offset) for row in data.aborted_transactions or ()]
        for batch, is_aborted in with_aborted(iter_any_batches(bytes(data.records or b"")), aborted):
            after = _Position(max(after.offset, batch.last_offset + 1), batch.partition_leader_epoch)
            if batch.is_control or is_aborted:
                continue
            records += (
                ConsumerRecord(
                    tp.topic,
                    tp.partition,
                    record.offset,
                    record.timestamp,
                    record.key,
                    record.value,
                    tuple(record.headers),
                    batch.partition_leader_epoch,
                )
                for record in batch.records()
                if record.offset >= position.offset
            )
        return _Fetched(position, records, after)

    # -- asking -------------------------------------------------------------------------------

    def _find_leaders(self, topics: Iterable[str]) -> list[TopicPartition]:
        """Ask one broker who leads; returns all partitions of the topics. KafkaError if one does not exist."""
        rows = [MetadataRequestTopic(name=name) for name in topics]
        request = MetadataRequest(topics=rows, allow_auto_topic_creation=False)
        reply = self._cluster.client.call_any(
            self._cluster.endpoints, request, accept=lambda found: isinstance(found, MetadataResponse)
        )
        assert isinstance(reply, MetadataResponse)
        brokers = {row.node_id: Endpoint(row.host, row.port) for row in reply.brokers}
        found: list[TopicPartition] = []
        for topic in reply.topics:
            error = ErrorCode(topic.error_code)
            if error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION or (error and not error.retriable):
                raise self._refusal(topic.name or "", error)
            for partition in topic.partitions:
                tp = TopicPartition(topic.name or "", partition.partition_index)
                found.append(tp)
                if partition.leader_id in brokers:
                    self._leaders[tp] = brokers[partition.leader_id]
        return found

    def _forget(self, partitions: Iterable[TopicPartition]) -> None:
        """Ask anew who leads these partitions."""
        for tp in partitions:
            self._leaders.pop(tp, None)

    def _offset_of(self, tp: TopicPartition, spec: OffsetSpec) -> int:
        """Ask the leader; KafkaError if it refuses, SimulationFailure if none answers for a minute."""
        world = self._cluster.simulation.world
        deadline = world.now + READ_TIMEOUT_MS * MILLISECOND
        row = ListOffsetsPartition(partition_index=tp.partition, timestamp=spec)
        request = ListOffsetsRequest(
            replica_id=CONSUMER,
            isolation_level=self._isolation,
            topics=[ListOffsetsTopic(name=tp.topic, partitions=[row])],
        )
        while world.now < deadline:
            if tp not in self._leaders:
                self._find_leaders([tp.topic])
            endpoint = self._leaders.get(tp)
            reply = None if endpoint is None else self._cluster.client.call(endpoint, request)
            if isinstance(reply, ListOffsetsResponse):
                answer = reply.topics[0].partitions[0]
                error = ErrorCode(answer.error_code)
                if not error:
                    return answer.offset
                if not error.retriable:
                    raise self._refusal(tp, error)
            self._forget([tp])
            world.run_for(PAUSE)
        raise world.failure(f"no leader of {tp} in {self._cluster.name} told the {spec.name} offset")

    def _refusal(self, what: object, error: ErrorCode) -> Exception:
        return self._cluster.simulation.refusal(error, f"cannot read {what}: {error.name}: {error.text}")


def _after(record: ConsumerRecord) -> _Position:
    return _Position(record.offset + 1, record.leader_epoch)


def read(cluster: Cluster, tp: TopicPartition, isolation: IsolationLevel) -> list[ConsumerRecord]:
    """Return all records of a partition up to where it ends now; SimulationFailure if that takes over a minute."""
    world = cluster.simulation.world
    consumer = Consumer(cluster, isolation=isolation)
    consumer.assign([tp])
    (end,) = consumer.end_offsets([tp]).values()
    deadline = world.now + READ_TIMEOUT_MS * MILLISECOND
    records: list[ConsumerRecord] = []
    while consumer.position(tp) < end:
        if world.now >= deadline:
            raise world.failure(f"{tp} in {cluster.name} was read to {consumer.position(tp)} of {end} only")
        for part in consumer.poll(timeout_ms=1_000).values():
            records += part
    return records
