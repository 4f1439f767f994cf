"""The fetch loop that followers and mirrors have in common (as Kafka's AbstractFetcherThread).

There is one fetcher for each leader, with one fetch in flight, in an incremental session (KIP-227). A partition with an
error is paused for `replica.fetch.backoff.ms`; one that is out of range is left out while its leader is asked where its
log ends or begins. The loop handles sessions, pauses and leaders; its owner decides what happens to a log.

A leader whose answer has a ThrottleTimeMs is asked again after that time (KIP-219). A partition that its owner holds
for a quota of its own leaves the fetch until then; others are fetched on.

Before a fetch only those partitions are looked at of which something may have changed: the loop knows of those that are
new, answered or paused, and the owner calls `changed` if it changed anything else that `position` depends on.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

from kmirror.client.answers_without_news import AnswersWithoutNews
from kmirror.client.fetch_session import FetchSession, Wanted
from kmirror.client.remote_cluster import LeaderHint, code_of
from kmirror.client.requester import OnFrame, OnReply, Sent
from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.kernel.events import Chunk, TimerKey
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.meters import Meter
from kmirror.kernel.outbox import Outbox
from kmirror.kernel.uuid import Uuid
from kmirror.log.partition_log import PartitionLog
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
"""The session is gone, not the leader: ask anew at once."""
MOVED = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
"""With these a broker names the leader that it knows of (KIP-951)."""
QUIET_MAX_BYTES = 64
"""An answer without news is not longer, whatever its version."""
FETCH = "fetch"
OFFSETS = "offsets"
FetcherKey = tuple[Hashable, ...]


class FetchState(Protocol):
    """The fields of a partition that the loop uses; the owner's class has more (Kafka's PartitionFetchState)."""

    tp: TopicPartition
    paused_until: Instant
    resolving: bool
    """The leader is being asked for its offsets; nothing is fetched meanwhile."""
    rank: int
    """Set by the loop: a fetcher names its partitions in this order."""


P = TypeVar("P", bound=FetchState)


class Poll(NamedTuple):
    """A fetch that named no partition, how it was sent, and what it depends on beside the session's epoch."""

    fetch: RepeatedFetch
    sent: Sent
    session_id: int
    configs: Configs
    asker: Hashable


@dataclass(slots=True)
class Fetcher(Generic[P]):
    """One leader, and the partitions that are fetched there."""

    key: FetcherKey
    endpoint: Endpoint
    partitions: dict[TopicPartition, P] = field(default_factory=dict)
    session: FetchSession = field(default_factory=FetchSession)
    in_flight: bool = False
    held: int = 0
    """How many answers to other requests its owner awaits before the next fetch."""
    asked_at: Instant = 0
    """When the newest fetch was sent."""
    answered_at: Instant = 0
    """When the newest answer without an error came."""
    confirmed_at: Instant = 0
    """When the newest fetch was sent whose answer, not throttled, named all that had changed."""
    fetch_bytes: int = 0
    """To how many bytes its owner has let its fetches grow, 0 if it has not."""
    fastest: Duration = 0
    """The least time that such a fetch took, 0 before the first one."""
    sized_at: Instant = 0
    """When the answer came after which its owner looked at `fetch_bytes` last."""
    changed: dict[TopicPartition, int] = field(default_factory=dict)
    """Partitions to look at before the next fetch, each with the rank that it had at the last one."""
    paused: list[tuple[Instant, TopicPartition]] = field(default_factory=list)
    """A heap: when to look at a partition again."""
    wakes_at: Instant = 0
    """When its timer fires, 0 if it is not set."""
    is_dead: bool = False
    """Its owner does not fetch there any more, for it cannot."""
    throttled_until: Instant = 0
    """Until then the leader is not asked, by the ThrottleTimeMs of an answer; 0 if it gave none."""
    throttled_ms: int = 0
    """The sum of its ThrottleTimeMs."""
    requests: Meter = field(default_factory=Meter)
    """Fetches that were answered."""
    record_bytes: Meter = field(default_factory=Meter)
    """Bytes of records in their answers that were for the end of a log."""
    configs: Configs | None = None
    """Those that the positions were derived from."""
    poll: Poll | None = None
    """The newest fetch that named no partition: most are followed by the same one again."""
    without_news: AnswersWithoutNews = field(default_factory=lambda: AnswersWithoutNews(QUIET_MAX_BYTES))
    session_without_news: int = 0
    """The id of the session of the newest answer without news."""

    def mark(self, state: P) -> None:
        """Look at a partition before the next fetch."""
        self.changed.setdefault(state.tp, state.rank)

    def is_renewed(self, state: P) -> bool:
        """Return whether the partition, named in the session, was removed and assigned again since the last fetch."""
        return self.changed.get(state.tp, state.rank) < state.rank and self.session.wanted(state.tp) is not None

    def rank(self, tp: TopicPartition) -> int:
        """Return where a partition stands among the others, -1 for one that was removed."""
        state = self.partitions.get(tp)
        return -1 if state is None else state.rank


