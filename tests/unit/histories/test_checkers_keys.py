"""Missing records that compaction explains, and those that it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kmirror.histories.account import MISSED, Absence, LogRow, ObservedCut
from kmirror.histories.checkers.reasons import SCRATCH, Record, loss_reason
from kmirror.histories.group_account import LostCoordinatorLog
from kmirror.kernel.clock import SECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from tests.unit.histories.hand import TP, Hand, row

RETENTION_MS = 20_000


def keyed(offset: int, value: str, key: str, *, tombstone: bool = False) -> LogRow:
    return replace(row(offset, value), key=key, is_tombstone=tombstone)


def compacted(*records: LogRow, policy: str = "compact") -> Hand:
    """Record that these were written and acknowledged in cluster a, each a second after the one before."""
    hand = Hand().order("alter_topic", "", "a", at=0, args={"name": "cleanup.policy", "value": policy})
    hand.order("alter_topic", "", "a", at=0, args={"name": "delete.retention.ms", "value": str(RETENTION_MS)})
    for record in records:
        hand.wrote(record.value, record.offset, at=1 + record.offset)
        write = hand.account.writes[record.value]
        hand.account.writes[record.value] = replace(write, key=record.key, is_tombstone=record.is_tombstone)
    return hand


OLD, NEW, OTHER = keyed(0, "old", "k"), keyed(1, "new", "k"), keyed(2, "other", "x")
GONE = keyed(1, "gone", "k", tombstone=True)


def test_a_superseded_record_may_be_missing() -> None:
    hand = compacted(OLD, NEW, OTHER).look("a", [OLD, NEW, OTHER], at=10).final("a", [NEW, OTHER])
    assert hand.found() == []
    assert hand.accepted() == {"compaction": 1}


def test_it_may_not_where_the_topic_is_not_compacted() -> None:
    hand = compacted(OLD, NEW, OTHER, policy="delete").look("a", [OLD, NEW, OTHER], at=10).final("a", [NEW, OTHER])
    assert hand.found() == ["acked-lost"]


@pytest.mark.parametrize("left", [[OLD, OTHER], [OTHER]])
def test_the_latest_value_of_a_key_must_not_be_missing(left: list[LogRow]) -> None:
    hand = compacted(OLD, NEW, OTHER).look("a", [OLD, NEW, OTHER], at=10).final("a", left)
    assert hand.found() == ["acked-lost", "key-lost"]


def test_the_only_value_of_another_key_is_no_reason() -> None:
    hand = compacted(OLD, keyed(1, "new", "y"), OTHER).final("a", [keyed(1, "new", "y"), OTHER])
    assert hand.found() == ["acked-lost", "key-lost"]


def test_a_superseded_record_is_missed_if_its_successor_was_truncated() -> None:
    """Each loss has a reason: the old value was cleaned, and the source did not have the new one."""
    hand = compacted(OLD, NEW).stay("b", "a", began=20, mirroring=22).look("a", [OLD, NEW], at=10)
    hand.look("a", [NEW], at=19.9).look("b", [OLD], at=10).look("b", [OLD], at=19.9).look("b", [OLD], at=22)
    found = hand.final("a", [], high=1).final("b", [OLD]).found()
    assert "key-lost" in found and "acked-lost" not in found


@pytest.mark.parametrize(("key", "expected"), [("k", []), ("y", ["half-transaction"])])
def test_half_of_a_transaction_may_be_missing_for_an_unmirrored_record(key: str, expected: list[str]) -> None:
    """The source's cleaner removed it, and the mirror ends before the record that superseded it."""
    half, later = keyed(1, "half", "k"), keyed(3, "later", key)
    hand = compacted(OTHER, half, later).transaction("t/1", "other", "half")
    hand.look("a", [OTHER, later], at=10).look("b", [OTHER], at=10).final("a", [OTHER, later])
    assert [name for name in hand.found() if name == "half-transaction"] == expected


