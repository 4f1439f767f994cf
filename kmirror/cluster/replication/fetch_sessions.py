"""Incremental fetch sessions (KIP-227): the broker remembers the partitions of a fetcher between its fetches.

A session is named by an id and counts its requests by an epoch. Epoch 0 opens a session and names
all partitions; later requests name only what changed; epoch -1 closes it. An answer within a
session leaves out partitions without news.

A fetch looks only at what may have news: the partitions that its request names, those that moved since they were looked
at, and those that were not settled when they were. A partition is settled when the fetcher has all that it may read and
was told all offsets, and a follower is in the ISR. Each partition of a session is a `Watcher` of its `Partition`, from
the first look on, and so hears when it moves; what makes a partition move is listed there. A fetch without a session
is served as one that ends with its answer.
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
"""By this the partitions of a session are sorted into the order in which they are served."""

Key = tuple[str, Uuid, int]
"""Topic name (empty from Fetch v13 on), topic id (zero before), partition index."""


UNKNOWN_HIGH_WATERMARK = 0x7FFFFFFFFFFFFFFF


def knows_too_low(request: FetchPartition, data: PartitionData) -> bool:
    """Return whether the high watermark that the fetcher names is lower than it could be now (KIP-1166)."""
    known = request.high_watermark
    return known != UNKNOWN_HIGH_WATERMARK and known < data.high_watermark and known < request.fetch_offset


@dataclass(slots=True, eq=False)
class CachedPartition:
    """One partition of a session: the newest request for it, and the offsets in its last answer."""

    session: Session
    key: Key
    request: FetchPartition
    turn: int
    """The partitions are served in the order of their turns (KIP-227)."""
    tp: TopicPartition | None = None
    """Its name, None while no topic has the topic id."""
    partition: Partition | None = None
    """What is watched, None if nothing is."""
    follower: Follower | None = None
    """The follower for which this session's clock stands."""
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1

    def has_news(self, data: PartitionData) -> bool:
        """Return whether `data` has anything that the last answer did not have, or that did not reach the fetcher.

        A divergence is always news; who found it need not ask.
        """
        return bool(
            data.records
            or data.error_code
            or data.high_watermark != self.high_watermark
            or data.last_stable_offset != self.last_stable_offset
            or data.log_start_offset != self.log_start_offset
            or data.preferred_read_replica >= 0
            or knows_too_low(self.request, data)
        )

    def remember(self, data: PartitionData) -> None:
        """Remember the offsets of an answer; after an error none, so that the next answer has the partition again."""
        failed = data.error_code != 0
        self.high_watermark = -1 if failed else data.high_watermark
        self.last_stable_offset = -1 if failed else data.last_stable_offset
        self.log_start_offset = -1 if failed else data.log_start_offset

    # -- the partition ------------------------------------------------------------------------

    def watch(self, partition: Partition) -> None:
        """Hear of it when the partition moves, from now on."""
        self.partition = partition
        partition.watch(self)

    @property
    def parked(self) -> Collection[int]:
        return self.session.parked

    def moved(self) -> None:
        self.session.moved[self.key] = self

    def dropped(self) -> None:
        self.partition = None

    def settle(self, follower: Follower | None) -> None:
        """Look at the partition again only when it moves; until then the clock tells when `follower` has fetched."""
        self.session.unsettled.pop(self.key, None)
        if follower is not None:
            self.follower = follower
            follower.clock = self.session.clock

    def stop_clock(self) -> None:
        """Tell the follower the time of the session's last fetch, and do not stand for it any longer."""
        follower, self.follower = self.follower, None
        if follower is not None and follower.clock is self.session.clock:
            follower.stop_clock()

    def leave(self) -> None:
        """Let go of the partition, and of the follower."""
        self.stop_clock()
        if self.partition is not None:
            self.partition.unwatch(self)
            self.partition = None


