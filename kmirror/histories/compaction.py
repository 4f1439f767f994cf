"""Records that compaction may remove, and comparison of two logs that were compacted independently.

Each replica and each cluster cleans its log at its own times. So logs of a compacted topic are not equal byte by byte.
The records that both have must be equal, and so must the latest record of each key. A record that only one has is
superseded, or its retention has passed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from kmirror.histories.account import Account, LogRow, Span, Write
from kmirror.histories.plan import Plan, Value
from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.kernel.ids import TopicPartition

CARRIED_OUT = ("NONE", "")
"""Errors of an order that was, or may have been, carried out."""
LAG = "min.compaction.lag.ms"
DELETE_RETENTION = "delete.retention.ms"
DELETE_RETENTION_MS = 86_400_000
"""Kafka's default."""
Place = tuple[str, TopicPartition]
"""(cluster, partition)"""


def may_be_compacted(plan: Plan, account: Account, cluster: str, topic: str, until: Instant) -> bool:
    """Return whether the cleaner may have removed records of the topic in a cluster up to a moment."""
    policies = _set_values(plan, account, topic, "cleanup.policy", until)
    lags = [int(value) for value in _set_values(plan, account, topic, LAG, until)]
    lags.append(int(_configs(plan, cluster).get(f"log.cleaner.{LAG}", 0)))
    return any("compact" in policy for policy in policies) and min(lags) * MILLISECOND < until


def tombstones_stay(plan: Plan, account: Account, cluster: str, topic: str, until: Instant) -> Duration:
    """Return the shortest time for which tombstones of the topic stay in a cluster, for any clocks of its nodes."""
    times = [int(value) for value in _set_values(plan, account, topic, DELETE_RETENTION, until)]
    times.append(int(_configs(plan, cluster).get(f"log.cleaner.{DELETE_RETENTION}", DELETE_RETENTION_MS)))
    return max(0, min(times) * MILLISECOND - clocks_differ_by(plan))


def clock_steps(plan: Plan) -> list[Mapping[str, Value]]:
    """Return the arguments of each step that sets a clock."""
    return [step.args for step in plan.steps if step.action == "set_clock"]


