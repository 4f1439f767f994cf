"""Records of each key: those committed in a cluster, and deletions that a log may lack."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

from kmirror.histories import compaction
from kmirror.histories.account import Ack, LogRow, ObservedLog
from kmirror.histories.checkers.facts import Facts, Place, is_compacted, was_away
from kmirror.histories.compaction import tombstones_stay
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition


class KeyedRecord(NamedTuple):
    """A record of a key that was, or may have been, committed in a cluster."""

    offset: int
    """-1 if it is not known."""
    value: str
    epoch: int
    is_tombstone: bool
    sent_at: Instant
    last_seen: Instant
    is_certain: bool
    """It was read, or acknowledged outside any transaction with an unknown outcome."""


def keyed_records(facts: Facts, place: Place) -> dict[str, list[KeyedRecord]]:
    """Return the records of each key in a cluster, by offset; those with an unknown offset come first."""
    return facts.cached(f"keyed {place}", lambda: _find_keyed_records(facts, place))


def _find_keyed_records(facts: Facts, place: Place) -> dict[str, list[KeyedRecord]]:
    found: dict[str, KeyedRecord] = {}
    undecided: dict[tuple[str, int], tuple[int, Instant]] = {}
    """(value, offset) to the epoch, and the time when it was last observed there."""
    for view in facts.views.get(place, []):
        for row in view.decided_rows():
            found[row.value] = _decided_record(facts, row, view.at)
        undecided.update({(row.value, row.offset): (row.epoch, view.at) for row in view.log.rows})
    for ack in facts.acks.get(place, []):
        known, undecided_at = found.get(ack.value), undecided.get((ack.value, ack.offset))
        if known is None or _is_written_again(known, ack, undecided_at):
            found[ack.value] = _acknowledged_record(facts, ack, undecided_at)
    by_key: dict[str, list[KeyedRecord]] = {}
    for known in (*found.values(), *_uncertain_records(facts, place, found)):
        sent, transaction = facts.account.writes.get(known.value), facts.transaction(known.value)
        if sent is not None and (known.is_certain or transaction is None or transaction.requested_end == "commit"):
            by_key.setdefault(sent.key, []).append(known)
    return {key: sorted(rows) for key, rows in by_key.items()}


def _uncertain_records(facts: Facts, place: Place, found: Container[str]) -> Iterator[KeyedRecord]:
    """Yield the records that may be in the log: those sent and not found, and those that may have been sent again.

    A producer without idempotence sends a record, possibly already in the log, again until it gets a response.
    """
    refused = {refusal.value for refusal in facts.account.refusals}
    for write in facts.account.writes.values():
        is_open = write.value not in found or (
            write.producer_id < 0 and (place[0], write.value) not in facts.first_acks
        )
        if (write.cluster, write.tp) == place and is_open and write.value not in refused:
            yield KeyedRecord(-1, write.value, -1, write.is_tombstone, write.sent_at, write.sent_at, is_certain=False)


def _decided_record(facts: Facts, row: LogRow, at: Instant) -> KeyedRecord:
    write = facts.account.writes.get(row.value)
    return KeyedRecord(
        row.offset, row.value, row.epoch, row.is_tombstone, at if write is None else write.sent_at, at, True
    )


def _is_written_again(known: KeyedRecord, ack: Ack, undecided: tuple[int, Instant] | None) -> bool:
    """Return whether an acknowledgement is for a second copy above the known one, not observed alone since then.

    While a transaction between the two copies is open, an observation shows both, and only the first is decided.
    """
    if known.offset >= ack.offset:
        return False
    return known.last_seen < ack.at or (undecided is not None and known.last_seen <= undecided[1])


def _acknowledged_record(facts: Facts, ack: Ack, undecided: tuple[int, Instant] | None) -> KeyedRecord:
    write, transaction = facts.account.writes[ack.value], facts.transaction(ack.value)
    sure = transaction is None or (transaction.requested_end == "commit" and transaction.is_end_acknowledged)
    epoch, last_seen = undecided or (-1, ack.sent_at)
    return KeyedRecord(
        ack.offset, ack.value, epoch, write.is_tombstone, write.sent_at, max(last_seen, ack.sent_at), sure
    )


def is_superseded(facts: Facts, place: Place, value: str, offset: int, at: Instant) -> bool:
    """Return whether compaction explains that a record is gone: a later one of its key was committed by then."""
    write = facts.account.writes.get(value)
    if write is None or not is_compacted(facts, place, at):
        return False
    if write.is_tombstone and _is_due(facts, place, write.sent_at, at):
        return True
    # A value in doubt that superseded it would be present; a tombstone in doubt may have expired.
    return any(
        (row.is_certain or row.is_tombstone)
        and row.sent_at <= at
        and (row.value != value if min(row.offset, offset) < 0 else row.offset > offset)
        for row in keyed_records(facts, place).get(write.key, [])
    )


def _is_due(facts: Facts, place: Place, sent_at: Instant, at: Instant) -> bool:
    """Return whether a tombstone has existed for at least `delete.retention.ms`."""
    return sent_at + tombstones_stay(facts.plan, facts.account, place[0], place[1].topic, at) <= at


def all_keys(facts: Facts, tp: TopicPartition) -> list[str]:
    """Return the keys of all records that were sent to the partition in any cluster."""
    return list(dict.fromkeys(write.key for write in facts.account.writes.values() if write.tp == tp))


# -- deletions that a log may lack ---------------------------------------------------------------


def missed_deletions(facts: Facts, place: Place, log: ObservedLog) -> list[str]:
    """Return the keys whose tombstones a log may lack because its leader was away for longer than they are kept.

    The leader may also be one of a log that it was mirrored from. For each key the last tombstone known to be committed
    counts: a later one may be lost, or its transaction aborted. Records of this cluster take precedence over those of
    its sources, whose mirror may have stopped.
    """
    last: dict[str, KeyedRecord] = {}
    sources = upstream_logs(facts, place)
    for each in (place, *sources):
        for key, rows in keyed_records(facts, each).items():
            last_here = _last_tombstone(rows)
            if last_here is not None and (key not in last or not last[key].is_certain):
                last[key] = last_here
    return [
        key
        for key, row in last.items()
        if was_away(facts, place, log, row.sent_at)
        or any(_was_led_without(facts, each, row.sent_at, log.at) for each in sources)
    ]


def missed_keys(facts: Facts, place: Place, log: ObservedLog) -> list[str]:
    """Return the keys of records that a log may keep after others deleted or aborted them and cleaned that up."""
    aborted = [
        write.key
        for write in compaction.uncommitted_writes(facts.account, place[1].topic)
        if write.tp == place[1] and marker_missed(facts, place, write.sent_at, log.at)
    ]
    return [*missed_deletions(facts, place, log), *aborted]


def marker_missed(facts: Facts, place: Place, written_at: Instant, until: Instant) -> bool:
    """Return whether a leader of a log, or of one that it was mirrored from, may have missed the end of a transaction.

    The marker is removed by compaction after some time, like a tombstone; `written_at` is when one of the transaction's
    records was sent.
    """
    return any(
        is_compacted(facts, each, until) and _was_led_without(facts, each, written_at, until)
        for each in (place, *upstream_logs(facts, place))
    )


def _last_tombstone(rows: list[KeyedRecord]) -> KeyedRecord | None:
    """Return the last tombstone known to be committed; if there is none, the first that may be."""
    tombstones = [row for row in rows if row.is_tombstone]
    sure = [row for row in tombstones if row.is_certain]
    return max(sure, key=_sent_at) if sure else min(tombstones, key=_sent_at, default=None)


def _sent_at(row: KeyedRecord) -> Instant:
    return row.sent_at


def _was_led_without(facts: Facts, place: Place, written_at: Instant, until: Instant) -> bool:
    """Return whether a replica that may have missed a tombstone or marker became leader of a log."""
    return any(
        compaction.was_away(facts.plan, facts.account, place, election.leader, election.at, written_at)
        for election in facts.elections.get(place, [])
        if election.at <= until
    )


def upstream_logs(facts: Facts, place: Place) -> list[Place]:
    """Return the logs that a log was mirrored from, through any chain."""
    found = [place]
    for each in found:
        found += dict.fromkeys(
            source for session in facts.sessions(each) if (source := (session.source, place[1])) not in found
        )
    return found[1:]
