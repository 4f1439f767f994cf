"""The fetch loop that followers and mirrors share (as Kafka's AbstractFetcherThread).

There is one fetcher for each leader, with one fetch in flight, in an incremental session (KIP-227). A partition with an
error is paused for `replica.fetch.backoff.ms`; one that is out of range is left out while ListOffsets finds the
leader's log end or start. The loop handles sessions, pauses and leaders; its owner decides about the logs.

A leader whose response has a ThrottleTimeMs gets the next request after that time (KIP-219). A partition that its owner
holds for a quota of its own leaves the fetch until then; the others are still fetched.

Before a fetch only partitions that may have changed are examined: the loop knows those that are new, answered or
paused, and the owner calls `mark_changed` if it changed anything else on which `next_fetch` depends.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

from kmirror.client.empty_responses import EmptyResponseMatcher
from kmirror.client.fetch_events import (
    Diverged,
    FetchEvent,
    FetchFailed,
    LeaderMoved,
    LogEndsEarlier,
    LogStartsLater,
    NoOffset,
    PartitionConfirmed,
    PartitionError,
    Records,
    ResponseMissed,
    UnknownEpoch,
)
from kmirror.client.fetch_session import FetchSession, PartitionFetch
from kmirror.client.remote_cluster import LeaderHint, code_of
from kmirror.client.requester import OnFrame, OnReply, Sent
from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.kernel.events import Chunk, TimerKey
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.meters import Meter
from kmirror.kernel.outbox import Outbox
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import FetchResponse, PartitionData
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.message import Message
from kmirror.protocol.repeated_fetch import RepeatedFetch
from kmirror.spec.configs import Configs
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import OffsetSpec

SESSION_ERRORS = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
)
"""The session is gone, not the leader: fetch again at once."""
LEADER_CHANGED_ERRORS = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
"""With these errors a broker names the leader that it knows (KIP-951)."""
EMPTY_RESPONSE_BYTES_MAX = 64
"""A response without new data is not longer, in any version."""
FETCH = "fetch"
OFFSETS = "offsets"
FetcherKey = tuple[Hashable, ...]


class FetchState(Protocol):
    """The fields of a partition that the loop uses; the owner's class has more (Kafka's PartitionFetchState)."""

    tp: TopicPartition
    paused_until: Instant
    resolving: bool
    """A ListOffsets request to the leader is under way; nothing is fetched meanwhile."""
    rank: int
    """Set by the loop: a fetcher names its partitions in this order."""

    @property
    def source_topic_id(self) -> Uuid:
        """The id of the topic at the leader that is fetched from; zeros if it has none there."""

    @property
    def source_epoch(self) -> int:
        """The epoch of that leader."""


P = TypeVar("P", bound=FetchState)


class EmptyFetch(NamedTuple):
    """A fetch that named no partition, how it was sent, and the values it depends on besides the session's epoch."""

    fetch: RepeatedFetch
    sent: Sent
    session_id: int
    configs: Configs
    identity: Hashable


@dataclass(slots=True)
class Fetcher(Generic[P]):
    """One leader, and the partitions that are fetched from it."""

    key: FetcherKey
    endpoint: Endpoint
    partitions: dict[TopicPartition, P] = field(default_factory=dict)
    session: FetchSession = field(default_factory=FetchSession)
    in_flight: bool = False
    held: int = 0
    """Number of responses to other requests for which its owner holds the next fetch."""
    asked_at: Instant = 0
    """When the newest fetch was sent."""
    answered_at: Instant = 0
    """When the newest response without an error came."""
    confirmed_at: Instant = 0
    """When the newest fetch was sent whose response, not throttled, named all changes."""
    fetch_bytes: int = 0
    """The fetch size in bytes to which its owner has grown, 0 if it has not."""
    fastest: Duration = 0
    """The least duration of such a fetch, 0 before the first one."""
    sized_at: Instant = 0
    """When the response came for which its owner last adjusted `fetch_bytes`."""
    changed: dict[TopicPartition, int] = field(default_factory=dict)
    """Partitions to examine before the next fetch, each with its rank at the last one."""
    paused: list[tuple[Instant, TopicPartition]] = field(default_factory=list)
    """A heap of the times at which to examine a partition again."""
    timer_at: Instant = 0
    """When its timer fires, 0 if it is not set."""
    is_dead: bool = False
    """Its owner no longer fetches there, as it cannot."""
    throttled_until: Instant = 0
    """No request is sent to the leader before, by the ThrottleTimeMs of a response; 0 if there was none."""
    throttled_ms: int = 0
    """The sum of its ThrottleTimeMs."""
    requests: Meter = field(default_factory=Meter)
    """Fetches that were answered."""
    record_bytes: Meter = field(default_factory=Meter)
    """Bytes of records in their responses."""
    configs: Configs | None = None
    """The configs with which the positions were computed."""
    empty_fetch: EmptyFetch | None = None
    """The newest fetch that named no partition: it is usually repeated as it is."""
    empty_responses: EmptyResponseMatcher = field(
        default_factory=lambda: EmptyResponseMatcher(EMPTY_RESPONSE_BYTES_MAX)
    )
    empty_session_id: int = 0
    """The id of the session of the newest response without new data."""

    def mark(self, state: P) -> None:
        """Check a partition before the next fetch."""
        self.changed.setdefault(state.tp, state.rank)

    def is_renewed(self, state: P) -> bool:
        """Return whether the partition, named in the session, was removed and assigned again since the last fetch."""
        return self.changed.get(state.tp, state.rank) < state.rank and self.session.fetch_of(state.tp) is not None

    def rank(self, tp: TopicPartition) -> int:
        """Return the rank of a partition among the others, -1 if it was removed."""
        state = self.partitions.get(tp)
        return -1 if state is None else state.rank