def test_a_record_of_an_aborted_transaction_is_nobodys_latest() -> None:
    hidden = keyed(1, "hidden", "k")
    hand = compacted(OLD, OTHER).wrote("hidden", 1, at=3, transaction="t")
    hand.account.writes["hidden"] = replace(hand.account.writes["hidden"], key="k")
    hand.transaction("t", "hidden", asked="commit", answered=False)
    hand.look("a", [OLD, OTHER], at=2.5).final("a", [replace(hidden, visible=False), OTHER])
    assert hand.found() == ["acked-lost", "key-lost"]


@pytest.mark.parametrize("looked_at", [10, None])
def test_a_tombstone_behind_an_open_transaction_existed_when_it_was_last_seen(looked_at: int | None) -> None:
    """The session that may truncate ended before; so it cannot have removed the tombstone."""
    hand = compacted(OLD, GONE, OTHER).stay("b", "a", began=5, removed=7, stopped=8, epoch=-2).look("b", [], at=5)
    if looked_at is not None:
        hand.look("a", [OLD, replace(GONE, visible=False), OTHER], at=looked_at, stable=1)
    hand.look("a", [OLD, OTHER], at=11, stable=1)
    assert ("key-lost" in hand.final("a", [OTHER]).found()) == (looked_at is None)


@pytest.mark.parametrize(("at", "expected"), [(10, ["acked-lost"]), (60, [])])
def test_a_tombstone_may_be_missing_after_its_retention(at: float, expected: list[str]) -> None:
    hand = compacted(OLD, GONE, OTHER).look("a", [OLD, GONE, OTHER], at=5).final("a", [OTHER], at=at)
    assert hand.found() == expected


def test_a_deleted_key_must_not_return() -> None:
    hand = compacted(OLD, GONE, OTHER).look("a", [OLD, GONE, OTHER], at=5).final("a", [OLD, OTHER], at=60)
    assert hand.found() == ["key-came-back"]


@pytest.mark.parametrize(
    ("offset", "acked_at", "expected"),
    [(3, 11, []), (-1, 0, []), (3, 9, ["acked-lost", "key-lost"]), (0, 11, ["acked-lost", "key-lost"])],
    ids=["above", "perhaps", "before the look that shows it once", "once"],
)
def test_a_rewritten_tombstone_supersedes_the_records_in_between(
    offset: int, acked_at: float, expected: list[str]
) -> None:
    """A producer without idempotence got no response to the first one."""
    gone, back = keyed(0, "gone", "k", tombstone=True), keyed(2, "back", "k")
    hand = compacted(gone, keyed(1, "other", "x"), back).look("a", [gone, keyed(1, "other", "x"), back], at=10)
    del hand.account.acks[0]
    if offset >= 0:
        hand.wrote("gone", offset, at=1, retried=acked_at)
        hand.account.writes["gone"] = replace(hand.account.writes["gone"], key="k", is_tombstone=True)
    assert hand.final("a", [keyed(1, "other", "x")], at=60).found() == expected


@pytest.mark.parametrize(
    ("both", "expected"), [(True, []), (False, ["acked-lost", "key-lost"])], ids=["both there", "the first alone"]
)
def test_a_rewritten_record_supersedes_others_before_it_is_stable(both: bool, expected: list[str]) -> None:
    """That observation follows the acknowledgement of the second, and a transaction below the second is still open."""
    gone, back = keyed(0, "gone", "k", tombstone=True), keyed(1, "back", "k")
    again = replace(gone, offset=3, visible=False)
    hand = compacted(gone, back, OTHER)
    del hand.account.acks[0]
    hand.wrote("gone", 3, at=1, retried=9)
    hand.account.writes["gone"] = replace(hand.account.writes["gone"], key="k", is_tombstone=True)
    hand.look("a", [gone, back, OTHER, *([again] if both else [])], at=10, stable=3)
    assert hand.final("a", [OTHER], at=60).found() == expected