def clocks_differ_by(plan: Plan) -> Duration:
    """Return the largest possible difference between the clocks of two nodes, or of a node and a client."""
    rows = clock_steps(plan)
    drifted = [int(args.get("ppm", 0)) * plan.faults_end_ms // 1_000_000 for args in rows]
    shown = [0, *(int(args["ahead_ms"]) + more for args in rows for more in (0, *drifted))]
    return (max(shown) - min(shown)) * MILLISECOND


def was_away(plan: Plan, account: Account, place: Place, broker: int, until: Instant, written_at: Instant = 0) -> bool:
    """Return whether a replica could not follow, or was outside the ISR, for as long as markers and tombstones stay.

    As in Kafka it may then have missed one that was written, at `written_at`, before it came back.
    """
    stay = tombstones_stay(plan, account, place[0], place[1].topic, until)
    spans = [(row.begin, row.end) for row in account.absences if (row.cluster, row.tp, row.broker) == (*place, broker)]
    spans += [(span.begin, span.end) for span in _outages(account, place[0], broker)]
    return any(max(begin + stay, written_at) <= end for begin, end in spans)


def _outages(account: Account, cluster: str, broker: int) -> Iterator[Span]:
    """Yield the times at which a broker, or a line from it to a node of its cluster, was down or disturbed."""
    for span in account.spans:
        if f"{cluster}-{broker}" in span.ends and all(end.rsplit("-", 1)[0] == cluster for end in span.ends):
            yield span


def keys_missed_by_replica(plan: Plan, account: Account, place: Place, broker: int, until: Instant) -> list[str]:
    """Return the keys whose tombstones, or markers of aborted records, a replica may lack because it was away."""
    if not was_away(plan, account, place, broker, until):
        return []
    return [
        *deleted_keys(account, place[1].topic),
        *(write.key for write in uncommitted_writes(account, place[1].topic)),
    ]


def may_lack_superseding_records(account: Account, place: Place) -> bool:
    """Return whether an unclean election, or a loss of the site's power, removed records that superseded others.

    A replica whose cleaner had removed the superseded records then lacks both; another replica has the superseded ones.
    """
    return account.was_led_uncleanly(*place) or any(
        loss.has_cut and (loss.cluster, loss.tp) == place for loss in account.power_losses
    )


def hide_open_transactions(rows: Sequence[LogRow], ongoing: Mapping[int, int]) -> list[LogRow]:
    """Return the records of a log, with those of open transactions hidden.

    `ongoing` has the first offsets and producers of those transactions. Where a log lacks their markers, they may have
    been aborted.
    """
    first = {producer_id: offset for offset, producer_id in ongoing.items()}
    return [
        replace(row, visible=False) if first.get(row.producer_id, row.offset + 1) <= row.offset else row for row in rows
    ]


def deleted_keys(account: Account, topic: str) -> list[str]:
    """Return the keys for which a tombstone was written to the topic."""
    writes = account.writes.values()
    return list(dict.fromkeys(row.key for row in writes if row.is_tombstone and row.tp.topic == topic))


def uncommitted_writes(account: Account, topic: str) -> list[Write]:
    """Return the writes to a topic in transactions that were not committed, as far as clients know.

    A log that lacks the marker takes the next one of the same producer for it, as in Kafka: aborted records can then be
    read there, and committed and superseded ones cannot.
    """
    return [
        write
        for write in account.writes.values()
        if write.tp.topic == topic
        and (transaction := account.transactions.get(write.transaction)) is not None
        and not (transaction.requested_end == "commit" and transaction.is_end_acknowledged)
    ]


def _set_values(plan: Plan, account: Account, topic: str, name: str, until: Instant) -> Iterator[str]:
    """Yield the values set for a topic's config in any cluster, as mirrors copy it."""
    for order in account.orders:
        if order.action == "alter_topic" and topic in order.topics and order.error in CARRIED_OUT:
            args = plan.steps[order.number].args
            if args["name"] == name and order.sent_at <= until:
                yield str(args["value"])


def _configs(plan: Plan, cluster: str) -> dict[str, str]:
    return next(dict(row.configs) for row in plan.clusters if row.name == cluster)


def latest(rows: Sequence[LogRow]) -> dict[str, LogRow]:
    """Return the last record of each key that a committed reader receives; it may be a tombstone."""
    return {row.key: row for row in rows if row.visible}


def unexplained_difference(
    one: Sequence[LogRow],
    other: Sequence[LogRow],
    start: int,
    until: int,
    *,
    may_lack_tombstones: tuple[Collection[str], Collection[str]] = ((), ()),
) -> tuple[int, str, str] | None:
    """Return the first offset at which two logs differ by more than compaction explains, and the record of each there.

    The logs must be complete, because the record that supersedes another may be above `until`. `may_lack_tombstones`
    has, for each log, the keys whose tombstones it may lack: a record of such a key in that log only is no difference.
    """
    newest: dict[str, int] = {}
    for row in (*one, *other):
        if row.visible:
            newest[row.key] = max(row.offset, newest.get(row.key, -1))
    one_rows, other_rows = ([row for row in rows if start <= row.offset < until] for rows in (one, other))
    one_by_offset, other_by_offset = ({row.offset: row for row in rows} for rows in (one_rows, other_rows))
    for offset in sorted(one_by_offset.keys() | other_by_offset.keys()):
        pair = one_by_offset.get(offset), other_by_offset.get(offset)
        single = pair[0] or pair[1]
        assert single is not None, "one of them has it"
        may_be_removed = not single.visible or single.is_tombstone or newest[single.key] > offset
        if None in pair and (may_be_removed or single.key in may_lack_tombstones[pair[0] is None]):
            continue
        if _content(pair[0]) != _content(pair[1]):
            return offset, _describe(pair[0]), _describe(pair[1])
    ends = latest(one_rows), latest(other_rows)
    for key in ends[0] | ends[1]:
        values = [found.get(key) for found in ends]
        alive = [None if row is None or row.is_tombstone else row for row in values]
        if (alive[0] is None) != (alive[1] is None) and key not in may_lack_tombstones[alive[0] is None]:
            (row,) = (row for row in alive if row is not None)
            offset_of_last = max(row.offset for row in values if row is not None)
            if any(offset in one_by_offset and offset in other_by_offset for offset in (row.offset, offset_of_last)):
                continue  # Its transaction, or its tombstone's, ends above `until`: only one log has the marker yet.
            first, second = (f"{_describe(row)} as the latest of key {key}" for row in alive)
            return offset_of_last, first, second
    return None


def _content(row: LogRow | None) -> LogRow | None:
    """Return a record without the fields that a cleaner changes or that depend on the last stable offset."""
    return None if row is None else replace(row, visible=True, crc=0)


def _describe(row: LogRow | None) -> str:
    return "nothing" if row is None else f"{row.value} of epoch {row.epoch}"
