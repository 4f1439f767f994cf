"""described-wrong: reports wrong state, lag and reason of each description, and accepts delayed ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kmirror.histories.account import MISSED, DescribedPartition, ObservedCut
from kmirror.kernel.clock import SECOND
from tests.unit.histories.hand import MIRROR, TP, Hand, rows


def findings(
    change: Callable[[Hand], object] = lambda hand: None, *, began: float = 1, mirroring: float = 2, **other: Any
) -> str:
    """Return findings for a response at 50 s about b, which has mirrored a since 2 s; `other` changes its fields."""
    hand = Hand().stay("a", "b", began=began, mirroring=mirroring)
    hand.account.unsettled.append(("b", TP, "so nothing is at rest"))
    change(hand)
    row: dict[str, Any] = {
        "cluster": "b", "mirror": MIRROR, "tp": TP, "broker": 1, "state": "MIRRORING", "source_offset": 10,
        "destination_offset": 10, "last_mirror_epoch": -1, "reason": "", "at": 50 * SECOND, **other,
    }  # fmt: skip
    row.setdefault("lag", max(0, row["source_offset"] - row["destination_offset"]) if row["source_offset"] >= 0 else -1)
    hand.account.described.append(DescribedPartition(**row))
    texts = [anomaly.text for anomaly in hand.judged()[0] if anomaly.checker == "described-wrong"]
    return texts[0] if texts else ""


def test_a_correct_description_is_not_reported() -> None:
    assert findings() == ""


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ({"state": "PAUSED"}, True),
        ({"state": "PAUSED", "broker": 2}, False),  # It has just become the leader, and has reported nothing yet.
        ({"state": "UNKNOWN"}, False),  # It reads the state again.
    ],
)
def test_the_state_is_the_one_that_the_leader_entered(says: dict[str, Any], expected: bool) -> None:
    assert ("but the leader has entered MIRRORING" in findings(**says)) is expected


@pytest.mark.decision("D30")
@pytest.mark.parametrize(
    ("cut", "expected"),
    [
        (ObservedCut("b", TP, 1, 4, 10, f"a cut to epoch 1 {MISSED}", 51 * SECOND), False),
        (ObservedCut("b", TP, 1, 4, 9, f"a cut to epoch 1 {MISSED}", 51 * SECOND), True),
        (ObservedCut("b", TP, 1, 3, 10, f"a cut to epoch 1 {MISSED}", 51 * SECOND), True),
        (ObservedCut("b", TP, 2, 4, 10, f"a cut to epoch 1 {MISSED}", 51 * SECOND), True),
        (ObservedCut("b", TP, 1, 4, 10, f"a cut to epoch 1 {MISSED}", 49 * SECOND), True),
        (ObservedCut("b", TP, 1, 4, 10, "LME 1", 51 * SECOND), True),
    ],
    ids=["missed", "of a shorter log", "at a lower offset", "of another leader", "made before", "not missed"],
)
def test_a_leader_that_must_truncate_describes_its_log_as_it_is(cut: ObservedCut, expected: bool) -> None:
    """The observation shows the log as after the truncation: until then it serves nothing."""

    def change(hand: Hand) -> None:
        hand.look("b", rows("v0", "v1", "v2", "v3"), at=50, end=10).account.cuts.append(cut)

    assert ("destination offset 10, expected the high watermark 4" in findings(change)) is expected


@pytest.mark.parametrize(
    ("state", "at", "expected"),
    [("MIRRORING", 50, False), ("PAUSING", 50, False), ("PAUSED", 50, False), ("MIRRORING", 49, True)],
)
def test_a_leader_passes_several_states_in_one_instant(state: str, at: float, expected: bool) -> None:
    def change(hand: Hand) -> None:
        hand.state("b", "PAUSING", at=at).state("b", "PAUSED", at=at)

    assert ("but the leader has entered PAUSED" in findings(change, state=state)) is expected


@pytest.mark.parametrize(
    ("change", "reason", "expected"),
    [
        (lambda hand: None, "the source returned X", True),
        (lambda hand: None, "throttled: 100 bytes a second", False),
        (lambda hand: None, "the source's topic has 3 partitions, here are 2 so far", False),
        (lambda hand: hand.away("broker", "a-2", 41, 42), "the source returned X", False),
        (lambda hand: hand.away("broker", "a-2", 30, 39), "the source returned X", True),
        (lambda hand: hand.away("broker", "c-2", 41, 42), "the source returned X", True),  # It is not involved.
        (lambda hand: hand.away("line", "b|a", 41, 42), "the source returned X", False),
        (lambda hand: hand.elected(2, 3, at=45), "the source returned X", False),
        (lambda hand: hand.elected(2, 3, at=45, cluster="b"), "the source returned X", False),
        (lambda hand: hand.order("resume", "a", "b", at=45), "the source returned X", False),
    ],
)
def test_a_reason_without_a_failure_is_reported(change: Callable[[Hand], object], reason: str, expected: bool) -> None:
    assert ("although nothing has failed" in findings(change, reason=reason)) is expected


def created_again(hand: Hand, *, release: str) -> None:
    """Delete and recreate the source's topic early."""
    hand.plays("a", release).topic("a", "old", at=1).topic("a", "old", at=10, exists=False)
    hand.topic("a", "old", at=11)