class FetchOwner(Protocol[P]):
    """Decides which partitions are fetched, and applies the responses to the logs."""

    def identity(self, fetcher: Fetcher[P]) -> Hashable | None:
        """Return the identity under which requests are sent to the leader, or None if none may be sent at present.

        The value must change when `send` would fill in other values, or send another version.
        """

    def send(
        self,
        now: Instant,
        fetcher: Fetcher[P],
        purpose: str,
        request: FetchRequest | ListOffsetsRequest,
        on_reply: OnReply,
        *,
        on_frame: OnFrame | None = None,
    ) -> Sent | None:
        """Fill in the identity, and send to the leader; FETCH and OFFSETS do not wait for each other.

        `on_frame` and the result are those of `Requester.send`; without a result every fetch is encoded again.
        """

    def next_fetch(self, now: Instant, state: P) -> PartitionFetch | Instant | None:
        """Return the next fetch of a partition, a time until which a quota holds it, or None if neither is known yet.

        Called for each partition that has changed, before a fetch.
        """

    def handle(self, now: Instant, fetcher: Fetcher[P], event: FetchEvent[P]) -> None:
        """Apply the meaning of a response to the logs."""


class FetchLoop(Generic[P]):
    """All fetchers of one owner; their timers begin with `timer`."""

    def __init__(self, owner: FetchOwner[P], outbox: Outbox, configs: Callable[[], Configs], timer: TimerKey) -> None:
        self._owner = owner
        self._outbox = outbox
        self._configs = configs
        self._timer = timer
        self._fetchers: dict[FetcherKey, Fetcher[P]] = {}
        self._fetcher_of: dict[TopicPartition, Fetcher[P]] = {}
        self._next_rank = 0

    # -- partitions ---------------------------------------------------------------------------

    def assign(self, now: Instant, key: FetcherKey, endpoint: Endpoint, state: P) -> None:
        """Fetch a partition from the leader `key`, and from no other.

        If the leader's endpoint has changed, its other partitions are dropped until they are assigned again.
        """
        fetcher = self._fetchers.get(key)
        if fetcher is None or fetcher.endpoint != endpoint:
            for tp in () if fetcher is None else tuple(fetcher.partitions):
                self._release(now, tp)
            fetcher = self._fetchers[key] = Fetcher(key, endpoint)
        if fetcher.partitions.get(state.tp) is not state:
            self._release(now, state.tp)
            # That was for the former leader; its timer would wake the former fetcher, and it may never respond.
            state.paused_until, state.resolving = 0, False
            state.rank, self._next_rank = self._next_rank, self._next_rank + 1
            fetcher.partitions[state.tp] = state
            self._fetcher_of[state.tp] = fetcher
        fetcher.mark(state)
        fetcher.is_dead = False
        self._fetch(now, fetcher)

    def remove(self, tp: TopicPartition) -> None:
        """Stop fetching a partition, without an event; a response on its way will be dropped."""
        fetcher = self._fetcher_of.pop(tp, None)
        if fetcher is not None:
            fetcher.mark(fetcher.partitions.pop(tp))

    def _release(self, now: Instant, tp: TopicPartition) -> None:
        found = self.find(tp)
        if found is not None:
            self.remove(tp)
            self._owner.handle(now, found[0], PartitionConfirmed(found[1]))

    def find(self, tp: TopicPartition) -> tuple[Fetcher[P], P] | None:
        """Return the fetcher of `tp` and its fetch state; None if it is not fetched."""
        fetcher = self._fetcher_of.get(tp)
        return None if fetcher is None else (fetcher, fetcher.partitions[tp])

    def mark_changed(self, tp: TopicPartition) -> None:
        """Look at `tp` before the next fetch: something other than a response changed the result of `next_fetch`."""
        fetcher = self._fetcher_of.get(tp)
        if fetcher is not None:
            fetcher.mark(fetcher.partitions[tp])

    def on_timer(self, now: Instant, key: FetcherKey) -> None:
        """Fetch again from the leader `key`, after a pause."""
        fetcher = self._fetchers.get(key)
        if fetcher is not None:
            fetcher.timer_at = 0
            self._fetch(now, fetcher)

    def fetchers(self) -> Iterable[Fetcher[P]]:
        """Return all fetchers; one without partitions sends nothing."""
        return self._fetchers.values()

    # -- requests -----------------------------------------------------------------------------

    def _fetch(self, now: Instant, fetcher: Fetcher[P]) -> None:
        if fetcher.in_flight or fetcher.held or (identity := self._owner.identity(fetcher)) is None:
            return
        if fetcher.throttled_until > now:
            self._set_timer(fetcher, fetcher.throttled_until)
            return
        configs, session = self._configs(), fetcher.session
        ranks_before = self._update_session(now, fetcher, configs)
        if session.is_idle:
            return
        empty_fetch, is_empty = fetcher.empty_fetch, session.has_no_changes
        if is_empty and empty_fetch is not None and empty_fetch[2:] == (session.id, configs, identity):
            fetcher.in_flight = True
            fetcher.asked_at = now
            empty_fetch.fetch.request.session_epoch = session.epoch
            empty_fetch.sent.resend(now, empty_fetch.fetch)
            return
        request = FetchRequest(
            max_wait_ms=configs.integer("replica.fetch.wait.max.ms"),
            min_bytes=configs.integer("replica.fetch.min.bytes"),
            max_bytes=configs.integer("replica.fetch.response.max.bytes"),
        )
        changed = session.changed()
        requested_tps = fetcher.partitions if session.is_new else sorted(changed, key=fetcher.rank)
        session.fill(request, requested_tps, sorted(changed, key=lambda tp: ranks_before.get(tp, -1)))
        sent = self._send(now, fetcher, request)
        if is_empty and sent is not None:
            fetcher.empty_fetch = EmptyFetch(RepeatedFetch(request), sent, session.id, configs, identity)

    def _send(self, now: Instant, fetcher: Fetcher[P], request: FetchRequest) -> Sent | None:
        fetcher.in_flight = True
        fetcher.asked_at = now

        def on_reply(later: Instant, reply: Message | None) -> None:
            fetcher.in_flight = False
            if self._fetchers.get(fetcher.key) is fetcher:
                self._on_reply(later, fetcher, reply)

        def on_frame(later: Instant, frame: Chunk) -> bool:
            return self._repeat_if_empty(later, fetcher, frame)

        return self._owner.send(now, fetcher, FETCH, request, on_reply, on_frame=on_frame)

    def _repeat_if_empty(self, now: Instant, fetcher: Fetcher[P], frame: Chunk) -> bool:
        """Return whether a response equals the last one, which had no new data; then the next fetch has been sent."""
        if not fetcher.empty_responses.matches(frame) or self._fetchers.get(fetcher.key) is not fetcher:
            return False
        fetcher.in_flight = False
        fetcher.answered_at = now
        fetcher.confirmed_at = fetcher.asked_at
        requests = fetcher.requests
        if now >= requests.next_tick:
            requests.tick(now)
        requests.count += 1  # As `mark` does, without a call: idle clusters do nothing else.
        fetcher.session.advance_epoch(fetcher.empty_session_id)
        self._fetch(now, fetcher)
        return True

    def _update_session(self, now: Instant, fetcher: Fetcher[P], configs: Configs) -> dict[TopicPartition, int]:
        """Update the session with the partitions that changed; return their ranks at the last fetch."""
        if fetcher.paused:
            self._end_pauses(now, fetcher)
        if configs is not fetcher.configs:
            fetcher.configs = configs
            for state in fetcher.partitions.values():
                fetcher.mark(state)
        ranks_before: dict[TopicPartition, int] = {}
        if not fetcher.changed:
            return ranks_before
        for tp in sorted(fetcher.changed, key=fetcher.rank):
            # If `next_fetch` raises for one partition, the next fetch still includes the others.
            if tp in fetcher.partitions and fetcher.is_renewed(fetcher.partitions[tp]):
                self._owner.handle(now, fetcher, ResponseMissed())
            ranks_before[tp] = fetcher.changed.pop(tp)
            next_fetch = self._next_fetch(now, fetcher, tp)
            if next_fetch is None and tp in fetcher.partitions:
                self._owner.handle(now, fetcher, PartitionConfirmed(fetcher.partitions[tp]))
            fetcher.session.set_fetch(tp, next_fetch)
        return ranks_before

    def _end_pauses(self, now: Instant, fetcher: Fetcher[P]) -> None:
        """Mark the partitions whose pause is over, and set the timer for the next one."""
        paused = fetcher.paused
        if paused and paused[0][0] <= now:
            while paused and paused[0][0] <= now:
                _, tp = heapq.heappop(paused)
                if tp in fetcher.partitions:
                    fetcher.mark(fetcher.partitions[tp])
        if paused and fetcher.timer_at != paused[0][0]:  # A wait for the leader may have replaced the timer.
            self._set_timer(fetcher, paused[0][0])

    def _set_timer(self, fetcher: Fetcher[P], at: Instant) -> None:
        """Fetch again at `at`; replaces the time for which the timer was set."""
        fetcher.timer_at = at
        self._outbox.set_timer((*self._timer, *fetcher.key), at)

    def _next_fetch(self, now: Instant, fetcher: Fetcher[P], tp: TopicPartition) -> PartitionFetch | None:
        state = fetcher.partitions.get(tp)
        if state is None or state.resolving or state.paused_until > now:
            return None
        next_fetch = self._owner.next_fetch(now, state)
        if isinstance(next_fetch, int):
            self._schedule_check(fetcher, tp, next_fetch)
            return None
        return next_fetch

    def _on_reply(self, now: Instant, fetcher: Fetcher[P], reply: Message | None) -> None:
        session, asked_at = fetcher.session, fetcher.asked_at
        if not isinstance(reply, FetchResponse) or reply.error_code:
            session.reset()
            if isinstance(reply, FetchResponse) and reply.error_code in SESSION_ERRORS:
                self._fetch(now, fetcher)
            else:
                fetcher.is_dead = False
                self._owner.handle(now, fetcher, FetchFailed())
                if not fetcher.is_dead:
                    self._set_timer(fetcher, now + self._backoff())
            return
        fetcher.answered_at = now
        fetcher.requests.mark(now)
        if reply.throttle_time_ms > 0:
            fetcher.throttled_until = now + reply.throttle_time_ms * MILLISECOND
            fetcher.throttled_ms += reply.throttle_time_ms
        session.accept(reply)
        if reply.session_id and not reply.responses and not reply.throttle_time_ms:
            fetcher.empty_responses.record_newest()
            fetcher.empty_session_id = reply.session_id
        for topic in reply.responses:
            name = topic.topic or session.topic_name(topic.topic_id)
            for data in topic.partitions:
                tp = TopicPartition(name, data.partition_index)
                state, fetch = fetcher.partitions.get(tp), session.fetch_of(tp)
                if state is not None:
                    self._owner.handle(now, fetcher, PartitionConfirmed(state))
                if state is None or fetch is None or fetcher.is_renewed(state) or not _matches(fetch, state):
                    self._owner.handle(now, fetcher, ResponseMissed())
                else:
                    fetcher.mark(state)
                    self._on_partition(now, fetcher, state, fetch, data)
                    if data.error_code in LEADER_CHANGED_ERRORS and data.current_leader.leader_id >= 0:
                        self._owner.handle(now, fetcher, LeaderMoved(state, _leader_hint(reply, data)))
        if not reply.throttle_time_ms:  # A response that a quota withholds is empty, even if something has changed.
            fetcher.confirmed_at = asked_at
        self._fetch(now, fetcher)

    def _on_partition(
        self, now: Instant, fetcher: Fetcher[P], state: P, fetch: PartitionFetch, data: PartitionData
    ) -> None:
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._resolve_range(now, fetcher, state, fetch, OffsetSpec.LATEST)
        elif data.error_code:
            self.report_error(now, fetcher, state, code_of(data.error_code))
        elif data.diverging_epoch.epoch != -1:
            self._owner.handle(now, fetcher, Diverged(state, fetch, data))
        else:
            if data.records:
                fetcher.record_bytes.mark(now, len(data.records))
            self._owner.handle(now, fetcher, Records(state, fetch, data))

    # -- pauses -------------------------------------------------------------------------------

    def report_error(self, now: Instant, fetcher: Fetcher[P], state: P, error: ErrorCode) -> None:
        """Report an error of a partition to the owner, and pause the partition."""
        self._owner.handle(now, fetcher, PartitionError(state, error))
        self.pause(now, fetcher, state)

    def pause(self, now: Instant, fetcher: Fetcher[P], state: P) -> None:
        """Leave a partition out for `replica.fetch.backoff.ms`; the others are fetched meanwhile."""
        until = state.paused_until = now + self._backoff()
        fetcher.mark(state)
        self._schedule_check(fetcher, state.tp, until)

    def _schedule_check(self, fetcher: Fetcher[P], tp: TopicPartition, at: Instant) -> None:
        """Look at a partition again at `at`."""
        heapq.heappush(fetcher.paused, (at, tp))
        if at == fetcher.paused[0][0]:
            self._set_timer(fetcher, at)

    def _backoff(self) -> int:
        return self._configs().integer("replica.fetch.backoff.ms") * MILLISECOND

    # -- out of range -------------------------------------------------------------------------

    def _resolve_range(
        self, now: Instant, fetcher: Fetcher[P], state: P, fetch: PartitionFetch, spec: OffsetSpec
    ) -> None:
        """Request the leader's log end (or start), and continue from there."""
        if self._owner.identity(fetcher) is None:
            return
        state.resolving = True
        tp = state.tp
        row = ListOffsetsPartition(
            partition_index=tp.partition, current_leader_epoch=state.source_epoch, timestamp=spec
        )
        request = ListOffsetsRequest(topics=[ListOffsetsTopic(name=tp.topic, partitions=[row])])

        def on_reply(later: Instant, reply: Message | None) -> None:
            if self._fetchers.get(fetcher.key) is not fetcher or fetcher.partitions.get(tp) is not state:
                return
            state.resolving = False
            self.mark_changed(tp)
            offset = _single_offset(reply)
            if offset < 0:
                self._owner.handle(later, fetcher, NoOffset())
                self.pause(later, fetcher, state)
                return
            self._on_range(later, fetcher, state, fetch, spec, offset)
            self._fetch(later, fetcher)

        self._owner.send(now, fetcher, OFFSETS, request, on_reply)

    def _on_range(
        self, now: Instant, fetcher: Fetcher[P], state: P, fetch: PartitionFetch, spec: OffsetSpec, offset: int
    ) -> None:
        if spec is OffsetSpec.LATEST and offset < fetch.fetch_offset:
            self._owner.handle(now, fetcher, LogEndsEarlier(state, fetch, offset))
        elif spec is OffsetSpec.LATEST:
            self._resolve_range(now, fetcher, state, fetch, OffsetSpec.EARLIEST)
        elif offset > fetch.fetch_offset:
            self._owner.handle(now, fetcher, LogStartsLater(state, fetch, offset))
        else:
            self._owner.handle(now, fetcher, UnknownEpoch(state, fetch))


def _matches(fetch: PartitionFetch, state: FetchState) -> bool:
    """Return whether a request was for the topic and the leader epoch in which the partition is fetched now."""
    return (fetch.topic_id, fetch.current_leader_epoch) == (state.source_topic_id, state.source_epoch)


def _leader_hint(reply: FetchResponse, data: PartitionData) -> LeaderHint:
    """Return the leader that a response names for a partition."""
    leader = data.current_leader
    found = (Endpoint(node.host, node.port) for node in reply.node_endpoints if node.node_id == leader.leader_id)
    return LeaderHint(leader.leader_id, leader.leader_epoch, next(found, None))


def _single_offset(reply: Message | None) -> int:
    """Return the one offset in a ListOffsets response, or -1 if it has none."""
    if not isinstance(reply, ListOffsetsResponse):
        return -1
    rows = [row for topic in reply.topics for row in topic.partitions]
    return -1 if len(rows) != 1 or rows[0].error_code else rows[0].offset
