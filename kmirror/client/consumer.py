"""The consumer: one round looks up leaders and start offsets, then fetches once from each broker.

A round ends in one call with its result. The caller begins the next round, after `retry.backoff.ms` if this one
returned nothing; the leaders themselves wait for records up to `fetch.max.wait.ms`. A position is an offset and the
epoch of the batch before it, so a leader whose log was cut responds with a divergence (KIP-320), and reading continues
from there. No group is joined and no offset is committed. With `client.rack` leaders may redirect to followers
(KIP-392, read_replicas.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from kmirror.client.fetch_plan import FetchPlan
from kmirror.client.list_offsets import list_offsets
from kmirror.client.positions import NO_EPOCH, Position
from kmirror.client.read_replicas import ReadReplicas
from kmirror.client.remote_cluster import Changes, RemoteCluster, code_of
from kmirror.client.requester import Requester
from kmirror.errors import CorruptBatch
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.log.committed import with_aborted
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.message import Message
from kmirror.records.batch import TornBatch
from kmirror.records.legacy import iter_any_batches
from kmirror.records.record import Header
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.version_limits import NAMED_TOPICS_LAST
from kmirror.spec.wire_values import CONSUMER_REPLICA_ID, IsolationLevel, OffsetSpec


@dataclass(frozen=True, slots=True)
class ConsumerConfigs:
    """Kafka's names and defaults, except that reading begins at the earliest offset, as no offset is committed."""

    isolation_level: IsolationLevel = IsolationLevel.READ_UNCOMMITTED
    auto_offset_reset: OffsetSpec = OffsetSpec.EARLIEST
    fetch_min_bytes: int = 1
    fetch_max_wait_ms: int = 500
    fetch_max_bytes: int = 50 * 1024 * 1024
    max_partition_fetch_bytes: int = 1024 * 1024
    check_crcs: bool = True
    request_timeout_ms: int = 30_000
    client_rack: str = ""
    metadata_max_age_ms: int = 300_000
    """How long a preferred read replica is used before the consumer fetches from the leader again."""


@dataclass(frozen=True, slots=True)
class ConsumerRecord:
    """One record for a consumer; `timestamp` is in milliseconds, `leader_epoch` is its batch's, or -1."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    leader_epoch: int

    @property
    def next_position(self) -> Position:
        """The position after this record."""
        return Position(self.offset + 1, self.leader_epoch)


@dataclass(frozen=True, slots=True)
class FetchedRecords:
    """The records of one partition. The caller that takes them must move the consumer's position."""

    before: Position
    records: list[ConsumerRecord]
    after: Position
    """The position after the last batch, even if that had no records for this consumer."""


@dataclass(frozen=True, slots=True)
class ReadError:
    """A topic or partition that cannot be read, with an error that is not retriable."""

    what: TopicPartition | str
    error: ErrorCode


@dataclass(slots=True)
class Round:
    """The result of one round."""

    fetched: dict[TopicPartition, FetchedRecords] = field(default_factory=dict)
    offsets: dict[TopicPartition, int] = field(default_factory=dict)
    errors: list[ReadError] = field(default_factory=list)


OnRound = Callable[[Instant, Round], None]