@pytest.mark.decision("D53")
@pytest.mark.parametrize(("release", "expected"), [("2.1", False), ("", True)])
def test_a_source_without_topic_ids_may_have_another_topic(release: str, expected: bool) -> None:
    said = findings(lambda hand: created_again(hand, release=release), reason="its topic was created again")
    assert ("although nothing has failed" in said) is expected


@pytest.mark.parametrize(
    ("change", "reason", "expected"),
    [
        (lambda hand: hand.away("line", "a|b", 45, -1), "", True),
        (lambda hand: hand.away("line", "a|b", 45, -1), "no answer", False),
        (lambda hand: hand.away("line", "a|b", 46, -1), "", False),  # It may respond slowly.
        (lambda hand: hand.away("line", "a|b", 30, 49), "", False),
        (lambda hand: [hand.away("broker", f"a-{number}", 30, -1) for number in (1, 2, 3)], "", True),
        (lambda hand: [hand.away("broker", f"a-{number}", 30, -1) for number in (1, 3)], "", False),
    ],
)
def test_a_source_out_of_reach_is_a_reason(change: Callable[[Hand], object], reason: str, expected: bool) -> None:
    assert ("without a reason, although a cannot be reached" in findings(change, reason=reason, lag=-1)) is expected


@pytest.mark.parametrize(("since", "lag", "expected"), [(45, 0, True), (45, 3, True), (45, -1, False), (46, 0, False)])
def test_no_lag_is_known_of_a_source_out_of_reach(since: float, lag: int, expected: bool) -> None:
    found = findings(
        lambda hand: hand.away("line", "a|b", since, -1), lag=lag, source_offset=10 + max(lag, 0), reason="no"
    )
    assert (f"lag {lag}, although a cannot be reached" in found) is expected


@pytest.mark.decision("D77")
@pytest.mark.parametrize(
    ("acked_at", "offset", "elected_at", "says", "expected"),
    [
        (15, 10, 5, {}, True),
        (15, 10, 15, {"lag": 3, "destination_offset": 7}, True),
        (15, 9, 5, {}, False),
        (15, 10, 5, {"lag": -1}, False),
        (21, 10, 5, {}, False),
        (1.5, 10, 0, {}, False),  # It was not mirrored yet.
        (15, 10, 21, {}, False),  # A new leader may return a lower high watermark for a while.
    ],
)
def test_a_lag_counts_records_acknowledged_before_a_proof_could_expire(
    acked_at: float, offset: int, elected_at: float, says: dict[str, Any], expected: bool
) -> None:
    def change(hand: Hand) -> None:
        hand.wrote("v", offset, at=acked_at).elected(2, 3, at=elected_at).away("line", "a-1|a-100", 0, -1)

    found = findings(change, proof_age_max=30 * SECOND, **says)
    assert ("but a had acknowledged up to 11 before" in found) is expected


