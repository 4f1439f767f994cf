"""Checkers of logs: copies are equal, offsets keep their values, and epochs and high watermarks do not fall."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.account import NO_NODE, UNAWARE, Election, FetchedOffsets, LogRow
from kmirror.histories.checkers.elections import cause_of_open_transaction, is_from_reassigned_epoch, may_be_shorter
from kmirror.histories.checkers.facts import (
    LATE,
    Facts,
    LogView,
    Place,
    is_compacted,
    is_control,
    is_producer_reset,
)
from kmirror.histories.checkers.keyed_records import all_keys, missed_keys
from kmirror.histories.checkers.losses import loss_text, losses
from kmirror.histories.checkers.reasons import Record, keys_missed_by_clocks, loss_reason
from kmirror.histories.checkers.sessions import NEVER, MirrorSession
from kmirror.histories.checkers.wording import Finding, group_losses, seconds
from kmirror.histories.compaction import may_lack_superseding_records, unexplained_difference
from kmirror.histories.execution import DISK
from kmirror.histories.verdict import Anomaly
from kmirror.kernel.clock import MILLISECOND, SECOND, Duration, Instant
from kmirror.kernel.names import counted
from kmirror.kernel.values import value
from kmirror.log.config import DAY_MS

SETTLING: Duration = 10 * SECOND
"""Time that a new leader may need to know again which records are decided."""

# -- divergence -----------------------------------------------------------------------------------


def divergence(facts: Facts) -> Iterator[Finding]:
    """Replicas of a partition differ, or a destination differs from its source where both are decided."""
    for cluster, tp, broker, difference in facts.account.differing_replicas:
        yield Anomaly(
            "divergence",
            cluster,
            tp,
            -1,
            f"broker {broker} of {cluster} is in the ISR but differs from the leader: {difference}",
        )
    for cluster, tp, broker, difference, at in facts.account.differing_joiners:
        text = f"broker {broker} of {cluster} joins the ISR at {seconds(at)} but differs from the leader: {difference}"
        yield Anomaly("divergence", cluster, tp, -1, text, at)
    waiting = {(cluster, tp) for cluster, tp, _ in facts.account.unsettled}
    for place in facts.views:
        for session in facts.sessions(place):
            if facts.may_follow_another(session):
                continue
            if session.ended_at == NEVER and place not in waiting and (session.source, session.tp) not in waiting:
                yield from _final_differences(facts, place, session)
            elif session.ended_at != NEVER:
                yield from _difference_at_stop(facts, place, session)
            yield from _undecided_copies(facts, place, session)
            yield from _later_log_starts(facts, place, session)


def _final_differences(facts: Facts, place: Place, session: MirrorSession) -> Iterator[Anomaly]:
    """Yield a difference if a settled mirror does not have exactly the decided records of its source."""
    mirror_view, source_view = facts.final_view(place), facts.final_view((session.source, session.tp))
    if (
        mirror_view is None
        or source_view is None
        or facts.state_at(place, mirror_view.at, session.mirror) != "MIRRORING"
    ):
        return
    until, end = source_view.log.last_stable_offset, mirror_view.log.log_end_offset
    open_one = source_view.by_offset.get(until)
    # Transactions left open by an unclean election may end after the observation that found everything settled.
    unsettled = open_one is not None and cause_of_open_transaction(facts, session.tp, open_one)
    if unsettled and end <= source_view.log.high_watermark:
        until = max(until, end)  # A transaction with a lost marker hides records that the mirror copied before.
    if end != until and not unsettled:
        text = (
            f"mirror {session.mirror} has settled, but its log ends at {end}, and {session.source} is stable up to "
            f"{until}"
        )
        yield Anomaly("divergence", *place, min(end, until), text, mirror_view.at)
    start = max(mirror_view.log.log_start_offset, source_view.log.log_start_offset)
    if is_compacted(facts, place, mirror_view.at) or is_compacted(facts, (session.source, session.tp), mirror_view.at):
        yield from _survivors_differ(
            facts, place, session, (mirror_view, source_view), start, min(until, mirror_view.log.high_watermark)
        )
        return
    expected = {offset: row for offset, row in source_view.by_offset.items() if offset >= start}
    found = {offset: row for offset, row in mirror_view.by_offset.items() if offset >= start}
    yield from _compare(place, session, mirror_view, expected, found, min(until, mirror_view.log.high_watermark))


def _undecided_copies(facts: Facts, place: Place, session: MirrorSession) -> Iterator[Anomaly]:
    """Yield a difference if a mirror, while it follows, has records that its source has not decided yet (D12).

    This is not checked soon after an election at the source, where a new leader decides again the records above its
    high watermark. Nor is it checked where the source may have cut the marker: by an unclean election, or in a mirror
    of its own.
    """
    source = (session.source, session.tp)
    for mirror_view in facts.views[place]:
        source_view = facts.view_before(source, mirror_view.at)
        if (
            not session.mirroring_at < mirror_view.at <= session.removed_at
            or source_view is None
            or source_view.at != mirror_view.at
        ):
            continue
        stable = source_view.log.last_stable_offset
        open_one = source_view.by_offset.get(stable)
        if (
            open_one is None
            or mirror_view.by_offset.get(stable) != open_one
            or cause_of_open_transaction(facts, session.tp, open_one, mirror_view.at)
        ):
            continue
        if any(other.overlaps(mirror_view.at - SETTLING, mirror_view.at) for other in facts.sessions(source)):
            continue
        elections = facts.elections.get(source, [])
        if not facts.was_disturbed(session.source, mirror_view.at - SETTLING, mirror_view.at) and not any(
            mirror_view.at - SETTLING <= election.at <= mirror_view.at for election in elections
        ):
            text = f"mirror {session.mirror}: the LSO of {session.source} is {stable}, but {place[0]} has a batch at it"
            yield Anomaly("divergence", *place, stable, text, mirror_view.at)
            return


def _later_log_starts(facts: Facts, place: Place, session: MirrorSession) -> Iterator[Anomaly]:
    """Yield a difference if a mirror's log, while it follows, begins later than its source's, unless it did before
    (D46).
    """
    first = facts.view_after(place, session.mirroring_at)
    before = 0 if first is None else first.log.log_start_offset
    for mirror_view in facts.views[place]:
        source_view = facts.view_before((session.source, session.tp), mirror_view.at)
        if (
            source_view is None
            or source_view.at != mirror_view.at
            or not session.mirroring_at < mirror_view.at <= session.removed_at
        ):
            continue
        start = source_view.log.log_start_offset
        source, begins_at = (session.source, session.tp), mirror_view.log.log_start_offset
        if begins_at > max(start, before) and not (
            _may_fall(facts, source, session.began_at, mirror_view.at, begins_at)
            or _may_have_reverted_start(facts, source, mirror_view.at, begins_at)
            or _was_removed_by_new_leader(facts, place, session, mirror_view, begins_at)
        ):
            text = (
                f"mirror {session.mirror}: the log begins at {mirror_view.log.log_start_offset}, "
                f"but {session.source}'s at {start}"
            )
            yield Anomaly("divergence", *place, start, text, mirror_view.at)
            return


def _was_removed_by_new_leader(
    facts: Facts, place: Place, session: MirrorSession, mirror_view: LogView, start: int
) -> bool:
    """Return whether a leader elected in the session may have deleted up to `start` before it knew of the session.

    A follower applies its topic's own retention until its leader responds that the log is mirrored again.
    """
    elected = any(session.began_at <= election.at <= mirror_view.at for election in facts.elections.get(place, []))
    before = facts.view_before(place, session.mirroring_at)
    rows = () if before is None else before.log.rows
    return elected and all(
        facts.is_expired(row.value, mirror_view.at) for row in rows if row.offset < start and not is_control(row)
    )


def _difference_at_stop(facts: Facts, place: Place, session: MirrorSession) -> Iterator[Anomaly]:
    """Yield a difference between a stopped log and its source's up to the last mirrored epoch.

    In each epoch one log must be a prefix of the other. Either may continue in the same epoch where the other ends,
    because the source died before it could report the point of divergence. This is not checked if a mirror of the
    source's own may have changed its log.
    """
    mirror_view = next((view for view in facts.views[place] if view.at >= session.ended_at), None)
    source_view = facts.view_after((session.source, session.tp), session.ended_at)
    if mirror_view is None or source_view is None or session.mirroring_at == NEVER or session.last_mirror_epoch < 0:
        return
    later = any(
        other.began_at <= mirror_view.at and other.ended_at > session.ended_at for other in facts.sessions(place)
    )
    source = (session.source, session.tp)
    has_changed = any(other.overlaps(session.began_at, source_view.at) for other in facts.sessions(source))
    has_changed = has_changed or facts.was_deleted(source, session.began_at, source_view.at)
    if later or has_changed:
        return
    start = max(mirror_view.log.log_start_offset, source_view.log.log_start_offset)
    if is_compacted(facts, place, source_view.at) or is_compacted(facts, source, source_view.at):
        if not (_is_whole(mirror_view, start) and _is_whole(source_view, start)):
            return  # The source cleans after the stop, too, so the rest need not be a prefix of the former log.
        mirror_view, source_view = _without_crc(mirror_view), _without_crc(source_view)
    mirror_epochs, source_epochs = (
        _rows_by_epoch(mirror_view, start, session.last_mirror_epoch),
        _rows_by_epoch(source_view, start, session.last_mirror_epoch),
    )
    for epoch, found in mirror_epochs.items():
        expected = source_epochs.get(epoch, {})
        until = 1 + min(max(found), max(expected, default=-1))
        differs = list(_compare(place, session, mirror_view, expected, found, until))
        yield from differs
        if differs:
            return


def _is_whole(view: LogView, start: int) -> bool:
    """Return whether every offset from `start` to the high watermark has its record: the cleaner removed none."""
    return all(offset in view.by_offset for offset in range(start, view.log.high_watermark))


def _without_crc(view: LogView) -> LogView:
    """Return the log without checksums: the cleaner may rewrite a batch without removing a record."""
    return LogView(replace(view.log, rows=tuple(replace(row, crc=0) for row in view.log.rows)))


def _survivors_differ(
    facts: Facts, place: Place, session: MirrorSession, views: tuple[LogView, LogView], start: int, until: int
) -> Iterator[Anomaly]:
    """Yield the first difference that compaction does not explain, if there is one."""
    mirror_view, source_view = views
    source = session.source, session.tp
    mirror_missed_keys = [*keys_missed_by_clocks(facts, session), *missed_keys(facts, place, mirror_view.log)]
    source_missed_keys = missed_keys(facts, source, source_view.log)
    if may_lack_superseding_records(facts.account, source):
        mirror_missed_keys = source_missed_keys = all_keys(facts, session.tp)
    found = unexplained_difference(
        source_view.log.rows,
        mirror_view.log.rows,
        start,
        until,
        may_lack_tombstones=(source_missed_keys, mirror_missed_keys),
    )
    if found is not None:
        text = f"mirror {session.mirror}: at offset {found[0]} {session.source} has {found[1]}, {place[0]} {found[2]}"
        yield Anomaly("divergence", *place, found[0], text, mirror_view.at)


def _rows_by_epoch(view: LogView, start: int, epoch_max: int) -> dict[int, dict[int, LogRow]]:
    """Return the records from `start` on, by epoch and offset."""
    found: dict[int, dict[int, LogRow]] = {}
    for row in view.log.rows:
        if row.offset >= start and row.epoch <= epoch_max:
            found.setdefault(row.epoch, {})[row.offset] = row
    return found


def _compare(
    place: Place,
    session: MirrorSession,
    mirror_view: LogView,
    expected: dict[int, LogRow],
    actual: dict[int, LogRow],
    until: int,
) -> Iterator[Anomaly]:
    """Yield the first difference below `until`, if there is one."""
    for offset in sorted(offset for offset in expected.keys() | actual.keys() if offset < until):
        expected_row, found_row = expected.get(offset), actual.get(offset)
        if not _same(expected_row, found_row):
            text = (
                f"mirror {session.mirror}: at offset {offset} {session.source} has {_row(expected_row)}, {place[0]} "
                f"{_row(found_row)}"
            )
            yield Anomaly("divergence", *place, offset, text, mirror_view.at)
            return


def _same(one: LogRow | None, other: LogRow | None) -> bool:
    if one is None or other is None:
        return one is other
    return replace(one, visible=True) == replace(other, visible=True)


def _row(row: LogRow | None) -> str:
    return "nothing" if row is None else f"{row.value} of epoch {row.epoch}"


# -- duplicate-at-offset --------------------------------------------------------------------------


@value
class _Sighting:
    """A value at an offset, present from `begin` at the earliest, and observed at `end`."""

    value: str
    epoch: int
    begin: Instant
    end: Instant
    observer: str
    decided: bool
    """It was below the last stable offset; a stop cuts records above it."""
    is_read: bool = False
    """A consumer received it."""


def duplicate_at_offset(facts: Facts) -> Iterator[Finding]:
    """An idempotent write is twice in one log, or two committed values were observed at one offset."""
    for place, views in facts.views.items():
        yield from _duplicates_in_log(facts, place, views)
    for place, offsets in _sightings(facts).items():
        found = [
            anomaly for offset, rows in sorted(offsets.items())
            if len(dict.fromkeys(row.value for row in rows)) > 1
            and (anomaly := _two_values(facts, place, offset, rows)) is not None
        ]  # fmt: skip
        if found:
            more = f"; the same applies to {counted(len(found) - 1, 'more offset')}" if len(found) > 1 else ""
            yield replace(found[0], text=found[0].text + more)


def _duplicates_in_log(facts: Facts, place: Place, views: list[LogView]) -> Iterator[Anomaly]:
    reported: dict[str, None] = {}
    for view in views:
        resets = [row.offset for row in view.log.rows if is_producer_reset(row)]
        for row in view.log.rows:
            first = view.by_value.get(row.value)
            if is_control(row) or first is None or first is row or row.producer_id < 0 or row.value in reported:
                continue
            if any(first.offset < reset < row.offset for reset in resets):
                continue  # A stop clears all producer states, so a later retry is new to the log.
            if _was_expired(facts, view, row):
                continue
            reported[row.value] = None
            text = (
                f"{row.value!r} was written once by producer {row.producer_id}, but is at offset "
                f"{first.offset} and here"
            )
            yield Anomaly("duplicate-at-offset", *place, row.offset, text, view.at)


def _was_expired(facts: Facts, view: LogView, row: LogRow) -> bool:
    """Return whether the leader that appended the row had expired the producer id, because its clock was ahead.

    The row may have been mirrored with its epoch, so the leader may be one of any cluster.
    """
    write = facts.account.writes.get(row.value)
    if write is None:
        return False
    for cluster in facts.plan.clusters:
        kept = int(cluster.configs.get("producer.id.expiration.ms", DAY_MS)) * MILLISECOND
        ahead = facts.clock_ahead(cluster.name, facts.leaders_of_epoch((cluster.name, view.log.tp), row.epoch))
        if ahead and write.sent_at + kept - ahead <= view.at:
            return True
    return False


def _sightings(facts: Facts) -> dict[Place, dict[int, list[_Sighting]]]:
    """Return the observations below the high watermark by place and offset; of a run of one value only both ends."""
    found: dict[Place, dict[int, list[_Sighting]]] = {}
    for place, views in facts.views.items():
        offsets = found.setdefault(place, {})
        for view in views:
            for row in view.log.rows:
                if not is_control(row):
                    decided = row.offset < view.log.last_stable_offset
                    sighting = _Sighting(row.value, row.epoch, view.at, view.at, "the observed log", decided)
                    _add(offsets.setdefault(row.offset, []), sighting)
    for read in facts.account.reads:
        offsets = found.setdefault((read.cluster, read.tp), {})
        observer = f"consumer {read.client}"
        sighting = _Sighting(
            read.value, read.leader_epoch, read.at - LATE, read.at, observer, read.committed_only, True
        )
        _add(offsets.setdefault(read.offset, []), sighting)
    for ack in facts.account.acks:
        offsets = found.setdefault((ack.cluster, ack.tp), {})
        sighting = _Sighting(ack.value, -1, ack.sent_at, ack.at, f"the ack of broker {ack.broker}", True)
        _add(offsets.setdefault(ack.offset, []), sighting)
    return found


def _add(rows: list[_Sighting], row: _Sighting) -> None:
    """Add a sighting; in a run of the same value only the first and the last are kept."""
    if len(rows) >= 2 and rows[-1].value == rows[-2].value == row.value and row.end >= rows[-1].end:
        rows[-1] = row
    else:
        rows.append(row)


def _two_values(facts: Facts, place: Place, offset: int, rows: list[_Sighting]) -> Anomaly | None:
    ordered = sorted(rows, key=lambda row: (row.end, row.begin))
    for before, after in pairwise(ordered):
        if before.value == after.value:
            continue
        begin, end = min(before.begin, after.begin), max(before.end, after.end)
        since = begin - UNAWARE
        if facts.was_deleted(place, since, end) and facts.account.may_be_behind(place[0], since, end):
            continue  # A broker that did not know of the deletion has returned a record of the deleted topic.
        is_in_session = any(session.overlaps(begin, end) for session in facts.sessions(place))
        if is_in_session and not (before.decided and after.decided):
            continue
        if is_in_session and facts.may_be_deleted(before.value, offset, end):
            continue  # An empty log begins again at the log start of its source.
        if is_from_reassigned_epoch(facts, place, (before.value, after.value), end):
            continue
        reasons = [
            loss_reason(facts, place, Record(row.value, offset, row.epoch), begin, end) for row in (before, after)
        ]
        if reasons == [None, None] or (reasons[0] is None and _is_too_late(facts, place, before, after)):
            text = (
                f"{before.observer} has {before.value!r} at {seconds(before.end)}, {after.observer} has "
                f"{after.value!r} at "
                f"{seconds(after.end)}, and no cut was allowed in between"
            )
            return Anomaly("duplicate-at-offset", *place, offset, text, after.end)
    return None


def _is_too_late(facts: Facts, place: Place, before: _Sighting, after: _Sighting) -> bool:
    """Return whether a consumer received a value that had surely been replaced by the one before.

    A valid reason to remove the value does not explain a later read of it. A broker that does not know the controller's
    latest decisions, or was deposed by an unclean election, may still return it.
    """
    if not after.is_read or after.begin <= before.end:
        return False
    since = before.begin - UNAWARE
    return not (
        facts.account.may_be_behind(place[0], since, after.end)
        or [*facts.unclean_leader_views(place, since, after.end)]
        or facts.was_deleted(place, since, after.end)
    )


# -- epoch-regression -----------------------------------------------------------------------------


def epoch_regression(facts: Facts) -> Iterator[Finding]:
    """Leader epochs fall: inside a log, from election to election, or a batch is above its leader's own epoch (D14)."""
    for place, views in facts.views.items():
        for view in views:
            found = _epoch_regression_in_log(place, view)
            if found is not None:
                yield found
                break
    highest: dict[tuple[Place, str], Election] = {}
    for election in facts.account.elections:
        place = (election.cluster, election.tp)
        topic_id = facts.topic_id(*place, election.at)
        before = highest.setdefault((place, topic_id), election)
        if before is election:
            continue
        if not facts.has_topic_ids_by_cluster[place[0]] and facts.was_deleted(place, before.at, election.at):
            highest[place, topic_id] = election  # It is another topic, whose id is not reported.
            continue
        deleted = facts.was_deleted(place, before.at, election.at)
        if election.leader_epoch < before.leader_epoch + deleted:
            text = f"the controller assigned leader epoch {election.leader_epoch} after {before.leader_epoch}"
            text += ", of a topic with the same id that was deleted (D49)" if deleted else ""
            yield Anomaly("epoch-regression", *place, -1, text, election.at)
        if election.leader_epoch >= before.leader_epoch:
            highest[place, topic_id] = election


