"""Permitted and forbidden changes in a restart of all nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kmirror.histories.account import OPEN_TRANSACTIONS, CommittedOffset, LogRow
from kmirror.histories.checkers.reasons import MARKERS_CLEANED
from kmirror.histories.group_account import LostCoordinatorLog, SentOffset
from kmirror.histories.plan import Value
from kmirror.kernel.clock import SECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from kmirror.spec.wire_values import ResourceType
from tests.unit.histories.hand import TP, Hand, row, rows

CHANGED = ["changed-by-restart"]
PRODUCER = 7


def compacted(*, retention_ms: int = 20_000) -> Hand:
    """Return an account of a compacted topic whose markers are kept for `retention_ms`."""
    hand = Hand().order("alter_topic", "", "a", at=1, args={"name": "cleanup.policy", "value": "compact"})
    hand.order("alter_topic", "", "a", at=1, args={"name": "delete.retention.ms", "value": str(retention_ms)})
    for snapshot in (hand.account.before_restart, hand.account.after_restart):
        snapshot.configs["a", int(ResourceType.TOPIC), TP.topic] = {"cleanup.policy": "compact"}
    return hand.transaction("t/1", "open").wrote("open", 1, pid=PRODUCER, transaction="t/1", acked=False)


OPEN = row(1, "open", pid=PRODUCER, visible=False)
COMMIT = row(2, f"<COMMIT {PRODUCER}>", pid=PRODUCER, visible=False)
KEYED = [replace(row(0, "v0"), key="k0"), replace(row(3, "v3"), key="k3")]
HIDDEN = [KEYED[0], OPEN, replace(KEYED[1], visible=False)]
"""The log of a replica that missed the marker of a transaction: its last stable offset is 1."""


def without_a_marker(hand: Hand) -> Hand:
    hand.account.unsettled_after_restart.append(("a", TP, f"{OPEN_TRANSACTIONS} (producers {PRODUCER} from 1)"))
    return hand.restarted(KEYED, HIDDEN, stable=1)


def test_an_offline_replica_keeps_a_transaction_open_whose_marker_was_cleaned() -> None:
    hand = without_a_marker(compacted().away("broker", "a-2", 10, 40))
    assert hand.found() == []
    assert hand.accepted() == {MARKERS_CLEANED: 1}
    assert without_a_marker(compacted().away("line", "a-2|a-1", 10, 40)).found() == []


@pytest.mark.parametrize(
    ("what", "end", "found"), [("log end 4", 4, []), ("log end 1", 1, CHANGED), ("ISR [2]", 4, CHANGED)]
)
def test_a_mirror_has_the_records_after_an_unfinished_transaction(what: str, end: int, found: list[str]) -> None:
    hand = without_a_marker(compacted().away("broker", "a-2", 10, 40)).stay("a", "b", began=2, mirroring=3)
    hand.account.unsettled_after_restart.append(("b", TP, f"{what}, the source's last stable offset is 1"))
    log = hand.account.after_restart.logs["a", TP]
    hand.account.after_restart.logs["b", TP] = replace(log, cluster="b", last_stable_offset=end, log_end_offset=end)
    assert hand.found() == found


@pytest.mark.parametrize(
    ("kind", "subject", "end"),
    [("broker", "a-2", 29), ("broker", "a-2", -1), ("broker", "a-1", 40), ("line", "a-2|b-1", 40)],
    ids=["not for long enough", "to the end", "another broker", "from another cluster"],
)
def test_a_replica_that_was_not_away_has_every_marker(kind: str, subject: str, end: float) -> None:
    hand = without_a_marker(compacted().away(kind, subject, 10, end))
    assert hand.found() == CHANGED and hand.accepted() == {}


@pytest.mark.parametrize("kept", [OPEN, COMMIT], ids=["the record", "its marker"])
def test_a_marker_is_missed_if_the_leader_before_had_it_or_its_record(kept: object) -> None:
    """A marker is cleaned after the last record of its transaction."""
    hand = compacted().away("broker", "a-2", 10, 40)
    hand.account.unsettled_after_restart.append(("a", TP, OPEN_TRANSACTIONS))
    assert hand.restarted([KEYED[0], kept, KEYED[1]], HIDDEN, stable=1).found() == CHANGED  # type: ignore[list-item]


def test_a_log_that_is_not_compacted_and_one_of_the_same_leader_lose_no_marker() -> None:
    hand = compacted().away("broker", "a-2", 10, 40)
    del hand.account.orders[0]  # The one that sets cleanup.policy.
    assert without_a_marker(hand).found() == CHANGED
    hand = compacted().away("broker", "a-2", 10, 40)
    hand.account.unsettled_after_restart.append(("a", TP, OPEN_TRANSACTIONS))
    hand.restarted(KEYED, HIDDEN, stable=1, brokers=(2, 2))
    assert any(OPEN_TRANSACTIONS in anomaly.text for anomaly in hand.judged()[0])


def test_a_cleaned_marker_excuses_only_open_transactions() -> None:
    hand = without_a_marker(compacted().away("broker", "a-2", 10, 40))
    hand.account.unsettled_after_restart.append(("a", TP, "ISR [2] of replicas [1, 2]"))
    assert hand.found() == CHANGED


@pytest.mark.parametrize(("end", "expected"), [("COMMIT", []), ("ABORT", CHANGED)])
def test_a_key_whose_deletion_lies_above_the_open_transaction_is_deleted(end: str, expected: list[str]) -> None:
    """Its tombstone is still there; the previous leader had cleaned it together with the record that it superseded."""
    hand = compacted().away("broker", "a-2", 10, 40)
    hand.transaction("t/2", "gone").wrote("gone", 2, at=50, pid=8, transaction="t/2", acked=False)
    tombstone = replace(row(2, "gone", pid=8, visible=False), key="k2", is_tombstone=True)
    marker = row(4, f"<{end} 8>", pid=8, visible=False)
    others = [replace(row(0, "old"), key="k2"), OPEN, tombstone, HIDDEN[2], marker]
    assert hand.restarted([KEYED[1], marker], others, stable=1).found() == expected


def test_a_record_below_the_open_transaction_stays_visible_and_the_latest_of_its_key() -> None:
    hand = compacted().away("broker", "a-2", 10, 40)
    assert hand.restarted(KEYED, [replace(KEYED[0], visible=False), *HIDDEN[1:]], stable=1).found() == CHANGED
    newer = [replace(KEYED[0], offset=3, value="v3")]
    hand = compacted().away("broker", "a-2", 10, 40)
    hand.restarted([KEYED[0], *newer], [replace(KEYED[0], visible=False), OPEN, *newer], stable=1)
    assert hand.found() == CHANGED, "it is superseded, but it can be read below the last stable offset"
    hand = compacted().away("broker", "a-2", 10, 40)
    other = [KEYED[0], OPEN, replace(row(2, "back"), key="k2"), HIDDEN[2]]
    assert hand.restarted(KEYED, other, stable=1).found() == CHANGED, "nothing supersedes it"


@pytest.mark.parametrize(("subject", "expected"), [("a-2", []), ("a-3", CHANGED)])
def test_a_replica_offline_for_too_long_restores_a_key_without_its_tombstone(subject: str, expected: list[str]) -> None:
    hand = compacted().away("broker", subject, 10, 40).wrote("gone", 2)
    hand.account.writes["gone"] = replace(hand.account.writes["gone"], key="k2", is_tombstone=True)
    again = [KEYED[0], replace(row(1, "back"), key="k2"), KEYED[1]]
    assert [name for name in hand.restarted(KEYED, again).found() if name in CHANGED] == expected


@pytest.mark.parametrize(("unclean", "expected"), [(True, []), (False, CHANGED)])
def test_another_replica_may_have_records_superseded_by_a_lost_one(unclean: bool, expected: list[str]) -> None:
    hand = compacted().elected(1, 1, at=20, unclean=unclean).heir("a", KEYED, at=21).wrote("back", 1, acked=False)
    hand.account.writes["back"] = replace(hand.account.writes["back"], key="k2")
    again = [KEYED[0], replace(row(1, "back"), key="k2"), KEYED[1]]
    assert [name for name in hand.restarted(KEYED, again).found() if name in CHANGED] == expected


def test_another_replica_has_the_records_left_by_its_own_cleaner() -> None:
    older = [replace(row(1, "v1"), key="k3"), *KEYED]
    cleaned = [replace(each, crc=9) for each in KEYED]
    hand = compacted()
    for snapshot in (hand.account.before_restart, hand.account.after_restart):
        snapshot.configs.clear()
    assert hand.restarted(older, cleaned).found() == []
    assert hand.restarted(older, cleaned, brokers=(2, 2)).found() == CHANGED, "the cleaner of that replica rests"
    del hand.account.orders[0]  # The one that sets cleanup.policy.
    assert hand.restarted(older, cleaned).found() == CHANGED


# -- where the log begins -----------------------------------------------------------------------

ALL, LAST = rows("v0", "v1", "v2", "v3"), rows("v3", start=3)


def deleted(*, below: int = 3, error: str = "NONE", at: float = 2, **more: Value) -> Hand:
    """Return an account in which DeleteRecords was ordered."""
    args: dict[str, Value] = {"cluster": "a", "topic": TP.topic, "partition": TP.partition, "offset": below, **more}
    hand = Hand().order("delete_records", "", "a", at=at, error=error, args=args)
    for value in ("v0", "v1", "v2", "v3"):
        hand.wrote(value, int(value[1]), at=1, acked=False)
    return hand


@pytest.mark.parametrize(
    "hand",
    [deleted(), deleted(below=-1), deleted(error=""), deleted(cluster="b")],
    ids=["ordered", "up to the high watermark", "not answered", "at the source of the log"],
)
def test_another_replica_may_begin_where_records_were_deleted(hand: Hand) -> None:
    assert hand.restarted(ALL, LAST, starts=(0, 3)).found() == []


@pytest.mark.parametrize(
    "hand",
    [deleted(below=2), deleted(error="OFFSET_OUT_OF_RANGE"), deleted(partition=1), deleted(topic="t"), deleted(at=121)],
    ids=["below a lower offset", "refused", "another partition", "another topic", "later"],
)
def test_other_orders_of_delete_records_move_no_log_start(hand: Hand) -> None:
    assert hand.restarted(ALL, LAST, starts=(0, 3)).found() == CHANGED


def test_the_same_replica_does_not_begin_later() -> None:
    assert deleted().restarted(ALL, LAST, starts=(0, 3), brokers=(1, 1)).found() == CHANGED


def expiring(retention_ms: int) -> Hand:
    """Return an account of four records, one written each second, with this retention."""
    hand = Hand().order("alter_topic", "", "a", at=1, args={"name": "retention.ms", "value": str(retention_ms)})
    for value in ("v0", "v1", "v2", "v3"):
        hand.wrote(value, int(value[1]), at=1, acked=False)
    return hand


def test_another_replica_may_still_have_records_deleted_by_its_leader() -> None:
    assert expiring(1_000).restarted(LAST, ALL, starts=(3, 0)).found() == []
    assert deleted().restarted(LAST, ALL, starts=(3, 0)).found() == []
    assert deleted().restarted(LAST, ALL, starts=(3, 0), brokers=(1, 1)).found() == [], "a crash takes a log start back"


def test_records_that_had_not_to_go_are_not_back() -> None:
    assert expiring(1_000_000).restarted(LAST, ALL, starts=(3, 0)).found() == CHANGED
    assert expiring(1_000).restarted(LAST, ALL, starts=(3, 0), brokers=(1, 1)).found() == CHANGED
    assert expiring(1_000).restarted(LAST, ALL, starts=(2, 0)).found() == CHANGED, "it lay above the log start"
    assert deleted(below=2).restarted(LAST, ALL, starts=(3, 0)).found() == CHANGED
    hand = deleted(below=2, cluster="b").restarted(LAST, ALL, starts=(3, 0))
    assert hand.found() == CHANGED


# -- offsets of groups --------------------------------------------------------------------------

OLD, NEW = CommittedOffset(3, 0, "g-0#0"), CommittedOffset(4, 0, "g-0#1")


def committed(now: CommittedOffset | None, *, sent_at: float = 112, cluster: str = "a") -> Hand:
    """Return an account of a member that committed `NEW` then."""
    hand = Hand().restarted(ALL, ALL)
    hand.account.before_restart.offsets["a", "g", TP] = OLD
    if now is not None:
        hand.account.after_restart.offsets["a", "g", TP] = now
    sent = SentOffset(NEW.metadata, "g", cluster, TP, 4, "", "", 1, "", round(sent_at * SECOND))
    hand.account.groups.sent_offsets[NEW.metadata] = sent
    return hand


def test_a_member_that_waited_for_a_response_may_commit_after_the_first_observation() -> None:
    assert committed(NEW).found() == []


@pytest.mark.parametrize(
    "hand",
    [
        committed(NEW, sent_at=109),
        committed(NEW, cluster="b"),
        committed(None),
        committed(CommittedOffset(4, 0, "g-0#2")),
    ],
    ids=["sent before", "to another cluster", "gone", "nobody's"],
)
def test_an_offset_without_later_commits_must_stay(hand: Hand) -> None:
    assert hand.found() == CHANGED


@pytest.mark.parametrize(("subject", "expected"), [("a-1", []), ("a-2", ["hanging-transaction", "stuck-state"])])
def test_a_leader_offline_for_too_long_has_an_open_transaction_before_a_restart_too(
    subject: str, expected: list[str]
) -> None:
    hand = compacted().away("broker", subject, 10, 40)
    hand.account.unsettled.append(("a", TP, f"{OPEN_TRANSACTIONS} (producers {PRODUCER} from 1)"))
    hand.account.unsettled.append(("b", TP, "log end 4, the source's last stable offset is 1"))
    hand.stay("a", "b", began=2, mirroring=3).final("b", [KEYED[1]])
    assert sorted(hand.final("a", HIDDEN, stable=1).found()) == expected
    assert hand.accepted() == ({} if expected else {MARKERS_CLEANED: 1})


@pytest.mark.decision("D64")
@pytest.mark.parametrize(
    ("left", "stable", "expected"),
    [([], 4, []), ([COMMIT], 4, ["stuck-state"]), ([OPEN], 4, ["stuck-state"]), ([], 1, ["stuck-state"])],
    ids=["both are gone", "its marker", "its record", "the source has not come so far"],
)
def test_a_lagging_mirror_has_an_open_transaction_that_its_source_has_cleaned(
    left: list[LogRow], stable: int, expected: list[str]
) -> None:
    hand = compacted().stay("a", "b", began=2, mirroring=3)
    hand.account.unsettled.append(("b", TP, f"{OPEN_TRANSACTIONS} (producers {PRODUCER} from 1)"))
    hand.final("a", [KEYED[0], *left, KEYED[1]], stable=stable).final("b", HIDDEN, stable=1)
    assert [name for name in hand.found() if name == "stuck-state"] == expected


@pytest.mark.parametrize(
    ("subject", "marker", "high", "end", "expected"),
    [
        ("a-1", 4, 5, 3, []),
        ("a-2", 4, 5, 3, ["stuck-state"]),
        ("a-1", 2, 5, 3, ["stuck-state"]),
        ("a-1", 4, 3, 3, ["stuck-state"]),
        ("a-1", 4, 5, 2, ["stuck-state"]),
    ],
    ids=["away", "another was", "the source has decided it", "the source keeps none open", "the mirror is behind"],
)
def test_a_mirror_waits_for_markers_above_the_transaction_that_its_source_keeps_open(
    subject: str, marker: int, high: int, end: int, expected: list[str]
) -> None:
    """The leader of its source was down for too long, and lacks the marker of the transaction that begins at 3."""
    hand = compacted().away("broker", subject, 10, 40).stay("a", "b", began=2, mirroring=3)
    hand.transaction("t/2", "missed").wrote("missed", 3, pid=8, transaction="t/2", acked=False)
    hand.account.unsettled.append(("b", TP, f"{OPEN_TRANSACTIONS} (producers {PRODUCER} from 1)"))
    missed = row(3, "missed", pid=8, visible=False)
    theirs = sorted([KEYED[0], OPEN, missed, replace(COMMIT, offset=marker)], key=lambda each: each.offset)
    hand.final("a", theirs, stable=3, high=high).final("b", [KEYED[0], OPEN], stable=1, high=end, end=end)
    assert [name for name in hand.found() if name == "stuck-state"] == expected


@pytest.mark.decision("D8")
@pytest.mark.parametrize(("cluster", "epoch", "found"), [("a", -1, []), ("b", -1, CHANGED), ("a", 2, CHANGED)])
def test_a_settled_epoch_is_lost_with_the_topic_of_the_states(cluster: str, epoch: int, found: list[str]) -> None:
    """A new leader notices that the topic is gone."""
    hand = Hand()
    hand.account.groups.lost_logs.append(LostCoordinatorLog(cluster, TopicPartition(MIRROR_STATE_TOPIC, 0), 5))
    hand.account.before_restart.states["a", TP] = "STOPPED", 1
    hand.account.after_restart.states["a", TP] = "STOPPED", epoch
    assert hand.found() == found


FORMER = [row(0, "o0"), row(1, "o1"), row(3, "o3", epoch=1)]
NEWER = [row(1, "n1"), row(2, "n2")]
"""Records of the topic that was created again."""


@pytest.mark.decision("D53")
@pytest.mark.parametrize(
    ("release", "deleted_at", "theirs", "ours", "expected"),
    [
        ("2.1", 10, NEWER, NEWER, []),
        ("2.1", 10, NEWER, [FORMER[0], *NEWER], []),
        ("", 10, NEWER, NEWER, CHANGED),
        ("2.1", 1, NEWER, NEWER, CHANGED),
        ("2.1", 10, NEWER[:1], NEWER, CHANGED),
        ("2.1", 10, FORMER, NEWER, CHANGED),
    ],
    ids=["copied", "cut where they part", "its id tells", "deleted before", "the source has less", "has others"],
)
def test_a_mirror_of_an_old_source_may_continue_with_a_recreated_topic(
    release: str, deleted_at: float, theirs: list[LogRow], ours: list[LogRow], expected: list[str]
) -> None:
    """A restart raises that topic's leader epochs, by which the two were distinguished."""
    hand = Hand().plays("b", release).topic("b", "id", at=0.5).topic("b", "id", at=deleted_at, exists=False)
    hand.topic("b", "id", at=deleted_at + 1).stay("b", "a", began=2, mirroring=3)
    hand.restarted(FORMER, ours, brokers=(1, 1))
    before, after = hand.account.before_restart, hand.account.after_restart
    after.logs["b", TP] = replace(after.logs["a", TP], cluster="b", rows=tuple(theirs))
    before.states["a", TP] = after.states["a", TP] = "MIRRORING", -1
    assert hand.found() == expected
