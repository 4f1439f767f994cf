"""Checkers of logs: copies are equal, offsets keep their values, and epochs and high watermarks do not fall."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.histories.account import NO_NODE, UNAWARE, Election, LogRow, Marks
from kmirror.histories.checkers.elections import is_of_an_epoch_given_twice, left_open, may_be_shorter
from kmirror.histories.checkers.facts import (
    LATE,
    Facts,
    Look,
    Place,
    is_compacted,
    is_control,
    is_producer_reset,
)
from kmirror.histories.checkers.keyed import all_keys, missed_keys
from kmirror.histories.checkers.losses import loss_text, losses
from kmirror.histories.checkers.reasons import Record, loss_reason, missed_by_clocks
from kmirror.histories.checkers.sessions import NEVER, MirrorSession
from kmirror.histories.checkers.words import Finding, clock, grouped
from kmirror.histories.execution import DISK
from kmirror.histories.survivors import may_lack_superseding_records, parted
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
    for cluster, tp, broker, where in facts.account.replicas:
        yield Anomaly(
            "divergence",
            cluster,
            tp,
            -1,
            f"broker {broker} of {cluster} is in the ISR but differs from the leader: {where}",
        )
    for cluster, tp, broker, where, at in facts.account.joiners:
        text = f"broker {broker} of {cluster} joins the ISR at {clock(at)} but differs from the leader: {where}"
        yield Anomaly("divergence", cluster, tp, -1, text, at)
    waiting = {(cluster, tp) for cluster, tp, _ in facts.account.unsettled}
    for place in facts.looks:
        for stay in facts.stays(place):
            if facts.may_follow_another(stay):
                continue
            if stay.ended == NEVER and place not in waiting and (stay.source, stay.tp) not in waiting:
                yield from _at_the_end(facts, place, stay)
            elif stay.ended != NEVER:
                yield from _at_the_stop(facts, place, stay)
            yield from _ahead(facts, place, stay)
            yield from _began_by_itself(facts, place, stay)


def _at_the_end(facts: Facts, place: Place, stay: MirrorSession) -> Iterator[Anomaly]:
    """Yield a difference if a settled mirror does not have exactly the decided records of its source."""
    ours, theirs = facts.final(place), facts.final((stay.source, stay.tp))
    if ours is None or theirs is None or facts.state_at(place, ours.at, stay.mirror) != "MIRRORING":
        return
    until, end = theirs.log.last_stable_offset, ours.log.log_end_offset
    open_one = theirs.by_offset.get(until)
    # Transactions left open by an unclean election may end after the look that found everything settled.
    unsettled = open_one is not None and left_open(facts, stay.tp, open_one)
    if unsettled and end <= theirs.log.high_watermark:
        until = max(until, end)  # A transaction with a lost marker hides records that the mirror copied before.
    if end != until and not unsettled:
        text = f"mirror {stay.mirror} has settled, but its log ends at {end}, and {stay.source} is stable up to {until}"
        yield Anomaly("divergence", *place, min(end, until), text, ours.at)
    start = max(ours.log.log_start_offset, theirs.log.log_start_offset)
    if is_compacted(facts, place, ours.at) or is_compacted(facts, (stay.source, stay.tp), ours.at):
        yield from _survivors_differ(facts, place, stay, (ours, theirs), start, min(until, ours.log.high_watermark))
        return
    expected = {offset: row for offset, row in theirs.by_offset.items() if offset >= start}
    found = {offset: row for offset, row in ours.by_offset.items() if offset >= start}
    yield from _compare(place, stay, ours, expected, found, min(until, ours.log.high_watermark))


def _ahead(facts: Facts, place: Place, stay: MirrorSession) -> Iterator[Anomaly]:
    """Yield a difference if a mirror, while it follows, has records that its source has not decided yet (D12).

    This is not checked soon after an election at the source, where a new leader decides again the records above its
    high watermark. Nor is it checked where the source may have cut the marker: by an unclean election, or in a mirror
    of its own.
    """
    source = (stay.source, stay.tp)
    for ours in facts.looks[place]:
        theirs = facts.look_before(source, ours.at)
        if not stay.mirroring < ours.at <= stay.removed or theirs is None or theirs.at != ours.at:
            continue
        stable = theirs.log.last_stable_offset
        open_one = theirs.by_offset.get(stable)
        if open_one is None or ours.by_offset.get(stable) != open_one or left_open(facts, stay.tp, open_one, ours.at):
            continue
        if any(other.overlaps(ours.at - SETTLING, ours.at) for other in facts.stays(source)):
            continue
        elections = facts.elections.get(source, [])
        if not facts.disturbed(stay.source, ours.at - SETTLING, ours.at) and not any(
            ours.at - SETTLING <= election.at <= ours.at for election in elections
        ):
            text = f"mirror {stay.mirror}: the LSO of {stay.source} is {stable}, but {place[0]} has a batch at it"
            yield Anomaly("divergence", *place, stable, text, ours.at)
            return


def _began_by_itself(facts: Facts, place: Place, stay: MirrorSession) -> Iterator[Anomaly]:
    """Yield a difference if a mirror's log, while it follows, begins later than its source's, unless it did before
    (D46).
    """
    first = facts.look_after(place, stay.mirroring)
    before = 0 if first is None else first.log.log_start_offset
    for ours in facts.looks[place]:
        theirs = facts.look_before((stay.source, stay.tp), ours.at)
        if theirs is None or theirs.at != ours.at or not stay.mirroring < ours.at <= stay.removed:
            continue
        start = theirs.log.log_start_offset
        source, begins_at = (stay.source, stay.tp), ours.log.log_start_offset
        if begins_at > max(start, before) and not (
            _may_fall(facts, source, stay.began, ours.at, begins_at)
            or _start_was_forgotten(facts, source, ours.at, begins_at)
            or _retained_by_its_heir(facts, place, stay, ours, begins_at)
        ):
            text = (
                f"mirror {stay.mirror}: the log begins at {ours.log.log_start_offset}, but {stay.source}'s at {start}"
            )
            yield Anomaly("divergence", *place, start, text, ours.at)
            return


def _retained_by_its_heir(facts: Facts, place: Place, stay: MirrorSession, ours: Look, start: int) -> bool:
    """Return whether a leader elected in the stay may have deleted up to `start` before it knew of the stay.

    A follower applies its topic's own retention until its leader responds that the log is mirrored again.
    """
    elected = any(stay.began <= election.at <= ours.at for election in facts.elections.get(place, []))
    before = facts.look_before(place, stay.mirroring)
    rows = () if before is None else before.log.rows
    return elected and all(
        facts.is_expired(row.value, ours.at) for row in rows if row.offset < start and not is_control(row)
    )


def _at_the_stop(facts: Facts, place: Place, stay: MirrorSession) -> Iterator[Anomaly]:
    """Yield a difference between a stopped log and its source's up to the last mirrored epoch.

    In each epoch one log must be a prefix of the other. Either may continue in the same epoch where the other ends,
    because the source died before it could report the point of divergence. This is not checked if a mirror of the
    source's own may have changed its log.
    """
    ours = next((look for look in facts.looks[place] if look.at >= stay.ended), None)
    theirs = facts.look_after((stay.source, stay.tp), stay.ended)
    if ours is None or theirs is None or stay.mirroring == NEVER or stay.last_mirror_epoch < 0:
        return
    later = any(other.began <= ours.at and other.ended > stay.ended for other in facts.stays(place))
    source = (stay.source, stay.tp)
    moved = any(other.overlaps(stay.began, theirs.at) for other in facts.stays(source))
    moved = moved or facts.was_deleted(source, stay.began, theirs.at)
    if later or moved:
        return
    start = max(ours.log.log_start_offset, theirs.log.log_start_offset)
    if is_compacted(facts, place, theirs.at) or is_compacted(facts, source, theirs.at):
        if not (_is_whole(ours, start) and _is_whole(theirs, start)):
            return  # The source cleans after the stop, too, so the rest need not be a prefix of the former log.
        ours, theirs = _without_crc(ours), _without_crc(theirs)
    mine, other = _by_epoch(ours, start, stay.last_mirror_epoch), _by_epoch(theirs, start, stay.last_mirror_epoch)
    for epoch, found in mine.items():
        expected = other.get(epoch, {})
        until = 1 + min(max(found), max(expected, default=-1))
        differs = list(_compare(place, stay, ours, expected, found, until))
        yield from differs
        if differs:
            return


def _is_whole(look: Look, start: int) -> bool:
    """Return whether every offset from `start` to the high watermark has its record: the cleaner removed none."""
    return all(offset in look.by_offset for offset in range(start, look.log.high_watermark))


def _without_crc(look: Look) -> Look:
    """Return the look without checksums: the cleaner may rewrite a batch without removing a record."""
    return Look(replace(look.log, rows=tuple(replace(row, crc=0) for row in look.log.rows)))


def _survivors_differ(
    facts: Facts, place: Place, stay: MirrorSession, looks: tuple[Look, Look], start: int, until: int
) -> Iterator[Anomaly]:
    """Yield the first difference that compaction does not explain, if there is one."""
    ours, theirs = looks
    source = stay.source, stay.tp
    missed_here = [*missed_by_clocks(facts, stay), *missed_keys(facts, place, ours.log)]
    missed_there = missed_keys(facts, source, theirs.log)
    if may_lack_superseding_records(facts.account, source):
        missed_here = missed_there = all_keys(facts, stay.tp)
    found = parted(theirs.log.rows, ours.log.rows, start, until, may_lack_tombstones=(missed_there, missed_here))
    if found is not None:
        text = f"mirror {stay.mirror}: at offset {found[0]} {stay.source} has {found[1]}, {place[0]} {found[2]}"
        yield Anomaly("divergence", *place, found[0], text, ours.at)


def _by_epoch(look: Look, start: int, epoch_max: int) -> dict[int, dict[int, LogRow]]:
    """Return the records from `start` on, by epoch and offset."""
    found: dict[int, dict[int, LogRow]] = {}
    for row in look.log.rows:
        if row.offset >= start and row.epoch <= epoch_max:
            found.setdefault(row.epoch, {})[row.offset] = row
    return found


def _compare(
    place: Place, stay: MirrorSession, ours: Look, expected: dict[int, LogRow], found: dict[int, LogRow], until: int
) -> Iterator[Anomaly]:
    """Yield the first difference below `until`, if there is one."""
    for offset in sorted(offset for offset in expected.keys() | found.keys() if offset < until):
        left, right = expected.get(offset), found.get(offset)
        if not _same(left, right):
            text = f"mirror {stay.mirror}: at offset {offset} {stay.source} has {_row(left)}, {place[0]} {_row(right)}"
            yield Anomaly("divergence", *place, offset, text, ours.at)
            return


def _same(left: LogRow | None, right: LogRow | None) -> bool:
    if left is None or right is None:
        return left is right
    return replace(left, visible=True) == replace(right, visible=True)


def _row(row: LogRow | None) -> str:
    return "nothing" if row is None else f"{row.value} of epoch {row.epoch}"


# -- duplicate-at-offset --------------------------------------------------------------------------


@value
class _Sighting:
    """A value at an offset, present from `begin` at the earliest, and seen at `end`."""

    value: str
    epoch: int
    begin: Instant
    end: Instant
    how: str
    decided: bool
    """It was below the last stable offset; a stop cuts records above it."""
    is_read: bool = False
    """A consumer received it."""


def duplicate_at_offset(facts: Facts) -> Iterator[Finding]:
    """An idempotent write is twice in one log, or two committed values were seen at one offset."""
    for place, looks in facts.looks.items():
        yield from _twice_in_a_log(facts, place, looks)
    for place, offsets in _sightings(facts).items():
        found = [
            anomaly for offset, rows in sorted(offsets.items())
            if len(dict.fromkeys(row.value for row in rows)) > 1
            and (anomaly := _two_values(facts, place, offset, rows)) is not None
        ]  # fmt: skip
        if found:
            more = f"; the same applies to {counted(len(found) - 1, 'more offset')}" if len(found) > 1 else ""
            yield replace(found[0], text=found[0].text + more)


def _twice_in_a_log(facts: Facts, place: Place, looks: list[Look]) -> Iterator[Anomaly]:
    reported: dict[str, None] = {}
    for look in looks:
        resets = [row.offset for row in look.log.rows if is_producer_reset(row)]
        for row in look.log.rows:
            first = look.by_value.get(row.value)
            if is_control(row) or first is None or first is row or row.producer_id < 0 or row.value in reported:
                continue
            if any(first.offset < reset < row.offset for reset in resets):
                continue  # A stop clears all producer states, so a later retry is new to the log.
            if _was_expired(facts, look, row):
                continue
            reported[row.value] = None
            text = (
                f"{row.value!r} was written once by producer {row.producer_id}, but is at offset "
                f"{first.offset} and here"
            )
            yield Anomaly("duplicate-at-offset", *place, row.offset, text, look.at)


def _was_expired(facts: Facts, look: Look, row: LogRow) -> bool:
    """Return whether the leader that appended the row had expired the producer id, because its clock was ahead.

    The row may have been mirrored with its epoch, so the leader may be one of any cluster.
    """
    write = facts.account.writes.get(row.value)
    if write is None:
        return False
    for cluster in facts.plan.clusters:
        kept = int(cluster.configs.get("producer.id.expiration.ms", DAY_MS)) * MILLISECOND
        ahead = facts.clock_ahead(cluster.name, facts.leaders_in((cluster.name, look.log.tp), row.epoch))
        if ahead and write.sent_at + kept - ahead <= look.at:
            return True
    return False


def _sightings(facts: Facts) -> dict[Place, dict[int, list[_Sighting]]]:
    """Return the observations below the high watermark by place and offset; of a run of one value only both ends."""
    found: dict[Place, dict[int, list[_Sighting]]] = {}
    for place, looks in facts.looks.items():
        offsets = found.setdefault(place, {})
        for look in looks:
            for row in look.log.rows:
                if not is_control(row):
                    decided = row.offset < look.log.last_stable_offset
                    sighting = _Sighting(row.value, row.epoch, look.at, look.at, "a look", decided)
                    _add(offsets.setdefault(row.offset, []), sighting)
    for read in facts.account.reads:
        offsets = found.setdefault((read.cluster, read.tp), {})
        how = f"consumer {read.client}"
        sighting = _Sighting(read.value, read.leader_epoch, read.at - LATE, read.at, how, read.committed_only, True)
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
        in_a_stay = any(stay.overlaps(begin, end) for stay in facts.stays(place))
        if in_a_stay and not (before.decided and after.decided):
            continue
        if in_a_stay and facts.may_be_deleted(before.value, offset, end):
            continue  # An empty log begins again at the log start of its source.
        if is_of_an_epoch_given_twice(facts, place, (before.value, after.value), end):
            continue
        reasons = [
            loss_reason(facts, place, Record(row.value, offset, row.epoch), begin, end) for row in (before, after)
        ]
        if reasons == [None, None] or (reasons[0] is None and _is_too_late(facts, place, before, after)):
            text = (
                f"{before.how} has {before.value!r} at {clock(before.end)}, {after.how} has {after.value!r} at "
                f"{clock(after.end)}, and no cut was allowed in between"
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
        or [*facts.unclean(place, since, after.end)]
        or facts.was_deleted(place, since, after.end)
    )


# -- epoch-regression -----------------------------------------------------------------------------


def epoch_regression(facts: Facts) -> Iterator[Finding]:
    """Leader epochs fall: inside a log, from election to election, or a batch is above its leader's own epoch (D14)."""
    for place, looks in facts.looks.items():
        for look in looks:
            found = _in_a_log(place, look)
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


