"""Model of the responses to fetches in sessions: logs, fetch sessions (KIP-227), and the values sent in each session.

The broker has the only replica of each partition, so its HW is its LEO, and there are no transactions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from kmirror.fuzz.sessions.machine import Call, Expected, Names, OneOf, Outcome, Step, Symbol, expected
from kmirror.fuzz.sessions.tables import Table
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest
from kmirror.spec.error_codes import ErrorCode

TOPIC_IDS_FROM = 13
SESSIONS_FROM = 7
EPOCH_FROM = 9
"""First version with the leader epoch in a fetch."""
LAST_EPOCH_FROM = 12
DIVERGENCE_FROM = 12
"""First version with the DivergingEpoch field."""
LOG_START_FROM = 5
FULL, FINAL = 0, -1
NO_EPOCH = -1
WIDE = 1 << 20
"""A limit above the size of all logs here."""
_EPOCH_MAX = 0x7FFFFFFF
_GONE = OneOf(
    frozenset(
        map(
            int,
            (
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                ErrorCode.UNKNOWN_TOPIC_ID,
                ErrorCode.INCONSISTENT_TOPIC_ID,
                ErrorCode.NOT_LEADER_OR_FOLLOWER,
            ),
        )
    )
)
"""Errors for a deleted topic, which depend on the part of the broker that has applied the deletion."""
_ABSENT = (int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), int(ErrorCode.UNKNOWN_TOPIC_ID), _GONE)

Place = tuple[str, int]
"""A partition, by topic name."""
Key = tuple[str | Uuid, int]
"""A partition as named in a request."""
Row = tuple[Key, Any, int, int, int, Any, Any]
"""A row of a response: partition, error, HW, LSO, log start offset, divergence, batches."""
ROW_ERROR = 1


class Stored(NamedTuple):
    """A batch in a log, with its properties that matter here."""

    base: int
    records: int
    size: int
    crc: int
    """Checksum of the part that the producer wrote."""


@dataclass(frozen=True)
class Log:
    """One partition."""

    start: int = 0
    end: int = 0
    batches: tuple[Stored, ...] = ()
    leader_epoch: int = 0

    def appended(self, count: int, size: int, crc: int) -> Log:
        """Return the log with one more batch."""
        return replace(self, end=self.end + count, batches=(*self.batches, Stored(self.end, count, size, crc)))

    def read(self, offset: int, most: int, *, min_one: bool) -> tuple[tuple[int, int], ...]:
        """Return base offset and checksum of the batches from the one with `offset` on, up to `most` bytes.

        With `min_one` the first batch is returned regardless of its size.
        """
        found: list[tuple[int, int]] = []
        for batch in self.batches:
            if batch.base + batch.records <= offset:
                continue
            most -= batch.size
            if most < 0 and not (min_one and not found):
                break
            found.append((batch.base, batch.crc))
        return tuple(found)


class Asked(NamedTuple):
    """A partition in a request."""

    offset: int
    most: int
    leader_epoch: int = NO_EPOCH
    last_epoch: int = NO_EPOCH


Told = tuple[int, int]
"""HW and log start offset."""
NOTHING: Told = (-1, -1)


@dataclass(frozen=True)
class Cache:
    """A fetch session in the broker."""

    epoch: int
    by_id: bool
    asked: Table[Key, Asked]
    told: Table[Key, Told]
    last: Last | None = None


class Last(NamedTuple):
    """The last fetch of a session that was answered; the next one may overtake its response."""

    call: int
    others: frozenset[int]
    """Calls outstanding when it was sent."""
    told: Table[Key, Told]
    """The values sent in the session before it."""


@dataclass(frozen=True)
class Waiting:
    """A fetch that waits for records."""

    call: int
    version: int
    session: Symbol | None
    """None without a session."""
    epoch: int
    """Epoch of the session when the wait began."""
    asked: Table[Key, Asked]
    min_bytes: int


class Phase(NamedTuple):
    """Progress of the deletion of a topic."""

    is_deleted: bool = False
    """Whether the controller has decided it."""
    is_gone: bool = False
    """Whether the broker has applied it."""


@dataclass(frozen=True)
class Broker:
    """State of the broker."""

    ids: Table[Uuid, str]
    logs: Table[Place, Log]
    phases: Table[str, Phase]
    sessions: Table[Symbol, Cache]
    waiting: tuple[Waiting, ...]
    slots: int
    """Maximum number of open sessions."""

    def place(self, key: Key) -> Place | None:
        """Return the partition of a request's key; None for an unknown topic id."""
        topic, index = key
        name = topic if isinstance(topic, str) else self.ids.get(topic)
        return None if name is None else (name, index)