@dataclass(slots=True)
class Session:
    """One session: the epoch expected next, and its partitions."""

    session_id: int
    epoch: int
    topic_ids: bool
    is_kept: bool = True
    """Whether another fetch may follow; else it is let go of as soon as no request waits in it."""
    partitions: dict[Key, CachedPartition] = field(default_factory=dict)
    moved: dict[Key, CachedPartition] = field(default_factory=dict)
    """What moved since it was looked at."""
    unsettled: dict[Key, CachedPartition] = field(default_factory=dict)
    """What is new, or was not settled when it was looked at."""
    parked: dict[int, None] = field(default_factory=dict)
    """The key of the fetch that waits, if one does: the next one ends its wait."""
    clock: FetchClock = field(default_factory=FetchClock)
    asker: object = None
    """What the answers depend on beside the partitions' requests: if that changes, all are looked at again."""
    turns: int = 0
    quiet: object = None
    """The newest fetch, if its answer had no news: the same request again takes it up."""

    def name(self, key: Key, request: FetchPartition) -> None:
        """Take over what a request names."""
        cached = self.partitions.get(key)
        if cached is None:
            self.turns += 1
            cached = self.partitions[key] = CachedPartition(self, key, request, self.turns)
        else:
            cached.request = request
        if self.is_kept:
            self.unsettled[key] = cached

    def forget(self, key: Key) -> None:
        """Take a partition out of the session."""
        cached = self.partitions.pop(key, None)
        if cached is not None:
            cached.leave()
            self.moved.pop(key, None)
            self.unsettled.pop(key, None)

    def take_due(self, asker: object) -> list[CachedPartition]:
        """Return what a fetch by `asker` has to look at, in the order of service; it stays due until it is settled."""
        if not self.is_kept:
            return list(self.partitions.values())
        if asker != self.asker:
            self.asker = asker
            self.unsettled.update(self.partitions)
        self.unsettled.update(self.moved)
        self.moved.clear()
        return sorted(self.unsettled.values(), key=TURN)

    def take_moved(self) -> list[CachedPartition]:
        """Return what moved while a fetch waits, in the order of service; the next fetch looks at it again."""
        moved = sorted(self.moved.values(), key=TURN)
        self.unsettled.update(self.moved)
        self.moved.clear()
        return moved

    def serve_last(self, cached: CachedPartition) -> None:
        """Put a partition that was given records to the end of the order of service (KIP-227)."""
        self.turns += 1
        cached.turn = self.turns

    def end(self) -> None:
        """Expect no more fetches."""
        self.is_kept = False
        self.let_go()

    def let_go(self) -> None:
        """Let go of all partitions, if no fetch comes any more and none waits."""
        if not self.is_kept and not self.parked:
            for cached in self.partitions.values():
                cached.leave()


class FetchSessions:
    """The sessions of one broker; when all slots are taken, the least recently used one is evicted."""

    def __init__(self, rng: Rng, slots: int) -> None:
        self._rng = rng
        self._slots = slots
        self._sessions: dict[int, Session] = {}

    def resolve(self, request: FetchRequest, *, topic_ids: bool, opens: bool = True) -> tuple[ErrorCode, Session]:
        """Return the error, and the session with what the request changes in it.

        A fetch without a session gets one that is not kept, with the id NO_SESSION; so does one that wants a session,
        unless it `opens` one. `topic_ids` says that the request names topics by id; in a session that must not change.
        Errors are FETCH_SESSION_ID_NOT_FOUND,
        INVALID_FETCH_SESSION_EPOCH and FETCH_SESSION_TOPIC_ID_ERROR.
        """
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            known = self._sessions.pop(request.session_id, None)
            if known is not None:
                known.end()
            if (
                request.session_epoch == FINAL_EPOCH
                or self._slots == 0
                or not opens
                or not any(t.partitions for t in request.topics)
            ):
                return ErrorCode.NONE, _named(request, _unkept(topic_ids))
            return ErrorCode.NONE, _named(request, self._open(topic_ids))
        found = self._sessions.pop(request.session_id, None)
        if found is None:
            return ErrorCode.FETCH_SESSION_ID_NOT_FOUND, _unkept(topic_ids)
        self._sessions[found.session_id] = found  # The dict is in the order of the last use.
        if request.session_epoch != found.epoch:
            return ErrorCode.INVALID_FETCH_SESSION_EPOCH, _unkept(topic_ids)
        if topic_ids != found.topic_ids:
            return ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, _unkept(topic_ids)
        found.epoch = found.epoch % 0x7FFFFFFF + 1
        _named(request, found)
        for forgotten in request.forgotten_topics_data:  # What is named as well is forgotten, as in Kafka.
            for index in forgotten.partitions:
                found.forget((forgotten.topic, forgotten.topic_id, index))
        if not found.partitions:  # The session ends, and its last request is served as one without a session.
            del self._sessions[found.session_id]
            found.end()
            return ErrorCode.NONE, _named(request, _unkept(topic_ids))
        return ErrorCode.NONE, found

    def partitions(self, session_id: int) -> list[Key]:
        """Return the partitions of a session, in the order in which they were first named; none if there is no such."""
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


def _unkept(topic_ids: bool) -> Session:
    return Session(NO_SESSION, epoch=INITIAL_EPOCH, topic_ids=topic_ids, is_kept=False)


def keys_of(request: FetchRequest) -> list[Key]:
    """Return what a request names, in its order."""
    return [(each.topic, each.topic_id, row.partition) for each in request.topics for row in each.partitions]


def _named(request: FetchRequest, session: Session) -> Session:
    """Return the session, which has taken over what the request names."""
    for topic in request.topics:
        name, topic_id = topic.topic, topic.topic_id
        for partition in topic.partitions:
            session.name((name, topic_id, partition.partition), partition)
    return session
