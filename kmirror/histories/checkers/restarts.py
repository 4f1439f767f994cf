"""Checker of the restart of all nodes: it must not change logs, states, offsets, configs and ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from kmirror.histories.account import CommittedOffset, LogRow, ObservedLog
from kmirror.histories.checkers.facts import Facts, Place, is_compacted, is_control, was_away
from kmirror.histories.checkers.keyed_records import all_keys, missed_keys
from kmirror.histories.checkers.reasons import MARKERS_CLEANED
from kmirror.histories.checkers.sessions import NEVER
from kmirror.histories.checkers.transactions import waits_for_a_cleaned_marker
from kmirror.histories.checkers.wording import Finding
from kmirror.histories.compaction import may_lack_superseding_records, unexplained_difference
from kmirror.histories.verdict import Accepted, Anomaly
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.wire_values import ResourceType

NAME = "changed-by-restart"
SETTLED = ("MIRRORING", "PAUSED", "STOPPED", "FAILED")
"""States in which a partition stays; others are transient."""


def changed_by_restart(facts: Facts) -> Iterator[Finding]:
    """After a restart of every node a log, a state, an offset, a config or an id has changed, or something does not
    settle or accepts no writes.
    """
    account = facts.account
    for place in account.before_restart.logs:
        lacking = _lacking_markers(facts, place)
        if lacking:
            yield Accepted(MARKERS_CLEANED, *place, len(lacking))
    for cluster, tp, reason in account.unsettled_after_restart:
        logs = account.after_restart.logs
        if waits_for_a_cleaned_marker(facts, (cluster, tp), reason, logs, partial(_lacking_markers, facts)):
            continue
        if not account.unsettled and not any(
            successor.tp == tp for successor in account.unclean_leader_logs_after_restart.values()
        ):
            yield Anomaly(NAME, cluster, tp, -1, f"after a restart: {reason}")
    for cluster, error in account.errors_after_restart:
        yield Anomaly(NAME, cluster, None, -1, f"after a restart a new producer cannot write: {error}")
    for place, log in account.before_restart.logs.items():
        again = account.after_restart.logs.get(place)
        if again is not None:
            if not _follows_another_topic(facts, place, log, again):
                yield from _changed(facts, place, log, again)
        elif not account.unsettled_after_restart:
            yield Anomaly(NAME, *place, -1, "after a restart the partition has no leader")
    yield from _states(facts)
    yield from _metadata(facts)


def _changed(facts: Facts, place: Place, before: ObservedLog, after: ObservedLog) -> Iterator[Anomaly]:
    """Yield the first difference between two observations of a log; a mirrored log may continue to grow."""
    again = {row.offset: row for row in after.rows}
    known = {row.offset: row for row in before.rows}
    successor = facts.account.unclean_leader_logs_after_restart.get(place)
    successor_rows = known if successor is None else {row.offset: row for row in successor.rows}
    # Another replica has a log that its own cleaner wrote, even if the topic is no longer compacted.
    cleaned = _may_be_removed(facts, place) or (before.broker != after.broker and is_compacted(facts, place, after.at))
    for row in before.rows:
        found = again.get(row.offset)
        same = found is not None and (found.epoch, found.value) == (row.epoch, row.value)
        # The cleaner rewrites a batch with the time when its tombstones and markers may be removed.
        if found is not None and same and (found.crc == row.crc or cleaned):
            # An open transaction may have timed out, but readable records must not become hidden.
            hidden = row.visible and not found.visible and successor is None and not _is_mirrored(facts, place)
            if hidden and not (row.offset >= after.last_stable_offset and _lacking_markers(facts, place)):
                yield Anomaly(
                    NAME, *place, row.offset, f"after a restart {row.value!r} can no longer be read", after.at
                )
                return
            continue
        if found is None and (row.offset < after.log_start_offset or cleaned):
            continue
        successor_row = successor_rows.get(row.offset)
        if successor_row is None or (successor_row.epoch, successor_row.value) != (row.epoch, row.value):
            continue  # An unclean election while nodes started lost it.
        now = "nothing" if found is None else f"{found.value!r} of epoch {found.epoch}"
        text = f"before a restart there was {row.value!r} of epoch {row.epoch}, afterwards there is {now}"
        yield Anomaly(NAME, *place, row.offset, text, after.at)
        return
    end = before.log_end_offset
    new_rows = [r for r in after.rows if r.offset >= end and not is_control(r)]
    if after.log_start_offset > before.log_start_offset and not _may_begin_later(facts, place, before, after):
        text = f"the log began at {before.log_start_offset}, after a restart it begins at {after.log_start_offset}"
        yield Anomaly(NAME, *place, after.log_start_offset, text, after.at)
    elif after.high_watermark < before.high_watermark and successor is None and not _is_mirrored(facts, place):
        text = f"the high watermark was {before.high_watermark}, after a restart it is {after.high_watermark}"
        yield Anomaly(NAME, *place, after.high_watermark, text, after.at)
    elif new_rows and successor is None and not _is_mirrored(facts, place):
        text = f"without a write, there is {new_rows[0].value!r} above offset {end} after a restart"
        yield Anomaly(NAME, *place, new_rows[0].offset, text, after.at)
    elif successor is None:
        yield from _returned_records(facts, place, before, after)


def _follows_another_topic(facts: Facts, place: Place, before: ObservedLog, after: ObservedLog) -> bool:
    """Return whether a mirror continued with the topic that now has this name at its source (D53).

    While that topic's leader epochs are low the mirror waits; a restart raises them, and then it cannot distinguish the
    two. All new records must be in the source's log.
    """
    sources = [
        session.source
        for session in facts.sessions(place)
        if session.ended_at == NEVER and facts.may_be_another_topic(session)
    ]
    source_logs = [log for source in sources if (log := facts.account.after_restart.logs.get((source, place[1])))]
    return any(_contents(after) - _contents(before) <= _contents(log) for log in source_logs)


def _contents(log: ObservedLog) -> set[tuple[int, int, str]]:
    return {(row.offset, row.epoch, row.value) for row in log.rows}


def _returned_records(facts: Facts, place: Place, before: ObservedLog, after: ObservedLog) -> Iterator[Anomaly]:
    """Yield the first record that was gone and is present again.

    Each replica of a compacted topic cleans its own log, so a leader may have superseded records that the previous
    leader had removed.
    """
    text = "after a restart there is a record that had been removed"
    if before.broker != after.broker and is_compacted(facts, place, after.at):
        start = max(before.log_start_offset, after.log_start_offset)
        rows = _as_if_decided(facts, before, after) if _lacking_markers(facts, place) else after.rows
        missed = missed_keys(facts, place, before), missed_keys(facts, place, after)
        if may_lack_superseding_records(facts.account, place):
            missed = all_keys(facts, place[1]), all_keys(facts, place[1])
        different = unexplained_difference(before.rows, rows, start, before.high_watermark, may_lack_tombstones=missed)
        if different is not None:
            yield Anomaly(NAME, *place, different[0], text, after.at)
        return
    known = {row.offset for row in before.rows}
    returned_offsets = [
        row.offset for row in after.rows
        if row.offset < before.high_watermark and row.offset not in known
        and not _was_deleted_before(facts, place, row, before, after)
    ]  # fmt: skip
    if returned_offsets:
        yield Anomaly(NAME, *place, returned_offsets[0], text, after.at)


def _was_deleted_before(facts: Facts, place: Place, row: LogRow, before: ObservedLog, after: ObservedLog) -> bool:
    """Return whether a record was below the log start before, and may be present again although it was deleted
    correctly.

    Each replica deletes by age on its own, and a follower learns its leader's log start from the next response. A crash
    may also revert a log start that DeleteRecords moved.
    """
    if row.offset >= before.log_start_offset:
        return False
    if not is_control(row) and not facts.may_be_deleted(row.value, row.offset, after.at):
        return False
    return before.broker != after.broker or _deletion_reaches(facts, place, row.offset + 1, after)


def _may_begin_later(facts: Facts, place: Place, before: ObservedLog, after: ObservedLog) -> bool:
    """Return whether a log may begin later than before: by its configs, or because another replica leads.

    Each replica deletes by age on its own, and a follower learns from its leader where DeleteRecords cut.
    """
    if _may_be_removed(facts, place):
        return True
    by_age = facts.retention_time(place[1].topic, after.at) != NEVER
    return before.broker != after.broker and (by_age or _deletion_reaches(facts, place, after.log_start_offset, after))


def _deletion_reaches(facts: Facts, place: Place, start: int, after: ObservedLog) -> bool:
    """Return whether DeleteRecords was ordered up to `start`, here or in a cluster that the log came from."""
    return any(
        deletion.reaches(start)
        for cluster in facts.brokers
        for deletion in facts.record_deletions((cluster, place[1]), after.at)
    )


def _lacking_markers(facts: Facts, place: Place) -> list[LogRow]:
    """Return the records after the restart without an end of their transactions, if all those ends were cleaned away.

    A marker is removed `delete.retention.ms` after the last record of its transaction. A replica that was away for
    longer keeps these records, and the transaction open (as in Kafka), while the leader before the restart had neither.
    """
    account = facts.account
    before, after = account.before_restart.logs.get(place), account.after_restart.logs.get(place)
    if before is None or after is None or before.broker == after.broker or not is_compacted(facts, place, after.at):
        return []
    open_rows = [row for row in after.rows if row.offset >= after.last_stable_offset and _is_open(facts, row, after)]
    known = {row.offset for row in before.rows}
    cleaned = all(row.offset not in known and not _end_marker(row, before) for row in open_rows)
    return open_rows if cleaned and was_away(facts, place, after) else []


def _is_open(facts: Facts, row: LogRow, log: ObservedLog) -> bool:
    return not is_control(row) and facts.transaction(row.value) is not None and not _end_marker(row, log)


def _end_marker(row: LogRow, log: ObservedLog) -> str:
    """Return the first marker of the record's producer that follows it in a log; empty if there is none."""
    ends = (other for other in log.rows if other.offset > row.offset and is_control(other))
    return next((other.value for other in ends if other.producer_id == row.producer_id), "")