class Consumer:
    """Reads the assigned partitions, beginning at `positions`."""

    def __init__(
        self, name: str, requester: Requester, servers: tuple[Endpoint, ...], configs: ConsumerConfigs | None = None
    ) -> None:
        self.configs = configs or ConsumerConfigs()
        self.cluster = RemoteCluster(
            name, requester, servers, timeout_ms=self.configs.request_timeout_ms, on_refreshed=self._on_refreshed
        )
        replicas = ReadReplicas(self.cluster, self.configs.client_rack, self.configs.metadata_max_age_ms)
        self._replicas = replicas
        self._plan = FetchPlan(self.cluster, self.configs.max_partition_fetch_bytes, replicas)
        self.positions = self._plan.positions
        """Next position to read; a partition without one begins according to `auto.offset.reset`."""
        self._refresh_callbacks: list[Callable[[Instant, bool], None]] = []

    # -- rounds -------------------------------------------------------------------------------

    def find(self, now: Instant, topics: Iterable[str], on_round: OnRound) -> None:
        """Look the topics up, so that `partitions_of` knows them; `errors` has those that do not exist."""
        names = list(topics)
        self._plan.mark_stale(names)
        result = Round()
        self._find_leaders(now, names, [], result, lambda later: on_round(later, result))

    def partitions_of(self, topic: str) -> list[TopicPartition]:
        """Return the known partitions of a topic."""
        known = self.cluster.topics.get(topic)
        return [] if known is None else [TopicPartition(topic, n) for n in range(known.partitions)]

    def list_offsets(
        self, now: Instant, partitions: Iterable[TopicPartition], spec: OffsetSpec, on_round: OnRound
    ) -> None:
        """Request the first or last offsets of logs, in this isolation level; `offsets` has those that were found."""
        requested = list(partitions)
        result = Round()

        def request_offsets(later: Instant) -> None:
            self._request_offsets(later, requested, spec, result, lambda last: on_round(last, result))

        self._find_leaders(now, [tp.topic for tp in requested], requested, result, request_offsets)

    def poll(
        self, now: Instant, partitions: Iterable[TopicPartition], on_round: OnRound, *, max_wait_ms: int | None = None
    ) -> None:
        """Fetch once from each broker, after a look-up of the start offset of partitions without a position.

        Begin the next round only after this one has ended.
        """
        plan, result = self._plan, Round()
        plan.assign(partitions)
        wait_ms = self.configs.fetch_max_wait_ms if max_wait_ms is None else max_wait_ms

        def begin(later: Instant) -> None:
            self._request_offsets(later, plan.without_position(), self.configs.auto_offset_reset, result, fetch)

        def fetch(later: Instant) -> None:
            for tp, offset in result.offsets.items():
                self.positions.setdefault(tp, Position(offset))
            self._fetch(later, wait_ms, result, lambda last: on_round(last, result))

        plan.is_settled = plan.is_settled or not self._needs_lookup(plan.topics, plan.assigned)
        if plan.is_settled:
            begin(now)
        else:
            self._look_up(now, plan.topics, plan.assigned, result, begin)

    # -- leaders ------------------------------------------------------------------------------

    def _find_leaders(
        self,
        now: Instant,
        topics: Iterable[str],
        partitions: Iterable[TopicPartition],
        result: Round,
        on_done: Callable[[Instant], None],
    ) -> None:
        """Look topics up if their metadata is incomplete, and continue; `found.errors` gets those that do not exist.

        `partitions` are the partitions of the topics that will be requested; a topic may have grown since it was looked
        up.
        """
        names, requested = list(dict.fromkeys(topics)), list(partitions)
        if self._needs_lookup(names, requested):
            self._look_up(now, names, requested, result, on_done)
        else:
            on_done(now)

    def _needs_lookup(self, names: Iterable[str], requested: Iterable[TopicPartition]) -> bool:
        """Return whether a leader of the topics is unknown, or one of the partitions is."""
        return bool(self._nonexistent(requested)) or any(
            name in self._plan.stale_topics or not self._has_leaders(name) for name in names
        )

    def _look_up(
        self,
        now: Instant,
        names: Sequence[str],
        requested: Sequence[TopicPartition],
        result: Round,
        on_done: Callable[[Instant], None],
    ) -> None:
        def continue_round(later: Instant, has_response: bool) -> None:
            for name in names:
                error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if name in self.cluster.missing_topics else ErrorCode.NONE
                error = self.cluster.topic_errors.get(name, error)
                if name in self.cluster.missing_topics or (error and not error.retriable):
                    result.errors.append(ReadError(name, error))
            if has_response:
                nonexistent = self._nonexistent(requested)
                result.errors += (ReadError(tp, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) for tp in nonexistent)
            on_done(later)

        self._refresh_callbacks.append(continue_round)
        self.cluster.refresh(now, names)

    def _nonexistent(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Return the partitions whose topic is known and has no partition of that number."""
        topics = self.cluster.topics
        return [tp for tp in partitions if tp.topic in topics and not 0 <= tp.partition < topics[tp.topic].partitions]

    def _has_leaders(self, topic: str) -> bool:
        partitions = self.partitions_of(topic)
        return bool(partitions) and all(self.cluster.leader_endpoint(tp) is not None for tp in partitions)

    def _on_refreshed(self, now: Instant, changes: Changes | None) -> None:
        has_response = changes is not None
        if has_response:
            self._plan.stale_topics.clear()
        self._plan.recheck_all()
        callbacks, self._refresh_callbacks = self._refresh_callbacks, []
        for on_done in callbacks:
            on_done(now, has_response)

    def _by_leader(self, partitions: Iterable[TopicPartition]) -> dict[Endpoint, list[TopicPartition]]:
        result: dict[Endpoint, list[TopicPartition]] = {}
        for tp in partitions:
            endpoint = self._plan.leader_endpoint(tp)
            if endpoint is not None:
                result.setdefault(endpoint, []).append(tp)
        return result

    def _epoch(self, tp: TopicPartition) -> int:
        leader = self.cluster.leader(tp)
        assert leader is not None, f"the leader of {tp} was found"
        return leader.epoch

    def _mark_stale(self, partitions: Iterable[TopicPartition]) -> None:
        self._plan.mark_stale(tp.topic for tp in partitions)

    # -- offsets ------------------------------------------------------------------------------

    def _request_offsets(
        self,
        now: Instant,
        partitions: Iterable[TopicPartition],
        spec: OffsetSpec,
        result: Round,
        on_done: Callable[[Instant], None],
    ) -> None:
        by_leader = self._by_leader(partitions)
        count_response = _call_after(len(by_leader), now, on_done)
        for endpoint, tps in by_leader.items():
            request = list_offsets({tp: self._epoch(tp) for tp in tps}, spec, self.configs.isolation_level)

            def on_reply(later: Instant, reply: Message | None, tps: list[TopicPartition] = tps) -> None:
                if isinstance(reply, ListOffsetsResponse):
                    self._on_offsets(reply, result)
                else:
                    self._mark_stale(tps)
                count_response(later)

            self.cluster.send(now, endpoint, "offsets", request, on_reply)

    def _on_offsets(self, reply: ListOffsetsResponse, result: Round) -> None:
        for topic in reply.topics:
            for row in topic.partitions:
                tp, error = TopicPartition(topic.name, row.partition_index), code_of(row.error_code)
                if not error and row.offset >= 0:
                    result.offsets[tp] = row.offset
                elif not error or error.retriable:
                    self._mark_stale([tp])
                else:
                    result.errors.append(ReadError(tp, error))

    # -- records ------------------------------------------------------------------------------

    def _fetch(
        self,
        now: Instant,
        max_wait_ms: int,
        result: Round,
        on_done: Callable[[Instant], None],
    ) -> None:
        endpoints = self._plan.update_sessions(now)
        count_response = _call_after(len(endpoints), now, on_done)
        for endpoint in endpoints:
            session = self._plan.sessions[endpoint]
            request = FetchRequest(
                replica_id=CONSUMER_REPLICA_ID,
                max_wait_ms=max_wait_ms,
                min_bytes=self.configs.fetch_min_bytes,
                max_bytes=self.configs.fetch_max_bytes,
                isolation_level=self.configs.isolation_level,
            )
            self._plan.fill(endpoint, request)

            def on_reply(later: Instant, reply: Message | None, endpoint: Endpoint = endpoint) -> None:
                session = self._plan.sessions[endpoint]
                if not isinstance(reply, FetchResponse) or reply.error_code:
                    session.reset()
                    self._mark_stale(session.partitions())
                    for tp in session.partitions() if reply is None else ():
                        self._plan.return_to_leader(tp)
                else:
                    session.accept(reply)
                    self._handle_response(later, reply, endpoint, result)
                count_response(later)

            # A broker before 2.8 has no topic ids.
            version_max = NAMED_TOPICS_LAST[request.NAME] if session.names_topics else None
            timeout_ms = self.configs.request_timeout_ms + max_wait_ms
            self.cluster.send(now, endpoint, "fetch", request, on_reply, version_max=version_max, timeout_ms=timeout_ms)

    def _handle_response(self, now: Instant, reply: FetchResponse, endpoint: Endpoint, result: Round) -> None:
        session = self._plan.sessions[endpoint]
        failed: dict[TopicPartition, None] = {}
        for topic in reply.responses:
            name = topic.topic or session.topic_name(topic.topic_id)
            for data in topic.partitions:
                tp = TopicPartition(name, data.partition_index)
                position = self._plan.fetched_position(endpoint, tp)
                if position is None or self.positions.get(tp) is not position:
                    session.reset()  # The position was moved meanwhile; a new session repeats the dropped response.
                    failed[tp] = None
                    continue
                if data.error_code or data.diverging_epoch.epoch != NO_EPOCH:
                    failed[tp] = None
                elif data.preferred_read_replica >= 0:
                    self._plan.prefer(now, tp, data.preferred_read_replica)
                outcome = self._handle_partition(tp, position, data)
                if isinstance(outcome, ReadError):
                    result.errors.append(outcome)
                elif outcome is not None:
                    result.fetched[tp] = outcome
        self._replicas.on_answer(endpoint, failed)

    def _handle_partition(
        self, tp: TopicPartition, position: Position, data: PartitionData
    ) -> FetchedRecords | ReadError | None:
        """Return the records or the refusal in a broker's response; None if the next round must fetch again."""
        error = code_of(data.error_code)
        if error is ErrorCode.OFFSET_OUT_OF_RANGE:
            if not self._plan.return_to_leader(tp):
                del self.positions[tp]
            return None
        if error and not error.retriable:
            return ReadError(tp, error)
        if error:
            if error is not ErrorCode.UNKNOWN_LEADER_EPOCH:  # The replica will learn the epoch soon.
                self._plan.return_to_leader(tp)
            hint = data.current_leader
            if hint.leader_id >= 0:  # KIP-951
                if self.cluster.record_leader(tp, hint.leader_id, hint.leader_epoch):
                    self._plan.recheck_all()
            else:
                self._mark_stale([tp])
            return None
        if data.diverging_epoch.epoch != NO_EPOCH:
            self.positions[tp] = Position(data.diverging_epoch.end_offset, data.diverging_epoch.epoch)
            return None
        try:
            return self._read(tp, position, data)
        except CorruptBatch:
            return ReadError(tp, ErrorCode.CORRUPT_MESSAGE)

    def _read(self, tp: TopicPartition, position: Position, data: PartitionData) -> FetchedRecords:
        after = position
        records: list[ConsumerRecord] = []
        aborted = [(row.producer_id, row.first_offset) for row in data.aborted_transactions or ()]
        batches = iter_any_batches(bytes(data.records or b""), check_crc=self.configs.check_crcs)
        try:
            for batch, is_aborted in with_aborted(batches, aborted):
                epoch = batch.partition_leader_epoch
                after = Position(max(after.offset, batch.last_offset + 1), epoch)
                if batch.is_control or is_aborted:
                    continue
                records += (
                    ConsumerRecord(
                        tp.topic, tp.partition, r.offset, r.timestamp, r.key, r.value, tuple(r.headers), epoch
                    )
                    for r in batch.records()
                    if r.offset >= position.offset
                )
        except TornBatch:
            if after is position:
                raise  # The first batch of a response is always whole, so this one is damaged.
        return FetchedRecords(position, records, after)


def _call_after(count: int, now: Instant, on_done: Callable[[Instant], None]) -> Callable[[Instant], None]:
    """Return a function to call for each of `count` responses; the last call calls `on_done` (at once for 0)."""
    left = count

    def count_down(later: Instant) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            on_done(later)

    if count == 0:
        on_done(now)
    return count_down
