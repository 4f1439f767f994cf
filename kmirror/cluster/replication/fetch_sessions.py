"""Incremental fetch sessions (KIP-227): the broker remembers a fetcher's partitions between its fetches.

A session has an id and an epoch that counts its requests. Epoch 0 opens a session and names all partitions; later
requests name only changes; epoch -1 closes it. Responses within a session leave out partitions without new data
(records, changed offsets, errors).

A fetch examines only partitions that may have new data: those named in its request, those changed since they were last
examined, and those not settled then. A partition is settled when the fetcher has all records that it may read and all
offsets, and a follower is in the ISR. From its first examination on, each partition of a session is a `Watcher` of its
`Partition` and is notified of changes; `partition.py` lists them. A fetch without a session is served as a session that
ends with its response.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from operator import attrgetter

from kmirror.cluster.node.partition import FetchClock, Follower, Partition
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest
from kmirror.protocol.gen.fetch_response import PartitionData
from kmirror.spec.error_codes import ErrorCode

INITIAL_EPOCH = 0
FINAL_EPOCH = -1
NO_SESSION = 0
TURN = attrgetter("turn")
"""Sort key for the order in which a session's partitions are served."""

Key = tuple[str, Uuid, int]
"""Topic name (empty from Fetch v13 on), topic id (zero before), partition index."""


UNKNOWN_HIGH_WATERMARK = 0x7FFFFFFFFFFFFFFF


def knows_lower_watermark(request: FetchPartition, data: PartitionData) -> bool:
    """Return whether the fetcher's high watermark is lower than it could be now (KIP-1166)."""
    known = request.high_watermark
    return known != UNKNOWN_HIGH_WATERMARK and known < data.high_watermark and known < request.fetch_offset


@dataclass(slots=True, eq=False)
class CachedPartition:
    """One partition of a session: the newest request for it, and the offsets in its last row."""

    session: Session
    key: Key
    request: FetchPartition
    turn: int
    """Position in the order of service: lower turns are served first (KIP-227)."""
    tp: TopicPartition | None = None
    """Its topic partition, None while no topic has the topic id."""
    partition: Partition | None = None
    """The watched partition, None if none is watched."""
    follower: Follower | None = None
    """The follower that uses this session's clock."""
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1

    def has_new_data(self, data: PartitionData) -> bool:
        """Return whether `data` has something that the last row did not have, or that did not reach the fetcher.

        A divergence is always new data; callers that found one need not call this.
        """
        return bool(
            data.records
            or data.error_code
            or data.high_watermark != self.high_watermark
            or data.last_stable_offset != self.last_stable_offset
            or data.log_start_offset != self.log_start_offset
            or data.preferred_read_replica >= 0
            or knows_lower_watermark(self.request, data)
        )

    def save_offsets(self, data: PartitionData) -> None:
        """Remember the offsets of a row; none after an error, so that the next response includes the partition."""
        failed = data.error_code != 0
        self.high_watermark = -1 if failed else data.high_watermark
        self.last_stable_offset = -1 if failed else data.last_stable_offset
        self.log_start_offset = -1 if failed else data.log_start_offset

    # -- the partition ------------------------------------------------------------------------

    def watch(self, partition: Partition) -> None:
        """Watch the partition for changes."""
        self.partition = partition
        partition.watch(self)

    @property
    def parked_keys(self) -> Collection[int]:
        return self.session.parked_keys

    def on_changed(self) -> None:
        self.session.changed[self.key] = self

    def on_dropped(self) -> None:
        self.partition = None

    def settle(self, follower: Follower | None) -> None:
        """Examine the partition again only after a change; until then the session's clock is the fetch time of
        `follower`."""
        self.session.unsettled.pop(self.key, None)
        if follower is not None:
            self.follower = follower
            follower.clock = self.session.clock

    def stop_clock(self) -> None:
        """Copy the session's last fetch time to the follower, and detach it from the clock."""
        follower, self.follower = self.follower, None
        if follower is not None and follower.clock is self.session.clock:
            follower.stop_clock()

    def release(self) -> None:
        """Release the partition and the follower."""
        self.stop_clock()
        if self.partition is not None:
            self.partition.unwatch(self)
            self.partition = None


