"""A collection of names is not a text, and a long one is not printed whole."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.errors import UsageError
from kmirror.kernel.names import as_names, counted, few


@pytest.mark.parametrize("given", [["a", "b"], ("a", "b"), {"a": 1, "b": 2}, (name for name in "ab")])
def test_names_come_in_their_order(given: Any) -> None:
    assert as_names(given) == ["a", "b"]


@pytest.mark.parametrize("given", ["orders", b"orders", 7, None, [b"orders"], [["orders"]]])
def test_what_is_no_collection_of_names(given: Any) -> None:
    with pytest.raises(UsageError, match="topics takes"):
        as_names(given)


def test_few() -> None:
    assert few([], "topics") == "no topics"
    assert few(["a", "b"], "topics") == "a, b"
    assert few(list("abcdefg"), "topics") == "a, b, c, d, e and 2 more"


def test_counted() -> None:
    assert [counted(number, "batch") for number in (0, 1, 2)] == ["0 batches", "1 batch", "2 batches"]
    assert [counted(number, "offset") for number in (0, 1, 2)] == ["0 offsets", "1 offset", "2 offsets"]
