"""Numbers on the metrics page are the shortest text that is read as the same number."""

from __future__ import annotations

import pytest

from kmirror.assembly.metrics import _number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (3.0, "3"),
        (2.776, "2.776"),
        (0.1 + 0.2, "0.30000000000000004"),
        (2**53, "9007199254740992"),
        (-1.5, "-1.5"),
    ],
)
def test_a_number_has_no_more_digits_than_it_needs(value: float, text: str) -> None:
    assert _number(value) == text
    assert float(text) == value