def _in_a_log(place: Place, look: Look) -> Anomaly | None:
    last = -1
    for row in look.log.rows:
        if row.epoch < last:
            text = f"a batch of epoch {row.epoch} follows one of epoch {last}"
            return Anomaly("epoch-regression", *place, row.offset, text, look.at)
        if row.epoch > look.log.leader_epoch:
            text = (
                f"a batch of epoch {row.epoch} at a leader of epoch {look.log.leader_epoch}, so readers would "
                "wait forever"
            )
            return Anomaly("epoch-regression", *place, row.offset, text, look.at)
        last = row.epoch
    return None


# -- hw-regression --------------------------------------------------------------------------------


def hw_regression(facts: Facts) -> Iterator[Finding]:
    """A high watermark falls, in one leader epoch or for good, or a record below it is gone without a cut."""
    last: dict[tuple[str, Place, int, int], Marks] = {}
    highest: dict[Place, Marks] = {}
    for marks in facts.account.marks:
        place = (marks.cluster, marks.tp)
        key = (marks.client, place, marks.broker, marks.leader_epoch)
        before = last.get(key)
        # A follower takes a lower high watermark from its leader, which may have begun with it.
        if before is not None and marks.is_leader and _fell(facts, place, before, marks):
            text = (
                f"consumer {marks.client} received high watermark {before.high_watermark} at {clock(before.at)} and "
                f"{marks.high_watermark} at {clock(marks.at)} by the same leader in epoch {marks.leader_epoch}"
            )
            yield Anomaly("hw-regression", *place, marks.high_watermark, text, marks.at)
        last[key] = marks
        if place not in highest or marks.high_watermark >= highest[place].high_watermark:
            highest[place] = marks
    for place, marks in highest.items():
        final = facts.final(place)
        if final is None or final.log.high_watermark >= marks.high_watermark:
            continue
        if not _may_fall(facts, place, marks.at - LATE, final.at, marks.high_watermark, marks.leader_epoch):
            text = f"a consumer received high watermark {marks.high_watermark} at {clock(marks.at)}; at the end it is "
            text += str(final.log.high_watermark)
            yield Anomaly("hw-regression", *place, final.log.high_watermark, text, final.at)
    unacked = [
        loss for loss in losses(facts) if loss.reason is None and facts.written_at(loss.record.value) == loss.place[0]
        and (loss.place[0], loss.record.value) not in facts.acked
    ]  # fmt: skip
    yield from grouped(
        "hw-regression", unacked, lambda loss, many: f"{many}, committed but never acknowledged, {loss_text(loss)}"
    )