def _epoch_regression_in_log(place: Place, view: LogView) -> Anomaly | None:
    last = -1
    for row in view.log.rows:
        if row.epoch < last:
            text = f"a batch of epoch {row.epoch} follows one of epoch {last}"
            return Anomaly("epoch-regression", *place, row.offset, text, view.at)
        if row.epoch > view.log.leader_epoch:
            text = (
                f"a batch of epoch {row.epoch} at a leader of epoch {view.log.leader_epoch}, so readers would "
                "wait forever"
            )
            return Anomaly("epoch-regression", *place, row.offset, text, view.at)
        last = row.epoch
    return None


# -- hw-regression --------------------------------------------------------------------------------


def hw_regression(facts: Facts) -> Iterator[Finding]:
    """A high watermark falls, in one leader epoch or for good, or a record below it is gone without a cut."""
    last: dict[tuple[str, Place, int, int], FetchedOffsets] = {}
    highest: dict[Place, FetchedOffsets] = {}
    for marks in facts.account.fetched_offsets:
        place = (marks.cluster, marks.tp)
        key = (marks.client, place, marks.broker, marks.leader_epoch)
        before = last.get(key)
        # A follower takes a lower high watermark from its leader, which may have begun with it.
        if before is not None and marks.is_leader and _has_fallen(facts, place, before, marks):
            text = (
                f"consumer {marks.client} received high watermark {before.high_watermark} at {seconds(before.at)} and "
                f"{marks.high_watermark} at {seconds(marks.at)} by the same leader in epoch {marks.leader_epoch}"
            )
            yield Anomaly("hw-regression", *place, marks.high_watermark, text, marks.at)
        last[key] = marks
        if place not in highest or marks.high_watermark >= highest[place].high_watermark:
            highest[place] = marks
    for place, marks in highest.items():
        final = facts.final_view(place)
        if final is None or final.log.high_watermark >= marks.high_watermark:
            continue
        if not _may_fall(facts, place, marks.at - LATE, final.at, marks.high_watermark, marks.leader_epoch):
            text = (
                f"a consumer received high watermark {marks.high_watermark} at {seconds(marks.at)}; at the end it is "
            )
            text += str(final.log.high_watermark)
            yield Anomaly("hw-regression", *place, final.log.high_watermark, text, final.at)
    unacked = [
        loss for loss in losses(facts)
        if loss.reason is None and facts.writing_cluster(loss.record.value) == loss.place[0]
        and (loss.place[0], loss.record.value) not in facts.first_acks
    ]  # fmt: skip
    yield from group_losses(
        "hw-regression", unacked, lambda loss, many: f"{many}, committed but never acknowledged, {loss_text(loss)}"
    )