@pytest.mark.parametrize(("end", "expected"), [(4, []), (3, ["key-lost"])], ids=["there", "cut"])
def test_a_record_written_again_supersedes_its_first_copy(end: int, expected: list[str]) -> None:
    """After a restart the second one is not readable yet: the new leader's high watermark is an older one."""
    first, second = keyed(0, "twice", "k"), keyed(3, "twice", "k")
    hand = compacted(first, OTHER).look("a", [first, OTHER], at=10)
    del hand.account.acks[0]
    hand.wrote("twice", 3, at=1, retried=12)
    hand.account.writes["twice"] = replace(hand.account.writes["twice"], key="k")
    hand.look("a", [OTHER], at=20, high=3, end=end)
    assert hand.final("a", [OTHER, second][: end - 2], at=60).found() == expected


@pytest.mark.decision("D29")
@pytest.mark.parametrize(("hidden", "expected"), [(True, False), (False, True)])
def test_records_superseded_by_an_aborted_one_may_be_missing(hidden: bool, expected: bool) -> None:
    """Its transaction was committed at the source, and the stop truncated some of its records and its marker."""
    ours, aborted = (
        [replace(NEW, producer_id=7), replace(OTHER, producer_id=7)],
        row(2, "<ABORT 7>", pid=7, visible=False),
    )
    hand = compacted(OLD, NEW, OTHER).transaction("t/1", "new", "other")
    for value in ("new", "other"):
        hand.account.writes[value] = replace(hand.account.writes[value], producer_id=7, transaction="t/1")
    whole = [*ours, row(3, "<COMMIT 7>", pid=7, visible=False)]
    hand.stay("a", "b", began=2, mirroring=3, removed=20, stopped=22).look("a", whole, at=20)
    hand.look("b", whole, at=20, stable=2).look(
        "b", [replace(ours[0], visible=False), aborted] if hidden else [], at=22
    )
    assert ("key-lost" in hand.final("a", whole, at=60).final("b", [], at=60).found()) is expected


@pytest.mark.parametrize(
    ("subject", "begin", "end", "expected"),
    [
        ("a-1", 1.5, 22, []),
        ("a-1", 1.5, 21, ["key-came-back"]),
        ("a-1", -20, 1.5, ["key-came-back"]),
        ("a-2", 1.5, 22, ["key-came-back"]),
    ],
    ids=["longer than tombstones stay", "not so long", "before the deletion", "another replica"],
)
def test_a_leader_that_was_away_may_have_missed_a_deletion(
    subject: str, begin: float, end: float, expected: list[str]
) -> None:
    hand = compacted(OLD, GONE, OTHER).look("a", [OLD, GONE, OTHER], at=5).away("broker", subject, begin, end)
    assert hand.final("a", [OLD, OTHER], at=60).found() == expected


@pytest.mark.parametrize(("acked", "expected"), [(False, []), (True, ["key-came-back", "divergence"])])
def test_a_later_tombstone_counts_only_where_it_was_committed(acked: bool, expected: list[str]) -> None:
    """The mirror's leader was down and missed the first one; the second one may never have been in the log."""
    hand = compacted(OLD, GONE, OTHER).stay("a", "b", began=2, mirroring=3).away("broker", "b-1", 1.5, 22)
    hand.look("a", [OLD, GONE, OTHER], at=10).look("b", [OLD], at=3)
    hand.wrote("again", 3, at=30, acked=acked)
    hand.account.writes["again"] = replace(hand.account.writes["again"], key="k", is_tombstone=True)
    assert hand.final("a", [OTHER], at=60).final("b", [OLD, OTHER], at=60).found() == expected


@pytest.mark.parametrize(
    ("begin", "end", "expected"), [(1.5, 21.5, []), (1.5, 21.4, ["key-came-back"])], ids=["long", "short"]
)
def test_a_leader_that_was_outside_the_isr_may_have_missed_a_deletion(
    begin: float, end: float, expected: list[str]
) -> None:
    hand = compacted(OLD, GONE, OTHER).look("a", [OLD, GONE, OTHER], at=5)
    hand.account.absences.append(Absence("a", TP, 1, round(begin * SECOND), round(end * SECOND)))
    assert hand.final("a", [OLD, OTHER], at=60).found() == expected


