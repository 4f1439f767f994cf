"""Fetch, versions 4-19.

Serves followers (replica id >= 0) and consumers (-1), with sessions from v7, topic ids from v13, divergence from v12
(KIP-595), the follower's high watermark in v18 (KIP-1166) and MirrorLeaderEpoch in v19 (D13).

A fetch waits until min_bytes are available, max_wait_ms has passed, or something cannot wait: an error, a divergence,
or a high watermark that the follower does not know yet. It examines the partitions of its session that may have new
data (`fetch_sessions.py`) and reads each of them once; while it waits, it examines those that change again.

A follower needs CLUSTER_ACTION on the cluster, any other client READ on each examined topic. A client that loses READ
within a session gets the error when there would be something to read. An unknown isolation level fails the whole
request with UNKNOWN_SERVER_ERROR if there is anything to read, like Kafka.

From v11 a follower serves consumers, and a leader with `replica.selector.class` returns the preferred read replica and
no records to consumers that send a rack (KIP-392). Left out: quotas, tiered storage.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from kmirror.cluster.authorizer import CLUSTER, Resource
from kmirror.cluster.broker.apis import fast_fetch
from kmirror.cluster.broker.apis.fast_fetch import RACKS_FROM, TOPIC_IDS_FROM, rack_of, replica_of
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.node.partition import UNKNOWN_OFFSET, Follower, Partition
from kmirror.cluster.replication.fetch_read import (
    NO_EPOCH,
    Reader,
    check_fetch,
    end_for,
    error_row,
    read,
    replica_error,
)
from kmirror.cluster.replication.fetch_sessions import (
    INITIAL_EPOCH,
    NO_SESSION,
    TURN,
    CachedPartition,
    Key,
    Session,
    keys_of,
    knows_lower_watermark,
)
from kmirror.cluster.replication.read_replica import preferred_read_replica
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest
from kmirror.protocol.gen.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation, IsolationLevel

DIVERGENCE_FROM = 12
"""First version with the DivergingEpoch field (KIP-595)."""
LEVELS = frozenset(IsolationLevel)
CURRENT_LEADER_FROM = 16
"""First version in which an error names the current leader (KIP-951)."""
LEADER_ERRORS = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


def handle(parts: BrokerParts, now: Instant, inbound: Inbound[FetchRequest]) -> None:
    """Reply at once or park the fetch; session errors are top-level, other errors are per partition."""
    request = inbound.body
    request.max_bytes = min(request.max_bytes, parts.context.configs.integer("fetch.max.bytes"))
    if request.session_epoch <= INITIAL_EPOCH:
        fast_response = fast_fetch.respond(parts, inbound, request)
        if fast_response is not None:
            inbound.reply(fast_response)
            return
    has_level, by_id = request.isolation_level in LEVELS, inbound.version >= TOPIC_IDS_FROM
    may_open = has_level or not _has_readable_partition(parts, inbound, request, keys_of(request))
    error, session = parts.sessions.resolve(request, topic_ids=by_id, may_open=may_open)
    if error:
        inbound.reply(FetchResponse(error_code=error, session_id=NO_SESSION))
        return
    for waiting_id in list(session.parked_keys):
        parts.replicas.purgatory.unpark(now, waiting_id)
    fetch = session.empty_fetch
    if isinstance(fetch, _Fetch) and fetch.request is request:
        fetch.inbound, fetch.parked_key, fetch.epoch = inbound, 0, session.epoch
    else:
        if not has_level and _has_readable_partition(parts, inbound, request, session.partitions):
            inbound.reply(_error_response(request, inbound.version, ErrorCode.UNKNOWN_SERVER_ERROR))
            return
        fetch = _Fetch(parts, inbound, request, session)
    session.empty_fetch = None
    fetch.start(now)


def _has_readable_partition(
    parts: BrokerParts, inbound: Inbound[Message], request: FetchRequest, keys: Iterable[Key]
) -> bool:
    """Return whether one of these partitions exists and the client may read it."""
    is_follower = replica_of(request, inbound.version)[0] >= 0
    rights, image = inbound.rights, parts.context.image
    if is_follower and not rights.allow(AclOperation.CLUSTER_ACTION, CLUSTER):
        return False
    for topic, topic_id, index in keys:
        name = image.topics.names.get(topic_id) if inbound.version >= TOPIC_IDS_FROM else topic
        if name is None or image.topics.partition(TopicPartition(name, index)) is None:
            continue
        if is_follower or not rights.error(AclOperation.READ, Resource.topic(name)):
            return True
    return False


def _error_response(request: FetchRequest, version: int, error: ErrorCode) -> FetchResponse:
    """Return the response to a request that failed; with topic ids the rows are left out, as in Kafka."""
    rows = (
        []
        if version >= TOPIC_IDS_FROM
        else [
            FetchableTopicResponse(
                topic=topic.topic, partitions=[error_row(each.partition, error) for each in topic.partitions]
            )
            for topic in request.topics
        ]
    )
    return FetchResponse(error_code=error, session_id=request.session_id, responses=rows)


class _Fetch:
    """One fetch from arrival to response."""

    __slots__ = (
        "broker_epoch",
        "bytes_left_out",
        "bytes_read",
        "epoch",
        "inbound",
        "is_denied",
        "is_full",
        "lacks_divergence_field",
        "leaders",
        "min_bytes",
        "parked_key",
        "parts",
        "reader",
        "request",
        "rows",
        "session",
        "topic_errors",
        "total_left_out",
    )

    def __init__(self, parts: BrokerParts, inbound: Inbound[Message], request: FetchRequest, session: Session) -> None:
        replica, self.broker_epoch = replica_of(request, inbound.version)
        self.parts = parts
        self.inbound = inbound
        self.request = request
        self.session = session
        self.epoch = session.epoch
        """Session epoch when this fetch arrived; a later fetch has replaced this one if it has changed since."""
        self.is_full = request.session_epoch == INITIAL_EPOCH or session.session_id == NO_SESSION
        """True if the response has all partitions, else only those with new data."""
        self.reader = Reader(
            replica,
            request.isolation_level == IsolationLevel.READ_COMMITTED and replica < 0,
            leader_only=replica >= 0 or inbound.version < RACKS_FROM,
            rack="" if replica >= 0 else rack_of(parts, request, inbound.version),
        )
        self.is_denied = False
        """True if a follower may not fetch at all."""
        self.lacks_divergence_field = False
        """True if a partition diverged and the version has no field for it: the response is an error, as in Kafka."""
        self.topic_errors: dict[str, ErrorCode] = {}
        """Error of READ for each topic examined so far; each topic is checked once."""
        self.leaders: dict[int, None] = {}
        """Brokers named as current leaders in errors; the response has their endpoints."""
        self.rows: dict[CachedPartition, PartitionData] = {}
        """The response so far."""
        self.bytes_read = 0
        """Bytes of records in `rows`."""
        self.bytes_left_out: dict[CachedPartition, int] = {}
        """Bytes that the limits kept out of `rows`; 0 if min_bytes was already reached."""
        self.total_left_out = 0  # The sum of `bytes_left_out`.
        self.min_bytes = min(request.min_bytes, request.max_bytes)
        self.parked_key = 0
        """Key under which this fetch is parked, 0 if it is not."""

    def start(self, now: Instant) -> None:
        """Apply a follower's fetch offsets, then reply or park the fetch."""
        session, reader = self.session, self.reader
        if reader.is_follower:
            self.is_denied = not self.inbound.rights.allow(AclOperation.CLUSTER_ACTION, CLUSTER)
        due = session.take_due((reader, self.broker_epoch, self.is_denied))
        ready = False
        for cached in due:
            ready |= self._examine(now, cached, is_first=True)
        if reader.is_follower and not self.is_denied:
            session.clock.fetched_at = now  # Only now: the partitions above used the previous time.
        if (
            ready
            or self.bytes_read + self.total_left_out >= self.min_bytes
            or self.request.max_wait_ms <= 0
            or not session.partitions
        ):
            self._respond()
            return
        self.parked_key = self.parts.replicas.purgatory.park(now, self.request.max_wait_ms, self._attempt)
        session.parked_keys[self.parked_key] = None
        for cached in due:
            if cached.partition is None:
                self._find(cached)

    def _attempt(self, now: Instant, is_over: bool) -> bool:
        """Examine changed partitions; reply if there is enough or the time is up. Return whether a reply was sent."""
        session = self.session
        try:
            if session.epoch != self.epoch:
                # The fetcher has continued over another link and may never read this response, so that the session must
                # not count it as delivered.
                error = ErrorCode.INVALID_FETCH_SESSION_EPOCH
                self.inbound.reply(FetchResponse(error_code=error, session_id=session.session_id))
            else:
                ready = is_over
                for cached in session.take_changed():
                    ready |= self._examine(now, cached, is_first=False)
                if not ready and self.bytes_read + self.total_left_out < self.min_bytes:
                    return False
                self._read_first_batch(now)
                self._respond()
        except Exception as error:
            self.inbound.on_exception(error)
        session.parked_keys.pop(self.parked_key, None)
        session.release()
        return True

    def _read_first_batch(self, now: Instant) -> None:
        """Read the first batch that the limits kept out, if there are no records: records that were counted may be
        removed."""
        for cached in () if self.bytes_read else sorted(self.bytes_left_out, key=TURN):
            self._examine(now, cached, is_first=False)
            if self.bytes_read:
                break

    # -- one partition ------------------------------------------------------------------------

    def _examine(self, now: Instant, cached: CachedPartition, *, is_first: bool) -> bool:
        """Update the response for a partition; return whether the response cannot wait.

        The first call, when the fetch arrives, applies a follower's fetch offsets, and settles the partition if there
        is no new data.
        """
        if cached.follower is not None:
            cached.stop_clock()
        if not is_first:
            self._remove_row(cached)
        found = cached.partition or self._find(cached)
        if found is None or not self._is_readable(found):
            self._add_error(cached, error_row(cached.request.partition, self._error(cached, found)))
            return True
        requested, reader, components = cached.request, self.reader, self.parts.components
        follower = found.followers[reader.replica_id] if reader.replica_id >= 0 else None
        foreign = withheld = False
        if components.may_be_guarded(found.tp.topic):
            fetchers = self.parts.fetchers
            foreign = fetchers.has_foreign_epochs(found, components)
            withheld = fetchers.withholds_log(found, components)
        rejection = check_fetch(found, requested, reader, foreign=foreign)
        if is_first and follower is not None and rejection is None:
            self._apply_follower_fetch(now, found, follower, requested, withheld=withheld)
        if withheld:  # Wait until the records may be served (D30): the partition changes then.
            self.rows[cached] = error_row(requested.partition, ErrorCode.OFFSET_NOT_AVAILABLE)
            if is_first and (follower is None or rejection is not None):
                cached.settle(None)
            elif is_first and requested.fetch_offset >= found.log.log_end_offset:
                cached.settle(follower)
            return False
        if rejection is not None:
            self._add_error(cached, rejection)
            return True
        if follower is not None:
            self.session.changed.pop(cached.key, None)  # Changes by this fetch are in its own response.
        if reader.rack and self._add_preferred_replica(now, cached, found):
            return is_first
        end = end_for(found.log, reader)
        data = self._read(cached, found, end, foreign=foreign)
        if self.is_full or cached.has_new_data(data):
            self.rows[cached] = data
        elif (
            is_first
            and requested.fetch_offset >= end
            and not reader.rack  # Each fetch chooses the preferred replica again.
            and (follower is None or reader.replica_id in found.image.isr)
        ):
            cached.settle(follower)
        # The leader's log may have been truncated since the fetch arrived: then the follower must fetch again.
        return follower is not None and (knows_lower_watermark(requested, data) or follower.log_end == UNKNOWN_OFFSET)

    def _is_readable(self, partition: Partition) -> bool:
        """Return whether a partition may be read at all; else `_error` returns the reason."""
        reader, topic = self.reader, partition.tp.topic
        if self.is_denied or (reader.leader_only and partition.image.leader != partition.broker_id):
            return False
        if reader.replica_id >= 0:
            return reader.replica_id in partition.followers
        error = self.topic_errors.get(topic)
        if error is None:
            error = self._topic_error(topic)
        return error is ErrorCode.NONE

    def _add_preferred_replica(self, now: Instant, cached: CachedPartition, partition: Partition) -> bool:
        """Add a row with the preferred read replica and no records; return False if there is no better replica."""
        requested, log, listener = cached.request, partition.log, self.inbound.client.listener
        image = self.parts.context.image
        replica = preferred_read_replica(now, partition, image, listener, self.reader.rack, requested.fetch_offset)
        if replica is None:
            return False
        self.rows[cached] = PartitionData(
            partition_index=requested.partition,
            high_watermark=log.high_watermark,
            last_stable_offset=log.last_stable_offset,
            log_start_offset=log.log_start_offset,
            aborted_transactions=None,
            preferred_read_replica=replica,
            records=b"",
        )
        return True

    def _topic_error(self, topic: str) -> ErrorCode:
        error = self.topic_errors.get(topic)
        if error is None:
            error = self.inbound.rights.error(AclOperation.READ, Resource.topic(topic))
            self.topic_errors[topic] = error
        return error

    def _error(self, cached: CachedPartition, partition: Partition | None) -> ErrorCode:
        """Return why the partition cannot be read at any offset; `partition` is None if it is not here."""
        tp = cached.tp
        if self.is_denied:
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED
        if tp is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        if not self.reader.is_follower:
            error = self._topic_error(tp.topic)
            if error:
                return error
        if partition is None:
            return self.parts.replicas.partitions.not_led_error(tp)
        error = replica_error(partition, cached.request.current_leader_epoch, leader_only=True)
        if error:
            return error
        # The leader does not list the fetcher as a replica. Only a leader epoch shows which of the two is behind.
        knows_epoch = cached.request.current_leader_epoch != NO_EPOCH
        return ErrorCode.UNKNOWN_LEADER_EPOCH if knows_epoch else ErrorCode.NOT_LEADER_OR_FOLLOWER

    def _find(self, cached: CachedPartition) -> Partition | None:
        """Return the partition if this broker has it; watch it if this fetch waits or its session is kept."""
        topic, topic_id, index = cached.key
        name = self.parts.context.image.topics.names.get(topic_id) if self.session.topic_ids else topic
        tp = None if name is None else TopicPartition(name, index)
        partition = None if tp is None else self.parts.replicas.partitions.get(tp)
        cached.tp = tp if partition is None else partition.tp  # Equal, but a session keeps it: no second object.
        if partition is not None and (self.session.is_kept or self.parked_key):
            cached.watch(partition)
        return partition

    def _apply_follower_fetch(
        self, now: Instant, partition: Partition, follower: Follower, requested: FetchPartition, *, withheld: bool
    ) -> None:
        """Take a follower's fetch offset as its log end; not called for a fetch that gets an error or divergence."""
        parts, replica, tp = self.parts, self.reader.replica_id, partition.tp
        if follower.clock is not None:
            partition.notify_watchers()  # Another session must examine it before its clock counts again.
        partition.on_follower_fetch(
            now,
            replica,
            requested.fetch_offset,
            broker_epoch=self.broker_epoch,
            log_start=requested.log_start_offset,
        )
        if partition.confirm_cut(replica):
            parts.components.on_cut_confirmed(now, tp)
        if not withheld:
            parts.isr.maybe_expand(now, partition, replica)
        if partition.advance_high_watermark():
            parts.replicas.changes.mark_changed(tp)
        else:
            parts.replicas.changes.mark_fetched(tp)

    def _read(self, cached: CachedPartition, partition: Partition, end: int, *, foreign: bool) -> PartitionData:
        """Read within the limits, and count the bytes read and left out.

        The first partition with records may exceed the limits by one batch, so that every fetch makes progress.
        """
        requested, partition_max = cached.request, cached.request.partition_max_bytes
        remaining = self.request.max_bytes - self.bytes_read
        limit = partition_max if partition_max < remaining else remaining
        data = read(
            partition,
            requested,
            self.reader,
            end_offset=end,
            max_bytes=limit,
            min_one=not self.bytes_read,
            foreign=foreign,
        )
        size = len(data.records or b"")
        self.bytes_read += size
        is_short = requested.fetch_offset < end and (not size or limit < partition_max)
        if is_short:
            missing = 0
            if partition_max > 0 and self.bytes_read + self.total_left_out < self.min_bytes:
                log, offset = partition.log, requested.fetch_offset
                missing = len(log.read(offset, max_bytes=partition_max, end_offset=end, min_one=True).records) - size
            self.bytes_left_out[cached] = missing
            self.total_left_out += missing
        return data

    def _add_error(self, cached: CachedPartition, data: PartitionData) -> None:
        """Add a row with an error or a divergence; an error that depends on the leader names the current leader."""
        if data.error_code in LEADER_ERRORS and self.inbound.version >= CURRENT_LEADER_FROM and cached.tp is not None:
            partition = self.parts.replicas.partitions.get(cached.tp)
            if partition is not None:
                leader = partition.image.leader
                data.current_leader = LeaderIdAndEpoch(leader_id=leader, leader_epoch=partition.leader_epoch)
                self.leaders[leader] = None
        elif self.inbound.version < DIVERGENCE_FROM and not data.error_code:
            self.lacks_divergence_field = True
        self.rows[cached] = data

    def _remove_row(self, cached: CachedPartition) -> None:
        """Remove a partition's row from the response before it is read again."""
        row = self.rows.pop(cached, None)
        if row is not None:
            self.bytes_read -= len(row.records or b"")
        self.total_left_out -= self.bytes_left_out.pop(cached, 0)

    # -- the response -------------------------------------------------------------------------

    def _respond(self) -> None:
        session, rows, listener = self.session, self.rows, self.inbound.client.listener
        if not rows:
            if not self.bytes_read and not self.total_left_out:
                self.topic_errors.clear()
                session.empty_fetch = self
            self.inbound.reply_encoded(_empty_response(session.session_id, self.inbound.version))
            return
        topics: dict[tuple[str, Uuid], list[PartitionData]] = {}
        for cached in sorted(rows, key=TURN):
            data = rows[cached]
            if session.session_id != NO_SESSION:
                if data.error_code == ErrorCode.OFFSET_NOT_AVAILABLE and not self.is_full:
                    continue  # Not decided yet; an error would make the fetcher pause.
                cached.save_offsets(data)
                if data.records:
                    session.serve_last(cached)
            topic = cached.key[:2]
            if topic in topics:
                topics[topic].append(data)
            else:
                topics[topic] = [data]
        if self.lacks_divergence_field:
            error = ErrorCode.UNSUPPORTED_VERSION
            self.inbound.reply(FetchResponse(error_code=error, session_id=session.session_id))
            return
        self.inbound.reply(
            FetchResponse(
                session_id=session.session_id,
                responses=[
                    FetchableTopicResponse(topic=topic, topic_id=topic_id, partitions=partitions)
                    for (topic, topic_id), partitions in topics.items()
                ],
                node_endpoints=[
                    NodeEndpoint(node_id=leader, host=found.host, port=found.port)
                    for leader in self.leaders
                    if (found := self.parts.context.image.brokers.endpoint(leader, listener)) is not None
                ],
            )
        )


@lru_cache(maxsize=1_000)
def _empty_response(session_id: int, version: int) -> bytes:
    """Return an encoded response without new data; cached, because a session repeats it often."""
    return FetchResponse(session_id=session_id).encode(version)
