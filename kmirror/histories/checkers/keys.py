"""Checkers of compacted topics: the latest committed value of each key is present, and deleted keys stay deleted.

Compaction may remove a record if a later committed one has its key, and a tombstone after `delete.retention.ms`. If the
superseding record is cut later, which may be correct by itself, the key has no value any more: each loss has a reason,
but together they have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from kmirror.histories.account import LogRow
from kmirror.histories.checkers.elections import POWER, UNCLEAN
from kmirror.histories.checkers.facts import LATE, Facts, LogView, Place, RecordState, is_compacted, was_away
from kmirror.histories.checkers.keyed_records import (
    KeyedRecord,
    keyed_records,
    missed_deletions,
    missed_keys,
    upstream_logs,
)
from kmirror.histories.checkers.losses import losses
from kmirror.histories.checkers.reasons import DELETED, SCRATCH, Reason, Record, keys_missed_by_clocks, loss_reason
from kmirror.histories.checkers.sessions import NEVER, MirrorSession
from kmirror.histories.checkers.wording import Finding, seconds
from kmirror.histories.compaction import latest, may_lack_superseding_records
from kmirror.histories.producing import DELIVERY_TIMEOUT_MS
from kmirror.histories.verdict import Anomaly
from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.names import counted

APPENDED_WITHIN: Duration = DELIVERY_TIMEOUT_MS * MILLISECOND + LATE
"""Time after its first sending within which a record may still be appended to a log."""


def key_lost(facts: Facts) -> Iterator[Finding]:
    """The latest committed value of a key is gone at the end, with no later value, although it had no reason to go."""
    yield from _first_of_each_place(_lost_keys(facts))


def key_came_back(facts: Facts) -> Iterator[Finding]:
    """A deleted key has an earlier value at the end; or a mirror has a value for a key that its source has deleted."""
    yield from _first_of_each_place(_returned_keys(facts))


def _first_of_each_place(found: Iterable[Anomaly]) -> Iterator[Anomaly]:
    by_place: dict[tuple[str, TopicPartition | None], list[Anomaly]] = {}
    for row in found:
        by_place.setdefault((row.cluster, row.tp), []).append(row)
    for rows in by_place.values():
        more = f"; the same applies to {counted(len(rows) - 1, 'more key')}" if len(rows) > 1 else ""
        yield replace(rows[0], text=rows[0].text + more)


def _lost_keys(facts: Facts) -> Iterator[Anomaly]:
    for place, final, key, row, actual in _missing_records(facts):
        if not row.is_tombstone:
            found_text = "nothing" if actual is None else f"{actual.value!r}"
            text = (
                f"the latest value of key {key} was {row.value!r}, last seen at {seconds(row.last_seen)}; at the "
                "end the key "
                f"has {found_text} in {place[0]}, without a valid reason to drop that value"
            )
            yield Anomaly("key-lost", *place, row.offset, text, final.at)


def _returned_keys(facts: Facts) -> Iterator[Anomaly]:
    for place, final, key, row, actual in _missing_records(facts):
        if row.is_tombstone and actual is not None and not actual.is_tombstone:
            if was_away(facts, place, final.log, row.sent_at) or key in missed_deletions(facts, place, final.log):
                continue
            text = (
                f"key {key} was deleted by {row.value!r} at offset {row.offset}, last seen at "
                f"{seconds(row.last_seen)}; at "
                f"the end {actual.value!r} can be read again"
            )
            yield Anomaly("key-came-back", *place, actual.offset, text, final.at)
    waiting = {(cluster, tp) for cluster, tp, _ in facts.account.unsettled}
    for place in facts.views:
        for session in facts.sessions(place):
            if session.ended_at == NEVER and place not in waiting and (session.source, session.tp) not in waiting:
                yield from _keys_returned_in_mirror(facts, place, session)


def _missing_records(facts: Facts) -> Iterator[tuple[Place, LogView, str, KeyedRecord, LogRow | None]]:
    """Yield the latest record of each key that should be present and is not, with the key's actual latest record."""
    waiting = {(cluster, tp) for cluster, tp, _ in facts.account.unsettled}
    for place in facts.views:
        final = facts.final_view(place)
        if final is None or place in waiting or not is_compacted(facts, place, final.at):
            continue
        actual_rows = latest(final.log.rows)
        at_sources = [keyed_records(facts, source) for source in upstream_logs(facts, place)]
        for key, rows in keyed_records(facts, place).items():
            mirrored = [row for of_source in at_sources for row in of_source.get(key, []) if row.is_tombstone]
            row = _last_required_record(facts, place, final, rows, mirrored)
            actual = actual_rows.get(key)
            if row is not None and (actual is None or actual.offset < row.offset):
                if row.is_tombstone and actual is None:
                    continue
                yield place, final, key, row, actual