def _has_fallen(facts: Facts, place: Place, before: FetchedOffsets, after: FetchedOffsets) -> bool:
    is_lower = after.high_watermark < before.high_watermark
    if not is_lower or _was_restarted(facts, before, after.at):
        return False
    return not _may_fall(facts, place, before.at - LATE, after.at, before.high_watermark, before.leader_epoch)


def _may_fall(facts: Facts, place: Place, begin: Instant, end: Instant, offset: int, leader_epoch: int = -1) -> bool:
    """Return whether a log that reached `offset` may have become shorter.

    The cause may be a session in a mirror, its deletion, or an unclean election, after `leader_epoch`, of a leader
    whose log was shorter.
    """
    if may_be_shorter(facts, place, offset, begin, end, leader_epoch=leader_epoch):
        return True
    if facts.was_deleted(place, begin - UNAWARE, end):
        return True
    return any(session.overlaps(begin, end) for session in facts.sessions(place))


def _may_have_reverted_start(facts: Facts, place: Place, until: Instant, start: int) -> bool:
    """Return whether DeleteRecords moved the log start to `start` or above, and a crash reverted that.

    A broker writes log starts to a checkpoint at intervals, as Kafka does. A broker whose log directories are repaired
    is killed at that moment, and started again.
    """
    crashes = [
        at
        for span in facts.account.spans
        if span.kind in ("broker", DISK) and span.subject.rsplit("-", 1)[0] == place[0]
        and (at := span.end if span.kind == DISK else span.begin) <= until
    ]  # fmt: skip
    return any(
        deletion.reaches(start) and any(deletion.sent_at <= at for at in crashes)
        for deletion in facts.record_deletions(place, until)
    )


def _was_restarted(facts: Facts, marks: FetchedOffsets, until: Instant) -> bool:
    """Return whether the broker restarted: if it returns within its session, it leads from its checkpointed mark."""
    subject = f"{marks.cluster}-{marks.broker}"
    return any(
        span.kind == "broker" and span.subject == subject and marks.at - LATE <= span.begin <= until
        for span in facts.account.spans
    )


# -- broken-invariant -----------------------------------------------------------------------------


def broken_invariant(facts: Facts) -> Iterator[Finding]:
    """A node holds, sends or returns data that breaks a rule of replication, transactions, groups or mirroring, or a
    client of `kmirror.client` does; the text begins with the name of the rule.
    """
    for (cluster, tp, rule), row in facts.account.broken_rules.items():
        node = {CONTROLLER_ID: "the controller", NO_NODE: "a client"}.get(row.node_id, f"broker {row.node_id}")
        text = f"{rule}: {node} of {cluster} at {seconds(row.at)}: {row.text}"
        yield Anomaly("broken-invariant", cluster, tp if tp.topic else None, -1, text, row.at, rule)
