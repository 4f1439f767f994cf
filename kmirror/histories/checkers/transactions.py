"""Checkers of transactions and producer ids: transactions are atomic and end, and producer ids are not shared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kmirror.histories.account import LOG_END, OPEN_TRANSACTIONS, UNAWARE, LogRow, ObservedLog, Transaction
from kmirror.histories.checkers.elections import (
    UNCLEAN,
    cause_of_loss_anywhere,
    cause_of_open_transaction,
    cause_of_reset_loss,
)
from kmirror.histories.checkers.facts import (
    Facts,
    LogView,
    Place,
    RecordState,
    is_compacted,
    is_control,
    is_producer_reset,
    was_away,
)
from kmirror.histories.checkers.keyed_records import is_superseded, marker_missed, upstream_logs
from kmirror.histories.checkers.reasons import DELETED, MARKERS_CLEANED, Record, loss_reason
from kmirror.histories.checkers.sessions import NEVER
from kmirror.histories.checkers.wording import Finding, count_accepted, seconds
from kmirror.histories.late_timeouts import times_out_late
from kmirror.histories.verdict import Anomaly
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition

CLOCKS = "wrong clock"
STATES = "D8"
"""A leader elected after the states were lost stopped a topic as if no mirror had written to it."""
SEQUENCE_ERRORS = ("OUT_OF_ORDER_SEQUENCE_NUMBER", "DUPLICATE_SEQUENCE_NUMBER", "UNKNOWN_PRODUCER_ID")
EPOCH_ERRORS = ("INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED")
SPANNING = "D44"
"""A local transaction that was open before its topic entered a mirror, and continued after it had left."""


def half_transaction(facts: Facts) -> Iterator[Finding]:
    """Some of a transaction's records in one partition can be read, and others are missing or unreadable."""
    parts = _committed_values(facts)
    for place, views in facts.views.items():
        reported: dict[str, None] = {}
        for view in views:
            for key, values in parts.get(place[1], {}).items():
                found = None if key in reported else _find_half(view, values, facts)
                if found is None:
                    continue
                reported[key] = None
                readable, missing = found
                cause = {value: _cause_of_loss(facts, place[1], value, view) for value in missing}
                unexplained = [value for value in missing if not cause[value]]
                if not unexplained:
                    yield from count_accepted([(cause[missing[0]], *place)])
                    continue
                lost = unexplained[0]
                written = facts.first_acks[facts.account.writes[lost].cluster, lost].sent_at
                if facts.was_deleted_anywhere(place[1].topic, written, view.at):
                    yield from count_accepted([(DELETED, *place)])
                    continue
                if _spans_session(facts, place[1], readable, lost):
                    yield from count_accepted([(SPANNING, *place)])
                    continue
                text = (
                    f"transaction {key}: {readable!r} can be read, but {lost!r} of the same partition is "
                    f"{view.record_state(lost, -1).value}, at {seconds(view.at)}"
                )
                yield Anomaly("half-transaction", *place, view.by_value[readable].offset, text, view.at)


def _cause_of_loss(facts: Facts, tp: TopicPartition, value: str, view: LogView) -> str:
    """Return the cause, UNCLEAN or POWER, if the record or the marker that committed it is lost; else empty."""
    row = view.by_value.get(value)
    return cause_of_loss_anywhere(facts, tp, value, view.at) or (
        "" if row is None else cause_of_open_transaction(facts, tp, row, view.at)
    )


def _spans_session(facts: Facts, tp: TopicPartition, readable: str, lost: str) -> bool:
    """Return whether a session in a mirror is between the records: one was written before its end and cut, one after.

    The sessions are those of the cluster that the records were written to; every mirror of that one has the same half.
    """
    place = (facts.writing_cluster(lost), tp)
    before, after = (facts.first_acks[place[0], value].at for value in (lost, readable))
    for session in facts.sessions(place):
        view = facts.view_after(place, session.ended_at) if before < session.ended_at <= after else None
        if view is not None and not view.has_value(lost):
            return True
    return False


