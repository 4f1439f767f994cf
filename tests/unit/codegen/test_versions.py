"""Version ranges and their operations."""

from __future__ import annotations

import pytest

from codegen.conditions import choice, condition, segments
from codegen.versions import NONE, VERSION_MAX, Versions


@pytest.mark.parametrize(
    ("text", "low", "high"), [("3", 3, 3), ("3-7", 3, 7), ("3+", 3, VERSION_MAX), (" 0+ ", 0, VERSION_MAX)]
)
def test_a_range_is_read_and_written_back(text: str, low: int, high: int) -> None:
    found = Versions.parse(text)
    assert (found.low, found.high) == (low, high)
    assert str(found) == text.strip()


def test_none_is_empty() -> None:
    assert not Versions.parse("none")
    assert str(Versions.parse("none")) == "none"
    assert 0 not in NONE


@pytest.mark.parametrize("text", ["", "x", "-1", "3-", "-3", "3-1", "1.0", "+", "40000", "1_0", "3 - 7", "\u0661"])
def test_invalid_ranges_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="version"):
        Versions.parse(text)


def test_conditions_check_no_more_than_the_context_needs() -> None:
    context = Versions(4, 18)
    assert condition(Versions.parse("0+"), context) == ""
    assert condition(Versions.parse("7+"), context) == "version >= 7"
    assert condition(Versions.parse("0-12"), context) == "version <= 12"
    assert condition(Versions.parse("7-12"), context) == "7 <= version <= 12"
    assert condition(Versions.parse("9"), context) == "version == 9"
    assert condition(Versions.parse("0-3"), context) is None


def test_a_choice_names_each_run_once() -> None:
    versions = Versions(0, 5)
    assert choice(versions, lambda v: "new" if v >= 3 else "old") == "new if version >= 3 else old"
    assert choice(versions, lambda v: "same") == "same"
    assert segments(versions, lambda v: v // 3) == [(Versions(0, 2), 0), (Versions(3, 5), 1)]
