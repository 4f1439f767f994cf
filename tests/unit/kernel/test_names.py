"""A collection of names must not be a string, and a long one is printed abbreviated."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.errors import UsageError
from kmirror.kernel.names import as_names, counted, few


@pytest.mark.parametrize("given", [["a", "b"], ("a", "b"), {"a": 1, "b": 2}, (name for name in "ab")])
def test_names_keep_their_order(given: Any) -> None:
    assert as_names(given) == ["a", "b"]


@pytest.mark.parametrize("given", ["orders", b"orders", 7, None, [b"orders"], [["orders"]]])
def test_invalid_collections_of_names_are_refused(given: Any) -> None:
    with pytest.raises(UsageError, match="topics takes"):
        as_names(given)


def test_few() -> None:
    assert few([], "topics") == "no topics"
    assert few(["a", "b"], "topics") == "a, b"
    assert few(list("abcdefg"), "topics") == "a, b, c, d, e and 2 more"


@pytest.mark.parametrize(
    ("noun", "several"),
    [("offset", "offsets"), ("batch", "batches"), ("loss", "losses"), ("history", "histories"), ("key", "keys")],
)
def test_counted(noun: str, several: str) -> None:
    assert [counted(number, noun) for number in (0, 1, 2)] == [f"0 {several}", f"1 {noun}", f"2 {several}"]