def _committed_values(facts: Facts) -> dict[TopicPartition, dict[str, list[str]]]:
    """Return, by partition and transaction, the acknowledged values of transactions whose commit was requested."""
    parts: dict[TopicPartition, dict[str, list[str]]] = {}
    for key, transaction in facts.account.transactions.items():
        if transaction.requested_end != "commit":
            continue
        for value in transaction.values:
            if (transaction.cluster, value) in facts.first_acks:
                parts.setdefault(facts.account.writes[value].tp, {}).setdefault(key, []).append(value)
    return parts


def _find_half(view: LogView, values: list[str], facts: Facts) -> tuple[str, list[str]] | None:
    """Return a readable value and the unreadable ones, or None if there are none or the observation is inconclusive."""
    present = [
        value for value in values if view.has_value(value) and view.record_state(value, -1) is RecordState.PRESENT
    ]
    if not present or len(present) == len(values):
        return None
    missing = []
    for value in values:
        ack = facts.first_acks[facts.account.writes[value].cluster, value]
        if ack.offset < view.log.log_start_offset and facts.may_be_deleted(value, ack.offset, view.at):
            continue  # It was deleted by its age or by an order, with the other records of its segment.
        if view.record_state(value, ack.offset) in (RecordState.GONE, RecordState.HIDDEN) and not _is_superseded(
            facts, view, value
        ):
            missing.append(value)
    return (present[0], missing) if missing else None


def _is_superseded(facts: Facts, view: LogView, value: str) -> bool:
    """Return whether compaction explains that a record is gone: here, or in a cluster from which it was mirrored.

    There a later record of its key may have superseded it that was not mirrored.
    """
    tp, written_at = view.log.tp, facts.account.writes[value].cluster
    offset = facts.first_acks[written_at, value].offset
    return any(
        is_superseded(facts, place, value, offset, view.at)
        for place in facts.views
        if place[1] == tp
        and (
            place[0] in (view.log.cluster, written_at)
            or any(value in other.by_value for other in facts.views[place] if other.at <= view.at)
        )
    )


def aborted_read(facts: Facts) -> Iterator[Finding]:
    """A record of a transaction whose commit no client requested is readable, or a read_committed consumer got it."""
    reported: dict[tuple[Place, str], None] = {}
    for read in facts.account.reads:
        transaction = facts.transaction(read.value) if read.committed_only else None
        if transaction is not None and transaction.requested_end != "commit":
            text = f"read_committed consumer {read.client} received it at {seconds(read.at)}"
            place = (read.cluster, read.tp)
            row = LogRow(read.offset, read.leader_epoch, read.value, facts.account.writes[read.value].producer_id, True)
            yield from _aborted(facts, reported, place, transaction, row, text, read.at)
    for place, views in facts.views.items():
        for view in views:
            for row in view.decided_rows():
                transaction = facts.transaction(row.value)
                if transaction is not None and transaction.requested_end != "commit":
                    text = f"the log shows it as committed at {seconds(view.at)}"
                    yield from _aborted(facts, reported, place, transaction, row, text, view.at)


def _aborted(
    facts: Facts,
    reported: dict[tuple[Place, str], None],
    place: Place,
    transaction: Transaction,
    row: LogRow,
    text: str,
    at: Instant,
) -> Iterator[Finding]:
    key = (place, transaction.key)
    if key in reported:
        return
    reported[key] = None
    cause = cause_of_open_transaction(facts, place[1], row) or (
        UNCLEAN if _may_have_lost_coordinator_records(facts, transaction) else ""
    )
    if not cause and marker_missed(facts, place, facts.account.writes[row.value].sent_at, at):
        cause = MARKERS_CLEANED
    if cause:
        yield from count_accepted([(cause, *place)])
        return
    requested_end = transaction.requested_end or "nothing"
    text = f"{row.value!r} of transaction {transaction.key} ({requested_end} was requested): {text}"
    yield Anomaly("aborted-read", *place, row.offset, text)