def _as_if_decided(facts: Facts, before: ObservedLog, after: ObservedLog) -> list[LogRow]:
    """Return the rows of `after` with the former visibility of those that existed before.

    New ones above the last stable offset are visible unless their transaction is open or aborted.
    """
    known = {(row.offset, row.value): row.visible for row in before.rows}

    def is_visible(row: LogRow) -> bool:
        if row.visible or row.offset < after.last_stable_offset or is_control(row):
            return row.visible
        return facts.transaction(row.value) is None or _end_marker(row, after).startswith("<COMMIT")

    return [replace(row, visible=known.get((row.offset, row.value), is_visible(row))) for row in after.rows]


def _may_be_removed(facts: Facts, place: Place) -> bool:
    """Return whether records may be removed at any time: by age, size or key, or by a mirror that still runs."""
    account = facts.account
    cleaned = ("retention.ms", "retention.bytes", "cleanup.policy")
    topic = (place[0], int(ResourceType.TOPIC), place[1].topic)
    if any(name in cleaned for name in account.before_restart.configs.get(topic, {})):
        return True
    return _is_mirrored(facts, place)


def _is_mirrored(facts: Facts, place: Place) -> bool:
    return facts.account.before_restart.states.get(place, ("STOPPED", -1))[0] != "STOPPED"