@pytest.mark.parametrize(("leader", "found"), [(2, False), (3, True)])
def test_a_mirror_keeps_records_from_a_leader_that_missed_a_deletion(leader: int, found: bool) -> None:
    """At the end another replica leads there, which has the tombstone, or had it."""
    hand = compacted(OLD, GONE, OTHER).stay("a", "b", began=30, mirroring=31).away("broker", "a-2", 1.5, 22)
    hand.elected(leader, 1, at=25).elected(1, 2, at=50).look("a", [OLD, GONE, OTHER], at=10).look("b", [OLD], at=40)
    names = hand.final("a", [OTHER], at=60).final("b", [OLD, OTHER], at=60).found()
    assert ("key-came-back" in names, "divergence" in names) == (found, found)


@pytest.mark.parametrize(("unclean", "found"), [(True, False), (False, True)])
@pytest.mark.parametrize("lacking", ["a", "b"])
def test_records_superseded_by_a_lost_one_may_be_missing(unclean: bool, lacking: str, found: bool) -> None:
    """The source's election lost "new", for which the cleaner of a replica, or of the mirror, had removed "old"."""
    hand = compacted(OLD, OTHER).stay("a", "b", began=3, mirroring=4)
    hand.elected(2, 1, at=20, unclean=unclean).heir("a", [OLD, OTHER], at=21)
    for name in "ab":
        hand.look(name, [OLD, OTHER], at=5).final(name, [OTHER] if name == lacking else [OLD, OTHER])
    assert ("divergence" in hand.found()) == found


@pytest.mark.parametrize(("broker", "expected"), [(1, []), (2, ["key-came-back", "divergence"])])
def test_a_mirror_with_an_offline_leader_may_have_missed_a_deletion(broker: int, expected: list[str]) -> None:
    hand = compacted(OLD, GONE, OTHER).stay("a", "b", began=2, mirroring=3).away("broker", f"b-{broker}", 1.5, 22)
    hand.look("a", [OLD, GONE, OTHER], at=10).look("b", [OLD], at=3)
    assert hand.final("a", [OTHER], at=60).final("b", [OLD, OTHER], at=60).found() == expected


@pytest.mark.decision("D53")
@pytest.mark.parametrize(("release", "found"), [("2.1", False), ("", True)])
def test_a_source_without_topic_ids_may_have_another_topic(release: str, found: bool) -> None:
    hand = compacted(OLD, GONE, OTHER).stay("a", "b", began=2, mirroring=3).look("a", [OLD, GONE, OTHER], at=10)
    hand.look("b", [OLD], at=3).topic("a", "one", at=0)
    hand.topic("a", "one", at=30, exists=False).topic("a", "one", at=31)
    if release:
        hand.plays("a", release)
    names = hand.final("a", [OTHER], at=60).final("b", [OLD, OTHER], at=60).found()
    assert ("key-came-back" in names) == found


@pytest.mark.parametrize(("broker", "found"), [(1, False), (2, True)])
def test_a_source_with_an_offline_leader_may_have_missed_its_mirrors_deletion(broker: int, found: bool) -> None:
    hand = compacted(OLD, GONE, OTHER).stay("a", "b", began=2, mirroring=3).away("broker", f"a-{broker}", 1.5, 22)
    hand.look("a", [OLD, GONE, OTHER], at=10).look("b", [OLD, GONE, OTHER], at=10)
    names = hand.final("a", [OLD, OTHER], at=60).final("b", [OTHER], at=60).found()
    assert ("divergence" in names) == found


