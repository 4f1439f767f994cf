"""Checker of transforming groups: each input counts once, while one cluster alone has the group and its topics.

A transaction processes the records of [begin, end) of a partition, and commits `end`. So the committed transactions of
a partition form a chain: each begins where the previous one ended, and has an output for each of its records.
"""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.histories.checkers.facts import Facts, Look
from kmirror.histories.checkers.groups import is_synced, shard_lost, was_deleted
from kmirror.histories.checkers.keyed import is_superseded
from kmirror.histories.checkers.reasons import ASYNCHRONOUS
from kmirror.histories.checkers.words import Finding, clock
from kmirror.histories.group_account import OffsetSent, Transformed
from kmirror.histories.verdict import Accepted, Anomaly
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition

Chain = tuple[str, str, TopicPartition]


def exactly_once(facts: Facts) -> Iterator[Finding]:
    """An input of a group that writes in transactions has no output, or two, in the group's committed transactions."""
    chains: dict[Chain, list[Transformed]] = {}
    for row in facts.account.groups.transformed:
        chains.setdefault((row.group, row.cluster, row.tp), []).append(row)
    for chain, rows in chains.items():
        last: Transformed | None = None
        open_ends: list[int] = []
        for row in rows:
            outcome = _is_committed(facts, row)
            if outcome is None:
                open_ends.append(row.end)
            elif outcome:
                goes_on = last is None or row.begin in (last.end, *open_ends)
                if last is not None and not goes_on and not _began_at_a_deposed_answer(facts, last, row):
                    yield _broken(facts, chain, last, row)
                yield from _without_output(facts, row, 0 if last is None else last.at)
                last, open_ends = row, []


def _is_committed(facts: Facts, row: Transformed) -> bool | None:
    """Return whether the transaction was committed; None if that is unknown."""
    sent = facts.account.groups.sent[row.token]
    if sent.ended_at >= 0:
        return True
    transaction = facts.account.transactions[row.transaction]
    looks = [look for place, found in facts.looks.items() if place[0] == row.cluster for look in found]
    return True if any(_shows(look, transaction.values) for look in looks) else None


def _shows(look: Look, values: list[str]) -> bool:
    return any((row := look.by_value.get(value)) is not None and row.visible for value in values)


def _began_at_a_deposed_answer(facts: Facts, last: Transformed, row: Transformed) -> bool:
    """Return whether a coordinator that did not know that it was deposed returned the group's offset, as Kafka's may.

    A generation does not change with the coordinator, so the next coordinator accepts the commit.
    """
    groups = facts.account.groups
    return any(
        (answer.group, answer.cluster) == (row.group, row.cluster)
        and last.at <= answer.at <= groups.sent[row.token].sent_at
        and answer.asked is not None
        and answer.offsets.get(row.tp, (-1, ""))[0] == row.begin
        for answer in groups.deposed_answers
    )


def _broken(facts: Facts, chain: Chain, last: Transformed, row: Transformed) -> Finding:
    _, cluster, tp = chain
    # One may have been sent before the topic was deleted, and the other after it was created again.
    sent = min((facts.account.groups.sent[one.token] for one in (last, row)), key=lambda one: one.sent_at)
    if _may_begin_elsewhere(facts, chain, sent, row.at):
        return Accepted(ASYNCHRONOUS, cluster, tp, 1)
    how = "again" if row.begin < last.end else "some are skipped"
    text = (
        f"group {row.group} committed {last.end} in transaction {last.transaction} at {clock(last.at)}, and the next "
        f"one that was committed, {row.transaction} at {clock(row.at)}, begins at {row.begin}: {how}"
    )
    return Anomaly("exactly-once", cluster, tp, row.begin, text, row.at)


def _may_begin_elsewhere(facts: Facts, chain: Chain, sent: OffsetSent, until: Instant) -> bool:
    """Return whether anything except the group's own commits may have moved its offset, or its input was cut."""
    group, cluster, tp = chain
    begin = sent.sent_at
    return (
        is_synced(facts, cluster, tp, begin, until)
        or was_deleted(facts, (group, cluster, tp), begin, until)
        or shard_lost(facts, cluster, group, begin, until)
        or facts.may_have_lost((cluster, tp), begin, until)
    )


def _without_output(facts: Facts, row: Transformed, since: Instant) -> Iterator[Anomaly]:
    """Yield the first record without an output in the transaction's range that a read_committed consumer receives.

    The transaction's records were read after `since`, when the previous transaction was committed, possibly from a
    leader that did not know of the topic's deletion. Each replica of a compacted topic cleans its own log, so a later
    leader may have superseded records that the earlier one had removed.
    """
    place = row.cluster, row.tp
    look = facts.look_after(place, row.at)
    if (
        look is None
        or facts.deletion_may_be_unknown(place, since, look.at)
        or _may_begin_elsewhere(facts, (row.group, row.cluster, row.tp), facts.account.groups.sent[row.token], look.at)
    ):
        return
    for record in look.decided():
        is_missing = row.begin <= record.offset < row.end and record.offset not in row.outputs
        if is_missing and not is_superseded(facts, place, record.value, record.offset, row.at):
            text = (
                f"{record.value!r} is in [{row.begin}, {row.end}), which group {row.group} processed in transaction "
                f"{row.transaction} at {clock(row.at)}, but has no output"
            )
            yield Anomaly("exactly-once", *place, record.offset, text, row.at)
            return