def _fell(facts: Facts, place: Place, before: Marks, after: Marks) -> bool:
    fell = after.high_watermark < before.high_watermark
    if not fell or _restarted(facts, before, after.at):
        return False
    return not _may_fall(facts, place, before.at - LATE, after.at, before.high_watermark, before.leader_epoch)


def _may_fall(facts: Facts, place: Place, begin: Instant, end: Instant, offset: int, leader_epoch: int = -1) -> bool:
    """Return whether a log that reached `offset` may have become shorter.

    The cause may be a stay in a mirror, its deletion, or an unclean election, after `leader_epoch`, of a leader whose
    log was shorter.
    """
    if may_be_shorter(facts, place, offset, begin, end, leader_epoch=leader_epoch):
        return True
    if facts.was_deleted(place, begin - UNAWARE, end):
        return True
    return any(stay.overlaps(begin, end) for stay in facts.stays(place))


def _start_was_forgotten(facts: Facts, place: Place, until: Instant, start: int) -> bool:
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


def _restarted(facts: Facts, marks: Marks, until: Instant) -> bool:
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
    for (cluster, tp, rule), row in facts.account.broken.items():
        who = {CONTROLLER_ID: "the controller", NO_NODE: "a client"}.get(row.node_id, f"broker {row.node_id}")
        text = f"{rule}: {who} of {cluster} at {clock(row.at)}: {row.text}"
        yield Anomaly("broken-invariant", cluster, tp if tp.topic else None, -1, text, row.at, rule)
