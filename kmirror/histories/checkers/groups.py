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
from kmirror.histories.checkers.words import Finding, clock
from kmirror.histories.group_account import OffsetSent, OffsetsSeen, Owned
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
class Look:
    """Observation of one group and partition in one cluster."""

    seen: OffsetsSeen
    offset: int
    """-1 if the group has committed none."""
    token: str

    @property
    def at(self) -> Instant:
        return self.seen.at


def looks(facts: Facts) -> dict[Key, list[Look]]:
    """Return the observations by group, cluster and partition, in order of time, for every key ever seen or sent."""

    def make() -> dict[Key, list[Look]]:
        groups = facts.account.groups
        keys: dict[Key, list[Look]] = {(row.group, row.cluster, row.tp): [] for row in groups.sent.values()}
        for seen in groups.seen:
            for tp in seen.offsets:
                keys.setdefault((seen.group, seen.cluster, tp), [])
        for seen in groups.seen:
            for key, found in keys.items():
                is_told = key[2] not in seen.unstable and (seen.asked is None or key[2] in seen.asked)
                if key[:2] == (seen.group, seen.cluster) and is_told:
                    found.append(Look(seen, *seen.offsets.get(key[2], (-1, ""))))
        return keys

    return facts.once("group looks", make)


def sent(facts: Facts) -> dict[Key, list[OffsetSent]]:
    """Return the sent offsets by group, cluster and partition, in order of time."""

    def make() -> dict[Key, list[OffsetSent]]:
        found: dict[Key, list[OffsetSent]] = {}
        for row in facts.account.groups.sent.values():
            found.setdefault((row.group, row.cluster, row.tp), []).append(row)
        return found

    return facts.once("offsets sent", make)


def written_by(row: OffsetSent) -> Instant:
    """Return the latest time at which the commit was in the log, if it was ever written."""
    return row.answered_at if row.error == "NONE" else row.sent_at + UNAWARE


def is_done(row: OffsetSent, seen: OffsetsSeen) -> bool:
    """Return whether the observation must show this commit or a later one."""
    if row.error != "NONE":
        return False
    if not row.transaction:
        return row.answered_at < seen.sent_at
    return seen.is_stable and 0 <= row.ended_at < seen.sent_at


def shard_lost(facts: Facts, cluster: str, group: str, begin: Instant, end: Instant) -> bool:
    """Return whether a partition of `__consumer_offsets` may have lost records.

    The same holds for a partition of `__transaction_state` whose new leader lacked records of a producer that commits
    for the group.
    """
    groups = facts.account.groups
    if any(
        (row.cluster, row.tp.topic) == (cluster, GROUP_TOPIC) and begin - UNAWARE <= row.at <= end
        for row in groups.logs_lost
    ):
        return True
    keys = dict.fromkeys(
        row.transaction for row in groups.sent.values() if (row.group, row.cluster) == (group, cluster)
    )
    transactions = [facts.account.transactions[key] for key in keys if key in facts.account.transactions]
    values = [value for transaction in transactions for value in transaction.values]
    producers = {facts.account.writes[value].producer_id for value in values}
    return groups.lost_transactions(cluster, producers, begin - UNAWARE, end + facts.clocks_differ_by)


def is_synced(facts: Facts, cluster: str, tp: TopicPartition, begin: Instant, end: Instant) -> bool:
    """Return whether a mirror of `cluster` may have committed offsets for the partition in this time."""
    return any(stay.began <= end and begin <= stay.ended for stay in facts.stays((cluster, tp)))


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
        for row in facts.account.groups.deleted
    )


# -- offset-lost ----------------------------------------------------------------------------------


def offset_lost(facts: Facts) -> Iterator[Finding]:
    """A group's acknowledged offset is gone, or an older one is back, in the cluster that acknowledged it."""
    for key, rows in looks(facts).items():
        for look in rows:
            finding = _lost(facts, key, look)
            if finding is not None:
                yield finding
                break  # Later observations show the same loss.


def _lost(facts: Facts, key: Key, look: Look) -> Finding | None:
    group, cluster, tp = key
    done = [row for row in sent(facts).get(key, ()) if is_done(row, look.seen)]
    if _may_be_left_out(facts, key, look):
        done = [row for row in done if not row.transaction]
    found = facts.account.groups.sent.get(look.token)
    if found is not None and found.cluster == cluster:
        done = [row for row in done if written_by(found) < row.sent_at]
    if not done:
        return None
    last = max(done, key=lambda row: row.sent_at)
    is_gone = not look.token
    if is_gone and was_deleted(facts, key, last.sent_at, look.at):
        return None
    if shard_lost(facts, cluster, group, last.sent_at, look.at):
        return None
    if not is_gone and is_synced(facts, cluster, tp, last.sent_at, look.at):
        return Accepted(ASYNCHRONOUS, cluster, tp, 1)
    what = "nothing" if is_gone else f"offset {look.offset} ({look.token!r})"
    text = (
        f"group {group} committed offset {last.offset} ({last.token!r}), acknowledged at {clock(last.answered_at)}; "
        f"at {clock(look.at)} it has {what}"
    )
    return Anomaly("offset-lost", cluster, tp, last.offset, text, look.at)


def _may_be_left_out(facts: Facts, key: Key, look: Look) -> bool:
    """Return whether a response about all partitions may omit this one, as a transaction's marker is being written.

    As in Kafka, the response has partitions with a committed offset, unstable or not. The offsets at the end of the
    history need no response.
    """
    seen = look.seen
    if look.token or seen.asked is not None or seen.sent_at == seen.at:
        return False
    return not any(
        before.token and before.at < seen.sent_at and not was_deleted(facts, key, before.seen.sent_at, look.at)
        for before in looks(facts)[key]
    )