# -- one fetch ----------------------------------------------------------------------------------


def fetched(broker: Broker, call: Call, names: Names) -> Iterator[Outcome[Broker]]:
    """Yield the possible outcomes of a fetch."""
    assert isinstance(call.step, Step)
    request, version = call.step.body, call.step.version
    assert isinstance(request, FetchRequest)
    has_sessions = version >= SESSIONS_FROM
    epoch = request.session_epoch if has_sessions else FINAL
    symbol = names.symbol(request.session_id) if has_sessions and request.session_id else None
    by_id = version >= TOPIC_IDS_FROM
    if epoch in (FULL, FINAL):
        named = _named(request, version)
        broker = _without(broker, symbol)
        if epoch == FINAL:
            yield from _whole(broker, call, request, named)
        else:
            yield from _opened(broker, call, request, named, by_id=by_id)
        return
    cache = None if symbol is None else broker.sessions.get(symbol)
    if symbol is None or cache is None:
        yield refused(broker, call, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    elif epoch != cache.epoch:
        yield refused(broker, call, ErrorCode.INVALID_FETCH_SESSION_EPOCH)
    elif by_id != cache.by_id:
        yield refused(broker, call, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
    else:
        yield from _gone_on(broker, call, request, symbol, cache)


def _without(broker: Broker, symbol: Symbol | None) -> Broker:
    return broker if symbol is None else replace(broker, sessions=broker.sessions.drop(symbol))


def _with(broker: Broker, symbol: Symbol, cache: Cache) -> Broker:
    return replace(broker, sessions=broker.sessions.put(symbol, cache))


def refused(broker: Broker, call: Call, error: ErrorCode) -> Outcome[Broker]:
    """Return the outcome of a fetch that gets a top-level error and changes nothing."""
    return Outcome(broker, {call.number: expected(error=int(error), session=0, rows=())})


def _named(request: FetchRequest, version: int) -> Table[Key, Asked]:
    """Return the partitions of a request; of one that is named twice the last counts."""
    found: dict[Key, Asked] = {}
    for topic in request.topics:
        for row in topic.partitions:
            key = (topic.topic_id if version >= TOPIC_IDS_FROM else topic.topic, row.partition)
            found[key] = _asked(row, version)
    return Table(found)


def _asked(row: FetchPartition, version: int) -> Asked:
    leader_epoch = row.current_leader_epoch if version >= EPOCH_FROM else NO_EPOCH
    last_epoch = row.last_fetched_epoch if version >= LAST_EPOCH_FROM else NO_EPOCH
    return Asked(row.fetch_offset, row.partition_max_bytes, leader_epoch, last_epoch)


def _whole(broker: Broker, call: Call, request: FetchRequest, named: Table[Key, Asked]) -> Iterator[Outcome[Broker]]:
    """Yield the outcomes of a fetch without a session."""
    assert isinstance(call.step, Step)
    if waits(broker, named, request):
        found = Waiting(call.number, call.step.version, None, FINAL, named, request.min_bytes)
        yield Outcome(replace(broker, waiting=(*broker.waiting, found)), {})
        return
    for rows in all_rows(broker, named, request.max_bytes, call.step.version):
        yield Outcome(broker, {call.number: expected(error=0, session=0, rows=rows)})


def _opened(
    broker: Broker, call: Call, request: FetchRequest, named: Table[Key, Asked], *, by_id: bool
) -> Iterator[Outcome[Broker]]:
    """Yield the outcomes of a fetch that opens a session: the broker may have no slot, or evict another session."""
    assert isinstance(call.step, Step)
    symbol = Symbol(call.number, "session")
    rooms = [broker]
    if len(broker.sessions) >= broker.slots:
        rooms += [_without(broker, evicted) for evicted in broker.sessions]
    for rows in all_rows(broker, named, request.max_bytes, call.step.version):
        yield Outcome(broker, {call.number: expected(error=0, session=0, rows=rows)})
        told = Table({row[0]: _told(row) for row in rows})
        for room in rooms:
            after = _with(room, symbol, Cache(1, by_id, named, told))
            yield Outcome(after, {call.number: expected(error=0, session=symbol, rows=rows)})


def _gone_on(
    broker: Broker, call: Call, request: FetchRequest, symbol: Symbol, cache: Cache
) -> Iterator[Outcome[Broker]]:
    """Yield the outcomes of a fetch within a session."""
    assert isinstance(call.step, Step)
    version = call.step.version
    named = _named(request, version)
    forgotten = {
        (topic.topic_id if version >= TOPIC_IDS_FROM else topic.topic, index)
        for topic in request.forgotten_topics_data
        for index in topic.partitions
    }
    asked = Table({key: one for key, one in {**cache.asked, **named}.items() if key not in forgotten})
    if not asked:  # The session ends.
        yield from _whole(_without(broker, symbol), call, request, named)
        return
    others = frozenset(other.number for other in call.others)
    for before, overtaken in _before(cache, call.number, others):
        told = Table({key: before.get(key, NOTHING) for key in asked})
        after = Cache(cache.epoch % _EPOCH_MAX + 1, cache.by_id, asked, told)
        gone_on = _with(broker, symbol, after)
        if waits(gone_on, asked, request):
            found = Waiting(call.number, version, symbol, after.epoch, asked, request.min_bytes)
            yield Outcome(replace(gone_on, waiting=(*broker.waiting, found)), overtaken)
            continue
        for rows in all_rows(gone_on, asked, request.max_bytes, version):
            state, answers = news(gone_on, call.number, symbol, rows, version, others)
            yield Outcome(state, {**overtaken, **answers})


def _before(
    cache: Cache, number: int, others: frozenset[int]
) -> Iterator[tuple[Table[Key, Told], Mapping[int, Expected]]]:
    """Yield the values sent in a session when its next fetch arrives, and the response to the previous fetch.

    A broker with many threads may still be processing the previous one, and then find that it was overtaken.
    """
    yield cache.told, {}
    last = cache.last
    if last is not None and (last.call in others or number in last.others):
        error = int(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        yield last.told, {last.call: expected(error=error, rows=())}


def news(
    broker: Broker,
    number: int,
    symbol: Symbol,
    rows: tuple[Row, ...],
    version: int,
    others: frozenset[int] = frozenset(),
) -> Outcome[Broker]:
    """Return the response within a session: the rows with changes, which count as sent from now on."""
    cache = broker.sessions.get(symbol)
    if cache is None:  # The session was closed or evicted while this fetch waited.
        return Outcome(broker, {number: expected(error=0, session=symbol)})
    found = tuple(row for row in rows if _is_news(row, cache.told[row[0]]))
    told = Table({**cache.told, **{row[0]: _told(row) for row in rows}})
    if version < DIVERGENCE_FROM and any(row[-2] for row in found):
        answer = expected(error=int(ErrorCode.UNSUPPORTED_VERSION), session=symbol, rows=())
    else:
        answer = expected(error=0, session=symbol, rows=found)
    last = Last(number, others, cache.told)
    return Outcome(_with(broker, symbol, replace(cache, told=told, last=last)), {number: answer})


def _is_news(row: Row, told: Told) -> bool:
    _, error, watermark, _, start, divergence, batches = row
    return bool(error != 0 or batches or divergence is not None or told != (watermark, start))


def _told(row: Row) -> Told:
    return NOTHING if row[ROW_ERROR] != 0 else (row[2], row[4])


# -- rows of a response -------------------------------------------------------------------------


def _row(broker: Broker, key: Key, asked: Asked, most: int, version: int, *, min_one: bool) -> Row:
    """Return the row of a partition in a response."""
    place = broker.place(key)
    if place is None:
        return _failed(key, int(ErrorCode.UNKNOWN_TOPIC_ID))
    name, _ = place
    if broker.phases.get(name, Phase()).is_gone:
        return _failed(key, _GONE)
    log = broker.logs.get(place)
    if log is None:
        return _failed(key, int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
    if NO_EPOCH < asked.leader_epoch < log.leader_epoch:
        return _failed(key, int(ErrorCode.FENCED_LEADER_EPOCH))
    if asked.leader_epoch > log.leader_epoch:
        return _failed(key, int(ErrorCode.UNKNOWN_LEADER_EPOCH))
    divergence = None
    if asked.last_epoch != NO_EPOCH and asked.offset >= log.start:
        if asked.last_epoch > log.leader_epoch:
            return _failed(key, int(ErrorCode.OFFSET_OUT_OF_RANGE))
        if asked.offset > log.end:
            divergence = (log.leader_epoch, log.end)
    if divergence is None and not log.start <= asked.offset <= log.end:
        return _failed(key, int(ErrorCode.OFFSET_OUT_OF_RANGE))
    batches = () if divergence else log.read(asked.offset, min(most, asked.most), min_one=min_one)
    start = log.start if version >= LOG_START_FROM else -1
    return key, 0, log.end, log.end, start, divergence, batches


def _failed(key: Key, error: int | OneOf) -> Row:
    return key, error, -1, -1, -1, None, ()


def all_rows(broker: Broker, asked: Table[Key, Asked], most: int, version: int) -> Iterator[tuple[Row, ...]]:
    """Yield the rows of all partitions, in order of their keys, for each partition that the broker may read first.

    The first one with records returns a batch even over the limits, which leaves less room for the others.
    """
    keys = sorted(asked, key=in_order)

    def rows(first: Key | None) -> tuple[Row, ...]:
        # Without a limit for the whole response, the others have room too.
        left = WIDE if most >= WIDE else 0
        return tuple(
            _row(broker, key, asked[key], most if key == first else left, version, min_one=key == first) for key in keys
        )

    firsts = [key for key in keys if _row(broker, key, asked[key], WIDE, version, min_one=True)[-1]]
    found: list[tuple[Row, ...]] = []
    for first in firsts or (None,):
        made = rows(first)
        if made not in found:
            found.append(made)
    yield from found


def in_order(key: Key) -> tuple[str, int]:
    """Return the sort key of a row."""
    return str(key[0]), key[1]


# -- fetches that wait --------------------------------------------------------------------------


def waits(broker: Broker, asked: Table[Key, Asked], request: FetchRequest) -> bool:
    """Return whether a fetch may wait; fetches that wait have wide limits.

    Missing partitions need not end the wait at once, unless there are no others.
    """
    if request.max_wait_ms <= 0:
        return False
    rows = [_row(broker, key, one, WIDE, DIVERGENCE_FROM, min_one=True) for key, one in asked.items()]
    here = [row for row in rows if row[ROW_ERROR] not in _ABSENT]
    if not here or any(row[ROW_ERROR] != 0 or row[-2] for row in here):
        return False
    return _bytes(broker, asked) < min(request.min_bytes, request.max_bytes)


def _bytes(broker: Broker, asked: Table[Key, Asked], *, has_room: bool = False) -> int:
    """Return the size in bytes of the records for a fetch; with `has_room`, only of partitions whose limit is not 0."""
    found = 0
    for key, one in asked.items():
        place = broker.place(key)
        log = None if place is None else broker.logs.get(place)
        if place is None or log is None or broker.phases[place[0]].is_gone or (has_room and not one.most):
            continue
        found += sum(batch.size for batch in log.batches if batch.base + batch.records > one.offset)
    return found


def woken(broker: Broker) -> Iterator[Outcome[Broker]]:
    """Yield the outcomes when waiting fetches now have enough records."""
    for one in broker.waiting:
        if _bytes(broker, one.asked, has_room=True) >= one.min_bytes:
            for state, answers in ended(broker, one):
                for last, more in woken(state):
                    yield Outcome(last, {**answers, **more})
            return
    yield Outcome(broker, {})


def ended(broker: Broker, one: Waiting) -> Iterator[Outcome[Broker]]:
    """Yield the outcomes of a fetch whose wait ends."""
    broker = replace(broker, waiting=tuple(other for other in broker.waiting if other != one))
    cache = None if one.session is None else broker.sessions.get(one.session)
    if cache is not None and cache.epoch != one.epoch:
        error = int(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        yield Outcome(broker, {one.call: expected(error=error, session=one.session, rows=())})
        return
    for rows in all_rows(broker, one.asked, WIDE, one.version):
        if one.session is None:
            yield Outcome(broker, {one.call: expected(error=0, session=0, rows=rows)})
        else:
            yield news(broker, one.call, one.session, rows, one.version)


def may_end(broker: Broker, one: Waiting) -> bool:
    """Return whether a wait may end early: overtaken, with an error, or with records beyond its limits."""
    cache = None if one.session is None else broker.sessions.get(one.session)
    if cache is not None and cache.epoch != one.epoch:
        return True
    return _bytes(broker, one.asked) >= one.min_bytes or any(
        _row(broker, key, asked, WIDE, one.version, min_one=True)[ROW_ERROR] != 0 for key, asked in one.asked.items()
    )
