"""What a restart of all nodes must not change."""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.kernel.ids import TopicPartition
from kmirror.sim.history.account import LogSeen
from kmirror.sim.history.checkers.facts import Facts, Place, ends_of, is_control
from kmirror.sim.history.checkers.keys import is_compacted
from kmirror.sim.history.checkers.sessions import NEVER
from kmirror.sim.history.checkers.words import Finding
from kmirror.sim.history.survivors import parted, tombstones_stay
from kmirror.sim.history.verdict import Accepted, Anomaly
from kmirror.spec.wire_values import ResourceType

NAME = "changed-by-restart"
SETTLED = ("MIRRORING", "PAUSED", "STOPPED", "FAILED")
"""States in which a partition stays; others are on their way."""
MARKERS_CLEANED = "transactions left open at a replica that was away longer than delete.retention.ms"


def changed_by_restart(facts: Facts) -> Iterator[Finding]:
    """Every node has restarted after the end, and a log, a state, an offset, a config or an id is another one, or
    something does not come to rest, or takes no writes.
    """
    account = facts.account
    for cluster, tp, what in account.unsettled_again:
        if _lacks_markers(facts, (cluster, tp)):
            yield Accepted(MARKERS_CLEANED, cluster, tp, 1)
        elif not account.unsettled and not any(heir.tp == tp for heir in account.heirs_again.values()):
            yield Anomaly(NAME, cluster, tp, -1, f"after a restart: {what}")
    for cluster, error in account.refused_again:
        yield Anomaly(NAME, cluster, None, -1, f"after a restart a fresh producer cannot write: {error}")
    for place, log in account.before_restart.logs.items():
        again = account.after_restart.logs.get(place)
        if again is not None:
            yield from _changed(facts, place, log, again)
        elif not account.unsettled_again:
            yield Anomaly(NAME, *place, -1, "after a restart nobody leads the partition")
    yield from _states(facts)
    yield from _metadata(facts)


def _changed(facts: Facts, place: Place, before: LogSeen, after: LogSeen) -> Iterator[Anomaly]:
    """Yield the first difference between two looks at a log; one that is being mirrored may go on."""
    again = {row.offset: row for row in after.rows}
    known = {row.offset: row for row in before.rows}
    heir = facts.account.heirs_again.get(place)
    kept = known if heir is None else {row.offset: row for row in heir.rows}
    for row in before.rows:
        found = again.get(row.offset)
        same = found is not None and (found.epoch, found.value) == (row.epoch, row.value)
        # The cleaner writes a batch anew: when its tombstones and markers may go stands in it.
        if found is not None and same and (found.crc == row.crc or _may_go(facts, place)):
            # A transaction that was open may have timed out; nothing is hidden that could be read.
            hidden = row.visible and not found.visible and heir is None and not _is_mirrored(facts, place)
            if hidden and not _lacks_markers(facts, place):
                yield Anomaly(
                    NAME, *place, row.offset, f"after a restart {row.value!r} can no longer be read", after.at
                )
                return
            continue
        if found is None and (row.offset < after.log_start_offset or _may_go(facts, place)):
            continue
        held = kept.get(row.offset)
        if held is None or (held.epoch, held.value) != (row.epoch, row.value):
            continue  # An unclean election while nodes started took it.
        now = "nothing" if found is None else f"{found.value!r} of epoch {found.epoch}"
        text = f"there was {row.value!r} of epoch {row.epoch}, after a restart there is {now}"
        yield Anomaly(NAME, *place, row.offset, text, after.at)
        return
    end = before.log_end_offset
    new = [r for r in after.rows if r.offset >= end and not is_control(r)]
    if after.log_start_offset > before.log_start_offset and not _may_begin_later(facts, place, before, after):
        text = f"the log began at {before.log_start_offset}, after a restart it begins at {after.log_start_offset}"
        yield Anomaly(NAME, *place, after.log_start_offset, text, after.at)
    elif after.high_watermark < before.high_watermark and heir is None and not _is_mirrored(facts, place):
        text = f"the high watermark was {before.high_watermark}, after a restart it is {after.high_watermark}"
        yield Anomaly(NAME, *place, after.high_watermark, text, after.at)
    elif new and heir is None and not _is_mirrored(facts, place):
        text = f"nobody wrote, and after a restart there is {new[0].value!r} behind offset {end}"
        yield Anomaly(NAME, *place, new[0].offset, text, after.at)
    elif heir is None:
        yield from _back_again(facts, place, before, after)