# -- offset-regression ----------------------------------------------------------------------------


def offset_regression(facts: Facts) -> Iterator[Finding]:
    """A group's offset at a mirror's destination goes back to an older commit, although the source's did not."""
    for key, rows in looks(facts).items():
        newest: dict[str, tuple[OffsetSent, Look]] = {}
        for look in rows:
            now = facts.account.groups.sent.get(look.token)
            if now is None or now.cluster == key[1]:
                continue
            before = newest.get(now.cluster)
            if before is None or now.sent_at >= before[0].sent_at:
                newest[now.cluster] = now, look
            elif written_by(now) < before[0].sent_at and _kept_its_order(facts, key, now, before[1], look):
                text = (
                    f"group {key[0]} had offset {before[0].offset} ({before[0].token!r}) of cluster {now.cluster} at "
                    f"{clock(before[1].at)}, and the older {now.offset} ({now.token!r}) at {clock(look.at)}"
                )
                yield Anomaly("offset-regression", key[1], key[2], now.offset, text, look.at)
                break


def _kept_its_order(facts: Facts, key: Key, row: OffsetSent, before: Look, after: Look) -> bool:
    """Return whether the source's offset never went back, and the partition is mirrored from that source only."""
    group, cluster, tp = key
    begin, end = row.sent_at, after.at
    sources = {stay.source for stay in facts.stays((cluster, tp)) if stay.overlaps(before.seen.sent_at, end)}
    return (
        sources == {row.cluster}
        and not is_synced(facts, row.cluster, tp, begin, end)
        and not was_deleted(facts, (group, row.cluster, tp), begin, end)
        and not any(shard_lost(facts, one, group, begin, end) for one in (cluster, row.cluster))
    )


# -- aborted-offset -------------------------------------------------------------------------------


def aborted_offset(facts: Facts) -> Iterator[Finding]:
    """A group has an offset of a transaction whose commit no client requested, or one whose commit was refused."""
    reported: dict[str, None] = {}
    for (group, cluster, tp), rows in looks(facts).items():
        for look in rows:
            row = facts.account.groups.sent.get(look.token)
            if row is None or row.token in reported:
                continue
            transaction = facts.account.transactions.get(row.transaction)
            why = ""
            if row.error in REFUSED:
                why = f"its commit was rejected with {row.error}"
            elif transaction is not None and transaction.asked != "commit":
                why = f"it was committed in transaction {row.transaction}, whose commit was not requested"
            if why:
                reported[row.token] = None
                text = f"group {group} has offset {look.offset} ({look.token!r}) at {clock(look.at)}; {why}"
                yield Anomaly("aborted-offset", cluster, tp, look.offset, text, look.at)


# -- double-ownership -----------------------------------------------------------------------------


def double_ownership(facts: Facts) -> Iterator[Finding]:
    """Two members own a partition in one generation, or a member of an earlier generation commits an offset."""
    by_generation: dict[tuple[str, str, int], list[Owned]] = {}
    for owned in facts.account.groups.owned:
        by_generation.setdefault((owned.group, owned.cluster, owned.generation), []).append(owned)
    for (group, cluster, generation), rows in by_generation.items():
        for one, other in combinations(rows, 2):
            is_same = one.member_id == other.member_id or (one.instance and one.instance == other.instance)
            both = [tp for tp in one.partitions if tp in other.partitions]
            if both and not is_same and not _may_be_recreated(facts, group, cluster, one.at, other.at):
                text = (
                    f"in generation {generation} of group {group} both {one.member_id} (at {clock(one.at)}) and "
                    f"{other.member_id} (at {clock(other.at)}) are assigned this partition"
                )
                yield Anomaly("double-ownership", cluster, both[0], -1, text, other.at)
    yield from _commits_of_the_past(facts)


def _may_be_recreated(facts: Facts, group: str, cluster: str, begin: Instant, end: Instant) -> bool:
    """Return whether the group may have been deleted or lost, so that its generations begin at 1 again."""
    return shard_lost(facts, cluster, group, begin, end) or any(
        (row.group, row.cluster, row.tp) == (group, cluster, None)
        and row.sent_at <= end
        and (row.answered_at < 0 or begin <= row.answered_at)
        for row in facts.account.groups.deleted
    )


def _commits_of_the_past(facts: Facts) -> Iterator[Anomaly]:
    owned: dict[tuple[str, str], list[Owned]] = {}
    for row in facts.account.groups.owned:
        owned.setdefault((row.group, row.cluster), []).append(row)
    for sent_row in facts.account.groups.sent.values():
        if sent_row.error != "NONE" or sent_row.generation < 0:
            continue
        key = sent_row.group, sent_row.cluster
        later = [r for r in owned.get(key, ()) if r.at < sent_row.sent_at and r.generation > sent_row.generation]
        if later and not _may_be_recreated(facts, *key, 0, sent_row.answered_at):
            text = (
                f"{sent_row.member_id} of generation {sent_row.generation} committed offset {sent_row.offset} for "
                f"group {sent_row.group} at {clock(sent_row.sent_at)}; generation {later[0].generation} had begun by "
                f"{clock(later[0].at)}"
            )
            yield Anomaly(
                "double-ownership", sent_row.cluster, sent_row.tp, sent_row.offset, text, sent_row.answered_at
            )
