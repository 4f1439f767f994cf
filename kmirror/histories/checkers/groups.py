"""Checkers of consumer groups: committed offsets are kept, and a partition has one owner at a time.

Every commit has a token, so an offset that is read identifies its commit. In the cluster that acknowledged them the
commits of a group are ordered. A mirror's sync may write the source's offsets, only while there is a mirror.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from kmirror.histories.account import UNAWARE
from kmirror.histories.checkers.facts import Facts
from kmirror.histories.checkers.reasons import ASYNCHRONOUS
from kmirror.histories.checkers.wording import Finding, seconds
from kmirror.histories.group_account import GroupOffsets, OwnedPartitions, SentOffset
from kmirror.histories.verdict import Accepted, Anomaly
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.topics import GROUP_TOPIC

REFUSED = (
    "ILLEGAL_GENERATION",
    "UNKNOWN_MEMBER_ID",
    "FENCED_INSTANCE_ID",
    "REBALANCE_IN_PROGRESS",
    "GROUP_ID_NOT_FOUND",
    "INVALID_PRODUCER_EPOCH",
    "INVALID_TXN_STATE",
    "TRANSACTION_ABORTABLE",
    "UNKNOWN_TOPIC_OR_PARTITION",
)
"""Errors after which nothing was written."""
Key = tuple[str, str, TopicPartition]
"""(group, cluster, partition)"""


@dataclass(frozen=True, slots=True)
class OffsetView:
    """Observation of one group and partition in one cluster."""

    response: GroupOffsets
    offset: int
    """-1 if the group has committed none."""
    token: str

    @property
    def at(self) -> Instant:
        return self.response.at


def views(facts: Facts) -> dict[Key, list[OffsetView]]:
    """Return the observations by group, cluster and partition, in order of time, for every observed or sent key."""

    def make() -> dict[Key, list[OffsetView]]:
        groups = facts.account.groups
        keys: dict[Key, list[OffsetView]] = {
            (row.group, row.cluster, row.tp): [] for row in groups.sent_offsets.values()
        }
        for observed in groups.offsets:
            for tp in observed.offsets:
                keys.setdefault((observed.group, observed.cluster, tp), [])
        for observed in groups.offsets:
            for key, found in keys.items():
                is_returned = key[2] not in observed.unstable and (
                    observed.requested is None or key[2] in observed.requested
                )
                if key[:2] == (observed.group, observed.cluster) and is_returned:
                    found.append(OffsetView(observed, *observed.offsets.get(key[2], (-1, ""))))
        return keys

    return facts.cached("offset views", make)


def sent(facts: Facts) -> dict[Key, list[SentOffset]]:
    """Return the sent offsets by group, cluster and partition, in order of time."""

    def make() -> dict[Key, list[SentOffset]]:
        found: dict[Key, list[SentOffset]] = {}
        for row in facts.account.groups.sent_offsets.values():
            found.setdefault((row.group, row.cluster, row.tp), []).append(row)
        return found

    return facts.cached("offsets sent", make)


def latest_write_at(row: SentOffset) -> Instant:
    """Return the latest time at which the commit was in the log, if it was ever written."""
    return row.answered_at if row.error == "NONE" else row.sent_at + UNAWARE


def must_be_visible(row: SentOffset, observed: GroupOffsets) -> bool:
    """Return whether the observation must show this commit or a later one."""
    if row.error != "NONE":
        return False
    if not row.transaction:
        return row.answered_at < observed.sent_at
    return observed.is_stable and 0 <= row.ended_at < observed.sent_at


def may_have_lost_shard(facts: Facts, cluster: str, group: str, begin: Instant, end: Instant) -> bool:
    """Return whether a partition of `__consumer_offsets` may have lost records.

    The same holds for a partition of `__transaction_state` whose new leader lacked records of a producer that commits
    for the group.
    """
    groups = facts.account.groups
    if any(
        (row.cluster, row.tp.topic) == (cluster, GROUP_TOPIC) and begin - UNAWARE <= row.at <= end
        for row in groups.lost_logs
    ):
        return True
    keys = dict.fromkeys(
        row.transaction for row in groups.sent_offsets.values() if (row.group, row.cluster) == (group, cluster)
    )
    transactions = [facts.account.transactions[key] for key in keys if key in facts.account.transactions]
    values = [value for transaction in transactions for value in transaction.values]
    producers = {facts.account.writes[value].producer_id for value in values}
    return groups.may_have_lost_transactions(cluster, producers, begin - UNAWARE, end + facts.clocks_differ_by)


def may_be_synced(facts: Facts, cluster: str, tp: TopicPartition, begin: Instant, end: Instant) -> bool:
    """Return whether a mirror of `cluster` may have committed offsets for the partition in this time."""
    return any(session.began_at <= end and begin <= session.ended_at for session in facts.sessions((cluster, tp)))


def was_deleted(facts: Facts, key: Key, begin: Instant, end: Instant) -> bool:
    """Return whether the group, its offset, or the topic may have been deleted.

    A coordinator or leader that did not know of a topic's deletion may have responded since `begin`.
    """
    group, cluster, tp = key
    return facts.deletion_may_be_unknown((cluster, tp), begin, end) or any(
        (row.group, row.cluster) == (group, cluster)
        and row.tp in (None, tp)
        and row.sent_at <= end
        and (row.answered_at < 0 or begin <= row.answered_at)
        for row in facts.account.groups.deletions
    )


# -- offset-lost ----------------------------------------------------------------------------------


def offset_lost(facts: Facts) -> Iterator[Finding]:
    """A group's acknowledged offset is gone, or an older one is back, in the cluster that acknowledged it."""
    for key, rows in views(facts).items():
        for view in rows:
            finding = _find_loss(facts, key, view)
            if finding is not None:
                yield finding
                break  # Later observations show the same loss.