def _back_again(facts: Facts, place: Place, before: LogSeen, after: LogSeen) -> Iterator[Anomaly]:
    """Yield the first record that was gone and is there again.

    Each replica of a compacted topic cleans its own log, so a leader may hold superseded records that the leader before
    it had removed.
    """
    text = "after a restart there is a record that was gone"
    if before.broker != after.broker and is_compacted(facts, place, after.at):
        start = max(before.log_start_offset, after.log_start_offset)
        different = parted(before.rows, after.rows, start, before.high_watermark)
        if different is not None and not _lacks_markers(facts, place):
            yield Anomaly(NAME, *place, different[0], text, after.at)
        return
    known = {row.offset for row in before.rows}
    new = [row.offset for row in after.rows if row.offset < before.high_watermark and row.offset not in known]
    if new:
        yield Anomaly(NAME, *place, new[0], text, after.at)


def _may_begin_later(facts: Facts, place: Place, before: LogSeen, after: LogSeen) -> bool:
    """Return whether a log may begin later than before: by its configs, or because another replica leads.

    Each replica deletes by age on its own, and a follower learns from its leader where DeleteRecords cut.
    """
    if _may_go(facts, place):
        return True
    deleted = facts.kept_for(place[1].topic, after.at) != NEVER or any(
        facts.plan.steps[order.number].args["topic"] == place[1].topic for order in facts.orders("delete_records")
    )
    return before.broker != after.broker and deleted


def _lacks_markers(facts: Facts, place: Place) -> bool:
    """Return whether the leader after the restart was away for so long that its leader had cleaned away markers.

    It keeps those transactions open: `delete.retention.ms` bounds how long a replica may be away (as in Kafka).
    """
    account = facts.account
    before, after = account.before_restart.logs.get(place), account.after_restart.logs.get(place)
    if before is None or after is None or before.broker == after.broker or not is_compacted(facts, place, after.at):
        return False
    stay = tombstones_stay(facts.plan, account, place[0], place[1].topic, after.at)
    name = f"{place[0]}-{after.broker}"
    return any(
        span.end - span.begin >= stay for span in account.spans if span.end >= 0 and name in ends_of(span.subject)
    )


def _may_go(facts: Facts, place: Place) -> bool:
    """Return whether records may go at any time: by their age, size or key, or by a mirror that still runs."""
    account = facts.account
    cleaned = ("retention.ms", "retention.bytes", "cleanup.policy")
    topic = (place[0], int(ResourceType.TOPIC), place[1].topic)
    if any(name in cleaned for name in account.before_restart.configs.get(topic, {})):
        return True
    return _is_mirrored(facts, place)


def _is_mirrored(facts: Facts, place: Place) -> bool:
    return facts.account.before_restart.states.get(place, ("STOPPED", -1))[0] != "STOPPED"


def _states(facts: Facts) -> Iterator[Anomaly]:
    before, after = facts.account.before_restart, facts.account.after_restart
    if facts.account.unsettled_again:
        return
    for place, (state, epoch) in before.states.items():
        now = after.states.get(place)
        if state not in SETTLED or now == (state, epoch):
            continue
        if now is not None and now[0] == state and state != "STOPPED":
            continue  # The epoch is settled at the stop.
        told = "in no mirror" if now is None else f"{now[0]} with last mirrored epoch {now[1]}"
        text = f"it was {state} with last mirrored epoch {epoch}, after a restart it is {told}"
        yield Anomaly(NAME, *place, -1, text)


def _metadata(facts: Facts) -> Iterator[Anomaly]:
    """Yield what differs in offsets, configs and ids. What a mirror still copies may go on, and is not looked at."""
    before, after = facts.account.before_restart, facts.account.after_restart
    mirrored = {(cluster, tp.topic) for (cluster, tp), (state, _) in before.states.items() if state != "STOPPED"}
    for (cluster, group, tp), offset in before.offsets.items():
        now = after.offsets.get((cluster, group, tp), "nothing")
        if now != offset and (cluster, tp.topic) not in mirrored:
            text = f"group {group} had committed {offset}, after a restart it has {now}"
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