@pytest.mark.parametrize(("tombstone", "expected"), [(True, []), (False, ["acked-lost", "key-lost"])])
def test_a_possibly_written_tombstone_explains_a_loss_and_a_value_does_not(
    tombstone: bool, expected: list[str]
) -> None:
    """A value that superseded the record would be in the log."""
    hand = compacted(OLD, OTHER).wrote("perhaps", 1, at=3, acked=False)
    write = hand.account.writes["perhaps"]
    hand.account.writes["perhaps"] = replace(write, key="k", is_tombstone=tombstone)
    assert hand.look("a", [OLD, OTHER], at=2.5).final("a", [OTHER]).found() == expected


def test_a_mirror_that_never_got_a_deletion_shows_the_earlier_value() -> None:
    hand = compacted(OLD, GONE, OTHER).stay("a", "b", began=2, mirroring=3)
    hand.look("a", [OLD, GONE, OTHER], at=10).look("b", [OLD], at=3)
    assert hand.final("a", [OTHER]).final("b", [OLD, OTHER]).found() == ["key-came-back", "divergence"]


def test_a_mirror_may_not_know_yet_whether_a_deletion_counts() -> None:
    """It has the tombstone, but above it no marker of a transaction that begins below it."""
    hand = compacted(OLD, GONE, OTHER).stay("a", "b", began=2, mirroring=3).look("a", [OLD, GONE, OTHER], at=10)
    undecided = [replace(record, visible=False) for record in (GONE, OTHER)]
    hand.final("a", [OLD, GONE, OTHER]).final("b", [OLD, *undecided], stable=1, high=3, end=3)
    assert "key-came-back" not in hand.found()


@pytest.mark.parametrize(("offset", "tombstone", "expected"), [(1, True, []), (-1, True, []), (1, False, ["key-lost"])])
def test_a_source_tombstone_may_exist_only_between_two_observations_of_its_mirror(
    offset: int, tombstone: bool, expected: list[str]
) -> None:
    """The mirror has been copied from scratch, and the source had the record that was deleted later."""
    unknown_to_b = keyed(5, "later", "z")
    hand = compacted(OLD, OTHER).stay("b", "a", began=10, mirroring=11)
    hand.look("a", [OLD, OTHER, unknown_to_b], at=9.9)
    for at in (9.9, 12):
        hand.look("b", [OLD, OTHER], at=at)
    hand.account.cuts.append(ObservedCut("a", TP, 1, 0, 6, "no LME", 11 * SECOND))
    hand.wrote("gone", offset, at=13, cluster="b", acked=offset >= 0)
    hand.account.writes["gone"] = replace(hand.account.writes["gone"], key="k", is_tombstone=tombstone)
    found = hand.final("b", [OTHER], at=90).final("a", [OTHER], at=90).found()
    assert [name for name in found if name == "key-lost"][:1] == expected


@pytest.mark.decision("D49")
@pytest.mark.parametrize("deleted", [False, True])
def test_records_copied_again_may_go_with_the_sources_deleted_topic(deleted: bool) -> None:
    hand = compacted(OLD, OTHER).stay("b", "a", began=10, mirroring=11).topic("b", "one", at=0)
    hand.look("a", [OLD, OTHER, keyed(5, "later", "z")], at=9.9)
    for at in (9.9, 12):
        hand.look("b", [OLD, OTHER], at=at)
    hand.account.cuts.append(ObservedCut("a", TP, 1, 0, 6, "no LME", 11 * SECOND))
    if deleted:
        hand.topic("b", "one", at=40, exists=False).topic("b", "one", at=41)
    found = hand.final("b", [] if deleted else [OLD, OTHER], at=90).final("a", [], at=90).found()
    assert ("key-lost" in found) == (not deleted)