def _last_required_record(
    facts: Facts, place: Place, final: LogView, rows: list[KeyedRecord], mirrored: list[KeyedRecord]
) -> KeyedRecord | None:
    """Return the last record of a key that only compaction may have removed; None if that is uncertain.

    `mirrored` has the key's tombstones at the sources: they may have been written and removed between two observations.
    """
    doubtful = [*mirrored, *(row for row in rows if row.is_tombstone and not row.is_certain)]
    for row in reversed(rows):
        if row.offset < 0 or any(_may_follow(tombstone, row) for tombstone in doubtful):
            return None
        state = final.record_state(row.value, row.offset)
        if state is RecordState.PRESENT:
            return row
        if state in (RecordState.UNDECIDED, RecordState.OPEN):
            return None
        if state is RecordState.HIDDEN or not row.is_certain or facts.may_be_deleted(row.value, row.offset, final.at):
            continue
        hidden = _hidden_reasons(facts).get((place, row.value))
        if hidden is not None and hidden.decision not in (UNCLEAN, POWER):
            continue  # A stop aborted it, and no cleaner here may have removed the records that it superseded (D46).
        reason = hidden or _absence_reason(facts, place, row, final.at)
        if reason is None:
            return row
        if reason.decision in (UNCLEAN, POWER):
            return None  # The replica that lost it had cleaned the superseded records, and may have led since.
        if reason.decision == DELETED and row.epoch < 0:
            return None  # Only its acknowledgement is known: it may have come after the deletion, and gone since.
    return None


def _hidden_reasons(facts: Facts) -> Mapping[tuple[Place, str], Reason]:
    """Return the valid reasons for which readable records later became unreadable with their transactions (D29)."""
    return facts.cached(
        "hidden",
        lambda: {(loss.place, loss.record.value): loss.reason for loss in losses(facts) if loss.hidden and loss.reason},
    )


def _absence_reason(facts: Facts, place: Place, row: KeyedRecord, end: Instant) -> Reason | None:
    """Return the reason for which a cluster may lack a record; None if there is none.

    Records cut from scratch must be copied again once MIRRORING begins, unless the source has dropped them, its topic
    was deleted, or the mirror is paused.
    """
    record = Record(row.value, row.offset, row.epoch)
    reason = loss_reason(facts, place, record, row.last_seen, end)
    sessions = [
        session for session in facts.sessions(place) if session.ended_at == NEVER and session.mirroring_at <= end
    ]
    sessions = [
        session for session in sessions if facts.state_at(place, end, session.mirror) not in ("PAUSING", "PAUSED")
    ]
    copied = [session.mirroring_at + 1 for session in sessions if facts.source_until(session) == NEVER]
    if reason is None or reason.decision != SCRATCH or not copied:
        return reason
    reason = loss_reason(facts, place, record, max(row.last_seen, *copied), end)
    return None if reason is None or reason.decision == SCRATCH else reason


def _may_follow(tombstone: KeyedRecord, row: KeyedRecord) -> bool:
    """Return whether a tombstone may have a higher offset than a record with the same key.

    Then the cleaner may have removed the record, and later the tombstone.
    """
    if tombstone.offset >= 0:
        return tombstone.offset > row.offset
    return row.sent_at <= tombstone.sent_at + APPENDED_WITHIN


def _keys_returned_in_mirror(facts: Facts, place: Place, session: MirrorSession) -> Iterator[Anomaly]:
    mirror_view, source_view = facts.final_view(place), facts.final_view((session.source, session.tp))
    if (
        mirror_view is None
        or source_view is None
        or facts.state_at(place, mirror_view.at, session.mirror) != "MIRRORING"
    ):
        return
    source = session.source, session.tp
    if not is_compacted(facts, source, source_view.at) or may_lack_superseding_records(facts.account, source):
        return
    if facts.may_follow_another(session):
        return
    source_rows = latest(source_view.log.rows)
    start = source_view.log.log_start_offset
    missed = [*keys_missed_by_clocks(facts, session), *missed_keys(facts, place, mirror_view.log)]
    for key, row in latest(mirror_view.log.rows).items():
        source_row = source_rows.get(key)
        if (
            key in missed
            or row.is_tombstone
            or row.offset < start
            or (source_row is not None and not source_row.is_tombstone)
        ):
            continue
        tombstones = [record for record in keyed_records(facts, source).get(key, []) if record.is_tombstone]
        if tombstones and all(
            mirror_view.record_state(record.value, record.offset) is not RecordState.UNDECIDED for record in tombstones
        ):
            text = (
                f"{session.source} deleted key {key} by {tombstones[-1].value!r}, but mirror {session.mirror}, in "
                f"state "
                f"MIRRORING, still has {row.value!r} for it"
            )
            yield Anomaly("key-came-back", *place, row.offset, text, mirror_view.at)
