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
_TOPIC_DELETED = OneOf(
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
_ABSENT = (int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), int(ErrorCode.UNKNOWN_TOPIC_ID), _TOPIC_DELETED)

Partition = tuple[str, int]
"""A partition, by topic name."""
Key = tuple[str | Uuid, int]
"""A partition as named in a request."""
Row = tuple[Key, Any, int, int, int, Any, Any]
"""A row of a response: partition, error, HW, LSO, log start offset, divergence, batches."""
ROW_ERROR = 1


class StoredBatch(NamedTuple):
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
    batches: tuple[StoredBatch, ...] = ()
    leader_epoch: int = 0

    def append(self, count: int, size: int, crc: int) -> Log:
        """Return the log with one more batch."""
        return replace(self, end=self.end + count, batches=(*self.batches, StoredBatch(self.end, count, size, crc)))

    def read(self, offset: int, max_bytes: int, *, min_one: bool) -> tuple[tuple[int, int], ...]:
        """Return base offset and checksum of the batches from the one with `offset` on, up to `max_bytes` bytes.

        With `min_one` the first batch is returned regardless of its size.
        """
        found: list[tuple[int, int]] = []
        for batch in self.batches:
            if batch.base + batch.records <= offset:
                continue
            max_bytes -= batch.size
            if max_bytes < 0 and not (min_one and not found):
                break
            found.append((batch.base, batch.crc))
        return tuple(found)


class PartitionRequest(NamedTuple):
    """A partition in a request."""

    offset: int
    max_bytes: int
    leader_epoch: int = NO_EPOCH
    last_epoch: int = NO_EPOCH


SentOffsets = tuple[int, int]
"""HW and log start offset, as last sent in a session."""
NOTHING_SENT: SentOffsets = (-1, -1)


@dataclass(frozen=True)
class FetchSession:
    """A fetch session in the broker."""

    epoch: int
    by_id: bool
    requested: Table[Key, PartitionRequest]
    sent_offsets: Table[Key, SentOffsets]
    last: LastFetch | None = None


class LastFetch(NamedTuple):
    """The last fetch of a session that was answered; the next one may overtake its response."""

    call: int
    others: frozenset[int]
    """Calls outstanding when it was sent."""
    sent_offsets: Table[Key, SentOffsets]
    """The values sent in the session before it."""


@dataclass(frozen=True)
class WaitingFetch:
    """A fetch that waits for records."""

    call: int
    version: int
    session: Symbol | None
    """None without a session."""
    epoch: int
    """Epoch of the session when the wait began."""
    requested: Table[Key, PartitionRequest]
    min_bytes: int


class Phase(NamedTuple):
    """Progress of the deletion of a topic."""

    is_deleted: bool = False
    """Whether the controller has decided it."""
    is_applied: bool = False
    """Whether the broker has applied it."""


@dataclass(frozen=True)
class Broker:
    """State of the broker."""

    ids: Table[Uuid, str]
    logs: Table[Partition, Log]
    phases: Table[str, Phase]
    sessions: Table[Symbol, FetchSession]
    waiting: tuple[WaitingFetch, ...]
    slots: int
    """Maximum number of open sessions."""

    def find_partition(self, key: Key) -> Partition | None:
        """Return the partition of a request's key; None for an unknown topic id."""
        topic, index = key
        name = topic if isinstance(topic, str) else self.ids.get(topic)
        return None if name is None else (name, index)


# -- one fetch ----------------------------------------------------------------------------------