def _find_loss(facts: Facts, key: Key, view: OffsetView) -> Finding | None:
    group, cluster, tp = key
    acknowledged = [row for row in sent(facts).get(key, ()) if must_be_visible(row, view.response)]
    if _may_be_left_out(facts, key, view):
        acknowledged = [row for row in acknowledged if not row.transaction]
    found = facts.account.groups.sent_offsets.get(view.token)
    if found is not None and found.cluster == cluster:
        acknowledged = [row for row in acknowledged if latest_write_at(found) < row.sent_at]
    if not acknowledged:
        return None
    last = max(acknowledged, key=lambda row: row.sent_at)
    is_missing = not view.token
    if is_missing and was_deleted(facts, key, last.sent_at, view.at):
        return None
    if may_have_lost_shard(facts, cluster, group, last.sent_at, view.at):
        return None
    if not is_missing and may_be_synced(facts, cluster, tp, last.sent_at, view.at):
        return Accepted(ASYNCHRONOUS, cluster, tp, 1)
    found_text = "nothing" if is_missing else f"offset {view.offset} ({view.token!r})"
    text = (
        f"group {group} committed offset {last.offset} ({last.token!r}), acknowledged at {seconds(last.answered_at)}; "
        f"at {seconds(view.at)} it has {found_text}"
    )
    return Anomaly("offset-lost", cluster, tp, last.offset, text, view.at)


def _may_be_left_out(facts: Facts, key: Key, view: OffsetView) -> bool:
    """Return whether a response about all partitions may omit this one, as a transaction's marker is being written.

    As in Kafka, the response has partitions with a committed offset, unstable or not. The offsets at the end of the
    history need no response.
    """
    observed = view.response
    if view.token or observed.requested is not None or observed.sent_at == observed.at:
        return False
    return not any(
        before.token and before.at < observed.sent_at and not was_deleted(facts, key, before.response.sent_at, view.at)
        for before in views(facts)[key]
    )


# -- offset-regression ----------------------------------------------------------------------------


def offset_regression(facts: Facts) -> Iterator[Finding]:
    """A group's offset at a mirror's destination goes back to an older commit, although the source's did not."""
    for key, rows in views(facts).items():
        newest: dict[str, tuple[SentOffset, OffsetView]] = {}
        for view in rows:
            now = facts.account.groups.sent_offsets.get(view.token)
            if now is None or now.cluster == key[1]:
                continue
            before = newest.get(now.cluster)
            if before is None or now.sent_at >= before[0].sent_at:
                newest[now.cluster] = now, view
            elif latest_write_at(now) < before[0].sent_at and _is_regression(facts, key, now, before[1], view):
                text = (
                    f"group {key[0]} had offset {before[0].offset} ({before[0].token!r}) of cluster {now.cluster} at "
                    f"{seconds(before[1].at)}, and the older {now.offset} ({now.token!r}) at {seconds(view.at)}"
                )
                yield Anomaly("offset-regression", key[1], key[2], now.offset, text, view.at)
                break