@dataclass(slots=True)
class Session:
    """One session: the next expected epoch, and its partitions."""

    session_id: int
    epoch: int
    topic_ids: bool
    is_kept: bool = True
    """True if another fetch may follow; else the session is released when no request waits in it."""
    partitions: dict[Key, CachedPartition] = field(default_factory=dict)
    changed: dict[Key, CachedPartition] = field(default_factory=dict)
    """Partitions changed since they were last examined."""
    unsettled: dict[Key, CachedPartition] = field(default_factory=dict)
    """Partitions that are new, or were not settled when last examined."""
    parked_keys: dict[int, None] = field(default_factory=dict)
    """Key of the parked fetch, if any; the next fetch ends its wait."""
    clock: FetchClock = field(default_factory=FetchClock)
    fetcher: object = None
    """Properties of the fetcher that affect all rows: if they change, all partitions are examined again."""
    turns: int = 0
    empty_fetch: object = None
    """The newest fetch if its response had no new data: an identical request reuses it."""

    def add(self, key: Key, request: FetchPartition) -> None:
        """Add or update a partition named in a request."""
        cached = self.partitions.get(key)
        if cached is None:
            self.turns += 1
            cached = self.partitions[key] = CachedPartition(self, key, request, self.turns)
        else:
            cached.request = request
        if self.is_kept:
            self.unsettled[key] = cached

    def remove(self, key: Key) -> None:
        """Remove a partition from the session."""
        cached = self.partitions.pop(key, None)
        if cached is not None:
            cached.release()
            self.changed.pop(key, None)
            self.unsettled.pop(key, None)

    def take_due(self, fetcher: object) -> list[CachedPartition]:
        """Return the partitions that `fetcher` must examine, in order of service; they stay due until settled."""
        if not self.is_kept:
            return list(self.partitions.values())
        if fetcher != self.fetcher:
            self.fetcher = fetcher
            self.unsettled.update(self.partitions)
        self.unsettled.update(self.changed)
        self.changed.clear()
        return sorted(self.unsettled.values(), key=TURN)

    def take_changed(self) -> list[CachedPartition]:
        """Return partitions changed while a fetch waits, in order of service; the next fetch examines them again."""
        changed = sorted(self.changed.values(), key=TURN)
        self.unsettled.update(self.changed)
        self.changed.clear()
        return changed

    def serve_last(self, cached: CachedPartition) -> None:
        """Move a partition that returned records to the end of the order of service (KIP-227)."""
        self.turns += 1
        cached.turn = self.turns

    def end(self) -> None:
        """Mark the session as ended: no more fetches are expected."""
        self.is_kept = False
        self.release()

    def release(self) -> None:
        """Release all partitions if the session has ended and no fetch waits."""
        if not self.is_kept and not self.parked_keys:
            for cached in self.partitions.values():
                cached.release()


class FetchSessions:
    """The sessions of one broker; when all slots are taken, the least recently used session is evicted."""

    def __init__(self, rng: Rng, slots: int) -> None:
        self._rng = rng
        self._slots = slots
        self._sessions: dict[int, Session] = {}

    def resolve(self, request: FetchRequest, *, topic_ids: bool, may_open: bool = True) -> tuple[ErrorCode, Session]:
        """Return an error, and the session after the request's changes.

        A fetch without a session gets an unkept session with the id NO_SESSION; so does a request for a new session if
        `may_open` is False. `topic_ids` is True if the request has topic ids; this must not change within a session.
        Errors: FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH and FETCH_SESSION_TOPIC_ID_ERROR.
        """
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            known = self._sessions.pop(request.session_id, None)
            if known is not None:
                known.end()
            if (
                request.session_epoch == FINAL_EPOCH
                or self._slots == 0
                or not may_open
                or not any(t.partitions for t in request.topics)
            ):
                return ErrorCode.NONE, _add_requested(request, _temporary_session(topic_ids))
            return ErrorCode.NONE, _add_requested(request, self._open(topic_ids))
        found = self._sessions.pop(request.session_id, None)
        if found is None:
            return ErrorCode.FETCH_SESSION_ID_NOT_FOUND, _temporary_session(topic_ids)
        self._sessions[found.session_id] = found  # The dict is ordered by last use.
        if request.session_epoch != found.epoch:
            return ErrorCode.INVALID_FETCH_SESSION_EPOCH, _temporary_session(topic_ids)
        if topic_ids != found.topic_ids:
            return ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, _temporary_session(topic_ids)
        found.epoch = found.epoch % 0x7FFFFFFF + 1
        _add_requested(request, found)
        for forgotten in request.forgotten_topics_data:  # Forgotten even if also named, as in Kafka.
            for index in forgotten.partitions:
                found.remove((forgotten.topic, forgotten.topic_id, index))
        if not found.partitions:  # The session ends; this request is served without one.
            del self._sessions[found.session_id]
            found.end()
            return ErrorCode.NONE, _add_requested(request, _temporary_session(topic_ids))
        return ErrorCode.NONE, found

    def partitions(self, session_id: int) -> list[Key]:
        """Return the partitions of a session in the order in which they were first named; [] for an unknown session."""
        found = self._sessions.get(session_id)
        return [] if found is None else list(found.partitions)

    def _open(self, topic_ids: bool) -> Session:
        while len(self._sessions) >= self._slots:
            self._sessions.pop(next(iter(self._sessions))).end()
        session_id = self._rng.between(1, 0x7FFFFFFF)
        while session_id in self._sessions:
            session_id = self._rng.between(1, 0x7FFFFFFF)
        session = self._sessions[session_id] = Session(session_id, epoch=1, topic_ids=topic_ids)
        return session


def _temporary_session(topic_ids: bool) -> Session:
    return Session(NO_SESSION, epoch=INITIAL_EPOCH, topic_ids=topic_ids, is_kept=False)


def keys_of(request: FetchRequest) -> list[Key]:
    """Return the partitions named in a request, in its order."""
    return [(each.topic, each.topic_id, row.partition) for each in request.topics for row in each.partitions]


def _add_requested(request: FetchRequest, session: Session) -> Session:
    """Return the session after adding the partitions of the request."""
    for topic in request.topics:
        name, topic_id = topic.topic, topic.topic_id
        for partition in topic.partitions:
            session.add((name, topic_id, partition.partition), partition)
    return session