def _may_have_lost_coordinator_records(facts: Facts, transaction: Transaction) -> bool:
    """Return whether an unclean election lost the coordinator's records of the transaction, or occurred while it was
    open.

    A coordinator that goes back to the end of the previous transaction ends that again, and this one with it.
    """
    writes = [facts.account.writes[value] for value in transaction.values]
    begin, end = min(write.sent_at for write in writes), max(write.sent_at for write in writes) + UNAWARE
    producers = {write.producer_id for write in writes}
    end += facts.clocks_differ_by
    return facts.account.groups.may_have_lost_transactions(transaction.cluster, producers, begin, end)


def hanging_transaction(facts: Facts) -> Iterator[Finding]:
    """At the end a partition's last stable offset does not advance, although no client has a transaction open."""
    for place in facts.views:
        final = facts.final_view(place)
        if final is None or final.log.last_stable_offset >= final.log.high_watermark:
            continue
        if any(session.ended_at == NEVER for session in facts.sessions(place)):
            continue  # A mirror gets the marker from its source, and accepts no other one while it waits.
        offset = final.log.last_stable_offset
        first = final.by_offset.get(offset)
        opened = None if first is None else facts.transaction(first.value)
        lost = opened is not None and _may_have_lost_coordinator_records(facts, opened)
        cause = UNCLEAN if lost else "" if first is None else cause_of_open_transaction(facts, place[1], first)
        cause = cause or (STATES if facts.account.was_stopped_without_state(place) else "")
        if cause:
            yield from count_accepted([(cause, *place)])
            continue
        if marker_was_cleaned(facts, place):
            yield from count_accepted([(MARKERS_CLEANED, *place)])
            continue
        rows = [row for row in final.log.rows if row.offset >= offset and not is_control(row)]
        owner = facts.transaction(rows[0].value) if rows else None
        if owner is not None and times_out_late(facts.plan, owner):
            yield from count_accepted([(CLOCKS, *place)])
            continue
        owner_text = "a transaction of an unknown client" if owner is None else f"transaction {owner.key}"
        text = (
            f"{owner_text} is open at {offset}: read_committed readers stop here, but the log is committed up to "
            f"{final.log.high_watermark}"
        )
        yield Anomaly("hanging-transaction", *place, offset, text, final.at)


def marker_was_cleaned(facts: Facts, place: Place) -> bool:
    """Return whether the transaction that is open at the end may have ended, and its marker been cleaned away.

    A marker is removed `delete.retention.ms` after the last record of its transaction. A replica that was away for
    longer keeps these records, and the transaction open, as in Kafka. So does a mirror that was behind for longer: it
    copied the records before its source's cleaner removed them, and passed the marker's offset afterwards (D64). The
    first records may be gone: only records of ended transactions are cleaned.
    """
    final = facts.final_view(place)
    if final is None or not is_compacted(facts, place, final.at):
        return False
    first = final.by_offset.get(final.log.last_stable_offset)
    if first is not None and facts.transaction(first.value) is None:
        return False
    if was_away(facts, place, final.log):
        return True
    return first is not None and any(_has_cleaned(facts, each, first) for each in upstream_logs(facts, place))


def _has_cleaned(facts: Facts, source: Place, record: LogRow) -> bool:
    """Return whether a source has passed a record, and has neither that nor the end of its transaction."""
    final = facts.final_view(source)
    if final is None or final.log.last_stable_offset <= record.offset:
        return False
    remaining = (row for row in final.log.rows if row.offset >= record.offset and row.producer_id == record.producer_id)
    first = next(remaining, None)
    return first is None or (first.offset > record.offset and not is_control(first))


def waits_for_a_cleaned_marker(
    facts: Facts, place: Place, reason: str, logs: Mapping[Place, ObservedLog], was_cleaned: Callable[[Place], object]
) -> bool:
    """Return whether a partition waits for a transaction marker that was cleaned away, here or at a source.

    At the source a leader now keeps the transaction open below the end of the mirror's log, or exactly there: then the
    mirror has all decided records, and waits for the markers above them.
    """
    if reason.startswith(OPEN_TRANSACTIONS) and was_cleaned(place):
        return True
    mirror_log = logs.get(place)
    if mirror_log is None or not reason.startswith((OPEN_TRANSACTIONS, LOG_END)):
        return False
    sources = ((session.source, session.tp) for session in facts.sessions(place) if session.ended_at == NEVER)
    for source in sources:
        source_log = logs.get(source)
        if source_log is None or source_log.last_stable_offset >= source_log.high_watermark:
            continue
        is_ahead = source_log.last_stable_offset < mirror_log.log_end_offset
        if (
            is_ahead if reason.startswith(LOG_END) else _has_all_decided_records(mirror_log, source_log)
        ) and was_cleaned(source):
            return True
    return False