def _is_regression(facts: Facts, key: Key, row: SentOffset, before: OffsetView, after: OffsetView) -> bool:
    """Return whether the source's offset never went back, and the partition is mirrored from that source only."""
    group, cluster, tp = key
    begin, end = row.sent_at, after.at
    sources = {
        session.source for session in facts.sessions((cluster, tp)) if session.overlaps(before.response.sent_at, end)
    }
    return (
        sources == {row.cluster}
        and not may_be_synced(facts, row.cluster, tp, begin, end)
        and not was_deleted(facts, (group, row.cluster, tp), begin, end)
        and not any(may_have_lost_shard(facts, first, group, begin, end) for first in (cluster, row.cluster))
    )


# -- aborted-offset -------------------------------------------------------------------------------


def aborted_offset(facts: Facts) -> Iterator[Finding]:
    """A group has an offset of a transaction whose commit no client requested, or one whose commit was refused."""
    reported: dict[str, None] = {}
    for (group, cluster, tp), rows in views(facts).items():
        for view in rows:
            row = facts.account.groups.sent_offsets.get(view.token)
            if row is None or row.token in reported:
                continue
            transaction = facts.account.transactions.get(row.transaction)
            reason = ""
            if row.error in REFUSED:
                reason = f"its commit was rejected with {row.error}"
            elif transaction is not None and transaction.requested_end != "commit":
                reason = f"it was committed in transaction {row.transaction}, whose commit was not requested"
            if reason:
                reported[row.token] = None
                text = f"group {group} has offset {view.offset} ({view.token!r}) at {seconds(view.at)}; {reason}"
                yield Anomaly("aborted-offset", cluster, tp, view.offset, text, view.at)


# -- double-ownership -----------------------------------------------------------------------------


def double_ownership(facts: Facts) -> Iterator[Finding]:
    """Two members own a partition in one generation, or a member of an earlier generation commits an offset."""
    rows_by_generation: dict[tuple[str, str, int], list[OwnedPartitions]] = {}
    for assignments in facts.account.groups.assignments:
        rows_by_generation.setdefault((assignments.group, assignments.cluster, assignments.generation), []).append(
            assignments
        )
    for (group, cluster, generation), rows in rows_by_generation.items():
        for first, second in combinations(rows, 2):
            is_same = first.member_id == second.member_id or (first.instance and first.instance == second.instance)
            both = [tp for tp in first.partitions if tp in second.partitions]
            if both and not is_same and not _may_be_recreated(facts, group, cluster, first.at, second.at):
                text = (
                    f"in generation {generation} of group {group} both {first.member_id} (at {seconds(first.at)}) and "
                    f"{second.member_id} (at {seconds(second.at)}) are assigned this partition"
                )
                yield Anomaly("double-ownership", cluster, both[0], -1, text, second.at)
    yield from _commits_of_old_generations(facts)


def _may_be_recreated(facts: Facts, group: str, cluster: str, begin: Instant, end: Instant) -> bool:
    """Return whether the group may have been deleted or lost, so that its generations begin at 1 again."""
    return may_have_lost_shard(facts, cluster, group, begin, end) or any(
        (row.group, row.cluster, row.tp) == (group, cluster, None)
        and row.sent_at <= end
        and (row.answered_at < 0 or begin <= row.answered_at)
        for row in facts.account.groups.deletions
    )


def _commits_of_old_generations(facts: Facts) -> Iterator[Anomaly]:
    assignments: dict[tuple[str, str], list[OwnedPartitions]] = {}
    for row in facts.account.groups.assignments:
        assignments.setdefault((row.group, row.cluster), []).append(row)
    for sent_row in facts.account.groups.sent_offsets.values():
        if sent_row.error != "NONE" or sent_row.generation < 0:
            continue
        key = sent_row.group, sent_row.cluster
        later = [r for r in assignments.get(key, ()) if r.at < sent_row.sent_at and r.generation > sent_row.generation]
        if later and not _may_be_recreated(facts, *key, 0, sent_row.answered_at):
            text = (
                f"{sent_row.member_id} of generation {sent_row.generation} committed offset {sent_row.offset} for "
                f"group {sent_row.group} at {seconds(sent_row.sent_at)}; generation {later[0].generation} had begun by "
                f"{seconds(later[0].at)}"
            )
            yield Anomaly(
                "double-ownership", sent_row.cluster, sent_row.tp, sent_row.offset, text, sent_row.answered_at
            )
