"""Checker of transforming groups: each input counts once, while one cluster alone has the group and its topics.

A transaction processes the records of [begin, end) of a partition, and commits `end`. So the committed transactions of
a partition form a chain: each begins where the previous one ended, and has an output for each of its records.
"""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.histories.checkers.facts import Facts, LogView
from kmirror.histories.checkers.groups import may_be_synced, may_have_lost_shard, was_deleted
from kmirror.histories.checkers.keyed_records import is_superseded
from kmirror.histories.checkers.reasons import ASYNCHRONOUS
from kmirror.histories.checkers.wording import Finding, seconds
from kmirror.histories.group_account import SentOffset, TransformedRange
from kmirror.histories.verdict import Accepted, Anomaly
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition

Chain = tuple[str, str, TopicPartition]


def exactly_once(facts: Facts) -> Iterator[Finding]:
    """An input of a group that writes in transactions has no output, or two, in the group's committed transactions."""
    chains: dict[Chain, list[TransformedRange]] = {}
    for row in facts.account.groups.transformed_ranges:
        chains.setdefault((row.group, row.cluster, row.tp), []).append(row)
    for chain, rows in chains.items():
        last: TransformedRange | None = None
        uncertain_ends: list[int] = []
        for row in rows:
            outcome = _is_committed(facts, row)
            if outcome is None:
                uncertain_ends.append(row.end)
            elif outcome:
                is_continuous = last is None or row.begin in (last.end, *uncertain_ends)
                if last is not None and not is_continuous and not _began_at_deposed_response(facts, last, row):
                    yield _sequence_finding(facts, chain, last, row)
                yield from _without_output(facts, row, 0 if last is None else last.at)
                last, uncertain_ends = row, []


def _is_committed(facts: Facts, row: TransformedRange) -> bool | None:
    """Return whether the transaction was committed; None if that is unknown."""
    sent = facts.account.groups.sent_offsets[row.token]
    if sent.ended_at >= 0:
        return True
    transaction = facts.account.transactions[row.transaction]
    views = [view for place, found in facts.views.items() if place[0] == row.cluster for view in found]
    return True if any(_shows(view, transaction.values) for view in views) else None


def _shows(view: LogView, values: list[str]) -> bool:
    return any((row := view.by_value.get(value)) is not None and row.visible for value in values)


def _began_at_deposed_response(facts: Facts, last: TransformedRange, row: TransformedRange) -> bool:
    """Return whether a coordinator that did not know that it was deposed returned the group's offset, as Kafka's may.

    A generation does not change with the coordinator, so the next coordinator accepts the commit.
    """
    groups = facts.account.groups
    return any(
        (response.group, response.cluster) == (row.group, row.cluster)
        and last.at <= response.at <= groups.sent_offsets[row.token].sent_at
        and response.requested is not None
        and response.offsets.get(row.tp, (-1, ""))[0] == row.begin
        for response in groups.deposed_responses
    )


def _sequence_finding(facts: Facts, chain: Chain, last: TransformedRange, row: TransformedRange) -> Finding:
    _, cluster, tp = chain
    # One may have been sent before the topic was deleted, and the other after it was created again.
    sent = min((facts.account.groups.sent_offsets[one.token] for one in (last, row)), key=lambda one: one.sent_at)
    if _may_begin_elsewhere(facts, chain, sent, row.at):
        return Accepted(ASYNCHRONOUS, cluster, tp, 1)
    problem = "again" if row.begin < last.end else "some are skipped"
    text = (
        f"group {row.group} committed {last.end} in transaction {last.transaction} at {seconds(last.at)}, and the next "
        f"one that was committed, {row.transaction} at {seconds(row.at)}, begins at {row.begin}: {problem}"
    )
    return Anomaly("exactly-once", cluster, tp, row.begin, text, row.at)


def _may_begin_elsewhere(facts: Facts, chain: Chain, sent: SentOffset, until: Instant) -> bool:
    """Return whether anything except the group's own commits may have moved its offset, or its input was cut."""
    group, cluster, tp = chain
    begin = sent.sent_at
    return (
        may_be_synced(facts, cluster, tp, begin, until)
        or was_deleted(facts, (group, cluster, tp), begin, until)
        or may_have_lost_shard(facts, cluster, group, begin, until)
        or facts.may_have_lost((cluster, tp), begin, until)
    )


def _without_output(facts: Facts, row: TransformedRange, since: Instant) -> Iterator[Anomaly]:
    """Yield the first record without an output in the transaction's range that a read_committed consumer receives.

    The transaction's records were read after `since`, when the previous transaction was committed, possibly from a
    leader that did not know of the topic's deletion. Each replica of a compacted topic cleans its own log, so a later
    leader may have superseded records that the earlier one had removed.
    """
    place = row.cluster, row.tp
    view = facts.view_after(place, row.at)
    if (
        view is None
        or facts.deletion_may_be_unknown(place, since, view.at)
        or _may_begin_elsewhere(
            facts, (row.group, row.cluster, row.tp), facts.account.groups.sent_offsets[row.token], view.at
        )
    ):
        return
    for record in view.decided_rows():
        is_missing = row.begin <= record.offset < row.end and record.offset not in row.outputs
        if is_missing and not is_superseded(facts, place, record.value, record.offset, row.at):
            text = (
                f"{record.value!r} is in [{row.begin}, {row.end}), which group {row.group} processed in transaction "
                f"{row.transaction} at {seconds(row.at)}, but has no output"
            )
            yield Anomaly("exactly-once", *place, record.offset, text, row.at)
            return