@pytest.mark.parametrize(("there", "expected"), [([OLD], []), ([], ["divergence"])])
def test_a_mirror_may_not_know_yet_how_the_transaction_of_a_value_ended(
    there: list[LogRow], expected: list[str]
) -> None:
    """An older transaction is open at the source, so the marker above it is not mirrored."""
    hand = compacted(OLD, OTHER).stay("a", "b", began=2, mirroring=3).look("a", [OLD, OTHER], at=10)
    hand.final("a", [OLD, OTHER], stable=2, high=3, end=3)
    undecided = [replace(record, visible=False) for record in there]
    found = hand.final("b", [*undecided], stable=0, high=2, end=2).found()
    assert [name for name in found if name == "divergence"] == expected


@pytest.mark.parametrize(("deletes", "expected"), [([GONE], []), ([], ["divergence"])])
def test_a_mirror_may_not_know_yet_how_the_transaction_of_a_tombstone_ended(
    deletes: list[LogRow], expected: list[str]
) -> None:
    """The source has read it, and its cleaner has removed the record that the tombstone deletes."""
    hand = compacted(OLD, GONE, OTHER).stay("a", "b", began=2, mirroring=3).look("a", [OLD, GONE, OTHER], at=10)
    hand.final("a", [GONE, OTHER], stable=3, high=4, end=4)
    undecided = [replace(record, visible=False) for record in (*deletes, OTHER)]
    found = hand.final("b", [OLD, *undecided], stable=1, high=3, end=3).found()
    assert [name for name in found if name == "divergence"] == expected


def test_a_mirror_may_lack_a_later_tombstone_that_the_source_has_not_decided() -> None:
    again = keyed(4, "again", "k", tombstone=True)
    hand = compacted(OLD, GONE, OTHER, again).stay("a", "b", began=2, mirroring=3)
    hand.look("a", [OLD, GONE, OTHER], at=10).final("a", [GONE, OTHER, replace(again, visible=False)], stable=3, high=5)
    undecided = [replace(record, visible=False) for record in (GONE, OTHER)]
    assert "key-came-back" not in hand.final("b", [OLD, *undecided], stable=1, high=3, end=3).found()
    assert "key-came-back" in hand.final("b", [OLD], stable=1, high=3, end=3).found()


@pytest.mark.parametrize(
    ("deleted", "mirroring", "expected"),
    [(False, 24, ["b"]), (True, 24, []), (False, -1, [])],
    ids=["copied", "the topic of the source is deleted before", "it waits"],
)
def test_records_truncated_for_a_copy_come_back_with_it(deleted: bool, mirroring: float, expected: list[str]) -> None:
    hand = compacted(OLD, OTHER).topic("a", "one", at=0).topic("b", "one", at=0)
    for cluster in "ab":
        hand.look(cluster, [OLD, OTHER], at=10).look(cluster, [OLD, OTHER], at=20)
    hand.stay("a", "b", began=20, mirroring=mirroring).look("b", [], at=24)
    hand.account.cuts.append(ObservedCut("b", TP, 1, 0, 3, "no LME", 21 * SECOND))
    if deleted:
        hand.look("a", [OLD, OTHER], at=21.5).topic("a", "one", at=22, exists=False).topic("a", "two", at=23)
    hand.final("a", [] if deleted else [OLD, OTHER]).final("b", [])
    assert [row.cluster for row in hand.judged()[0] if row.checker == "key-lost"] == expected


@pytest.mark.decision("D63")
@pytest.mark.decision("D64")
@pytest.mark.parametrize(
    ("lacking", "in_step", "policy", "expected"),
    [
        (True, 29, "compact", SCRATCH),
        (False, 29, "compact", None),
        (False, 8, "compact", SCRATCH),
        (True, 8, "delete", None),
    ],
    ids=["the source lacks some of it", "the source has all of it", "tombstones may have gone", "not compacted"],
)
def test_a_compacted_log_is_truncated_completely_for_a_reason(
    lacking: bool, in_step: float, policy: str, expected: str | None
) -> None:
    """At 30 seconds a mirror truncates records that the source has; it was last seen in step at `in_step`."""
    ours = [OLD, keyed(1, "new", "y"), OTHER]
    theirs = [row for row in ours if not (lacking and row.value == "new")]
    hand = compacted(*ours, policy=policy).stay("b", "a", began=5, mirroring=6)
    for at, more in ((7, []), (in_step, []), (29.9, [keyed(5, "later", "z")]), (31, [keyed(5, "later", "z")])):
        hand.look("a", ours if at < 30 else [], at=at).look("b", [*theirs, *more], at=at)
    hand.account.cuts.append(ObservedCut("a", TP, 1, 0, 3, "a cut to epoch -1", 30 * SECOND))
    found = loss_reason(hand.facts(), ("a", TP), Record("other", 2, 0), 29 * SECOND, 31 * SECOND)
    assert (None if found is None else found.decision) == expected


