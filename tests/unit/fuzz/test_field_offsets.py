"""The parts of a recorded frame equal those that the grammar records while it writes one."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest

from kmirror.fuzz.field_offsets import spots_in
from kmirror.fuzz.grammar import grammar
from kmirror.fuzz.spots import RawSpot, SpotKind
from kmirror.fuzz.vocabulary import ARBITRARY
from kmirror.protocol.registry import by_name

LENGTHS = (SpotKind.SHORT_LENGTH, SpotKind.LENGTH, SpotKind.COUNT, SpotKind.COMPACT_LENGTH, SpotKind.COMPACT_COUNT)
SEEN = (SpotKind.BOOL, SpotKind.UUID, SpotKind.TEXT, *LENGTHS)
SAME = {SpotKind.COUNT: SpotKind.LENGTH, SpotKind.COMPACT_COUNT: SpotKind.COMPACT_LENGTH}
"""The forms of null are equal in both, and every way to break one also breaks the other."""


def places(spots: Iterable[RawSpot]) -> set[tuple[SpotKind, int, int]]:
    return {(SAME.get(kind, kind), start, end) for kind, start, end, _ in spots}


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("FetchRequest", 11),
        ("FetchRequest", 17),
        ("MetadataResponse", 8),
        ("MetadataResponse", 12),
        ("ProduceRequest", 9),
    ],
)
def test_parts_recorded_by_the_grammar_are_found(name: str, version: int) -> None:
    message = by_name(name)
    for seed in range(30):
        template = grammar(message, version, ARBITRARY, ()).draw(Random(seed).random)
        expected = places(spot for spot in template.spots if spot[0] in SEEN)
        found = places(spots_in(message, bytes(template.data), version))
        assert expected - found == set()


def test_the_parts_before_a_fault_are_found() -> None:
    message = by_name("FetchRequest")
    data = bytes(grammar(message, 17, ARBITRARY, ()).draw(Random(1).random).data)
    whole, part = spots_in(message, data, 17), spots_in(message, data[:9], 17)
    assert 0 < len(part) < len(whole) and part == whole[: len(part)]