def _may_have_lost_epoch(facts: Facts, place: Place, epoch: int) -> bool:
    """Return whether the last mirrored epoch was lost with `__mirror_state`, which a new leader notices (D8)."""
    return epoch < 0 and facts.account.may_have_lost_states(place[0], 0, NEVER)


def _states(facts: Facts) -> Iterator[Anomaly]:
    before, after = facts.account.before_restart, facts.account.after_restart
    if facts.account.unsettled_after_restart:
        return
    for place, (state, epoch) in before.states.items():
        now = after.states.get(place)
        if state not in SETTLED or now == (state, epoch):
            continue
        if now is not None and now[0] == state and (state != "STOPPED" or _may_have_lost_epoch(facts, place, now[1])):
            continue  # The epoch is settled at the stop.
        if now is not None and now[0] == "FAILED" and any(map(facts.may_be_another_topic, facts.sessions(place))):
            continue
        state_text = "in no mirror" if now is None else f"{now[0]} with last mirrored epoch {now[1]}"
        text = f"it was {state} with last mirrored epoch {epoch}, after a restart it is {state_text}"
        yield Anomaly(NAME, *place, -1, text)


def _metadata(facts: Facts) -> Iterator[Anomaly]:
    """Yield differences in offsets, configs and ids. Those that a mirror may still change are not checked."""
    before, after = facts.account.before_restart, facts.account.after_restart
    mirrored = {(cluster, tp.topic) for (cluster, tp), (state, _) in before.states.items() if state != "STOPPED"}
    for (cluster, group, tp), offset in before.offsets.items():
        now = after.offsets.get((cluster, group, tp))
        if now == offset or (cluster, tp.topic) in mirrored or _was_committed_since(facts, cluster, now):
            continue
        text = f"group {group} had committed {offset}, after a restart it has {'nothing' if now is None else now}"
        yield Anomaly(NAME, cluster, tp, -1, text)
    for (cluster, kind, name), values in before.configs.items():
        changed = after.configs.get((cluster, kind, name), {})
        if changed != values and not (kind == ResourceType.TOPIC and (cluster, name) in mirrored):
            text = f"configs of {name or 'the cluster'} were {values}, after a restart they are {changed}"
            yield Anomaly(NAME, cluster, None, -1, text)
    for (cluster, topic), topic_id in before.ids.items():
        if after.ids.get((cluster, topic)) != topic_id:
            text = f"topic {topic} had id {topic_id}, after a restart it has {after.ids.get((cluster, topic))}"
            yield Anomaly(NAME, cluster, TopicPartition(topic, 0), -1, text)


def _was_committed_since(facts: Facts, cluster: str, now: CommittedOffset | None) -> bool:
    """Return whether a member of the group sent this commit after the first snapshot.

    A member whose request got no response continues at its position, and commits it later.
    """
    sent = None if now is None else facts.account.groups.sent_offsets.get(now.metadata)
    return sent is not None and sent.cluster == cluster and sent.sent_at > facts.account.before_restart.at