@pytest.mark.decision("D68")
@pytest.mark.parametrize(
    ("elected_at", "lost_in", "expected"),
    [(25, "a", SCRATCH), (4, "a", None), (25, "b", None)],
    ids=["a new leader", "the leader of before", "the source's states are lost"],
)
def test_a_log_is_copied_again_by_a_leader_that_finds_no_state(
    elected_at: float, lost_in: str, expected: str | None
) -> None:
    hand = compacted(OLD, OTHER, policy="delete").stay("b", "a", began=5, mirroring=6)
    for at in (7, 29.9, 31):
        hand.look("a", [OLD, OTHER] if at < 30 else [], at=at).look("b", [OLD, OTHER], at=at)
    hand.elected(1, 2, at=elected_at)
    states = TopicPartition(MIRROR_STATE_TOPIC, 0)
    hand.account.groups.lost_logs.append(LostCoordinatorLog(lost_in, states, 20 * SECOND))
    hand.account.cuts.append(ObservedCut("a", TP, 1, 0, 3, "no LME", 30 * SECOND))
    found = loss_reason(hand.facts(), ("a", TP), Record("other", 2, 0), 29 * SECOND, 31 * SECOND)
    assert (None if found is None else found.decision) == expected


@pytest.mark.decision("D63")
def test_a_leader_that_missed_a_truncation_loses_records_seen_before_it_led() -> None:
    """No observation since its election shows the records that it must truncate; the source lacks some of them."""
    ours = [OLD, keyed(1, "new", "y"), OTHER]
    hand = compacted(*ours).stay("b", "a", began=5, mirroring=6).look("a", ours, at=29, leader_epoch=1)
    hand.elected(1, 2, at=29.3).look("a", [], at=29.5, end=3, leader_epoch=2).look("a", [], at=31, leader_epoch=2)
    for at in (6, 29, 31):
        hand.look("b", ours[::2], at=at)
    hand.account.cuts.append(ObservedCut("a", TP, 1, 0, 3, f"a cut to epoch -1 {MISSED}", 30 * SECOND))
    found = loss_reason(hand.facts(), ("a", TP), Record("other", 2, 0), 29 * SECOND, 31 * SECOND)
    assert found is not None
    assert found.decision == SCRATCH


@pytest.mark.parametrize(("mirroring", "expected"), [(-1, []), (50, ["key-lost"])])
def test_truncated_records_return_only_with_a_running_mirror(mirroring: float, expected: list[str]) -> None:
    """The copy for which it was truncated was stopped early; at the end another mirror waits, or copies."""
    ours = [OLD, keyed(1, "new", "y"), OTHER]
    hand = compacted(*ours).stay("b", "a", began=5, mirroring=6, removed=32, stopped=33)
    hand.stay("b", "a", began=40, mirroring=mirroring)
    for at in (7, 29, 29.9, 31, 60):
        hand.look("a", ours if at < 30 else [], at=at)
        hand.look("b", [OLD, OTHER, keyed(5, "later", "z")] if at < 45 else ours, at=at)
    hand.account.cuts.append(ObservedCut("a", TP, 1, 0, 3, "a cut to epoch -1", 30 * SECOND))
    hand.final("a", []).final("b", ours)
    assert [name for name in hand.found() if name == "key-lost"] == expected