def _has_all_decided_records(mirror_log: ObservedLog, source_log: ObservedLog) -> bool:
    """Return whether a mirror has reached the offset where its source waits, with every marker of the source below it.

    Those that end the transactions open here are above the mirror's last stable offset, which no cleaner passes.
    """
    begin, end = mirror_log.last_stable_offset, source_log.last_stable_offset
    known = {(row.offset, row.value) for row in mirror_log.rows}
    markers = (row for row in source_log.rows if begin <= row.offset < end and is_control(row))
    return mirror_log.log_end_offset >= end and all((row.offset, row.value) in known for row in markers)


def pid_collision(facts: Facts) -> Iterator[Finding]:
    """A new producer's first batch is refused as out of order, or taken for another producer's batch; or a stop keeps
    the source's producer states.
    """
    yield from _still_known(facts)
    for refusal in facts.account.refusals:
        write = facts.account.writes.get(refusal.value)
        transactional = write is not None and bool(write.transaction)
        collision = refusal.error in SEQUENCE_ERRORS or (refusal.error in EPOCH_ERRORS and not transactional)
        lost = write is not None and facts.account.groups.may_have_lost_transactions(
            refusal.cluster, (write.producer_id,), 0, refusal.at + facts.clocks_differ_by
        )
        if not refusal.first or not collision:
            continue
        # It may have lost the producer reset.
        cause = UNCLEAN if lost else cause_of_reset_loss(facts, (refusal.cluster, refusal.tp), refusal.at)
        if cause:
            yield from count_accepted([(cause, refusal.cluster, refusal.tp)])
        else:
            text = f"the first batch of {refusal.client}'s new producer id was rejected: {refusal.error}"
            yield Anomaly("pid-collision", refusal.cluster, refusal.tp, -1, text, refusal.at)
    for ack in facts.account.acks:
        write = facts.account.writes.get(ack.value)
        if write is None or write.producer_id < 0:
            continue
        place = (ack.cluster, ack.tp)
        view = facts.view_before(place, ack.sent_at)
        row = None if view is None else view.by_offset.get(ack.offset)
        if view is None or row is None or row.value == ack.value:
            continue
        if row.offset >= view.log.last_stable_offset and any(
            s.overlaps(view.at, ack.at) for s in facts.sessions(place)
        ):
            continue  # A stop cuts records above the last stable offset.
        if loss_reason(facts, place, Record(row.value, row.offset, row.epoch), view.at, ack.at) is None:
            text = (
                f"{ack.value!r} of producer {write.producer_id} was acknowledged with the offset of an earlier record: "
                f"{row.value!r} of producer {row.producer_id}"
            )
            yield Anomaly("pid-collision", *place, ack.offset, text, ack.at)


def _still_known(facts: Facts) -> Iterator[Finding]:
    """Yield each log with an idempotent local write after records of another cluster, without a producer reset."""
    writes = facts.account.writes
    for place in facts.views:
        final = facts.final_view(place)
        foreign: LogRow | None = None
        for row in () if final is None else final.log.rows:
            if is_producer_reset(row):
                foreign = None
            write = None if row.producer_id < 0 or is_control(row) else writes.get(row.value)
            if write is None:
                continue
            if write.cluster != place[0]:
                foreign = row
                continue
            if foreign is None:
                continue
            cause = cause_of_reset_loss(facts, place, NEVER) or (
                STATES if facts.account.was_stopped_without_state(place) else ""
            )
            if cause:
                yield from count_accepted([(cause, *place)])
                break
            text = (
                f"{row.value!r} was written here by producer {row.producer_id} while producer {foreign.producer_id} of "
                f"{writes[foreign.value].cluster} was still known: there is no producer reset above {foreign.offset}"
            )
            yield Anomaly("pid-collision", *place, row.offset, text)
            break