def fetch_outcomes(broker: Broker, call: Call, names: Names) -> Iterator[Outcome[Broker]]:
    """Yield the possible outcomes of a fetch."""
    assert isinstance(call.step, Step)
    request, version = call.step.body, call.step.version
    assert isinstance(request, FetchRequest)
    has_sessions = version >= SESSIONS_FROM
    epoch = request.session_epoch if has_sessions else FINAL
    symbol = names.symbol(request.session_id) if has_sessions and request.session_id else None
    by_id = version >= TOPIC_IDS_FROM
    if epoch in (FULL, FINAL):
        named = _requested_partitions(request, version)
        broker = _drop_session(broker, symbol)
        if epoch == FINAL:
            yield from _sessionless_outcomes(broker, call, request, named)
        else:
            yield from _full_fetch_outcomes(broker, call, request, named, by_id=by_id)
        return
    session = None if symbol is None else broker.sessions.get(symbol)
    if symbol is None or session is None:
        yield error_outcome(broker, call, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    elif epoch != session.epoch:
        yield error_outcome(broker, call, ErrorCode.INVALID_FETCH_SESSION_EPOCH)
    elif by_id != session.by_id:
        yield error_outcome(broker, call, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
    else:
        yield from _incremental_outcomes(broker, call, request, symbol, session)


def _drop_session(broker: Broker, symbol: Symbol | None) -> Broker:
    return broker if symbol is None else replace(broker, sessions=broker.sessions.drop(symbol))


def _put_session(broker: Broker, symbol: Symbol, session: FetchSession) -> Broker:
    return replace(broker, sessions=broker.sessions.put(symbol, session))


def error_outcome(broker: Broker, call: Call, error: ErrorCode) -> Outcome[Broker]:
    """Return the outcome of a fetch that gets a top-level error and changes nothing."""
    return Outcome(broker, {call.number: expected(error=int(error), session=0, rows=())})


def _requested_partitions(request: FetchRequest, version: int) -> Table[Key, PartitionRequest]:
    """Return the partitions of a request; if one is named twice, the last row counts."""
    requested: dict[Key, PartitionRequest] = {}
    for topic in request.topics:
        for row in topic.partitions:
            key = (topic.topic_id if version >= TOPIC_IDS_FROM else topic.topic, row.partition)
            requested[key] = _partition_request(row, version)
    return Table(requested)


def _partition_request(row: FetchPartition, version: int) -> PartitionRequest:
    leader_epoch = row.current_leader_epoch if version >= EPOCH_FROM else NO_EPOCH
    last_epoch = row.last_fetched_epoch if version >= LAST_EPOCH_FROM else NO_EPOCH
    return PartitionRequest(row.fetch_offset, row.partition_max_bytes, leader_epoch, last_epoch)


def _sessionless_outcomes(
    broker: Broker, call: Call, request: FetchRequest, named: Table[Key, PartitionRequest]
) -> Iterator[Outcome[Broker]]:
    """Yield the outcomes of a fetch without a session."""
    assert isinstance(call.step, Step)
    if may_wait(broker, named, request):
        waiting_fetch = WaitingFetch(call.number, call.step.version, None, FINAL, named, request.min_bytes)
        yield Outcome(replace(broker, waiting=(*broker.waiting, waiting_fetch)), {})
        return
    for rows in all_rows(broker, named, request.max_bytes, call.step.version):
        yield Outcome(broker, {call.number: expected(error=0, session=0, rows=rows)})


def _full_fetch_outcomes(
    broker: Broker, call: Call, request: FetchRequest, named: Table[Key, PartitionRequest], *, by_id: bool
) -> Iterator[Outcome[Broker]]:
    """Yield the outcomes of a fetch that opens a session: the broker may have no slot, or evict another session."""
    assert isinstance(call.step, Step)
    symbol = Symbol(call.number, "session")
    candidates = [broker]
    if len(broker.sessions) >= broker.slots:
        candidates += [_drop_session(broker, evicted) for evicted in broker.sessions]
    for rows in all_rows(broker, named, request.max_bytes, call.step.version):
        yield Outcome(broker, {call.number: expected(error=0, session=0, rows=rows)})
        sent_offsets = Table({row[0]: _offsets_of(row) for row in rows})
        for candidate in candidates:
            after = _put_session(candidate, symbol, FetchSession(1, by_id, named, sent_offsets))
            yield Outcome(after, {call.number: expected(error=0, session=symbol, rows=rows)})


def _incremental_outcomes(
    broker: Broker, call: Call, request: FetchRequest, symbol: Symbol, session: FetchSession
) -> Iterator[Outcome[Broker]]:
    """Yield the outcomes of a fetch within a session."""
    assert isinstance(call.step, Step)
    version = call.step.version
    named = _requested_partitions(request, version)
    forgotten = {
        (topic.topic_id if version >= TOPIC_IDS_FROM else topic.topic, index)
        for topic in request.forgotten_topics_data
        for index in topic.partitions
    }
    requested = Table(
        {
            key: partition_request
            for key, partition_request in {**session.requested, **named}.items()
            if key not in forgotten
        }
    )
    if not requested:  # The session ends.
        yield from _sessionless_outcomes(_drop_session(broker, symbol), call, request, named)
        return
    others = frozenset(other.number for other in call.others)
    for before, overtaken in _earlier_offsets(session, call.number, others):
        sent_offsets = Table({key: before.get(key, NOTHING_SENT) for key in requested})
        after = FetchSession(session.epoch % _EPOCH_MAX + 1, session.by_id, requested, sent_offsets)
        continued = _put_session(broker, symbol, after)
        if may_wait(continued, requested, request):
            waiting_fetch = WaitingFetch(call.number, version, symbol, after.epoch, requested, request.min_bytes)
            yield Outcome(replace(continued, waiting=(*broker.waiting, waiting_fetch)), overtaken)
            continue
        for rows in all_rows(continued, requested, request.max_bytes, version):
            state, responses = incremental_response(continued, call.number, symbol, rows, version, others)
            yield Outcome(state, {**overtaken, **responses})


def _earlier_offsets(
    session: FetchSession, number: int, others: frozenset[int]
) -> Iterator[tuple[Table[Key, SentOffsets], Mapping[int, Expected]]]:
    """Yield the values sent in a session when its next fetch arrives, and the response to the previous fetch.

    A broker with many threads may still be processing the previous one, and then find that it was overtaken.
    """
    yield session.sent_offsets, {}
    last = session.last
    if last is not None and (last.call in others or number in last.others):
        error = int(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        yield last.sent_offsets, {last.call: expected(error=error, rows=())}


def incremental_response(
    broker: Broker,
    number: int,
    symbol: Symbol,
    rows: tuple[Row, ...],
    version: int,
    others: frozenset[int] = frozenset(),
) -> Outcome[Broker]:
    """Return the response within a session: the rows with changes, which count as sent from now on."""
    session = broker.sessions.get(symbol)
    if session is None:  # The session was closed or evicted while this fetch waited.
        return Outcome(broker, {number: expected(error=0, session=symbol)})
    changed_rows = tuple(row for row in rows if _has_changed(row, session.sent_offsets[row[0]]))
    sent_offsets = Table({**session.sent_offsets, **{row[0]: _offsets_of(row) for row in rows}})
    if version < DIVERGENCE_FROM and any(row[-2] for row in changed_rows):
        response = expected(error=int(ErrorCode.UNSUPPORTED_VERSION), session=symbol, rows=())
    else:
        response = expected(error=0, session=symbol, rows=changed_rows)
    last = LastFetch(number, others, session.sent_offsets)
    return Outcome(
        _put_session(broker, symbol, replace(session, sent_offsets=sent_offsets, last=last)), {number: response}
    )


def _has_changed(row: Row, sent_offsets: SentOffsets) -> bool:
    _, error, watermark, _, start, divergence, batches = row
    return bool(error != 0 or batches or divergence is not None or sent_offsets != (watermark, start))


def _offsets_of(row: Row) -> SentOffsets:
    return NOTHING_SENT if row[ROW_ERROR] != 0 else (row[2], row[4])


# -- rows of a response -------------------------------------------------------------------------


def _row(broker: Broker, key: Key, requested: PartitionRequest, max_bytes: int, version: int, *, min_one: bool) -> Row:
    """Return the row of a partition in a response."""
    partition = broker.find_partition(key)
    if partition is None:
        return _error_row(key, int(ErrorCode.UNKNOWN_TOPIC_ID))
    name, _ = partition
    if broker.phases.get(name, Phase()).is_applied:
        return _error_row(key, _TOPIC_DELETED)
    log = broker.logs.get(partition)
    if log is None:
        return _error_row(key, int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
    if NO_EPOCH < requested.leader_epoch < log.leader_epoch:
        return _error_row(key, int(ErrorCode.FENCED_LEADER_EPOCH))
    if requested.leader_epoch > log.leader_epoch:
        return _error_row(key, int(ErrorCode.UNKNOWN_LEADER_EPOCH))
    divergence = None
    if requested.last_epoch != NO_EPOCH and requested.offset >= log.start:
        if requested.last_epoch > log.leader_epoch:
            return _error_row(key, int(ErrorCode.OFFSET_OUT_OF_RANGE))
        if requested.offset > log.end:
            divergence = (log.leader_epoch, log.end)
    if divergence is None and not log.start <= requested.offset <= log.end:
        return _error_row(key, int(ErrorCode.OFFSET_OUT_OF_RANGE))
    batches = () if divergence else log.read(requested.offset, min(max_bytes, requested.max_bytes), min_one=min_one)
    start = log.start if version >= LOG_START_FROM else -1
    return key, 0, log.end, log.end, start, divergence, batches


def _error_row(key: Key, error: int | OneOf) -> Row:
    return key, error, -1, -1, -1, None, ()


def all_rows(
    broker: Broker, requested: Table[Key, PartitionRequest], max_bytes: int, version: int
) -> Iterator[tuple[Row, ...]]:
    """Yield the rows of all partitions, in order of their keys, for each partition that the broker may read first.

    The first one with records returns a batch even over the limits, which leaves less room for the others.
    """
    keys = sorted(requested, key=row_order)

    def rows(first: Key | None) -> tuple[Row, ...]:
        # Without a limit for the whole response, the others have room too.
        max_bytes_of_others = WIDE if max_bytes >= WIDE else 0
        return tuple(
            _row(
                broker,
                key,
                requested[key],
                max_bytes if key == first else max_bytes_of_others,
                version,
                min_one=key == first,
            )
            for key in keys
        )

    first_keys = [key for key in keys if _row(broker, key, requested[key], WIDE, version, min_one=True)[-1]]
    found: list[tuple[Row, ...]] = []
    for first in first_keys or (None,):
        candidate = rows(first)
        if candidate not in found:
            found.append(candidate)
    yield from found


def row_order(key: Key) -> tuple[str, int]:
    """Return the sort key of a row."""
    return str(key[0]), key[1]


# -- fetches that wait --------------------------------------------------------------------------


def may_wait(broker: Broker, requested: Table[Key, PartitionRequest], request: FetchRequest) -> bool:
    """Return whether a fetch may wait; fetches that wait have wide limits.

    Missing partitions need not end the wait at once, unless there are no others.
    """
    if request.max_wait_ms <= 0:
        return False
    rows = [
        _row(broker, key, partition_request, WIDE, DIVERGENCE_FROM, min_one=True)
        for key, partition_request in requested.items()
    ]
    existing = [row for row in rows if row[ROW_ERROR] not in _ABSENT]
    if not existing or any(row[ROW_ERROR] != 0 or row[-2] for row in existing):
        return False
    return _available_bytes(broker, requested) < min(request.min_bytes, request.max_bytes)


def _available_bytes(broker: Broker, requested: Table[Key, PartitionRequest], *, has_room: bool = False) -> int:
    """Return the size in bytes of the records for a fetch; with `has_room`, only of partitions with a limit above 0."""
    size = 0
    for key, partition_request in requested.items():
        partition = broker.find_partition(key)
        log = None if partition is None else broker.logs.get(partition)
        if (
            partition is None
            or log is None
            or broker.phases[partition[0]].is_applied
            or (has_room and not partition_request.max_bytes)
        ):
            continue
        size += sum(batch.size for batch in log.batches if batch.base + batch.records > partition_request.offset)
    return size


def wake_outcomes(broker: Broker) -> Iterator[Outcome[Broker]]:
    """Yield the outcomes when waiting fetches now have enough records."""
    for fetch in broker.waiting:
        if _available_bytes(broker, fetch.requested, has_room=True) >= fetch.min_bytes:
            for state, responses in end_wait(broker, fetch):
                for after, later_responses in wake_outcomes(state):
                    yield Outcome(after, {**responses, **later_responses})
            return
    yield Outcome(broker, {})


def end_wait(broker: Broker, fetch: WaitingFetch) -> Iterator[Outcome[Broker]]:
    """Yield the outcomes of a fetch whose wait ends."""
    broker = replace(broker, waiting=tuple(other for other in broker.waiting if other != fetch))
    session = None if fetch.session is None else broker.sessions.get(fetch.session)
    if session is not None and session.epoch != fetch.epoch:
        error = int(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        yield Outcome(broker, {fetch.call: expected(error=error, session=fetch.session, rows=())})
        return
    for rows in all_rows(broker, fetch.requested, WIDE, fetch.version):
        if fetch.session is None:
            yield Outcome(broker, {fetch.call: expected(error=0, session=0, rows=rows)})
        else:
            yield incremental_response(broker, fetch.call, fetch.session, rows, fetch.version)


def may_end_wait(broker: Broker, fetch: WaitingFetch) -> bool:
    """Return whether a wait may end early: overtaken, with an error, or with records beyond its limits."""
    session = None if fetch.session is None else broker.sessions.get(fetch.session)
    if session is not None and session.epoch != fetch.epoch:
        return True
    return _available_bytes(broker, fetch.requested) >= fetch.min_bytes or any(
        _row(broker, key, requested, WIDE, fetch.version, min_one=True)[ROW_ERROR] != 0
        for key, requested in fetch.requested.items()
    )
