"""offset-lost: acknowledged offsets of a group that are missing, explanations, and observations that show it."""

from __future__ import annotations

import pytest

from kmirror.histories.group_account import GroupOffsets, SentOffset
from kmirror.kernel.clock import SECOND
from tests.unit.histories.hand import TP, Hand


class Committing(Hand):
    """Group g of cluster a commits offsets."""

    def committed(self, offset: int, *, at: float) -> Committing:
        """Commit an offset; it is acknowledged immediately."""
        token, sent_at = f"{offset} at {at}", round(at * SECOND)
        self.account.groups.sent_offsets[token] = SentOffset(
            token, "g", "a", TP, offset, "member", "", 1, "", sent_at, sent_at + SECOND // 100, "NONE"
        )
        return self

    def request_offset(self, *, at: float, answer: tuple[int, float] | None = None) -> Committing:
        """Request the offset; the response is an offset and its commit time, or none."""
        offsets = {} if answer is None else {TP: (answer[0], f"{answer[0]} at {answer[1]}")}
        sent_at = round(at * SECOND)
        seen = GroupOffsets("g", "a", None, offsets, (), True, sent_at, sent_at + SECOND // 100)
        self.account.groups.offsets.append(seen)
        return self


def test_an_acknowledged_offset_stays() -> None:
    assert Committing().committed(5, at=1).request_offset(at=2, answer=(5, 1)).found() == []
    assert Committing().committed(5, at=1).request_offset(at=2).found() == ["offset-lost"]
    assert Committing().committed(5, at=1).committed(7, at=2).request_offset(at=3, answer=(5, 1)).found() == [
        "offset-lost"
    ]


@pytest.mark.parametrize(("deleted_at", "expected"), [(11, []), (9.9, []), (6, ["offset-lost"]), (13, ["offset-lost"])])
def test_an_offset_is_removed_with_its_topic_although_the_coordinator_learns_it_late(
    deleted_at: float, expected: list[str]
) -> None:
    hand = Committing().committed(5, at=10).request_offset(at=12)
    assert hand.topic("a", "id", at=deleted_at, exists=False).found() == expected


@pytest.mark.parametrize(("deleted_at", "expected"), [(6, []), (-21, ["offset-lost"])])
def test_a_coordinator_without_its_controller_learns_it_even_later(deleted_at: float, expected: list[str]) -> None:
    hand = Committing().committed(5, at=10).request_offset(at=12).away("line", "a-1|a-100", 5, 20)
    assert hand.topic("a", "id", at=deleted_at, exists=False).found() == expected


# -- responses about all partitions ------------------------------------------------------------


def committed(*, transaction: str) -> Hand:
    """Let a group commit an offset at 5 seconds; a transaction ends at 6."""
    hand = Hand()
    hand.account.groups.sent_offsets["t"] = SentOffset(
        "t", "g", "a", TP, 7, "m", "", 1, transaction, 5 * SECOND, 5 * SECOND + 1, "NONE", 6 * SECOND
    )
    return hand


def add_offsets_seen(hand: Hand, at: int, *, token: str = "", named: bool = False, lasts: int = 1) -> None:
    offsets = {TP: (7, token)} if token else {}
    asked = (TP,) if named else None
    hand.account.groups.offsets.append(
        GroupOffsets("g", "a", asked, offsets, (), True, at * SECOND, (at + lasts) * SECOND)
    )


@pytest.mark.parametrize(
    ("transaction", "named", "was_seen", "lasts", "expected"),
    [
        ("x/1", False, False, 1, []),
        ("", False, False, 1, ["offset-lost"]),
        ("x/1", True, False, 1, ["offset-lost"]),
        ("x/1", False, True, 1, ["offset-lost"]),
        ("x/1", False, False, 0, ["offset-lost"]),
    ],
    ids=["pending", "no transaction", "asked for by name", "seen before", "held at the end"],
)
def test_a_response_about_all_partitions_may_omit_one_with_a_pending_marker(
    transaction: str, named: bool, was_seen: bool, lasts: int, expected: list[str]
) -> None:
    hand = committed(transaction=transaction)
    if was_seen:
        add_offsets_seen(hand, 7, token="t")
    add_offsets_seen(hand, 10, named=named, lasts=lasts)
    assert hand.found() == expected


@pytest.mark.parametrize(("deleted_at", "expected"), [(4.0, []), (-3.0, ["offset-lost"])])
def test_offsets_from_before_the_topic_was_deleted_do_not_count(deleted_at: float, expected: list[str]) -> None:
    hand = committed(transaction="x/1").topic("a", "id", at=deleted_at, exists=False)
    hand.account.groups.sent_offsets["old"] = SentOffset(
        "old", "g", "a", TP, 3, "m", "", 1, "", SECOND, SECOND + 1, "NONE"
    )
    add_offsets_seen(hand, 3, token="old", lasts=0)
    add_offsets_seen(hand, 10)
    assert hand.found() == expected