@pytest.mark.parametrize(("began", "reason", "expected"), [(20, "", True), (20, "waits", False), (45, "", False)])
def test_preparing_for_long_has_a_reason(began: float, reason: str, expected: bool) -> None:
    found = findings(began=began, mirroring=-1, state="PREPARING", source_offset=-1, reason=reason)
    assert ("PREPARING for a long time without a reason" in found) is expected


@pytest.mark.parametrize(("elected_at", "expected"), [(39, True), (41, False)])
def test_a_mirror_ahead_of_its_known_source_offset_is_reported(elected_at: float, expected: bool) -> None:
    """A new leader at the source may return a lower high watermark for a while."""
    found = findings(lambda hand: hand.elected(2, 3, at=elected_at), source_offset=9)
    assert ("below the destination's own 10" in found) is expected


@pytest.mark.parametrize(
    ("sent_at", "offset", "expected"),
    [
        (43, 10, True),
        (43, 9, False),
        (44.5, 10, False),  # The mirror may not have received it.
        (30, 10, False),  # Before the time at which the account is known to be calm.
    ],
)
def test_a_source_offset_behind_acknowledged_records_is_reported(sent_at: float, offset: int, expected: bool) -> None:
    found = findings(lambda hand: hand.wrote("v", offset, at=sent_at))
    assert ("a had acknowledged up to 11 long before" in found) is expected


@pytest.mark.parametrize(
    ("mirroring", "elected_at", "expected"), [(48, 48, True), (48.5, 48, False), (47.5, 48.5, False)]
)
def test_a_lag_is_known_at_the_end_once_the_source_had_time_to_respond(
    mirroring: float, elected_at: float, expected: bool
) -> None:
    def at_rest(hand: Hand) -> None:
        hand.account.unsettled.clear()
        hand.elected(1, 5, at=elected_at).final("a", [], at=50).final("b", [], at=50)

    found = findings(at_rest, began=47, mirroring=mirroring, source_offset=-1, destination_offset=0)
    assert ("lag -1, although everything up to 0 is mirrored" in found) is expected


@pytest.mark.parametrize(
    ("mirroring", "line", "up_at", "expected"),
    [
        (46, "a|b", 45, False),
        (46, "a-2|b", 45, False),
        (46, "a>b", 45, False),
        (43.5, "a|b", 45, True),  # That request has timed out since then, too.
        (46, "a|b", 43.5, True),
        (46, "a-2|a-100", 45, True),
        (46, "c|b", 45, True),
    ],
)
def test_a_lag_is_unknown_while_a_lost_fetch_is_in_flight(
    mirroring: float, line: str, up_at: float, expected: bool
) -> None:
    """A new partition is in the fetch after the one in flight."""

    def at_rest(hand: Hand) -> None:
        hand.account.unsettled.clear()
        hand.away("line", line, 40, up_at).final("a", [], at=50).final("b", [], at=50)

    found = findings(at_rest, began=43, mirroring=mirroring, source_offset=-1, destination_offset=0)
    assert ("lag -1, although everything up to 0 is mirrored" in found) is expected


@pytest.mark.parametrize(("ends_at", "expected"), [(50, True), (60, False), (-1, False)])
def test_only_the_last_description_is_one_at_rest(ends_at: float, expected: bool) -> None:
    """The topic may have been deleted, so that its last response is from the middle of the history."""

    def at_rest(hand: Hand) -> None:
        hand.account.unsettled.clear()
        if ends_at >= 0:
            hand.final("b", [], at=ends_at)

    found = findings(at_rest, state="UNKNOWN", destination_offset=0, persisted="STOPPING")
    assert ("state UNKNOWN, but STOPPING is persisted" in found) is expected