class Owner(Protocol[P]):
    """Decides what is fetched, and what happens to the logs."""

    replica_id: int
    """The replica id in ListOffsets; -1 is a consumer."""

    def may_ask(self, fetcher: Fetcher[P]) -> bool:
        """Return whether the leader may be asked at present."""

    def send(
        self,
        now: Instant,
        fetcher: Fetcher[P],
        purpose: str,
        request: Message,
        on_reply: OnReply,
        *,
        on_frame: OnFrame | None = None,
    ) -> Sent | None:
        """Send to the leader; FETCH and OFFSETS do not wait for each other.

        `on_frame` and what is returned are those of `Requester.send`; without it a fetch is sent anew each time.
        """

    def asker(self) -> Hashable:
        """Return what is another value when `prepare` fills in something else, or `send` takes another version."""

    def prepare(self, fetcher: Fetcher[P], request: FetchRequest) -> None:
        """Fill in the replica id or the isolation level of a fetch."""

    def position(self, state: P) -> Wanted | None:
        """Return what to fetch next; None if nothing may be fetched now. Changes nothing."""

    def on_withheld(self, now: Instant, state: P) -> None:
        """Handle that `position` was None when a fetch was made."""

    def held_until(self, now: Instant, state: P) -> Instant:
        """Return until when a quota keeps a partition out of fetches; not after `now` if none does."""

    def topic_id(self, state: P) -> Uuid:
        """Return the id of the topic at the leader; zeros if it has none there."""

    def leader_epoch(self, state: P) -> int:
        """Return the epoch of the leader that is fetched from."""

    def log_of(self, state: P) -> PartitionLog | None:
        """Return the local log; None if the partition is not fetched any more."""

    def on_records(self, now: Instant, fetcher: Fetcher[P], state: P, asked: Wanted, data: PartitionData) -> None:
        """Take over the records, if any, and the offsets of an answer for the log's end."""

    def on_diverged(self, now: Instant, fetcher: Fetcher[P], state: P, data: PartitionData) -> None:
        """Cut the log: the leader ends our last epoch at another offset."""

    def on_named(self, fetcher: Fetcher[P], state: P) -> None:
        """Handle that an answer names the partition, or that fetches leave it out from now on.

        Up to `fetcher.confirmed_at`, each answer after the last one that named it said that it had nothing new.
        """

    def on_error(self, now: Instant, fetcher: Fetcher[P], state: P, error: ErrorCode) -> None:
        """Handle an error of the partition; it is paused afterwards."""

    def on_moved(self, now: Instant, state: P, hint: LeaderHint) -> None:
        """Handle that the broker is not, or not any more, the leader, and names another; the partition is paused."""

    def on_unheard(self, fetcher: Fetcher[P]) -> None:
        """Handle that a fetch state has missed an answer of the session.

        Its partition is not fetched here any more, or in another leader epoch; or it was removed and assigned again
        between two fetches, so that the leader has no reason to repeat what it answered before. An answer is dropped.
        """

    def on_lost(self, now: Instant, fetcher: Fetcher[P]) -> bool:
        """Handle that there was no usable answer; return whether to fetch again after a pause."""

    def on_no_offset(self, now: Instant, fetcher: Fetcher[P]) -> None:
        """Handle that ListOffsets got no offset; the partition is paused afterwards."""

    def on_shorter(self, now: Instant, state: P, offset: int) -> None:
        """Cut the log: the leader's ends at `offset`, before ours."""

    def on_later_start(self, now: Instant, state: P, offset: int) -> None:
        """Empty the log and begin at `offset`: the leader's log begins there, after our end."""

    def drop_unknown_epoch(self, now: Instant, state: P) -> bool:
        """Drop the log's last epoch if it has no batch; return whether it was dropped.

        Called when our log end is in the leader's range, so that it must be the epoch that the leader does not know.
        """


