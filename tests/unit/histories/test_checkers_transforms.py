"""exactly-once: inputs that a group takes twice or skips, and explanations for a group that begins elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from kmirror.histories.group_account import GroupOffsets, SentOffset, TransformedRange
from kmirror.kernel.clock import SECOND
from tests.unit.histories.hand import TP, Hand, rows


class Transforming(Hand):
    """Group g takes records of cluster a in transactions that are all committed."""

    def took(
        self, begin: int, end: int, *, sent: float, at: float, outputs: Mapping[int, str] | None = None
    ) -> Transforming:
        """Record a transaction that takes [begin, end); its offsets are sent and its end is answered at these times."""
        token, key = f"{begin}-{end} at {at}", f"t/{at}"
        self.transaction(key)
        groups, ended_at = self.account.groups, round(at * SECOND)
        sent_at = round(sent * SECOND)
        groups.sent_offsets[token] = SentOffset(
            token, "g", "a", TP, end, "member", "", 1, key, sent_at, sent_at + SECOND // 100, "NONE", ended_at
        )
        groups.transformed_ranges.append(
            TransformedRange("g", "a", TP, begin, end, token, key, dict(outputs or {}), ended_at)
        )
        return self


@pytest.mark.parametrize(("begin", "expected"), [(5, []), (3, ["exactly-once"]), (7, ["exactly-once"])])
def test_a_transaction_begins_where_the_one_before_it_ended(begin: int, expected: list[str]) -> None:
    assert Transforming().took(0, 5, sent=1, at=2).took(begin, 9, sent=3, at=4).found() == expected


@pytest.mark.parametrize(("deleted_at", "expected"), [(2.5, []), (-1.5, ["exactly-once"])])
def test_a_transaction_that_outlasts_the_topic_read_records_of_the_former_one(
    deleted_at: float, expected: list[str]
) -> None:
    hand = Transforming().took(0, 7, sent=4, at=5).took(0, 3, sent=2, at=6)
    hand.topic("a", "former", at=-5).topic("a", "former", at=deleted_at, exists=False).topic("a", "next", at=3)
    assert hand.found() == expected


@pytest.mark.parametrize(("deleted_at", "expected"), [(3.5, []), (0.5, ["exactly-once"])])
def test_a_coordinator_may_commit_before_it_learns_that_the_topic_is_deleted(
    deleted_at: float, expected: list[str]
) -> None:
    hand = Transforming().took(0, 7, sent=4, at=5).took(0, 3, sent=8, at=9)
    hand.topic("a", "former", at=0).topic("a", "former", at=deleted_at, exists=False).topic("a", "next", at=6)
    assert hand.found() == expected


@pytest.mark.parametrize(("end", "expected"), [(7, []), (2, ["exactly-once"])], ids=["shorter", "as long as before"])
def test_a_group_begins_elsewhere_if_the_site_lost_its_position(end: int, expected: list[str]) -> None:
    hand = Transforming().took(0, 7, sent=1, at=2).took(2, 4, sent=8, at=9)
    assert hand.power_lost(2, rows("x0", "x1"), at=5, end=end).found() == expected


@pytest.mark.parametrize(("line_is_down", "expected"), [(True, []), (False, ["exactly-once"])])
def test_a_leader_without_its_controller_still_has_records_of_a_deleted_topic(
    line_is_down: bool, expected: list[str]
) -> None:
    hand = Transforming().took(5, 0, sent=15, at=16).took(0, 2, sent=18, at=19)
    hand.topic("a", "former", at=0).topic("a", "former", at=10, exists=False).topic("a", "next", at=11)
    hand.look("a", rows("x0", "x1"), at=20)
    if line_is_down:
        hand.away("line", "a-1|a-100", 9, 17)
    assert hand.found() == expected


@pytest.mark.parametrize(
    ("at", "offset", "expected"),
    [(5, 2, []), (5, 3, ["exactly-once"]), (3, 2, ["exactly-once"]), (7, 2, ["exactly-once"])],
)
def test_a_deposed_coordinator_may_return_the_former_position_of_the_group(
    at: float, offset: int, expected: list[str]
) -> None:
    """After the last commit a member asks it for the offset, and begins there again."""
    hand = Transforming().took(0, 2, sent=1, at=2).took(2, 5, sent=3.5, at=4).took(2, 9, sent=6, at=8)
    answer = GroupOffsets("g", "a", (TP,), {TP: (offset, "")}, (), True, round(at * SECOND), round(at * SECOND))
    hand.account.groups.deposed_responses.append(answer)
    assert hand.found() == expected


@pytest.mark.parametrize(
    ("policy", "key", "expected"),
    [("compact", "k", []), ("compact", "other", ["exactly-once"]), ("delete", "k", ["exactly-once"])],
)
def test_a_record_that_the_cleaner_removed_before_it_was_read_has_no_output(
    policy: str, key: str, expected: list[str]
) -> None:
    """A later leader, whose own cleaner is behind, still has it."""
    hand = Transforming().took(0, 2, sent=4, at=5, outputs={1: "o"})
    hand.order("alter_topic", "", "a", at=0, args={"name": "cleanup.policy", "value": policy})
    hand.wrote("x0", 0, at=1).wrote("x1", 1, at=2)
    for value, its_key in (("x0", "k"), ("x1", key)):
        hand.account.writes[value] = replace(hand.account.writes[value], key=its_key)
    assert hand.look("a", rows("x0", "x1"), at=6).found() == expected