class FetchLoop(Generic[P]):
    """All fetchers of one owner; their timers begin with `timer`."""

    def __init__(self, owner: Owner[P], outbox: Outbox, configs: Callable[[], Configs], timer: TimerKey) -> None:
        self._owner = owner
        self._outbox = outbox
        self._configs = configs
        self._timer = timer
        self._fetchers: dict[FetcherKey, Fetcher[P]] = {}
        self._fetcher_of: dict[TopicPartition, Fetcher[P]] = {}
        self._next_rank = 0

    # -- which partitions ---------------------------------------------------------------------

    def assign(self, now: Instant, key: FetcherKey, endpoint: Endpoint, state: P) -> None:
        """Fetch a partition from the leader `key` from now on, and from no other.

        A leader that is somewhere else now loses its partitions until they are assigned again.
        """
        fetcher = self._fetchers.get(key)
        if fetcher is None or fetcher.endpoint != endpoint:
            for tp in () if fetcher is None else tuple(fetcher.partitions):
                self.remove(tp)
            fetcher = self._fetchers[key] = Fetcher(key, endpoint)
        if fetcher.partitions.get(state.tp) is not state:
            self.remove(state.tp)
            # That was for the former leader; its timer would wake the former fetcher, and it may never answer.
            state.paused_until, state.resolving = 0, False
            state.rank, self._next_rank = self._next_rank, self._next_rank + 1
            fetcher.partitions[state.tp] = state
            self._fetcher_of[state.tp] = fetcher
        fetcher.mark(state)
        fetcher.is_dead = False
        self._fetch(now, fetcher)

    def remove(self, tp: TopicPartition) -> None:
        """Stop fetching a partition; an answer on its way is dropped when it comes."""
        fetcher = self._fetcher_of.pop(tp, None)
        if fetcher is not None:
            state = fetcher.partitions.pop(tp)
            fetcher.mark(state)
            self._owner.on_named(fetcher, state)

    def find(self, tp: TopicPartition) -> tuple[Fetcher[P], P] | None:
        """Return the fetcher of `tp` and its fetch state; None if it is not fetched."""
        fetcher = self._fetcher_of.get(tp)
        return None if fetcher is None else (fetcher, fetcher.partitions[tp])

    def changed(self, tp: TopicPartition) -> None:
        """Look at `tp` before the next fetch: something else than an answer changed what `position` says of it."""
        fetcher = self._fetcher_of.get(tp)
        if fetcher is not None:
            fetcher.mark(fetcher.partitions[tp])

    def on_timer(self, now: Instant, key: FetcherKey) -> None:
        """Fetch again from the leader `key`, after a pause."""
        fetcher = self._fetchers.get(key)
        if fetcher is not None:
            fetcher.wakes_at = 0
            self._fetch(now, fetcher)

    def fetchers(self) -> Iterable[Fetcher[P]]:
        """Return the fetchers that there are; one without partitions asks nothing."""
        return self._fetchers.values()

    # -- asking -------------------------------------------------------------------------------

    def _fetch(self, now: Instant, fetcher: Fetcher[P]) -> None:
        if fetcher.in_flight or fetcher.held or not self._owner.may_ask(fetcher):
            return
        if fetcher.throttled_until > now:
            self._wake(fetcher, fetcher.throttled_until)
            return
        configs, session = self._configs(), fetcher.session
        ranks_before = self._look_at_changed(now, fetcher, configs)
        if session.is_idle:
            return
        poll, is_poll, asker = fetcher.poll, session.is_quiet, self._owner.asker()
        if is_poll and poll is not None and poll[2:] == (session.id, configs, asker):
            fetcher.in_flight = True
            fetcher.asked_at = now
            poll.fetch.request.session_epoch = session.epoch
            poll.sent.again(now, poll.fetch)
            return
        request = FetchRequest(
            max_wait_ms=configs.integer("replica.fetch.wait.max.ms"),
            min_bytes=configs.integer("replica.fetch.min.bytes"),
            max_bytes=configs.integer("replica.fetch.response.max.bytes"),
        )
        self._owner.prepare(fetcher, request)
        changed = session.changed()
        named = fetcher.partitions if session.is_new else sorted(changed, key=fetcher.rank)
        session.fill(request, named, sorted(changed, key=lambda tp: ranks_before.get(tp, -1)))
        sent = self._send(now, fetcher, request)
        if is_poll and sent is not None:
            fetcher.poll = Poll(RepeatedFetch(request), sent, session.id, configs, asker)

    def _send(self, now: Instant, fetcher: Fetcher[P], request: FetchRequest) -> Sent | None:
        fetcher.in_flight = True
        fetcher.asked_at = now

        def on_reply(later: Instant, reply: Message | None) -> None:
            fetcher.in_flight = False
            if self._fetchers.get(fetcher.key) is fetcher:
                self._on_reply(later, fetcher, reply)

        def on_frame(later: Instant, frame: Chunk) -> bool:
            return self._is_quiet(later, fetcher, frame)

        return self._owner.send(now, fetcher, FETCH, request, on_reply, on_frame=on_frame)

    def _is_quiet(self, now: Instant, fetcher: Fetcher[P], frame: Chunk) -> bool:
        """Return whether an answer is the one before it, which had no news; then the next fetch is on its way."""
        if not fetcher.without_news.has(frame) or self._fetchers.get(fetcher.key) is not fetcher:
            return False
        fetcher.in_flight = False
        fetcher.answered_at = now
        fetcher.confirmed_at = fetcher.asked_at
        requests = fetcher.requests
        if now >= requests.next_tick:
            requests.tick(now)
        requests.count += 1  # As `mark` does, without a call: idle clusters do nothing else.
        fetcher.session.go_on(fetcher.session_without_news)
        self._fetch(now, fetcher)
        return True

    def _look_at_changed(self, now: Instant, fetcher: Fetcher[P], configs: Configs) -> dict[TopicPartition, int]:
        """Tell the session what is wanted of the partitions that changed; return their ranks at the last fetch."""
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
            # One whose position cannot be told, and raises, does not keep the next fetch from the others.
            if tp in fetcher.partitions and fetcher.is_renewed(fetcher.partitions[tp]):
                self._owner.on_unheard(fetcher)
            ranks_before[tp] = fetcher.changed.pop(tp)
            wanted = self._wanted(now, fetcher, tp)
            if wanted is None and tp in fetcher.partitions:
                self._owner.on_named(fetcher, fetcher.partitions[tp])
            fetcher.session.want(tp, wanted)
        return ranks_before

    def _end_pauses(self, now: Instant, fetcher: Fetcher[P]) -> None:
        """Have the partitions looked at whose pause is over, and wake up when the next one ends."""
        paused = fetcher.paused
        if paused and paused[0][0] <= now:
            while paused and paused[0][0] <= now:
                _, tp = heapq.heappop(paused)
                if tp in fetcher.partitions:
                    fetcher.mark(fetcher.partitions[tp])
        if paused and fetcher.wakes_at != paused[0][0]:  # A wait for the leader may have had the timer.
            self._wake(fetcher, paused[0][0])

    def _wake(self, fetcher: Fetcher[P], at: Instant) -> None:
        """Fetch again at `at`; what the timer was set to before is forgotten."""
        fetcher.wakes_at = at
        self._outbox.set_timer((*self._timer, *fetcher.key), at)

    def _wanted(self, now: Instant, fetcher: Fetcher[P], tp: TopicPartition) -> Wanted | None:
        state = fetcher.partitions.get(tp)
        if state is None or state.resolving or state.paused_until > now:
            return None
        held_until = self._owner.held_until(now, state)
        if held_until > now:
            self._look_at(fetcher, tp, held_until)
            return None
        position = self._owner.position(state)
        if position is None:
            self._owner.on_withheld(now, state)
        return position

    def _on_reply(self, now: Instant, fetcher: Fetcher[P], reply: Message | None) -> None:
        session, asked_at = fetcher.session, fetcher.asked_at
        if not isinstance(reply, FetchResponse) or reply.error_code:
            session.reset()
            if isinstance(reply, FetchResponse) and reply.error_code in SESSION_ERRORS:
                self._fetch(now, fetcher)
            else:
                fetcher.is_dead = not self._owner.on_lost(now, fetcher)
                if not fetcher.is_dead:
                    self._wake(fetcher, now + self._backoff())
            return
        fetcher.answered_at = now
        fetcher.requests.mark(now)
        if reply.throttle_time_ms > 0:
            fetcher.throttled_until = now + reply.throttle_time_ms * MILLISECOND
            fetcher.throttled_ms += reply.throttle_time_ms
        session.accept(reply)
        if reply.session_id and not reply.responses and not reply.throttle_time_ms:
            fetcher.without_news.add_newest()
            fetcher.session_without_news = reply.session_id
        for topic in reply.responses:
            name = topic.topic or session.topic_name(topic.topic_id)
            for data in topic.partitions:
                tp = TopicPartition(name, data.partition_index)
                state, asked = fetcher.partitions.get(tp), session.wanted(tp)
                if state is not None:
                    self._owner.on_named(fetcher, state)
                if state is None or asked is None or fetcher.is_renewed(state) or not self._is_of(asked, state):
                    self._owner.on_unheard(fetcher)
                else:
                    fetcher.mark(state)
                    self._on_partition(now, fetcher, state, asked, data)
                    if data.error_code in MOVED and data.current_leader.leader_id >= 0:
                        self._owner.on_moved(now, state, _hint_in(reply, data))
        if not reply.throttle_time_ms:  # An answer that a quota withholds is empty, whatever has changed.
            fetcher.confirmed_at = asked_at
        self._fetch(now, fetcher)

    def _is_of(self, asked: Wanted, state: P) -> bool:
        """Return whether a question was about the topic and the leader epoch in which the partition is fetched now."""
        owner = self._owner
        return (asked.topic_id, asked.current_leader_epoch) == (owner.topic_id(state), owner.leader_epoch(state))

    def _on_partition(self, now: Instant, fetcher: Fetcher[P], state: P, asked: Wanted, data: PartitionData) -> None:
        log = self._owner.log_of(state)
        if log is None:
            return
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._resolve_range(now, fetcher, state, OffsetSpec.LATEST)
        elif data.error_code:
            self.refused(now, fetcher, state, code_of(data.error_code))
        elif asked.fetch_offset != log.log_end_offset:
            pass  # The log moved since the question; the next fetch asks from where it is now.
        elif data.diverging_epoch.epoch != -1:
            self._owner.on_diverged(now, fetcher, state, data)
        else:
            if data.records:
                fetcher.record_bytes.mark(now, len(data.records))
            self._owner.on_records(now, fetcher, state, asked, data)

    # -- pauses -------------------------------------------------------------------------------

    def refused(self, now: Instant, fetcher: Fetcher[P], state: P, error: ErrorCode) -> None:
        """Hand an error of a partition to the owner, and pause the partition."""
        self._owner.on_error(now, fetcher, state, error)
        self.pause(now, fetcher, state)

    def pause(self, now: Instant, fetcher: Fetcher[P], state: P) -> None:
        """Leave a partition out for `replica.fetch.backoff.ms`; the others are fetched meanwhile."""
        until = state.paused_until = now + self._backoff()
        fetcher.mark(state)
        self._look_at(fetcher, state.tp, until)

    def _look_at(self, fetcher: Fetcher[P], tp: TopicPartition, at: Instant) -> None:
        """Have a partition looked at again at `at`."""
        heapq.heappush(fetcher.paused, (at, tp))
        if at == fetcher.paused[0][0]:
            self._wake(fetcher, at)

    def _backoff(self) -> int:
        return self._configs().integer("replica.fetch.backoff.ms") * MILLISECOND

    # -- out of range -------------------------------------------------------------------------

    def _resolve_range(self, now: Instant, fetcher: Fetcher[P], state: P, which: OffsetSpec) -> None:
        """Ask the leader where its log ends (or begins), and go there."""
        if not self._owner.may_ask(fetcher):
            return
        state.resolving = True
        tp = state.tp
        asked = ListOffsetsPartition(
            partition_index=tp.partition, current_leader_epoch=self._owner.leader_epoch(state), timestamp=which
        )
        request = ListOffsetsRequest(
            replica_id=self._owner.replica_id, topics=[ListOffsetsTopic(name=tp.topic, partitions=[asked])]
        )

        def on_reply(later: Instant, reply: Message | None) -> None:
            if self._fetchers.get(fetcher.key) is not fetcher or fetcher.partitions.get(tp) is not state:
                return
            state.resolving = False
            self.changed(tp)
            offset = _offset_in(reply)
            if offset < 0:
                self._owner.on_no_offset(later, fetcher)
                self.pause(later, fetcher, state)
                return
            self._on_range(later, fetcher, state, which, offset)
            self._fetch(later, fetcher)

        self._owner.send(now, fetcher, OFFSETS, request, on_reply)

    def _on_range(self, now: Instant, fetcher: Fetcher[P], state: P, which: OffsetSpec, offset: int) -> None:
        log = self._owner.log_of(state)
        if log is None:
            return
        if which is OffsetSpec.LATEST and offset < log.log_end_offset:
            self._owner.on_shorter(now, state, offset)
        elif which is OffsetSpec.LATEST:
            self._resolve_range(now, fetcher, state, OffsetSpec.EARLIEST)
        elif offset > log.log_end_offset:
            self._owner.on_later_start(now, state, offset)
        elif not self._owner.drop_unknown_epoch(now, state):
            self.pause(now, fetcher, state)


def _hint_in(reply: FetchResponse, data: PartitionData) -> LeaderHint:
    """Return the leader that an answer names for a partition."""
    leader = data.current_leader
    found = (Endpoint(node.host, node.port) for node in reply.node_endpoints if node.node_id == leader.leader_id)
    return LeaderHint(leader.leader_id, leader.leader_epoch, next(found, None))


def _offset_in(reply: Message | None) -> int:
    """Return the one offset in a ListOffsets answer, or -1 if it has none."""
    if not isinstance(reply, ListOffsetsResponse):
        return -1
    rows = [row for topic in reply.topics for row in topic.partitions]
    return -1 if len(rows) != 1 or rows[0].error_code else rows[0].offset
